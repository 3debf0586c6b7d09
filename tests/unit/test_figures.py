"""Figures: the numbers that they draw, their gaps, and that equal numbers give equal files."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from beyondqa import figures
from beyondqa.figures._style import coefficient
from beyondqa.figures.base import write
from beyondqa.items import Score
from beyondqa.metrics.base import Metric
from beyondqa.records import scores_frame, write_csv, write_parquet
from beyondqa.statistics.dispersion import dispersion
from beyondqa.statistics.inputs import Inputs
from beyondqa.statistics.matrices import analyse_metrics, benchmark_matrix
from beyondqa.statistics.scores import metrics_metadata, read_with_metrics

ROUGE = Metric("rouge1[nostem]", "ROUGE-1", True, 0.0, 1.0, floor=0.0)
BLEU = Metric("bleu[evaluate,13a,nosmooth]", "BLEU", True, 0.0, 1.0, floor=0.0)
WORD = Metric("word_perplexity", "Word perplexity", False, 1.0, None, transform="exp", group="perplexity")
METRICS = {m.name: m for m in (ROUGE, BLEU, WORD)}
BENCHMARKS = {
    name: {"title": title, "task": task, "kind": kind}
    for name, title, task, kind in [
        ("medtext", "MedText", "diagnosis_treatment", "open"),
        ("careqa_open", "CareQA-Open", "open_questions", "open"),
        ("mediqa2019", "MEDIQA2019", "open_questions", "open"),
        ("medqa", "MedQA", "multiple_choice", "multiple_choice"),
        ("medmcqa", "MedMCQA", "multiple_choice", "multiple_choice"),
        ("olaph", "OLAPH", "factuality", "open"),
    ]
}


def models(n):
    return {f"m{i}": {"label": f"model {i}", "derived_from": "", "noise": None, "family": "x"} for i in range(n)}


def simulated(n_models, benchmark, metrics=(ROUGE, BLEU, WORD), seed=1):
    random = np.random.default_rng(seed)
    rows = []
    for m in range(n_models):
        quality = random.normal()
        for metric in metrics:
            own = random.normal()
            for i in range(12):
                value = float(1 / (1 + np.exp(-quality - own - random.normal())))
                rows.append(Score(f"{benchmark}:{i}", benchmark, f"m{m}", "greedy", 0, metric.name, value))
    return rows


@pytest.fixture
def read(tmp_path):
    def made(rows):
        write_parquet(tmp_path / "s.parquet", scores_frame(rows), metrics_metadata(METRICS))
        return read_with_metrics([tmp_path / "s.parquet"])

    return made


@pytest.fixture
def inputs(tmp_path):
    def made(n_models, benchmarks, groups=None, resources=(), **frames):
        files = {}
        for need, frame in frames.items():
            write_csv(tmp_path / f"{need}.csv", frame)
            files[need] = [tmp_path / f"{need}.csv"]
        covered = {name: BENCHMARKS[name] for name in benchmarks}
        return Inputs({**files, "resources": resources}, models(n_models), covered, ["lexical"], groups or {})

    return made


def analysed(read, n_models, benchmark, **options):
    scores, metrics = read(simulated(n_models, benchmark, **options))
    return analyse_metrics(scores, metrics, {}, {f"m{i}": "x" for i in range(n_models)}, seed=1, draws=20, splits=20)


def test_figure_10_draws_pearsons_r_of_the_means(read, inputs):
    rows = simulated(7, "medtext")
    scores, metrics = read(rows)
    found = analyse_metrics(scores, metrics, {}, {}, seed=1, draws=20, splits=20)
    drawing = figures.get("figure10").draw(inputs(7, ["medtext"], metric_correlations=found.pairs))
    frame = pd.DataFrame([(r.model, r.metric, r.value) for r in rows], columns=["model", "metric", "value"])
    wide = frame.groupby(["model", "metric"])["value"].mean().unstack("metric")
    drawn = drawing.data.set_index(["a", "b"])
    for (a, b), row in drawn.iterrows():
        # Weights are 1, so that a log-perplexity is the plain mean of the per-item nats.
        assert row["pearson"] == pytest.approx(stats.pearsonr(wide[a], wide[b]).statistic)
    assert len(drawn) == 3
    texts = [t.get_text() for t in drawing.picture.axes[0].texts]
    assert coefficient(drawn["pearson"].iloc[0]) in texts


def test_figure_10_without_models_says_why(read, inputs):
    found = analysed(read, 2, "medtext")
    drawing = figures.get("figure10").draw(inputs(2, ["medtext"], metric_correlations=found.pairs))
    assert drawing.notes[0] == "No correlation can be drawn: n = 2: no coefficient below 4."


def test_a_constant_metric_blanks_its_cells_alone(read, inputs):
    rows = [r for r in simulated(8, "medtext") if r.metric != BLEU.name]
    rows += [
        Score(f"medtext:{i}", "medtext", f"m{m}", "greedy", 0, BLEU.name, 0.5) for m in range(8) for i in range(12)
    ]
    scores, metrics = read(rows)
    found = analyse_metrics(scores, metrics, {}, {}, seed=1, draws=20, splits=20)
    drawing = figures.get("figure10").draw(inputs(8, ["medtext"], metric_correlations=found.pairs))
    assert drawing.data["pearson"].notna().sum() == 1
    assert "Without a coefficient (not drawn: BLEU): a column is constant." in drawing.notes


def test_siblings_are_the_same_figure_about_another_benchmark(read, inputs):
    found = analysed(read, 6, "careqa_open")
    sibling = figures.get("figure10", "careqa_open", "CareQA-Open")
    assert (sibling.name, sibling.module) == ("figure10_careqa_open", "figure10")
    drawing = sibling.draw(inputs(6, ["careqa_open"], metric_correlations=found.pairs))
    assert set(drawing.data["benchmark"]) == {"careqa_open"}


def test_figure_18_ranks_the_best_first_in_either_direction(inputs):
    means = pd.DataFrame(
        {
            "model": ["m0", "m1", "m2"] * 2,
            "benchmark": "olaph",
            "metric": ["rouge1[nostem]"] * 3 + ["word_perplexity"] * 3,
            "label": ["ROUGE-1"] * 3 + ["Word perplexity"] * 3,
            "mean": [0.1, 0.3, 0.2, 10.0, 30.0, 20.0],
            "ci_low": np.nan,
            "ci_high": np.nan,
            "n": 5,
            "higher_is_better": [True] * 3 + [False] * 3,
            "headline": True,
            "stand_in": "",
        }
    )
    data = figures.get("figure18").draw(inputs(3, ["olaph"], means=means)).data
    ranks = data.pivot(index="model", columns="metric", values="rank")
    assert ranks["rouge1[nostem]"].tolist() == [3, 1, 2]
    assert ranks["word_perplexity"].tolist() == [1, 3, 2]


def test_figure_18_orders_its_rows_by_the_metrics_of_quality(inputs):
    """The longest answers of m0 do not lift it."""
    values = {"rouge1[nostem]": [0.1, 0.2, 0.3], "length[words]": [900.0, 10.0, 20.0]}
    rows = [
        {"model": f"m{i}", "metric": metric, "label": metric, "mean": value}
        for metric, means in values.items()
        for i, value in enumerate(means)
    ]
    means = pd.DataFrame(rows).assign(
        benchmark="olaph", ci_low=np.nan, ci_high=np.nan, n=5, higher_is_better=True, headline=True, stand_in=""
    )
    axes = figures.get("figure18").draw(inputs(3, ["olaph"], means=means)).picture.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["model 2", "model 1", "model 0"]
    assert {text.get_text() for text in axes.texts} == {"1", "2", "3"}


def test_figure_8_leaves_unrated_models_out_of_the_elo_cells_alone(inputs, root):
    names = ["gemma-2-9b-it", "Llama-3.1-8B-Instruct", "Qwen1.5-7B-Chat", "Phi-3-mini-4k-instruct", "Yi-1.5-9B-Chat"]
    accuracy = {"medqa": [0.6, 0.5, 0.4, 0.45, 0.55], "medmcqa": [0.5, 0.55, 0.35, 0.4, 0.52]}
    means = pd.DataFrame(
        [
            {"model": m, "benchmark": b, "metric": "accuracy", "mean": v, "headline": True}
            for b, values in accuracy.items()
            for m, v in zip(names, values, strict=True)
        ]
    )
    elo = root / "resources/elo/chatbot_arena_2024-10-15.csv"
    made = inputs(0, ["medqa", "medmcqa"], {"small_elo": names}, [elo], means=means)
    made = Inputs(made.files, {m: {"label": m, "derived_from": ""} for m in names}, made.benchmarks, [], made.groups)
    drawing = figures.get("figure08").draw(made)
    drawn = drawing.data.set_index(["a", "b"])
    # Ratings of 2024-10-15, Yi-1.5-9B unrated: Gemma 1189.4, Llama 1172.5, Qwen1.5 1070.2, Phi-3-mini 1066.1.
    expected = stats.pearsonr([0.6, 0.5, 0.4, 0.45], [1189.4, 1172.5, 1070.2, 1066.1]).statistic
    assert drawn.loc[("medqa", "elo"), "pearson"] == pytest.approx(expected)
    assert drawn.loc[("medqa", "elo"), "n"] == 4
    assert drawn.loc[("medqa", "medmcqa"), "n"] == 5
    assert "Without a rating: Yi-1.5-9B-Chat." in drawing.notes


def test_figure_8_without_any_rating_draws_the_benchmarks_alone(inputs, root):
    random = np.random.default_rng(5)
    means = pd.DataFrame(
        [
            {"model": f"m{m}", "benchmark": b, "metric": "accuracy", "mean": random.random(), "headline": True}
            for m in range(6)
            for b in ("medqa", "medmcqa")
        ]
    )
    groups, elo = {"small_elo": [f"m{m}" for m in range(6)]}, root / "resources/elo/chatbot_arena_2024-10-15.csv"
    drawing = figures.get("figure08").draw(inputs(6, ["medqa", "medmcqa"], groups, [elo], means=means))
    axes = drawing.picture.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["MedQA", "MedMCQA"]
    assert "Without a coefficient (not drawn: Elo): n = 0: no coefficient below 4." in drawing.notes


def test_figure_11_draws_one_metric_over_benchmarks(inputs):
    random = np.random.default_rng(2)
    rows = [
        {"model": f"m{m}", "benchmark": b, "metric": "bertscore_f1[mini,L6]", "mean": random.random()}
        for m in range(6)
        for b in ("medtext", "olaph")
    ]
    means = pd.DataFrame(rows).assign(
        label="BERTScore", stand_in="", headline=True, transform="identity", higher_is_better=True
    )
    wide = means.pivot(index="model", columns="benchmark", values="mean")
    drawing = figures.get("figure11").draw(
        inputs(6, ["medtext", "olaph"], benchmark_correlations=benchmark_matrix(means))
    )
    assert drawing.data.loc[0, "pearson"] == pytest.approx(stats.pearsonr(wide["medtext"], wide["olaph"]).statistic)


def test_figure_13_averages_over_models_before_it_draws(inputs, tmp_path):
    random = np.random.default_rng(3)
    rows = [
        Score(f"mediqa2019:{i}", "mediqa2019", f"m{m}", variant, k, ROUGE.name, float(random.random()))
        for m in range(2)
        for i in range(5)
        for variant, k in (("greedy", 0), ("rephrasing", 0), ("rephrasing", 1))
    ]
    frame = dispersion(scores_frame(rows), METRICS)
    write_parquet(tmp_path / "d.parquet", frame, metrics_metadata({ROUGE.name: ROUGE}))
    made = Inputs({"resilience": [tmp_path / "d.parquet"]}, models(2), {"mediqa2019": BENCHMARKS["mediqa2019"]})
    data = figures.get("figure13").draw(made).data.set_index("statistic")
    values = np.array([r.value for r in rows])
    per_cell = np.var(values.reshape(2, 5, 3), axis=2) / np.ptp(values) ** 2
    per_item = per_cell.mean(axis=0)
    assert data.loc["variance_by_squared_range", "mean"] == pytest.approx(per_item.mean())
    assert data.loc["variance_by_squared_range", "median"] == pytest.approx(np.median(per_item))
    assert data.loc["variance_by_squared_range", "n_items"] == 5


def test_figure_13_sets_two_rephrasers_beside_each_other(inputs, tmp_path):
    """A panel a rephraser: its own variances, divided by the range of the answers and its own rephrasings."""
    random = np.random.default_rng(4)
    greedy = random.random((2, 5, 1))
    files, cubes = {}, {}
    for kind, rephraser, spread in (("resilience", "first", 0.1), ("resilience_again", "second", 0.3)):
        cubes[rephraser] = cube = np.concatenate([greedy, greedy + spread * random.random((2, 5, 2))], axis=2)
        rows = [
            Score(
                f"mediqa2019:{i}", "mediqa2019", f"m{m}", "rephrasing" if k else "greedy", max(0, k - 1), ROUGE.name, v
            )
            for (m, i, k), v in np.ndenumerate(cube)
        ]
        frame = dispersion(scores_frame(rows), METRICS, rephraser=rephraser)
        write_parquet(tmp_path / f"{kind}.parquet", frame, metrics_metadata({ROUGE.name: ROUGE}))
        files[kind] = [tmp_path / f"{kind}.parquet"]
    made = Inputs(files, models(2), {"mediqa2019": BENCHMARKS["mediqa2019"]})
    drawing = figures.get("figure13").draw(made)
    data = drawing.data.set_index(["rephraser", "statistic"])
    for rephraser, cube in cubes.items():
        expected = (cube.var(axis=2) / np.ptp(cube) ** 2).mean(axis=0)
        assert data.loc[(rephraser, "variance_by_squared_range"), "mean"] == pytest.approx(expected.mean())
    assert [axes.get_title() for axes in drawing.picture.axes] == ["first", "second"]
    assert drawing.picture.axes[0].get_xlim() == drawing.picture.axes[1].get_xlim()
    alone = figures.get("figure13").draw(Inputs({"resilience": files["resilience"]}, made.models, made.benchmarks))
    assert "Rephraser: first." in alone.notes
    assert len(alone.picture.axes) == 1


def test_the_same_numbers_give_the_same_bytes(read, inputs, tmp_path):
    found = analysed(read, 6, "medtext")
    for name in ("a", "b"):
        figure = figures.get("figure10")
        write(figure, figure.draw(inputs(6, ["medtext"], metric_correlations=found.pairs)), tmp_path / name)
    for suffix in ("pdf", "png", "csv", "json"):
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes(), suffix
    assert b"CreationDate" not in (tmp_path / "a.pdf").read_bytes()


@pytest.mark.parametrize(
    ("value", "text"), [(0.5, ".50"), (-0.5, "−.50"), (1.0, "1.00"), (-0.001, ".00"), (-1, "−1.00")]
)
def test_coefficients_as_readers_of_papers_know_them(value, text):
    assert coefficient(value) == text


def test_every_numbered_figure_is_there_and_can_say_that_it_has_nothing():
    names = {f"figure{n:02}" for n in [1, 2, *range(8, 19)]}
    for name in sorted(names):
        drawing = figures.get(name).draw(Inputs({"resources": ["resources/elo/none.csv"]}, {}, {}))
        assert drawing.notes, name
        assert "reason" in drawing.data, name
