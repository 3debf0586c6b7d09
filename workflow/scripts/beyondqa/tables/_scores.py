"""Tables of scores: models in rows, benchmarks and metrics in columns, each cell with its interval."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..benchmarks.base import Benchmark
from ..relaxed_perplexity import one_signature, signature_of
from ..statistics.inputs import Inputs, stand_in_label, stand_in_notes
from ..statistics.published import PUBLISHED_COLUMNS, beside_published
from .base import MISSING, Sheet, Table, explanation

if TYPE_CHECKING:
    import pandas as pd

# Families that the papers' tables have -> what a reader may look for, with the checkpoint it needs.
FAMILIES = {
    "likelihood": "log-likelihoods (accuracy, perplexity)",
    "lexical": "ROUGE and BLEU",
    "bertscore": "BERTScore (roberta-large)",
    "moverscore": "MoverScore (distilbert-base-uncased)",
    "bleurt": "BLEURT (lucadiliello/bleurt-base-512)",
    "radgraph": "F1-RadGraph (radgraph)",
    "relaxed": "Relaxed Perplexity",
    "judge": "Prometheus (prometheus-eval/prometheus-7b-v2.0)",
}
PUBLISHED = "resources/published/scores.csv"
OPEN_FAMILIES = ("lexical", "bertscore", "moverscore", "bleurt")
CELL_COLUMNS = (
    "model",
    "benchmark",
    "metric",
    "label",
    "mean",
    "ci_low",
    "ci_high",
    "ci_unit",
    "mean_answered",
    "n",
    "n_null",
    "n_empty",
    "n_truncated",
    "n_cut",
    "n_prompt_cut",
    "n_unparsed",
    "n_invalid",
    "n_tie",
    "higher_is_better",
    "stand_in",
    "derived_from",
    "reason",
)


PERPLEXITY = (
    "Perplexities and bits per byte of the reference alone, pooled over the benchmark's items: the question is not in "
    "the context."
)
JUDGE = "Mean score of the judge, 1 to 5, over the items of each benchmark, greedy answers."
ANSWERS = "Means of the n-gram and semantic metrics over the items of each benchmark, greedy answers."

Keep = Callable[["pd.DataFrame"], "pd.Series"]


def headline(means: pd.DataFrame) -> pd.Series:
    """Rows of the metrics that the papers' tables show."""
    return means["headline"].astype(bool)


def scores_table(
    number: int,
    slug: str,
    title: str,
    caption: str,
    *,
    covers: Callable[[Benchmark], bool],
    families: tuple[str, ...],
    keep: Keep = headline,
    benchmarks_across: bool = False,
) -> Table:
    """A numbered table of paper 1 that holds scores."""
    return Table(
        name=f"table{number:02}",
        slug=f"table{number:02}_{slug}",
        title=f"Table {number}: {title}",
        caption=caption,
        covers=covers,
        families=families,
        resources=(PUBLISHED,),
        build=functools.partial(scores_sheet, families=families, keep=keep, benchmarks_across=benchmarks_across),
    )


def scores_sheet(
    inputs: Inputs, *, families: Sequence[str], keep: Keep = headline, benchmarks_across: bool = False
) -> Sheet:
    """A table of means for the covered benchmarks; `keep` selects rows of the means.

    The metrics are the
    columns and the benchmarks stand in blocks of rows; with `benchmarks_across`, for a table of one metric, the
    benchmarks are the columns. Models without any score
    keep their row. Families that the paper's table has and this study does not are named in the notes.
    """
    absent = _absent(inputs, families)
    if not inputs.benchmarks:
        return explanation("No benchmark of this table is in the study.")
    means = inputs.means
    if len(means):
        means = means[keep(means)]
    if not len(means):
        return explanation("No score for this table is in the study.", *absent)
    if relaxed := [name for name in means["metric"] if name.startswith("relaxed_")]:
        one_signature(map(signature_of, relaxed))
    data = means.assign(derived_from=means["model"].map(lambda m: inputs.models[m].get("derived_from") or ""))
    data = beside_published(data, inputs.files["resources"][0])[[*CELL_COLUMNS, *PUBLISHED_COLUMNS]]
    display, links = _by_benchmark(data, inputs) if benchmarks_across else _by_metric(data, inputs)
    return Sheet(data.reset_index(drop=True), display, tuple([*_notes(data, inputs), *absent]), links)


def perplexities(means: pd.DataFrame) -> pd.Series:
    """Rows of the three perplexities of the reference alone, as paper 1 has them."""
    return headline(means) & (means["group"] == "perplexity")


def cell_text(mean: float, low: float, high: float, published: float = math.nan) -> str:
    """A mean with its interval and the figure that others published, as far as there are any."""
    if math.isnan(mean):
        return MISSING
    text = number(mean) if math.isnan(low) else f"{number(mean)} [{number(low)}, {number(high)}]"
    return text if math.isnan(published) else f"{text} (published: {number(published)})"


def number(value: float) -> str:
    """A number for display: three decimals below 10, then as many as make sense."""
    size = abs(value)
    if size < 10:
        return f"{value:.3f}"
    if size < 1000:
        return f"{value:.1f}"
    return f"{value:,.0f}"


Laid = tuple["pd.DataFrame", tuple[tuple[str, ...], ...]]


def _by_metric(data: pd.DataFrame, inputs: Inputs) -> Laid:
    import pandas as pd

    labels = _labels(data)
    rows, links = [], []
    for benchmark in _kept(inputs.benchmarks, data["benchmark"]):
        part = data[data["benchmark"] == benchmark].set_index(["model", "metric"])
        for model in _kept(inputs.models, data["model"]):
            cells = {labels[m]: _cell(part, (model, m)) for m in labels}
            rows.append({"Benchmark": inputs.title(benchmark), "Model": inputs.label(model), **cells})
            links.append(("", "", *[f"{model}\t{benchmark}"] * len(labels)))
    return pd.DataFrame(rows), tuple(links)


def _by_benchmark(data: pd.DataFrame, inputs: Inputs) -> Laid:
    import pandas as pd

    cells = data.set_index(["model", "benchmark"])
    benchmarks = _kept(inputs.benchmarks, data["benchmark"])
    models = _kept(inputs.models, data["model"])
    rows = [
        {"Model": inputs.label(model), **{inputs.title(b): _cell(cells, (model, b)) for b in benchmarks}}
        for model in models
    ]
    return pd.DataFrame(rows), tuple(("", *(f"{model}\t{b}" for b in benchmarks)) for model in models)


def _cell(indexed: pd.DataFrame, key: tuple[str, str]) -> str:
    if key not in indexed.index:
        return MISSING
    row = indexed.loc[key]
    return cell_text(row["mean"], row["ci_low"], row["ci_high"], row["published"])


def _labels(data: pd.DataFrame) -> dict[str, str]:
    """Metric -> column head, unique: where two metrics share a label the full name stands in for it."""
    first = data.drop_duplicates("metric").set_index("metric")
    labels = {m: stand_in_label(first.at[m, "label"], first.at[m, "stand_in"]) for m in first.index}
    shared = {label for label in labels.values() if list(labels.values()).count(label) > 1}
    return {m: stand_in_label(m, first.at[m, "stand_in"]) if label in shared else label for m, label in labels.items()}


def _notes(data: pd.DataFrame, inputs: Inputs) -> list[str]:
    first = data.drop_duplicates("metric")
    stand_ins = {row.label: row.stand_in for row in first.itertuples()}
    lower = [row.label for row in first.itertuples() if not row.higher_is_better]
    notes = ["In brackets: 95 % bootstrap interval over the benchmark's items, the same resamples for every model."]
    if lower and len(lower) < len(first):
        notes.append(f"Lower is better for {', '.join(lower)}; higher is better for the rest.")
    elif lower:
        notes.append("Lower is better.")
    notes += inputs.model_notes(list(data["model"])) + inputs.benchmark_notes(list(data["benchmark"]))
    notes += inputs.twin_notes(list(dict.fromkeys(data["benchmark"])))
    notes += stand_in_notes(stand_ins)
    empty = data.groupby(["model", "benchmark"])["n_empty"].max()
    if empty.sum():
        notes.append(
            f"{int(empty.sum())} empty answers count with the metric's floor, not as missing; "
            "the CSV has the means without them as mean_answered."
        )
    cut = data.groupby(["benchmark", "model"], sort=False)["n_prompt_cut"].max()
    cut = [
        f"{count} of {inputs.title(b)} on the {inputs.benchmarks[b]['truncation_side']} ({inputs.label(m)})"
        for (b, m), count in cut[cut > 0].items()
    ]
    notes += [f"Prompts that exceeded the model's context and were cut: {', '.join(cut)}."] * bool(cut)
    undefined = data[data["mean"].isna()]
    if len(undefined):
        named = sorted({f"{row.label} of {inputs.label(row.model)}: {row.reason}" for row in undefined.itertuples()})
        notes.append(f"{MISSING} marks {'; '.join(named)}.")
    sources = sorted({source.split(",")[0] for source in data["published_source"].dropna()})
    if sources:
        notes.append(f"Published: other runs with other software ({'; '.join(sources)}); the CSV has the differences.")
    return notes + _gaps(data, inputs)


def _gaps(data: pd.DataFrame, inputs: Inputs) -> list[str]:
    there = set(zip(data["model"], data["benchmark"], strict=True))
    missing = [
        f"{inputs.label(m)} on {inputs.title(b)}"
        for m in _kept(inputs.models, data["model"])
        for b in inputs.benchmarks
        if (m, b) not in there
    ]
    silent = [inputs.label(m) for m in inputs.models if m not in set(data["model"])]
    notes = [f"No scores: {', '.join(missing)}."] * bool(missing)
    return notes + [f"Models without any score here: {', '.join(silent)}."] * bool(silent)


def _absent(inputs: Inputs, families: Sequence[str]) -> list[str]:
    present = set(inputs.families)
    missing = [FAMILIES[f] for f in families if f in FAMILIES and f not in present]
    return [f"Not scored in this study: {', '.join(missing)}."] * bool(missing)


def _kept(order, names) -> list[str]:
    present = set(names)
    return [name for name in order if name in present]
