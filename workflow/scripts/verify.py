"""Hash every recorded file again and name what has changed."""

import sys

from beyondqa.logs import to_file
from beyondqa.records import read_json
from beyondqa.report.provenance import changes, reported

with to_file(snakemake.log[0]) as log:
    found = changes(read_json(snakemake.params.record))
    log.info("%s", reported(found))
    print(reported(found))
    sys.exit(bool(found))
