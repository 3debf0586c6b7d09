"""Models behind an OpenAI-compatible endpoint.

Without a `tokenizer` an entry is asked through chat completions: a plain prompt is one user message, and the
endpoint applies its own template; it cannot score. With one (a local directory) it is asked through completions
by token ids, so that templates, BOS and cuts are this study's own; log-likelihoods then come from the echoed
log-probabilities of the prompt, where the server has them.

What a server does not answer (429, 5xx, time-outs) is asked again with growing pauses, `ATTEMPTS` times in all.
The key comes from an environment variable and goes nowhere but into the request's header.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from ..errors import StudyError
from ..identity import content_key, directory_sha256
from ..items import Generation
from ..trust import secret
from ._local import LocalEngine
from ._tokens import likelihood_answer, spans
from .base import Answer, Engine, GenerationRequest, Prepared, Request

SEMANTICS = 1
ENVIRONMENT = "engine-transformers"
THREADS = 1

ATTEMPTS = 6
FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 60.0
TIMEOUT_SECONDS = (10, 600)  # to connect, to answer
# Requests in flight at once, and answered together before the journal takes them.
CONCURRENT, CHUNK = 8, 16
_RETRIED = (408, 429, 500, 502, 503, 504)
_FINISH_REASONS = {"length": "length", "content_filter": "content_filter"}


def load(entry: Mapping[str, Any]) -> Engine:
    """The engine of a model entry with `name` and `base_url` (up to and including /v1); optional: `served_model`
    (the model's name at the endpoint; default: `id`, else `name`), `api_key_variable`, `context`, and `tokenizer`, a
    model directory, of which config.json and the tokenizer's files are read.
    """
    return OpenAIEngine(entry)


class OpenAIEngine(LocalEngine):
    name = "openai"
    SEMANTICS = SEMANTICS
    packages = ()
    spare_tokens = 2

    def __init__(self, entry: Mapping[str, Any]):
        super().__init__({**entry, "directory": entry.get("tokenizer")})
        url = urlsplit(entry["base_url"])
        if url.scheme not in ("http", "https") or not url.hostname or url.username or url.password:
            raise StudyError(
                "base_url is no plain http or https address",
                record=self.model,
                remedy="Leave user and password out: the key comes from the variable that api_key_variable names",
            )
        self._base_url = entry["base_url"].rstrip("/")
        self._served = entry.get("served_model") or entry.get("id") or self.model
        self._by_tokens = bool(entry.get("tokenizer"))

    def identity(self) -> dict[str, Any]:
        """Endpoint, model and tokenizer; never the key."""
        return self._identity

    @functools.cached_property
    def _identity(self) -> dict[str, Any]:
        tokenizer = directory_sha256(self.directory) if self._by_tokens else None
        return {"base_url": self._base_url, "model": self._served, "tokenizer_sha256": tokenizer}

    def prepare(self, requests: Sequence[Request]) -> list[Prepared]:
        """With a tokenizer as every local engine does it, else with the text itself in the key."""
        for request in requests:
            self._refuse_impossible(request)
        if self._by_tokens:
            return super().prepare(requests)
        return [Prepared(r, (), key=content_key([self.key(r, (), ()), _messages(r)])) for r in requests]

    def _refuse_impossible(self, request: Request) -> None:
        problem = ""
        if not isinstance(request, GenerationRequest):
            if not self._by_tokens:
                problem = "this endpoint cannot score: log-likelihoods need a tokenizer in the model's entry"
        elif request.suppress_end or request.keep_tokens:
            problem = "an endpoint can neither suppress end tokens nor tell token ids"
        if problem:
            raise StudyError(problem, record=f"{self.model}, {request.item_id}", remedy="Ask a local engine")

    def plan(self, prepared: Sequence[Prepared]) -> list[list[Prepared]]:
        """Chunks of one kind of request, in the order of their keys."""
        kinds: dict[type, list[Prepared]] = {}
        for p in sorted(prepared, key=lambda p: (type(p.request).__name__, p.key)):
            kinds.setdefault(type(p.request), []).append(p)
        return [own[start : start + CHUNK] for own in kinds.values() for start in range(0, len(own), CHUNK)]

    def answer(self, batch: Sequence[Prepared]) -> list[Answer]:
        """Answers in the batch's order. Raises StudyError naming the item that the endpoint does not answer."""
        ask = self._generated if isinstance(batch[0].request, GenerationRequest) else self._scored
        with ThreadPoolExecutor(CONCURRENT) as pool:
            return list(pool.map(ask, batch))

    def _generated(self, p: Prepared) -> Generation:
        request = p.request
        sampled = request.temperature > 0
        body = {
            "max_tokens": request.max_new_tokens,
            "temperature": request.temperature,
            **({"top_p": request.top_p, "seed": request.seed} if sampled else {}),
            **({"stop": list(request.stop)} if request.stop else {}),
        }
        if self._by_tokens:
            reply = self._post("completions", {"prompt": list(p.prompt_ids), **body}, p)
        else:
            reply = self._post("chat/completions", {"messages": _messages(request), **body}, p)
        choice = _only(reply.get("choices"), p, self.model)
        text = choice.get("text") if self._by_tokens else (choice.get("message") or {}).get("content")
        usage = reply.get("usage") or {}
        return Generation(
            item_id=request.item_id,
            benchmark=request.benchmark,
            model=request.model or self.model,
            variant=request.variant,
            index=request.index,
            text=text or "",
            finish_reason=_FINISH_REASONS.get(choice.get("finish_reason"), "stop"),
            prompt_tokens=usage.get("prompt_tokens"),
            prompt_tokens_cut=p.prompt_tokens_cut,
            generated_tokens=usage.get("completion_tokens"),
            key=p.key,
        )

    def _scored(self, p: Prepared) -> Answer:
        values, greedy = zip(*(self._span(p, *span) for span in spans(p, self.context)), strict=True)
        return likelihood_answer(p, self.model, values, greedy)

    def _span(self, p: Prepared, read: Sequence[int], scored: Sequence[int]) -> tuple[list[float], bool]:
        """Log-probabilities of the scored tokens, and whether each was the most probable one."""
        body = {"prompt": [*read, *scored], "max_tokens": 1, "temperature": 0.0, "echo": True, "logprobs": 1}
        choice = _only(self._post("completions", body, p).get("choices"), p, self.model)
        told = choice.get("logprobs") or {}
        values, best = (told.get(name) or [] for name in ("token_logprobs", "top_logprobs"))
        start, end = len(read), len(read) + len(scored)
        # One more for the token that the endpoint had to generate; some servers leave it out.
        if len(values) not in (end, end + 1) or len(best) != len(values) or None in values[start:end]:
            raise StudyError(
                f"this endpoint cannot score: it echoes {len(values)} log-probabilities for {end} tokens",
                record=f"{self.model}, {p.request.item_id}",
                remedy="Ask a server that echoes the prompt's log-probabilities, or a local engine",
            )
        values = [float(value) for value in values[start:end]]
        return values, all(v >= max(b.values()) for v, b in zip(values, best[start:end], strict=True))

    def _post(self, path: str, body: Mapping[str, Any], p: Prepared) -> dict[str, Any]:
        import requests

        record = f"{self.model}, {p.request.item_id}"
        try:
            reply = self._session.post(
                f"{self._base_url}/{path}",
                json={"model": self._served, **body},
                timeout=TIMEOUT_SECONDS,
                allow_redirects=False,
            )
        except requests.RequestException as error:
            raise StudyError(
                f"{self._base_url} does not answer ({self._without_key(str(error))})",
                record=record,
                remedy="Run again when it does: the answers so far are kept",
            ) from None
        if reply.status_code != 200:
            raise StudyError(
                f"{self._base_url}/{path} answers {reply.status_code}: {self._without_key(reply.text[:500])}",
                record=record,
                remedy="See that address, model name and key are right",
            )
        try:
            answer = reply.json()
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise StudyError(f"{self._base_url}/{path} answers something that is no JSON object", record=record)
        return answer

    @functools.cached_property
    def _key_value(self) -> str:
        variable = self.entry.get("api_key_variable")
        return secret(variable) if variable else ""

    def _without_key(self, text: str) -> str:
        return text.replace(self._key_value, "***") if self._key_value else text

    @functools.cached_property
    def _session(self) -> Any:
        import requests
        from requests.adapters import HTTPAdapter
        from urllib3.util import Retry

        retry = Retry(
            total=ATTEMPTS - 1,
            status_forcelist=_RETRIED,
            allowed_methods=None,
            backoff_factor=FIRST_PAUSE_SECONDS,
            backoff_max=LONGEST_PAUSE_SECONDS,
            retry_after_max=LONGEST_PAUSE_SECONDS,
            raise_on_status=False,
        )
        session = requests.Session()
        for scheme in ("http://", "https://"):
            session.mount(scheme, HTTPAdapter(max_retries=retry, pool_maxsize=CONCURRENT))
        # As an `auth`, so that an entry of the user's netrc never takes its place.
        session.auth = self._authorised
        return session

    def _authorised(self, request: Any) -> Any:
        if self._key_value:
            request.headers["Authorization"] = f"Bearer {self._key_value}"
        return request


def _messages(request: Request) -> list[dict[str, str]]:
    prompt = (("user", request.prompt),) if isinstance(request.prompt, str) else request.prompt
    return [{"role": role, "content": content} for role, content in prompt]


def _only(choices: Any, p: Prepared, model: str) -> dict[str, Any]:
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        raise StudyError("the endpoint's answer holds no single choice", record=f"{model}, {p.request.item_id}")
    return choices[0]
