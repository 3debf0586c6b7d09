"""How Relaxed Perplexity depends on how many completions are sampled and how many of them count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..identity import derived_seed
from ..items import BranchLikelihoods, Generation, Item
from ..metrics import relaxed_perplexity
from ..records import scores_frame
from ..relaxed_perplexity import VALUES, readings
from .aggregation import DRAWS, interval, resamples

if TYPE_CHECKING:
    import pandas as pd

SHARED = ("tokens", "stride", "variant", "top_p", "temperature")
COLUMNS = (
    "benchmark",
    "model",
    "text",
    "name",
    "best",
    "samples",
    *SHARED,
    "n",
    "n_null",
    "seeds",
    "mean",
    "deviation",
    "deviation_within_items",
    "difference",
    "ci_low",
    "ci_high",
    "reason",
)


def compared(
    items: Mapping[str, Item],
    records: Sequence[Generation | BranchLikelihoods],
    settings: Mapping[str, Any],
    *,
    seed: int,
    draws: int = DRAWS,
) -> pd.DataFrame:
    """One row a (benchmark, model, kind of text, value, number of best, number of samples), columns COLUMNS.

    `mean` is over items of the mean over seeds; `deviation` the standard deviation (population) over seeds of the
    mean over items; `deviation_within_items` the mean over items of the standard deviation over seeds. `n` counts
    items with a value, `n_null` the (item, seed) without one. `difference` is `mean` less that of the config's first
    numbers over the items that both have, with a 95 % percentile bootstrap interval over items.
    """
    import pandas as pd

    described = {
        relaxed_perplexity.name(value, text, reading): (value, text, reading)
        for reading in readings(settings)
        for text in relaxed_perplexity.KINDS
        for value in VALUES
    }
    scores = scores_frame(relaxed_perplexity.scores(items, records, settings))
    first: dict[tuple[str, ...], pd.Series] = {}
    rows = []
    # Metrics come in the order of the readings, so that the config's first numbers come first.
    for (benchmark, model, metric), part in scores.groupby(["benchmark", "model", "metric"], sort=False):
        name, text, reading = described[metric]
        by_seed = part.pivot(index="item_id", columns="index", values="value")
        of_items = by_seed.mean(axis=1)
        differences = (of_items - first.setdefault((benchmark, model, text, name), of_items)).dropna().to_numpy()
        rows.append(
            {
                "benchmark": benchmark,
                "model": model,
                "text": text,
                "name": name,
                "best": reading.best,
                "samples": reading.samples,
                **{key: getattr(reading, key) for key in SHARED},
                "n": int(of_items.notna().sum()),
                "n_null": int(by_seed.isna().to_numpy().sum()),
                "seeds": by_seed.shape[1],
                "mean": of_items.mean(),
                "deviation": by_seed.mean().std(ddof=0),
                "deviation_within_items": by_seed.std(axis=1, ddof=0).mean(),
                **_difference(differences, draws, derived_seed(seed, "bootstrap", benchmark)),
            }
        )
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(dict.fromkeys(("ci_low", "ci_high"), float))


def _difference(values: np.ndarray, draws: int, seed: int) -> dict[str, Any]:
    """Mean of the items' differences with its interval."""
    n = len(values)
    if not n:
        return {"difference": np.nan, "ci_low": None, "ci_high": None, "reason": "no item has a value"}
    low, high, reason = interval(resamples(n, None, draws=draws, seed=seed) @ values / n, n, None)
    return {"difference": values.mean(), "ci_low": low, "ci_high": high, "reason": reason}
