"""What a job of a model asks of the cluster, from the model's size, precision and context."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
GPU_MEMORY_GB = 80
# Weights may fill this share of a GPU; the rest is for the key-value cache and activations.
WEIGHT_SHARE = 0.6


def weight_gb(entry: Mapping[str, Any]) -> float:
    """Size of the weights, GB, from `parameters` (billions, 1 where unsaid) and `dtype`."""
    default = "bfloat16" if entry["engine"] == "vllm" else "float32"
    return entry.get("parameters", 1) * BYTES[entry.get("dtype", default)]


def gpus(entry: Mapping[str, Any]) -> int:
    """GPUs of one job: a power of two, as tensor parallelism wants it; 0 for engines that use none."""
    if entry["engine"] != "vllm":
        return 0
    return 2 ** max(0, math.ceil(math.log2(weight_gb(entry) / (GPU_MEMORY_GB * WEIGHT_SHARE))))


def memory_mb(entry: Mapping[str, Any]) -> int:
    """Main memory of one job, MB: the weights once while they load, and room for the libraries."""
    return int(3000 + 1000 * weight_gb(entry)) if entry["engine"] in ("vllm", "transformers") else 2000


def runtime_minutes(entry: Mapping[str, Any]) -> int:
    """Time limit of one job, minutes: two hours, and four minutes more a billion parameters."""
    return int(120 + 4 * entry.get("parameters", 1))
