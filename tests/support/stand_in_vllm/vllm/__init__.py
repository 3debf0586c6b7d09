"""A stand-in for the vllm package where that is not installed: what the engine uses of its interface, answered by
transformers, one sequence after another, and greedily alone.

STAND_IN_VLLM_SHIFT is added to the log-probability of every prompt token, for tests in which engines differ.
"""

import multiprocessing
import os
from dataclasses import dataclass
from types import SimpleNamespace


@dataclass
class SamplingParams:
    """The fields of vLLM's class that the engine sets."""

    temperature: float = 1.0
    top_p: float = 1.0
    seed: int | None = None
    max_tokens: int = 16
    min_tokens: int = 0
    ignore_eos: bool = False
    stop: list | None = None
    logprobs: int | None = None
    prompt_logprobs: int | None = None
    detokenize: bool = True


class LLM:
    """Takes vLLM's settings, heeds the model and its dtype, and starts a process as vLLM does on a CPU."""

    def __init__(self, *, model, dtype, **settings):
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        child = multiprocessing.get_context("spawn").Process(target=int)
        child.start()
        child.join()
        if child.exitcode:
            raise RuntimeError("a process that was started failed while it imported the main module")
        self._model = AutoModelForCausalLM.from_pretrained(model, dtype=getattr(torch, dtype)).eval()
        self._tokenizer = AutoTokenizer.from_pretrained(model)
        self._shift = float(os.environ.get("STAND_IN_VLLM_SHIFT", 0))

    def generate(self, prompts, params, *, use_tqdm):
        """One output a prompt, in their order."""
        pairs = zip(prompts, params, strict=True)
        return [self._answer(prompt["prompt_token_ids"], settings) for prompt, settings in pairs]

    def _log_probabilities(self, ids):
        import torch

        with torch.inference_mode():
            return self._model(torch.tensor([ids])).logits[0].float().log_softmax(-1)

    def _answer(self, ids, settings):
        if settings.temperature:
            raise NotImplementedError("the stand-in for vLLM samples nothing")
        told = None
        if settings.prompt_logprobs is not None:
            rows = self._log_probabilities(ids)
            told = [None, *(_told(row, token, 1, self._shift) for row, token in zip(rows[:-1], ids[1:], strict=True))]
        tokens, steps = [], []
        while len(tokens) < settings.max_tokens and tokens[-1:] != [self._tokenizer.eos_token_id]:
            row = self._log_probabilities([*ids, *tokens])[-1]
            tokens.append(int(row.argmax()))
            steps.append(_told(row, tokens[-1], settings.logprobs or 0, 0.0))
        ended = tokens[-1] == self._tokenizer.eos_token_id
        answer = SimpleNamespace(token_ids=tokens, logprobs=steps, finish_reason="stop" if ended else "length")
        return SimpleNamespace(prompt_logprobs=told, outputs=[answer])


def _told(row, token, count, shift):
    """The token and the `count` most probable ones with log-probabilities and ranks, as vLLM tells them."""
    chosen = {token, *row.topk(count).indices.tolist()}
    return {t: SimpleNamespace(logprob=float(row[t]) + shift, rank=int((row >= row[t]).sum())) for t in chosen}
