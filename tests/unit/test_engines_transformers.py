"""The transformers engine against plain torch, against transformers' own generation, and against models whose
answers are known in advance."""

import json
import math
import random

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from beyondqa import engines
from beyondqa.engines import transformers as engine_module
from beyondqa.engines._sampling import sample, uniforms
from beyondqa.engines._tokens import Tokens, windows
from beyondqa.engines._trees import Tree
from beyondqa.engines.base import GenerationRequest, LikelihoodRequest
from beyondqa.errors import StudyError

CORPUS = [
    "Question: which drug lowers glucose? Answer: metformin",
    "The patient has fever, cough and chest pain. The doctor asks about aspirin.",
    "Neumonía adquirida en la comunidad: amoxicilina 500 mg cada 8 horas.",
    "user: what is the dose?\nassistant: 10 mg a day.\n\n",
]
TEMPLATE = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant: "


def write_model(directory, *, adds_bos=False, template=TEMPLATE, uniform=False, context=64):
    """A tiny Llama with random weights (or a head of zeros) and a byte-level tokenizer of about 300 tokens."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=320, special_tokens=["<s>", "</s>"], initial_alphabet=alphabet)
    backend.train_from_iterator(CORPUS * 3, trainer)
    if adds_bos:
        backend.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>")
    tokenizer.chat_template = template
    tokenizer.save_pretrained(directory)
    torch.manual_seed(3)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=context,
        bos_token_id=0,
        eos_token_id=1,
        initializer_range=0.4,
    )
    model = LlamaForCausalLM(config)
    if uniform:
        torch.nn.init.zeros_(model.lm_head.weight)
    model.save_pretrained(directory)
    return directory


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def bos_directory(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("model_with_bos"), adds_bos=True)


@pytest.fixture(scope="module")
def uniform_directory(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("uniform_model"), uniform=True)


def load(directory, **entry):
    return engines.load({"name": "tiny", "engine": "transformers", "directory": str(directory), **entry})


def likelihood(prompt, continuation, item="item", index=0, **fields):
    return LikelihoodRequest(item, "bench", "option", index, prompt, continuation, **fields)


def generation(prompt, item="item", index=0, max_new_tokens=12, **fields):
    return GenerationRequest(item, "bench", "greedy", index, prompt, max_new_tokens, **fields)


def answers(engine, requests):
    """Answers in the order of the requests."""
    prepared = engine.prepare(requests)
    by_key = {a.key: a for batch in engine.plan(prepared) for a in engine.answer(batch)}
    return [by_key[p.key] for p in prepared]


def plain_log_probabilities(directory, prompt_ids, continuation_ids):
    """log P of each continuation token by one unbatched forward pass of the whole sequence."""
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32)
    ids = torch.tensor([[*prompt_ids, *continuation_ids]])
    with torch.no_grad():
        log_probabilities = torch.log_softmax(model(ids).logits[0], dim=-1)
    start = len(prompt_ids)
    return [float(log_probabilities[start + j - 1, token]) for j, token in enumerate(continuation_ids)]


def tokenizer_of(directory):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(directory)


MIXED = [
    likelihood("Question: which drug lowers glucose? Answer:", option, "i1", k)
    for k, option in enumerate([" metformin", " aspirin 500 mg", " aspirin", " A", " B"])
] + [
    likelihood("The doctor asks:", " what is the dose of amoxicilina?", "i2"),
    likelihood("", "Neumonía adquirida en la comunidad", "i3"),
    likelihood("", "chest pain", "i4"),
    likelihood((("user", "what is the dose?"),), "10 mg a day", "i5"),
]


# Log-likelihoods


def test_a_model_with_a_head_of_zeros_gives_every_token_the_same_probability(uniform_directory):
    engine = load(uniform_directory)
    vocabulary = len(tokenizer_of(uniform_directory))
    for answer in answers(engine, MIXED):
        assert answer.total == pytest.approx(-len(answer.token_log_probabilities) * math.log(vocabulary), abs=1e-4)


@pytest.mark.parametrize("adds_bos", [False, True])
def test_equals_plain_torch_one_by_one(directory, bos_directory, adds_bos):
    folder = bos_directory if adds_bos else directory
    tokenizer, bos = tokenizer_of(folder), [0] if adds_bos else []
    for request, answer in zip(MIXED, answers(load(folder), MIXED), strict=True):
        prompt = request.prompt if isinstance(request.prompt, str) else "user: what is the dose?\nassistant: "
        continuation = request.continuation
        if not isinstance(request.prompt, str):  # the template ends in a blank of its own, a token by itself here
            assert tokenizer.tokenize(prompt + continuation)[: len(tokenizer.tokenize(prompt))] == tokenizer.tokenize(
                prompt
            )
        prompt_ids = bos + tokenizer(prompt, add_special_tokens=False).input_ids or [0]
        whole = bos + tokenizer(prompt + continuation, add_special_tokens=False).input_ids
        continuation_ids = whole[len(prompt_ids) :] if prompt or bos else whole
        expected = plain_log_probabilities(folder, prompt_ids, continuation_ids)
        assert answer.token_log_probabilities == pytest.approx(expected, abs=1e-5)
        assert answer.prompt_tokens == len(prompt_ids)


def test_is_greedy_tells_whether_every_token_was_the_most_probable(directory):
    tokenizer, engine = tokenizer_of(directory), load(directory)
    model = engine._model
    said = []
    for prompt in ("The doctor", "The patient has", "user: what", "Question: which drug", "chest pain.", "500 mg"):
        ids = tokenizer(prompt).input_ids
        with torch.no_grad():
            ranked = model(torch.tensor([ids])).logits[0, -1].argsort(descending=True).tolist()
        for rank in (0, 1):
            text = tokenizer.decode([ranked[rank]])
            if tokenizer(prompt + text).input_ids == [*ids, ranked[rank]]:  # not every token survives as text
                said.append((likelihood(prompt, text, index=rank), rank == 0))
    assert {expected for _, expected in said} == {True, False}
    assert [a.is_greedy for a in answers(engine, [r for r, _ in said])] == [expected for _, expected in said]


def test_neither_order_nor_batch_nor_padding_moves_a_log_likelihood(directory):
    reference = {a.key: a for a in answers(load(directory), MIXED)}
    shuffled = random.Random(1).sample(MIXED, len(MIXED))
    for engine, requests in ((load(directory), shuffled), (load(directory, batch_tokens=1), MIXED)):
        for answer in answers(engine, requests):
            expected = reference[answer.key]
            assert answer.token_log_probabilities == pytest.approx(expected.token_log_probabilities, abs=1e-5)
            assert answer.is_greedy == expected.is_greedy


def test_options_of_an_item_share_its_prompt(directory):
    engine = load(directory)
    options = engine.prepare(MIXED[:5])
    (batch,) = engine.plan(options)
    (tree,) = engine._rows(batch)
    beginnings = {p.prompt_ids[: i + 1] for p in options for i in range(len(p.prompt_ids))}
    beginnings |= {
        p.prompt_ids + p.continuation_ids[: i + 1] for p in options for i in range(len(p.continuation_ids) - 1)
    }
    assert len(tree) == len(beginnings) < sum(len(p.prompt_ids) for p in options)


def test_letters_cost_one_pass_over_the_prompt(directory):
    engine = load(directory)
    letters = engine.prepare([likelihood("Which? Answer:", letter, index=i) for i, letter in enumerate("ABCD")])
    ((tree,),) = (engine._rows(batch) for batch in engine.plan(letters))
    assert tuple(tree.tokens) == letters[0].prompt_ids
    assert tree.is_chain


def test_a_model_that_disobeys_the_mask_of_a_tree_is_asked_one_by_one(directory, monkeypatch, caplog):
    expected = answers(load(directory), MIXED)
    monkeypatch.setattr(engine_module.TransformersEngine, "_branched", lambda *arguments: {})
    engine = load(directory)
    for answer, right in zip(answers(engine, MIXED), expected, strict=True):
        assert answer.token_log_probabilities == pytest.approx(right.token_log_probabilities, abs=1e-5)
    assert not engine._sees_branches
    assert "disobeys" in caplog.text


# Beginning of sequence


@pytest.mark.parametrize("template", [TEMPLATE, "{{ bos_token }}" + TEMPLATE])
def test_one_bos_on_every_path_and_never_scored(tmp_path, template):
    folder = write_model(tmp_path, adds_bos=True, template=template)
    engine, tokenizer = load(folder), tokenizer_of(folder)
    chat = (("user", "what is the dose?"),)
    for prompt in ("The dose:", "<s>The dose:", chat, ""):
        scored, generated = engine.prepare([likelihood(prompt, " 10 mg"), generation(prompt)])
        for prepared in (scored, generated):
            assert (prepared.prompt_ids + prepared.continuation_ids).count(0) == 1
            assert prepared.prompt_ids[0] == 0
        if prompt == "":
            continuation = tokenizer(" 10 mg", add_special_tokens=False).input_ids
            assert list(scored.continuation_ids) == continuation
            assert len(answers(engine, [likelihood("", " 10 mg")])[0].token_log_probabilities) == len(continuation)


def test_no_bos_where_the_tokenizer_adds_none(directory):
    plain, empty = load(directory).prepare([likelihood("The dose:", " 10 mg"), likelihood("", "10 mg")])
    assert 0 not in plain.prompt_ids
    assert empty.prompt_ids == (0,)
    assert 0 not in empty.continuation_ids


# Token boundaries, context


def test_white_space_at_the_end_of_a_prompt_goes_to_the_continuation(directory):
    without, with_blank = load(directory).prepare(
        [likelihood("Answer:", " metformin"), likelihood("Answer: ", "metformin")]
    )
    assert with_blank.prompt_ids == without.prompt_ids
    assert with_blank.continuation_ids == without.continuation_ids
    assert with_blank.key == without.key


def test_a_token_across_the_boundary_is_scored_with_the_continuation(directory):
    tokenizer = tokenizer_of(directory)
    (prepared,) = load(directory).prepare([likelihood("The doc", "tor asks")])
    assert list(prepared.prompt_ids + prepared.continuation_ids) == tokenizer("The doctor asks").input_ids
    assert tokenizer.decode(prepared.continuation_ids).endswith("tor asks")


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_prompt_beyond_the_context_is_cut_on_its_side_and_counted(bos_directory, side):
    engine, tokenizer = load(bos_directory, context=20), tokenizer_of(bos_directory)
    text = CORPUS[2]
    ids = tokenizer(text, add_special_tokens=False).input_ids
    cut, generated = engine.prepare(
        [likelihood(text, " aspirin", truncation_side=side), generation(text, max_new_tokens=8, truncation_side=side)]
    )
    room = 20 + 1 - len(cut.continuation_ids)
    kept = ids[-(room - 1) :] if side == "left" else ids[: room - 1]
    assert list(cut.prompt_ids) == [0, *kept]
    assert cut.prompt_tokens_cut == len(ids) + 1 - room
    assert len(generated.prompt_ids) == 12
    assert generated.prompt_tokens_cut == len(ids) + 1 - 12
    answer = answers(engine, [likelihood(text, " aspirin", truncation_side=side)])[0]
    assert answer.prompt_tokens_cut == cut.prompt_tokens_cut
    assert answer.token_log_probabilities == pytest.approx(
        plain_log_probabilities(bos_directory, cut.prompt_ids, cut.continuation_ids), abs=1e-5
    )


def test_a_text_beyond_the_context_is_read_in_windows(directory):
    """Expected values: each window by itself in plain torch, windows laid out by hand for 1 + 25 tokens in 10."""
    engine = load(directory, context=10)
    (prepared,) = engine.prepare([likelihood("", CORPUS[1][:60])])
    ids = list(prepared.continuation_ids)
    assert len(ids) > 20
    whole = [0, *ids]
    n = len(whole)
    expected = (
        plain_log_probabilities(directory, whole[:1], whole[1:11])
        + plain_log_probabilities(directory, whole[10:11], whole[11:21])
        + plain_log_probabilities(directory, whole[n - 11 : 21], whole[21:])
    )
    (answer,) = answers(engine, [likelihood("", CORPUS[1][:60])])
    assert answer.token_log_probabilities == pytest.approx(expected, abs=1e-5)
    assert prepared.key != load(directory, context=11).prepare([likelihood("", CORPUS[1][:60])])[0].key


@pytest.mark.parametrize(
    ("length", "context", "expected"),
    [
        (10, 10, [(1, 10)]),
        (11, 10, [(1, 10), (10, 1)]),
        (20, 10, [(1, 10), (1, 10)]),
        (25, 10, [(1, 10), (1, 10), (6, 5)]),
        (7, 3, [(1, 3), (1, 3), (3, 1)]),
        (100, 32, [(1, 32), (1, 32), (1, 32), (29, 4)]),
    ],
)
def test_windows_are_those_of_the_harness(length, context, expected):
    """Tokens read and scored: lm-eval 0.4.13, get_rolling_token_windows with make_disjoint_window, context_len 1."""
    spans = windows((-1,), tuple(range(length)), context)
    assert [(len(read), len(scored)) for read, scored in spans] == expected


@given(st.integers(1, 40), st.integers(1, 60), st.integers(2, 30))
def test_windows_score_score_every_token_once_within_the_context(prompt_length, length, context):
    prompt = tuple(range(-prompt_length, 0)) if prompt_length + length - 1 <= context else (-1,)
    continuation = tuple(range(length))
    spans = list(windows(prompt, continuation, context))
    assert tuple(token for _, scored in spans for token in scored) == continuation
    for before, scored in spans:
        assert len(before) + len(scored) - 1 <= context
        assert before
        assert list(before + scored) == list(range(before[0], scored[-1] + 1))


# Generation


def test_greedy_equals_transformers_own_generation(directory):
    from transformers import AutoModelForCausalLM

    model, tokenizer = AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32), tokenizer_of(directory)
    prompts = [text[:20] for text in CORPUS] + ["The", "Question: which"]
    got = answers(load(directory), [generation(p, f"i{i}", max_new_tokens=15) for i, p in enumerate(prompts)])
    for prompt, answer in zip(prompts, got, strict=True):
        inputs = tokenizer(prompt, return_tensors="pt")
        output = model.generate(**inputs, do_sample=False, max_new_tokens=15, pad_token_id=1)[0]
        new = output[inputs.input_ids.shape[1] :].tolist()
        assert answer.text == tokenizer.decode(new, skip_special_tokens=True)
        assert answer.generated_tokens == len(new)
        assert answer.finish_reason == ("stop" if new[-1] == 1 else "length")
        start = inputs.input_ids.shape[1]
        expected = sum(plain_log_probabilities(directory, output[:start].tolist(), new))
        assert answer.log_probability == pytest.approx(expected, abs=1e-4)


def sampled(prompt, seed, **fields):
    return generation(prompt, f"i{seed}", temperature=1.0, top_p=0.9, seed=seed, **fields)


def test_a_sample_depends_on_its_seed_and_not_on_its_batch(directory):
    requests = [sampled(text[: 12 + 3 * k], 10 * k + seed) for k, text in enumerate(CORPUS) for seed in range(4)]
    together = answers(load(directory), requests)
    alone = answers(load(directory, batch_tokens=1), requests)
    assert [a.text for a in together] == [a.text for a in alone]
    assert [a.log_probability for a in together] == pytest.approx([a.log_probability for a in alone], abs=1e-4)
    again = answers(load(directory), [sampled(CORPUS[0][:12], seed) for seed in (0, 1, 2, 3)])
    assert [a.text for a in again] == [a.text for a in together[:4]]
    assert len({a.text for a in again}) == 4


def test_repeated_runs_give_the_same_bytes(directory):
    requests = MIXED + [sampled(text, seed) for seed, text in enumerate(CORPUS)]
    first, second = (answers(load(directory), requests) for _ in range(2))
    assert first == second


def test_the_log_probability_of_a_sample_is_raw(directory):
    engine, tokenizer = load(directory), tokenizer_of(directory)
    request = sampled("The doctor", 5, max_new_tokens=6, suppress_end=True)
    answer = answers(engine, [request])[0]
    prompt_ids = tokenizer("The doctor").input_ids
    draws = uniforms(5, 6)
    ids = list(prompt_ids)
    total = 0.0
    model = engine._model
    for draw in draws:  # an independent loop: whole sequence each time, full sort, no cache
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0, -1].double().numpy()
        log_p = logits - np.log(np.exp(logits - logits.max()).sum()) - logits.max()
        allowed = logits.copy()
        allowed[1] = -np.inf
        p = np.exp(allowed - allowed.max())
        p /= p.sum()
        order = np.argsort(-p, kind="stable")
        size = int(np.argmax(np.cumsum(p[order]) >= 0.9)) + 1
        nucleus = p[order[:size]] / p[order[:size]].sum()
        token = int(order[int(np.argmax(np.cumsum(nucleus) > draw))])
        total += log_p[token]
        ids.append(token)
    assert answer.text == tokenizer.decode(ids[len(prompt_ids) :], skip_special_tokens=True)
    assert answer.log_probability == pytest.approx(total, abs=1e-4)


def test_a_stop_string_ends_the_answer_and_is_left_out(directory):
    free = answers(load(directory), [generation("The patient", max_new_tokens=20)])[0]
    stop = free.text[5:7]
    at = free.text.find(stop)
    request = generation("The patient", max_new_tokens=20, stop=("never said", stop))
    stopped = answers(load(directory), [request, generation("The patient", "other", max_new_tokens=20)])
    assert stopped[0].text == free.text[:at]
    assert stopped[0].finish_reason == "stop"
    assert stopped[0].generated_tokens < free.generated_tokens
    assert stopped[1].text == free.text


def end_lover(directory):
    """An engine whose model says the end token wherever it may."""
    engine = load(directory)
    with torch.no_grad():
        engine._model.get_output_embeddings().weight.zero_()
        engine._model.get_output_embeddings().bias = torch.nn.Parameter(torch.zeros(len(engine.tokenizer)))
        engine._model.get_output_embeddings().bias[1] = 5.0
    return engine


def test_end_tokens_end_an_answer_unless_they_are_suppressed(directory):
    engine = end_lover(directory)
    ended, suppressed = answers(engine, [generation("The"), generation("The", suppress_end=True)])
    assert (ended.text, ended.finish_reason, ended.generated_tokens) == ("", "stop", 1)
    assert (suppressed.finish_reason, suppressed.generated_tokens) == ("length", 12)
    weight = math.exp(5) + len(engine.tokenizer) - 1
    assert ended.log_probability == pytest.approx(5 - math.log(weight), abs=1e-5)
    assert suppressed.log_probability == pytest.approx(-12 * math.log(weight), abs=1e-4)


# Nucleus sampling


logits = st.lists(st.floats(-8, 8, width=32), min_size=2, max_size=400)


@settings(deadline=None)
@given(logits, st.floats(0.3, 2.0), st.floats(0.05, 1.0))
def test_the_nucleus_is_that_of_transformers(values, temperature, top_p):
    from transformers import TemperatureLogitsWarper, TopPLogitsWarper

    scores = torch.tensor([values], dtype=torch.float64)
    warped = TopPLogitsWarper(top_p)(None, TemperatureLogitsWarper(temperature)(None, scores))
    probabilities = torch.softmax(warped, dim=-1)[0].numpy()
    drawn = [sample(scores[0], temperature, top_p, u) for u in np.linspace(0, 1, 101, endpoint=False)]
    smallest_kept = probabilities[probabilities > 0].min()
    for token in drawn:
        # Of equally probable tokens at the border either may be kept.
        peers = np.flatnonzero(np.isclose(scores[0].numpy(), scores[0, token], rtol=0, atol=1e-9))
        near_border = probabilities[peers].max(initial=0) > 0 or np.isclose(
            torch.softmax(scores[0] / temperature, -1)[token], smallest_kept, rtol=1e-6
        )
        assert probabilities[token] > 0 or near_border


def test_draws_have_the_frequencies_of_the_nucleus():
    """Tokens of mass .5, .3, .15, .05 with p = .9 keep three, of mass .5/.95, .3/.95 and .15/.95."""
    scores = torch.log(torch.tensor([0.05, 0.5, 0.15, 0.3]))
    grid = (np.arange(10_000) + 0.5) / 10_000
    drawn = np.bincount([sample(scores, 1.0, 0.9, u) for u in grid], minlength=4) / 10_000
    assert drawn == pytest.approx([0, 0.5 / 0.95, 0.15 / 0.95, 0.3 / 0.95], abs=2e-4)


def test_a_large_nucleus_takes_the_slow_way_to_the_same_draw():
    scores = torch.zeros(5000)
    assert [sample(scores, 1.0, 1.0, u) for u in (0.0, 0.50001, 0.9999)] == [0, 2500, 4999]


# Trees


@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=6), st.integers(1, 4))
def test_a_token_of_a_tree_sees_its_own_sequence_and_nothing_else(continuations, prompt_length):
    prompt = [9] * prompt_length
    tree = Tree()
    for continuation in continuations:
        tree.add(prompt, continuation)
    visible, depths, tokens = tree.visible(), tree.depths(), np.array(tree.tokens)
    for path, continuation in zip(tree.paths, continuations, strict=True):
        for j, node in enumerate(path):
            seen = np.flatnonzero(visible[node])
            assert tokens[seen].tolist() == prompt + continuation[:j]
            assert depths[seen].tolist() == list(range(prompt_length + j))


# Faults


def test_out_of_memory_halves_the_batch_and_changes_no_answer(directory, monkeypatch):
    requests = MIXED + [generation(text[:15], f"g{i}") for i, text in enumerate(CORPUS)]
    expected = answers(load(directory), requests)
    engine = load(directory)
    original = engine._logits

    def scarce(places, **inputs):
        if len(inputs["input_ids"]) > 1:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes")
        return original(places, **inputs)

    assert engine._sees_branches
    monkeypatch.setattr(engine, "_logits", scarce)
    for answer, right in zip(answers(engine, requests), expected, strict=True):
        if hasattr(answer, "text"):
            assert (answer.text, answer.finish_reason) == (right.text, right.finish_reason)
        else:
            assert answer.token_log_probabilities == pytest.approx(right.token_log_probabilities, abs=1e-5)


def test_out_of_memory_alone_names_the_item(directory, monkeypatch):
    engine = load(directory)

    def exhausted(places, **inputs):
        raise torch.OutOfMemoryError("no memory left")

    monkeypatch.setattr(engine, "_logits", exhausted)
    with pytest.raises(StudyError, match=r"record greedy-item.*alone in its batch"):
        answers(engine, [generation("The", "greedy-item")])


def test_other_errors_are_not_taken_for_memory(directory, monkeypatch):
    engine = load(directory)

    def broken(places, **inputs):
        raise RuntimeError("shapes differ")

    monkeypatch.setattr(engine, "_logits", broken)
    with pytest.raises(RuntimeError, match="shapes differ"):
        answers(engine, [generation("The")])


def test_bad_requests_name_the_item(directory, tmp_path):
    engine = load(directory)
    with pytest.raises(StudyError, match=r"record empty.*no tokens"):
        engine.prepare([likelihood("Answer:", "", "empty")])
    with pytest.raises(StudyError, match=r"record long.*64 tokens after the prompt in a context of 64"):
        engine.prepare([generation("The", "long", max_new_tokens=64)])
    with pytest.raises(StudyError, match="no model is here"):
        load(tmp_path).prepare([generation("The")])
    no_chat = write_model(tmp_path / "no-chat", template=None)
    with pytest.raises(StudyError, match=r"record chat.*no chat template"):
        load(no_chat).prepare([generation((("user", "hello"),), "chat")])
    refusing = write_model(tmp_path / "refusing", template="{{ raise_exception('no system role') }}")
    with pytest.raises(StudyError, match=r"record chat.*no system role"):
        load(refusing).prepare([generation((("system", "hello"),), "chat")])


# Keys and plans


def test_keys_change_with_what_changes_the_answer_and_with_nothing_else(directory, tmp_path):
    def key(request, engine=None):
        return (engine or load(directory)).prepare([request])[0].key

    reference = key(sampled("The", 1))
    other_weights = write_model(tmp_path, uniform=True)
    different = [
        key(sampled("The ", 1)),
        key(sampled("The", 2)),
        key(sampled("The", 1, stop=("\n",))),
        key(sampled("The", 1, max_new_tokens=13)),
        key(sampled("The", 1, suppress_end=True)),
        key(generation("The")),
        key(likelihood("The", " dose")),
        key(sampled("The", 1), load(directory, dtype="bfloat16")),
        key(sampled("The", 1), load(directory, id="a/b", revision="0" * 40)),
        key(sampled("The", 1), load(directory, id="a/b", revision="1" * 40)),
        key(sampled("The", 1), load(other_weights)),
    ]
    assert len({reference, *different}) == len(different) + 1
    assert key(sampled("The", 1), load(directory, batch_tokens=7, threads=1, context=50)) == reference
    assert key(generation("The", seed=1)) == key(generation("The", seed=2, top_p=0.5))


def test_a_raised_semantics_changes_every_key(directory, monkeypatch):
    before = load(directory).prepare(MIXED)
    monkeypatch.setattr(engine_module.TransformersEngine, "SEMANTICS", engine_module.SEMANTICS + 1)
    after = load(directory).prepare(MIXED)
    assert not {p.key for p in before} & {p.key for p in after}


def test_the_plan_is_a_function_of_the_set_of_requests(directory):
    requests = MIXED + [sampled(text[:20], seed) for seed, text in enumerate(CORPUS * 3)]
    engine = load(directory, batch_tokens=64)
    plan = engine.plan(engine.prepare(requests))
    shuffled = engine.plan(engine.prepare(random.Random(5).sample(requests, len(requests))))
    assert [[p.key for p in batch] for batch in plan] == [[p.key for p in batch] for batch in shuffled]
    assert sorted(p.key for batch in plan for p in batch) == sorted(p.key for p in engine.prepare(requests))
    for batch in plan:
        assert len({type(p.request) for p in batch}) == 1
    generated = [batch for batch in plan if isinstance(batch[0].request, GenerationRequest)]
    widths = [max(len(p.prompt_ids) + p.request.max_new_tokens for p in batch) for batch in generated]
    assert all(len(b) * width <= 64 or len(b) == 1 for b, width in zip(generated, widths, strict=True))


def test_a_text_of_a_batch_is_tokenised_once(directory):
    calls = []

    class Counting:
        def __init__(self, tokenizer):
            self._tokenizer = tokenizer

        def __getattr__(self, name):
            return getattr(self._tokenizer, name)

        def __call__(self, texts, **options):
            calls.append(texts)
            return self._tokenizer(texts, **options)

    tokens = Tokens(Counting(tokenizer_of(directory)), 64)
    calls.clear()
    tokens.prepare(MIXED + MIXED, lambda *parts: json.dumps(parts[1:]))
    ((texts),) = calls
    assert len(texts) == len(set(texts))
