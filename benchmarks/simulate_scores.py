"""Write simulated items, answers and scores for a config, to time and look at the statistics without a model.

    python benchmarks/simulate_scores.py CONFIG RESULTS [--items 200]

A model has a hidden quality; items are harder or easier. Each score depends on both and on chance, so that
metrics correlate to different degrees. The numbers mean nothing.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "workflow" / "scripts"))

from beyondqa import metrics as metric_modules  # noqa: E402
from beyondqa.benchmarks import Benchmark  # noqa: E402
from beyondqa.config import validated  # noqa: E402
from beyondqa.identity import derived_seed  # noqa: E402
from beyondqa.items import Generation, LogLikelihood, MultipleChoiceItem, OpenItem  # noqa: E402
from beyondqa.metrics.base import Metric  # noqa: E402
from beyondqa.records import SCORE_COLUMNS, write_csv, write_json, write_parquet, write_records  # noqa: E402
from beyondqa.sensitivity.edits import SOURCES, applicability  # noqa: E402
from beyondqa.sensitivity.preferences import CHECKS, COLUMNS  # noqa: E402
from beyondqa.statistics.scores import metrics_metadata  # noqa: E402
from beyondqa.study import Study  # noqa: E402

VARIANTS = {
    "likelihoods": "reference",
    "greedy": "greedy",
    "samples": "sample",
    "rephrased": "rephrasing",
    "rephrased_again": "rephrasing",
    "relaxed": "relaxed",
}
VOCABULARY = ("the", "patient", "was", "given", "aspirin", "for", "chest", "pain", "and", "sent", "home")


def main() -> None:
    arguments = _arguments()
    config = yaml.safe_load(Path(arguments.config).read_text())
    study = Study(validated({**config, "results": arguments.results}))
    write_datasets(study, Path(arguments.results), arguments.items)
    write_answers(study, Path(arguments.results), arguments.items)
    write_scores(study, Path(arguments.results), arguments.items)
    write_preferences(study, Path(arguments.results) / "statistics" / "sensitivity")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config")
    parser.add_argument("results")
    parser.add_argument("--items", type=int, default=200)
    return parser.parse_args()


def item_ids(benchmark: str, n: int) -> list[str]:
    return [f"{benchmark}:{i:05}" for i in range(n)]


def write_datasets(study: Study, results: Path, n: int) -> None:
    """Data sets with their manifests, of words drawn at random."""
    for name, benchmark in study.benchmarks.items():
        random = np.random.default_rng(derived_seed(1, name))
        groups = {benchmark.macro_over: None} if benchmark.macro_over else {}
        items = []
        for i, identifier in enumerate(item_ids(name, n)):
            metadata = {field: f"group {i % 6}" for field in groups}
            fields = {"id": identifier, "benchmark": name, "question": text(random, 20), "prompt": text(random, 20)}
            if benchmark.kind == "open":
                statements = {"must_have": (text(random, 6),), "nice_to_have": (text(random, 6),)}
                statements = statements if benchmark.task == "factuality" else {}
                items.append(OpenItem(**fields, reference=text(random, 30), metadata=metadata, **statements))
            else:
                options = tuple(f"{letter} {text(random, 3)}" for letter in "ABCD")
                items.append(
                    MultipleChoiceItem(**fields, options=options, candidates=options, gold=i % 4, metadata=metadata)
                )
        write_records(results / "datasets" / f"{name}.jsonl", items)
        manifest = {
            "benchmark": name,
            "title": benchmark.title,
            "licence": "none",
            "available": True,
            "source": {"kind": "simulation", "revision": None},
            "items": n,
            "partial": True,
            "partial_reason": "simulated items",
        }
        write_json(results / "datasets" / f"{name}.manifest.json", manifest)


def write_answers(study: Study, results: Path, n: int) -> None:
    """Greedy answers and log-likelihoods, of words drawn at random and one hostile answer a model."""
    for pack in study.packs:
        for model in study.models_of(pack):
            random = np.random.default_rng(derived_seed(2, pack, model))
            answers = []
            for name in study.stage_benchmarks("greedy", pack, model):
                for i, identifier in enumerate(item_ids(name, n)):
                    words = "<script>alert(1)</script>" if i == 0 else text(random, 25)
                    answers.append(Generation(identifier, name, model, "greedy", 0, words, "stop"))
            likelihoods = [
                LogLikelihood(identifier, name, model, "option", i, (float(-random.exponential(3)),), False)
                for name in study.stage_benchmarks("likelihoods", pack, model)
                if study.benchmarks[name].kind == "multiple_choice"
                for identifier in item_ids(name, n)
                for i in range(4)
            ]
            for stage, records in (("greedy", answers), ("likelihoods", likelihoods)):
                if not study.stage_benchmarks(stage, pack, model):
                    continue
                shards = study.shards(stage)
                folder = results / "inference" / stage / model / pack
                for shard in range(1, shards + 1):
                    write_records(folder / f"{shard}-of-{shards}.jsonl", records if shard == 1 else [])


def text(random: np.random.Generator, n: int) -> str:
    return " ".join(random.choice(list(VOCABULARY), size=n))


def write_scores(study: Study, results: Path, n: int) -> None:
    """A Parquet file a (family, stage, model, pack), as the scoring jobs write them."""
    for family, stage, model, pack, frame in scored(study, n):
        described = metric_modules.describe(study.metric_modules(family))
        path = results / "scores" / family / stage / model / f"{pack}.parquet"
        if family == "entqa":
            write_records(path.with_suffix(".jsonl"), [])
        write_parquet(path, frame, {**metrics_metadata(described), "signatures": "{}"})


def scored(study: Study, n: int) -> Iterator[tuple[str, str, str, str, pd.DataFrame]]:
    """Family, stage, model, pack and the scores of a scoring job, for every job of the study."""
    for family, stage, pack in itertools.product(study.families, VARIANTS, study.packs):
        described = metric_modules.describe(study.metric_modules(family))
        settings = study.config["inference"].get(stage, {})
        repeats = settings.get("count", settings.get("seeds", 1))
        for model in study.models_of(pack):
            names = study.scored_benchmarks(family, stage, model, pack)
            frames = [
                simulated(metric, name, model, stage, repeats, n, kind=study.benchmarks[name].kind)
                for name in names
                for metric in described.values()
                if applies(metric, study.benchmarks[name], family)
            ]
            if frames:
                yield family, stage, model, pack, pd.concat(frames, ignore_index=True)[list(SCORE_COLUMNS)]


def write_preferences(study: Study, folder: Path) -> None:
    """What the metrics of answers would say of edited references."""
    for name in study.benchmarks:
        write_records(folder / "edits" / f"{name}.jsonl", [])
    write_csv(folder / "applicability.csv", applicability([]))
    random = np.random.default_rng(9)
    for family in study.families:
        modules = study.metric_modules(family)
        if any(
            metric_modules.module(n).INPUT != "answers" or hasattr(metric_modules.module(n), "TASKS") for n in modules
        ):
            continue
        rows = [
            {
                "metric": metric.name,
                "metric_label": metric.label,
                "headline": metric.headline,
                "source": SOURCES[0],
                "check": check,
                "comparison": kind,
                "n_items": 200,
                "n_not_applicable": 0,
                "probability": random.uniform(),
                "reason": "",
            }
            for metric in metric_modules.describe(modules).values()
            for kind, check in CHECKS.items()
        ]
        write_csv(folder / "corruptions" / f"{family}.csv", pd.DataFrame(rows, columns=list(COLUMNS)))


def applies(metric: Metric, benchmark: Benchmark, family: str) -> bool:
    if family == "likelihood":
        return (metric.group == "accuracy") == (benchmark.kind == "multiple_choice")
    # Relaxed Perplexity is of the statements where the items have any.
    return family != "relaxed" or ("[reference," in metric.name) == (benchmark.task != "factuality")


def simulated(
    metric: Metric, benchmark: str, model: str, stage: str, repeats: int, n: int, *, kind: str
) -> pd.DataFrame:
    """Scores of one metric for one model on one benchmark: its quality is its own, the metric's, the benchmark's and
    that of both together."""
    quality = np.random.default_rng(derived_seed(3, model)).normal()
    quality += 0.7 * np.random.default_rng(derived_seed(4, model, metric.group or metric.name)).normal()
    quality += 0.7 * np.random.default_rng(derived_seed(7, model, benchmark)).normal()
    quality += 0.5 * np.random.default_rng(derived_seed(8, model, benchmark, metric.group or metric.name)).normal()
    hardness = np.random.default_rng(derived_seed(5, benchmark)).normal(size=n)
    random = np.random.default_rng(derived_seed(6, benchmark, model, stage, metric.name))
    signal = 0.5 * quality - np.repeat(hardness, repeats) + 0.5 * random.normal(size=n * repeats)
    weights = np.ones(n * repeats)
    if metric.group == "accuracy":
        values = (signal > 0).astype(float)
    elif metric.transform == "exp" or metric.group.startswith("perplexity"):
        values, weights = np.exp(0.3 * (1 - 0.3 * signal)), np.repeat(20.0 + 10 * np.abs(hardness), repeats)
    elif metric.maximum is None:
        values = np.round(np.exp(3 + 0.2 * (signal if metric.higher_is_better else -signal)), 2)
    else:
        low = metric.minimum if metric.minimum is not None else -1.0
        values = low + (metric.maximum - low) / (1 + np.exp(1 - signal))
    return pd.DataFrame(
        {
            "benchmark": benchmark,
            "item_id": np.repeat(item_ids(benchmark, n), repeats),
            "model": model,
            "variant": "option" if kind == "multiple_choice" and stage == "likelihoods" else VARIANTS[stage],
            "index": np.tile(np.arange(repeats), n),
            "metric": metric.name,
            "value": values,
            "weight": weights,
            "flags": np.where(random.random(n * repeats) < 0.01, "cut", ""),
            "reason": "",
        }
    )


if __name__ == "__main__":
    main()
