"""The engine protocol: requests in, answers out, batch by batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..identity import content_key
from ..items import BranchLikelihoods, Generation, LogLikelihood

Message = tuple[str, str]  # (role, content)
Prompt = str | tuple[Message, ...]  # plain text as it stands, or messages for the model's chat template


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """Ask for a continuation of `prompt`. Temperature 0 is greedy and ignores `top_p` and `seed`.

    `suppress_end` forbids end tokens, so that exactly `max_new_tokens` tokens come. `model` is whose
    answer the request is about where that is not the engine's own model (rephrasings, judgements).
    `keep_tokens` asks for token ids and their log-probabilities beside the text.
    """

    item_id: str
    benchmark: str
    variant: str
    index: int
    prompt: Prompt
    max_new_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    stop: tuple[str, ...] = ()
    truncation_side: str = "left"
    suppress_end: bool = False
    model: str = ""
    keep_tokens: bool = False


@dataclass(frozen=True, slots=True)
class LikelihoodRequest:
    """Ask for log P(continuation | prompt). An empty prompt means the model's prefix token alone."""

    item_id: str
    benchmark: str
    variant: str
    index: int
    prompt: Prompt
    continuation: str
    truncation_side: str = "left"
    model: str = ""


@dataclass(frozen=True, slots=True)
class BranchRequest:
    """Ask for log P(continuation | prompt, first i tokens of the completion) at every i of `positions`.

    `completion` are token ids that the same model gave after the same prompt; positions rise, from 0 to at
    most its length.
    """

    item_id: str
    benchmark: str
    variant: str
    index: int
    prompt: Prompt
    completion: tuple[int, ...]
    positions: tuple[int, ...]
    continuation: str
    truncation_side: str = "left"
    model: str = ""

    def __post_init__(self) -> None:
        if not self.positions or list(self.positions) != sorted(set(self.positions)):
            raise ValueError(f"positions {self.positions} of item {self.item_id} do not rise")
        if self.positions[0] < 0 or self.positions[-1] > len(self.completion):
            raise ValueError(f"positions {self.positions} of item {self.item_id} leave its completion")


Request = GenerationRequest | LikelihoodRequest | BranchRequest
Answer = Generation | LogLikelihood | BranchLikelihoods


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request with its token ids (prompt after truncation, continuation) and its content key."""

    request: Request
    prompt_ids: tuple[int, ...]
    continuation_ids: tuple[int, ...] = ()
    prompt_tokens_cut: int = 0
    key: str = ""


class Engine(ABC):
    """Answers requests. Loads weights at the first `answer`, so that a job with nothing to do loads none.

    `SEMANTICS` is raised by hand whenever the engine's answers could change: it is part of every key.
    """

    name: str
    SEMANTICS: int

    def __init__(self, entry: Mapping[str, Any]):
        self.entry = entry
        self.model = entry["name"]

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Everything about model and engine that can change an answer."""

    @abstractmethod
    def prepare(self, requests: Sequence[Request]) -> list[Prepared]:
        """Requests with token ids, cut to the context, and keys; in the order given."""

    @abstractmethod
    def plan(self, prepared: Sequence[Prepared]) -> list[list[Prepared]]:
        """Batches: a pure function of the whole list."""

    @abstractmethod
    def answer(self, batch: Sequence[Prepared]) -> list[Answer]:
        """Answers to one batch of one kind of request, in its order."""

    def generate(self, requests: Sequence[GenerationRequest]) -> Iterator[Generation]:
        """Answers as they finish, in the order of the plan."""
        return self._stream(requests)

    def log_likelihoods(self, requests: Sequence[LikelihoodRequest]) -> Iterator[LogLikelihood]:
        """Log-likelihoods as they finish, in the order of the plan."""
        return self._stream(requests)

    def _stream(self, requests: Sequence[Request]) -> Iterator[Any]:
        for batch in self.plan(self.prepare(requests)):
            yield from self.answer(batch)

    def key(self, request: Request, prompt_ids: Sequence[int], continuation_ids: Sequence[int]) -> str:
        """Content key of a request: model, engine, token ids and sampling settings; not batch, not shard."""
        if isinstance(request, LikelihoodRequest):
            settings: dict[str, Any] = {"continuation": list(continuation_ids)}
        elif isinstance(request, BranchRequest):
            settings = {
                "completion": list(request.completion[: request.positions[-1]]),
                "positions": list(request.positions),
                "continuation": list(continuation_ids),
            }
        else:
            sampled = request.temperature > 0
            settings = {
                "max_new_tokens": request.max_new_tokens,
                "temperature": request.temperature,
                "top_p": request.top_p if sampled else 1.0,
                "seed": request.seed if sampled else 0,
                "stop": list(request.stop),
                "suppress_end": request.suppress_end,
                "keep_tokens": request.keep_tokens,
            }
        return content_key(
            {
                "engine": self.name,
                "semantics": self.SEMANTICS,
                **self.identity(),
                "prompt": list(prompt_ids),
                **settings,
            }
        )
