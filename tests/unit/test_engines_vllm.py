"""What reaches vLLM, seen by a stand-in for its package. tests/real has the real one."""

import sys
from types import ModuleType, SimpleNamespace

import pytest
from support.tiny_model import write_model

from beyondqa import engines
from beyondqa.engines.base import GenerationRequest
from beyondqa.errors import StudyError


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("model"), context=64)


@pytest.fixture
def settings(directory, monkeypatch):
    """A function that loads an engine's model and returns what `vllm.LLM` was called with."""
    monkeypatch.setattr("os.environ", {"OMP_NUM_THREADS": "7"})

    def load(on_cpu=False, **entry):
        calls = []
        fakes = {
            "vllm": {"LLM": lambda **settings: calls.append(settings)},
            "vllm.platforms": {"current_platform": SimpleNamespace(is_cpu=lambda: on_cpu)},
        }
        for name, members in fakes.items():
            module = ModuleType(name)
            vars(module).update(members)
            monkeypatch.setitem(sys.modules, name, module)
        engines.load({"name": "m", "engine": "vllm", "directory": str(directory), **entry})._model  # noqa: B018
        (call,) = calls
        return call

    return load


def test_without_keys_a_gpu_runs_in_bfloat16_without_prefix_caching(settings, directory):
    assert settings() == {
        "model": str(directory),
        "dtype": "bfloat16",
        "max_model_len": 64,
        "quantization": None,
        "tensor_parallel_size": 1,
        "gpu_memory_utilization": 0.9,
        "enable_prefix_caching": False,
        "trust_remote_code": False,
        "logprobs_mode": "raw_logprobs",
        "seed": 0,
    }


@pytest.mark.parametrize(
    ("key", "value", "reaches"),
    [
        ("dtype", "float16", {"dtype": "float16"}),
        ("tensor_parallel", 4, {"tensor_parallel_size": 4}),
        ("gpu_memory_share", 0.5, {"gpu_memory_utilization": 0.5}),
        ("prefix_caching", True, {"enable_prefix_caching": True}),
        ("quantization", "awq", {"quantization": "awq"}),
        ("trust_remote_code", True, {"trust_remote_code": True}),
        ("batch_tokens", 100, {"max_num_batched_tokens": 100, "max_num_seqs": 100}),
        ("batch_tokens", 8192, {"max_num_batched_tokens": 8192, "max_num_seqs": 256}),
        # A prompt that fills the context, one token to score after it, and one that vLLM must be let generate.
        ("context", 40, {"max_model_len": 42}),
    ],
)
def test_each_key_of_the_entry_reaches_vllm_and_changes_nothing_else(settings, key, value, reaches):
    assert settings(**{key: value}) == settings() | reaches


def test_on_a_cpu_memory_and_threads_are_bounded_and_nothing_is_compiled(settings):
    import os

    steps = {"enforce_eager": True, "max_num_batched_tokens": 1024, "max_num_seqs": 256}
    bounded = settings() | steps | {"kv_cache_memory_bytes": 2**30}
    assert settings(on_cpu=True) == bounded
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert settings(on_cpu=True, threads=3) == bounded
    assert (os.environ["OMP_NUM_THREADS"], os.environ["VLLM_CPU_OMP_THREADS_BIND"]) == ("3", "nobind")
    assert os.environ["VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS"] == "3600"
    assert settings(on_cpu=True, gpu_memory_share=0.2) == settings(gpu_memory_share=0.2) | steps
    assert settings(on_cpu=True, batch_tokens=100)["max_num_batched_tokens"] == 100


def test_nothing_is_fetched_and_no_statistics_are_sent(settings):
    import os

    settings()
    assert (os.environ["HF_HUB_OFFLINE"], os.environ["VLLM_NO_USAGE_STATS"]) == ("1", "1")


def test_a_model_read_to_its_own_end_leaves_room_for_what_vllm_generates(directory):
    engine = engines.load({"name": "m", "engine": "vllm", "directory": str(directory)})
    engine.packages = ()  # vllm itself may be absent
    assert engine.context == 62
    request = GenerationRequest("q", "bench", "greedy", 0, "chest pain " * 40, 8)
    (prepared,) = engine.prepare([request])
    assert len(prepared.prompt_ids) + 8 == 62
    assert prepared.prompt_tokens_cut > 0


def test_a_death_of_vllm_names_the_longest_request_and_what_helps(directory, monkeypatch):
    class EngineDeadError(Exception):
        pass

    def generate(*arguments, **settings):
        raise EngineDeadError

    exceptions = ModuleType("vllm.v1.engine.exceptions")
    exceptions.EngineDeadError = EngineDeadError
    vllm = ModuleType("vllm")
    vllm.SamplingParams = SimpleNamespace
    for name, module in [
        ("vllm", vllm),
        ("vllm.v1", ModuleType("v1")),
        ("vllm.v1.engine", ModuleType("engine")),
        ("vllm.v1.engine.exceptions", exceptions),
    ]:
        monkeypatch.setitem(sys.modules, name, module)
    engine = engines.load({"name": "m", "engine": "vllm", "directory": str(directory)})
    engine.packages = ()
    engine._model = SimpleNamespace(generate=generate)
    asked = [GenerationRequest(f"q{k}", "bench", "greedy", 0, "pain " * k, 8) for k in (1, 5, 2)]
    tokens = len(engine.tokenizer(asked[1].prompt).input_ids)
    said = rf"record q5: vLLM died over 3 requests.* with {tokens} tokens.*lower the model's batch_tokens"
    with pytest.raises(StudyError, match=said):
        list(engine.generate(asked))
