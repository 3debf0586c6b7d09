"""Note which GPU the job was given, and when it had it."""

import json
import os
import time
from pathlib import Path

start = time.time()
time.sleep(8)
seen = {"gpu": os.environ.get("CUDA_VISIBLE_DEVICES"), "job": os.environ["SLURM_JOB_ID"], "start": start}
Path(snakemake.output[0]).write_text(json.dumps({**seen, "end": time.time()}))
