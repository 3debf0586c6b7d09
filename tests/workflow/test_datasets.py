"""The rules that normalise and fetch data sets, run by Snakemake."""

import json

import pytest
import yaml


@pytest.fixture
def study(tmp_path, snakemake):
    """A study of one recorded model; `run` makes targets of it with other settings laid over."""

    def run(*targets, check=True, env=None, **settings):
        config = {
            "study": {"name": "datasets", "seed": 1},
            "results": str(tmp_path / "results"),
            "hub_mirror": str(tmp_path / "hub"),
            "originals": str(tmp_path / "originals"),
            "models": [{"name": "none", "engine": "recorded", "predictions": {}}],
            "groups": {"g": {"models": ["none"], "tasks": ["open_questions"]}},
            "benchmarks": {"medtext": {}, "mimic_hospital_course": {}},
            "metrics": {"length": {}},
            **settings,
        }
        path = tmp_path / "config.yaml"
        path.write_text(yaml.safe_dump(config))
        return snakemake("--cores", "1", "--nolock", "--configfile", path, "--", *targets, check=check, env=env)

    run.results = tmp_path / "results"
    return run


def test_rows_become_items_and_a_manifest_once(study):
    target = study.results / "datasets/medtext.jsonl"
    study(target, rows="resources/demo")
    assert len(target.read_text().splitlines()) == 3
    assert json.loads(target.with_name("medtext.manifest.json").read_text())["items"] == 3
    again = study(target, rows="resources/demo")
    assert "Nothing to be done" in again.stdout + again.stderr


@pytest.mark.parametrize("entry", [{"limit": 1}, {"prompt": "resources/prompts/careqa_open.txt"}])
def test_a_changed_setting_remakes_the_items(study, entry):
    target = study.results / "datasets/medtext.jsonl"
    study(target, rows="resources/demo")
    before = target.read_text()
    study(target, rows="resources/demo", benchmarks={"medtext": entry})
    assert target.read_text() != before


def test_a_missing_mirror_is_told_in_a_sentence_and_leaves_nothing(study):
    target = study.results / "datasets/medtext.jsonl"
    failed = study(target, check=False)
    assert failed.returncode != 0
    assert "the mirror has no copy of BI55/MedText. Run `snakemake --cores 1 fetch`" in failed.stdout + failed.stderr
    assert "Traceback" not in failed.stdout + failed.stderr
    assert not list((study.results / "datasets").glob("*"))


def test_credentialed_data_leave_an_empty_file_and_the_reason(study):
    target = study.results / "datasets/mimic_hospital_course.jsonl"
    study(target)
    assert target.read_text() == ""
    manifest = json.loads(target.with_name("mimic_hospital_course.manifest.json").read_text())
    assert (manifest["available"], manifest["items"]) == (False, 0)


def test_fetch_looks_each_time_and_names_what_it_never_fetches(study):
    for _ in range(2):
        done = study("fetch", benchmarks={"mimic_hospital_course": {}})
        assert "never fetched: needs credentialed access (PhysioNet)" in done.stdout + done.stderr


def test_fetch_goes_on_past_what_fails_and_says_so(study, root, tmp_path):
    lock = (root / "resources/sources.lock.json").read_bytes()
    nowhere = {"https_proxy": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9"}
    failed = study("fetch", benchmarks={"mediqa2019": {}, "mimic_hospital_course": {}}, check=False, env=nowhere)
    output = failed.stdout + failed.stderr
    assert failed.returncode != 0
    assert "never fetched" in output
    assert "1 of 2 were not fetched" in output
    assert list((tmp_path / "originals/mediqa2019").iterdir()) == []
    assert (root / "resources/sources.lock.json").read_bytes() == lock
