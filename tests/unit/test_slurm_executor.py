"""What the study mends in the SLURM executor, on scripted answers of squeue."""

import asyncio
import inspect
from types import SimpleNamespace

import pytest
import snakemake_executor_plugin_slurm as slurm_executor


@pytest.fixture
def mended(root, monkeypatch):
    """A function that passes the states that squeue tells at a second through the mend, for one run."""
    monkeypatch.setattr(slurm_executor, "query_job_status", _told)
    monkeypatch.setattr(slurm_executor, "get_min_job_age", slurm_executor.get_min_job_age)
    names = {}
    exec(compile((root / "rules/slurm.smk").read_text(), "slurm.smk", "exec"), names)
    clock = SimpleNamespace(now=0.0)
    names["time"] = SimpleNamespace(monotonic=lambda: clock.now)

    def states(second, told):
        clock.now = second
        found, duration = asyncio.run(slurm_executor.query_job_status(told))
        assert duration == 0.5
        return found

    return states


async def _told(states):
    return states, 0.5


def test_a_job_that_slurm_starts_again_is_left_alone(mended):
    assert mended(0, {"1": "PREEMPTED", "2": "RUNNING"}) == {"1": "PREEMPTED", "2": "RUNNING"}
    assert mended(99, {"1": "PREEMPTED", "2": "COMPLETED"}) == {"1": "PREEMPTED", "2": "COMPLETED"}
    assert mended(110, {"1": "PENDING"}) == {"1": "PENDING"}
    # Its next preemption is timed anew.
    assert mended(300, {"1": "PREEMPTED"}) == {"1": "PREEMPTED"}
    assert mended(399, {"1": "PREEMPTED"}) == {"1": "PREEMPTED"}
    assert mended(400, {"1": "PREEMPTED"}) == {"1": "CANCELLED"}


def test_a_job_that_squeue_forgets_after_its_preemption_was_cancelled(mended):
    mended(0, {"1": "PREEMPTED", "2": "RUNNING"})
    assert mended(180, {"2": "RUNNING"}) == {"1": "CANCELLED", "2": "RUNNING"}
    assert mended(200, {"2": "RUNNING"}) == {"2": "RUNNING"}


def test_a_failed_query_changes_nothing(mended):
    mended(0, {"1": "PREEMPTED"})
    assert mended(50, None) is None
    assert mended(100, {"1": "PREEMPTED"}) == {"1": "CANCELLED"}


def test_the_executor_takes_a_preempted_job_for_a_running_one_and_a_cancelled_one_for_a_failed_one():
    """What the mend rests on; where a later executor reads otherwise, it may go."""
    source = inspect.getsource(slurm_executor.Executor.check_active_jobs)
    failed = source[source.index("fail_stati = (") : source.index(")", source.index("fail_stati = ("))]
    assert "CANCELLED" in failed
    assert "PREEMPTED" not in failed
    assert "await query_job_status(" in source
