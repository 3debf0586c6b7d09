"""Edits of real references and answers: one place each, no edit that was seen to miss its meaning, and ROUGE's figures
against a computation that shares nothing with ours."""

import csv
import gzip
import json
import re
from collections import defaultdict

import pytest
from rouge_score.rouge_scorer import RougeScorer

from beyondqa.items import Generation, OpenItem
from beyondqa.sensitivity.corruptions import HARMFUL, HARMLESS
from beyondqa.sensitivity.edits import ORIGINAL, edits_of
from beyondqa.sensitivity.preferences import corruption_preferences

# Longest text, in characters, that one edit takes out or puts in: an entity's name.
LONGEST = 60
# What edits of these texts were, before the lists told the senses of their terms apart.
SEEN = re.compile(
    r"history of absent illness|right untreated|chronic distress|high back pain|abnormal saline"
    r"|\d{3}[- ]year[- ]old|not a \d+[- ]year[- ]old|not no\b|\d{3,}0 ?%|yellow pyrexia|hay pyrexia",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def olaph(shared):
    """201 references and the first sampled answer of each of two models."""
    items, answers = [], []
    for model in ("mistral-7b", "selfbiorag-7b"):
        path = shared / f"recorded/olaph_sampled_predictions/pdata_{model}_kqa_golden_sampling.jsonl.gz"
        with gzip.open(path, "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        items = [OpenItem(f"{i}", "olaph", row["Question"], row["Free_form_answer"], "Q") for i, row in enumerate(rows)]
        answers += [
            Generation(f"{i}", "olaph", model, "greedy", 0, row["sample_predictions"][0], "recorded")
            for i, row in enumerate(rows)
        ]
    return edits_of(items, answers)


@pytest.fixture(scope="module")
def aci_bench(shared):
    """40 references and GPT-4's notes."""
    with open(shared / "data/aci_bench/clinicalnlp_taskC_test2.csv", encoding="utf-8", newline="") as file:
        items = [
            OpenItem(row["encounter_id"], "aci", row["dialogue"], row["note"], "Q") for row in csv.DictReader(file)
        ]
    path = shared / "recorded/aci_bench_baselines/predictions/test2GPT-4_.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        answers = [
            Generation(row["encounter_id"], "aci", "GPT-4", "greedy", 0, row["note"], "recorded")
            for row in csv.DictReader(file)
        ]
    return edits_of(items, answers)


@pytest.fixture(params=["olaph", "aci_bench"])
def edits(request):
    return request.getfixturevalue(request.param)


def taken_out_and_put_in(old, new):
    """What stands between the beginning and the end that both texts share."""
    shared = min(len(old), len(new))
    start = next((i for i in range(shared) if old[i] != new[i]), shared)
    end = next((i for i in range(shared - start) if old[-1 - i] != new[-1 - i]), shared - start)
    return old[start : len(old) - end], new[start : len(new) - end]


def test_each_edit_is_one_and_short(edits):
    originals = {(e.model, e.item_id): e.text for e in edits if e.kind == ORIGINAL}
    short = [e for e in edits if e.kind in (*HARMFUL, *HARMLESS)]
    assert len(short) > 2 * len(originals)
    for edit in short:
        old, new = taken_out_and_put_in(originals[edit.model, edit.item_id], edit.text)
        assert old != new
        assert max(len(old), len(new)) <= LONGEST, (edit.kind, old, new)


def test_no_edit_that_was_seen_to_miss_its_meaning(edits):
    originals = {(e.model, e.item_id): e.text for e in edits if e.kind == ORIGINAL}
    wrong = [
        (e.kind, found.group())
        for e in edits
        if e.kind in (*HARMFUL, *HARMLESS)
        for found in [SEEN.search(e.text)]
        if found and found.group() not in originals[e.model, e.item_id]
    ]
    assert wrong == []


def test_rouge_of_the_edits_as_computed_apart(edits):
    """H by hand from rouge-score's values; a negation, which adds a word, leaves more of a reference than a synonym."""
    scorer = RougeScorer(["rouge1"], use_stemmer=False)
    scores = defaultdict(dict)
    for edit in edits:
        if edit.kind != ORIGINAL:
            value = scorer.score(edit.reference, edit.text)["rouge1"].fmeasure
            scores[edit.source, edit.item_id, edit.model][edit.kind] = round(value, 9)
    table = corruption_preferences(edits, {"rouge": {}}, seed=1)
    rows = table[table["metric"] == "rouge1[nostem]"]
    for row in rows.itertuples():
        standings = defaultdict(list)
        for (source, item, _), found in scores.items():
            harmless = [found[kind] for kind in HARMLESS if kind in found]
            if source == row.source and row.comparison in found and harmless:
                other = found[row.comparison]
                above = sum((value > other) + (value == other) / 2 for value in harmless)
                standings[item].append(above / len(harmless))
        means = [sum(values) / len(values) for values in standings.values()]
        assert row.n_items == len(means)
        assert row.probability == pytest.approx(sum(means) / len(means), abs=1e-9), row.comparison
        assert row.ci_low <= row.probability <= row.ci_high
    negation = rows[(rows["comparison"] == "negation") & (rows["source"] == "reference")].iloc[0]
    assert negation["ci_high"] < 0.5
    assert set(rows["source"]) == {"reference", "recorded answer"}
