"""What lm-evaluation-harness writes with --log_samples: samples_<task>_<date>.jsonl, one document a line.

Read off files that version 0.4.13 wrote. A line holds `doc`, the row of the data set; `arguments`, by request
"gen_args_0", "gen_args_1", ... the context "arg_0" and the continuation or the generation settings "arg_1";
`resps`, a request's responses, every number and truth value as text; `target`, for multiple choice the position of
the right choice; `filter`, since each filter of the task writes its own line. Log-likelihoods are sums: the file
holds no values by token and no numbers of tokens.

Log-likelihoods of whole texts (loglikelihood_rolling) are not taken: with tokenizers that add a prefix token, that
version scores the token itself unless told otherwise, and the file does not say which it did.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import StudyError
from ._files import json_lines
from .base import Answer, OptionLikelihoods, Prediction, as_list, identifier

HOLDS = ("answers", "likelihoods")
KEYS: tuple[str, ...] = ()
REQUIRED: tuple[str, ...] = ()

# The field of `doc` that holds the question, where the config names none to join with.
QUESTION = "question"


def read(path: Path, settings: Mapping[str, Any], holds: str) -> Iterator[Prediction]:
    """One prediction a document, or one a response where a task has repeats.

    The identifier is the field of `doc` that `id` names. Answers are the responses as the model gave them, before
    any filter. Of a multiple-choice task that also scores its choices without context (acc_mutual_info), those
    are left out. Raises StudyError naming file and document for a line of another form, or of another kind
    of task than `holds` says.
    """
    kept = None
    for number, line in json_lines(path):
        place = f"line {number}"
        try:
            kept = line["filter"] if kept is None else kept
            if line["filter"] == kept:
                yield from _line(line, settings.get("id", QUESTION), holds)
        except StudyError as error:
            raise StudyError(str(error), file=path, record=place) from error
        except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
            raise StudyError(
                f"is no line of a samples file ({type(error).__name__}: {error})",
                file=path,
                record=place,
                remedy="Give the file samples_<task>_<date>.jsonl that --log_samples wrote",
            ) from error


def _line(line: Mapping[str, Any], names: str | Sequence[str], holds: str) -> Iterator[Prediction]:
    found = identifier(_field(line["doc"], name) for name in as_list(names))
    requests = list(zip(_arguments(line["arguments"]), line["resps"], strict=True))
    generated = isinstance(requests[0][0][1], Mapping) if len(requests[0][0]) > 1 else False
    if holds == "answers":
        if not generated or len(requests) != 1:
            raise StudyError("holds log-likelihoods and no answers", remedy="Give the file of a generate_until task")
        for position, text in enumerate(requests[0][1]):
            yield Answer(found, (position,), text)
        return
    if generated:
        raise StudyError("holds answers and no log-likelihoods", remedy="Say so in the config: holds: answers")
    if len(requests[0][0]) < 2:
        raise StudyError(
            "holds log-likelihoods of whole texts, in which the prefix token may be counted",
            remedy="Give the file of a multiple_choice task",
        )
    yield _options(found, requests, line["target"])


def _field(document: Mapping[str, Any], name: str) -> Any:
    if name not in document:
        raise StudyError(f"the document has no {name!r}", remedy=f"Name as id one of its fields: {', '.join(document)}")
    return document[name]


def _arguments(arguments: Mapping[str, Mapping[str, Any]]) -> list[list[Any]]:
    """The requests' arguments in their order."""
    return [
        [arguments[f"gen_args_{i}"][f"arg_{j}"] for j in range(len(arguments[f"gen_args_{i}"]))]
        for i in range(len(arguments))
    ]


def _options(found: str, requests: Sequence[tuple[list[str], list[Any]]], target: str) -> OptionLikelihoods:
    given = [request for request in requests if request[0][0]] or list(requests)
    pairs = [(arguments[1], *responses[0]) for arguments, responses in given]
    totals = [float(total) for _, total, _ in pairs]
    if not all(map(math.isfinite, totals)):
        raise StudyError(f"a log-likelihood is not finite: {totals}")
    texts = tuple(text for text, _, _ in pairs)
    return OptionLikelihoods(
        identifier=found,
        continuations=texts,
        log_probabilities=tuple((total,) for total in totals),
        summed=True,
        greedy=tuple({"True": True, "False": False}[greedy] for _, _, greedy in pairs),
        right=_right(target, texts),
    )


def _right(target: str, texts: Sequence[str]) -> frozenset[int]:
    """Positions that the target may mean: it is the right choice's number, or its text, written as text."""
    numbers = {str(position): position for position in range(len(texts))}
    right = {position for position, text in enumerate(texts) if text.strip() == target.strip()}
    right |= {numbers[target]} if target in numbers else set()
    if not right:
        raise StudyError(f"the target {target!r} is none of the choices: {', '.join(map(repr, texts))}")
    return frozenset(right)
