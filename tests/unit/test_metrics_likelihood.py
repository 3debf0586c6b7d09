"""Accuracy and perplexities, judged by hand-made cases and by lm-evaluation-harness's published arithmetic."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beyondqa.errors import StudyError
from beyondqa.items import LogLikelihood, MultipleChoiceItem, OpenItem
from beyondqa.metrics import accuracy, perplexity
from beyondqa.metrics.base import TRANSFORMS


def choice(candidates, gold, item_id="b:1"):
    return MultipleChoiceItem(item_id, "b", "which?", tuple(candidates), tuple(candidates), gold, "which?")


def open_item(reference, item_id="b:1"):
    return OpenItem(item_id, "b", "why?", reference, "why?")


def likelihood(index, *log_probabilities, variant="option", item_id="b:1", cut=0):
    return LogLikelihood(item_id, "b", "m", variant, index, log_probabilities, False, prompt_tokens_cut=cut)


def accuracies(item, likelihoods):
    return {s.metric: (s.value, s.flags) for s in accuracy.scores({item.id: item}, likelihoods, {})}


def test_accuracy_and_its_norms_pick_different_candidates():
    # Totals -4, -5, -6 nats; characters 2, 10, 5; bytes 2, 10, 15; tokens 1, 4, 2.
    item = choice([" ab", " abcdefghij", " 高血压低糖"], gold=1)
    given_ = [likelihood(0, -4.0), likelihood(1, -1.0, -1.5, -1.5, -1.0), likelihood(2, -3.0, -3.0)]
    # Rates: totals -4 -5 -6; a character -2 -.5 -1.2; a byte -2 -.5 -.4; a token -4 -1.25 -3.
    assert accuracies(item, given_) == {
        "accuracy": (0.0, ()),
        "accuracy[norm=chars]": (1.0, ()),
        "accuracy[norm=bytes]": (0.0, ()),
        "accuracy[norm=tokens]": (1.0, ()),
    }


def test_ties_go_to_the_first_and_are_flagged():
    item = choice([" A", " B"], gold=0)
    found = accuracies(item, [likelihood(1, -1.0), likelihood(0, -1.0, cut=3)])
    assert found["accuracy"] == (1.0, ("tie", "prompt_cut"))
    assert accuracies(choice([" A", " B"], gold=1), [likelihood(0, -1.0), likelihood(1, -1.0)])["accuracy"] == (
        0.0,
        ("tie",),
    )


@pytest.mark.parametrize(
    "likelihoods",
    [
        [likelihood(0, -1.0)],
        [likelihood(0, -1.0), likelihood(2, -1.0)],
        [likelihood(0, -1.0), likelihood(1, -1.0), likelihood(1, -1.0)],
    ],
)
def test_missing_and_double_candidates_are_refused(likelihoods):
    with pytest.raises(StudyError, match="b:1"):
        accuracies(choice([" A", " B"], gold=0), likelihoods)


def pooled(name, texts_and_totals, settings=None):
    items = {f"b:{n}": open_item(text, f"b:{n}") for n, (text, _) in enumerate(texts_and_totals)}
    likelihoods = [
        likelihood(0, total, variant="reference", item_id=f"b:{n}") for n, (_, total) in enumerate(texts_and_totals)
    ]
    scores = [s for s in perplexity.scores(items, likelihoods, settings or {}) if s.metric == name]
    transform = {metric.name: metric.transform for metric in perplexity.metrics({})}[name]
    return TRANSFORMS[transform](sum(s.weight * s.value for s in scores) / sum(s.weight for s in scores))


def test_pooled_values_are_those_of_the_harness():
    # lm_eval.api.metrics 0.4.13: weighted_perplexity([(-10, 4), (-30, 6)]), bits_per_byte([(-10, 20), (-30, 50)]).
    four, six = "a b c d", "a b c d e f"
    assert pooled("word_perplexity", [(four, -10.0), (six, -30.0)]) == pytest.approx(54.598150033144236)
    twenty, fifty = "x" * 20, "y" * 50
    assert pooled("bits_per_byte", [(twenty, -10.0), (fifty, -30.0)]) == pytest.approx(0.8243971662222648)
    assert pooled("byte_perplexity", [(twenty, -10.0), (fifty, -30.0)]) == pytest.approx(math.exp(40 / 70))


def test_words_and_bytes_are_counted_as_the_authors_do():
    # utils_perplexity of the harness's CareQA task: 1 word and 9 bytes; blanks at the ends make 4 of 2 words.
    assert (perplexity.words("Neumonía"), perplexity.utf8_bytes("Neumonía")) == (1, 9)
    assert perplexity.words(" Opioid  withdrawal\n") == 4
    assert perplexity.utf8_bytes("\ud800") == 3


@given(st.lists(st.tuples(st.text(min_size=1).filter(str.strip), st.floats(-500, -0.1)), min_size=1, max_size=5))
def test_the_three_perplexities_are_one_quantity(texts_and_totals):
    byte = pooled("byte_perplexity", texts_and_totals)
    assert pooled("bits_per_byte", texts_and_totals) == pytest.approx(math.log2(byte), rel=1e-6, abs=1e-9)
    words = sum(perplexity.words(text) for text, _ in texts_and_totals)
    size = sum(perplexity.utf8_bytes(text) for text, _ in texts_and_totals)
    word = math.log(pooled("word_perplexity", [(t, max(ll, -100.0)) for t, ll in texts_and_totals]))
    clipped = math.log(pooled("byte_perplexity", [(t, max(ll, -100.0)) for t, ll in texts_and_totals]))
    assert word == pytest.approx(clipped * size / words, rel=1e-6, abs=1e-9)


def test_conditional_perplexity_has_its_own_name():
    item = open_item("a b")
    given_ = [likelihood(0, -2.0, variant="reference"), likelihood(0, -1.0, variant="reference_given_prompt", cut=2)]
    plain = {s.metric: s.value for s in perplexity.scores({item.id: item}, given_, {})}
    assert plain["word_perplexity"] == 1.0
    assert len(plain) == 3
    both = {s.metric: s for s in perplexity.scores({item.id: item}, given_, {"conditional": True})}
    assert both["word_perplexity[conditional]"].value == 0.5
    assert both["word_perplexity[conditional]"].flags == ("prompt_cut",)
    assert set(both) == {metric.name for metric in perplexity.metrics({"conditional": True})}


def test_two_likelihoods_of_one_reference_are_refused():
    item = open_item("a b")
    with pytest.raises(StudyError, match="b:1"):
        list(perplexity.scores({item.id: item}, [likelihood(0, -2.0, variant="reference")] * 2, {}))
