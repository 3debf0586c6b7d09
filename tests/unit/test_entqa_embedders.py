"""Embedding entities: against the encoder run by hand, and what is kept on disk."""

import numpy as np
import pytest

from beyondqa.entqa import embedders
from beyondqa.entqa.embedders import Embedder, Embeddings, embed
from beyondqa.errors import StudyError

PHRASES = ["heart attack", "myocardial infarction", "a 48-year-old man with a long history of dull chest pain"]


@pytest.fixture(scope="module")
def minilm():
    return embedders.load({"name": "all-minilm-l6-v2", "embedded": True})


@pytest.fixture(scope="module")
def vectors(minilm):
    return minilm.encode(PHRASES)


def test_against_mean_pooling_by_hand(minilm, vectors):
    """Oracle: transformers alone, one phrase at a time, mean of the last hidden states, unit length."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(minilm.folder)
    model = AutoModel.from_pretrained(minilm.folder).eval()
    for phrase, vector in zip(PHRASES, vectors, strict=True):
        with torch.inference_mode():
            states = model(**tokenizer(phrase, return_tensors="pt")).last_hidden_state[0]
        mean = states.mean(dim=0)
        np.testing.assert_allclose(vector, (mean / mean.norm()).numpy(), atol=1e-5)


def test_a_known_similarity(vectors):
    """0.59, measured with sentence-transformers on its own."""
    assert round(float(vectors[0] @ vectors[1]), 2) == 0.59
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_truncated_phrases_are_named(minilm):
    """MiniLM reads 256 tokens, two of them its own: 254 short words pass and 255 do not."""
    fits, too_long = "a " * 253 + "a", "a " * 254 + "a"
    assert minilm.truncated(["short", fits, too_long]) == [too_long]


class Counting(Embedder):
    """An embedder without a model: it tells how often each phrase was asked for."""

    def __init__(self, folder, key="k"):
        super().__init__(folder)
        self.__dict__["key"] = key
        self.asked = []

    def encode(self, phrases):
        self.asked += phrases
        return np.array([[len(phrase), 1.0] for phrase in phrases], dtype=np.float32)


def test_each_phrase_is_embedded_once(tmp_path, monkeypatch):
    monkeypatch.setattr(embedders, "CHUNK", 2)
    first, second, other = (Counting(tmp_path, key) for key in ("k", "k", "another"))
    odd = ["a", "bb", "ccc", "nul\0", "\ufffd\n", "白血病", "x" * 20_000]
    found = embed(first, [*odd, "a"], tmp_path / "store")
    assert sorted(first.asked) == sorted(odd)
    again = embed(second, [*odd[:3], "new"], tmp_path / "store")
    assert second.asked == ["new"]
    for phrase in odd[:3]:
        assert found.similarity([phrase], [phrase]) == again.similarity([phrase], [phrase])
    embed(other, ["a"], tmp_path / "store")
    assert other.asked == ["a"]


def test_write_and_read(tmp_path):
    kept = Embeddings(["a", "b\0", ""], np.eye(3, dtype=np.float32))
    kept.write(tmp_path / "e.npz")
    back = Embeddings.read(tmp_path / "e.npz")
    assert back.phrases == kept.phrases
    assert back.similarity(["a", ""], ["b\0", "a"]).tolist() == [[0, 1], [0, 0]]
    assert back.similarity([], ["a"]).shape == (0, 1)


def test_nothing_to_embed(tmp_path):
    assert embed(Counting(tmp_path), []).similarity([], []).shape == (0, 0)


def test_a_torn_file_is_named(tmp_path):
    path = tmp_path / "e.npz"
    Embeddings(["a"], np.ones((1, 2))).write(path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(StudyError, match=r"e\.npz.*Delete"):
        Embeddings.read(path)


def test_an_absent_embedder_is_named(tmp_path):
    with pytest.raises(StudyError, match=r"absent.*fetch"):
        embedders.load({"name": "absent", "id": "owner/absent", "path": str(tmp_path / "absent")})
