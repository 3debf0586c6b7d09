"""Two mends of the SLURM executor 2.8.0. Tests on a real SLURM cover both (tests/slurm).

While the controller is away, the executor cannot ask for MinJobAge and goes over to sacct. Where accounting is off,
sacct never answers, and the run would hang for ever although the controller is back. MinJobAge does not change:
what it was once is what it is.

A preempted job counts as one that SLURM will start again. Where it does not (PreemptMode=CANCEL) it stays preempted
until squeue forgets it, and the run would wait for ever. So a job that does counts as cancelled, and is tried again.
"""

import functools
import time

import snakemake_executor_plugin_slurm as slurm_executor


def remembering(ask):
    """The function's last answer that was not None."""
    known = []

    @functools.wraps(ask)
    def answer():
        if (value := ask()) is not None:
            known[:] = [value]
        return known[0] if known else None

    return answer


# A job that SLURM starts again is preempted only until its processes have ended.
PREEMPTED_SECONDS = 100


def giving_up_preempted(query):
    """The query of all jobs' states, with CANCELLED for jobs that are not started again after a preemption."""
    since = {}

    @functools.wraps(query)
    async def answer(*arguments, **options):
        states, duration = await query(*arguments, **options)
        if states is not None:
            now = time.monotonic()
            preempted = {job for job, state in states.items() if state == "PREEMPTED"}
            over = {job for job in preempted if now - since.setdefault(job, now) >= PREEMPTED_SECONDS}
            states = {**states, **dict.fromkeys(over | since.keys() - states.keys(), "CANCELLED")}
            for job in since.keys() - preempted:
                del since[job]
        return states, duration

    return answer


slurm_executor.query_job_status = giving_up_preempted(slurm_executor.query_job_status)
slurm_executor.get_min_job_age = remembering(slurm_executor.get_min_job_age)
