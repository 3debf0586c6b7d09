"""Files of other harnesses, written by hand in their formats, and every fault of them.

The lines of lm-evaluation-harness are those that version 0.4.13 wrote, shortened; tests/real has it write new ones.
HELM's file has the fields of crfm-helm 0.5's dataclasses as its runner writes them, without those that are None.
"""

import copy
import dataclasses
import json
import math
import re

import pytest
import yaml

from beyondqa import predictions, stages
from beyondqa.config import validated
from beyondqa.engines import recorded
from beyondqa.errors import StudyError
from beyondqa.items import LogLikelihood, MultipleChoiceItem, OpenItem
from beyondqa.metrics import accuracy, generated_accuracy
from beyondqa.records import read_records, write_records
from beyondqa.study import Study

LETTERS = (" A", " B")


def choice(number, question, gold, options=("Rest.", "Surgery."), candidates=LETTERS):
    return MultipleChoiceItem(f"careqa:{number}", "careqa", question, options, candidates, gold, f"{question} Answer:")


ITEMS = [choice("u1", "What helps?", 1), choice("u2", "What harms?", 0)]
OPEN = [OpenItem("careqa_open:u1", "careqa_open", "What helps?", "Rest.", "What helps?")]


def entry(path, benchmark="careqa", **settings):
    return {"name": "peer", "predictions": {benchmark: {"path": str(path), **settings}}}


# lm-evaluation-harness


def choices_line(number, question, values, target, *, unconditional=False, texts=LETTERS):
    """A line of a multiple_choice task: the harness writes every response as text."""
    requests = [(f"Question: {question}\nAnswer:", text, value) for text, value in zip(texts, values, strict=True)]
    if unconditional:
        requests += [("", text, -9.5) for text in texts]
    resps = [[[str(value), str(value == max(values))]] for _, _, value in requests]
    return {
        "doc_id": number,
        "doc": {"question": question, "op1": "Rest.", "op2": "Surgery.", "unique_id": f"u{number + 1}"},
        "target": str(target),
        "arguments": {f"gen_args_{i}": {"arg_0": c, "arg_1": t} for i, (c, t, _) in enumerate(requests)},
        "resps": resps,
        "filtered_resps": [first for (first,) in resps],
        "filter": "none",
        "metrics": ["acc"],
        "acc": float(values[target] == max(values)),
    }


def generated_line(question, texts, filter_name="none"):
    """A line of a generate_until task with as many repeats as texts."""
    return {
        "doc_id": 0,
        "doc": {"question": question},
        "target": "Rest.",
        "arguments": {"gen_args_0": {"arg_0": question, "arg_1": {"until": ["\n\n"], "max_gen_toks": 16}}},
        "resps": [texts],
        "filtered_resps": [texts[0].strip()],
        "filter": filter_name,
        "metrics": ["exact_match"],
        "exact_match": 0.0,
    }


def samples(folder, *lines):
    path = folder / "samples_mini_2026-01-31T12-00-00.000000.jsonl"
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path


GOOD = (choices_line(0, "What helps?", (-1.25, -0.5), 1), choices_line(1, "What harms?", (-3.0, -2.0), 0))


@pytest.mark.parametrize("settings", [{}, {"id": "question", "join": "question"}, {"id": "unique_id"}])
def test_log_likelihoods_of_the_harness_become_those_of_the_options(tmp_path, settings):
    path = samples(tmp_path, *reversed(GOOD))
    got = recorded.likelihoods(entry(path, format="lm_eval", **settings), ITEMS, "careqa")
    assert [(g.item_id, g.index, g.token_log_probabilities, g.is_greedy) for g in got] == [
        ("careqa:u1", 0, (-1.25,), False),
        ("careqa:u1", 1, (-0.5,), True),
        ("careqa:u2", 0, (-3.0,), False),
        ("careqa:u2", 1, (-2.0,), True),
    ]
    assert {(g.model, g.benchmark, g.variant, g.summed) for g in got} == {("peer", "careqa", "option", True)}
    write_records(tmp_path / "out.jsonl", got)
    assert list(read_records(tmp_path / "out.jsonl")) == got


def test_their_accuracy_is_the_harness_s_and_by_tokens_undefined(tmp_path):
    got = recorded.likelihoods(entry(samples(tmp_path, *GOOD), format="lm_eval"), ITEMS, "careqa")
    scores = list(accuracy.scores({item.id: item for item in ITEMS}, got, {}))
    by_name = {}
    for score in scores:
        by_name.setdefault(score.metric, []).append(score.value)
    assert by_name == {
        "accuracy": [line["acc"] for line in GOOD],
        "accuracy[norm=chars]": [1.0, 0.0],
        "accuracy[norm=bytes]": [1.0, 0.0],
        "accuracy[norm=tokens]": [None, None],
    }
    assert {score.reason for score in scores if score.value is None} == {accuracy.NO_TOKENS}


def test_lengths_of_the_candidates_divide_recorded_sums(tmp_path):
    """-3 over 4 characters is more than -1.6 over 2; in bytes, 6 and 2, the same; the plain sums say otherwise."""
    item = choice("u1", "What helps?", 0, options=("αβcd", "ab"), candidates=(" αβcd", " ab"))
    line = choices_line(0, "What helps?", (-3.0, -1.6), 0, texts=item.candidates)
    got = recorded.likelihoods(entry(samples(tmp_path, line), format="lm_eval"), [item], "careqa")
    values = {score.metric: score.value for score in accuracy.scores({item.id: item}, got, {})}
    assert values == {
        "accuracy": 0.0,
        "accuracy[norm=chars]": 1.0,
        "accuracy[norm=bytes]": 1.0,
        "accuracy[norm=tokens]": None,
    }


def test_choices_scored_without_context_are_left_out(tmp_path):
    lines = [choices_line(0, "What helps?", (-1.25, -0.5), 1, unconditional=True), GOOD[1]]
    got = recorded.likelihoods(entry(samples(tmp_path, *lines), format="lm_eval"), ITEMS, "careqa")
    assert [g.total for g in got] == [-1.25, -0.5, -3.0, -2.0]


def test_choices_in_another_order_are_found_by_their_texts(tmp_path):
    line = choices_line(0, "What helps?", (-0.5, -1.25), 0, texts=(" B", " A"))
    got = recorded.likelihoods(entry(samples(tmp_path, line), format="lm_eval"), ITEMS[:1], "careqa")
    assert [(g.index, g.total) for g in got] == [(0, -1.25), (1, -0.5)]


def test_responses_of_the_harness_are_answers_as_the_model_gave_them(tmp_path):
    lines = [generated_line("What helps?", ["\nRest.", " Sleep. "], name) for name in ("first", "strict")]
    settings = entry(samples(tmp_path, *lines), "careqa_open", format="lm_eval")
    greedy = recorded.answers(settings, OPEN, "careqa_open")
    assert [(g.item_id, g.variant, g.index, g.text) for g in greedy] == [("careqa_open:u1", "greedy", 0, "\nRest.")]
    sampled = recorded.answers(settings, OPEN, "careqa_open", variant="sample")
    assert [(g.index, g.text) for g in sampled] == [(0, "\nRest."), (1, " Sleep. ")]


def test_a_question_that_two_items_ask_is_joined_to_neither(tmp_path):
    items = [*ITEMS, choice("u3", "What helps?", 1)]
    settings = entry(samples(tmp_path, *GOOD), format="lm_eval", allow_missing=True)
    assert {g.item_id for g in recorded.likelihoods(settings, items, "careqa")} == {"careqa:u2"}
    assert recorded.summary(settings, items, "careqa")["faults"] == [
        "1 of 2 predictions match several items' question: What helps?",
        "2 of 3 items have no prediction: careqa:u1, careqa:u3",
    ]


def test_a_question_that_two_items_ask_is_told_apart_by_a_second_field(tmp_path):
    """As MMLU has the same question in two subjects."""
    items = [
        dataclasses.replace(choice(subject, "What helps?", 1), metadata={"subject": subject}) for subject in ("x", "y")
    ]
    lines = [choices_line(n, "What helps?", (-1.0 - n, -0.5), 1) for n in range(2)]
    lines = [{**line, "doc": {**line["doc"], "topic": topic}} for line, topic in zip(lines, ("y", "x"), strict=True)]
    settings = {"format": "lm_eval", "id": ["question", "topic"], "join": ["question", "subject"]}
    got = recorded.likelihoods(entry(samples(tmp_path, *lines), **settings), items, "careqa")
    assert [(g.item_id, g.total) for g in got if g.index == 0] == [("careqa:x", -2.0), ("careqa:y", -1.0)]


def without(line, key):
    return {name: value for name, value in line.items() if name != key}


@pytest.mark.parametrize(
    ("lines", "settings", "message"),
    [
        ([generated_line("What helps?", ["A"])], {}, r"line 1: holds answers and no log-likelihoods.*holds: answers"),
        (GOOD, {"holds": "answers"}, r"line 1: holds log-likelihoods and no answers"),
        ([without(GOOD[0], "resps")], {}, r"line 1: is no line of a samples file \(KeyError: 'resps'\)"),
        ([[1, 2]], {}, r"line 1: is no line of a samples file"),
        (GOOD, {"id": "uid"}, r"line 1: the document has no 'uid'.*question, op1, op2, unique_id"),
        (
            [choices_line(0, "What helps?", (-math.inf, -0.5), 1), GOOD[1]],
            {},
            r"line 1: a log-likelihood is not finite",
        ),
        ([{**GOOD[0], "target": "7"}, GOOD[1]], {}, r"line 1: the target '7' is none of the choices"),
        ([{**GOOD[0], "target": "0"}, GOOD[1]], {}, r"careqa:u1: right is A in the file, but B in the item"),
        (
            [choices_line(0, "What helps?", (-1.0, -2.0), 1, texts=(" Rest.", " Surgery.")), GOOD[1]],
            {},
            r"careqa:u1: scored were Rest\., Surgery\., but the item's candidates are A, B",
        ),
        (
            [
                {
                    **GOOD[0],
                    "arguments": {"gen_args_0": {"arg_0": "Rest."}},
                    "resps": [["-130.5"]],
                }
            ],
            {},
            r"line 1: holds log-likelihoods of whole texts",
        ),
        ([*GOOD, choices_line(0, "What helps?", (-9.0, -0.5), 1)], {}, r"1 predictions differ from another"),
    ],
)
def test_faults_of_the_harness_s_files(tmp_path, lines, settings, message):
    held = recorded.answers if settings.get("holds") == "answers" else recorded.likelihoods
    with pytest.raises(StudyError, match=message) as caught:
        held(entry(samples(tmp_path, *lines), format="lm_eval", **settings), ITEMS, "careqa")
    assert "samples_mini" in str(caught.value)


# HELM


def instance(number, question, right=1, **more):
    references = [
        {"output": {"text": text}, "tags": ["correct"] if position == right else []}
        for position, text in enumerate(("Rest.", "Surgery."))
    ]
    return {"input": {"text": question}, "references": references, "split": "test", "id": f"id{number}", **more}


def completion(text, tokens=(), reason=None):
    values = [{"text": token, "logprob": value} for token, value in tokens]
    ended = {"finish_reason": {"reason": reason}} if reason else {}
    return {"text": text, "logprob": sum(value for _, value in tokens), "tokens": values, **ended}


def state(asked, *completions, success=True, **more):
    return {
        "instance": asked,
        "train_trial_index": 0,
        "request": {"model": "lab/model", "prompt": f"Question: {asked['input']['text']}", "temperature": 0.0},
        "result": {"success": success, "completions": list(completions), "cached": False, "embedding": []},
        "num_train_instances": 0,
        "prompt_truncated": False,
        **more,
    }


def scenario_state(folder, method, *states):
    path = folder / "scenario_state.json"
    run = {"adapter_spec": {"method": method, "model": "lab/model"}, "request_states": list(states)}
    path.write_text(json.dumps(run, indent=2))
    return path


def scored(asked, position, tokens, mode="original", **more):
    """A request of multiple_choice_separate: prompt and option together, every token with its value."""
    tokens = [(asked["input"]["text"], -7.5), *tokens]
    text = "".join(token for token, _ in tokens)
    return state(asked, completion(text, tokens), reference_index=position, request_mode=mode, **more)


MAPPING = {"output_mapping": {"A": "Rest.", "B": "Surgery."}}


def test_letters_of_helm_are_answers_to_multiple_choice(tmp_path):
    path = scenario_state(
        tmp_path,
        "multiple_choice_joint",
        state(instance(0, "What helps?"), completion(" B", reason="length"), **MAPPING),
        state(instance(0, "What helps? ", perturbation={"name": "typos"}), completion(" A"), **MAPPING),
        state(instance(1, "What harms?", right=0), completion(" B"), **MAPPING),
    )
    got = recorded.answers(entry(path, format="helm", holds="answers"), ITEMS, "careqa")
    assert [(g.item_id, g.text, g.finish_reason) for g in got] == [
        ("careqa:u1", " B", "length"),
        ("careqa:u2", " B", "recorded"),
    ]
    scores = generated_accuracy.scores({item.id: item for item in ITEMS}, got, {})
    assert [score.value for score in scores] == [1.0, 0.0]


def test_completions_of_helm_are_samples_in_the_order_of_the_file(tmp_path):
    asked = instance(0, " What helps?\n")
    failed = state(instance(1, "What harms?"), success=False)
    path = scenario_state(
        tmp_path,
        "generation",
        state(asked, completion("Rest."), completion("Sleep.")),
        failed,
        state(asked, completion("Tea.")),
    )
    settings = entry(path, "careqa_open", format="helm")
    got = recorded.answers(settings, OPEN, "careqa_open", variant="sample")
    assert [(g.index, g.text) for g in got] == [(0, "Rest."), (1, "Sleep."), (2, "Tea.")]
    by_id = entry(path, "careqa_open", format="helm", id="id", join="helm")
    items = [OpenItem("careqa_open:9", "careqa_open", "?", "Rest.", "?", metadata={"helm": "id0"})]
    assert recorded.answers(by_id, items, "careqa_open")[0].text == "Rest."


def test_two_instances_of_helm_with_the_same_question_are_not_samples(tmp_path):
    asked = [state(instance(number, "What helps?"), completion(text)) for number, text in enumerate(("Rest.", "Tea."))]
    path = scenario_state(tmp_path, "generation", *asked)
    with pytest.raises(StudyError, match="1 predictions differ from another for the same item"):
        recorded.answers(entry(path, "careqa_open", format="helm"), OPEN, "careqa_open")


def test_options_that_helm_scored_keep_their_tokens(tmp_path):
    """Rest: -1 and -2 over two tokens; surgery: -4 over one. By tokens -1.5 beats -4, and so do the sums."""
    item = choice("u1", "What helps?", 0, candidates=(" Rest.", " Surgery."))
    asked = instance(0, "What helps?", right=0)
    path = scenario_state(
        tmp_path,
        "multiple_choice_separate_calibrated",
        scored(asked, 1, [(" Surgery.", -4.0)]),
        scored(asked, 0, [(" Rest", -1.0), (".", -2.0)]),
        scored(asked, 0, [(" Rest", -5.0), (".", -5.0)], mode="calibration"),
        scored(asked, 1, [(" Surgery.", -5.0)], mode="calibration"),
    )
    got = recorded.likelihoods(entry(path, format="helm"), [item], "careqa")
    assert [(g.index, g.token_log_probabilities, g.is_greedy, g.summed) for g in got] == [
        (0, (-1.0, -2.0), None, False),
        (1, (-4.0,), None, False),
    ]
    values = {score.metric: score.value for score in accuracy.scores({item.id: item}, got, {})}
    assert values["accuracy"] == values["accuracy[norm=tokens]"] == 1.0


SWAPPED = {"output_mapping": {"A": "Surgery.", "B": "Rest."}}


@pytest.mark.parametrize(
    ("method", "states", "settings", "message"),
    [
        (
            "multiple_choice_joint",
            [state(instance(0, "What helps?"), completion("B"), **SWAPPED)],
            {"holds": "answers", "allow_missing": True},
            r"careqa:u1: shown were the options Surgery\., Rest\., but the item's are Rest\., Surgery\.",
        ),
        ("multiple_choice_joint", [], {}, r"method is multiple_choice_joint: it scored no options.*holds: answers"),
        (
            "multiple_choice_separate_original",
            [scored(instance(0, "What helps?"), 0, [(" Rest.", -1.0)])],
            {},
            r"instance id0: options \[0\] of 2 were scored",
        ),
        (
            "multiple_choice_separate_original",
            [scored(instance(0, "What helps?"), n, [("Rest.", -1.0)]) for n in (0, 1)],
            {},
            r"instance id0: the last tokens are .*, not the option 'Rest\.' behind a blank",
        ),
        (
            "multiple_choice_separate_original",
            [scored(instance(0, "What helps?"), n, [(" Rest.", math.inf)]) for n in (0, 1)],
            {},
            r"a log-probability is not finite",
        ),
        ("multiple_choice_separate_original", [], {"holds": "answers"}, r"its requests hold no answers"),
        (
            "generation",
            [{"instance": {"input": "?"}}],
            {"holds": "answers"},
            r"is no scenario state of HELM \(TypeError",
        ),
        (
            "generation",
            [state(instance(0, "What helps?"), completion("x"))],
            {"holds": "answers", "id": "uid"},
            r"instance id0: the instance has no 'uid'.*input, references, split, id",
        ),
    ],
)
def test_faults_of_helm_s_file(tmp_path, method, states, settings, message):
    held = recorded.answers if settings.get("holds") == "answers" else recorded.likelihoods
    path = scenario_state(tmp_path, method, *copy.deepcopy(states))
    with pytest.raises(StudyError, match=message) as caught:
        held(entry(path, format="helm", **settings), ITEMS, "careqa")
    assert "scenario_state.json" in str(caught.value)


def test_another_file_is_no_scenario_state(tmp_path):
    path = tmp_path / "run_spec.json"
    path.write_text("[1]")
    with pytest.raises(StudyError, match=r"run_spec\.json: is no scenario state of HELM"):
        recorded.answers(entry(path, "careqa_open", format="helm"), OPEN, "careqa_open")


# What the config may say


@pytest.mark.parametrize(
    ("settings", "kind", "faults"),
    [
        ({"path": "a.csv", "id": "i", "text": "t"}, "open", []),
        ({"path": "a.csv", "format": "table", "id": "i"}, "open", ["lacks text, which the format table needs"]),
        ({"path": "a", "format": "lm_eval"}, "multiple_choice", []),
        ({"path": "a", "format": "lm_eval", "text": "t"}, "open", ["has text, which the format lm_eval does not take"]),
        (
            {"path": "a", "id": "i", "text": "t", "holds": "likelihoods"},
            "multiple_choice",
            ["holds likelihoods, which the format table cannot: answers"],
        ),
        (
            {"path": "a", "format": "helm", "holds": "likelihoods"},
            "open",
            ["holds likelihoods, but the benchmark has no options that they could be of"],
        ),
        (
            {"path": "a", "format": "helm", "id": ["input", "id"]},
            "open",
            ["names several fields in id or join; the other has to name as many"],
        ),
        (
            {"path": "a", "format": "helmet"},
            "open",
            ["names the format 'helmet', which is none. Did you mean 'helm'? It may be one of: helm, lm_eval, table"],
        ),
    ],
)
def test_faults_of_a_config_s_entry(settings, kind, faults):
    assert list(predictions.faults(settings, kind)) == faults


@pytest.mark.parametrize(
    ("settings", "kind", "held"),
    [
        ({"format": "table"}, "multiple_choice", "answers"),
        ({"format": "lm_eval"}, "multiple_choice", "likelihoods"),
        ({"format": "lm_eval"}, "open", "answers"),
        ({"format": "helm", "holds": "answers"}, "multiple_choice", "answers"),
        ({}, "open", "answers"),
    ],
)
def test_what_files_hold_follows_from_format_and_benchmark(settings, kind, held):
    assert predictions.holds(settings, kind) == held


def test_log_likelihoods_written_before_sums_were_known_read_as_values_of_tokens(tmp_path):
    write_records(tmp_path / "a.jsonl", [LogLikelihood("i", "b", "m", "option", 0, (-1.0,), True)])
    line = json.loads((tmp_path / "a.jsonl").read_text())
    del line["summed"]
    (tmp_path / "a.jsonl").write_text(json.dumps(line) + "\n")
    assert [record.summed for record in read_records(tmp_path / "a.jsonl")] == [False]


# What the study asks of a recorded model


def study(metrics, **files):
    """A study of careqa and careqa_open, each in a pack of its own, with one recorded model."""
    config = {
        "study": {"name": "s", "seed": 1},
        "models": [{"name": "peer", "engine": "recorded", "predictions": files}],
        "groups": {"g": {"models": ["peer"], "tasks": ["multiple_choice", "open_questions"]}},
        "benchmarks": {"careqa": {}, "careqa_open": {}},
        "metrics": {name: {} for name in metrics},
        "inference": {"samples": {"benchmarks": ["careqa_open"]}},
    }
    return Study(validated(config))


def asked(study):
    """Stage -> the benchmarks that the recorded model is asked in it."""
    found = {
        stage: [name for pack in study.packs for name in study.stage_benchmarks(stage, pack, "peer")]
        for stage in stages.names()
        if not stages.get(stage).ROLE
    }
    return {stage: names for stage, names in found.items() if names}


TABLE = {"path": "a.csv", "id": "i", "text": "t"}
HARNESS = {"path": "a.jsonl", "format": "lm_eval"}


def test_stages_follow_from_what_the_files_hold():
    both = study(["accuracy", "rouge"], careqa=HARNESS, careqa_open=HARNESS)
    assert asked(both) == {"likelihoods": ["careqa"], "greedy": ["careqa_open"], "samples": ["careqa_open"]}
    texts = study(["accuracy", "generated_accuracy", "rouge"], careqa=TABLE, careqa_open=TABLE)
    assert asked(texts) == {"greedy": ["careqa", "careqa_open"], "samples": ["careqa_open"]}
    assert texts.scored_benchmarks("choices", "greedy", "peer", "multiple_choice") == ["careqa"]
    assert texts.scored_benchmarks("lexical", "greedy", "peer", "multiple_choice") == []
    assert texts.scored_benchmarks("choices", "greedy", "peer", "open_questions") == []
    assert texts.scored_benchmarks("likelihood", "likelihoods", "peer", "multiple_choice") == []


def test_benchmarks_without_predictions_are_not_asked_and_told():
    part = study(["accuracy", "rouge"], careqa=HARNESS)
    assert asked(part) == {"likelihoods": ["careqa"]}
    assert part.recorded_benchmarks("peer") == (["careqa"], ["careqa_open"])


def test_answers_of_a_release_need_no_files():
    assert asked(study(["accuracy", "rouge"])) == {"greedy": ["careqa_open"], "samples": ["careqa_open"]}


def test_the_readme_s_example_is_a_config(root):
    (block,) = re.findall(r"```yaml\n(models:\n  - name: my-api .*?)```", (root / "README.md").read_text(), re.DOTALL)
    entries = yaml.safe_load(block)["models"]
    formats = [settings.get("format", "table") for entry in entries for settings in entry["predictions"].values()]
    assert set(formats) == set(predictions.names())
    config = {
        "study": {"name": "s", "seed": 1},
        "groups": {
            "g": {"models": [entry["name"] for entry in entries], "tasks": ["multiple_choice", "open_questions"]}
        },
        "benchmarks": {"careqa": {}, "careqa_open": {}, "medqa": {}},
        "metrics": {"accuracy": {}, "generated_accuracy": {}, "rouge": {}},
    }
    asks = Study(validated({**config, "models": entries}))
    assert asks.stage_benchmarks("likelihoods", "multiple_choice", "my-lm-eval-run") == ["careqa"]
    assert asks.stage_benchmarks("greedy", "multiple_choice", "my-helm-run") == ["medqa"]
