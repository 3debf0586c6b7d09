"""Draw the sample that evaluators judge and write one sheet an evaluator."""

import pandas as pd

from beyondqa.careqa_open.decisions import kept, read_decisions
from beyondqa.errors import StudyError
from beyondqa.human_evaluation import assign, category, sample_size, sheet_row, stratified_sample, write_sheet
from beyondqa.logs import to_file
from beyondqa.records import read_items, write_csv

with to_file(snakemake.log[0]) as log:
    params = snakemake.params
    items = read_items([snakemake.input.careqa])
    spanish = {item.metadata.get("unique_id"): item for item in read_items(snakemake.input.spanish).values()}
    if snakemake.input.decisions:
        (path,) = snakemake.input.decisions
        questions = {item_id: decision.questions[0] for item_id, decision in kept(read_decisions(path)).items()}
    else:
        questions = dict.fromkeys(items)
    if not questions:
        raise StudyError("no question is left to judge", file=snakemake.input.decisions)
    categories = {item_id: category(items[item_id]) for item_id in questions}
    sample = stratified_sample(categories, sample_size(len(questions), params.confidence, params.margin), params.seed)
    log.info("%d of %d questions go to %d evaluators", len(sample), len(questions), params.evaluators)
    loads = assign(sample, params.evaluators, params.raters, params.seed)
    for path, load in zip(snakemake.output.sheets, loads, strict=True):
        rows = [sheet_row(items[i], questions[i], spanish.get(items[i].metadata.get("unique_id"))) for i in load]
        write_sheet(path, rows)
    write_csv(
        snakemake.output.sample, pd.DataFrame({"item_id": sample, "category": [categories[item] for item in sample]})
    )
