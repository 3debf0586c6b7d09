"""The papers' claims, the statistic that decides each, and what this run says.

A claim is held or not held only where intervals say so; everything else cannot be decided with these models.
Stand-ins decide nothing: a claim about BERTScore is not about the encoder that stands in for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..identity import derived_seed
from .against import accuracy_rows, weighted_accuracy
from .aggregation import LEVEL, resamples
from .correlation import MINIMUM_FOR_COEFFICIENT, correlate
from .inputs import Inputs
from .robustness import WEAK

if TYPE_CHECKING:
    import pandas as pd

HELD, NOT_HELD, UNDECIDED = "held", "not held", "cannot be decided"
HIGH = 0.7
DRAWS = 2000
NGRAM = ("bleu[", "rouge", "meteor")
SEMANTIC = ("bertscore", "moverscore", "bleurt")
PERPLEXITY = ("word_perplexity", "byte_perplexity", "bits_per_byte")
# Models of the metric study that were tuned on healthcare data.
TUNED = ("BioMistral-MedMNX", "JSL-MedLlama-3-8B-v2.0", "Llama3-Med42-8B")


@dataclass(frozen=True)
class Verdict:
    """What this run says of a claim: the verdict and, in words, the numbers behind it."""

    verdict: str
    result: str


@dataclass(frozen=True)
class Claim:
    """One claim: where it stands, what it says in our words, which statistic decides it, and how."""

    name: str
    source: str
    text: str
    statistic: str
    decide: Callable[[Inputs], Verdict]


def verdict_on(claim: Claim, inputs: Inputs) -> Verdict:
    """The verdict on one claim. Derived models are no models of their own: with fewer than four others, only
    what is true by construction is decided."""
    found = claim.decide(inputs)
    own = [name for name, model in inputs.models.items() if not model.get("derived_from")]
    if len(own) >= MINIMUM_FOR_COEFFICIENT or found.verdict == UNDECIDED or claim.decide is perplexity_does_not_vary:
        return found
    return Verdict(UNDECIDED, f"{found.result} (with {len(own)} models that are not derived from another)")


def by_intervals(lows: Iterable[float], highs: Iterable[float], bound: float, *, above: bool) -> tuple[int, int, int]:
    """How many intervals lie wholly above (or below) `bound`, how many wholly on the other side, of how many."""
    pairs = [(low, high) for low, high in zip(lows, highs, strict=True) if not (_nan(low) or _nan(high))]
    over = sum(low > bound for low, _ in pairs)
    under = sum(high < bound for _, high in pairs)
    return (over, under, len(pairs)) if above else (under, over, len(pairs))


def all_or_one(support: int, against: int, n: int) -> str:
    """Held if every one of n intervals supports; not held if more contradict than chance lets (of a true claim a
    95 % interval lies wholly on the wrong side once in forty times; binomial tail below 0.05)."""
    from scipy.stats import binom

    if against and binom.sf(against - 1, n, (1 - LEVEL) / 2) < 0.05:
        return NOT_HELD
    return HELD if n and support == n else UNDECIDED


def accuracy_signs(inputs: Inputs) -> Verdict:
    """Task by task: the sign of the coefficients with weighted accuracy."""
    rows = _accuracy_rows(inputs, "smaller")
    if not len(rows):
        return Verdict(UNDECIDED, "no task was set against multiple choice accuracy")
    task = rows["benchmark"].map({name: entry["task"] for name, entry in inputs.benchmarks.items()})
    negative = task.isin(["summarization", "question_entailment", "prescriptions", "text_classification"])
    negative |= task == "relation_extraction"
    negative &= rows["benchmark"] != "medical_transcriptions"
    parts, support, against, n = [], 0, 0, 0
    for label, part, above in (("note-taking", rows[task == "note_taking"], True), ("negative", rows[negative], False)):
        s, a, k = by_intervals(part["pearson_low"], part["pearson_high"], 0.0, above=above)
        mean = part["pearson"].mean()
        parts.append(f"{label}: mean r {_r(mean)}, {s} of {k} intervals on the claimed side of 0, {a} on the other")
        support, against, n = support + s, against + a, n + k
    return Verdict(all_or_one(support, against, n), "; ".join(parts))


def accuracy_is_weak(inputs: Inputs) -> Verdict:
    """Every n-gram and semantic metric: is its interval within the bound of a weak correlation?"""
    rows = _accuracy_rows(inputs, "all")
    rows = rows[_is(rows, (*NGRAM, *SEMANTIC)) & ~_is_stand_in(rows)] if len(rows) else rows
    rows = rows[rows["pearson_low"].notna()] if len(rows) else rows
    if not len(rows):
        return Verdict(UNDECIDED, "no interval for an n-gram or semantic metric")
    weak = int(((rows["pearson_low"] > -WEAK) & (rows["pearson_high"] < WEAK)).sum())
    strong = int(((rows["pearson_low"] > WEAK) | (rows["pearson_high"] < -WEAK)).sum())
    result = (
        f"{weak} of {len(rows)} intervals within ±{WEAK}, {strong} beyond; mean |r| {_r(rows['pearson'].abs().mean())}"
    )
    return Verdict(all_or_one(weak, strong, len(rows)), result)


def no_pair_is_consistent(inputs: Inputs) -> Verdict:
    """A pair of open benchmarks would be consistently high if every metric's interval lay above the bound."""
    rows = inputs.benchmark_correlations
    if not len(rows):
        return Verdict(UNDECIDED, "no two benchmarks were compared")
    kind = {name: entry["kind"] for name, entry in inputs.benchmarks.items()}
    rows = rows[(rows["a"].map(kind) == "open") & (rows["b"].map(kind) == "open") & rows["pearson_low"].notna()]
    rows = rows[~_is(rows, ("length",)) & ~_is_stand_in(rows)]
    if not len(rows):
        return Verdict(UNDECIDED, "no interval for two open benchmarks")
    pairs = rows.groupby(["a", "b"])
    consistent = int((pairs["pearson_low"].min() > HIGH).sum())
    refuted = int((pairs["pearson_high"].min() < HIGH).sum())
    n = pairs.ngroups
    result = f"{consistent} of {n} pairs with every metric above {HIGH}, {refuted} with a metric below"
    return Verdict(all_or_one(refuted, consistent, n), result)


def three_clusters(inputs: Inputs) -> Verdict:
    """On how many benchmarks the clusters are those that the paper names."""
    import pandas as pd

    rows = inputs.clusters
    if not len(rows) or not rows["cluster_a"].notna().any():
        return Verdict(UNDECIDED, "no clusters: too few models or metrics")
    stand_ins = set(inputs.means.loc[_is_stand_in(inputs.means), "metric"])
    matches, n = 0, 0
    for _, part in rows[rows["cluster_a"].notna()].groupby("benchmark"):
        sides = [part[[s, f"cluster_{s}"]].set_axis(["metric", "cluster"], axis=1) for s in "ab"]
        numbers = pd.concat(sides).drop_duplicates().set_index("metric")["cluster"].to_dict()
        groups = _cluster_groups({name: number for name, number in numbers.items() if name not in stand_ins})
        if not all(groups.values()):
            continue
        n += 1
        apart = groups["perplexity"].isdisjoint(groups["judge"] | groups["overlap"])
        matches += apart and groups["judge"].isdisjoint(groups["overlap"]) and all(len(g) == 1 for g in groups.values())
    if not n:
        return Verdict(
            UNDECIDED, "needs perplexities, a judge that is no stand-in, and overlap metrics on one benchmark"
        )
    return Verdict(all_or_one(matches, n - matches, n), f"{matches} of {n} benchmarks have exactly these clusters")


def resilience_order(inputs: Inputs) -> Verdict:
    """Scaled variance over rephrasings: every low metric against every high one."""
    return _variance_order(
        inputs,
        "mediqa2019",
        "resilience",
        "variance_by_squared_range",
        low=("rouge", "bleu[", "moverscore"),
        high=("bertscore_f1", "bleurt", "judge"),
    )


def consistent_ngrams(inputs: Inputs) -> Verdict:
    """Variance over samples: BLEU and ROUGE-2 against the other n-gram metrics, in their common unit."""
    return _variance_order(
        inputs,
        "careqa_open",
        "self_consistency",
        "variance",
        low=("bleu[", "rouge2"),
        high=("rouge1", "rougeL[", "meteor"),
    )


def least_consistent(inputs: Inputs) -> Verdict:
    """Scaled variance over samples: BLEURT and Prometheus against all others."""
    return _variance_order(
        inputs,
        "careqa_open",
        "self_consistency",
        "variance_by_squared_range",
        low=("rouge", "bleu[", "bertscore_f1", "moverscore"),
        high=("bleurt", "judge"),
    )


def perplexity_does_not_vary(inputs: Inputs) -> Verdict:
    """True by construction: the answer does not enter."""
    return Verdict(HELD, "by construction: perplexities score the reference alone, so samples cannot move them")


def benchmarks_agree(inputs: Inputs) -> Verdict:
    """Mutual coefficients of four multiple choice benchmarks, small and medium models."""
    names = ("medqa", "medmcqa", "careqa", "mmlu")
    return _mutual(inputs, [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]], above=True)


def pubmedqa_is_apart(inputs: Inputs) -> Verdict:
    """PubMedQA's coefficients with the four others."""
    return _mutual(inputs, [("pubmedqa", other) for other in ("medqa", "medmcqa", "careqa", "mmlu")], above=False)


def elo_grows_with_size(inputs: Inputs) -> Verdict:
    """Weighted accuracy against Elo in both groups, and the difference of the two by Fisher's z."""
    found = {}
    for group in ("small_elo", "medium_elo"):
        accuracy = _group_accuracy(inputs, group)
        result = correlate(accuracy, inputs.elo.reindex(accuracy.index)) if len(accuracy) else {"pearson": None, "n": 0}
        found[group] = (result["pearson"], result["n"])
    (small, n_small), (medium, n_medium) = found.values()
    text = f"small: r {_r(small)} (n = {n_small}); medium: r {_r(medium)} (n = {n_medium})"
    if small is None or medium is None or min(n_small, n_medium) < 4 or max(abs(small), abs(medium)) >= 1:
        return Verdict(UNDECIDED, text)
    z = (math.atanh(medium) - math.atanh(small)) / math.sqrt(1 / (n_small - 3) + 1 / (n_medium - 3))
    verdict = UNDECIDED if abs(z) < 1.96 else HELD if z > 0 else NOT_HELD
    return Verdict(verdict, f"{text}; difference z = {z:.2f}")


def tuned_models_are_favoured(inputs: Inputs) -> Verdict:
    """Rank-sum tests (exact) of healthcare-tuned models against the rest, for both perplexities on OLAPH."""
    from scipy.stats import mannwhitneyu

    means = inputs.means
    means = means[(means["benchmark"] == "olaph") & means["mean"].notna()] if len(means) else means
    parts, p = [], {}
    for prefix in ("relaxed_perplexity", "word_perplexity"):
        rows = means[_is(means, (prefix,)) & means["headline"].astype(bool)] if len(means) else means
        rows = rows[rows["metric"] == rows["metric"].iloc[0]] if len(rows) else rows
        tuned = rows[rows["model"].isin(TUNED)]["mean"] if len(rows) else []
        rest = rows[~rows["model"].isin(TUNED)]["mean"] if len(rows) else []
        if len(tuned) < 3 or len(rest) < 3:
            return Verdict(UNDECIDED, f"{prefix}: {len(tuned)} tuned and {len(rest)} other models")
        p[prefix] = mannwhitneyu(tuned, rest, alternative="less", method="exact").pvalue
        parts.append(f"{prefix}: tuned lower with p = {p[prefix]:.3f}")
    favoured, plain = (p[name] < 0.05 for name in p)
    verdict = HELD if favoured and not plain else NOT_HELD if plain and not favoured else UNDECIDED
    return Verdict(verdict, "; ".join(parts))


def entity_recall_follows_accuracy(inputs: Inputs) -> Verdict:
    """EntQA, table 1: Spearman over models, background entities, on every benchmark."""
    return _entqa(inputs, "entqa_group_level", "entqa_b", "spearman")


def entity_recall_follows_right_answers(inputs: Inputs) -> Verdict:
    """EntQA, table 2: the correlation within models of being right and the recall of background entities."""
    return _entqa(inputs, "entqa_case_level", "entqa_b", "within_model")


def entity_recall_grows_with_size(inputs: Inputs) -> Verdict:
    """EntQA, table 3: Spearman of size and the recall of background entities, per case."""
    return _entqa(inputs, "entqa_scale", "entqa_b", "spearman")


def overlap_falls_with_accuracy(inputs: Inputs) -> Verdict:
    """EntQA, table 1: ROUGE-1 with the question as its reference falls as accuracy grows."""
    return _entqa(inputs, "entqa_group_level", "rouge1", "spearman", above=False)


PAPER_1, PAPER_2 = "arXiv 2502.06666", "EntQA"
CLAIMS = (
    Claim(
        "C1",
        PAPER_1,
        "Of all tasks only clinical note-taking goes with multiple choice accuracy (weakly); summarization, question "
        "entailment and the other close-ended tasks but Medical Transcriptions go against it.",
        "Pearson's r per benchmark and metric, interval over models against 0; smaller models",
        accuracy_signs,
    ),
    Claim(
        "C2",
        PAPER_1,
        "Open-ended metrics correlate very weakly with multiple choice accuracy.",
        f"95 % interval of r within ±{WEAK} for n-gram and semantic metrics",
        accuracy_is_weak,
    ),
    Claim(
        "C3",
        PAPER_1,
        "No two open benchmarks are consistently highly correlated, not even ACI-Bench and MTS-Dialog.",
        f"for each pair some metric's interval below r = {HIGH}",
        no_pair_is_consistent,
    ),
    Claim(
        "C4",
        PAPER_1,
        "Metrics fall into three clusters: perplexities, Prometheus alone, n-gram and semantic metrics.",
        "average linkage on 1 - r, three clusters, on every open benchmark",
        three_clusters,
    ),
    Claim(
        "C5",
        PAPER_1,
        "Under rephrasing ROUGE, BLEU and MoverScore vary little, BERTScore, BLEURT and Prometheus much.",
        "differences of mean variance / range² on MEDIQA2019, bootstrap over items, every low and high metric",
        resilience_order,
    ),
    Claim(
        "C6a",
        PAPER_1,
        "BLEU and ROUGE-2 are the most self-consistent n-gram metrics.",
        "differences of mean variance over samples on CareQA-Open, bootstrap over items",
        consistent_ngrams,
    ),
    Claim(
        "C6b",
        PAPER_1,
        "BLEURT and Prometheus are the least self-consistent metrics.",
        "differences of mean variance / range² over samples on CareQA-Open, bootstrap over items",
        least_consistent,
    ),
    Claim("C6c", PAPER_1, "The variance of perplexities over samples is exactly 0.", "none", perplexity_does_not_vary),
    Claim(
        "C7a",
        PAPER_1,
        "MedQA, MedMCQA, CareQA and MMLU are highly correlated with each other.",
        f"intervals of the six r above {HIGH}, small and medium models",
        benchmarks_agree,
    ),
    Claim(
        "C7b",
        PAPER_1,
        "PubMedQA is noticeably less correlated with them.",
        f"intervals of PubMedQA's four r below {HIGH}, small and medium models",
        pubmedqa_is_apart,
    ),
    Claim(
        "C7c",
        PAPER_1,
        "Elo goes with multiple choice accuracy, more so for larger models.",
        "r of weighted accuracy and Elo, medium minus small models, by Fisher's z",
        elo_grows_with_size,
    ),
    Claim(
        "C8",
        PAPER_1,
        "Relaxed Perplexity on OLAPH favours models tuned on healthcare data, perplexity does not.",
        "exact rank-sum tests, tuned against other models",
        tuned_models_are_favoured,
    ),
    Claim(
        "E1",
        PAPER_2,
        "Models that are right more often cover more of the background's entities.",
        "Spearman over models, interval against 0, on every benchmark",
        entity_recall_follows_accuracy,
    ),
    Claim(
        "E2",
        PAPER_2,
        "Right answers cover more of the background's entities, case by case.",
        "correlation with model means removed, bootstrap over cases against 0, on every benchmark",
        entity_recall_follows_right_answers,
    ),
    Claim(
        "E3",
        PAPER_2,
        "Coverage of the background's entities grows with the size of the model.",
        "Spearman of size and per-case recall, bootstrap over cases against 0, on every benchmark",
        entity_recall_grows_with_size,
    ),
    Claim(
        "E4",
        PAPER_2,
        "Overlap with the question (ROUGE-1) falls as accuracy grows.",
        "Spearman over models, interval against 0, on every benchmark",
        overlap_falls_with_accuracy,
    ),
)


def _accuracy_rows(inputs: Inputs, models: str) -> pd.DataFrame:
    rows = inputs.accuracy_correlations
    return rows[(rows["models"] == models) & (rows["left_out"] == "") & rows["pearson"].notna()] if len(rows) else rows


def _cluster_groups(clusters: dict[str, float]) -> dict[str, set[float]]:
    prefixes = {"perplexity": PERPLEXITY, "judge": ("judge",), "overlap": (*NGRAM, *SEMANTIC)}
    return {
        group: {number for name, number in clusters.items() if name.startswith(wanted)}
        for group, wanted in prefixes.items()
    }


def _variance_order(
    inputs: Inputs, benchmark: str, kind: str, statistic: str, *, low: Sequence[str], high: Sequence[str]
) -> Verdict:
    """Whether every high metric's mean is above every low one's, on the benchmark of the paper's experiment and
    over the items on which all of them are defined."""
    frame, metrics = inputs.dispersion(kind)
    frame = frame[frame["benchmark"] == benchmark] if len(frame) else frame
    if not len(frame):
        return Verdict(UNDECIDED, f"no repeated answers to {benchmark}")
    per_item = (
        frame.groupby(["item_id", "metric"])[statistic].mean().unstack("metric").dropna(axis="columns", how="all")
    )
    real = [n for n in per_item.columns if metrics[n].headline and not metrics[n].stand_in]
    lows, highs = ([n for n in real if n.startswith(tuple(prefixes))] for prefixes in (low, high))
    lacking = [p for p in (*low, *high) if not any(name.startswith(p) for name in real)]
    per_item = per_item[[*lows, *highs]].dropna()
    if not lows or not highs or len(per_item) < 2:
        return Verdict(UNDECIDED, f"not scored: {', '.join(lacking) or 'enough items'}")
    counts = resamples(len(per_item), None, draws=DRAWS, seed=derived_seed(inputs.seed, "claims", kind)) / len(per_item)
    draws = dict(zip(per_item.columns, (counts @ per_item.to_numpy()).T, strict=True))
    edges = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    bounds = [np.quantile(draws[h] - draws[x], edges) for x in lows for h in highs]
    support, against, n = by_intervals(*zip(*bounds, strict=True), 0.0, above=True)
    verdict = all_or_one(support, against, n)
    missing = f"; not scored: {', '.join(lacking)}" * bool(lacking)
    result = f"{support} of {n} differences above 0, {against} below, on {len(per_item)} items{missing}"
    return Verdict(UNDECIDED if verdict == HELD and lacking else verdict, result)


def _mutual(inputs: Inputs, pairs: Sequence[tuple[str, str]], *, above: bool) -> Verdict:
    support = against = n = 0
    values = []
    for group in ("small_elo", "medium_elo"):
        wide = _group_wide(inputs, group)
        for a, b in pairs:
            if a in wide.columns and b in wide.columns:
                result = correlate(wide[a], wide[b])
                s, o, k = by_intervals([result["pearson_low"]], [result["pearson_high"]], HIGH, above=above)
                support, against, n = support + s, against + o, n + k
                values += [result["pearson"]] * (result["pearson"] is not None)
    if not values:
        return Verdict(UNDECIDED, "no coefficient for these benchmarks and groups of models")
    side = "above" if above else "below"
    spread = f"r {_r(min(values))} to {_r(max(values))}"
    result = f"{support} of {n} intervals {side} {HIGH}, {against} on the other side; {spread}"
    return Verdict(all_or_one(support, against, n), result)


def _group_wide(inputs: Inputs, group: str) -> pd.DataFrame:
    import pandas as pd

    means = inputs.means
    if not len(means) or group not in inputs.groups:
        return pd.DataFrame()
    asked = means["benchmark"].map(lambda name: inputs.benchmarks[name]["task"]) == "multiple_choice"
    rows = means[asked & means["model"].isin(inputs.groups[group])]
    rows = rows[accuracy_rows(rows)]
    return rows.pivot(index="model", columns="benchmark", values="mean")


def _group_accuracy(inputs: Inputs, group: str) -> pd.Series:
    import pandas as pd

    wide = _group_wide(inputs, group)
    if wide.empty:
        return pd.Series(dtype=float)
    means = inputs.means
    return weighted_accuracy(means[means["model"].isin(wide.index) & means["benchmark"].isin(wide.columns)])


def _entqa(inputs: Inputs, need: str, prefix: str, name: str, *, above: bool = True) -> Verdict:
    rows = inputs.read(need)
    rows = rows[_is(rows, (prefix,)) & ~_is_stand_in(rows) & rows["headline"].astype(bool)] if len(rows) else rows
    if not len(rows):
        return Verdict(UNDECIDED, "not scored, or with stand-ins alone")
    support, against, n = by_intervals(rows[f"{name}_low"], rows[f"{name}_high"], 0.0, above=above)
    values = rows[name].dropna()
    spread = f"; {_r(values.min())} to {_r(values.max())}" if len(values) else ""
    side = "above" if above else "below"
    return Verdict(all_or_one(support, against, n), f"{support} of {len(rows)} intervals {side} 0{spread}")


def _is(rows: pd.DataFrame, prefixes: tuple[str, ...]) -> pd.Series:
    return rows["metric"].str.startswith(prefixes)


def _is_stand_in(rows: pd.DataFrame) -> pd.Series:
    return rows["stand_in"] != ""


def _nan(value: float | None) -> bool:
    return value is None or math.isnan(value)


def _r(value: float | None) -> str:
    return "–" if value is None or math.isnan(value) else f"{value:.2f}".replace("-", "−")
