"""Which metrics go together, and how often they still do with other models."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from .correlation import MINIMUM_FOR_COEFFICIENT, is_constant

if TYPE_CHECKING:
    import pandas as pd

CLUSTERS = 3
DRAWS = 500
# With fewer models almost every draw that has enough different ones is the whole set again.
MINIMUM_TO_DRAW = 6
CLUSTER_COLUMNS = ("a", "b", "cluster_a", "cluster_b", "together", "n_draws", "n_models", "reason")


def co_clustering(values: pd.DataFrame, *, seed: int, draws: int = DRAWS) -> pd.DataFrame:
    """Clusters of the columns of `values` (rows are models): average linkage on 1 - r, three clusters.

    One row a pair, columns CLUSTER_COLUMNS: the cluster of each (numbered in the order of the columns), and
    `together`, the share of bootstrap draws of models in which both fall into one cluster. A draw in which a
    column is constant, or that has fewer than 4 different models, is drawn again; `n_draws` counts the
    rest, and there are none below 6 models. Columns that most models lack are left out, then models that
    lack a value.
    """
    import pandas as pd

    complete = _complete(values)
    n, names = complete.shape[0], list(complete.columns)
    frame = pd.DataFrame(itertools.combinations(names, 2), columns=["a", "b"])
    reason = _impossible(complete)
    if reason:
        return frame.assign(n_models=n, n_draws=0, reason=reason).reindex(columns=list(CLUSTER_COLUMNS))
    matrix = complete.to_numpy()
    whole = cluster(matrix)
    draws = draws if n >= MINIMUM_TO_DRAW else 0
    random = np.random.default_rng(seed)
    together, used = np.zeros((len(names), len(names))), 0
    for _ in range(20 * draws):
        rows = random.integers(0, n, size=n)
        sample = matrix[rows]
        if len(set(rows)) < MINIMUM_FOR_COEFFICIENT or any(is_constant(column) for column in sample.T):
            continue
        labels = cluster(sample)
        together += labels[:, None] == labels[None, :]
        used += 1
        if used == draws:
            break
    at = {name: i for i, name in enumerate(names)}
    pairs = [(at[a], at[b]) for a, b in zip(frame["a"], frame["b"], strict=True)]
    frame["cluster_a"] = [int(whole[i]) for i, _ in pairs]
    frame["cluster_b"] = [int(whole[j]) for _, j in pairs]
    frame["together"] = [together[i, j] / used if used else np.nan for i, j in pairs]
    return frame.assign(n_draws=used, n_models=n, reason="" if used else _undrawn(n))[list(CLUSTER_COLUMNS)]


def cluster(matrix: np.ndarray) -> np.ndarray:
    """Cluster number of each column, from 1, in the order in which clusters first appear."""
    from scipy.cluster.hierarchy import fcluster, linkage

    distances = np.clip(1 - np.corrcoef(matrix, rowvar=False), 0, 2)
    labels = fcluster(linkage(distances[np.triu_indices(len(distances), 1)], "average"), CLUSTERS, "maxclust")
    order = {label: i for i, label in enumerate(dict.fromkeys(labels), start=1)}
    return np.array([order[label] for label in labels])


def _complete(values: pd.DataFrame) -> pd.DataFrame:
    kept = values.loc[:, values.notna().sum() >= values.notna().sum().max() / 2].dropna()
    constant = [name for name in kept.columns if len(kept) > 1 and is_constant(kept[name].to_numpy())]
    return kept.drop(columns=constant)


def _undrawn(n: int) -> str:
    return "no usable draw" if n >= MINIMUM_TO_DRAW else f"n = {n} models: too few to draw from"


def _impossible(values: pd.DataFrame) -> str:
    n_models, n_columns = values.shape
    if n_models < MINIMUM_FOR_COEFFICIENT:
        return f"n = {n_models} models: no coefficient below {MINIMUM_FOR_COEFFICIENT}"
    if n_columns <= CLUSTERS:
        return f"{n_columns} metrics: no {CLUSTERS} clusters to tell apart"
    return ""
