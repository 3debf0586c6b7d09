"""The transformers engine with the embedded model: against plain torch, one sequence at a time, and transformers' own
generation. Slow, so few and small."""

import importlib.util

import pytest
import torch

from beyondqa import engines
from beyondqa.engines.base import BranchRequest, GenerationRequest, LikelihoodRequest
from beyondqa.models import EMBEDDED, prepare_embedded

NAME = "SmolLM2-135M-Instruct"
PROMPT = "Question: Which vitamin prevents scurvy?\nA. Vitamin A\nB. Vitamin C\nC. Vitamin D\nAnswer:"
REQUESTS = [
    *(LikelihoodRequest("q1", "bench", "option", i, PROMPT, f" {letter}") for i, letter in enumerate("ABC")),
    *(
        LikelihoodRequest("q1", "bench", "string", i, PROMPT, f" B. Vitamin {letter}, 90 mg")
        for i, letter in enumerate("ACD")
    ),
    LikelihoodRequest("q2", "bench", "reference", 0, "", "Scurvy is caused by a lack of ascorbic acid.\n\n1. Neumonía"),
    LikelihoodRequest("q3", "bench", "chat", 0, (("user", "Which vitamin prevents scurvy?"),), "Vitamin C"),
    BranchRequest("q4", "bench", "fixed/reference/0", 0, PROMPT, (216, 197, 30, 2300), (0, 2, 4), " Vitamin C"),
]


@pytest.fixture(scope="module")
def directory(root, tmp_path_factory):
    """The converted model: the one that the workflow made, else made now."""
    if importlib.util.find_spec(EMBEDDED[NAME].package) is None:
        pytest.skip(f"{EMBEDDED[NAME].distribution} is not installed")
    made = root / "resources" / "models" / NAME
    if not (made / "config.json").is_file():
        made = tmp_path_factory.mktemp("models") / NAME
        prepare_embedded(NAME, made)
    return made


@pytest.fixture(scope="module")
def engine(directory):
    return engines.load({"name": NAME, "engine": "transformers", "directory": str(directory), "context": 512})


def answers(engine, requests):
    prepared = engine.prepare(requests)
    by_key = {a.key: a for batch in engine.plan(prepared) for a in engine.answer(batch)}
    return [by_key[p.key] for p in prepared]


def values(answer):
    return getattr(answer, "token_log_probabilities", None) or answer.log_probabilities


def test_equals_plain_torch_and_no_batch_or_order_moves_it(engine):
    tokenizer = engine.tokenizer
    chat = tokenizer.apply_chat_template(
        [{"role": "user", "content": "Which vitamin prevents scurvy?"}], tokenize=False, add_generation_prompt=True
    )

    def log_probabilities(ids, scored):
        with torch.no_grad():
            log_p = engine._model(torch.tensor([ids])).logits[0].log_softmax(-1)
        return [float(log_p[i - 1, ids[i]]) for i in range(len(ids) - scored, len(ids))]

    together = answers(engine, REQUESTS)
    for request, answer in zip(REQUESTS, together, strict=True):
        prompt = request.prompt if isinstance(request.prompt, str) else chat
        before = tokenizer(prompt).input_ids or [tokenizer.bos_token_id]
        after = tokenizer(request.continuation).input_ids
        if isinstance(request, BranchRequest):
            expected = [
                sum(log_probabilities([*before, *request.completion[:i], *after], len(after))) for i in (0, 2, 4)
            ]
        else:
            expected = log_probabilities([*before, *after], len(after))
        assert values(answer) == pytest.approx(expected, abs=1e-4)
        assert answer.prompt_tokens == len(before)
    for request, answer in list(zip(REQUESTS, together, strict=True))[::-2]:
        (alone,) = answers(engine, [request])
        assert values(alone) == pytest.approx(values(answer), abs=1e-4)


def test_the_beginning_of_sequence_comes_once(engine):
    """The template writes the same token before every turn, so there it is the first and is not doubled."""
    bos = engine.tokenizer.bos_token_id
    plain, empty, chat = (p.prompt_ids for p in engine.prepare([REQUESTS[0], REQUESTS[6], REQUESTS[7]]))
    assert bos not in plain  # this tokenizer adds none
    assert empty == (bos,)
    assert chat[0] == bos != chat[1]
    assert bos not in engine.prepare([REQUESTS[6]])[0].continuation_ids


def test_greedy_equals_transformers_own_generation(engine):
    prompts = [PROMPT, "Metformin is", "The most common symptoms of pneumonia are"]
    got = answers(engine, [GenerationRequest(f"g{i}", "bench", "greedy", 0, p, 12) for i, p in enumerate(prompts)])
    for prompt, answer in zip(prompts, got, strict=True):
        inputs = engine.tokenizer(prompt, return_tensors="pt")
        output = engine._model.generate(**inputs, do_sample=False, max_new_tokens=12)[0, inputs.input_ids.shape[1] :]
        assert answer.text == engine.tokenizer.decode(output, skip_special_tokens=True)
        assert answer.generated_tokens == len(output)
