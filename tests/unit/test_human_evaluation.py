"""Human evaluation: sampling, sheets and agreement, against formulas' properties, brute force and published values."""

import csv
import itertools
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beyondqa import human_evaluation as he
from beyondqa.errors import StudyError
from beyondqa.items import MultipleChoiceItem

# ---- sample size


def test_published_sample_size():
    # Paper 1, section 2.1: 360 of 5,621 at 95 % confidence; 5 % margin by appendix A.3.
    assert he.sample_size(5621) == 360
    # study-facts.md, section 7, row 8.
    assert he.margin_of_error(360, 5621) == pytest.approx(0.0500, abs=5e-5)
    assert he.margin_of_error(271, 3730) == pytest.approx(0.0573, abs=5e-5)
    assert he.margin_of_error(265, 2769) == pytest.approx(0.0573, abs=5e-5)
    assert he.margin_of_error(260, 3730) == pytest.approx(0.0586, abs=5e-5)
    assert he.margin_of_error(260, 2769) == pytest.approx(0.0579, abs=5e-5)


@given(st.integers(2, 100_000), st.sampled_from([0.9, 0.95, 0.99]), st.sampled_from([0.03, 0.05, 0.1]))
def test_sample_size_is_the_smallest_that_meets_the_margin(population, confidence, margin):
    size = he.sample_size(population, confidence, margin)
    assert he.margin_of_error(size, population, confidence) <= margin + 1e-9
    if size > 1:
        assert he.margin_of_error(size - 1, population, confidence) > margin - 1e-9


def test_sample_size_of_tiny_and_huge_populations():
    assert he.sample_size(1) == 1
    # Cochran's 384.16 for an unlimited population.
    assert he.sample_size(10**9) == 385
    with pytest.raises(ValueError, match="population"):
        he.sample_size(0)


# ---- sampling


@given(st.dictionaries(st.text(min_size=1), st.integers(1, 500), min_size=1, max_size=8), st.data())
def test_allocation_is_proportional(populations, data):
    total = sum(populations.values())
    size = data.draw(st.integers(0, total))
    sizes = he.allocation(populations, size)
    assert sum(sizes.values()) == size
    for name, count in populations.items():
        assert abs(sizes[name] - size * count / total) < 1
        assert 0 <= sizes[name] <= count


def test_allocation_by_hand():
    # Quotas 2.5, 1.5, 1: the two halves tie, the larger population gets the seat.
    assert he.allocation({"a": 5, "b": 3, "c": 2}, 5) == {"a": 3, "b": 1, "c": 1}


def test_sample_does_not_depend_on_order_but_on_the_seed():
    categories = {f"i{n}": "ab"[n % 2] for n in range(100)}
    backwards = dict(reversed(categories.items()))
    sample = he.stratified_sample(categories, 10, seed=1)
    assert sample == he.stratified_sample(backwards, 10, seed=1)
    assert sample != he.stratified_sample(categories, 10, seed=2)
    assert len(set(sample)) == 10
    assert [categories[i] for i in sample] == ["a"] * 5 + ["b"] * 5


def test_sample_draws_every_item_alike():
    categories = {str(n): "x" for n in range(10)}
    draws = [item for seed in range(600) for item in he.stratified_sample(categories, 3, seed)]
    counts = [draws.count(item) for item in categories]
    # Each count is near binomial(600, .3): mean 180, standard deviation 11.2; six of them on either side.
    assert statistics.mean(counts) == 180
    assert all(112 < count < 248 for count in counts)


@given(st.integers(0, 40), st.integers(1, 10), st.data())
def test_assignment_is_balanced(items, evaluators, data):
    raters = data.draw(st.integers(1, evaluators))
    ids = [str(n) for n in range(items)]
    loads = he.assign(ids, evaluators, raters, seed=3)
    assert len(loads) == evaluators
    assert all(len(set(load)) == len(load) for load in loads)
    assert sorted(i for load in loads for i in load) == sorted(ids * raters)
    assert max(map(len, loads)) - min(map(len, loads)) <= 1


def test_more_raters_than_evaluators():
    with pytest.raises(StudyError, match=r"human_evaluation\.raters"):
        he.assign(["a"], evaluators=2, raters=3, seed=1)


# ---- sheets


def write(path, *rows, header="item_id,correct,comment", ends="\n", encoding="utf-8"):
    path.write_bytes(ends.join([header, *rows, ""]).encode(encoding))
    return path


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_formulas_are_disarmed(tmp_path, start):
    he.write_sheet(tmp_path / "s.csv", [{"item_id": "a", "question": start + 'cmd|" /C calc"!A0', "answer": "-5 °C"}])
    with open(tmp_path / "s.csv", encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["question"] == "'" + start + 'cmd|" /C calc"!A0'
    assert row["answer"] == "'-5 °C"
    assert row["correct"] == ""


def test_a_filled_sheet_comes_back(tmp_path):
    items = [{"item_id": f"careqa:{n}", "question": "a\nb, c; d", "options": 'x"y'} for n in range(3)]
    he.write_sheet(tmp_path / "ana.csv", items)
    assert (tmp_path / "ana.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    with open(tmp_path / "ana.csv", encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    rows[0]["correct"], rows[1]["correct"], rows[1]["comment"] = "YES ", "no", "NA"
    with open(tmp_path / "ana.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), delimiter=";")
        writer.writeheader()
        writer.writerows(rows)
    filled = he.read_sheets([tmp_path / "ana.csv"], {row["item_id"] for row in items})
    assert filled.blank == 1
    assert filled.judgements == [
        he.Judgement("careqa:0", "ana", True),
        he.Judgement("careqa:1", "ana", False, "NA"),
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_marks_and_line_ends(tmp_path, encoding, ends):
    path = write(tmp_path / "e.csv", "a,yes,", "", "b,no,", ends=ends, encoding=encoding)
    assert [j.correct for j in he.read_sheets([path], "ab").judgements] == [True, False]


@pytest.mark.parametrize(
    ("rows", "header", "message"),
    [
        (["a,maybe,"], "item_id,correct,comment", r"e\.csv, record row 2: the verdict is 'maybe'.*yes or no"),
        (
            ["a,yes,", "", "a,no,"],
            "item_id,correct,comment",
            r"record row 4: item a is judged again \(first in row 2\)",
        ),
        (["z,yes,"], "item_id,correct,comment", "row 2: item 'z' is not in the sample"),
        (["a,yes"], "id,correct", "has no column item_id"),
        (["a"], "item_id", "has no column correct"),
        ([], "", "has no column item_id and no column correct"),
        (["a,,", "b, ,"], "item_id,correct,comment", "none of 1 sheets holds a verdict"),
    ],
)
def test_bad_sheets(tmp_path, rows, header, message):
    with pytest.raises(StudyError, match=message):
        he.read_sheets([write(tmp_path / "e.csv", *rows, header=header)], "ab")


def test_sheet_that_is_no_text(tmp_path):
    (tmp_path / "e.csv").write_bytes(b"PK\x03\x04\xff\xfe")
    with pytest.raises(StudyError, match="Save the sheet as CSV"):
        he.read_sheets([tmp_path / "e.csv"], "ab")


# ---- shares and agreement


def judgements(*verdicts):
    """Items a, b, ... with a string of verdicts each: "yyn" is two yes and one no."""
    return [
        he.Judgement(item, f"e{rater}", verdict == "y")
        for item, row in zip("abcdefgh", verdicts, strict=False)
        for rater, verdict in enumerate(row)
    ]


def summary(*verdicts):
    rows = he.summarise(judgements(*verdicts), dict.fromkeys("abcdefgh", "x"))
    return {row["quantity"]: row for row in rows if row["category"] == "all"}


def test_shares_of_three_evaluators_by_hand():
    rows = summary("yyy", "yyn", "ynn", "nnn")
    assert {q: rows[q]["value"] for q in ("at_least_1", "at_least_2", "all_3", "all_of_the_item", "unanimous")} == {
        "at_least_1": 0.75,
        "at_least_2": 0.5,
        "all_3": 0.25,
        "all_of_the_item": 0.25,
        "unanimous": 0.5,
    }
    assert rows["pairwise"]["value"] == pytest.approx((1 + 1 / 3 + 1 / 3 + 1) / 4)
    assert rows["all_3"]["n"] == 4


@pytest.mark.parametrize("raters", [3, 4, 5, 6])
def test_share_of_three_is_the_mean_over_all_triples(raters):
    for correct in range(raters + 1):
        triples = list(itertools.combinations([True] * correct + [False] * (raters - correct), 3))
        for at_least in (1, 2, 3):
            expected = statistics.mean(sum(triple) >= at_least for triple in triples)
            assert he.share_of_three(correct, raters, at_least) == pytest.approx(expected)


def test_more_raters_lower_the_share_of_all_but_not_of_three():
    rows = summary("yyyyn", "yyyyn")
    assert rows["all_of_the_item"]["value"] == 0
    assert rows["all_3"]["value"] == pytest.approx(4 / 10)
    assert rows["items_with_more"]["value"] == 2


def test_items_with_fewer_raters_are_counted_and_left_out():
    rows = summary("yyy", "nn")
    assert rows["all_3"]["value"] == 1
    assert rows["all_3"]["n"] == 1
    assert rows["items_with_fewer"]["value"] == 1


def test_no_item_with_three_raters():
    rows = summary("yy", "nn")
    assert rows["all_3"]["value"] is None
    assert "3 judgements" in rows["all_3"]["reason"]


def test_wilson_interval():
    # Wilson's formula at 2 of 4, z = 1.959964: centre .5, half-width z/(1+z^2/n) * sqrt(1/16 + z^2/(4*16)) = .34996.
    row = summary("yyy", "yyy", "nnn", "nnn")["all_3"]
    assert (row["ci_low"], row["ci_high"]) == (pytest.approx(0.15004, abs=1e-4), pytest.approx(0.84996, abs=1e-4))


def test_categories():
    rows = he.summarise(judgements("yyy", "nnn"), {"a": "Biology", "b": "Nursing"})
    shares = {row["category"]: row["value"] for row in rows if row["quantity"] == "all_3"}
    assert shares == {"all": 0.5, "Biology": 1.0, "Nursing": 0.0}


def coincidence_alpha(by_item):
    """Krippendorff's alpha for nominal data from the coincidence matrix, written out."""
    pairs = {(a, b): 0.0 for a in (True, False) for b in (True, False)}
    for verdicts in by_item:
        if len(verdicts) > 1:
            for a, b in itertools.permutations(verdicts, 2):
                pairs[a, b] += 1 / (len(verdicts) - 1)
    totals = {a: pairs[a, True] + pairs[a, False] for a in (True, False)}
    n = sum(totals.values())
    observed = pairs[True, False] + pairs[False, True]
    expected = 2 * totals[True] * totals[False] / (n - 1)
    return 1 - observed / expected


def test_alpha_of_krippendorffs_example():
    # Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), binary data of two observers: .095.
    first, second = "0100000010", "1110010000"
    verdicts = {("e1", str(i)): c == "1" for i, c in enumerate(first)}
    verdicts |= {("e2", str(i)): c == "1" for i, c in enumerate(second)}
    alpha, reason = he.krippendorff_alpha(verdicts)
    assert (round(alpha, 3), reason) == (0.095, "")


@given(st.lists(st.text("yn", min_size=1, max_size=5), min_size=2, max_size=8))
def test_alpha_against_the_coincidence_matrix(rows):
    verdicts = {(j.evaluator, j.item_id): j.correct for j in judgements(*rows)}
    paired = [[c == "y" for c in row] for row in rows if len(row) > 1]
    alpha, reason = he.krippendorff_alpha(verdicts)
    if len({v for row in paired for v in row}) < 2:
        assert alpha is None
        assert reason
    else:
        assert alpha == pytest.approx(coincidence_alpha(paired), abs=1e-9)


# ---- what an evaluator sees


def closed(**metadata):
    return MultipleChoiceItem("careqa:1", "careqa", "Which?", ("Insulin", "Zinc"), (" A", " B"), 1, "p", "", metadata)


def test_row_of_a_rephrasing_shows_both_questions():
    row = he.sheet_row(closed(category="Biology"), "What is it?", None)
    assert row == {
        "item_id": "careqa:1",
        "category": "Biology",
        "original": "Which?",
        "options": "A. Insulin\nB. Zinc",
        "answer": "Zinc",
        "question": "What is it?",
    }


def test_row_of_a_translation_shows_the_spanish_or_where_it_is():
    spanish = MultipleChoiceItem("careqa_es:1", "careqa_es", "¿Cuál?", ("Insulina", "Cinc"), (" A", " B"), 1, "p")
    row = he.sheet_row(closed(), None, spanish)
    assert (row["original"], row["question"]) == ("¿Cuál?\nA. Insulina\nB. Cinc", "Which?")
    row = he.sheet_row(closed(category="Biology", year=2024, exam_id=7), None, None)
    assert row["original"] == "Spanish examination: category Biology, year 2024, exam_id 7"
