"""What the report says of the run: warnings from the means, time and memory of the rules, versions."""

from __future__ import annotations

import importlib.metadata
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..records import read_csv, read_json

if TYPE_CHECKING:
    import pandas as pd

PACKAGES = (
    "snakemake",
    "torch",
    "transformers",
    "vllm",
    "datasets",
    "numpy",
    "scipy",
    "pandas",
    "statsmodels",
    "matplotlib",
    "seaborn",
    "rouge-score",
    "sacrebleu",
    "bert-score",
)
# Flags that an answer has whatever metric is taken of it; the others belong to one metric's reading of it.
OF_ANSWERS = {
    "n_empty": "empty",
    "n_cut": "cut at the token limit",
    "n_prompt_cut": "prompt did not fit",
}
OF_METRICS = {
    "n_null": "undefined",
    "n_truncated": "longer than the encoder reads",
    "n_unparsed": "not parsed",
    "n_invalid": "invalid judgement",
    "n_tie": "tie between options",
}


def answer_warnings(means: pd.DataFrame) -> list[dict[str, Any]]:
    """Counts of answers with a flag, one row a (model, benchmark) that has any."""
    if not len(means):
        return []
    counts = means.groupby(["model", "benchmark"], sort=False)[["n", *OF_ANSWERS]].max().reset_index()
    return _nonzero(counts, ("model", "benchmark"), OF_ANSWERS)


def metric_warnings(means: pd.DataFrame) -> list[dict[str, Any]]:
    """Counts of scores with a flag, one row a (model, benchmark, metric) that has any."""
    return _nonzero(means, ("model", "benchmark", "metric"), OF_METRICS) if len(means) else []


def stand_ins(means: pd.DataFrame) -> list[dict[str, str]]:
    """Metrics of the study that stand in for another."""
    if not len(means):
        return []
    named = means.dropna(subset=["stand_in"]).drop_duplicates("metric")
    return [{"metric": row.metric, "stand_in": row.stand_in} for row in named.itertuples()]


def rule_costs(folder: str | Path) -> list[dict[str, Any]]:
    """Jobs, wall-clock seconds and peak memory (MB) of each kind of job, from Snakemake's benchmark files."""
    import pandas as pd

    folder = Path(folder)
    rows = []
    for path in sorted(folder.rglob("*.tsv")):
        frame = pd.read_csv(path, sep="\t")
        kind = "/".join(path.relative_to(folder).parts[:2]) if path.parent != folder else path.stem
        rows.append({"kind": kind.removesuffix(".tsv"), "seconds": frame["s"].sum(), "memory": _largest(frame)})
    if not rows:
        return []
    frame = pd.DataFrame(rows)
    costs = frame.groupby("kind", sort=True).agg(
        jobs=("seconds", "size"), seconds=("seconds", "sum"), memory=("memory", "max")
    )
    return [
        {"kind": kind, "jobs": int(row.jobs), "seconds": round(float(row.seconds), 1), "memory": _rounded(row.memory)}
        for kind, row in costs.iterrows()
    ]


def versions() -> dict[str, str]:
    """Python, platform and the packages that are installed where the report is made."""
    found = {"Python": platform.python_version(), "platform": platform.platform(terse=True)}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def git_commit(folder: str | Path = ".") -> str:
    """Commit of the checkout, with a word where files differ from it; a sentence where there is none."""
    try:
        commit = _git(folder, "rev-parse", "HEAD")
        return f"{commit} (with uncommitted changes)" if _git(folder, "status", "--porcelain", "-uno") else commit
    except (OSError, subprocess.CalledProcessError):
        return "not a git checkout"


def git_date(folder: str | Path = ".") -> str:
    """Date and time of the checkout's commit (ISO 8601), "" where there is none."""
    try:
        return _git(folder, "show", "-s", "--format=%cI", "HEAD")
    except (OSError, subprocess.CalledProcessError):
        return ""


def recorded_warnings(paths: Iterable[str | Path]) -> tuple[int, list[dict[str, Any]]]:
    """How many predictions were read from files, and one row a (model, benchmark) of which not all was joined."""
    read = [read_json(path) for path in paths]
    joins = [join for part in read for join in part["joins"]]
    shown = ("model", "benchmark", "files", "joined by", "predictions", "items", "joined items")
    rows = [
        {**{name: join[name] for name in shown}, "remark": "; ".join(join["faults"])}
        for join in joins
        if join["faults"]
    ]
    rows += [
        {
            **dict.fromkeys(shown, ""),
            "model": model,
            "benchmark": benchmark,
            "remark": "no file of predictions is named",
        }
        for part in read
        for model, benchmarks in part["unnamed"].items()
        for benchmark in benchmarks
    ]
    return sum(join["predictions"] for join in joins), rows


def dataset_facts(manifests: Iterable[str | Path]) -> list[dict[str, Any]]:
    """What each data set's manifest says of it."""
    return [read_json(path) for path in manifests]


def read_means(paths: Sequence[str | Path]) -> pd.DataFrame:
    """All means of the study in one frame."""
    import pandas as pd

    frames = [frame for frame in map(read_csv, paths) if len(frame)]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _nonzero(frame: pd.DataFrame, names: Sequence[str], flags: Mapping[str, str]) -> list[dict[str, Any]]:
    kept = frame[frame[list(flags)].sum(axis=1) > 0]
    return [
        {
            **{name: row[name] for name in names},
            "n": int(row["n"]),
            **{label: int(row[f]) for f, label in flags.items()},
        }
        for _, row in kept.iterrows()
    ]


def _largest(frame: pd.DataFrame) -> float:
    import pandas as pd

    return float(pd.to_numeric(frame["max_rss"], errors="coerce").max())


def _rounded(value: float) -> int | None:
    return None if value != value else round(value)


def _git(folder: str | Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()
