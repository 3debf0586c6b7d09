"""Human evaluation of CareQA's translation and of CareQA-Open's two iterations (paper 1, section 2.1, appendix A.3).

A sample of the items goes to evaluators as spreadsheets, one each; filled sheets come back and give the shares of
items that evaluators hold to be correct, and how far the evaluators agree.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from os import PathLike
from pathlib import Path
from statistics import NormalDist
from typing import Any

from .benchmarks.base import lettered
from .errors import StudyError
from .identity import derived_seed
from .items import MultipleChoiceItem
from .records import atomic

TRANSLATION = "translation"
TITLES = {
    TRANSLATION: "Translation",
    "iteration_1": "Rephrasing, iteration 1",
    "iteration_2": "Rephrasing, iteration 2",
}
EVALUATIONS = tuple(TITLES)
RATERS = 3  # at least so many evaluators an item in paper 1
VERDICTS = {"yes": True, "no": False}
SHEET_COLUMNS = ("item_id", "category", "original", "options", "answer", "question", "correct", "comment")
_FILLED_COLUMNS = ("item_id", "correct")
# A cell that starts like this is a formula to a spreadsheet.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def sample_size(population: int, confidence: float = 0.95, margin: float = 0.05) -> int:
    """Items to judge so that a share is known to +- `margin` at the given confidence, whatever the share is.

    Cochran, Sampling Techniques (1977), section 4.4, at a share of one half, with the finite-population correction.
    """
    if population < 1:
        raise ValueError(f"the population is {population}")
    unlimited = NormalDist().inv_cdf((1 + confidence) / 2) ** 2 / (4 * margin**2)
    return min(population, math.ceil(unlimited / (1 + (unlimited - 1) / population)))


def margin_of_error(sample: int, population: int, confidence: float = 0.95) -> float:
    """Half-width of the interval of a share of one half, in 0-1: the inverse of `sample_size`."""
    if not 0 < sample <= population:
        raise ValueError(f"a sample of {sample} from {population}")
    if population == 1:
        return 0.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    return z * math.sqrt((population - sample) / (population - 1) / (4 * sample))


def stratified_sample(categories: Mapping[str, str], size: int, seed: int) -> list[str]:
    """Ids of a random sample in which each category has its share of the population; sorted by category and id.

    `categories` maps id to category. Shares are rounded by largest remainders; the draw depends on the seed and
    on the set of ids, not on their order.
    """
    import numpy as np

    strata: dict[str, list[str]] = {}
    for item_id in sorted(categories):
        strata.setdefault(categories[item_id], []).append(item_id)
    sizes = allocation({category: len(ids) for category, ids in strata.items()}, size)
    sample = []
    for category in sorted(strata):
        draw = np.random.default_rng(derived_seed(seed, "human_evaluation", category))
        sample += sorted(draw.choice(np.array(strata[category], dtype=object), size=sizes[category], replace=False))
    return sample


def allocation(populations: Mapping[str, int], size: int) -> dict[str, int]:
    """`size` shared out in proportion to the populations, by largest remainders; ties go to the larger population."""
    total = sum(populations.values())
    if not 0 <= size <= total:
        raise ValueError(f"a sample of {size} from {total}")
    exact = {name: size * count / total for name, count in populations.items()}
    sizes = {name: math.floor(share) for name, share in exact.items()}
    order = sorted(populations, key=lambda name: (sizes[name] - exact[name], -populations[name], name))
    for name in order[: size - sum(sizes.values())]:
        sizes[name] += 1
    return sizes


def assign(item_ids: Sequence[str], evaluators: int, raters: int, seed: int) -> list[list[str]]:
    """For each evaluator the items to judge: `raters` evaluators an item, equal loads to within one item.

    Items are shuffled with the seed before they are dealt out in turn, so that neighbours in a sheet have nothing
    in common.
    """
    import numpy as np

    if not 1 <= raters <= evaluators:
        raise StudyError(
            f"{raters} evaluators are to judge each item, but there are {evaluators}",
            remedy="Set human_evaluation.raters to at most human_evaluation.evaluators",
        )
    shuffled = np.random.default_rng(derived_seed(seed, "assignment")).permutation(np.array(item_ids, dtype=object))
    loads: list[list[str]] = [[] for _ in range(evaluators)]
    for position, item_id in enumerate(item for item in shuffled for _ in range(raters)):
        loads[position % evaluators].append(item_id)
    return loads


def sheet_row(item: MultipleChoiceItem, question: str | None, spanish: MultipleChoiceItem | None) -> dict[str, Any]:
    """What an evaluator sees of an item: `question` is its open-ended version, None where the translation is judged.

    The original of a translation is the Spanish question with its options, or where to find it in the examinations.
    """
    row = {
        "item_id": item.id,
        "category": category(item),
        "options": lettered(item.options),
        "answer": item.options[item.gold],
    }
    if question is not None:
        return {**row, "original": item.question, "question": question}
    exam = ", ".join(
        f"{name} {item.metadata[name]}" for name in ("category", "year", "exam_id") if name in item.metadata
    )
    original = f"{spanish.question}\n{lettered(spanish.options)}" if spanish else f"Spanish examination: {exam}"
    return {**row, "original": original, "question": item.question}


def category(item: MultipleChoiceItem) -> str:
    """The examination that the item is from, "" where it is not known."""
    return str(item.metadata.get("category", ""))


def write_sheet(path: str | PathLike, rows: Iterable[Mapping[str, Any]]) -> None:
    """A CSV with SHEET_COLUMNS that a spreadsheet opens as text: a byte-order mark, formulas disarmed by an apostrophe.

    `correct` and `comment` are left for the evaluator.
    """
    with atomic(path) as file:
        file.write("\ufeff")
        writer = csv.writer(file, lineterminator="\r\n", quoting=csv.QUOTE_ALL)
        writer.writerow(SHEET_COLUMNS)
        for row in rows:
            writer.writerow(_disarmed(str(row.get(column) or "")) for column in SHEET_COLUMNS)


@dataclass(frozen=True, slots=True)
class Judgement:
    """One evaluator's verdict on one item."""

    item_id: str
    evaluator: str
    correct: bool
    comment: str = ""


@dataclass(frozen=True, slots=True)
class FilledSheets:
    """Judgements of all sheets, and how many cells were left blank."""

    judgements: list[Judgement]
    blank: int


def read_sheets(paths: Iterable[str | PathLike], item_ids: Iterable[str]) -> FilledSheets:
    """The judgements of filled sheets, one evaluator a file (its stem).

    Commas or semicolons, with or without a byte-order mark, any line ends. A blank verdict is counted. Raises
    StudyError naming file and row for a missing column, an unknown or repeated item, or a verdict that is not
    yes or no, and where no sheet holds a verdict.
    """
    known = set(item_ids)
    judgements: list[Judgement] = []
    blank = 0
    paths = sorted(map(Path, paths))
    for path in paths:
        seen: dict[str, int] = {}
        for number, row in _rows(path):
            item_id = row["item_id"].strip()
            if item_id not in known:
                raise _row_error(path, number, f"item {item_id!r} is not in the sample", "Fill in an exported sheet")
            if item_id in seen:
                problem = f"item {item_id} is judged again (first in row {seen[item_id]})"
                raise _row_error(path, number, problem, "Keep one of the rows")
            seen[item_id] = number
            verdict = row["correct"].strip().lower()
            if not verdict:
                blank += 1
                continue
            if verdict not in VERDICTS:
                raise _row_error(
                    path, number, f"the verdict is {row['correct']!r}", "Write yes or no, or leave it blank"
                )
            judgements.append(Judgement(item_id, path.stem, VERDICTS[verdict], row.get("comment", "")))
    if not judgements:
        raise StudyError(f"none of {len(paths)} sheets holds a verdict", remedy="Fill in the column correct: yes or no")
    return FilledSheets(judgements, blank)


def summarise(judgements: Iterable[Judgement], categories: Mapping[str, str]) -> list[dict[str, Any]]:
    """Rows (category, quantity, value, ci_low, ci_high, n, reason), category "all" first.

    n is the number of items with RATERS judgements or more; the others are counted under "items_with_fewer" and
    left out of all else, except alpha, which takes every item that two evaluators or more have judged.

    Shares in 0-1, with Wilson intervals:
    - at_least_1, at_least_2, all_3: held to be correct by so many of three evaluators. For an item with more than
      three, the mean over all choices of three of them, so that the share does not fall with their number.
    - all_of_the_item: held to be correct by every evaluator of the item, three or more (falls with their number).
    Agreement in 0-1, `pairwise` without an interval:
    - unanimous: share of items on which all evaluators of the item agree;
    - pairwise: mean over items of the share of pairs of evaluators that agree.
    - krippendorff_alpha: nominal; undefined where all verdicts are equal.
    """
    by_item: dict[str, list[bool]] = {}
    table: dict[tuple[str, str], bool] = {}
    for judgement in judgements:
        by_item.setdefault(judgement.item_id, []).append(judgement.correct)
        table[judgement.evaluator, judgement.item_id] = judgement.correct
    rows = []
    for category in ["all", *sorted({categories[item_id] for item_id in by_item})]:
        items = [item_id for item_id in by_item if category in ("all", categories[item_id])]
        rows += [{"category": category, **row} for row in _summary({i: by_item[i] for i in items}, table)]
    return rows


def share_of_three(correct: int, raters: int, at_least: int) -> float:
    """Probability that at least so many of three evaluators, drawn from an item's `raters`, hold it to be correct."""
    wrong = raters - correct
    good = sum(math.comb(correct, k) * math.comb(wrong, RATERS - k) for k in range(at_least, RATERS + 1))
    return good / math.comb(raters, RATERS)


def krippendorff_alpha(verdicts: Mapping[tuple[str, str], bool]) -> tuple[float | None, str]:
    """(alpha, reason where it is None) of (evaluator, item) -> verdict; nominal, missing verdicts allowed.

    Krippendorff, Content Analysis, chapter on reliability. At most 1; 0 is agreement by chance.
    """
    import krippendorff
    import numpy as np

    evaluators = sorted({evaluator for evaluator, _ in verdicts})
    items = sorted({item for _, item in verdicts})
    data = np.full((len(evaluators), len(items)), np.nan)
    for (evaluator, item), verdict in verdicts.items():
        data[evaluators.index(evaluator), items.index(item)] = verdict
    paired = data[:, np.sum(~np.isnan(data), axis=0) > 1]
    if not paired.size:
        return None, "no item has two judgements"
    if len(np.unique(paired[~np.isnan(paired)])) < 2:
        return None, "all verdicts are equal"
    return float(krippendorff.alpha(reliability_data=paired, level_of_measurement="nominal")), ""


def _summary(by_item: Mapping[str, Sequence[bool]], table: Mapping[tuple[str, str], bool]) -> list[dict[str, Any]]:
    full = [verdicts for verdicts in by_item.values() if len(verdicts) >= RATERS]
    n = len(full)
    rows = [
        _row("judgements", sum(map(len, by_item.values())), n),
        _row("items_with_fewer", len(by_item) - n, n),
        _row("items_with_more", sum(len(verdicts) > RATERS for verdicts in full), n),
    ]
    for name, at_least in (("at_least_1", 1), ("at_least_2", 2), ("all_3", 3)):
        rows.append(_share(name, sum(share_of_three(sum(v), len(v), at_least) for v in full), n))
    rows.append(_share("all_of_the_item", sum(map(all, full)), n))
    rows.append(_share("unanimous", sum(all(v) or not any(v) for v in full), n))
    rows.append(_mean("pairwise", list(map(_pairs_that_agree, full))))
    alpha, reason = krippendorff_alpha({key: verdict for key, verdict in table.items() if key[1] in by_item})
    return [*rows, _row("krippendorff_alpha", alpha, n, reason=reason)]


def _pairs_that_agree(verdicts: Sequence[bool]) -> float:
    yes = sum(verdicts)
    return (math.comb(yes, 2) + math.comb(len(verdicts) - yes, 2)) / math.comb(len(verdicts), 2)


def _share(quantity: str, count: float, n: int) -> dict[str, Any]:
    from statsmodels.stats.proportion import proportion_confint

    if not n:
        return _row(quantity, None, n, reason=f"no item has {RATERS} judgements")
    low, high = proportion_confint(count, n, method="wilson")
    return _row(quantity, count / n, n, low=float(low), high=float(high))


def _mean(quantity: str, values: Sequence[float]) -> dict[str, Any]:
    n = len(values)
    return (
        _row(quantity, sum(values) / n, n) if n else _row(quantity, None, 0, reason=f"no item has {RATERS} judgements")
    )


def _row(
    quantity: str, value: float | None, n: int, low: Any = None, high: Any = None, reason: str = ""
) -> dict[str, Any]:
    return {"quantity": quantity, "value": value, "ci_low": low, "ci_high": high, "n": n, "reason": reason}


def _disarmed(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def _rows(path: Path) -> Iterable[tuple[int, dict[str, str]]]:
    """(row number as a spreadsheet counts, cells by column)."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"cannot be read ({error})", file=path, remedy="Save the sheet as CSV in UTF-8") from error
    first_line = text.split("\n", 1)[0]
    delimiter = ";" if first_line.count(";") > first_line.count(",") else ","
    header, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if text.strip() else [[]]
    missing = [column for column in _FILLED_COLUMNS if column not in header]
    if missing:
        raise StudyError(
            f"has no column {' and no column '.join(missing)}", file=path, remedy="Fill in an exported sheet as it is"
        )
    for number, cells in enumerate(rows, start=2):
        if any(cell.strip() for cell in cells):
            yield number, dict(zip_longest(header, cells[: len(header)], fillvalue=""))


def _row_error(path: Path, number: int, problem: str, remedy: str) -> StudyError:
    return StudyError(problem, file=path, record=f"row {number}", remedy=remedy)
