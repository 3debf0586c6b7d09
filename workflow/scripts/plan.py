"""Print what the study will cost, and write it as CSV and HTML."""

from beyondqa.logs import to_file
from beyondqa.planning.estimates import estimates, totals
from beyondqa.planning.pages import as_html, as_text
from beyondqa.records import atomic, write_csv
from beyondqa.study import Study

with to_file(snakemake.log[0]):
    params = snakemake.params
    study = Study(params.config)
    frames, remarks = estimates(study)
    text = as_text(frames, remarks)
    write_csv(params.csv, frames[1])
    write_csv(params.totals, totals(frames))
    with atomic(params.html) as file:
        file.write(as_html(study.config["study"]["name"], frames, remarks))
    print(text)
