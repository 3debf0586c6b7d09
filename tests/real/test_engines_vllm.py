"""The real vLLM on a CPU, in float32, where `make vllm-environment` has been called.

Against the transformers engine, which its own tests judge by plain torch, and a model whose answers are known.
"""

import importlib.util
import math
import os
import pickle
import subprocess
from dataclasses import replace

import pytest
import torch
from support.ask_engine import ask
from support.tiny_model import write_model

from beyondqa import engines
from beyondqa.engines.base import BranchRequest, GenerationRequest, LikelihoodRequest
from beyondqa.items import MultipleChoiceItem, OpenItem
from beyondqa.models import EMBEDDED, prepare_embedded
from beyondqa.parity import compare, requests

NAME = "SmolLM2-135M-Instruct"
ENTRY = {"name": NAME, "dtype": "float32", "context": 320}
TOLERANCE = 1e-4
# What of an answer is compared apart from the rest.
FLOATS = {"token_log_probabilities": (), "token_margins": (), "log_probability": 0.0}

LETTERS = "Question: Which vitamin prevents scurvy?\nA. Vitamin A\nB. Vitamin C\nC. Vitamin D\nAnswer:"
STRINGS = "Pregunta: ¿Qué fármaco se usa en la neumonía adquirida en la comunidad?\nRespuesta:"
ITEMS = [
    MultipleChoiceItem("letters", "bench", "?", ("A", "B", "C"), (" A", " B", " C"), 1, LETTERS),
    MultipleChoiceItem(
        "strings",
        "bench",
        "?",
        ("x", "y"),
        (" Amoxicilina, 1 g cada 8 horas durante 5 días", " Metformina con la cena, hasta 2 g al día"),
        0,
        STRINGS,
    ),
    *(
        OpenItem(f"open{number}", "bench", "?", reference, prompt)
        for number, (prompt, reference) in enumerate(
            [
                ("Metformin is", "an oral drug that lowers the liver's output of glucose."),
                ("The most common symptoms of pneumonia are", "fever, cough and chest pain."),
                (LETTERS, "Vitamin C.\n\nScurvy comes of a lack of ascorbic acid, and 1–2 weeks of 300 mg/d heal it."),
                ("Question: Is aspirin safe in children?\nAnswer:", "No: Reye's syndrome → avoid below 16."),
            ]
        )
    ),
]
CHAT = (("system", "You are a doctor."), ("user", "Which vitamin prevents scurvy?"))
STOP = " crucial"
SUM = (("user", "What is 2+2?"),)
LONG = " ".join(
    f"On day {day} the patient had a temperature of {36 + day % 5}.{day % 10} degrees." for day in range(60)
)
COMPLETION = (216, 197, 30, 2300)
LIKELIHOODS = [
    *(request for request in requests(ITEMS) if isinstance(request, LikelihoodRequest)),
    LikelihoodRequest("chat", "bench", "reference", 0, CHAT, "Vitamin C"),
    # A prompt that is cut, and a text that is read in windows.
    LikelihoodRequest("cut", "bench", "reference", 0, LONG, " The fever went down."),
    LikelihoodRequest("windows", "bench", "reference", 0, "", LONG),
]
BRANCHES = [BranchRequest("branch", "bench", "fixed/reference/0", 0, LETTERS, COMPLETION, (0, 2, 4), " Vitamin C")]
GREEDY = [
    *(request for request in requests(ITEMS) if isinstance(request, GenerationRequest)),
    GenerationRequest("ends", "bench", "greedy", 0, SUM, 24, keep_tokens=True),
    GenerationRequest("stop", "bench", "greedy", 0, ITEMS[2].prompt, 24, stop=(STOP,), keep_tokens=True),
    GenerationRequest("endless", "bench", "greedy", 0, SUM, 24, suppress_end=True, keep_tokens=True),
]
SAMPLES = [
    GenerationRequest("sample", "bench", "sample", k, "Metformin is", 16, 1.0, 0.9, seed=100 + k, keep_tokens=True)
    for k in range(4)
]
# Tokens behind a shared beginning that is longer than vLLM's blocks of cached keys and values.
SHARING = [LikelihoodRequest("shared", "bench", "option", k, LONG[:900], f" Day {k} was fine.") for k in range(6)]
UNIFORM = [
    LikelihoodRequest("u", "bench", "option", 0, "chest pain", " and fever"),
    LikelihoodRequest("u", "bench", "reference", 0, "", "aspirin"),
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
    return str(made)


@pytest.fixture(scope="module")
def told(root, directory, tmp_path_factory):
    """What vLLM answers: its answers to each round by the round's name. Three models are loaded, each once."""
    python = root / ".venv-vllm" / "bin" / "python"
    if not any(python.parents[1].glob(".installed-*")):
        pytest.skip("vLLM's own environment is not made: make vllm-environment")
    folder = tmp_path_factory.mktemp("vllm")
    uniform = write_model(folder / "uniform", adds_bos=True, uniform=True, hidden_size=128)
    entry = {**ENTRY, "engine": "vllm", "directory": directory}
    rounds = {
        "likelihoods": LIKELIHOODS,
        "branches": BRANCHES,
        "greedy": GREEDY,
        "samples": SAMPLES,
        "again": SAMPLES[::-1],
        "reversed": LIKELIHOODS[::-1],
        **{f"alone {k}": [request] for k, request in enumerate(LIKELIHOODS)},
        "sample alone": SAMPLES[1:2],
        "greedy alone": GREEDY[1:2],
    }
    caching = {"forth": SHARING, "back": SHARING[::-1]}
    questions = [
        (entry, list(rounds.values())),
        ({**entry, "prefix_caching": True}, list(caching.values())),
        ({**entry, "directory": str(uniform), "name": "uniform", "context": 60}, [UNIFORM]),
    ]
    (folder / "questions").write_bytes(pickle.dumps(questions))
    done = subprocess.run(
        [python, "-m", "support.ask_engine", folder / "questions", folder / "answers"],
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": f"{root / 'workflow/scripts'}:{root / 'tests'}"},
        capture_output=True,
        text=True,
        timeout=3000,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    of_each = pickle.loads((folder / "answers").read_bytes())
    names = [*rounds, *caching, "uniform"]
    return dict(zip(names, (answers for rounds in of_each for answers in rounds), strict=True))


@pytest.fixture(scope="module")
def peer(directory):
    """The transformers engine."""
    return engines.load({**ENTRY, "engine": "transformers", "directory": directory})


@pytest.fixture(scope="module")
def expected(peer):
    return {"likelihoods": ask(peer, LIKELIHOODS), "branches": ask(peer, BRANCHES), "greedy": ask(peer, GREEDY)}


def test_both_engines_agree(told, expected):
    for name in ("likelihoods", "greedy"):
        for agreement in compare(told[name], expected[name], tolerance=TOLERANCE):
            print(agreement)
            assert agreement.agrees, agreement
            # Sums over long texts add up what each token differs by; those over options decide.
            assert agreement.kind != "option" or agreement.max_abs_diff_total <= TOLERANCE, agreement
    for ours, theirs in zip(told["likelihoods"], expected["likelihoods"], strict=True):
        assert ours.token_log_probabilities == pytest.approx(theirs.token_log_probabilities, abs=TOLERANCE)
        assert (ours.is_greedy, ours.prompt_tokens, ours.prompt_tokens_cut) == (
            *(theirs.is_greedy, theirs.prompt_tokens, theirs.prompt_tokens_cut),
        )


def test_texts_after_a_growing_completion_agree(told, expected):
    (ours,), (theirs,) = told["branches"], expected["branches"]
    assert ours.log_probabilities == pytest.approx(theirs.log_probabilities, abs=TOLERANCE)
    assert (ours.positions, ours.target_tokens) == (theirs.positions, theirs.target_tokens)


def test_answers_agree_in_all_that_is_told_of_them(told, expected):
    pairs = list(zip(told["greedy"], expected["greedy"], strict=True))
    # Others part at a near-tie: the comparison above allows nothing else.
    same = [(ours, theirs) for ours, theirs in pairs if ours.token_ids == theirs.token_ids]
    assert len(same) > len(pairs) / 2
    for ours, theirs in same:
        assert replace(ours, key="", **FLOATS) == replace(theirs, key="", **FLOATS)
        assert ours.token_log_probabilities == pytest.approx(theirs.token_log_probabilities, abs=TOLERANCE)
        assert ours.token_margins == pytest.approx(theirs.token_margins, abs=TOLERANCE)
        assert ours.log_probability == pytest.approx(theirs.log_probability, abs=TOLERANCE)


def test_ends_and_stop_strings(told):
    by_item = {answer.item_id: answer for answer in told["greedy"]}
    ends, stop, endless = by_item["ends"], by_item["stop"], by_item["endless"]
    assert (ends.finish_reason, stop.finish_reason, endless.finish_reason) == ("stop", "stop", "length")
    # Without the stop string the same answer holds it.
    assert STOP in by_item["open0"].text
    assert stop.text == by_item["open0"].text.partition(STOP)[0]
    assert stop.generated_tokens < by_item["open0"].generated_tokens
    # The end token counts, and where it is suppressed the answer goes on.
    assert ends.generated_tokens < endless.generated_tokens == 24
    assert ends.token_ids[:-1] == endless.token_ids[: ends.generated_tokens - 1]


def test_the_beginning_of_sequence_is_read_once_and_never_scored(told, peer):
    by_item = {answer.item_id: answer for answer in told["likelihoods"]}
    bos = peer.tokenizer.bos_token_id
    reference = ITEMS[2].reference
    alone = next(a for a in told["likelihoods"] if a.item_id == "open0" and a.variant == "reference")
    assert alone.prompt_tokens == 1
    assert len(alone.token_log_probabilities) == len(peer.tokenizer(reference).input_ids)
    chat = peer.tokenizer.apply_chat_template(
        [{"role": role, "content": text} for role, text in CHAT], add_generation_prompt=True, return_dict=False
    )
    assert chat[0] == bos != chat[1]
    assert by_item["chat"].prompt_tokens == len(chat)


def test_neither_order_nor_batch_moves_log_likelihoods(told):
    for name, answers in [
        ("reversed", told["reversed"][::-1]),
        ("alone", [told[f"alone {k}"][0] for k in range(len(LIKELIHOODS))]),
    ]:
        for first, second in zip(told["likelihoods"], answers, strict=True):
            assert second.token_log_probabilities == pytest.approx(first.token_log_probabilities, abs=TOLERANCE), name
            assert second.key == first.key


def test_neither_order_nor_a_shared_prefix_moves_them_with_prefix_caching(told, peer):
    expected = ask(peer, SHARING)
    for answers in (told["forth"], told["back"][::-1]):
        for answer, theirs in zip(answers, expected, strict=True):
            assert answer.token_log_probabilities == pytest.approx(theirs.token_log_probabilities, abs=TOLERANCE)


def test_samples_follow_their_seeds_whatever_is_asked_beside_them(told):
    texts = [answer.token_ids for answer in told["samples"]]
    assert len(set(texts)) == len(SAMPLES)
    assert [answer.token_ids for answer in told["again"][::-1]] == texts
    assert told["sample alone"][0].token_ids == texts[1]
    assert told["greedy alone"][0].token_ids == told["greedy"][1].token_ids


def test_samples_come_from_the_nucleus_with_raw_log_probabilities(told, peer):
    """By plain torch: what is told is unfiltered, and tokens more probable than a drawn one weigh less than 0.9."""
    prompt = peer.tokenizer("Metformin is").input_ids
    for sample in told["samples"]:
        with torch.no_grad():
            logits = peer._model(torch.tensor([[*prompt, *sample.token_ids]])).logits[0, len(prompt) - 1 : -1]
        rows = logits.double().log_softmax(-1)
        chosen = rows.gather(1, torch.tensor(sample.token_ids)[:, None])
        assert sample.token_log_probabilities == pytest.approx(chosen[:, 0].tolist(), abs=TOLERANCE)
        before = (rows.exp() * (rows > chosen)).sum(-1)
        assert float(before.max()) < 0.9 + TOLERANCE


def test_a_model_that_gives_every_token_the_same_probability(told, tmp_path):
    tokenizer = engines.load(
        {"name": "u", "engine": "transformers", "directory": str(write_model(tmp_path / "u", adds_bos=True))}
    ).tokenizer
    option, reference = told["uniform"]
    each = -math.log(len(tokenizer))
    for answer, text in ((option, " and fever"), (reference, "aspirin")):
        count = len(tokenizer(text, add_special_tokens=False).input_ids)
        assert answer.token_log_probabilities == pytest.approx([each] * count, abs=1e-6)
    assert (option.prompt_tokens, reference.prompt_tokens) == (len(tokenizer("chest pain").input_ids), 1)
