"""An inference job that is killed, torn or out of disk ends, run again, with the bytes of an undisturbed one.

What was asked is counted where the engine is asked, not from the journal.
"""

import importlib.util
import random
import signal
import time
from contextlib import contextmanager

import pytest
from support.inference_job import InferenceJob
from support.tiny_model import write_model

from beyondqa.inference import EXIT_ON_SIGTERM
from beyondqa.loading import load
from beyondqa.models import EMBEDDED, prepare_embedded
from beyondqa.records import write_records

KILLS = 20
SMOLLM2 = "SmolLM2-135M-Instruct"
BENCHMARKS = ("careqa", "medqa", "careqa_open", "mediqa2019", "medtext", "olaph")
STAGES = {
    "likelihoods": {},
    "samples": {"count": 3, "temperature": 1.0, "top_p": 0.9},
}


@pytest.fixture(scope="module")
def datasets(root, tmp_path_factory):
    """Normalised hand-written items by benchmark."""
    folder = tmp_path_factory.mktemp("datasets")
    for name in BENCHMARKS:
        prompt = root / f"resources/prompts/{name}.txt"
        loaded = load(name, hub_mirror="none", originals="none", rows=root / "resources/demo", prompt=prompt, seed=1)
        write_records(folder / f"{name}.jsonl", loaded.items)
    return {name: folder / f"{name}.jsonl" for name in BENCHMARKS}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The entry of a tiny model, with batches so small that there are dozens."""
    directory = write_model(tmp_path_factory.mktemp("model"), context=512)
    return {"name": "tiny", "engine": "transformers", "directory": str(directory), "batch_tokens": 300, "context": 400}


@pytest.fixture(scope="module", params=STAGES)
def make(request, tiny, datasets, tmp_path_factory):
    """A new job of the stage, in a folder of its own."""

    def made():
        folder = tmp_path_factory.mktemp("job")
        return InferenceJob(folder, tiny, request.param, tuple(datasets.values()), STAGES[request.param])

    return made


@pytest.fixture(scope="module")
def undisturbed(make):
    """An undisturbed job's bytes, its journal's lines, the seconds until the first of them and those until the next."""
    return run_undisturbed(make)


def run_undisturbed(make):
    make().finish()  # the first process starts the server and imports torch
    job = make()
    started = time.monotonic()
    process = job.start()
    wait_for_lines(job, process, 1)
    first = time.monotonic()
    process.join()
    seconds = time.monotonic() - first
    assert process.exitcode == 0
    assert job.lines() == len(job.asked()) >= 10
    assert flat(job.asked()) == job.journaled()
    return job.output.read_bytes(), job.lines(), first - started, seconds / job.lines()


def flat(batches):
    return [key for batch in batches for key in batch]


@contextmanager
def nothing_paid_is_asked(job):
    """What the journal holds at the start of the block is not asked inside it."""
    paid, before = set(job.journaled()), len(job.asked())
    yield
    assert paid.isdisjoint(flat(job.asked()[before:]))


def assert_ends_as(job, expected):
    """Run to its end the job gives the expected bytes, and its journal has every answer once."""
    with nothing_paid_is_asked(job):
        assert job.finish() == 0
    assert job.output.read_bytes() == expected
    assert len(job.journaled()) == len(set(job.journaled()))
    assert set(job.journaled()) == set(flat(job.asked()))


def kill_after(job, lines, seconds):
    """Start the job and kill it so many seconds after its journal has so many lines; whether it lived that long."""
    with nothing_paid_is_asked(job):
        process = job.start()
        while process.is_alive() and job.lines() < lines:
            time.sleep(0.005)
        process.join(seconds)
        process.kill()
        process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode == -signal.SIGKILL


def kill_at_random(make, expected, lines, start, pace):
    """Kill jobs at KILLS random moments, each again and again until its journal is whole.

    A moment is a random time after a random one of the journal's lines to come: of its first seconds, or about the
    time of two lines. Returns after how many of the kills the journal held a part of the answers.
    """
    moments = random.Random(20250206)
    kills = halfway = 0
    while kills < KILLS:
        job = make()
        while kills < KILLS and job.lines() < lines:
            line = moments.randint(job.lines(), lines)
            length = start if line == job.lines() else 2 * pace
            killed = kill_after(job, line, moments.uniform(0, length))
            kills += killed
            halfway += killed and 0 < job.lines() < lines
        assert_ends_as(job, expected)
    return halfway


def wait_for_lines(job, process, count):
    while process.is_alive() and job.lines() < count:
        time.sleep(0.005)
    assert process.is_alive(), "the job ended before it could be disturbed"


def test_killed_at_twenty_random_moments(make, undisturbed):
    assert kill_at_random(make, *undisturbed) >= KILLS // 2


@pytest.mark.full
def test_the_embedded_model_killed_at_twenty_random_moments(root, datasets, tmp_path_factory):
    if importlib.util.find_spec(EMBEDDED[SMOLLM2].package) is None:
        pytest.skip(f"{EMBEDDED[SMOLLM2].distribution} is not installed")
    directory = root / "resources/models" / SMOLLM2
    if not (directory / "config.json").is_file():
        directory = tmp_path_factory.mktemp("models") / SMOLLM2
        prepare_embedded(SMOLLM2, directory)
    entry = {"name": SMOLLM2, "engine": "transformers", "directory": str(directory), "batch_tokens": 200}

    def made():
        return InferenceJob(tmp_path_factory.mktemp("job"), entry, "likelihoods", tuple(datasets.values()), {})

    assert kill_at_random(made, *run_undisturbed(made)) >= KILLS // 2


def test_a_journal_torn_in_the_middle_of_a_line_costs_that_batch_alone(make, undisturbed):
    job = make()
    process = job.start()
    wait_for_lines(job, process, 3)
    process.kill()
    process.join()
    whole = job.journal.read_bytes()
    whole = whole[: whole.rfind(b"\n") + 1]
    last = whole.rfind(b"\n", 0, -1) + 1
    before = job.journaled()
    job.journal.write_bytes(whole[: random.Random(1).randrange(last + 1, len(whole))])
    torn = before[len(job.journaled()) :]
    assert torn
    asked = len(job.asked())
    assert_ends_as(job, undisturbed[0])
    assert set(torn) <= set(flat(job.asked()[asked:]))
    assert set(before) - set(torn) == set(before) - set(flat(job.asked()[asked:]))


def test_sigterm_ends_the_job_after_the_batch_in_flight(make, undisturbed):
    job = make()
    process = job.start()
    wait_for_lines(job, process, 3)
    process.terminate()
    process.join()
    assert process.exitcode == EXIT_ON_SIGTERM
    assert not job.output.exists()
    assert job.journaled() == flat(job.asked())
    assert "run again to go on" in job.log.read_text()
    assert_ends_as(job, undisturbed[0])


def assert_disk_was_full(job, size):
    """A limit on the size of files, in bytes, stands in for the disk."""
    before = job.journaled()
    with nothing_paid_is_asked(job):
        assert job.finish(file_size=size) == 1
    log = job.log.read_text()
    assert "cannot write (File too large). Free disk space and run again" in log
    assert "Traceback" not in log
    assert not job.output.exists()
    assert job.journaled()[: len(before)] == before


def test_a_disk_too_full_for_the_journal_is_told_and_what_was_paid_for_stays(make, undisturbed):
    job = make()
    assert_disk_was_full(job, len(undisturbed[0]) // 2)
    assert job.journaled()
    assert_ends_as(job, undisturbed[0])


def test_a_disk_too_full_for_the_output_is_told_and_leaves_no_part_of_it(make, undisturbed):
    job = make()
    assert job.finish() == 0
    job.output.unlink()
    assert_disk_was_full(job, len(undisturbed[0]) // 2)
    assert [path.name for path in job.folder.iterdir() if "1-of-1" in path.name] == []
    assert_ends_as(job, undisturbed[0])
