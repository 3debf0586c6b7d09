"""Whether two engines agree about one model: log-probabilities to a tolerance, greedy answers token by token.

Two engines compute the same sums in different orders, so a greedy choice between two nearly equally probable
tokens may fall either way. Such a first difference is a near-tie: reported, not taken for a disagreement.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import engines
from .engines.base import Engine, GenerationRequest, LikelihoodRequest, Request
from .errors import StudyError
from .items import Generation, Item, LogLikelihood, MultipleChoiceItem

TOLERANCE = 1e-4
# The engines that run a model's own files, and the only ones that tell the tokens of an answer.
ENGINES = ("transformers", "vllm")
KINDS = ("option", "reference", "reference_given_prompt", "greedy")
GREEDY_TOKENS = 32


def load(entry: Mapping[str, Any], name: str) -> Engine:
    """The engine of that name for a model's entry: in float32, and with the longest context that all ENGINES have."""
    context = min(engines.load({**entry, "engine": other}).context for other in ENGINES)
    return engines.load({**entry, "engine": name, "dtype": "float32", "context": context})


def answers(asked: Sequence[Request], engine: Engine) -> Iterator[Generation | LogLikelihood]:
    """The engine's answers as they finish, log-likelihoods first."""
    yield from engine.log_likelihoods([request for request in asked if isinstance(request, LikelihoodRequest)])
    yield from engine.generate([request for request in asked if isinstance(request, GenerationRequest)])


def requests(items: Iterable[Item], *, max_new_tokens: int = GREEDY_TOKENS) -> list[Request]:
    """What both engines are asked: options of closed items; of open ones the reference, alone and given the prompt,
    and a greedy answer with its tokens.
    """
    return [request for item in items for request in _of_item(item, max_new_tokens)]


def _of_item(item: Item, max_new_tokens: int) -> list[Request]:
    where = (item.id, item.benchmark)
    if isinstance(item, MultipleChoiceItem):
        return [
            LikelihoodRequest(*where, "option", index, item.prompt, candidate)
            for index, candidate in enumerate(item.candidates)
        ]
    return [
        LikelihoodRequest(*where, "reference", 0, "", item.reference),
        LikelihoodRequest(*where, "reference_given_prompt", 0, item.prompt, f" {item.reference}"),
        GenerationRequest(*where, "greedy", 0, item.prompt, max_new_tokens, keep_tokens=True),
    ]


@dataclass(frozen=True)
class Agreement:
    """How two engines agree on one kind of answer.

    Log-likelihoods are `apart` where one token's log-probability differs by more than the tolerance. `max_abs_diff` is
    the largest such difference, nats, and `worst` its item; `max_abs_diff_total` is that of a sum over tokens, which
    grows with the text's length. Greedy answers: `equal` of `count` have the same tokens, `near_ties` first part at a
    choice whose margin is at most twice the tolerance in either engine, `apart` are the other items.
    """

    kind: str
    count: int
    equal: int
    near_ties: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    max_abs_diff: float = 0.0
    max_abs_diff_total: float = 0.0
    worst: str = ""

    @property
    def agrees(self) -> bool:
        return not self.apart


def compare(first: Iterable[Any], second: Iterable[Any], *, tolerance: float = TOLERANCE) -> list[Agreement]:
    """Agreement by kind of answer, in the order of KINDS.

    Raises StudyError where the two do not answer the same requests.
    """
    left, right = ({_place(answer): answer for answer in answers} for answers in (first, second))
    if lone := sorted(left.keys() ^ right.keys()):
        raise StudyError(
            f"{len(lone)} answers are in one set alone",
            record=", ".join(map(str, lone[0])),
            remedy="Ask both engines the same requests",
        )
    by_kind = {kind: [(left[place], right[place]) for place in left if place[2] == kind] for kind in KINDS}
    return [_compare(pairs, kind, tolerance) for kind, pairs in by_kind.items() if pairs]


def _place(answer: Generation | LogLikelihood) -> tuple[str, str, str, int]:
    return answer.benchmark, answer.item_id, answer.variant, answer.index


def _compare(pairs: Sequence[tuple[Any, Any]], kind: str, tolerance: float) -> Agreement:
    if isinstance(pairs[0][0], Generation):
        return _compare_greedy(pairs, kind, tolerance)
    differences = []
    for a, b in pairs:
        tokens, others = a.token_log_probabilities, b.token_log_probabilities
        if len(tokens) != len(others):
            raise StudyError(f"one engine scores {len(tokens)} tokens, the other {len(others)}", record=a.item_id)
        differences.append((max(abs(x - y) for x, y in zip(tokens, others, strict=True)), a.item_id))
    largest, worst = max(differences)
    apart = tuple(item for difference, item in differences if difference > tolerance)
    largest_total = max(abs(a.total - b.total) for a, b in pairs)
    return Agreement(kind, len(pairs), len(pairs) - len(apart), (), apart, largest, largest_total, worst)


def _compare_greedy(pairs: Sequence[tuple[Generation, Generation]], kind: str, tolerance: float) -> Agreement:
    near_ties, apart = [], []
    for a, b in pairs:
        if a.token_ids == b.token_ids:
            continue
        place = next((i for i, (x, y) in enumerate(zip(a.token_ids, b.token_ids, strict=False)) if x != y), None)
        # One may also go on where the other has ended, which no near-tie explains: the end is a token as well.
        tied = place is not None and min(a.token_margins[place], b.token_margins[place]) <= 2 * tolerance
        (near_ties if tied else apart).append(a.item_id)
    equal = len(pairs) - len(near_ties) - len(apart)
    return Agreement(kind, len(pairs), equal, tuple(near_ties), tuple(apart))


def rows(agreements: Mapping[str, Sequence[Agreement]]) -> list[dict[str, Any]]:
    """One row a model and kind of answer; ids of items joined by spaces."""
    return [
        {
            "model": model,
            "answers": agreement.kind,
            "n": agreement.count,
            "equal": agreement.equal,
            "near_ties": len(agreement.near_ties),
            "apart": len(agreement.apart),
            "max_abs_diff": agreement.max_abs_diff,
            "max_abs_diff_total": agreement.max_abs_diff_total,
            "worst": agreement.worst,
            "near_tie_items": " ".join(agreement.near_ties),
            "apart_items": " ".join(agreement.apart),
        }
        for model, of_model in agreements.items()
        for agreement in of_model
    ]


def page(agreements: Mapping[str, Sequence[Agreement]], tolerance: float = TOLERANCE) -> str:
    """The comparison as Markdown: a table, then every item that is apart or a near-tie."""
    lines = [
        f"# Do {' and '.join(ENGINES)} agree?",
        "",
        f"Both in float32. Log-probabilities of tokens agree within {tolerance:g} nats; in the sum over a text their "
        "differences add up. Greedy answers agree token by token; where they first part at a choice between two nearly "
        "equally probable tokens, that is a near-tie, no disagreement.",
        "",
        "| model | answers | n | equal | near-ties | apart | largest difference of a token | of a text |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    remarks = []
    for model, of_model in agreements.items():
        for a in of_model:
            largest = [f"{value:.2g}" if a.worst else "–" for value in (a.max_abs_diff, a.max_abs_diff_total)]
            cells = (model, a.kind, a.count, a.equal, len(a.near_ties), len(a.apart), *largest)
            lines.append(f"| {' | '.join(map(str, cells))} |")
            remarks += [f"- {model}, {a.kind}, {item}: apart" for item in a.apart]
            remarks += [f"- {model}, {a.kind}, {item}: near-tie" for item in a.near_ties]
    return "\n".join([*lines, "", *remarks]).rstrip() + "\n"
