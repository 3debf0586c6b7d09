"""BLEURT: a learned score of an answer against its reference.

Definition: Sellam and others, "BLEURT: learning robust metrics for text generation" (2020), by the package
bleurt-pytorch. The papers' checkpoint is bleurt-base-512; BLEURT-20 and BLEURT-20-D12 are others, each under its
own name. Values have no bounds and may be negative; an empty answer gets the checkpoint's own value for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..encoders import BATCH_TOKENS, batches
from ..errors import StudyError
from ..trust import require_safetensors
from .base import Metric, Values

FAMILY = "bleurt"
ENVIRONMENT = "bleurt"
INPUT = "answers"
SCORES_BLANK_ANSWERS = True

PAPER = {"name": "bleurt-base-512", "id": "lucadiliello/bleurt-base-512"}


def metrics(settings: Mapping[str, Any]) -> tuple[Metric, ...]:
    """One metric a checkpoint; `checkpoints` lists mappings with name and id (a folder of the mirror)."""
    return tuple(
        Metric(
            name=_name(entry),
            label="BLEURT" if entry["name"] == PAPER["name"] else f"BLEURT ({entry['name']})",
            higher_is_better=True,
            minimum=None,
            maximum=None,
            group="bleurt",
            stand_in=entry.get("stand_in", ""),
        )
        for entry in _checkpoints(settings)
    )


def values(pairs: Sequence[tuple[str, str]], settings: Mapping[str, Any], *, threads: int = 1) -> Values:
    """BLEURT of each (prediction, reference) pair and checkpoint. Raises StudyError where a checkpoint is absent,
    or was loaded with parts that hold no weights."""
    columns: dict[str, list[float | None]] = {}
    truncated: dict[str, frozenset[int]] = {}
    for entry in _checkpoints(settings):
        columns[_name(entry)], truncated[_name(entry)] = _checkpoint_values(pairs, entry, threads)
    signature = {
        "checkpoints": [{"name": entry["name"], "id": entry.get("id")} for entry in _checkpoints(settings)],
        **{package: version(package) for package in ("bleurt-pytorch", "torch", "transformers")},
    }
    return Values(columns, truncated=truncated, signature=signature)


def require_initialised(embeddings: Any) -> None:
    """Raises StudyError unless the position and type ids of a BLEURT model's embeddings are what it was built
    with: transformers 5 leaves them as whatever was in memory, and the scores are then silent nonsense."""
    import torch

    expected = {
        "position_ids": torch.arange(embeddings.position_ids.shape[-1]).expand(embeddings.position_ids.shape),
        "token_type_ids": torch.zeros_like(embeddings.token_type_ids),
    }
    for name, buffer in expected.items():
        if not torch.equal(getattr(embeddings, name).cpu(), buffer.cpu()):
            raise StudyError(
                f"BLEURT's {name} were left uninitialised by transformers {version('transformers')}",
                remedy="Score it in the environment envs/bleurt.yaml",
            )


def _checkpoint_values(
    pairs: Sequence[tuple[str, str]], entry: Mapping[str, Any], threads: int
) -> tuple[list[float | None], frozenset[int]]:
    import torch

    model, tokenizer, limit = _load(entry, threads)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model.to(device)
    lengths = [len(tokenizer(reference, prediction)["input_ids"]) for prediction, reference in pairs]
    column: list[float | None] = [None] * len(pairs)
    for batch in batches([min(length, limit) for length in lengths], BATCH_TOKENS[device]):
        inputs = tokenizer(
            [pairs[index][1] for index in batch],
            [pairs[index][0] for index in batch],
            padding="longest",
            truncation=True,
            max_length=limit,
            return_tensors="pt",
        ).to(device)
        with torch.inference_mode():
            logits = model(**inputs).logits.flatten().tolist()
        for index, value in zip(batch, logits, strict=True):
            column[index] = value
    return column, frozenset(index for index, length in enumerate(lengths) if length > limit)


def _load(entry: Mapping[str, Any], threads: int) -> tuple[Any, Any, int]:
    folder = Path(entry.get("path", ""))
    if "path" not in entry or not (folder / "config.json").is_file():
        raise StudyError(
            f"the checkpoint {entry['name']} is not there",
            file=folder if "path" in entry else None,
            remedy="Bring it with `snakemake --cores 1 fetch_models`",
        )
    require_safetensors(folder, entry, record=entry["name"])
    try:
        from bleurt_pytorch import BleurtForSequenceClassification, BleurtTokenizer
    except ImportError as error:
        raise StudyError(
            f"bleurt-pytorch cannot be imported ({error})", remedy="Score it in the environment envs/bleurt.yaml"
        ) from error
    import torch

    torch.set_num_threads(threads)
    model, info = BleurtForSequenceClassification.from_pretrained(
        str(folder), local_files_only=True, output_loading_info=True
    )
    if info["missing_keys"]:
        raise StudyError(f"weights lack {', '.join(sorted(info['missing_keys'])[:3])}", file=folder)
    require_initialised(model.bleurt.embeddings)
    tokenizer = BleurtTokenizer.from_pretrained(str(folder), local_files_only=True)
    return model.eval(), tokenizer, min(tokenizer.model_max_length, model.config.max_position_embeddings)


def _name(entry: Mapping[str, Any]) -> str:
    return f"bleurt[{entry['name']}]"


def _checkpoints(settings: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return settings.get("checkpoints", [PAPER])
