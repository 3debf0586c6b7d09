"""Data quality of the real files, against counts made in other ways."""

import time

import pandas as pd
import pytest

from beyondqa.data_quality.checks import find_faults, gold_balance
from beyondqa.data_quality.duplicates import NEAR_JACCARD, find_pairs, overlaps, whole_text
from beyondqa.data_quality.head_qa import read_head_qa
from beyondqa.items import MultipleChoiceItem


def closed(name, benchmark, question, options, gold):
    letters = tuple(f" {chr(65 + n)}" for n, _ in enumerate(options))
    return MultipleChoiceItem(name, benchmark, question, options, letters, int(gold), "prompt")


def medmcqa_items(shared):
    (path,) = (shared / "hub/openlifescienceai/medmcqa").rglob("*validation*.parquet")
    rows = pd.read_parquet(path).itertuples()
    return [closed(r.id, "medmcqa", r.question, (r.opa, r.opb, r.opc, r.opd), r.cop) for r in rows]


@pytest.fixture(scope="module")
def careqa(shared):
    rows = pd.read_parquet(shared / "hub/HPAI-BSC/CareQA/CareQA_en/test-00000-of-00001.parquet").itertuples()
    return [closed(r.unique_id, "careqa", r.question, (r.op1, r.op2, r.op3, r.op4), r.cop - 1) for r in rows]


@pytest.fixture(scope="module")
def head_qa(shared):
    return read_head_qa(shared / "data")


@pytest.fixture(scope="module")
def exams_overlap(careqa, head_qa):
    pairs = find_pairs([*careqa, *head_qa])
    return pairs, {(r["benchmark_a"], r["benchmark_b"], r["kind"]): r["items_a"] for r in overlaps(pairs)}


def test_head_qa_counts_by_year(head_qa):
    # The published splits: train 2013-2014 2,657, dev 2015 1,366, test 2016-2017 2,742.
    years = pd.Series([item.metadata["year"] for item in head_qa]).value_counts()
    assert years[2013] + years[2014] == 2657
    assert years[2015] == 1366
    assert years[2016] + years[2017] == 2742


def test_careqa_overlaps_head_qa(exams_overlap):
    """The paper says that it does not. Two items read by hand are the same question with the same options."""
    pairs, items = exams_overlap
    assert items["careqa", "head_qa", "identical"] == 2
    assert items["careqa", "head_qa", "near"] == 15
    twins = {(p.id_a, p.id_b) for p in pairs if p.kind == "identical"}
    assert ("98fc6060-3328-4864-8a6e-5b1bd4cfb767", "head_qa:Cuaderno_2016_1_B:205") in twins


def test_near_pairs_of_the_real_items_are_those_of_brute_force(careqa, head_qa):
    """Every pair of a seventh of CareQA with HEAD-QA's biology, by Python sets of 5-byte substrings."""
    some, others = careqa[::7], [item for item in head_qa if item.metadata["category"] == "biology"]
    left, right = [[substrings(whole_text(item)) for item in items] for items in (some, others)]
    expected = {
        (some[a].id, others[b].id)
        for a, one in enumerate(left)
        for b, other in enumerate(right)
        # The index cannot reach the bound where the sizes alone forbid it.
        if min(len(one), len(other)) >= NEAR_JACCARD * max(len(one), len(other))
        and len(one & other) >= NEAR_JACCARD * len(one | other)
    }
    pairs = find_pairs([*some, *others])
    assert expected
    assert {(p.id_a, p.id_b) for p in pairs if p.benchmark_a != p.benchmark_b and p.kind != "same_question"} == expected


def substrings(text):
    data = text.encode()
    return {data[k : k + 5] for k in range(max(1, len(data) - 4))}


def test_gold_letters_of_careqa(careqa):
    # study-facts.md, section 1d.
    assert [row["count"] for row in gold_balance(careqa)] == [1390, 1460, 1486, 1285]


def test_duplicate_options_of_careqa(careqa):
    """Counted in another way: lower-case options without their final stop."""
    found = {f.item_id for f in find_faults(careqa, {"careqa": "en"}) if f.check == "duplicate_options"}
    counted = {i.id for i in careqa if len({o.lower().rstrip(". ") for o in i.options}) < len(i.options)}
    assert counted <= found
    assert len(found) == 13
    assert len(found - counted) == 1  # a comma more


def test_careqa_is_english(careqa):
    assert not [f for f in find_faults(careqa, {"careqa": "en"}) if f.check == "other_language"]


def test_twenty_thousand_items_in_a_minute(careqa, head_qa, shared):
    items = [*careqa, *head_qa, *medmcqa_items(shared)]
    items += [
        MultipleChoiceItem(f"{i.id}+", "again", f"{i.question} now", i.options, i.candidates, i.gold, "p")
        for i in careqa[: 20_000 - len(items)]
    ]
    assert len(items) == 20_000
    start = time.process_time()
    find_pairs(items)
    assert time.process_time() - start < 60


def test_mmlu_repeats_itself(shared):
    """78 items of clinical_knowledge are in college_medicine too, by pandas on the raw rows."""
    paths = sorted((shared / "hub/cais/mmlu").rglob("*test*.parquet"))
    frame = pd.concat([pd.read_parquet(path).assign(subject=path.parent.name) for path in paths])
    keys = [frame["question"].str.strip().str.lower(), frame["choices"].map(lambda c: tuple(sorted(c)))]
    repeated = frame[pd.concat(keys, axis=1).duplicated()]
    assert len(repeated) == 78
    items = [
        closed(f"{r.subject}:{n}", "mmlu", r.question, r.choices, r.answer) for n, r in enumerate(frame.itertuples())
    ]
    (found,) = [row for row in overlaps(find_pairs(items)) if row["kind"] == "identical"]
    assert found["items_b"] == 78
