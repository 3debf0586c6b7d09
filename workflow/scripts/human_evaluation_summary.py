"""Import filled sheets: the judgements, and the shares and agreement that follow from them."""

import dataclasses

import pandas as pd

from beyondqa.errors import StudyError
from beyondqa.human_evaluation import read_sheets, summarise
from beyondqa.logs import to_file
from beyondqa.records import read_csv, write_csv

with to_file(snakemake.log[0]) as log:
    if not snakemake.input.sheets:
        raise StudyError("holds no sheet", file=snakemake.params.folder, remedy="Put the filled sheets there as CSV")
    sample = read_csv(snakemake.input.sample, dtype=str)
    categories = dict(zip(sample["item_id"], sample["category"].fillna(""), strict=True))
    filled = read_sheets(snakemake.input.sheets, categories)
    log.info("%d judgements, %d cells left blank", len(filled.judgements), filled.blank)
    rows = summarise(filled.judgements, categories)
    summary = pd.DataFrame(rows)
    summary.insert(0, "evaluation", snakemake.wildcards.evaluation)
    write_csv(snakemake.output.judgements, pd.DataFrame(map(dataclasses.asdict, filled.judgements)))
    write_csv(snakemake.output.summary, summary)
