"""The openai engine against a stub endpoint on the loopback: what is sent, what is read, and every fault.

Log-likelihoods are judged by plain torch: the stub answers from the same tiny model that the test asks.
"""

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import torch

from beyondqa import engines
from beyondqa.engines import openai as engine_module
from beyondqa.engines.base import BranchRequest, GenerationRequest, LikelihoodRequest
from beyondqa.errors import StudyError

KEY = "sk-never-shown"


class Stub:
    """An endpoint whose `reply(path, body, headers)` gives status, JSON value (or bytes) and headers."""

    def __init__(self):
        self.requests = []
        self.reply = lambda path, body, headers: (200, chat("fine"), {})
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                stub.requests.append((self.path, body, dict(self.headers)))
                status, value, headers = stub.reply(self.path, body, dict(self.headers))
                data = value if isinstance(value, bytes) else json.dumps(value).encode()
                self.send_response(status)
                for name, text in {**headers, "Content-Length": str(len(data))}.items():
                    self.send_header(name, text)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *arguments):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def chat(text, finish_reason="stop"):
    choice = {"message": {"content": text}, "finish_reason": finish_reason}
    return {"choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}


@pytest.fixture
def stub(monkeypatch):
    monkeypatch.setattr(engine_module, "FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(engine_module, "LONGEST_PAUSE_SECONDS", 0.02)
    monkeypatch.setenv("STUDY_KEY", KEY)
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    stub = Stub()
    yield stub
    stub.server.shutdown()
    stub.server.server_close()


def load(stub, **fields):
    entry = {"name": "far", "engine": "openai", "base_url": stub.url, "api_key_variable": "STUDY_KEY"}
    return engines.load({**entry, **fields})


def generation(prompt="What?", item="i1", **fields):
    return GenerationRequest(item, "bench", "greedy", 0, prompt, 9, **fields)


def answers(engine, requests):
    prepared = engine.prepare(requests)
    by_key = {a.key: a for batch in engine.plan(prepared) for a in engine.answer(batch)}
    return [by_key[p.key] for p in prepared]


# Chat completions


def test_a_plain_prompt_is_one_user_message(stub):
    (answer,) = answers(load(stub, served_model="big"), [generation(stop=("\n\n",))])
    ((path, body, headers),) = stub.requests
    assert path == "/v1/chat/completions"
    assert body == {
        "model": "big",
        "messages": [{"role": "user", "content": "What?"}],
        "max_tokens": 9,
        "temperature": 0.0,
        "stop": ["\n\n"],
    }
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert (answer.text, answer.finish_reason, answer.model) == ("fine", "stop", "far")
    assert (answer.prompt_tokens, answer.generated_tokens, answer.log_probability) == (7, 3, None)


def test_messages_and_sampling_settings_are_passed_on(stub):
    request = generation((("system", "Rephrase."), ("user", "Fever.")), temperature=0.7, top_p=0.9, seed=5)
    answers(load(stub, id="owner/model"), [request])
    ((_, body, _),) = stub.requests
    assert [m["role"] for m in body["messages"]] == ["system", "user"]
    assert (body["model"], body["temperature"], body["top_p"], body["seed"]) == ("owner/model", 0.7, 0.9, 5)
    assert "stop" not in body


@pytest.mark.parametrize(
    ("told", "meant"), [("stop", "stop"), ("length", "length"), ("content_filter", "content_filter"), (None, "stop")]
)
def test_how_an_answer_ended(stub, told, meant):
    stub.reply = lambda *parts: (200, chat(None, told), {})
    (answer,) = answers(load(stub), [generation()])
    assert (answer.text, answer.finish_reason) == ("", meant)


def test_many_requests_keep_their_answers_apart(stub):
    stub.reply = lambda path, body, headers: (200, chat(f"re: {body['messages'][0]['content']}"), {})
    requests = [generation(f"question {k}", f"i{k}") for k in range(40)]
    assert [a.text for a in answers(load(stub), requests)] == [f"re: question {k}" for k in range(40)]


# Faults


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_endpoint_is_asked_again_within_a_bound(stub, status):
    seen = Counter()

    def reply(path, body, headers):
        seen["calls"] += 1
        return (200, chat("at last"), {}) if seen["calls"] > 3 else (status, {"error": "busy"}, {"Retry-After": "0"})

    stub.reply = reply
    assert answers(load(stub), [generation()])[0].text == "at last"
    stub.reply = lambda *parts: (status, {"error": "busy"}, {})
    stub.requests.clear()
    with pytest.raises(StudyError, match=rf"record far, i1: .* answers {status}: .*busy"):
        answers(load(stub), [generation()])
    assert len(stub.requests) == engine_module.ATTEMPTS


@pytest.mark.parametrize("told", [None, "86400"])
def test_pauses_grow_up_to_a_bound_whatever_the_endpoint_wishes(stub, monkeypatch, told):
    pauses = []
    monkeypatch.setattr("time.sleep", pauses.append)
    monkeypatch.setattr(engine_module, "FIRST_PAUSE_SECONDS", 1.0)
    monkeypatch.setattr(engine_module, "LONGEST_PAUSE_SECONDS", 10.0)
    stub.reply = lambda *parts: (429, {"error": "busy"}, {"Retry-After": told} if told else {})
    with pytest.raises(StudyError, match="answers 429"):
        answers(load(stub), [generation()])
    asked_again = engine_module.ATTEMPTS - 1
    # urllib3 asks the second time at once; then 2 ** k seconds, of which the last would be 16.
    assert pauses == ([10.0] * asked_again if told else [2.0, 4.0, 8.0, 10.0])
    assert len(stub.requests) == engine_module.ATTEMPTS


def test_a_refused_request_is_not_asked_again_and_never_shows_the_key(stub, caplog):
    stub.reply = lambda *parts: (401, {"error": f"bad key {KEY}"}, {})
    with pytest.raises(StudyError, match=r"far, i1.*answers 401: .*bad key \*\*\*") as caught:
        answers(load(stub), [generation()])
    assert len(stub.requests) == 1
    assert KEY not in str(caught.value) + caplog.text


def test_an_endpoint_that_is_away_or_silent_is_named(stub, monkeypatch):
    monkeypatch.setattr(engine_module, "ATTEMPTS", 2)
    monkeypatch.setattr(engine_module, "TIMEOUT_SECONDS", (0.3, 0.2))
    stay = threading.Event()
    stub.reply = lambda *parts: (stay.wait(2), (200, chat("late"), {}))[1]
    with pytest.raises(StudyError, match=r"far, i1.*does not answer.*answers so far are kept"):
        answers(load(stub), [generation()])
    stay.set()
    gone = load(stub, base_url="http://127.0.0.1:9/v1")
    with pytest.raises(StudyError, match=r"127\.0\.0\.1:9/v1 does not answer"):
        answers(gone, [generation()])


@pytest.mark.parametrize("value", [b"<html>", [], {"choices": []}, {"choices": [1]}, {"choices": [{}, {}]}])
def test_nonsense_is_refused(stub, value):
    stub.reply = lambda *parts: (200, value, {})
    with pytest.raises(StudyError, match=r"far, i1"):
        answers(load(stub), [generation()])


def test_a_redirect_is_not_followed_with_the_key(stub):
    stub.reply = lambda *parts: (307, b"", {"Location": "http://elsewhere.invalid/v1"})
    with pytest.raises(StudyError, match="answers 307"):
        answers(load(stub), [generation()])


def test_a_missing_key_or_a_key_in_the_address_is_refused(stub, monkeypatch):
    monkeypatch.delenv("STUDY_KEY")
    with pytest.raises(StudyError, match="variable STUDY_KEY is not set"):
        answers(load(stub), [generation()])
    for address in ("http://user:secret@host/v1", "ftp://host/v1", "host/v1"):
        with pytest.raises(StudyError, match="no plain http or https address") as caught:
            load(stub, base_url=address)
        assert "secret" not in str(caught.value)


def test_without_a_tokenizer_it_cannot_score(stub):
    with pytest.raises(StudyError, match=r"far, i1.*cannot score"):
        load(stub).prepare([LikelihoodRequest("i1", "bench", "option", 0, "What?", " That")])
    for field in ("suppress_end", "keep_tokens"):
        with pytest.raises(StudyError, match="neither suppress end tokens nor tell token ids"):
            load(stub).prepare([generation(**{field: True})])


def test_keys_tell_endpoint_model_and_prompt_apart_and_not_the_api_key(stub, monkeypatch):
    def key(request, **fields):
        return load(stub, **fields).prepare([request])[0].key

    reference = key(generation())
    different = [
        key(generation("Why?")),
        key(generation((("system", "What?"),))),
        key(generation(stop=("\n",))),
        key(generation(), served_model="other"),
        key(generation(), base_url="http://127.0.0.1:1/v1"),
    ]
    assert len({reference, *different}) == 6
    monkeypatch.setenv("STUDY_KEY", "another")
    assert key(generation()) == reference
    assert KEY not in json.dumps(load(stub).identity())


# Completions by token ids


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """A tiny random Llama whose tokens are bytes."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("model")
    alphabet = ["<s>", "</s>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    backend = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(alphabet)}, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>").save_pretrained(folder)
    torch.manual_seed(5)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = LlamaConfig(vocab_size=len(alphabet), max_position_embeddings=64, initializer_range=0.3, **sizes)
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def echoing(directory, extra=1):
    """A completions endpoint that echoes log-probabilities as vllm serve does, `extra` generated tokens after them."""
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32)

    def reply(path, body, headers):
        assert path == "/v1/completions"
        ids = body["prompt"]
        with torch.no_grad():
            log_p = model(torch.tensor([ids])).logits[0].log_softmax(-1)
        own = [None] + [float(log_p[i - 1, ids[i]]) for i in range(1, len(ids))]
        best = [None] + [{"x": float(log_p[i - 1].max())} for i in range(1, len(ids))]
        told = {"token_logprobs": own + [-0.5] * extra, "top_logprobs": best + [{"y": -0.5}] * extra}
        return 200, {"choices": [{"text": "?", "finish_reason": "length", "logprobs": told}]}, {}

    return reply


@pytest.mark.parametrize("extra", [0, 1])
def test_scores_equal_those_of_the_transformers_engine(stub, directory, extra):
    stub.reply = echoing(directory, extra)
    requests = [
        LikelihoodRequest("i1", "bench", "option", 0, "What? Answer:", " fever"),
        LikelihoodRequest("i1", "bench", "option", 1, "What? Answer: ", "neumonía"),
        LikelihoodRequest("i2", "bench", "reference", 0, "", "chest pain"),
        LikelihoodRequest(
            "i3", "bench", "reference", 0, "", "far more than the context of thirty-two tokens can hold at once"
        ),
        BranchRequest("i4", "bench", "fixed/reference/0", 0, "What?", (50, 60, 70, 80), (0, 2, 4), " that"),
    ]
    local = engines.load({"name": "far", "engine": "transformers", "directory": str(directory), "context": 32})
    remote = load(stub, tokenizer=str(directory), context=32)
    for ours, theirs in zip(answers(local, requests), answers(remote, requests), strict=True):
        name = "log_probabilities" if hasattr(ours, "log_probabilities") else "token_log_probabilities"
        assert getattr(theirs, name) == pytest.approx(getattr(ours, name), abs=1e-5)
        assert getattr(theirs, "is_greedy", None) == getattr(ours, "is_greedy", None)
    assert max(len(body["prompt"]) for _, body, _ in stub.requests) <= 33


def test_a_greedy_continuation_is_recognised(stub, directory):
    stub.reply = echoing(directory)
    local = engines.load({"name": "far", "engine": "transformers", "directory": str(directory)})
    with torch.no_grad():
        ids = torch.tensor([local.tokenizer("What?").input_ids])
        ranked = local._model(ids).logits[0, -1].argsort(descending=True).tolist()
    texts = [local.tokenizer.decode([token]) for token in ranked]
    kept = [k for k, text in enumerate(texts) if local.tokenizer(f"What?{text}").input_ids[5:] == [ranked[k]]]
    requests = [LikelihoodRequest("i", "bench", "option", k, "What?", texts[k]) for k in kept[:3]]
    got = answers(load(stub, tokenizer=str(directory)), requests)
    assert [a.is_greedy for a in got] == [k == 0 for k in kept[:3]]


@pytest.mark.parametrize(
    "told", [None, {}, {"token_logprobs": [-1.0], "top_logprobs": [{"a": -1.0}]}, {"token_logprobs": None}]
)
def test_a_server_that_echoes_no_log_probabilities_cannot_score(stub, directory, told):
    stub.reply = lambda *parts: (200, {"choices": [{"text": "?", "logprobs": told}]}, {})
    with pytest.raises(StudyError, match=r"far, i1: this endpoint cannot score.*echoes [01] log-probabilities for 11"):
        answers(
            load(stub, tokenizer=str(directory)), [LikelihoodRequest("i1", "bench", "option", 0, "What?", " fever")]
        )


def test_with_a_tokenizer_answers_come_from_token_ids(stub, directory):
    stub.reply = lambda *parts: (200, {"choices": [{"text": " fine", "finish_reason": "stop"}]}, {})
    engine = load(stub, tokenizer=str(directory))
    (answer,) = answers(engine, [generation()])
    ((path, body, _),) = stub.requests
    assert (path, answer.text) == ("/v1/completions", " fine")
    assert body["prompt"] == engine.tokenizer("What?").input_ids
