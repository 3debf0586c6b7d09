"""The runner: nothing asked twice, nothing lost, the same answers however a run is cut up."""

import dataclasses
import hashlib
import os
import signal
from contextlib import contextmanager, suppress

import pytest

from beyondqa.engines.base import Engine, GenerationRequest, Prepared
from beyondqa.identity import content_key, derived_seed
from beyondqa.inference import EXIT_ON_SIGTERM, answer_requests, asked_everything
from beyondqa.items import Generation
from beyondqa.records import Journal


class BatchSensitiveEngine(Engine):
    """A scripted engine whose answers depend on their batch, as float results of real engines may."""

    name, SEMANTICS = "scripted", 1

    def __init__(self, fail_after=None, kill_after=None):
        super().__init__({"name": "scripted"})
        self.asked, self.fail_after, self.kill_after = [], fail_after, kill_after

    def identity(self):
        return {}

    def prepare(self, requests):
        return [Prepared(r, tuple(r.prompt.encode()), key=self.key(r, tuple(r.prompt.encode()), ())) for r in requests]

    def plan(self, prepared):
        ordered = sorted(prepared, key=lambda p: (len(p.prompt_ids), p.key))
        return [ordered[i : i + 3] for i in range(0, len(ordered), 3)]

    def answer(self, batch):
        if self.fail_after is not None and len(self.asked) >= self.fail_after:
            raise KeyboardInterrupt
        self.asked.append([p.key for p in batch])
        if self.kill_after is not None and len(self.asked) == self.kill_after:
            os.kill(os.getpid(), signal.SIGTERM)
        fingerprint = content_key([p.key for p in batch])[:8]
        return [Generation("", "", "", "", 0, f"{p.request.prompt} {fingerprint}", "stop") for p in batch]


def request(number, **changes):
    return GenerationRequest(
        **{
            "item_id": f"i{number}",
            "benchmark": "b",
            "variant": "greedy",
            "index": 0,
            "prompt": "x" * (number % 7) + str(number),
            "max_new_tokens": 4,
            **changes,
        }
    )


REQUESTS = [request(n) for n in range(20)]


def undisturbed(tmp_path):
    return answer_requests(REQUESTS, BatchSensitiveEngine(), journal=Journal(tmp_path / "whole", "j.jsonl"))


def test_answers_come_in_the_order_of_the_requests(tmp_path):
    answers = undisturbed(tmp_path)
    assert [a.item_id for a in answers] == [r.item_id for r in REQUESTS]
    assert all(a.text.startswith(f"{r.prompt} ") for a, r in zip(answers, REQUESTS, strict=True))


@pytest.mark.parametrize("killed_after", range(7))
def test_a_killed_run_goes_on_where_it_was(tmp_path, killed_after):
    journal = Journal(tmp_path, "j.jsonl")
    first = BatchSensitiveEngine(fail_after=killed_after)
    with pytest.raises(KeyboardInterrupt):
        answer_requests(REQUESTS, first, journal=journal)
    second = BatchSensitiveEngine()
    assert answer_requests(REQUESTS, second, journal=journal) == undisturbed(tmp_path)
    assert len(first.asked) == killed_after
    assert not {k for batch in first.asked for k in batch} & {k for batch in second.asked for k in batch}


@pytest.mark.parametrize("shards", [1, 3, 7])
def test_shards_give_the_answers_of_one_run(tmp_path, shards):
    parts = [
        answer_requests(
            REQUESTS,
            BatchSensitiveEngine(),
            journal=Journal(tmp_path / str(shards) / str(s), "j.jsonl"),
            shard=s,
            shards=shards,
        )
        for s in range(1, shards + 1)
    ]
    assert sorted((a for part in parts for a in part), key=lambda a: int(a.item_id[1:])) == undisturbed(tmp_path)


def test_a_finished_run_asks_nothing(tmp_path):
    journal = Journal(tmp_path, "j.jsonl")
    answer_requests(REQUESTS, BatchSensitiveEngine(), journal=journal)
    again = BatchSensitiveEngine()
    answer_requests(REQUESTS, again, journal=journal)
    assert again.asked == []


def test_the_log_tells_a_run_that_asked_everything_from_one_that_went_on(tmp_path, caplog):
    """By its log the plan decides whose time is the time of the work."""
    caplog.set_level("INFO", logger="beyondqa")
    told = []
    for engine in (BatchSensitiveEngine(fail_after=2), BatchSensitiveEngine(), BatchSensitiveEngine()):
        caplog.clear()
        with suppress(KeyboardInterrupt):
            answer_requests(REQUESTS, engine, journal=Journal(tmp_path, "j.jsonl"))
        told.append(asked_everything(caplog.text))
    assert told == [True, False, False], "killed, gone on, nothing left to ask"


def test_another_pack_takes_what_a_neighbour_paid_for(tmp_path):
    answer_requests(REQUESTS[:10], BatchSensitiveEngine(), journal=Journal(tmp_path, "pack_a.jsonl"))
    other = BatchSensitiveEngine()
    answer_requests(REQUESTS, other, journal=Journal(tmp_path, "pack_b.jsonl"))
    assert sum(map(len, other.asked)) == 10


def test_what_another_writer_left_while_it_was_waited_for_is_not_asked_again(tmp_path):
    class Waited(Journal):
        @contextmanager
        def open(self):
            answer_requests(REQUESTS[:10], BatchSensitiveEngine(), journal=Journal(tmp_path, "j.jsonl"))
            with super().open() as writer:
                yield writer

    late = BatchSensitiveEngine()
    answer_requests(REQUESTS, late, journal=Waited(tmp_path, "j.jsonl"))
    assert sum(map(len, late.asked)) == 10


def test_equal_requests_are_asked_once_and_answered_each(tmp_path):
    twins = [request(3), request(3, item_id="twin", model="other")]
    engine = BatchSensitiveEngine()
    first, second = answer_requests(twins, engine, journal=Journal(tmp_path, "j.jsonl"))
    assert sum(map(len, engine.asked)) == 1
    assert (first.item_id, first.model, second.item_id, second.model) == ("i3", "scripted", "twin", "other")
    assert first.text == second.text


def test_prompts_that_were_cut_are_told_by_benchmark_and_side(tmp_path, caplog):
    class ShortSighted(BatchSensitiveEngine):
        def prepare(self, requests):
            prepared = super().prepare(requests)
            return [dataclasses.replace(p, prompt_tokens_cut=max(0, len(p.prompt_ids) - 7)) for p in prepared]

    requests = [request(n, benchmark="left", truncation_side="left") for n in range(20)]
    requests += [request(6, benchmark="right", truncation_side="right", item_id="other")]
    answers = answer_requests(requests, ShortSighted(), journal=Journal(tmp_path, "j.jsonl"))
    # Six x and a number of two digits are 8 tokens: 13 alone, 20 has five fewer; 6 has one digit and fits.
    assert [a.item_id for a in answers if a.prompt_tokens_cut] == ["i13"]
    assert "1 of 21 prompts exceed the context and were cut: left 1, on the left" in caplog.text


def test_sigterm_finishes_the_batch_in_flight_and_exits(tmp_path):
    journal = Journal(tmp_path, "j.jsonl")
    engine = BatchSensitiveEngine(kill_after=2)
    with pytest.raises(SystemExit) as exit_:
        answer_requests(REQUESTS, engine, journal=journal)
    assert exit_.value.code == EXIT_ON_SIGTERM
    assert set(journal.read()) == {k for batch in engine.asked for k in batch}
    assert len(engine.asked) == 2
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


@pytest.mark.parametrize(
    "change", [{"temperature": 1.0}, {"max_new_tokens": 5}, {"stop": ("\n",)}, {"prompt": "y"}, {"suppress_end": True}]
)
def test_whatever_changes_an_answer_changes_the_key(change):
    engine = BatchSensitiveEngine()
    (plain,), (changed,) = engine.prepare([request(1)]), engine.prepare([request(1, **change)])
    assert plain.key != changed.key


def test_what_cannot_change_an_answer_leaves_the_key():
    engine = BatchSensitiveEngine()
    (plain,), (other,) = engine.prepare([request(1)]), engine.prepare([request(1, item_id="z", seed=5, top_p=0.5)])
    assert plain.key == other.key
    (a,), (b,) = engine.prepare([request(1, temperature=1.0)]), engine.prepare([request(1, temperature=1.0, seed=5)])
    assert a.key != b.key


def test_seeds_differ_by_every_part_and_are_stable():
    parts = [(1, "m", "b", "i", "samples", k) for k in range(11)] + [
        (2, "m", "b", "i", "samples", 0),
        (1, "m2", "b", "i", "samples", 0),
    ]
    seeds = [derived_seed(*p) for p in parts]
    assert len(set(seeds)) == len(seeds)
    assert derived_seed(1, "m", 0) == int(hashlib.sha256(b'[1, "m", 0]').hexdigest()[:16], 16) % 2**31
