"""What every stage is given: the items, the benchmarks' own settings, and the study's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..benchmarks import Benchmark
from ..engines.base import Prompt
from ..identity import derived_seed
from ..items import Generation, Item


@dataclass(frozen=True)
class Job:
    """One inference job. `answers` are the greedy answers of all models (rephrasings, judgements),
    `prompts` the texts of the stage's prompt files by name.

    `settings` are the stage's own from the config, `max_new_tokens` a cap on the benchmarks' limits.
    """

    stage: str
    model: str
    seed: int
    items: Sequence[Item]
    benchmarks: Mapping[str, Benchmark]
    settings: Mapping[str, Any]
    chat_template: bool = False
    max_new_tokens: int | None = None
    answers: Sequence[Generation] = ()
    prompts: Mapping[str, str] = field(default_factory=dict)

    def prompt(self, item: Item) -> Prompt:
        """The item's prompt as plain text, or as the user's message where the chat template is on."""
        return (("user", item.prompt),) if self.chat_template else item.prompt

    def token_limit(self, benchmark: str) -> int:
        """New tokens that an answer of the benchmark may have."""
        own = self.benchmarks[benchmark].max_new_tokens
        return own if self.max_new_tokens is None else min(own, self.max_new_tokens)

    def item_seed(self, benchmark: str, item_id: str, index: int, about: str = "") -> int:
        """The seed of one draw: it depends on study, model, benchmark, item, stage and index alone."""
        return derived_seed(self.seed, self.model, about, benchmark, item_id, self.stage, index)
