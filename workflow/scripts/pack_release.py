"""Generations and scores of the run as one archive with checksums."""

from beyondqa.errors import StudyError
from beyondqa.logs import to_file
from beyondqa.report.facts import git_commit, versions
from beyondqa.report.release import pack

with to_file(snakemake.log[0]) as log:
    params = snakemake.params
    files = [*snakemake.input.inputs, *snakemake.input.scores]
    if not files:
        raise StudyError(
            "every pack holds credentialed data, which are never released", remedy="Set inference.packs to task"
        )
    about = {"config": params.config, "withheld": params.withheld, "git_commit": git_commit(), "versions": versions()}
    pack(files, params.root, about, snakemake.output[0])
    log.info("%d files; withheld for credentialed data: %s", len(files), ", ".join(params.withheld) or "nothing")
