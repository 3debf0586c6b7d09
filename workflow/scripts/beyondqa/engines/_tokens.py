"""From texts to token ids, the same for every engine that holds a tokenizer.

One BOS, on every path, never scored: a prompt begins with it where the tokenizer adds it by default, whether
the prompt is plain text or came out of a chat template that has it already. An empty prompt is the prefix
token alone: BOS, or EOS where there is none.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ..errors import StudyError
from ..items import BranchLikelihoods, LogLikelihood
from .base import BranchRequest, GenerationRequest, Prepared, Prompt, Request

Ids = tuple[int, ...]


class Tokens:
    """Prepares requests with one tokenizer for a model that reads at most `context` tokens."""

    def __init__(self, tokenizer: Any, context: int):
        self._tokenizer = tokenizer
        self._context = context
        self._bos = tokenizer.bos_token_id
        with_special, without = (tokenizer("a", add_special_tokens=flag).input_ids for flag in (True, False))
        self._adds_bos = self._bos is not None and with_special[:1] == [self._bos] != without[:1]

    def prepare(self, requests: Sequence[Request], key: Callable[[Request, Ids, Ids], str]) -> list[Prepared]:
        """The requests with token ids cut to the context, and keys; each distinct text is tokenised once.

        Raises StudyError where a text has no tokens or an answer alone exceeds the context.
        """
        texts = [self._texts(request) for request in requests]
        ids = self._encode({text for pair in texts for text in pair})
        return [
            self._prepared(request, ids[prompt], ids[whole], key)
            for request, (prompt, whole) in zip(requests, texts, strict=True)
        ]

    def _texts(self, request: Request) -> tuple[str, str]:
        """The prompt, and the prompt with its continuation (the prompt again where there is none)."""
        prompt = self._rendered(request.prompt, request.item_id)
        if isinstance(request, GenerationRequest):
            return prompt, prompt
        whole = prompt + request.continuation
        # White space at the prompt's end belongs to the word that follows, as it did in the training text
        # (as in lm-evaluation-harness). A template's end stays, and so does a prompt that a completion follows:
        # it is what the model saw.
        stays = isinstance(request, BranchRequest) or not isinstance(request.prompt, str)
        return (prompt if stays else prompt.rstrip()), whole

    def _rendered(self, prompt: Prompt, item_id: str) -> str:
        if isinstance(prompt, str):
            return prompt
        from jinja2.exceptions import TemplateError

        if self._tokenizer.chat_template is None:
            raise StudyError(
                f"{self._tokenizer.name_or_path} has no chat template", record=item_id, remedy="Turn chat_template off"
            )
        messages = [{"role": role, "content": content} for role, content in prompt]
        try:
            return self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        except TemplateError as error:
            raise StudyError(f"the chat template refuses the messages: {error}", record=item_id) from error

    def _encode(self, texts: Iterable[str]) -> dict[str, Ids]:
        """Token ids by text, BOS included where the tokenizer adds it."""
        ordered = sorted(texts)
        encoded = self._tokenizer(
            ordered, add_special_tokens=False, return_attention_mask=False, verbose=False
        ).input_ids
        return {text: self._with_bos(tuple(ids)) for text, ids in zip(ordered, encoded, strict=True)}

    def _with_bos(self, ids: Ids) -> Ids:
        return ids if not self._adds_bos or ids[:1] == (self._bos,) else (self._bos, *ids)

    def _prefix(self, item_id: str) -> Ids:
        for token in (self._bos, self._tokenizer.eos_token_id):
            if token is not None:
                return (token,)
        raise StudyError("the tokenizer has neither BOS nor EOS to stand before an empty prompt", record=item_id)

    def _prepared(self, request: Request, prompt: Ids, whole: Ids, key: Callable[[Request, Ids, Ids], str]) -> Prepared:
        continuation: Ids = ()
        following = 0
        if isinstance(request, GenerationRequest):
            following = request.max_new_tokens
        elif isinstance(request, BranchRequest):
            continuation = self._apart(request.continuation, prompt, whole)
            following = request.positions[-1] + len(continuation) - 1
        else:
            shared = common_prefix(prompt, whole)
            prompt, continuation = whole[:shared], whole[shared:]
            if not prompt and continuation[:1] == self._prefix(request.item_id):
                continuation = continuation[1:]
            # A text longer than the context is read in windows, after one token of the prompt.
            following = min(len(continuation), self._context) - 1
        if not (continuation or isinstance(request, GenerationRequest)):
            raise StudyError("the continuation has no tokens", record=request.item_id)
        if following >= self._context:
            raise StudyError(
                f"needs {following} tokens after the prompt in a context of {self._context}",
                record=request.item_id,
                remedy="Lower max_new_tokens or raise the model's context",
            )
        prompt = prompt or self._prefix(request.item_id)
        kept = self._cut(prompt, self._context - following, request.truncation_side)
        return Prepared(request, kept, continuation, len(prompt) - len(kept), key(request, kept, continuation))

    def _apart(self, continuation: str, prompt: Ids, whole: Ids) -> Ids:
        """Tokens of a continuation that other text may come before, so that none may reach into the prompt."""
        if whole[: len(prompt)] == prompt:
            return whole[len(prompt) :]
        return tuple(self._tokenizer(continuation, add_special_tokens=False).input_ids)

    def _cut(self, ids: Ids, room: int, side: str) -> Ids:
        """At most `room` ids, BOS among them where there was one."""
        if len(ids) <= room:
            return ids
        head = ids[:1] if ids[0] == self._bos else ()
        rest, keep = ids[len(head) :], room - len(head)
        return head + (rest[len(rest) - keep :] if side == "left" else rest[:keep])


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """Length of the longest common prefix."""
    return next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))


def windows(prompt: Ids, continuation: Ids, context: int) -> Iterator[tuple[Ids, Ids]]:
    """What to read and what to score, so that every token of the continuation is scored once.

    One window where prompt and continuation fit. Otherwise lm-evaluation-harness's rolling windows with one
    token of context: each scores the next `context` tokens after the last token of the one before; the last
    window, being shorter, reads back as far as the context allows.
    """
    if len(prompt) + len(continuation) - 1 <= context:
        yield prompt, continuation
        return
    whole, start = prompt[-1:] + continuation, 1
    while start < len(whole):
        end = min(start + context, len(whole))
        first = max(0, end - 1 - context)
        yield whole[first:start], whole[start:end]
        start = end


def spans(prepared: Prepared, context: int) -> list[tuple[Ids, Ids]]:
    """What to read and what to score for a request, once or several times: windows, or positions of a completion."""
    if isinstance(prepared.request, BranchRequest):
        completion = prepared.request.completion
        return [(prepared.prompt_ids + completion[:i], prepared.continuation_ids) for i in prepared.request.positions]
    return list(windows(prepared.prompt_ids, prepared.continuation_ids, context))


def likelihood_answer(
    prepared: Prepared, model: str, values: Sequence[Sequence[float]], greedy: Sequence[bool]
) -> LogLikelihood | BranchLikelihoods:
    """The answer to a request from the log-probabilities of the tokens of each of its spans, and whether all tokens
    of a span were the most probable ones.
    """
    request = prepared.request
    common = {
        "item_id": request.item_id,
        "benchmark": request.benchmark,
        "model": request.model or model,
        "variant": request.variant,
        "index": request.index,
        "prompt_tokens": len(prepared.prompt_ids),
        "prompt_tokens_cut": prepared.prompt_tokens_cut,
        "key": prepared.key,
    }
    if isinstance(request, BranchRequest):
        return BranchLikelihoods(
            positions=request.positions,
            log_probabilities=tuple(map(math.fsum, values)),
            target_tokens=len(prepared.continuation_ids),
            **common,
        )
    tokens = tuple(itertools.chain.from_iterable(values))
    return LogLikelihood(token_log_probabilities=tokens, is_greedy=all(greedy), **common)
