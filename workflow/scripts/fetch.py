"""Bring the study's data sets and models to this machine, verify them, and print what is there."""

import sys

from beyondqa.errors import StudyError
from beyondqa.fetching import Fetched, Lock, fetch_benchmark, fetch_metric_files, fetch_model, table
from beyondqa.logs import to_file

with to_file(snakemake.log[0]) as log:
    params = snakemake.params
    lock = Lock(params.lock)
    lines: list[Fetched] = []
    failures: list[str] = []
    for name in params.benchmarks:
        try:
            lines.append(fetch_benchmark(name, hub_mirror=params.hub_mirror, originals=params.originals, lock=lock))
        except StudyError as error:
            failures.append(f"{name}: {error}")
            log.error("%s", failures[-1])
    for name, folder in params.metrics.items():
        try:
            lines.append(fetch_metric_files(name, folder, lock=lock))
        except StudyError as error:
            failures.append(f"{name}: {error}")
            log.error("%s", failures[-1])
    for repository, settings in params.models.items():
        try:
            lines.append(fetch_model(repository, hub_mirror=params.hub_mirror, lock=lock, **settings))
        except StudyError as error:
            failures.append(f"{repository}: {error}")
            log.error("%s", failures[-1])
    if lines:
        print(table(lines), file=sys.stderr)
        log.info("\n%s", table(lines))
    if failures:
        raise StudyError(
            f"{len(failures)} of {len(lines) + len(failures)} were not fetched:\n  - " + "\n  - ".join(failures)
        )
