"""A config fault is one sentence that names the key, what it got and what it may be."""

import copy
from pathlib import Path

import pytest
import yaml

from beyondqa import config as study_config
from beyondqa.errors import StudyError

ROOT = Path(__file__).resolve().parents[2]
CONFIGS = [ROOT / "config.yaml", *sorted((ROOT / "config").glob("*.yaml"))]


def demo():
    return yaml.safe_load((ROOT / "config/demo.yaml").read_text())


@pytest.mark.parametrize("path", CONFIGS, ids=lambda p: p.name)
def test_every_config_of_the_project_is_valid(path):
    checked = study_config.validated(yaml.safe_load(path.read_text()))
    assert checked["inference"]["shards"] == 1


def changed(*path, value):
    config = demo()
    target = config
    for part in path[:-1]:
        target = target[part]
    target[path[-1]] = value
    return config


def recorded(**predictions):
    config = demo()
    entry = {"name": "api", "engine": "recorded", "predictions": predictions}
    groups = {"metric_study": {"models": ["api"], "tasks": ["multiple_choice", "factuality"]}}
    return {**config, "models": [entry], "groups": groups, "inference": {}}


def vllm(**entry):
    """The demo's first model answered by vLLM."""
    config = demo()
    config["models"][0] = {"name": config["models"][0]["name"], "engine": "vllm", "id": "lab/model", **entry}
    return config


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (changed("models", 0, "name", value="x\n"), r"models\[0\]\.name"),
        (changed("models", 0, "name", value="x" * 101), r"models\[0\]\.name"),
        (vllm(id="../model", parameters=7), r"models\[0\]\.id"),
        (changed("results", value="res{x}"), r"results"),
        (changed("study", "name", value="x\n"), r"study\.name"),
        (
            changed("metrics", "bertscore", value={"encoders": [{"name": "e", "id": "../../etc", "layer": 1}]}),
            r"metrics\.bertscore\.encoders\[0\]\.id is '\.\./\.\./etc'; give a Hub repository",
        ),
        (vllm(), r"models\[0\] \(.*\) lacks parameters"),
        (vllm(parameters=7, gpus=1, tensor_parallel=8), r"has tensor_parallel 8 on gpus 1"),
        (
            changed("inference", "pack", value="all"),
            r"inference\.pack is no key\. Did you mean 'packs'\? It may be one of: .*shards",
        ),
        (changed("study", "seed", value="abc"), r"study\.seed is 'abc'; it must be of type integer"),
        (
            changed("benchmarks", "carqa", value={}),
            r"benchmarks names 'carqa', which is no benchmark\. Did you mean 'careqa'",
        ),
        (changed("metrics", "rogue", value={}), r"metrics names 'rogue', which is no metric\. Did you mean 'rouge'"),
        (changed("metrics", "entqa", value={"embeder": {}}), r"metrics\.entqa has embeder, .*Did you mean 'embedder'"),
        (
            changed("metrics", "entqa", value={"variants": ["as-coded"]}),
            r"metrics\.entqa names the variant 'as-coded', .*Did you mean 'as_coded'",
        ),
        (changed("metrics", "entqa", value={"variants": []}), r"metrics\.entqa has no variants"),
        (
            changed("metrics", "entqa", value={"extractor": {"kind": "scispaCy", "name": "n"}}),
            r"names the kind 'scispaCy' of extractor, .*Did you mean 'scispacy'",
        ),
        (
            changed("metrics", "entqa", value={"extractor": {"kind": "scispacy", "name": "n"}}),
            r"metrics\.entqa has an extractor without pipeline",
        ),
        (
            changed("metrics", "entqa", value={"embedder": {"id": "l/m"}}),
            r"metrics\.entqa has an embedder without a name",
        ),
        (
            changed("metrics", "entqa_baselines", "perplexity", value={}),
            r"metrics\.entqa_baselines names 'perplexity', which compares no answer",
        ),
        (changed("inference", "packs", value="some"), r"inference\.packs is 'some'; it may be one of: task, all"),
        (
            changed("models", 1, "name", value="smollm2-135m-instruct"),
            r"models\[1\]\.name is 'smollm2-135m-instruct', and so is models\[0\]'s",
        ),
        (changed("models", 0, "engine", value="vlm"), r"models\[0\]\.engine names 'vlm', which is no engine"),
        (changed("models", 0, "name", value="../x"), r"models\[0\]\.name is '\.\./x'; it must match"),
        (changed("models", 1, "derived_from", value="nobody"), r"models\[1\]\.derived_from names 'nobody'"),
        (
            changed("groups", "entqa", "models", value=["nobody"]),
            r"groups\.entqa\.models names 'nobody', which is no model of this config",
        ),
        (
            changed("groups", "entqa", "tasks", value=["entq"]),
            r"groups\.entqa\.tasks names 'entq', which is no task\. Did you mean 'entqa'",
        ),
        (
            changed("inference", "rephrased", "rephraser", value="nobody"),
            r"inference\.rephrased\.rephraser names 'nobody'",
        ),
        (
            changed(
                "inference",
                "rephrased_again",
                value={"benchmarks": ["mediqa2019"], "rephraser": "SmolLM2-135M-Instruct"},
            ),
            r"inference\.rephrased_again\.rephraser is 'SmolLM2-135M-Instruct', and so is the first",
        ),
        (changed("models", value=[]), r"models is \[\]; it needs at least 1 element"),
        (
            changed("chat_template_study", value={"models": ["nobody"]}),
            r"chat_template_study\.models names 'nobody', which is no model of this config",
        ),
        (
            changed("inference", "relaxed_grid", value={"benchmarks": ["olaph"], "best": [5, 20]}),
            r"inference\.relaxed_grid: .*best=20.*samples=10.* wants more than there is",
        ),
        (
            changed("inference", "relaxed", value={"benchmarks": ["olaph"], "tokens": 8, "stride": 16}),
            r"inference\.relaxed: .*stride=16.* wants more than there is",
        ),
        (
            changed("models", 0, value={"name": "a", "engine": "recorded", "id": "l/m"}),
            r"models\[0\]\.predictions: the engine",
        ),
        (recorded(olap={"path": "a", "id": "i", "text": "t"}), r"predictions names 'olap', .* Did you mean 'olaph'"),
        (
            recorded(olaph={"path": "a", "id": "i"}),
            r"models\[0\]\.predictions\.olaph lacks text, which the format table",
        ),
        (
            recorded(careqa={"path": "a", "id": "i", "text": "t"}),
            r"predictions\.careqa holds answers in text, which only metrics\.generated_accuracy reads",
        ),
        (
            recorded(olaph={"path": 3, "format": "helm"}),
            r"predictions\.olaph\.path is 3; it must be of type string or array",
        ),
    ],
)
def test_a_fault_is_named(config, sentence):
    with pytest.raises(StudyError, match=sentence):
        study_config.validated(config)


def test_recorded_answers_of_a_benchmark_that_is_never_ranked():
    """EntQA reads the option out of the answer itself, and needs no other metric for it."""
    config = recorded(entqa_medqa={"path": "a", "id": "i", "text": "t"})
    config["groups"]["metric_study"]["tasks"] = ["entqa"]
    del config["sensitivity"], config["chat_template_study"]
    assert "generated_accuracy" not in config["metrics"]
    assert study_config.validated(config)


@pytest.mark.parametrize("engine", ["openai", "recorded"])
def test_a_model_whose_engine_takes_no_template_cannot_be_compared_with_and_without(engine):
    config = demo()
    del config["models"][0]["embedded"]
    source = {"openai": {"base_url": "http://localhost/v1"}, "recorded": {"predictions": {}}}[engine]
    config["models"][0] |= {"engine": engine, **source}
    config["chat_template_study"] = {"models": [config["models"][0]["name"]]}
    with pytest.raises(StudyError, match=f"'SmolLM2-135M-Instruct', whose engine {engine} takes no chat template"):
        study_config.validated(config)


def test_every_fault_is_told_at_once():
    config = changed("study", "seed", value=-1)
    config["result"] = "x"
    with pytest.raises(StudyError) as error:
        study_config.validated(config)
    assert "study.seed is -1" in str(error.value)
    assert "result is no key" in str(error.value)


def test_two_models_with_one_id_are_refused():
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    config["models"][1]["id"] = config["models"][0]["id"]
    with pytest.raises(StudyError, match="share the id 'BioMistral/BioMistral-MedMNX'"):
        study_config.validated(config)


def test_the_config_given_is_not_changed():
    config = demo()
    before = copy.deepcopy(config)
    study_config.validated(config)
    assert config == before


def properties(rule, path=""):
    for name, child in rule.get("properties", {}).items():
        yield f"{path}.{name}", child
        yield from properties(child, f"{path}.{name}")
    for key in ("items", "additionalProperties"):
        if isinstance(rule.get(key), dict):
            yield from properties(rule[key], path)


def test_every_key_of_the_schema_is_explained():
    unexplained = [path for path, rule in properties(study_config.schema()) if not rule.get("description")]
    assert unexplained == []


def test_the_reference_page_is_the_schema():
    page = (ROOT / "docs/configuration.md").read_text()
    assert page == study_config.reference_page()


def test_defaults_of_the_schema_satisfy_it():
    minimal = {key: demo()[key] for key in ("study", "models", "groups", "benchmarks", "metrics")}
    filled = study_config.validated(minimal)
    assert filled["inference"] == {"packs": "task", "shards": 1, "chat_template": False}
    assert study_config.validated(filled) == filled
