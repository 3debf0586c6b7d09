"""What a job of a model asks of the cluster, from the model's size, precision and context."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

BYTES = {"float32": 4.0, "bfloat16": 2.0, "float16": 2.0}
# Four-bit methods keep scales beside the weights: 0.56 bytes a parameter at groups of 128 and 0.6 at groups of 64.
QUANTISED_BYTES = {"awq": 0.6, "awq_marlin": 0.6, "gptq": 0.6, "gptq_marlin": 0.6, "bitsandbytes": 0.6, "fp8": 1.0}
GPU_MEMORY_GB = 80
GPUS_A_NODE = 8
# vLLM takes this share of a GPU (its `gpu_memory_utilization`), and a tenth of the weights goes to activations.
USABLE_SHARE = 0.9
ACTIVATIONS_SHARE = 0.1
# Keys and values of one token without sharing between heads, the largest case among models of 7B (32 layers of
# 4,096 values, two of them, two bytes each), and how many prompts of full length shall fit beside each other.
KEY_VALUE_MB_A_TOKEN = 0.524288
SEQUENCES = 4
DEFAULT_CONTEXT = 4096
LIBRARIES_MB = 3000
GPU_ENGINES = ("vllm",)
LOCAL_ENGINES = ("vllm", "transformers")


def weight_gb(entry: Mapping[str, Any]) -> float:
    """Size of the weights, GB (1e9 bytes): `parameters` (billions, 1 where unsaid) times the bytes of `quantization`
    or else of `dtype` (bfloat16 for vllm, float32 for any other engine where unsaid)."""
    default = "bfloat16" if entry["engine"] in GPU_ENGINES else "float32"
    stored = BYTES[entry.get("dtype", default)]
    return entry.get("parameters", 1.0) * QUANTISED_BYTES.get(entry.get("quantization", ""), stored)


def key_value_gb(entry: Mapping[str, Any]) -> float:
    """Room for keys and values, GB: SEQUENCES prompts of the model's full context (DEFAULT_CONTEXT where unsaid)."""
    return SEQUENCES * entry.get("context", DEFAULT_CONTEXT) * KEY_VALUE_MB_A_TOKEN / 1000


def gpus(entry: Mapping[str, Any], gpu_memory_gb: float = GPU_MEMORY_GB) -> int:
    """GPUs of one job: the least power of two, as tensor parallelism wants it, that holds weights, activations,
    keys and values; 0 for engines that use none."""
    if entry["engine"] not in GPU_ENGINES:
        return 0
    needed = weight_gb(entry) * (1 + ACTIVATIONS_SHARE) + key_value_gb(entry)
    return 2 ** max(0, math.ceil(math.log2(needed / (gpu_memory_gb * USABLE_SHARE))))


def memory_mb(entry: Mapping[str, Any]) -> int:
    """Main memory of one job, MB: the weights once while they load, and room for the libraries."""
    return int(LIBRARIES_MB + 1000 * weight_gb(entry)) if entry["engine"] in LOCAL_ENGINES else 2000


def runtime_minutes(entry: Mapping[str, Any]) -> int:
    """Time limit of one job, minutes: two hours, and four minutes more a billion parameters. A job that meets it
    goes on where it was, with twice the time."""
    return int(120 + 4 * entry.get("parameters", 1.0))
