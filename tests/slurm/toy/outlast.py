"""Take longer than the first attempt's time limit."""

import os
import time
from pathlib import Path

with open("limits.attempts", "a") as attempts:
    attempts.write(f"time {os.environ['SLURM_JOB_ID']}\n")
time.sleep(snakemake.params.seconds)
Path(snakemake.output[0]).write_text("done\n")
