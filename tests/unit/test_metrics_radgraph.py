"""F1-RadGraph: what its module asks of the package and refuses; and the package itself, on small random weights."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from beyondqa.errors import StudyError
from beyondqa.metrics import radgraph, score

NAME = "radgraph_f1[radgraph,partial]"
PAIRS = [
    ("no pleural effusion or edema .", "no effusion ."),
    ("heart size is normal", "heart size is normal"),
    ("heart size is normal .", "no effusion ."),
    ("mild edemas", "heart size is normal"),
    ("", "no effusion"),
]
SCORE = """
import json, sys
sys.path.insert(0, sys.argv[1])
from beyondqa.scoring import score_pairs
from radgraph import RadGraph
pairs, weights = json.loads(sys.argv[3]), sys.argv[2]
columns, _ = score_pairs(pairs, {"radgraph": {"weights": weights, "pickled_weights": True}})
annotate = RadGraph(model_type="radgraph", model_cache_dir=weights)
found = [[annotate(text)["0"]["entities"] if text else {} for text in pair] for pair in pairs]
print(json.dumps({"values": columns["radgraph_f1[radgraph,partial]"].values, "found": found}))
"""


@pytest.fixture
def weights(tmp_path):
    """A folder that looks like the unpacked weights."""
    (tmp_path / "radgraph").mkdir()
    (tmp_path / "encoder").mkdir()
    (tmp_path / "radgraph" / "weights.th").touch()
    bert = {"bert": {"model_name": str(tmp_path / "encoder")}}
    config = {"dataset_reader": {"token_indexers": bert}, "model": {"embedder": {"token_embedders": bert}}}
    (tmp_path / "radgraph" / "config.json").write_text(json.dumps(config))
    return tmp_path


def test_absent_weights_are_refused_with_a_remedy(tmp_path):
    for settings in ({}, {"weights": str(tmp_path)}):
        with pytest.raises(StudyError, match=r"RRG_scorers.*leave the metric out"):
            score(NAME, ["no effusion"], ["no effusion"], **settings)


def test_pickled_weights_are_refused_unless_they_are_allowed(weights, monkeypatch):
    monkeypatch.setitem(sys.modules, "radgraph", None)
    with pytest.raises(StudyError, match="the weights are pickles"):
        score(NAME, ["a"], ["b"], weights=str(weights))
    with pytest.raises(StudyError, match=r"envs/radgraph\.yaml"):
        score(NAME, ["a"], ["b"], weights=str(weights), pickled_weights=True)


def test_an_encoder_that_would_come_from_the_hub_is_refused(weights):
    path = weights / "radgraph" / "config.json"
    path.write_text(path.read_text().replace(str(weights / "encoder"), "maker/encoder", 1))
    with pytest.raises(StudyError, match="names the encoder maker/encoder, which is no folder"):
        score(NAME, ["a"], ["b"], weights=str(weights), pickled_weights=True)


def test_pairs_reach_the_package_in_chunks_with_the_papers_reward(weights, monkeypatch):
    """A package that stands in for radgraph and rewards the share of equal words, to see order and arguments."""
    asked = []

    class F1RadGraph:
        def __init__(self, **options):
            asked.append(options)

        def __call__(self, hyps, refs):
            asked.append(len(hyps))
            rewards = [len(set(h.split()) & set(r.split())) / 2 for h, r in zip(hyps, refs, strict=True)]
            return sum(rewards), rewards, None, None

    package = ModuleType("radgraph")
    package.F1RadGraph = F1RadGraph
    monkeypatch.setitem(sys.modules, "radgraph", package)
    monkeypatch.setattr(radgraph, "version", lambda name: "0")
    monkeypatch.setattr(radgraph, "CHUNK", 2)
    predictions = ["no effusion", "effusion", "", "an effusion"]
    found = score(NAME, predictions, ["no effusion"] * 4, weights=str(weights), pickled_weights=True)
    assert found == [1.0, 0.5, 0.0, 0.5]
    assert asked[0] == {"reward_level": "partial", "model_type": "radgraph", "model_cache_dir": str(weights)}
    assert asked[1:] == [2, 1]


def f1(prediction, reference):
    """By the definition of the reward: an entity agrees in its words, its label and whether it has a relation."""
    left, right = (
        {(e["tokens"], e["label"], bool(e["relations"])) for e in found} for found in (prediction, reference)
    )
    return 2 * len(left & right) / (len(left) + len(right)) if left & right else 0.0


def test_the_package_gives_the_overlap_of_what_it_finds(root, tmp_path):
    python = Path(os.environ.get("BEYONDQA_RADGRAPH_PYTHON", root / ".venv-radgraph/bin/python"))
    if not python.is_file():
        pytest.skip("RadGraph's environment is absent; `make ci-full` makes it")
    folder = tmp_path / "weights"
    subprocess.run([python, root / "tests/support/tiny_radgraph.py", folder], check=True, capture_output=True)
    arguments = [root / "workflow/scripts", folder, json.dumps(PAIRS)]
    done = subprocess.run([python, "-c", SCORE, *arguments], check=True, capture_output=True, text=True)
    told = json.loads(done.stdout.splitlines()[-1])
    expected = [f1(*(list(entities.values()) for entities in pair)) for pair in told["found"]]
    assert told["values"] == pytest.approx(expected)
    assert {bool(e["relations"]) for pair in told["found"] for found in pair for e in found.values()} == {False, True}
    assert told["values"][1] == 1
    assert told["values"][-1] == 0
    assert any(0 < value < 1 for value in told["values"]), "the small model finds something, and not everything"
