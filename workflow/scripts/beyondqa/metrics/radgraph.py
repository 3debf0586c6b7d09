"""F1-RadGraph: overlap of the findings and relations that a model reads out of two radiology reports.

Definition: Jain and others, "RadGraph: extracting clinical entities and relations from radiology reports" (2021),
and Delbrouck and others, "Improving the factual correctness of radiology report generation with semantic
rewards" (2022), by the package radgraph with the reward "partial", as the papers used it. Values are in [0, 1].
It means something for radiology reports alone: `benchmarks` in its settings lists those that it scores.
The weights derive from credentialed data and are brought by the user. They are a pickle, which
`pickled_weights: true` in its settings must allow, and their config.json names the encoder whose settings and
tokenizer they go with: as a folder, since by a Hub id the package would ask the network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..errors import StudyError
from ..records import read_json
from ..trust import require_safetensors
from .base import Metric, Values

FAMILY = "radgraph"
ENVIRONMENT = "radgraph"
INPUT = "answers"

NAME = "radgraph_f1[radgraph,partial]"
CHUNK = 256


def metrics(settings: Mapping[str, Any]) -> tuple[Metric, ...]:
    return (
        Metric(
            name=NAME, label="F1-RadGraph", higher_is_better=True, minimum=0.0, maximum=1.0, floor=0.0, group="radgraph"
        ),
    )


def values(pairs: Sequence[tuple[str, str]], settings: Mapping[str, Any], *, threads: int = 1) -> Values:
    """F1-RadGraph of each (prediction, reference) pair. `weights` is the folder that holds `radgraph/`, the
    unpacked weights. Raises StudyError where they, their encoder or the package are absent."""
    folder = Path(settings.get("weights", ""))
    if "weights" not in settings or not (folder / "radgraph" / "weights.th").is_file():
        raise StudyError(
            "the weights of RadGraph are not there",
            file=folder / "radgraph" if "weights" in settings else None,
            remedy="Bring StanfordAIMI/RRG_scorers' radgraph.tar.gz, unpack it as radgraph/ and name the folder "
            "above it as metrics.radgraph.weights, or leave the metric out",
        )
    require_safetensors(folder / "radgraph", settings, record="radgraph")
    _require_encoder(folder / "radgraph" / "config.json")
    try:
        from radgraph import F1RadGraph
    except ImportError as error:
        raise StudyError(
            f"the package radgraph cannot be imported ({error})",
            remedy="Score it in the environment envs/radgraph.yaml",
        ) from error
    scorer = F1RadGraph(reward_level="partial", model_type="radgraph", model_cache_dir=str(folder))
    column: list[float | None] = []
    for start in range(0, len(pairs), CHUNK):
        chunk = pairs[start : start + CHUNK]
        _, rewards, _, _ = scorer(hyps=[p for p, _ in chunk], refs=[r for _, r in chunk])
        column.extend(float(reward) for reward in rewards)
    return Values({NAME: column}, signature={"radgraph": version("radgraph"), "reward": "partial"})


def _require_encoder(path: Path) -> None:
    config = read_json(path)
    parts = config["dataset_reader"]["token_indexers"], config["model"]["embedder"]["token_embedders"]
    for name in dict.fromkeys(part["bert"]["model_name"] for part in parts):
        if not Path(name).is_dir():
            raise StudyError(
                f"names the encoder {name}, which is no folder",
                file=path,
                remedy="Bring that model's config and tokenizer, and write their folder in place of the name",
            )
