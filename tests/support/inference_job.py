"""One inference job in a process of its own, as its rule runs it, so that a test can kill it.

The processes are forks of a server that has the libraries loaded: a killed job costs no import.
"""

import json
import multiprocessing
import resource
import runpy
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

SCRIPT = Path(__file__).resolve().parents[2] / "workflow/scripts/infer.py"

_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["transformers.models.llama.modeling_llama", "beyondqa.inference", "scipy.special"])


@dataclass(frozen=True)
class InferenceJob:
    """A job of the stage about the items of `datasets`; everything that it writes lies in `folder`."""

    folder: Path
    entry: dict
    stage: str
    datasets: tuple[Path, ...]
    settings: dict
    max_new_tokens: int = 8

    @property
    def output(self):
        return self.folder / "1-of-1.jsonl"

    @property
    def log(self):
        return self.folder / "job.log"

    @property
    def journal(self):
        return self.folder / "journal/all.1-of-1.jsonl"

    def start(self, file_size=resource.RLIM_INFINITY):
        """The job's process; none of its files can grow beyond `file_size` bytes."""
        process = _processes.Process(target=_run, args=(self, file_size))
        process.start()
        return process

    def finish(self, file_size=resource.RLIM_INFINITY):
        """Run the job; returns its exit status."""
        process = self.start(file_size)
        process.join()
        return process.exitcode

    def lines(self):
        """How many whole lines the journal has."""
        return self.journal.read_bytes().count(b"\n") if self.journal.exists() else 0

    def journaled(self):
        """Keys of the answers in the journal's whole lines, as often as they stand there."""
        lines = self.journal.read_bytes().split(b"\n")[:-1] if self.journal.exists() else []
        return [answer["key"] for line in lines for answer in json.loads(line)]

    def asked(self):
        """Keys of what the engine was asked, batch by batch, over all processes of the job."""
        path = self.folder / "asked.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _run(job, file_size):
    _note_what_is_asked(job.folder / "asked.jsonl")
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
    snakemake = SimpleNamespace(
        input=SimpleNamespace(datasets=list(map(str, job.datasets)), answers=[], prompts=[]),
        output=[str(job.output)],
        log=[str(job.log)],
        wildcards=SimpleNamespace(stage=job.stage, model=job.entry["name"], pack="all", shard="1", shards="1"),
        params=SimpleNamespace(
            entry=job.entry,
            settings=job.settings,
            chat_template=False,
            max_new_tokens=job.max_new_tokens,
            seed=1,
            journal=str(job.journal.parent),
        ),
        threads=1,
    )
    runpy.run_path(str(SCRIPT), {"snakemake": snakemake}, run_name="__main__")


def _note_what_is_asked(path):
    """Write down the keys of every batch before the engine sees it."""
    from beyondqa.engines.transformers import TransformersEngine

    answer = TransformersEngine.answer

    def noted(self, batch):
        with open(path, "a") as file:
            file.write(json.dumps([prepared.key for prepared in batch]) + "\n")
        return answer(self, batch)

    TransformersEngine.answer = noted
