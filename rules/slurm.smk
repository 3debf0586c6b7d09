"""A mend of the SLURM executor 2.8.0, which a test on a real SLURM covers.

While the controller is away, the executor cannot ask for MinJobAge and goes over to sacct. Where accounting is off,
sacct never answers, and the run would hang for ever although the controller is back. MinJobAge does not change:
what it was once is what it is.
"""

import functools

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


slurm_executor.get_min_job_age = remembering(slurm_executor.get_min_job_age)
