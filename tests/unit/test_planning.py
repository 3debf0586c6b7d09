"""The plan of a study, against sums that are done by hand here."""

import json
import socket
import time

import pytest
import yaml

from beyondqa.config import validated
from beyondqa.items import Generation, LogLikelihood, MultipleChoiceItem, OpenItem, to_json
from beyondqa.planning import estimates, pages, samples, work
from beyondqa.records import dumps, write_records
from beyondqa.study import Study

GPU_HOUR = 3.0
RATES = {"prompt": 1000, "generated": 100}


@pytest.fixture
def study(tmp_path):
    """One model of 7 billion parameters, three closed items and two open ones of known length."""
    closed = [
        MultipleChoiceItem(f"c{i}", "medqa", "q", ("a", "b"), (" A", " B"), 0, prompt="p" * 398) for i in range(3)
    ]
    opened = [OpenItem(f"o{i}", "careqa_open", "q", reference="r" * 40, prompt="p" * 100) for i in range(2)]
    write_records(tmp_path / "datasets" / "medqa.jsonl", closed)
    write_records(tmp_path / "datasets" / "careqa_open.jsonl", opened)
    entry = {"name": "m", "path": str(tmp_path / "model"), "engine": "transformers", "parameters": 7}
    config = {
        "study": {"name": "s", "seed": 1},
        "results": str(tmp_path),
        "models": [entry],
        "groups": {"g": {"models": ["m"], "tasks": ["multiple_choice", "open_questions"]}},
        "benchmarks": {"medqa": {}, "careqa_open": {}},
        "inference": {"packs": "all", "max_new_tokens": 50, "samples": {"benchmarks": ["careqa_open"], "count": 11}},
        "metrics": {"length": {}},
        "planning": {"price_per_gpu_hour": GPU_HOUR, "throughput": {"transformers": RATES}},
    }
    return Study(validated(config))


def row(study, stage, scale=1):
    frame = estimates.estimates(study)[0][scale]
    return frame[frame["stage"] == stage].iloc[0]


def test_requests_and_tokens_of_each_stage(study):
    likelihoods = row(study, "likelihoods")
    # 3 items x 2 options of 398 + 2 characters, and 2 references of 40 alone and (with a blank) after 100.
    assert likelihoods["requests"] == 3 * 2 + 2 * 2
    assert likelihoods["tokens_read"] == round((3 * 2 * 400 + 2 * 40 + 2 * 141) / 4)
    assert likelihoods["tokens_written"] == 0
    greedy = row(study, "greedy")
    assert (greedy["items"], greedy["requests"], greedy["tokens_read"], greedy["tokens_written"]) == (2, 2, 50, 100)
    samples = row(study, "samples")
    assert (samples["items"], samples["requests"], samples["tokens_written"]) == (2, 22, 22 * 50)


def test_the_chat_templates_other_setting_costs_its_stages_again(study, tmp_path):
    both = Study(validated({**study.config, "chat_template_study": {"models": ["m"]}}))
    assert list(estimates.estimates(both)[0][1]["stage"]) == [
        "greedy",
        "greedy, chat_template_on",
        "likelihoods",
        "likelihoods, chat_template_on",
        "samples",
    ]
    assert row(both, "greedy, chat_template_on")["requests"] == row(both, "greedy")["requests"] == 2
    finish(tmp_path, "chat_template_on/greedy/m/all/1-of-1", 36)
    assert row(both, "greedy, chat_template_on")["hours"] == pytest.approx(0.01)
    assert row(both, "greedy")["finished"] == 0


def test_a_stage_about_some_items_counts_those_alone(study):
    grid = {"benchmarks": ["careqa_open"], "items": 1, "tokens": 32, "best": [1, 2], "samples": [2, 5], "seeds": 3}
    some = Study(validated({**study.config, "inference": {**study.config["inference"], "relaxed_grid": grid}}))
    completions = row(some, "relaxed_grid_completions")
    assert (completions["items"], completions["requests"]) == (1, 15)
    assert completions["tokens_written"] == 15 * 32
    # Equally probable, so that of any number the first two are the best: asked once, for every seed.
    assert row(some, "relaxed_grid")["requests"] == 2 * 3


def test_the_construction_asks_twice_about_each_question_that_passes_the_keywords(study, root, tmp_path, monkeypatch):
    monkeypatch.chdir(root)
    questions = ["Which nerve is it? " * 5, "What is true except this? ", "Where does the vein end? "]
    items = [
        MultipleChoiceItem(f"q{i}", "careqa", question, ("aa", "bb"), (" A", " B"), 1, prompt="p")
        for i, question in enumerate(questions)
    ]
    write_records(tmp_path / "datasets" / "careqa.jsonl", items)
    benchmarks = {**study.config["benchmarks"], "careqa": {}}
    larger = Study(validated({**study.config, "benchmarks": benchmarks, "careqa_open_construction": {"model": "m"}}))
    rows = {step: row(larger, f"careqa_open/{step}") for step in ("rephrasing", "selection", "validation")}
    # Two of three have no keyword; two prompts rewrite each, of every pair one is chosen, and each is validated.
    assert {step: (r["items"], r["requests"], r["tokens_written"]) for step, r in rows.items()} == {
        "rephrasing": (2, 4, 4 * 50),
        "selection": (2, 2, 2 * 50),
        "validation": (2, 2, 2 * 50),
    }
    prompts = [
        (root / f"resources/prompts/careqa_open_rephrase_{name}.txt").read_text().strip() for name in ("direct", "oral")
    ]
    fields = {"options": "A. aa\nB. bb", "answer": "bb"}
    read = sum(len(prompt.format(question=questions[i], **fields)) for prompt in prompts for i in (0, 2))
    assert rows["rephrasing"]["tokens_read"] == pytest.approx(read / 4, abs=2)
    assert larger.models["m"]["engine"] == "transformers"
    assert rows["rephrasing"]["hours"] > (60 + 28) / 3600


def test_every_kind_of_edit_is_asked_about_as_often_as_the_study_says(study, tmp_path):
    """Of careqa_open's two items one is drawn: of each kind of edit one reference of 40 characters."""
    kinds = 10  # four harmful, two harmless, three graded, one control
    config = {**study.config, "metrics": {"perplexity": {}}, "sensitivity": {"models": ["m"], "items": 1}}
    edits = row(Study(validated(config)), "edits")
    assert (edits["items"], edits["requests"], edits["tokens_read"], edits["tokens_written"]) == (
        kinds,
        kinds,
        kinds * 10,
        0,
    )
    inference = {**study.config["inference"], "relaxed": {"benchmarks": ["careqa_open"], "tokens": 32}}
    relaxed = Study(
        validated({**config, "inference": inference, "metrics": {**config["metrics"], "relaxed_perplexity": {}}})
    )
    # After prefixes of the best five completions of the first seed.
    assert row(relaxed, "edits")["requests"] == kinds * (1 + 5)
    finish(tmp_path, "statistics/sensitivity/targets/m", 36)
    done = row(relaxed, "edits")
    assert (done["finished"], done["hours"]) == (1, pytest.approx(0.01))
    assert "edits" not in set(estimates.estimates(study)[0][1]["stage"])


def test_hours_follow_from_the_throughput(study):
    # 60 s for the libraries, 28 GB of float32 weights at 1 GB/s, 50 tokens read and 100 written by 7 billion.
    seconds = 60 + 28 + 50 * 7 / 1000 + 100 * 7 / 100
    assert row(study, "greedy")["hours"] == pytest.approx(seconds / 3600)


def test_gpus_divide_the_work_and_are_paid_for(study):
    entry = {**study.config["models"][0], "gpus": 4}
    four = Study({**study.config, "models": [entry]})
    seconds = 60 + 28 + (50 * 7 / 1000 + 100 * 7 / 100) / 4
    greedy = row(four, "greedy")
    assert greedy["gpus"] == 4
    assert greedy["gpu_hours"] == pytest.approx(4 * seconds / 3600)
    assert greedy["cost"] == pytest.approx(GPU_HOUR * 4 * seconds / 3600)


def finish(
    folder, name, seconds, report="shard 1 of 1: 2 requests in 1 batches, 2 to ask, the rest is in the journals"
):
    """Files of a finished job."""
    for path, text in {
        f"{name}.jsonl": "",
        f"benchmarks/{name}.tsv": f"s\th:m:s\n{seconds}\t0:05:00\n",
        f"logs/{name}.log": f"2026-01-31 12:00:00,000 INFO {report}\n",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def test_finished_jobs_count_as_they_took_and_correct_the_others(study, tmp_path):
    before = row(study, "samples")["hours"]
    estimate = 60 + 28 + 50 * 7 / 1000 + 100 * 7 / 100
    finish(tmp_path, "inference/greedy/m/all/1-of-1", 3 * estimate)
    greedy = row(study, "greedy")
    assert (greedy["finished"], greedy["hours"]) == (1, pytest.approx(3 * estimate / 3600))
    assert row(study, "samples")["hours"] == pytest.approx(3 * before)
    # What is planned for a larger study is an estimate again, for the finished stage too.
    assert row(study, "greedy", 10)["hours"] > greedy["hours"]
    assert "transformers: hours times 3, by 1 finished jobs." in estimates.estimates(study)[1]


def test_a_job_that_went_on_from_its_journal_tells_nothing_of_the_time_of_its_work(study, tmp_path):
    before = [row(study, stage)["hours"] for stage in ("greedy", "samples")]
    report = "shard 1 of 1: 2 requests in 1 batches, 0 to ask, the rest is in the journals"
    finish(tmp_path, "inference/greedy/m/all/1-of-1", 1.0, report)
    assert row(study, "greedy")["finished"] == 1
    assert [row(study, stage)["hours"] for stage in ("greedy", "samples")] == before


def test_what_makes_figures_unknown_is_said(study):
    """An engine without throughput, and a model that no node holds: 405 billion in bfloat16 take 16 GPUs of 80 GB."""
    api = {"name": "api", "id": "lab/api", "engine": "openai", "base_url": "http://127.0.0.1:1"}
    large = {"name": "large", "id": "lab/large", "engine": "vllm", "parameters": 405}
    small = {**study.config["models"][0], "name": "m"}
    del small["parameters"]
    groups = {"g": {"models": ["m", "api", "large"], "tasks": ["open_questions"]}}
    _, remarks = estimates.estimates(Study({**study.config, "models": [small, api, large], "groups": groups}))
    assert "No `planning.throughput` of their engine, so that hours and cost are 0: api, large." in remarks
    assert "Counted as one billion for want of `parameters`: m." in remarks
    assert "More GPUs than the 8 of most nodes, and a job's have to sit in one: large (16)." in remarks


def test_a_ten_times_larger_study_reads_and_writes_ten_times_as_much_and_loads_once(study):
    once, tenfold = row(study, "samples"), row(study, "samples", 10)
    assert tenfold["tokens_written"] == 10 * once["tokens_written"]
    assert tenfold["items"] == 10 * once["items"]
    start = (60 + 28) / 3600
    assert tenfold["hours"] - start == pytest.approx(10 * (once["hours"] - start))


def test_helpers_work_on_the_answers_of_every_model(study):
    models = [study.config["models"][0], {**study.config["models"][0], "name": "n", "path": "elsewhere"}]
    groups = {"g": {"models": ["m", "n"], "tasks": ["multiple_choice", "open_questions"]}}
    rephrased = {"benchmarks": ["careqa_open"], "rephraser": "m", "count": 5, "temperature": 1.0, "top_p": 0.9}
    inference = {**study.config["inference"], "rephrased": rephrased}
    larger = Study({**study.config, "models": models, "groups": groups, "inference": inference})
    rephrasings = row(larger, "rephrased")
    assert rephrasings["model"] == "m"
    assert rephrasings["requests"] == 2 * 2 * 5  # models, items, rephrasings


def test_every_stage_of_the_full_study_asks_something(root, monkeypatch):
    monkeypatch.chdir(root)
    config = yaml.safe_load((root / "config.yaml").read_text())
    study = Study(validated({**config, "results": "results/never-run"}))
    frame = estimates.estimates(study)[0][1]
    assert set(frame["stage"]) >= {
        *("likelihoods", "greedy", "samples", "rephrased", "completions", "relaxed", "judged", "edits"),
        *("careqa_open/rephrasing", "careqa_open/selection", "careqa_open/validation"),
    }
    assert (frame["requests"] > 0).all()


def test_a_judge_reads_each_rephrasing_and_each_sample_of_each_model(study):
    judged = {"benchmarks": ["careqa_open"], "judge": "m"}
    rephrased = {"benchmarks": ["careqa_open"], "rephraser": "m", "count": 5}
    inference = {**study.config["inference"], "judged": judged, "rephrased": rephrased}
    larger = Study(validated({**study.config, "inference": inference}))
    # Two items: one greedy answer, eleven samples, five rephrasings each.
    assert row(larger, "judged")["requests"] == 2
    assert row(larger, "judged_samples")["requests"] == 22
    assert row(larger, "judged_rephrased")["requests"] == 10


def test_positions_of_a_completion_are_read_with_all_that_stands_before_them():
    from beyondqa.engines.base import BranchRequest

    request = BranchRequest("i", "b", "v", 0, "p" * 100, tuple(range(32)), (0, 16, 32), "c" * 40)
    # Three times prompt and continuation, and 48 tokens of four characters.
    assert work.request_work(request).parts() == (1, 3 * 140 + 48 * 4, 3 * 40, 0)


def test_completions_of_one_prompt_are_not_taken_for_one(study):
    """Each seed's best five of ten completions count, at the positions 0, 16, ... 128; the empty prefix counts once."""
    inference = {**study.config["inference"], "relaxed": {"benchmarks": ["careqa_open"]}}
    config = {**study.config, "inference": {k: v for k, v in inference.items() if k != "max_new_tokens"}}
    larger = Study(validated(config))
    assert row(larger, "completions")["requests"] == 2 * 10 * 3
    relaxed = row(larger, "relaxed")
    assert relaxed["requests"] == 2 * 3 * 5
    # Prompt and continuation, 100 and 41 characters, at 9 positions of one completion and 8 of the four others.
    scored, prefixes = (9 + 4 * 8) * 141, 5 * sum(range(16, 129, 16)) * 4
    assert relaxed["tokens_read"] == round(2 * 3 * (scored + prefixes) / 4)


@pytest.mark.parametrize(
    ("name", "rows", "count"),
    [("olaph", None, 494), ("olaph", 1871, 187), ("medqa", None, 1273), ("aci_bench", None, 120), ("medtext", None, 0)],
)
def test_published_counts_are_those_after_the_filters(name, rows, count):
    """494 and 187 are what the authors' code takes of 4,948 rows and of 1,871; ACI-Bench has three sets of 40."""
    from beyondqa import benchmarks

    assert samples.published_count(benchmarks.get(name), rows) == count


def test_tokens_are_counted_with_the_models_own_tokenizer(tmp_path):
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    texts = ["one two three", "four"]  # 17 characters, 4 words
    assert estimates.characters_a_token(tmp_path, texts) == 17 / 4
    assert estimates.characters_a_token(tmp_path / "absent", texts) == 4


def test_disk_of_an_answer_is_about_what_its_record_takes():
    text = "The patient should rest and drink. " * 20
    tokens = len(text) / 4
    written = Generation(
        "id-0123456789abcdef", "careqa_open", "some-model", "greedy", 0, text, "stop", 100, 0, 175, -1.0
    )
    scored = LogLikelihood(
        "id-0123456789abcdef", "medqa", "some-model", "option", 0, (-0.12345678901234567,) * 175, True
    )
    estimate = estimates.RECORD_BYTES + tokens * estimates.GENERATED_BYTES
    assert len(dumps({**to_json(written), "key": "0" * 32})) == pytest.approx(estimate, rel=0.3)
    estimate = estimates.RECORD_BYTES + 175 * estimates.SCORED_BYTES
    assert len(dumps({**to_json(scored), "key": "0" * 32})) == pytest.approx(estimate, rel=0.3)


def test_names_are_escaped_in_the_page(study):
    frames, remarks = estimates.estimates(study)
    frames[1].loc[0, "model"] = "<script>alert(1)</script>"
    page = pages.as_html("<b>", frames, [*remarks, "<i>"])
    assert "<script>" not in page
    assert "<i>" not in page
    assert "<b>" not in page
    assert "&lt;script&gt;" in page


def test_the_full_study_is_planned_in_seconds_without_network(root, monkeypatch):
    monkeypatch.chdir(root)
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("the plan needs no network"))
    config = yaml.safe_load((root / "config.yaml").read_text())
    study = Study(validated({**config, "results": "results/never-run"}))
    start = time.perf_counter()
    frames, remarks = estimates.estimates(study)
    assert time.perf_counter() - start < 30
    assert all(any(name in remark for remark in remarks) for name in config["benchmarks"])
    assert frames[1]["gpu_hours"].sum() > 0
    assert set(frames[1]["stage"]) >= {"likelihoods", "greedy", "samples", "rephrased"}
    assert json.loads(frames[1].to_json(orient="records"))
    assert "GPU" in pages.as_text(frames, remarks)


def test_the_first_attempt_is_long_enough_for_every_job_of_the_full_study(root, monkeypatch):
    """And no attempt asks for more than a day, which is what many partitions take."""
    monkeypatch.chdir(root)
    config = yaml.safe_load((root / "config.yaml").read_text())
    study = Study(validated({**config, "results": "results/never-run"}))
    plans, _ = estimates.job_plans(study)
    for plan in plans:
        seconds = estimates.estimated_seconds(study, plan.model, plan.work, 4.0, plan.jobs)
        limit = 60 * study.runtime_minutes(plan.model)
        assert seconds / plan.jobs < limit <= 86400, (plan.stage, plan.model, plan.pack)
        assert study.runtime_minutes(plan.model, 3) <= 24 * 60
    assert not any("time limit" in remark for remark in estimates.estimates(study)[1])


def test_jobs_that_will_meet_their_time_limit_are_named(study):
    assert not any("time limit" in remark for remark in estimates.estimates(study)[1])
    entry = {**study.config["models"][0], "runtime": 1}
    (remark,) = [r for r in estimates.estimates(Study({**study.config, "models": [entry]}))[1] if "time limit" in r]
    assert "samples/m/all" in remark
    assert "Give the model a longer `runtime`" in remark, "88 seconds to start are more than a minute"


def test_the_plan_says_how_many_shards_are_needed(study):
    """Samples: 88 s to start, then 50 x 11 tokens read and 22 x 50 written by 7 billion, within two minutes a job."""
    work = (25 + 25) * 11 * 7 / 1000 + 22 * 50 * 7 / 100
    entry, needed = {**study.config["models"][0], "runtime": 2}, -(-work // (120 - 88))
    assert needed == 3

    def remarks(**changes):
        inference = {**study.config["inference"], **changes}
        found = estimates.estimates(Study({**study.config, "models": [entry], "inference": inference}))[1]
        return [r for r in found if "time limit" in r]

    (remark,) = remarks()
    assert "`inference.stage_shards: {samples: 3}`" in remark
    assert remarks(stage_shards={"samples": 2})
    assert not remarks(stage_shards={"samples": 3})
