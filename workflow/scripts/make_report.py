"""The report of the study as one HTML file."""

from beyondqa.logs import to_file
from beyondqa.records import atomic
from beyondqa.report.content import content
from beyondqa.report.page import page

with to_file(snakemake.log[0]):
    files = {name: [str(path) for path in snakemake.input.get(name, [])] for name in snakemake.params.reads}
    with atomic(snakemake.output[0]) as file:
        file.write(page(content(files, snakemake.params.study)))
