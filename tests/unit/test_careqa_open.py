"""CareQA-Open's construction, with replies that were written here as the judge of what they are."""

import json
from pathlib import Path

import pytest

from beyondqa.careqa_open import construction, replies
from beyondqa.careqa_open.asking import Asking, Question, ask
from beyondqa.careqa_open.decisions import counts, read_decisions, to_json
from beyondqa.careqa_open.keywords import filter_keywords, kept_by_reading, keyword
from beyondqa.errors import StudyError
from beyondqa.identity import derived_seed
from beyondqa.items import Generation, MultipleChoiceItem
from beyondqa.records import write_jsonl

PROMPTS = Path(__file__).resolve().parents[2] / "resources/prompts"
DIRECT, ORAL = construction.REPHRASING_PROMPTS


def item(name="careqa:1", question="Which of the following hormones lowers blood glucose?", category="Medicine"):
    options = ("Insulin", "Glucagon", "Cortisol", "Adrenaline")
    return MultipleChoiceItem(
        id=name,
        benchmark="careqa",
        question=question,
        options=options,
        candidates=(" A", " B", " C", " D"),
        gold=0,
        prompt="Question",
        metadata={"category": category, "year": 2024, "exam_id": 7},
    )


def reply(text, finish="stop"):
    return Generation("careqa:1", "careqa_open_rebuilt", "scripted", DIRECT, 0, text, finish)


class ScriptedEngine:
    """A fake engine: answers from a script by (item id, prompt name), one entry an attempt; counts what it is asked."""

    def __init__(self, script):
        self.script = script
        self.requests = []

    def __call__(self, requests):
        self.requests += requests
        # In another order than asked: nothing may rest on the order of the answers.
        return [
            Generation(
                r.item_id,
                r.benchmark,
                "scripted",
                r.variant,
                r.index,
                self.script[r.item_id, r.variant][r.index],
                "stop",
            )
            for r in reversed(requests)
        ]


@pytest.fixture
def templates():
    return construction.read_templates(PROMPTS / f"{name}.txt" for name in construction.PROMPTS)


# ---- keywords


@pytest.mark.parametrize(
    ("question", "insensitive", "sensitive", "whole"),
    [
        ("Which statement is INCORRECT?", False, True, False),
        ("Which statement is incorrect?", False, False, False),
        ("All are true EXCEPT:", False, True, False),
        ("With one exception, name it", False, False, True),
        ("Mark the one that is not correct", False, False, False),
        ("Mark the one that is NOT correct", False, False, False),
        ("It is not a hormone", True, True, True),
        ("Which is NOT a hormone?", False, False, False),
        ("NOTCH signalling depends on", False, False, True),
        ("What lowers glucose?", True, True, True),
    ],
)
def test_keyword_readings(question, insensitive, sensitive, whole):
    kept = {reading: keyword(question, reading) is None for reading in kept_by_reading([])}
    assert kept == {"case_insensitive": insensitive, "case_sensitive": sensitive, "whole_word": whole}


def test_keyword_decisions_name_the_keyword():
    decisions = filter_keywords([item("a"), item("b", "Which is FALSE?")], "case_insensitive")
    assert [(d.item_id, d.kept, d.reason, d.detail) for d in decisions] == [
        ("a", True, "no_keyword", ""),
        ("b", False, "keyword", "FALSE"),
    ]


def test_unknown_reading():
    with pytest.raises(StudyError, match="case_insensitive"):
        keyword("x", "loose")


# ---- what a reply is


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("Which hormone lowers the glucose in blood?", "rephrased"),
        ('Question: "Which hormone lowers the glucose in blood?"', "rephrased"),
        ("**Rewritten question:** Which hormone lowers the glucose in blood?", "rephrased"),
        ("<think>Insulin? Options A. B.</think>\nWhich hormone lowers the glucose in blood?", "rephrased"),
        ("Name the hormone that lowers the glucose in blood.", "rephrased"),
        ("In a fasting adult, name the hormone that lowers the glucose in blood.", "rephrased"),
        ("which of the  following hormones lowers blood glucose", "echo_of_the_options"),
        ("", "empty"),
        ("  \n\t ", "empty"),
        ("Question:", "empty"),
        ("<think>done</think>", "empty"),
        ("UNSUITABLE", "refused_by_the_model"),
        ("**Unsuitable**: it needs the options", "refused_by_the_model"),
        ("<think>The hormone is", "cut_off"),
        ("The hormone is</think> Which hormone lowers glucose?", "cut_off"),
        ("Is it insulin or glucagon that lowers blood glucose?", "echo_of_the_options"),
        ("Which hormone lowers glucose?\nA. Hormone one\nB. Hormone two", "echo_of_the_options"),
        ("Which hormone among these options lowers glucose?", "echo_of_the_options"),
        ("Insulin.", "answered_instead_of_rephrasing"),
        ("Why does insulin lower the glucose in blood?", "answered_instead_of_rephrasing"),
        ("Which hormone lowers glucose? Answer: see above", "answered_instead_of_rephrasing"),
        ("Which hormone lowers glucose?\nAnswer: the pancreatic one", "answered_instead_of_rephrasing"),
        ("Which hormone lowers glucose? The answer is clear.", "answered_instead_of_rephrasing"),
        (
            'The answer to the question "Which hormone lowers glucose?" should be long.',
            "answered_instead_of_rephrasing",
        ),
        ("Which hormone lowers glucose?\n\nNote: I removed the list.", "answered_instead_of_rephrasing"),
        ("It lowers the glucose in blood.", "answered_instead_of_rephrasing"),
        ("I'm sorry, but I can't help with that.", "answered_instead_of_rephrasing"),
    ],
)
def test_read_rephrasing(text, outcome):
    got, question = replies.read_rephrasing(reply(text), item())
    assert got == outcome
    assert bool(question) == (outcome in ("rephrased", "equal_to_the_original"))


def test_equal_to_the_original_is_usable_and_named():
    source = item(question="What hormone lowers blood glucose?")
    assert replies.read_rephrasing(reply("what hormone lowers  blood glucose ?"), source) == (
        "equal_to_the_original",
        "what hormone lowers  blood glucose ?",
    )


def test_gold_answer_that_the_original_holds_is_no_answer():
    source = item(question="Of insulin and its rivals, which lowers glucose?")
    assert replies.read_rephrasing(reply("Where is insulin made?"), source)[0] == "rephrased"


def test_cut_reply_is_no_question():
    assert replies.read_rephrasing(reply("Which hormone lowers? And what", "length"), item()) == ("cut_off", "")


def test_options_that_differ_by_a_sign():
    signs = MultipleChoiceItem("x", "careqa", "Charge?", ("-2.", "2."), (" A", " B"), 0, "p")
    assert replies.read_rephrasing(reply("What is the charge of 2 ions?"), signs)[0] == "rephrased"
    assert replies.read_rephrasing(reply("Why is the charge -2?"), signs)[0] == "echo_of_the_options"


def test_equal_options_are_one_option():
    twice = MultipleChoiceItem("x", "careqa", "Which?", ("Iron", "Lead", "lead"), (" A", " B", " C"), 0, "p")
    assert replies.read_rephrasing(reply("What displaces lead?"), twice)[0] == "rephrased"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", ("selected", "one")),
        ("Version 2.", ("selected", "two")),
        ("**2**\nbecause it keeps the facts", ("selected", "two")),
        ("<think>1 or 2</think>NONE", ("neither_version", "")),
        ("3", ("unparsed", "")),
        ("Version 1 is better than 2", ("unparsed", "")),
        ("", ("unparsed", "")),
        ("<think>2", ("unparsed", "")),
    ],
)
def test_read_choice(text, expected):
    assert replies.read_choice(reply(text), ["one", "two"]) == expected


def test_choice_beyond_the_versions_is_unparsed():
    assert replies.read_choice(reply("2"), ["one"]) == ("unparsed", "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("YES", "only_valid_answer"),
        ("No.", "not_the_only_valid_answer"),
        ("Yes and no", "unparsed"),
        ("None", "unparsed"),
        ("", "unparsed"),
    ],
)
def test_read_verdict(text, expected):
    assert replies.read_verdict(reply(text)) == expected


# ---- asking again


def test_retries_are_bounded_sampled_and_seeded():
    engine = ScriptedEngine({("a", "p"): ["bad", "bad", "bad", "good"], ("b", "p"): ["bad", "good"]})
    questions = [
        Question(name, "p", "text", lambda g: ("unparsed" if g.text == "bad" else "selected", g.text)) for name in "ab"
    ]
    (a, _), (b, text) = ask(questions, engine, Asking(3, 5, max_new_tokens=9))
    assert [r.outcome for r in a] == ["unparsed"] * 3
    assert [r.attempt for r in a] == [0, 1, 2]
    assert ([r.outcome for r in b], text) == (["unparsed", "selected"], "good")
    assert [(r.item_id, r.index) for r in engine.requests] == [("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2)]
    assert [r.temperature for r in engine.requests] == [0.0, 0.0, 0.7, 0.7, 0.7]
    assert {r.max_new_tokens for r in engine.requests} == {9}
    assert engine.requests[2].seed == derived_seed(5, "a", "p", 1)
    assert len({r.seed for r in engine.requests}) == 5


# ---- the whole construction


SCRIPT = {
    ("a", DIRECT): ["What hormone lowers glucose?"],
    ("a", ORAL): ["Name the hormone that lowers glucose."],
    ("b", DIRECT): ["UNSUITABLE"],
    ("b", ORAL): ["unsuitable."],
    ("c", DIRECT): ["Insulin.", "", "Insulin or glucagon?"],
    ("c", ORAL): ["UNSUITABLE"],
    ("d", DIRECT): ["Insulin.", "Which hormone lowers glucose?"],
    ("d", ORAL): ["which hormone lowers  glucose ?"],
    ("e", DIRECT): ["What hormone lowers glucose?"],
    ("e", ORAL): ["UNSUITABLE"],
    ("f", DIRECT): ["What hormone lowers glucose?"],
    ("f", ORAL): ["UNSUITABLE"],
    ("a", "careqa_open_select"): ["1"],
    ("d", "careqa_open_select"): ["2", "1"],
    ("e", "careqa_open_select"): ["NONE"],
    ("f", "careqa_open_select"): ["maybe", "both", "1 and 2"],
    ("a", "careqa_open_validate"): ["YES"],
    ("d", "careqa_open_validate"): ["perhaps", "NO"],
}


@pytest.fixture
def built(templates):
    items = {name: item(name, category="Biology" if name in "ab" else "Medicine") for name in "abcdef"}
    items["g"] = item("g", "Which is NOT a hormone?", "Nursing")
    engine = ScriptedEngine(SCRIPT)
    keywords = filter_keywords(items.values(), "case_insensitive")
    how = Asking(attempts=3, seed=1)
    rephrased = construction.rephrase(items, keywords, templates, engine, how)
    selected = construction.select(items, rephrased, templates, engine, how)
    validated = construction.validate(items, selected, templates, engine, how)
    steps = {"keywords": keywords, "rephrasing": rephrased, "selection": selected, "validation": validated}
    return items, steps, engine


def test_every_question_has_a_reason_at_every_step(built):
    _, steps, _ = built
    assert {step: {d.item_id: (d.kept, d.reason) for d in ds} for step, ds in steps.items()} == {
        "keywords": {**{n: (True, "no_keyword") for n in "abcdef"}, "g": (False, "keyword")},
        "rephrasing": {
            "a": (True, "rephrased"),
            "b": (False, "refused_by_the_model"),
            "c": (False, "retry_bound_reached"),
            "d": (True, "rephrased"),
            "e": (True, "rephrased"),
            "f": (True, "rephrased"),
        },
        "selection": {
            "a": (True, "selected"),
            "d": (True, "selected"),
            "e": (False, "neither_version"),
            "f": (False, "retry_bound_reached"),
        },
        "validation": {"a": (True, "only_valid_answer"), "d": (False, "not_the_only_valid_answer")},
    }


def test_equal_versions_are_one_version(built):
    _, steps, _ = built
    by_id = {d.item_id: d for d in steps["rephrasing"]}
    assert by_id["d"].questions == ("Which hormone lowers glucose?",)
    assert len(by_id["a"].questions) == 2


def test_rebuilt_rows_hold_what_was_selected(built):
    items, steps, engine = built
    rows = construction.rebuilt_rows(items, steps["validation"])
    shown = next(r for r in engine.requests if r.item_id == "a" and r.variant == "careqa_open_select").prompt[0][1]
    first = shown.split("Version 1: ")[1].split("\n")[0]
    assert rows == [
        {"id": "a", "question": first, "answer": "Insulin", "category": "Biology", "year": 2024, "exam_id": 7}
    ]


def test_order_of_versions_is_drawn(templates):
    items = {str(n): item(str(n)) for n in range(40)}
    script = {(n, p): [f"{p} what?"] for n in items for p in (DIRECT, ORAL)} | {
        (n, "careqa_open_select"): ["1"] for n in items
    }
    engine = ScriptedEngine(script)
    rephrased = construction.rephrase(
        items, filter_keywords(items.values(), "whole_word"), templates, engine, Asking(1, 1)
    )
    chosen = [d.questions[0].split()[0] for d in construction.select(items, rephrased, templates, engine, Asking(1, 1))]
    # Of 40 fair draws, 10 or fewer on one side has probability .002.
    assert 10 < chosen.count(DIRECT) < 30


def test_validation_prompt_shows_no_options(built):
    _, _, engine = built
    prompt = next(r for r in engine.requests if r.variant == "careqa_open_validate").prompt[0][1]
    assert "Insulin" in prompt
    assert "Glucagon" not in prompt


def test_counts(built):
    _, steps, _ = built
    table = {(r["step"], r["category"], r["quantity"], r["reason"]): r["count"] for r in counts(steps)}
    assert table["keywords", "all", "questions", "all"] == 7
    assert table["keywords", "all", "questions", "kept"] == 6
    assert table["keywords", "Nursing", "dropped", "keyword"] == 1
    assert table["rephrasing", "all", "dropped", "retry_bound_reached"] == 1
    assert table["rephrasing", "all", "replies", "refused_by_the_model"] == 5
    assert table["rephrasing", "all", "replies", "answered_instead_of_rephrasing"] == 2
    assert table["rephrasing", "all", "replies", "empty"] == 1
    assert table["rephrasing", "all", "replies", "echo_of_the_options"] == 1
    assert table["selection", "all", "questions", "all"] == 4
    assert table["validation", "all", "questions", "kept"] == 1
    for step in steps:
        kept = sum(n for (s, c, q, _), n in table.items() if (s, c, q) == (step, "all", "kept"))
        dropped = sum(n for (s, c, q, _), n in table.items() if (s, c, q) == (step, "all", "dropped"))
        assert table[step, "all", "questions", "kept"] == kept
        assert table[step, "all", "questions", "all"] == kept + dropped


def test_no_requests_where_nothing_is_left(templates):
    engine = ScriptedEngine({})
    assert construction.rephrase({}, [], templates, engine, Asking(3, 1)) == []
    assert engine.requests == []


def test_decisions_survive_their_file(built, tmp_path):
    _, steps, _ = built
    write_jsonl(tmp_path / "d.jsonl", map(to_json, steps["rephrasing"]))
    assert read_decisions(tmp_path / "d.jsonl") == steps["rephrasing"]


def test_broken_decision_names_the_line(tmp_path):
    (tmp_path / "d.jsonl").write_text(json.dumps({"item_id": "a"}) + "\n")
    with pytest.raises(StudyError, match=r"d\.jsonl, record line 1"):
        read_decisions(tmp_path / "d.jsonl")


def test_decision_about_an_unknown_item(templates):
    with pytest.raises(StudyError, match="record zz"):
        construction.rephrase({}, filter_keywords([item("zz")], "whole_word"), templates, None, Asking(1, 1))


def test_broken_template_is_named(tmp_path):
    (tmp_path / f"{DIRECT}.txt").write_text("{question} {nonsense}")
    with pytest.raises(StudyError, match=f"{DIRECT}.*nonsense"):
        construction.rephrase(
            {"a": item("a")},
            filter_keywords([item("a")], "whole_word"),
            construction.read_templates([tmp_path / f"{DIRECT}.txt"]),
            None,
            Asking(1, 1),
        )


def test_texts_with_dollars_and_braces_reach_the_prompt_unchanged(templates):
    odd = item("a", question="What costs $5 {per} $answer?")
    engine = ScriptedEngine({("a", DIRECT): ["UNSUITABLE"], ("a", ORAL): ["UNSUITABLE"]})
    construction.rephrase({"a": odd}, filter_keywords([odd], "whole_word"), templates, engine, Asking(1, 1))
    assert "What costs $5 {per} $answer?" in engine.requests[0].prompt[0][1]
