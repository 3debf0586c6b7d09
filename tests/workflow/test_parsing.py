"""The workflow parses on every config, offline, and refuses a wrong one with a sentence."""

import re

import pytest
import yaml

CONFIGS = ["config/demo.yaml", "config/real_sample.yaml", "config/recorded_aci.yaml"]


def test_the_papers_study_can_be_planned(snakemake):
    output = snakemake("-n", "--quiet", "rules", "--cores", "1").stdout
    assert "infer_vllm" in output
    assert "table20" in output


@pytest.mark.parametrize("config", CONFIGS)
def test_every_config_can_be_planned(snakemake, config, tmp_path):
    snakemake("-n", "--cores", "1", "--configfile", config, "--config", f"results={tmp_path}/results")


def test_the_noise_ladder_can_be_planned_once_its_model_is_fetched(snakemake, tmp_path):
    """One model and five seeds of noise at each of three levels."""
    fetched = tmp_path / "hub/Qwen/Qwen2.5-0.5B-Instruct"
    fetched.mkdir(parents=True)
    (fetched / "config.json").write_text("{}")
    settings = (f"results={tmp_path}/results", f"hub_mirror={tmp_path}/hub")
    output = snakemake(
        "-n", "sensitivity", "--cores", "1", "--configfile", "config/noise_ladder.yaml", "--config", *settings
    ).stdout
    jobs = dict(line.split() for line in output.split("Job stats:")[-1].splitlines()[3:] if len(line.split()) == 2)
    assert jobs["derive_model"] == "15"
    assert jobs["ask_vllm_about_edits"] == "1"


def test_no_chat_template_on_any_path_of_the_papers_study(root):
    assert yaml.safe_load((root / "config.yaml").read_text())["inference"]["chat_template"] is False


def test_a_wrong_key_stops_the_run_with_a_sentence(snakemake, tmp_path, root):
    config = yaml.safe_load((root / "config/demo.yaml").read_text())
    config["inference"]["pack"] = "all"
    (tmp_path / "wrong.yaml").write_text(yaml.safe_dump(config))
    process = snakemake("-n", "--cores", "1", "--configfile", tmp_path / "wrong.yaml", check=False)
    assert process.returncode != 0
    assert "inference.pack is no key. Did you mean 'packs'?" in process.stdout + process.stderr


def test_a_second_rephraser_costs_one_job_of_its_own_and_its_scores(snakemake, tmp_path, root):
    """Nine families of the papers' study score answers for figure 13; Prometheus judges the rephrased ones too."""
    config = yaml.safe_load((root / "config.yaml").read_text())
    again = {"benchmarks": ["mediqa2019"], "rephraser": "Mixtral-8x7B-Instruct-v0.1"}
    config["inference"]["rephrased_again"] = again
    (tmp_path / "again.yaml").write_text(yaml.safe_dump(config))
    plans = [
        snakemake(
            "-n", "figure13", "--cores", "1", "--configfile", path, "--config", f"results={tmp_path}/results"
        ).stdout
        for path in (root / "config.yaml", tmp_path / "again.yaml")
    ]
    new = {
        line.strip()
        for line in set(plans[1].splitlines()) - set(plans[0].splitlines())
        if line.strip().startswith("output:") and "/inference/" in line
    }
    folder = f"output: {tmp_path}/results/inference"
    assert new == {
        f"{folder}/rephrased_again/Mixtral-8x7B-Instruct-v0.1/open_questions/1-of-1.jsonl",
        f"{folder}/judged_rephrased_again/prometheus-7b-v2.0/open_questions/1-of-1.jsonl",
    }
    assert "dispersion/resilience_again/open_questions.parquet" in plans[1]
    assert "resilience_again" not in plans[0]


def test_a_table_costs_only_what_it_needs(snakemake, tmp_path):
    """Table 20 holds accuracies: its plan has no generation, no rephrasing, no encoder."""
    output = snakemake("-n", "table20", "--cores", "1", "--config", f"results={tmp_path}/results").stdout
    assert "stage=likelihoods" in output
    for other in ("stage=greedy", "stage=samples", "stage=rephrased", "family=bertscore", "family=lexical"):
        assert other not in output


def test_the_slurm_profile_sends_every_job_with_gpus_to_one_partition(snakemake, tmp_path, root):
    """With its commented lines made valid, as README says, in the study that has every stage."""
    text = (root / "profiles/slurm/config.yaml").read_text()
    settings = re.sub(r"^( *)# (?=set-resources:|  slurm_|  +\w+: [&*]|slurm_)", r"\1", text, flags=re.M)
    profile = tmp_path / "profile"
    profile.mkdir()
    (profile / "config.yaml").write_text(settings)
    config = yaml.safe_load((root / "config.yaml").read_text())
    config["chat_template_study"] = {"models": [config["models"][0]["name"]]}
    (tmp_path / "all.yaml").write_text(yaml.safe_dump(config))
    options = (
        "--sdm",
        "env-modules",
        "--profile",
        profile,
        "--configfile",
        tmp_path / "all.yaml",
        "--config",
        f"results={tmp_path}/results",
    )
    targets = ("all", "sensitivity", "parity", "relaxed_grid", "chat_template", "entqa_thresholds")
    output = snakemake("-n", *options, "--", *targets).stdout
    jobs = re.findall(r"^(?:local)?rule (\w+):\n((?: +.*\n)+)", output, flags=re.M)
    places = {
        rule: (re.search(r"slurm_partition=(\w+)", block)[1], re.search(r"gpu_model=(\w+)", block))
        for rule, block in jobs
        if re.search(r"\bgpu=[1-9]", block)
    }
    assert {"infer_vllm", "ask_vllm_for_parity", "find_entities", "careqa_open_validation"} < places.keys()
    assert {rule: (partition, bool(model)) for rule, (partition, model) in places.items()} == dict.fromkeys(
        places, ("gpu", True)
    )
    others = {re.search(r"slurm_partition=(\w+)", block)[1] for rule, block in jobs if rule == "score"}
    assert others == {"cpu"}
