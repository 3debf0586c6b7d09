"""HELM's scenario_state.json: every request of a run with its result.

Field names are those of the dataclasses of crfm-helm 0.5 (helm/benchmark/adaptation/scenario_state.py,
request_state.py and adapter_spec.py, helm/benchmark/scenarios/scenario.py, helm/common/request.py); a field that
is None is not in the file. Of a multiple-choice run, `multiple_choice_joint` holds the letter that the model
wrote, with `output_mapping` from letters to options; `multiple_choice_separate_*` has one request an option, in
which prompt and option are scored token by token (helm/benchmark/metrics/basic_metrics.py, BasicReferenceMetric).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import StudyError
from ._files import json_value
from .base import Answer, OptionLikelihoods, Prediction, as_list, identifier

HOLDS = ("answers", "likelihoods")
KEYS: tuple[str, ...] = ()
REQUIRED: tuple[str, ...] = ()

SEPARATE = "multiple_choice_separate"
# The field of an instance that holds the question.
QUESTION = "input"

State = Mapping[str, Any]


def read(path: Path, settings: Mapping[str, Any], holds: str) -> Iterator[Prediction]:
    """One prediction a completion, or one an instance where its options were scored.

    The identifier is the text of the instance's input, or the field of the instance that `id` names; HELM's own
    `id` only counts the instances. Instances that a perturbation changed are left out, and so are
    the calibrating requests of multiple_choice_separate_calibrated; a request without success has no answer.
    Several completions, trials or sets of examples are several answers, in the order of the file; scored
    options are taken from the first. Raises StudyError naming file and instance.
    """
    run = json_value(path)
    try:
        method, states = run["adapter_spec"]["method"], run["request_states"]
        states = [state for state in states if "perturbation" not in state["instance"]]
        place = "request_states"
        if holds == "answers":
            if method.startswith(SEPARATE):
                raise StudyError(f"the run's method is {method}: its requests hold no answers")
            counts: Counter[str] = Counter()
            for number, state in enumerate(states):
                place = _place(state, number)
                yield from _answers(state, settings, counts)
            return
        if not method.startswith(SEPARATE):
            raise StudyError(
                f"the run's method is {method}: it scored no options", remedy="Say so in the config: holds: answers"
            )
        for instance, options in _by_instance(states).items():
            place = instance
            yield _options(options, settings)
    except StudyError as error:
        raise StudyError(str(error), file=path, record=place) from error
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise StudyError(
            f"is no scenario state of HELM ({type(error).__name__}: {error})",
            file=path,
            remedy="Give the file scenario_state.json of a run",
        ) from error


def _place(state: State, number: int) -> str:
    return f"instance {state['instance'].get('id', number)}"


def _identifier(state: State, settings: Mapping[str, Any]) -> str:
    return identifier(_field(state["instance"], name) for name in as_list(settings.get("id", QUESTION)))


def _field(instance: Mapping[str, Any], name: str) -> Any:
    if name not in instance:
        raise StudyError(f"the instance has no {name!r}", remedy=f"Name as id one of its fields: {', '.join(instance)}")
    return instance[name]["text"] if name == QUESTION else instance[name]


def _answers(state: State, settings: Mapping[str, Any], counts: Counter[str]) -> Iterator[Answer]:
    found = _identifier(state, settings)
    document = state["instance"].get("id", found)
    options = tuple(state.get("output_mapping", {}).values())
    result = state.get("result", {})
    for completion in result.get("completions", ()) if result.get("success") else ():
        cut = completion.get("finish_reason", {}).get("reason") == "length"
        index = (counts[document],)
        counts[document] += 1
        yield Answer(found, index, completion["text"], "length" if cut else "recorded", options)


def _by_instance(states: Sequence[State]) -> dict[str, dict[int, State]]:
    """Instance -> position of the option -> its first request."""
    found: dict[str, dict[int, State]] = {}
    for number, state in enumerate(states):
        if state["request_mode"] == "original":
            found.setdefault(_place(state, number), {}).setdefault(state["reference_index"], state)
    return found


def _options(options: Mapping[int, State], settings: Mapping[str, Any]) -> OptionLikelihoods:
    references = options[min(options)]["instance"]["references"]
    if sorted(options) != list(range(len(references))):
        raise StudyError(f"options {sorted(options)} of {len(references)} were scored")
    texts = [reference["output"]["text"] for reference in references]
    return OptionLikelihoods(
        identifier=_identifier(options[0], settings),
        continuations=tuple(texts),
        log_probabilities=tuple(_option_tokens(options[i], text) for i, text in enumerate(texts)),
        summed=False,
        greedy=(None,) * len(texts),
        right=frozenset(i for i, reference in enumerate(references) if "correct" in reference["tags"]),
    )


def _option_tokens(state: State, option: str) -> tuple[float, ...]:
    """Log-probabilities of the last tokens, those that spell the option behind a blank."""
    if not state.get("result", {}).get("success"):
        raise StudyError("a request had no success", remedy="Run HELM again, or leave the instance out")
    (completion,) = state["result"]["completions"]
    values: list[float] = []
    spelt = ""
    for token in reversed(completion["tokens"]):
        if len(spelt) > len(option):
            break
        spelt = token["text"] + spelt
        values.insert(0, token["logprob"])
    if spelt != f" {option}":
        raise StudyError(f"the last tokens are {spelt!r}, not the option {option!r} behind a blank")
    if not all(map(math.isfinite, values)):
        raise StudyError(f"a log-probability is not finite: {values}")
    return tuple(values)
