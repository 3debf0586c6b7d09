"""BLEURT on a small model with random weights, judged by transformers' own BERT with the same weights."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from beyondqa.errors import StudyError
from beyondqa.metrics import bleurt, score

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

PAIRS = [
    ("fever and cough", "cough"),
    ("", "fever"),
    ("night fever " * 40, "cough and fever"),
    ("no cough in the night", "fever and cough in the night"),
]
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "fever", "and", "cough", "in", "the", "night", "no"]
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
LIMIT = 24

MAKE = """
import json, sys, torch
from bleurt_pytorch import BleurtConfig, BleurtForSequenceClassification
torch.manual_seed(0)
sizes = dict({sizes}, vocab_size={words}, max_position_embeddings={limit})
config = BleurtConfig(num_labels=1, initializer_range=0.5, **sizes)
BleurtForSequenceClassification(config).save_pretrained(sys.argv[1])
"""
SCORE = """
import json, sys
sys.path.insert(0, sys.argv[1])
from beyondqa.scoring import score_pairs
pairs = json.loads(sys.argv[3])
columns, signatures = score_pairs(pairs, {"bleurt": {"checkpoints": [{"name": "tiny", **json.loads(sys.argv[2])}]}})
column = columns["bleurt[tiny]"]
print(json.dumps({"values": column.values, "truncated": sorted(column.truncated), "signature": signatures["bleurt"]}))
"""


@pytest.fixture(scope="module")
def python(root):
    """The interpreter of BLEURT's environment, which `make bleurt-environment` and `make ci-full` make for tests."""
    found = Path(os.environ.get("BEYONDQA_BLEURT_PYTHON", root / ".venv-bleurt/bin/python"))
    if not found.is_file():
        pytest.skip("BLEURT's environment .venv-bleurt is absent: make bleurt-environment")
    return found


@pytest.fixture(scope="module")
def checkpoint(python, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bleurt")
    script = MAKE.format(words=len(WORDS), sizes=SIZES, limit=LIMIT)
    subprocess.run([python, "-c", script, folder], check=True, capture_output=True)
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": LIMIT, "do_lower_case": True}))
    return folder


def score_there(root, python, **entry):
    arguments = [root / "workflow/scripts", json.dumps(entry), json.dumps(PAIRS)]
    output = subprocess.run([python, "-c", SCORE, *arguments], check=True, capture_output=True, text=True).stdout
    return json.loads(output.splitlines()[-1])


@pytest.fixture(scope="module")
def scored(root, python, checkpoint):
    return score_there(root, python, path=str(checkpoint))


def bert_value(checkpoint, prediction, reference):
    """The same weights in BERT's sequence classifier, one pair at a time, the longer text cut first."""
    from safetensors.torch import load_file

    config = transformers.BertConfig(
        vocab_size=len(WORDS), num_labels=1, max_position_embeddings=LIMIT, layer_norm_eps=1e-12, **SIZES
    )
    model = transformers.BertForSequenceClassification(config).eval()
    weights = {k.replace("bleurt.", "bert."): v for k, v in load_file(checkpoint / "model.safetensors").items()}
    weights.pop("bert.embeddings.position_ids", None)
    missing = model.load_state_dict(weights, strict=False)
    assert not missing.missing_keys
    left = [WORDS.index(word) for word in reference.split()]
    right = [WORDS.index(word) for word in prediction.split()]
    while len(left) + len(right) > LIMIT - 3:
        (left if len(left) > len(right) else right).pop()
    ids = torch.tensor([[2, *left, 3, *right, 3]])
    types = torch.tensor([[0] * (len(left) + 2) + [1] * (len(right) + 1)])
    with torch.no_grad():
        return model(input_ids=ids, token_type_ids=types).logits.item()


def test_values_are_those_of_bert_with_the_same_weights(scored, checkpoint):
    expected = [bert_value(checkpoint, *pair) for pair in PAIRS]
    assert len({round(value, 3) for value in expected}) == len(PAIRS)
    assert scored["values"] == pytest.approx(expected, abs=1e-5)


def test_truncated_pairs_are_counted_and_versions_kept(scored):
    assert scored["truncated"] == [2]
    assert scored["signature"]["transformers"].startswith("4.")


def test_a_pickled_checkpoint_that_is_allowed_gives_the_same_values(root, python, checkpoint, scored, tmp_path):
    from safetensors.torch import load_file

    for name in ("config.json", "vocab.txt", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((checkpoint / name).read_bytes())
    torch.save(load_file(checkpoint / "model.safetensors"), tmp_path / "pytorch_model.bin")
    found = score_there(root, python, path=str(tmp_path), pickled_weights=True)
    assert found["values"] == scored["values"]


def embeddings(position_ids, token_type_ids):
    return SimpleNamespace(position_ids=torch.tensor([position_ids]), token_type_ids=torch.tensor([token_type_ids]))


def test_uninitialised_buffers_are_refused():
    bleurt.require_initialised(embeddings([0, 1, 2], [0, 0, 0]))
    with pytest.raises(StudyError, match=r"token_type_ids.*envs/bleurt\.yaml"):
        bleurt.require_initialised(embeddings([0, 1, 2], [0, 139784, 0]))
    with pytest.raises(StudyError, match="position_ids"):
        bleurt.require_initialised(embeddings([0, 2, 1], [0, 0, 0]))


def test_an_absent_checkpoint_is_refused_with_a_remedy():
    with pytest.raises(StudyError, match=r"bleurt-base-512.*fetch_models"):
        score("bleurt[bleurt-base-512]", ["a"], ["b"])


def test_an_environment_that_cannot_import_it_is_named(tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "bleurt_pytorch", None)
    with pytest.raises(StudyError, match=r"envs/bleurt\.yaml"):
        score("bleurt[tiny]", ["a"], ["b"], checkpoints=[{"name": "tiny", "path": str(tmp_path)}])


def test_blank_answers_have_no_floor():
    (metric,) = bleurt.metrics({})
    assert metric.floor is None
    assert metric.minimum is None
