"""What a table or figure is, and what it reads: files of statistics, and the study's models and benchmarks."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..benchmarks.base import Benchmark
from ..metrics.base import Metric
from ..records import read_csv, read_json
from .elo import elo_ratings
from .labels import metric_rank
from .scores import read_metrics

if TYPE_CHECKING:
    import pandas as pd

# Endings of the columns that hold text, "" where there is nothing to say.
TEXTS = ("label", "stand_in", "group", "reason", "p_kind", "left_out")


@dataclass(frozen=True)
class Analysis:
    """What tables and figures have in common.

    `name` is the rule's, `slug` the stem of the files. `covers` says which benchmarks of the study it is
    about, `families` which metric families it reads (none named: all), `needs` which statistics (keys of
    NEEDS in rules/statistics.smk), `resources` which files of ours it reads as they are.
    """

    name: str
    slug: str
    title: str
    caption: str
    covers: Callable[[Benchmark], bool]
    needs: tuple[str, ...] = ("means",)
    families: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()


@dataclass(frozen=True)
class Inputs:
    """Files by need, and the plain facts of the study that labels and orders come from.

    `models`: name -> {label, family, derived_from, noise, parameters}; `benchmarks`: name -> {title, task,
    kind, truncation_side}, those that the analysis covers; `families`: metric families of the study; `groups`: name ->
    models. All in the config's order.
    """

    files: Mapping[str, Sequence[str]]
    models: Mapping[str, Mapping[str, Any]]
    benchmarks: Mapping[str, Mapping[str, Any]]
    families: Sequence[str] = ()
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    seed: int = 0

    @functools.cached_property
    def means(self) -> pd.DataFrame:
        """Rows of statistics/means for the covered benchmarks, in the study's order."""
        return self._in_order(self.read("means"))

    @functools.cached_property
    def metric_correlations(self) -> pd.DataFrame:
        """Metric by metric for the covered benchmarks."""
        return self._covered(self.read("metric_correlations"))

    @functools.cached_property
    def benchmark_correlations(self) -> pd.DataFrame:
        """Benchmark by benchmark, both of them covered."""
        frame = self.read("benchmark_correlations")
        return frame[frame["a"].isin(self.benchmarks) & frame["b"].isin(self.benchmarks)] if len(frame) else frame

    @functools.cached_property
    def accuracy_correlations(self) -> pd.DataFrame:
        """Weighted accuracy against the covered benchmarks."""
        return self._covered(self.read("accuracy_correlations"))

    @functools.cached_property
    def stability(self) -> pd.DataFrame:
        """Ranking stability of every metric on the covered benchmarks."""
        return self._covered(self.read("stability"))

    @functools.cached_property
    def left_out(self) -> pd.DataFrame:
        """Metric by metric with one base-model family left out, for the covered benchmarks."""
        return self._covered(self.read("families"))

    @functools.cached_property
    def clusters(self) -> pd.DataFrame:
        """Clusters of metrics on the covered benchmarks."""
        return self._covered(self.read("clusters"))

    @functools.cached_property
    def elo(self) -> pd.Series:
        """Elo ratings by model, for analyses whose resources hold them."""
        (path,) = [path for path in self.files["resources"] if Path(path).parent.name == "elo"]
        return elo_ratings(path)

    def dispersion(self, kind: str) -> tuple[pd.DataFrame, dict[str, Metric]]:
        """Dispersion per item for the covered benchmarks, with its metrics; `kind` as in dispersion.KINDS."""
        import pandas as pd

        paths = self.files.get(kind, ())
        frames = [frame for frame in (pd.read_parquet(path) for path in paths) if len(frame)]
        frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
        return self._in_order(frame), read_metrics(paths)

    @functools.cached_property
    def manifests(self) -> dict[str, dict[str, Any]]:
        """What the data sets of the covered benchmarks are, by benchmark."""
        found = {manifest["benchmark"]: manifest for manifest in map(read_json, self.files.get("manifests", ()))}
        return {name: found[name] for name in self.benchmarks if name in found}

    def label(self, model: str) -> str:
        """Short name of a model; a dagger marks one that was derived from another by noise."""
        entry = self.models[model]
        return f"{entry['label']}†" if entry.get("derived_from") else entry["label"]

    def title(self, benchmark: str) -> str:
        """Title of a benchmark, with a word where its items are not the benchmark's own and whole."""
        title = self.benchmarks[benchmark]["title"]
        return f"{title} (partial)" if self.manifests.get(benchmark, {}).get("partial") else title

    def model_notes(self, models: Sequence[str]) -> list[str]:
        """What the daggers of these models mean."""
        derived = [m for m in self.models if m in set(models) and self.models[m].get("derived_from")]
        return [
            "† derived, no model of its own: "
            + "; ".join(
                f"{m} is {self.models[m]['derived_from']} with noise {self.models[m]['noise']}" for m in derived
            )
            + " (noise: Gaussian, in standard deviations of each weight matrix)."
        ] * bool(derived)

    def twin_notes(self, benchmarks: Sequence[str]) -> list[str]:
        """Models that no metric tells apart on these benchmarks: the same answers count twice in a correlation.

        Equal to the last digit on at least two metrics that vary over the models.
        """
        import pandas as pd

        found: dict[str, list[str]] = {}
        for benchmark in benchmarks:
            own = self.means[self.means["benchmark"] == benchmark] if len(self.means) else self.means
            if not len(own):
                continue
            wide = pd.pivot_table(own, index="model", columns="metric", values="mean", aggfunc="first", observed=True)
            varying = wide.loc[:, wide.nunique() > 1].dropna(axis="columns")
            if varying.shape[1] < 2:
                continue
            for _, group in varying.groupby(list(varying.columns), sort=False):
                if len(group) > 1:
                    names = ", ".join(map(self.label, group.index))
                    found.setdefault(names, []).append(self.benchmarks[benchmark]["title"])
        return [
            f"Equal values of every metric ({', '.join(titles)}): {names}. If their answers are the same, "
            "correlations over models count them more than once."
            for names, titles in found.items()
        ]

    def benchmark_notes(self, benchmarks: Sequence[str]) -> list[str]:
        """What "partial" after the titles of these benchmarks means, and which of them are not available."""
        shown = {name: self.manifests[name] for name in self.manifests if name in set(benchmarks)}
        reasons: dict[str, list[str]] = {}
        for name, manifest in shown.items():
            if manifest["partial"]:
                reasons.setdefault(manifest["partial_reason"], []).append(self.benchmarks[name]["title"])
        notes = [f"Partial ({', '.join(titles)}): {reason}." for reason, titles in reasons.items()]
        absent = {name: m["reason"] for name, m in self.manifests.items() if not m["available"]}
        return notes + [f"{self.benchmarks[name]['title']}: {reason}." for name, reason in absent.items()]

    def read(self, need: str) -> pd.DataFrame:
        """The CSV files of a need, one after the other; an empty frame where there is none."""
        import pandas as pd

        frames = [frame for frame in map(read_csv, self.files.get(need, ())) if len(frame)]
        if not frames:
            return pd.DataFrame()
        frame = pd.concat(frames, ignore_index=True)
        texts = [column for column in frame if column.endswith(TEXTS)]
        return frame.assign(**{column: frame[column].astype(object).fillna("") for column in texts})

    def _covered(self, frame: pd.DataFrame) -> pd.DataFrame:
        return frame[frame["benchmark"].isin(self.benchmarks)].reset_index(drop=True) if len(frame) else frame

    def _in_order(self, frame: pd.DataFrame) -> pd.DataFrame:
        frame = self._covered(frame)
        if not len(frame):
            return frame
        orders = {name: {n: i for i, n in enumerate(getattr(self, f"{name}s"))} for name in ("benchmark", "model")}
        orders["metric"] = {name: metric_rank(name) for name in frame["metric"].unique()}
        return frame.sort_values(
            ["benchmark", "model", "metric"],
            key=lambda column: column.map(orders[column.name]),
            kind="stable",
            ignore_index=True,
        )


def stand_in_label(label: str, stand_in: str) -> str:
    """A metric's label; a double dagger marks one that stands in for another."""
    return f"{label}‡" if stand_in else label


def stand_in_notes(stand_ins: Mapping[str, str]) -> list[str]:
    """What the double daggers mean; `stand_ins` is label -> what it stands in for, "" for the real thing."""
    named = [f"{label} stands in for {real}" for label, real in stand_ins.items() if real]
    return [f"‡ stand-in: {'; '.join(named)}. Its numbers are not comparable with the paper's."] * bool(named)
