"""The report: one file that loads nothing, shows model output as text, and opens records behind a cell."""

import base64
import hashlib
import html
import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from beyondqa.figures._style import message
from beyondqa.figures.base import Drawing, Figure
from beyondqa.figures.base import write as write_figure
from beyondqa.items import Generation, LogLikelihood, MultipleChoiceItem, OpenItem, Score
from beyondqa.metrics.base import Metric
from beyondqa.records import scores_frame, write_csv, write_json, write_parquet, write_records
from beyondqa.report import facts
from beyondqa.report.content import content
from beyondqa.report.page import command, page
from beyondqa.report.picture import workflow_picture
from beyondqa.report.records import ITEMS, LONGEST, sample
from beyondqa.statistics.aggregation import means
from beyondqa.statistics.inputs import Inputs
from beyondqa.statistics.scores import metrics_metadata, read_with_metrics
from beyondqa.tables import get
from beyondqa.tables.base import write as write_table

HOSTILE = '<script>document.title="owned"</script><img src=x onerror=alert(1)>\u2028</SCRIPT ><!--'
ROUGE = Metric("rouge1[nostem]", "ROUGE-1", True, 0.0, 1.0, floor=0.0)
STAND_IN = Metric("bertscore_f1[mini]", "BERTScore (mini)", True, -1.0, 1.0, stand_in="roberta-large")
METRICS = {m.name: m for m in (ROUGE, STAND_IN)}


@pytest.fixture
def study(tmp_path):
    """A study of one model and one benchmark as files, and what `content` takes."""
    items = [OpenItem(f"careqa_open:{i}", "careqa_open", "q", "r" * (LONGEST + 5), f"prompt {i}") for i in range(5)]
    write_records(tmp_path / "items.jsonl", items)
    write_records(
        tmp_path / "greedy.jsonl",
        [Generation(item.id, "careqa_open", "model", "greedy", 0, HOSTILE, "length") for item in items],
    )
    flags = ("empty",)
    scores = [
        Score(item.id, "careqa_open", "model", "greedy", 0, m, 0.25, 1.0, flags) for item in items for m in METRICS
    ]
    write_parquet(tmp_path / "scores.parquet", scores_frame(scores), metrics_metadata(METRICS))
    write_csv(tmp_path / "means.csv", means(*read_with_metrics([tmp_path / "scores.parquet"]), {}, seed=1))
    manifest = {
        "benchmark": "careqa_open",
        "title": "CareQA-Open",
        "items": 5,
        "licence": "Apache-2.0",
        "available": True,
        "partial": True,
        "partial_reason": "the first 5 of 2769 items",
        "source": {"repository": "HPAI-BSC/CareQA", "revision": "65aab87"},
    }
    write_json(tmp_path / "careqa_open.manifest.json", manifest)
    (tmp_path / "published.csv").write_text("model,benchmark,metric,published,source\n")
    models = {"model": {"label": "<b>model</b>", "derived_from": "", "noise": None}}
    inputs = Inputs(
        {
            "means": [tmp_path / "means.csv"],
            "manifests": [tmp_path / "careqa_open.manifest.json"],
            "resources": [tmp_path / "published.csv"],
        },
        models,
        {"careqa_open": {"title": "CareQA-Open", "task": "open_questions", "kind": "open"}},
        ["lexical"],
    )
    write_table(get("table16"), get("table16").build(inputs), tmp_path / "table16")
    figure = Figure(
        name="figure99",
        slug="figure99",
        title="Figure 99",
        caption="caption",
        covers=lambda b: True,
        draw=lambda inputs: None,
    )
    write_figure(figure, Drawing(message("text"), scores_frame(scores)), tmp_path / "figure99")
    found = sample([tmp_path / "items.jsonl"], [tmp_path / "greedy.jsonl"], [tmp_path / "scores.parquet"], [], seed=1)
    write_json(tmp_path / "records.json", found)
    files = {
        "tables": [str(tmp_path / "table16.json")],
        "figures": [str(tmp_path / "figure99.json")],
        "means": [str(tmp_path / "means.csv")],
        "manifests": [str(tmp_path / "careqa_open.manifest.json")],
        "records": [str(tmp_path / "records.json")],
    }
    (tmp_path / "costs").mkdir()
    (tmp_path / "costs" / "score.tsv").write_text("s\th:m:s\tmax_rss\n1.5\t0:00:01\t120.5\n")
    described = {
        "name": "study & <co>",
        "seed": 1,
        "configfiles": ["config/demo.yaml"],
        "models": {"model": {**models["model"], "identity": "id", "engine": "e", "family": "f", "parameters": 1}},
        "benchmarks": ["careqa_open"],
        "layers": [{"title": "Data", "boxes": [{"id": "d", "label": "data sets", "detail": "1 benchmark"}]}],
        "arrows": [["d", "nowhere"]],
        "absent": [],
        "costs": str(tmp_path / "costs"),
    }
    return files, described


@pytest.fixture
def report(study):
    return page(content(*study))


def test_nothing_that_models_or_data_say_is_markup(report):
    assert 'document.title="owned"' not in report
    assert "<img src=x" not in report
    assert "<b>model</b>" not in report
    assert html.escape("<b>model</b>") in report
    assert "study &amp; &lt;co&gt;" in report


def test_policy_names_the_one_script_and_the_one_style(report):
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', report).group(1))
    for tag in ("style", "script"):
        (inline,) = re.findall(rf"<{tag}>(.*?)</{tag}>", report, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_the_file_loads_nothing_and_has_no_handler(report):
    seen = []

    class Attributes(HTMLParser):
        def handle_starttag(self, tag, attributes):
            seen.extend((tag, name, value) for name, value in attributes)

    Attributes().feed(report)
    assert len(seen) > 50
    for tag, name, value in seen:
        assert not name.startswith("on"), (tag, name)
        assert name not in ("style", "srcset", "action"), (tag, name)
        assert name not in ("src", "href") or value.startswith(("#", "data:")), (tag, name, value)
    style = re.search(r"<style>(.*?)</style>", report, re.DOTALL).group(1)
    assert "url(" not in style
    assert "@import" not in style


def test_overview_warnings_and_facts_say_what_the_run_was(report):
    text = html.unescape(report)
    assert "1 of 1 benchmarks are partial: the first 5 of 2769 items." in text
    assert "Metrics marked ‡ stand in for the papers' own" in text
    assert "HPAI-BSC/CareQA" in text
    assert "snakemake table16 --profile profiles/local --configfile config/demo.yaml" in text
    assert "figure99.csv" in text
    assert "Git commit:" in text


def test_warnings_count_answers_once_and_scores_by_metric(study):
    files, _ = study
    frame = facts.read_means(files["means"])
    assert [(row["empty"], row["n"]) for row in facts.answer_warnings(frame)] == [(5, 5)]
    assert facts.metric_warnings(frame) == []
    assert facts.stand_ins(frame) == [{"metric": "bertscore_f1[mini]", "stand_in": "roberta-large"}]


def test_costs_add_up_by_kind_of_job(tmp_path):
    for name, seconds, memory in (("a", 1.5, 100.0), ("b", 2.5, 300.0)):
        path = tmp_path / "scores" / "lexical" / f"{name}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"s\th:m:s\tmax_rss\n{seconds}\t0:00:01\t{memory}\n")
    (tmp_path / "report.tsv").write_text("s\th:m:s\tmax_rss\n0.5\t0:00:00\t-\n")
    assert facts.rule_costs(tmp_path) == [
        {"kind": "report", "jobs": 1, "seconds": 0.5, "memory": None},
        {"kind": "scores/lexical", "jobs": 2, "seconds": 4.0, "memory": 300},
    ]


def test_records_are_a_bounded_sample_with_everything_beside_the_answer(study, tmp_path):
    found = json.loads((tmp_path / "records.json").read_text())
    assert len(found["items"]) == len(found["records"]) == ITEMS
    record = found["records"][0]
    assert record["answer"] == HOSTILE
    assert record["values"] == {"rouge1[nostem]": 0.25, "bertscore_f1[mini]": 0.25}
    assert (record["flags"], record["finish"]) == (["empty"], "length")
    reference = found["items"][record["item"]]["reference"]
    assert reference.endswith("[… 5 characters more]")


def test_records_of_multiple_choice_show_the_options_and_their_likelihoods(tmp_path):
    item = MultipleChoiceItem("medqa:1", "medqa", "q", ("yes", "no"), (" A", " B"), 1, "prompt")
    write_records(tmp_path / "items.jsonl", [item])
    likelihoods = [LogLikelihood("medqa:1", "medqa", "m", "option", i, (-1.5 * (i + 1),), False) for i in (0, 1)]
    others = [LogLikelihood("medqa:999", "medqa", "m", "option", 0, (-1.0,), False)]
    write_records(tmp_path / "l.jsonl", [*likelihoods, *others])
    found = sample([tmp_path / "items.jsonl"], [tmp_path / "l.jsonl"], [], [], seed=1)
    assert found["items"]["medqa:1"]["gold"] == 1
    assert found["records"] == [{"item": "medqa:1", "model": "m", "options": {0: -1.5, 1: -3.0}}]


def test_arrows_go_from_box_to_box():
    layers = [{"title": t, "boxes": [{"id": t, "label": t, "detail": ""}]} for t in ("a", "b")]
    picture = workflow_picture(layers, [("a", "b"), ("a", "gone")])
    assert len(picture["arrows"]) == 1
    assert [box["id"] for box in picture["boxes"]] == ["a", "b"]
    assert picture["boxes"][0]["x"] + picture["box_width"] < picture["boxes"][1]["x"]


def test_the_target_stands_before_options_that_would_swallow_it():
    assert command("table07", []) == "snakemake table07 --profile profiles/local"
    assert command("table07", ["a.yaml"]).split().index("table07") == 1


@pytest.fixture
def browser():
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        reason = "no browser is installed"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


def opened(browser, path, profile, fragment=""):
    """The page's document after its script ran, and what it wrote to the console."""
    quiet = ["quic", "component-update", "background-networking", "sync", "gpu"]
    process = subprocess.run(
        [
            browser,
            "--headless",
            "--no-sandbox",
            "--no-first-run",
            *(f"--disable-{name}" for name in quiet),
            f"--user-data-dir={profile}",
            "--enable-logging=stderr",
            "--dump-dom",
            f"{path.as_uri()}{fragment}",
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    return process.stdout, [line for line in process.stderr.splitlines() if "CONSOLE" in line]


def test_a_browser_shows_records_as_text_and_has_no_complaint(report, browser, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(report, encoding="utf-8")
    document, console = opened(browser, path, tmp_path / "profile", "#records=model%09careqa_open")
    assert console == []
    assert re.search(r"<dialog[^>]* open", document)
    assert "model, careqa_open: 3 of its records" in document
    assert html.escape('<script>document.title="owned"</script>', quote=False) in document
    assert "<title>Beyond-QA:" in document


def test_a_browser_sees_that_a_second_script_would_not_run(report, browser, tmp_path):
    """The judge of the test above: with a script smuggled in, the policy complains and the title stays."""
    path = tmp_path / "report.html"
    path.write_text(report.replace("<main>", '<script>document.title="owned"</script><main>'), encoding="utf-8")
    document, console = opened(browser, path, tmp_path / "profile")
    assert "<title>owned" not in document
    assert any("Content Security Policy" in line for line in console)


def test_recorded_predictions_that_are_not_joined_are_told_as_text(study, tmp_path):
    files, described = study
    join = {
        "model": "model",
        "benchmark": "careqa_open",
        "files": "answers.csv",
        "joined by": "id",
        "predictions": 1006,
        "items": 5,
        "joined items": 5,
        "faults": [],
    }
    path = tmp_path / "joins.json"

    def block(faults, unnamed):
        write_json(path, {"joins": [{**join, "faults": faults}], "unnamed": {"model": unnamed}})
        shown = content({**files, "joins": [path]}, described)
        return next(part for part in shown["warnings"] if part["title"] == "Recorded predictions"), page(shown)

    whole, _ = block([], [])
    assert whole["rows"] == []
    assert whole["text"].startswith("1,006 predictions were read from files")
    part, html_page = block(
        [f"1 of 1006 predictions match no item's id: {HOSTILE}", "2 of 5 items have none: a"], ["olaph"]
    )
    assert dict(zip(part["columns"], part["rows"][0], strict=True)) == {
        **{key: value for key, value in join.items() if key != "faults"},
        "remark": f"1 of 1006 predictions match no item's id: {HOSTILE}; 2 of 5 items have none: a",
    }
    assert part["rows"][1] == ["model", "olaph", "", "", "", "", "", "no file of predictions is named"]
    assert "<img src=x" not in html_page
    assert html.escape("<img src=x") in html_page


def test_a_study_without_recorded_predictions_says_so(study):
    (part,) = [part for part in content(*study)["warnings"] if part["title"] == "Recorded predictions"]
    assert (part["text"], part["rows"]) == ("No prediction was read from a file.", [])
