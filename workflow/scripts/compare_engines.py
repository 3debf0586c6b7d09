"""Compare the answers of two engines, model by model; fail where they do not agree."""

import pandas as pd

from beyondqa import parity
from beyondqa.errors import StudyError
from beyondqa.logs import to_file
from beyondqa.records import atomic, read_records, write_csv

with to_file(snakemake.log[0]) as log:
    params = snakemake.params
    if not params.models:
        raise StudyError("no model of this study has weights that two engines could run", remedy="Name one in `models`")
    agreements = {
        model: parity.compare(read_records(first), read_records(second), tolerance=params.tolerance)
        for model, first, second in zip(params.models, snakemake.input.first, snakemake.input.second, strict=True)
    }
    page = parity.page(agreements, params.tolerance)
    write_csv(params.csv, pd.DataFrame(parity.rows(agreements)))
    with atomic(params.page) as file:
        file.write(page)
    print(page)
    apart = [f"{model} ({a.kind})" for model, of_model in agreements.items() for a in of_model if not a.agrees]
    if apart:
        raise StudyError(
            f"the engines do not agree about {', '.join(apart)}",
            file=params.page,
            remedy="Do not trust one engine's numbers for the other's before this is understood",
        )
