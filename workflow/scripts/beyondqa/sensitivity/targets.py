"""Edited references as the texts whose probability a model is asked for: what perplexities see of an edit.

A perplexity scores no answer but the reference, and Relaxed Perplexity a text looked for after completions. So the
edited reference takes the reference's place; the completions of an item, those of the first seed, are the same for all
its edits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import metrics
from ..engines.base import BranchRequest, LikelihoodRequest
from ..items import BranchLikelihoods, Generation, LogLikelihood, OpenItem
from ..metrics.base import Metric
from ..stages import likelihoods, relaxed
from ..stages.base import Job
from .corruptions import HARMLESS
from .edits import ORIGINAL, Edit
from .preferences import COLUMNS, Key, comparisons

if TYPE_CHECKING:
    import pandas as pd

SOURCE = "target"


def target_items(edits: Sequence[Edit], items: Mapping[str, OpenItem], most: int) -> dict[str, OpenItem]:
    """Edited references as items by id, `{item id}#{kind}`, of the first `most` items of each benchmark by id that have
    a harmless edit to compare with."""
    own = [edit for edit in edits if not edit.model and edit.item_id in items]
    by_benchmark: dict[str, set[str]] = defaultdict(set)
    for edit in own:
        if edit.kind in HARMLESS:
            by_benchmark[edit.benchmark].add(edit.item_id)
    kept = {item for of_benchmark in by_benchmark.values() for item in sorted(of_benchmark)[:most]}
    return {
        f"{edit.item_id}#{edit.kind}": target(items[edit.item_id], edit.kind, edit.text)
        for edit in own
        if edit.item_id in kept and edit.kind != ORIGINAL
    }


def target(item: OpenItem, kind: str, text: str) -> OpenItem:
    """The item with the edited text as its reference, and without statements, so that the text itself is looked for."""
    return replace(item, id=f"{item.id}#{kind}", reference=text, must_have=(), nice_to_have=())


def item_of(target: str) -> str:
    """Id of the item that an edited reference belongs to."""
    return target.rpartition("#")[0]


def requests(
    job: Job, completions: Iterable[Generation], *, variants: Container[str]
) -> list[LikelihoodRequest | BranchRequest]:
    """What a model is asked about the job's items, which are `target_items`: each reference's log-likelihood in the
    `variants` ("reference", "reference_given_prompt") and, where it completed the item, after prefixes of the
    completions. The job's settings are those of Relaxed Perplexity."""
    asked = [request for request in likelihoods.requests(job) if request.variant in variants]
    own = completions_of(job.items, completions, job.settings.get("samples", 0))
    return [*asked, *(relaxed.requests(replace(job, answers=own)) if own else ())]


def completions_of(targets: Iterable[OpenItem], completions: Iterable[Generation], samples: int) -> list[Generation]:
    """The completions of an item's first seed, `samples` of them, once for each of its edited references."""
    by_item = defaultdict(list)
    for completion in completions:
        if completion.index < samples:
            by_item[completion.item_id].append(completion)
    return [replace(c, item_id=target.id) for target in targets for c in by_item[item_of(target.id)]]


def target_preferences(
    targets: Mapping[str, OpenItem],
    records: Sequence[LogLikelihood | BranchLikelihoods],
    completions: Sequence[Generation],
    modules: Mapping[str, Any],
    *,
    seed: int,
) -> pd.DataFrame:
    """For every metric of the modules (metric module -> its settings) and kind of edit, the probability that a harmless
    edit is the more probable target: preferences.COLUMNS."""
    import pandas as pd

    rows = []
    for name, settings in modules.items():
        module = metrics.module(name)
        kind = LogLikelihood if module.INPUT == "likelihoods" else BranchLikelihoods
        own = [record for record in records if isinstance(record, kind)]
        samples = (settings or {}).get("samples", 0) if kind is BranchLikelihoods else 0
        relevant = [*own, *completions_of(targets.values(), completions, samples)]
        values: dict[str, dict[Key, float]] = defaultdict(dict)
        asked: dict[str, set[str]] = defaultdict(set)
        for score in module.scores(targets, relevant, settings or {}):
            item, _, edit = score.item_id.rpartition("#")
            asked[score.metric].add(item)
            if score.value is not None:
                values[score.metric][edit, (item, score.model)] = score.value
        described: dict[str, Metric] = {metric.name: metric for metric in module.metrics(settings or {})}
        for metric, of_metric in values.items():
            rows += comparisons(of_metric, described[metric], SOURCE, len(asked[metric]), seed=seed)
    return pd.DataFrame(rows, columns=list(COLUMNS))
