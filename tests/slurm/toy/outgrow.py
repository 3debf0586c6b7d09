"""Use more memory than the first attempt's limit."""

import os
import time
from pathlib import Path

with open("limits.attempts", "a") as attempts:
    attempts.write(f"memory {os.environ['SLURM_JOB_ID']}\n")
held = bytearray(os.urandom(2**20)) * snakemake.params.megabytes
time.sleep(8)  # limits are enforced by sampling
Path(snakemake.output[0]).write_text(f"{len(held) // 2**20}\n")
