"""Resources of a job, checked against arithmetic written out here and against the papers' model table."""

import re

import pytest
import yaml

from beyondqa import resources


def vllm(parameters, context=4096, **more):
    return {"engine": "vllm", "parameters": parameters, "context": context, **more}


@pytest.mark.parametrize(
    ("entry", "gb"),
    [
        (vllm(70.6), 141.2),  # 70.6 billion parameters, two bytes each
        (vllm(7, dtype="float32"), 28.0),
        (vllm(70, quantization="awq"), 42.0),  # 4 bits, and 0.8 bits of scales and zero points
        (vllm(70, quantization="fp8"), 70.0),
        ({"engine": "transformers", "parameters": 0.135}, 0.54),  # float32 on CPUs
        ({"engine": "transformers", "parameters": 0.135, "dtype": "bfloat16"}, 0.27),
    ],
)
def test_weights_are_parameters_times_bytes(entry, gb):
    assert resources.weight_gb(entry) == pytest.approx(gb)


def test_keys_and_values_of_a_model_of_7b_by_its_layers():
    # Llama-2-7B: keys and values, 32 layers, 32 heads of 128, two bytes; four sequences of 4,096 tokens.
    assert resources.key_value_gb(vllm(7, context=4096)) == pytest.approx(2 * 32 * 32 * 128 * 2 * 4 * 4096 / 1e9)


@pytest.mark.parametrize(
    ("entry", "memory", "count"),
    [
        (vllm(7), 80, 1),  # 14 * 1.1 + 8.6 = 24.0 of 72
        (vllm(7), 24, 2),  # 24.0 of 21.6: not one, but two
        (vllm(34.4), 80, 2),  # 68.8 GB of weights alone would fit; with activations and keys 84.3 of 72
        (vllm(70.6), 80, 4),  # 141 GB of weights: neither one GPU nor two (144 usable, 164 needed)
        (vllm(70.6), 141, 2),  # 164 of 127, so two
        (vllm(70, quantization="awq"), 80, 1),  # 42 * 1.1 + 8.6 = 54.8 of 72
        (vllm(405, quantization="fp8"), 80, 8),  # 405 * 1.1 + 8.6 = 454 of 576
        (vllm(0.5), 80, 1),
        ({"engine": "transformers", "parameters": 70}, 80, 0),
        ({"engine": "recorded"}, 80, 0),
        ({"engine": "openai", "parameters": 70}, 80, 0),
    ],
)
def test_gpus_are_the_least_power_of_two_that_holds_the_model(entry, memory, count):
    assert resources.gpus(entry, memory) == count


def test_a_longer_context_can_cost_a_gpu():
    # 56 * 1.1 = 61.6; keys and values of 4 x 4,096 are 8.6, of 4 x 8,192 are 17.2; 72 are usable.
    assert [resources.gpus(vllm(28, context=context)) for context in (4096, 8192)] == [1, 2]


@pytest.mark.parametrize("parameters", [0.5, 7, 34, 70])
def test_main_memory_holds_the_weights_and_stays_above_what_slurm_needs(parameters):
    for engine in ("vllm", "transformers"):
        entry = {"engine": engine, "parameters": parameters}
        assert resources.memory_mb(entry) > 1000 * resources.weight_gb(entry) + 2000
    assert resources.memory_mb({"engine": "recorded"}) >= 500


def test_the_papers_models_ask_for_what_they_need(root):
    from beyondqa.config import validated
    from beyondqa.study import Study

    study = Study(validated(yaml.safe_load((root / "config.yaml").read_text())))
    asked = {name: study.gpus(name) for name in study.models}
    assert asked["Llama-3.1-70B-Instruct"] == asked["Qwen2.5-72B-Instruct"] == 4
    assert asked["Mixtral-8x7B-Instruct-v0.1"] == asked["Yi-1.5-34B-Chat"] == 2
    assert {asked[name] for name, entry in study.models.items() if entry["parameters"] < 15} == {1}
    for name, entry in study.models.items():
        assert asked[name] * 80 * 0.9 > entry["parameters"] * 2, name


def test_a_models_entry_overrides_what_follows_from_its_size(root):
    from beyondqa.study import Study

    entry = {"name": "m", "engine": "vllm", "parameters": 70}
    config = {"models": [entry], "planning": {"gpu_memory_gb": 80}}
    assert Study(config).gpus("m") == 4
    planning = {"gpu_memory_gb": 80, "longest_job_hours": 24}
    config = {"models": [{**entry, "gpus": 8, "mem_mb": 12345, "runtime": 7}], "planning": planning}
    assert (Study(config).gpus("m"), Study(config).memory_mb("m"), Study(config).runtime_minutes("m")) == (8, 12345, 7)


def test_the_configured_gpu_memory_decides_the_number_of_gpus():
    from beyondqa.study import Study

    entry = {"name": "m", "engine": "vllm", "parameters": 70}
    assert [Study({"models": [entry], "planning": {"gpu_memory_gb": gb}}).gpus("m") for gb in (40, 80, 192)] == [
        8,
        4,
        1,
    ]


def test_time_limits_grow_with_the_attempt_up_to_what_the_partition_takes():
    from beyondqa.study import Study

    entry = {"name": "m", "engine": "vllm", "runtime": 600}
    study = Study({"models": [entry], "planning": {"longest_job_hours": 24}})
    assert [study.runtime_minutes("m", attempt) for attempt in (1, 2, 3)] == [600, 1200, 1440]
    study = Study({"models": [entry], "planning": {"longest_job_hours": 7.5}})
    assert [study.runtime_minutes("m", attempt) for attempt in (1, 2)] == [450, 450]


def test_the_time_limit_grows_with_the_model():
    # Two hours, and four minutes a billion parameters.
    assert resources.runtime_minutes({"engine": "vllm", "parameters": 7}) == 148
    assert resources.runtime_minutes({"engine": "vllm", "parameters": 72.5}) == 410


def test_no_rule_asks_for_less_memory_than_its_own_snakemakes_take(root):
    # A SLURM job holds two Snakemakes beside the script, some 150 MB each; with 500 MB in all jobs were killed.
    asked = {
        f"{path.name}: {amount}": int(amount)
        for path in (root / "rules").glob("*.smk")
        for amount in re.findall(r"mem_mb=(?:lambda [^:]*: )?(\d+)\b", path.read_text())
    }
    assert len(asked) > 10
    assert {where for where, amount in asked.items() if amount < 1000} == set()
