"""What a chat template changes: the scores of the same items, asked without it and with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..errors import StudyError
from ..metrics.base import TRANSFORMS, Metric
from .aggregation import DRAWS, bootstrap, interval, strata_of
from .scores import FLAGS

if TYPE_CHECKING:
    import pandas as pd

SIDES = ("off", "on")
KEYS = ["benchmark", "model", "metric", "item_id"]
COLUMNS = (
    "model",
    "benchmark",
    "metric",
    "n",
    "n_null",
    *SIDES,
    "difference",
    "ci_low",
    "ci_high",
    "ci_unit",
    "reason",
    *(f"n_{flag}_{side}" for flag in FLAGS for side in SIDES),
    "label",
    "higher_is_better",
    "group",
    "headline",
    "stand_in",
)


def compared(
    off: pd.DataFrame,
    on: pd.DataFrame,
    metrics: Mapping[str, Metric],
    groups: Mapping[str, Mapping[str, str]],
    *,
    seed: int,
    draws: int = DRAWS,
) -> pd.DataFrame:
    """One row a (model, benchmark, metric), columns COLUMNS.

    `off` and `on` are scores in records.SCORE_COLUMNS, one an item and metric; `groups` is as in aggregation.means.
    `off` and `on` of a row are means as aggregation.means has them, over the items that both sides have a value of;
    `n_null` counts the others. `difference` is on less off, with a 95 % percentile bootstrap interval over items, an
    item's two scores always drawn together. Raises StudyError where an item has a score on one side only.
    """
    import pandas as pd

    both = off.merge(on, on=KEYS, how="outer", suffixes=("_off", "_on"), validate="one_to_one", indicator="sides")
    for row in both[both["sides"] != "both"].head(1).itertuples():
        side = "without" if row.sides == "left_only" else "with"
        raise StudyError(
            f"{row.metric} of {row.model} is known only {side} the chat template",
            record=row.item_id,
            remedy="Ask the same items on both sides",
        )
    undefined = both["value_off"].isna() | both["value_on"].isna()
    long = pd.concat(
        both[["benchmark", "metric", "item_id"]].assign(
            about=both["model"],
            model=side,
            value=both[f"value_{side}"].astype(float).where(~undefined),
            weight=both[f"weight_{side}"].astype(float),
            flags=both[f"flags_{side}"],
        )
        for side in SIDES
    )
    long["flags"] = long["flags"].astype(str).astype("category")
    rows = [
        row
        for (model, benchmark), part in long.groupby(["about", "benchmark"], sort=False)
        for row in _rows(part, model, benchmark, metrics, groups.get(benchmark, {}), seed, draws)
    ]
    floats = dict.fromkeys((*SIDES, "difference", "ci_low", "ci_high"), float)
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(floats)


def _rows(part, model, benchmark, metrics, groups, seed, draws):
    result = bootstrap(part, benchmark, groups, seed=seed, draws=draws)
    sums, strata = result.sums, strata_of(result.sums.items, groups)
    columns = {column: place for place, column in enumerate(sums.columns)}
    for name in dict.fromkeys(name for _, name in sums.columns):
        off, on = (columns[side, name] for side in SIDES)
        metric = metrics[name]
        transform = np.vectorize(TRANSFORMS[metric.transform], otypes=[float])
        point = {side: float(transform(result.point[column])) for side, column in zip(SIDES, (off, on), strict=True)}
        n_defined = int((sums.weights[:, off] > 0).sum())
        low, high, reason = interval(
            transform(result.draws[:, on]) - transform(result.draws[:, off]), n_defined, strata
        )
        yield {
            "model": model,
            "benchmark": benchmark,
            "metric": name,
            "n": n_defined,
            "n_null": int(sums.asked[:, off].sum()) - n_defined,
            **point,
            "difference": point["on"] - point["off"],
            "ci_low": low,
            "ci_high": high,
            "ci_unit": "items" if strata is None else "items within groups",
            "reason": "no item has a value on both sides" if n_defined == 0 else reason,
            **{
                f"n_{flag}_{side}": int(sums.flagged[flag][:, column].sum())
                for flag in FLAGS
                for side, column in zip(SIDES, (off, on), strict=True)
            },
            "label": metric.label,
            "higher_is_better": metric.higher_is_better,
            "group": metric.group,
            "headline": metric.headline,
            "stand_in": metric.stand_in,
        }
