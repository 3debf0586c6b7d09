"""Reading score files for the statistics: long frames of categories, and the metrics that they hold."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..errors import StudyError
from ..metrics.base import Metric
from ..records import read_items

if TYPE_CHECKING:
    import pandas as pd

FLAGS = ("empty", "truncated", "cut", "unparsed", "invalid", "tie", "prompt_cut")

_NAMES = ("benchmark", "item_id", "model", "variant", "metric", "flags")
_COLUMNS = ("benchmark", "item_id", "model", "variant", "index", "metric", "value", "weight", "flags")


def read_with_metrics(paths: Iterable[str | os.PathLike]) -> tuple[pd.DataFrame, dict[str, Metric]]:
    """Scores of several files, with names as categories, and their metrics by name.

    Raises StudyError where a file is broken, does not describe its metrics, or describes one otherwise
    than another file does.
    """
    import pandas as pd
    import pyarrow.parquet as pq
    from pandas.api.types import union_categoricals

    metrics: dict[str, Metric] = {}
    frames = []
    for path in paths:
        try:
            table = pq.read_table(path, columns=list(_COLUMNS), read_dictionary=list(_NAMES))
        except (OSError, ValueError) as error:
            raise StudyError(f"no score file ({error})", file=path, remedy="Remove it and run again") from error
        _add_metrics(metrics, table.schema.metadata or {}, path)
        frame = table.to_pandas()
        for name in _NAMES:
            frame[name] = frame[name].astype("category")
        unknown = sorted(set(frame["metric"].cat.categories) - set(metrics))
        if unknown:
            raise StudyError(f"scores of {unknown[0]!r}, which the file does not describe", file=path)
        if len(frame):
            frames.append(frame)
    if not frames:
        return pd.DataFrame(columns=list(_COLUMNS)), metrics
    joined = {name: union_categoricals([frame[name] for frame in frames], sort_categories=True) for name in _NAMES}
    plain = {name: pd.concat([f[name] for f in frames], ignore_index=True) for name in _COLUMNS if name not in _NAMES}
    return pd.DataFrame({name: joined.get(name, plain.get(name)) for name in _COLUMNS}), metrics


def with_flag(flags: pd.Series, flag: str) -> pd.Series:
    """Whether each comma-joined set of flags holds `flag`."""
    holding = [c for c in flags.cat.categories if flag in c.split(",")]
    return flags.isin(holding)


def item_groups(paths: Iterable[str | os.PathLike], macro_over: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Benchmark -> item id -> group, for benchmarks whose mean is over groups of items.

    `macro_over` is benchmark -> metadata field that names the group. Raises StudyError where an item lacks it.
    """
    groups: dict[str, dict[str, str]] = {}
    for item in read_items(paths).values():
        field = macro_over.get(item.benchmark)
        if field:
            if field not in item.metadata:
                raise StudyError(f"has no {field!r} in its metadata", record=item.id, remedy="Make the data set again")
            groups.setdefault(item.benchmark, {})[item.id] = str(item.metadata[field])
    return groups


def metrics_metadata(metrics: Mapping[str, Metric]) -> dict[str, str]:
    """Metrics as the schema metadata that `read_metrics` reads."""
    return {"metrics": json.dumps({name: dataclasses.asdict(metric) for name, metric in metrics.items()})}


def read_metrics(paths: Iterable[str | os.PathLike]) -> dict[str, Metric]:
    """The metrics that Parquet files describe, by name."""
    import pyarrow.parquet as pq

    metrics: dict[str, Metric] = {}
    for path in paths:
        _add_metrics(metrics, pq.read_schema(path).metadata or {}, path)
    return metrics


def _add_metrics(known: dict[str, Metric], metadata: dict[bytes, bytes], path: object) -> None:
    try:
        described = {name: Metric(**fields) for name, fields in json.loads(metadata[b"metrics"]).items()}
    except (KeyError, ValueError, TypeError) as error:
        raise StudyError(f"does not describe its metrics ({error})", file=path, remedy="Score again") from error
    for name, metric in described.items():
        if known.setdefault(name, metric) != metric:
            fields = [
                f.name for f in dataclasses.fields(Metric) if getattr(known[name], f.name) != getattr(metric, f.name)
            ]
            raise StudyError(
                f"describes {name!r} otherwise than another score file does ({', '.join(fields)})",
                file=path,
                remedy="Score all models again with one version",
            )
