"""Cases of one benchmark with covered and missing entities: a page, and what it shows as JSON."""

from beyondqa.entqa import case_view
from beyondqa.logs import to_file
from beyondqa.records import atomic, read_jsonl, write_json

with to_file(snakemake.log[0]):
    params = snakemake.params

    def details():
        read = (detail for path in snakemake.input.details for detail in read_jsonl(path))
        return (detail for detail in read if detail["benchmark"] == params.benchmark)

    cases = case_view.telling(details, params.variant)
    write_json(snakemake.output.cases, {"variant": params.variant, "cases": cases})
    with atomic(snakemake.output.page) as file:
        file.write(case_view.page(cases, params.variant, f"{params.title}: entities in the answers"))
