"""ROUGE, BLEU and length, judged by rouge-score, sacrebleu and figures of the authors' harness."""

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from beyondqa.errors import StudyError
from beyondqa.metrics import describe, names, score
from beyondqa.metrics.bleu import corpus_bleu
from beyondqa.metrics.rouge import tokenize_default, tokenize_unicode

KINDS = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
BLEU = "bleu[evaluate,13a,nosmooth]"

# Few words and many line breaks, so that subsequences tie and repeat.
texts = st.lists(st.sampled_from(["a", "b", "c", "\n", "fever", "5"]), max_size=14).map(" ".join)
visible = texts.filter(str.strip)


def rouge(predictions, references, kinds=KINDS, suffix="nostem"):
    return {kind: score(f"{kind}[{suffix}]", predictions, references) for kind in kinds}


@settings(max_examples=150, deadline=None)
@given(visible, visible)
def test_rouge_is_that_of_rouge_score(prediction, reference):
    expected = RougeScorer(KINDS).score(reference, prediction)
    for kind, found in rouge([prediction], [reference]).items():
        assert found[0] == pytest.approx(expected[kind].fmeasure, abs=1e-12), kind


def test_rouge_of_long_texts_is_that_of_rouge_score():
    reference = "\n".join(f"line {n} the patient has pain {n % 7} and fever {n % 3}" for n in range(40))
    prediction = "\n".join(f"the fever {n % 5} of the patient is line {n}" for n in range(30))
    expected = RougeScorer(KINDS).score(reference, prediction)
    for kind, found in rouge([prediction], [reference]).items():
        assert found[0] == pytest.approx(expected[kind].fmeasure, abs=1e-12), kind


def test_a_line_repeated_for_ever_is_scored_at_once():
    # Unigrams: 2 of the 20,000 words of the answer match, of 3 in the reference: F1 2 * 2 / 20,003.
    found = rouge(["fever cough\n" * 10_000], ["fever and\ncough"])
    assert found["rougeLsum"] == [pytest.approx(4 / 20_003)]


# Values that the authors' harness tasks (lm-evaluation-harness 0.4.13) gave for these pairs.
HARNESS = [
    ("Opioid withdrawal", "Opioid withdrawal", 1e-05, 1, 1, 1),
    (
        "Opioid withdrawal syndrome is the most probable diagnosis.",
        "The most probable diagnosis is opioid withdrawal syndrome.",
        1e-05,
        1.0,
        0.714286,
        0.5,
    ),
    ("Neumonía por neumococo", "Neumonia por neumococo", 1e-05, 0.571429, 0.4, 0.571429),
    ("a b c d", "a b c d", 1.0, 1, 1, 1),
]


@pytest.mark.parametrize(("gold", "prediction", "bleu", "rouge1", "rouge2", "rouge_l"), HARNESS)
def test_harness_values(gold, prediction, bleu, rouge1, rouge2, rouge_l):
    found = rouge([prediction], [gold])
    assert score(BLEU, [prediction], [gold])[0] == pytest.approx(bleu, abs=1e-9)
    assert [found[kind][0] for kind in KINDS[:3]] == pytest.approx([rouge1, rouge2, rouge_l], abs=5e-7)


@settings(max_examples=100, deadline=None)
@given(visible, visible)
def test_evaluate_bleu_is_unsmoothed_corpus_bleu_of_one_pair(prediction, reference):
    expected = sacrebleu.corpus_bleu([prediction], [[reference]], smooth_method="none").score / 100 or 1e-5
    assert score(BLEU, [prediction], [reference])[0] == pytest.approx(expected, abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(visible, visible)
def test_sacrebleu_variants_are_those_of_sacrebleu(prediction, reference):
    sentence = sacrebleu.sentence_bleu(prediction, [reference])
    assert score("bleu[sacrebleu,13a,exp,effective]", [prediction], [reference])[0] == pytest.approx(sentence.score)
    unsmoothed = sacrebleu.corpus_bleu([prediction], [[reference]], smooth_method="none")
    for order in (1, 4):
        found = score(f"bleu_precision{order}[13a]", [prediction], [reference])[0]
        assert found == pytest.approx(unsmoothed.precisions[order - 1] / 100)


def test_corpus_bleu_is_that_of_the_harness_and_no_mean_of_sentences():
    # lm_eval.api.metrics 0.4.13: bleu([("the patient has fever", "the patient has a fever")]), on 0 to 100.
    assert corpus_bleu(["the patient has a fever"], ["the patient has fever"]) == pytest.approx(42.72870063962342)
    predictions, references = ["a b c d e", "x y z v w u"], ["a b c d e", "x y z v w t"]
    sentences = score("bleu[sacrebleu,13a,exp,effective]", predictions, references)
    assert corpus_bleu(predictions, references) != pytest.approx(sum(sentences) / 2, abs=0.1)


def test_rouge_l_and_rouge_lsum_differ_on_several_lines():
    prediction, reference = "b c\na", "a\nb c"
    found = rouge([prediction], [reference])
    assert found["rougeL"] == [pytest.approx(2 / 3)]
    assert found["rougeLsum"] == [1.0]


@given(st.text(st.characters(max_codepoint=127)))
def test_unicode_tokenizer_is_the_default_one_on_ascii(text):
    assert tokenize_unicode(text) == tokenize_default(text)


def test_unicode_tokenizer_keeps_letters_of_every_script():
    assert tokenize_unicode("Neumonía, 5 µg/ml (α-bloqueante)") == ["neumonía", "5", "μg", "ml", "α", "bloqueante"]
    assert tokenize_unicode("高血压 2型") == ["高", "血", "压", "2", "型"]
    assert tokenize_unicode("हिन्दी") == ["हिन्दी"]
    predictions, references = ["Neumonia"], ["Neumonía"]
    assert score("rouge1[nostem]", ["Neumonía"], references) == [1.0]
    assert score("rouge1[nostem]", predictions, references) == [0.0]
    assert score("rouge1[nostem,unicode]", ["高血压"], ["高血糖"], tokenizers=["unicode"]) == [pytest.approx(2 / 3)]


def test_length_counts_whitespace_words():
    assert score("length[words]", [" two\u00a0words ", "one-word", ""], ["x"] * 3) == [2.0, 1.0, 0.0]


HARD = ["", " ", "x", "word " * 10_000, "🩺💊 ok", "حمى وسعال", "nul\0here", "lone \ud800 surrogate", "&lt;skipped>"]


@pytest.mark.parametrize("name", ["rougeL[nostem]", "rougeLsum[nostem]", BLEU, "length[words]"])
def test_hard_texts_give_values_and_leave_neighbours_alone(name):
    references = ["a plain reference text"] * len(HARD)
    together = score(name, HARD, references)
    assert together == [score(name, [text], ["a plain reference text"])[0] for text in HARD]
    assert together[:2] == [0.0, 0.0]
    assert None not in together


def test_a_text_equal_to_its_reference_scores_one_where_it_has_tokens():
    for text in ("a plain text of words", "word " * 10_000):
        assert rouge([text], [text]) == {kind: [1.0] for kind in KINDS}
        assert score(BLEU, [text], [text]) == [pytest.approx(1.0)]


def test_no_pairs_give_no_values():
    assert score("rouge1[nostem]", [], []) == []


def test_blank_reference_gives_null():
    assert score("rouge1[nostem]", ["an answer", "an answer"], [" \n", "an answer"]) == [None, 1.0]


def test_lists_of_different_lengths_are_refused():
    with pytest.raises(StudyError, match="2 predictions but 1 references"):
        score("rouge1[nostem]", ["a", "b"], ["a"])


def test_unknown_metric_is_refused_with_a_suggestion():
    with pytest.raises(StudyError, match=r"'rouge1\[nostemm\]'.*Did you mean 'rouge1\[nostem\]'"):
        score("rouge1[nostemm]", ["a"], ["a"])


def test_describe_names_every_variant():
    described = describe({"rouge": None, "bleu": {}, "length": {}, "accuracy": {}, "perplexity": {"conditional": True}})
    assert all(name == metric.name for name, metric in described.items())
    assert {"rougeLsum[nostem]", BLEU, "accuracy[norm=chars]", "bits_per_byte[conditional]"} <= set(described)
    assert described["word_perplexity"].transform == "exp"
    assert not described["word_perplexity"].higher_is_better


def test_helper_modules_are_no_metrics():
    assert {"rouge", "bleu", "bertscore"} <= set(names())
    assert not [name for name in names() if name.startswith("_") or name == "base"]
