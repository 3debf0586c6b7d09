"""F1-RadGraph's module: what it asks of the package, and what it says where weights are absent."""

import sys
from types import ModuleType

import pytest

from beyondqa.errors import StudyError
from beyondqa.metrics import radgraph, score

NAME = "radgraph_f1[radgraph,partial]"


def test_absent_weights_are_refused_with_a_remedy(tmp_path):
    for settings in ({}, {"weights": str(tmp_path)}):
        with pytest.raises(StudyError, match=r"RRG_scorers.*leave the metric out"):
            score(NAME, ["no effusion"], ["no effusion"], **settings)


def test_pairs_reach_the_package_in_chunks_with_the_papers_reward(tmp_path, monkeypatch):
    """A package that stands in for radgraph and rewards the share of equal words, to see order and arguments."""
    (tmp_path / "radgraph").mkdir()
    (tmp_path / "radgraph" / "weights.th").touch()
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
    references, settings = ["no effusion"] * 4, {"weights": str(tmp_path)}
    with pytest.raises(StudyError, match="pickles"):
        score(NAME, predictions, references, **settings)
    assert asked == []
    found = score(NAME, predictions, references, **settings, pickled_weights=True)
    assert found == [1.0, 0.5, 0.0, 0.5]
    assert asked[0] == {"reward_level": "partial", "model_type": "radgraph", "model_cache_dir": str(tmp_path)}
    assert asked[1:] == [2, 1]
