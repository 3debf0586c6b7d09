"""Matching entities. Oracle: the definition, pair by pair, in plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beyondqa.entqa.coverage import cover, phrases_to_embed
from beyondqa.entqa.embedders import Embeddings
from beyondqa.entqa.matching import best_match, overlap
from beyondqa.entqa.variants import AS_CODED, AS_PUBLISHED

PHRASE = st.lists(st.sampled_from("abcde"), min_size=1, max_size=4).map(" ".join)
PHRASES = st.lists(PHRASE, max_size=5, unique=True)


def jaccard(a, b):
    a, b = set(a.split()), set(b.split())
    return len(a & b) / len(a | b)


@given(PHRASES, PHRASES)
def test_overlap_is_the_jaccard_index(left, right):
    assert overlap(left, right).tolist() == [[jaccard(a, b) for b in right] for a in left]


def test_overlap_counts_a_repeated_word_once():
    assert overlap(["very very ill"], ["very ill"]).item() == 1.0


def test_best_match():
    similarity = np.array([[0.9, 0.8, 0.9], [0.5, 0.6, 0.7]])
    eligible = np.array([[False, True, True], [False, False, False]])
    assert best_match(similarity, eligible).tolist() == [2, -1]
    assert best_match(np.zeros((2, 0)), np.zeros((2, 0), bool)).tolist() == [-1, -1]
    assert best_match(np.ones((1, 2)), np.ones((1, 2), bool)).tolist() == [0]


@given(PHRASES, PHRASES, PHRASES, st.integers(0, 2**32 - 1))
def test_cover_against_loops(background, question, answer, seed):
    phrases = sorted({*background, *question, *answer})
    vectors = np.random.default_rng(seed).normal(size=(len(phrases), 2))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    at = dict(zip(phrases, vectors, strict=True))

    def match(entity, others, keep):
        near = [(at[entity] @ at[o], o) for o in others if keep(jaccard(entity, o)) and at[entity] @ at[o] > 0.7]
        return max(near, key=lambda pair: pair[0])[1] if near else None

    for variant, keep in ((AS_CODED, lambda j: j >= 0.3), (AS_PUBLISHED, lambda j: j > 0.3)):
        needed = sorted(phrases_to_embed([*background, *question], answer, variant))
        kept = Embeddings(needed, np.array([at[phrase] for phrase in needed]).reshape(-1, 2))
        coverage = cover(background, question, answer, variant, kept)
        assert coverage.background == {e: m for e in background if (m := match(e, answer, keep))}
        assert coverage.question == {e: m for e in question if (m := match(e, answer, keep))}
        assert list(coverage.grounded) == [a for a in answer if match(a, [*background, *question], keep)]


@pytest.mark.parametrize(("variant", "covered"), [(AS_CODED, True), (AS_PUBLISHED, False)])
def test_an_overlap_of_exactly_three_tenths(variant, covered):
    """3 shared of 10 words: the code takes it (>=), the text asks for more than 30 %."""
    left, right = "a b c d e f", "a b c g h i j"
    coverage = cover([left], [], [right], variant, Embeddings([left, right], np.ones((2, 1))))
    assert bool(coverage.background) is covered


def test_a_cosine_of_exactly_the_bound_is_no_match():
    vectors = np.array([[1.0, 0.0], [0.7, np.sqrt(1 - 0.49)]])
    assert not cover(["a"], [], ["a b"], AS_CODED, Embeddings(["a", "a b"], vectors)).background


def test_cover_without_entities_on_a_side():
    none = Embeddings([], np.zeros((0, 1)))
    assert cover([], [], ["a"], AS_CODED, none).grounded == ()
    assert cover(["a"], ["b"], [], AS_CODED, none).background == {}
