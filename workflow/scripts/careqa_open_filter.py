"""Drop CareQA questions that hold a keyword, and count what every reading of the filter keeps."""

from beyondqa.careqa_open.decisions import to_json
from beyondqa.careqa_open.keywords import filter_keywords, kept_by_reading
from beyondqa.logs import to_file
from beyondqa.records import read_items, write_json, write_jsonl

with to_file(snakemake.log[0]) as log:
    items = list(read_items([snakemake.input.careqa]).values())
    decisions = filter_keywords(items, snakemake.params.reading)
    readings = kept_by_reading(items)
    log.info("%d questions, %d kept; by reading: %s", len(items), sum(d.kept for d in decisions), readings)
    write_json(snakemake.output.readings, readings)
    write_jsonl(snakemake.output.decisions, map(to_json, decisions))
