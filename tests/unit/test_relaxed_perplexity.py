"""Relaxed Perplexity against its definition in plain probabilities, and its engine requests against plain torch.

The fixtures' numbers are small enough for plain floating point, so the judge sums probabilities, not logarithms.
"""

import dataclasses
import math

import pytest
import torch

from beyondqa import engines
from beyondqa.errors import StudyError
from beyondqa.items import BranchLikelihoods, Generation, OpenItem
from beyondqa.relaxed_perplexity import (
    VALUES,
    Settings,
    branch_requests,
    completion_requests,
    one_signature,
    prefixes,
    question_mean,
    relaxed,
    targets,
)

ITEM = OpenItem("q1", "olaph", "What?", "That.", "What? Answer:", ("statement one", "two"), ("three",))


def completion(index, tokens, log_probabilities=None, finish_reason="length"):
    values = tuple(log_probabilities or [-1.0] * len(tokens))
    return Generation(
        "q1", "olaph", "m", "fixed", index, "", finish_reason, token_ids=tuple(tokens), token_log_probabilities=values
    )


def likelihood(index, values):
    return BranchLikelihoods("q1", "olaph", "m", "fixed/x/0", index, tuple(values), tuple(values.values()), 3)


# Four completions of four tokens, from best to worst: 2, 0, 3, 1; 2 and 3 share their first two tokens.
FOUR = [
    completion(0, [5, 6, 7, 8], [-1.0, -1.0, -1.0, -1.0]),
    completion(1, [5, 9, 9, 9], [-0.1, -3.0, -3.0, -3.0]),
    completion(2, [1, 2, 3, 4], [-0.5, -0.5, -0.5, -0.5]),
    completion(3, [1, 2, 8, 8], [-0.5, -0.5, -2.0, -2.0]),
]
SETTINGS = Settings(tokens=4, stride=2, best=3, samples=4)
PROBABILITIES = {  # P(text | prompt, first i tokens of completion k)
    (2, 0): 0.02,
    (0, 2): 0.3,
    (2, 2): 0.5,
    (3, 2): 0.5,
    (0, 4): 0.001,
    (2, 4): 0.7,
    (3, 4): 0.9,
    (1, 2): 0.25,
    (1, 4): 0.05,
}


def likelihoods():
    return [
        likelihood(k, {i: math.log(p) for (index, i), p in sorted(PROBABILITIES.items()) if index == k})
        for k in range(4)
    ]


def variant(name, **changes):
    return dataclasses.replace(SETTINGS, variant=name, **changes)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # The best three are 2, 0, 3; at 2 the prefix of 2 and 3 is one.
        ("main", {0: [2], 2: [2, 0], 4: [2, 0, 3]}),
        ("with-duplicates", {0: [2], 2: [2, 0, 3], 4: [2, 0, 3]}),
        ("weighted", {0: [2], 2: [2, 0], 4: [2, 0, 3]}),
        # At 2 the prefixes' log-probabilities are -1 (2 and 3), -2 (0) and -3.1 (1).
        ("per-position", {0: [0], 2: [2, 0, 1], 4: [2, 0, 3]}),
    ],
)
def test_which_prefixes_count(name, expected):
    assert prefixes(FOUR, variant(name)) == expected
    assert prefixes(FOUR[::-1], variant(name)) == expected


def test_an_ended_completion_has_no_prefixes_beyond_its_end():
    ended = completion(1, [7, 7, 0], [-0.1, -0.1, -0.1], finish_reason="stop")
    short = [completion(0, [5, 6, 7, 8]), ended]
    assert prefixes(short, variant("eos", samples=2, best=2)) == {0: [1], 2: [1, 0], 4: [0]}


def plainly(terms, text_tokens=3, text="größe", n=4):
    """The definitions in plain probabilities; `terms` are the terms at each position."""
    sums = [sum(position) for position in terms]
    c = -sum(map(math.log, sums))
    count = len(terms)
    return {
        "relaxed_cross_entropy_sum": c,
        "relaxed_cross_entropy_mean": c / count,
        "relaxed_cross_entropy_per_byte": c / count / len(text.encode()),
        "relaxed_perplexity": math.prod(sums) ** (-1 / (n + text_tokens)),
        "relaxed_perplexity_stride_corrected": math.prod(sums) ** (-(n + 1) / (count * (n + text_tokens))),
        "relaxed_anywhere": -math.log(sum(sum(p) / len(p) for p in terms) / count),
    }


P = PROBABILITIES


@pytest.mark.parametrize(
    ("name", "terms"),
    [
        ("main", [[P[2, 0]], [P[2, 2], P[0, 2]], [P[2, 4], P[0, 4], P[3, 4]]]),  # the last sum exceeds 1
        ("with-duplicates", [[P[2, 0]], [P[2, 2], P[0, 2], P[3, 2]], [P[2, 4], P[0, 4], P[3, 4]]]),
        (
            "weighted",
            [
                [P[2, 0]],
                [math.exp(-1) * P[2, 2], math.exp(-2) * P[0, 2]],
                [math.exp(-2) * P[2, 4], math.exp(-4) * P[0, 4], math.exp(-5) * P[3, 4]],
            ],
        ),
    ],
)
def test_values_are_those_of_the_definition(name, terms):
    result = relaxed(FOUR, likelihoods(), "größe", variant(name))
    assert result.values == pytest.approx(plainly(terms), rel=1e-12)
    assert result.kept == tuple(map(len, terms))
    assert result.positions == (0, 2, 4)
    assert set(result.values) == set(VALUES)


def test_per_position_may_take_a_completion_that_is_not_among_the_best():
    values = [*likelihoods(), likelihood(0, {0: math.log(0.02), 2: math.log(0.3), 4: math.log(0.001)})]
    result = relaxed(FOUR, values, "größe", variant("per-position"))
    terms = [[0.02], [P[2, 2], P[0, 2], P[1, 2]], [P[2, 4], P[0, 4], P[3, 4]]]
    assert result.values == pytest.approx(plainly(terms), rel=1e-12)


def test_improbable_texts_do_not_vanish():
    """exp(-1000) is 0 in floating point: expected values from the logarithms by hand."""
    settings = variant("main", tokens=2, best=2, samples=2)
    completions = [completion(0, [1, 2]), completion(1, [3, 4])]
    values = [likelihood(0, {0: -1000.0, 2: -1000.0}), likelihood(1, {2: -1000.0})]
    result = relaxed(completions, values, "text", settings)
    assert result.values["relaxed_cross_entropy_sum"] == pytest.approx(2000 - math.log(2), rel=1e-12)
    assert result.values["relaxed_anywhere"] == pytest.approx(1000, rel=1e-12)
    assert result.values["relaxed_perplexity"] == pytest.approx(math.exp((2000 - math.log(2)) / 5), rel=1e-9)
    beyond = relaxed(completions, [likelihood(0, {0: -9e3, 2: -9e3}), likelihood(1, {2: -9e3})], "text", settings)
    assert beyond.values["relaxed_perplexity"] is None
    assert "beyond floating point" in beyond.reasons["relaxed_perplexity"]
    assert beyond.values["relaxed_cross_entropy_mean"] == pytest.approx(9e3 - math.log(2) / 2)


def test_a_position_without_prefixes_makes_the_value_null():
    ended = [completion(k, [7, 0], finish_reason="stop") for k in range(2)]
    settings = variant("eos", samples=2, best=2)
    result = relaxed(ended, [likelihood(0, {0: -1.0})], "text", settings)
    assert set(result.values.values()) == {None}
    assert result.kept == (1, 0, 0)
    assert result.reasons["relaxed_perplexity"] == "no completion reaches position 2"


def test_a_missing_likelihood_or_completion_is_refused():
    with pytest.raises(StudyError, match=r"q1.*completion 3 has no log-likelihood at position 4"):
        relaxed(FOUR, likelihoods()[:3], "text", SETTINGS)
    with pytest.raises(StudyError, match="there are 3 of 4 completions"):
        prefixes(FOUR[:3], SETTINGS)
    with pytest.raises(StudyError, match="has not 4 tokens"):
        prefixes([*FOUR[:3], completion(3, [1, 2])], SETTINGS)


def test_fewer_samples_are_the_first_ones():
    assert prefixes(FOUR, variant("main", samples=2, best=2)) == {0: [0], 2: [0, 1], 4: [0, 1]}


def test_the_signature_tells_settings_apart_and_mixing_is_refused():
    assert SETTINGS.signature == "n4,stride2,l3,s4,main,p0.9,T1"
    assert one_signature([SETTINGS.signature, dataclasses.replace(SETTINGS).signature]) == SETTINGS.signature
    for change in ({"tokens": 8}, {"stride": 4}, {"best": 2}, {"samples": 5}, {"variant": "eos"}, {"top_p": 0.8}):
        with pytest.raises(StudyError, match="would share a table"):
            one_signature([SETTINGS.signature, dataclasses.replace(SETTINGS, **change).signature])
    with pytest.raises(StudyError, match=r"no variant 'esq'.*main, eos"):
        variant("esq")


def test_statements_are_averaged_within_their_question():
    first, second = (relaxed(FOUR, likelihoods(), text, SETTINGS) for text in ("a", "abcd"))
    undefined = dataclasses.replace(first, values=dict.fromkeys(VALUES))
    means = question_mean([first, second, undefined])
    per_byte = -math.log(math.prod([0.02, 0.8, 1.601])) / 3
    assert means["relaxed_cross_entropy_per_byte"] == (pytest.approx((per_byte + per_byte / 4) / 2), 1)
    assert question_mean([undefined])["relaxed_perplexity"] == (None, 1)


def test_targets_are_the_statements_or_the_reference():
    assert targets(ITEM) == {"must_have/0": "statement one", "must_have/1": "two", "nice_to_have/0": "three"}
    assert targets(dataclasses.replace(ITEM, must_have=(), nice_to_have=())) == {"reference/0": "That."}


def test_each_pair_of_completion_and_position_is_asked_once_for_all_variants():
    every = [variant(name) for name in ("main", "per-position", "weighted", "with-duplicates")]
    requests = branch_requests(ITEM, "What? Answer:", FOUR, every)
    positions = {r.index: r.positions for r in requests if r.variant == "fixed/must_have/1"}
    assert positions == {0: (0, 2, 4), 1: (2,), 2: (0, 2, 4), 3: (2, 4)}
    assert len(requests) == 3 * 4
    assert {r.continuation for r in requests if r.variant == "fixed/nice_to_have/0"} == {" three"}
    assert {r.completion for r in requests if r.index == 1} == {(5, 9)}


# With an engine


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    """A tiny random Llama with a byte-level tokenizer."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    directory = tmp_path_factory.mktemp("model")
    alphabet = ["<s>", "</s>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    backend = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(alphabet)}, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>").save_pretrained(directory)
    torch.manual_seed(5)
    config = LlamaConfig(
        vocab_size=len(alphabet),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=128,
        bos_token_id=0,
        eos_token_id=1,
        initializer_range=0.3,
    )
    LlamaForCausalLM(config).save_pretrained(directory)
    return engines.load({"name": "m", "engine": "transformers", "directory": str(directory)})


def ask(engine, requests):
    prepared = engine.prepare(requests)
    by_key = {a.key: a for batch in engine.plan(prepared) for a in engine.answer(batch)}
    return [by_key[p.key] for p in prepared]


OTHER = dataclasses.replace(ITEM, id="q2", prompt="Why is that so, and for how long? Answer:")


def test_branches_equal_whole_sequences_in_plain_torch(engine):
    """Two questions of different lengths in one batch."""
    settings = Settings(tokens=12, stride=4, best=2, samples=3)
    both = [settings, dataclasses.replace(settings, variant="per-position")]
    requests = []
    for item in (ITEM, OTHER):
        completions = ask(engine, completion_requests(item, item.prompt, settings, [11, 12, 13]))
        assert [len(c.token_ids) for c in completions] == [12, 12, 12]
        assert 1 not in {token for c in completions for token in c.token_ids}
        requests += branch_requests(item, item.prompt, completions, both)
    # One batch whatever the plan would make of them, so that rows of unequal length are padded.
    prepared = engine.prepare(requests)
    assert len({len(p.prompt_ids) for p in prepared}) == 2
    answers = engine.answer(prepared)
    for request, answer in zip(requests, answers, strict=True):
        prompt = engine.tokenizer(request.prompt).input_ids
        target = engine.tokenizer(request.continuation).input_ids
        assert answer.target_tokens == len(target)
        for position, value in zip(answer.positions, answer.log_probabilities, strict=True):
            ids = torch.tensor([[*prompt, *request.completion[:position], *target]])
            with torch.no_grad():
                log_p = engine._model(ids).logits[0].log_softmax(-1)
            start = ids.shape[1] - len(target)
            expected = sum(float(log_p[start + j - 1, token]) for j, token in enumerate(target))
            assert value == pytest.approx(expected, abs=1e-4)
    for name, text in targets(ITEM).items():
        its = [a for a in answers if (a.item_id, a.variant) == ("q2", f"fixed/{name}")]
        assert relaxed(completions, its, text, settings).values["relaxed_perplexity"] > 0


def test_the_raw_log_probabilities_of_a_completion_are_kept(engine):
    settings = Settings(tokens=6, stride=2, best=1, samples=1, temperature=0.7, top_p=0.5)
    (answer,) = ask(engine, completion_requests(ITEM, ITEM.prompt, settings, [3]))
    prompt = engine.tokenizer(ITEM.prompt).input_ids
    with torch.no_grad():
        log_p = engine._model(torch.tensor([[*prompt, *answer.token_ids]])).logits[0].log_softmax(-1)
    expected = [float(log_p[len(prompt) + j - 1, token]) for j, token in enumerate(answer.token_ids)]
    assert answer.token_log_probabilities == pytest.approx(expected, abs=1e-5)
    assert answer.log_probability == pytest.approx(sum(expected), abs=1e-4)
    others = log_p.clone()
    rows = range(len(prompt) - 1, len(prompt) + 5)
    for row, token in zip(rows, answer.token_ids, strict=True):
        others[row, token] = -float("inf")
    margins = [value - float(others[row].max()) for row, value in zip(rows, expected, strict=True)]
    assert answer.token_margins == pytest.approx(margins, abs=1e-5)


def test_one_completion_shares_its_tree_and_neither_grouping_nor_order_moves_a_value(engine):
    settings = Settings(tokens=12, stride=4, best=2, samples=2)
    completions = ask(engine, completion_requests(ITEM, ITEM.prompt, settings, [1, 2]))
    requests = branch_requests(ITEM, ITEM.prompt, completions, [settings])
    prepared = engine.prepare(requests)
    rows = [row for batch in engine.plan(prepared) for row in engine._rows(batch)]
    assert len(rows) == 2
    together = {a.key: a for batch in engine.plan(prepared) for a in engine.answer(batch)}
    for p in reversed(prepared):
        (alone,) = engine.answer([p])
        assert alone.log_probabilities == pytest.approx(together[p.key].log_probabilities, abs=1e-5)


def test_a_completion_beyond_the_context_is_refused(engine):
    settings = Settings(tokens=127, stride=127, best=1, samples=1)
    (answer,) = ask(engine, completion_requests(ITEM, ITEM.prompt, settings, [1]))
    with pytest.raises(StudyError, match=r"q1.*tokens after the prompt in a context of 128"):
        engine.prepare(branch_requests(ITEM, ITEM.prompt, [answer], [settings]))


def test_positions_must_rise_within_the_completion():
    from beyondqa.engines.base import BranchRequest

    for positions in ((), (2, 1), (0, 0), (0, 5), (-1,)):
        with pytest.raises(ValueError, match="q1"):
            BranchRequest("q1", "olaph", "x", 0, "What?", (1, 2, 3, 4), positions, " text")
