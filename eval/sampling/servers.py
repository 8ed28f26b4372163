"""The kinds of server, each as: which URL, which body, where the answer stands in the reply.

Server.url · Server.headers() · Server.body(request) ─▶ POST ─▶ Server.reply(json) ─▶ Reply
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from eval.sampling.errors import CallError
from eval.sampling.http_json import one_line
from eval.sampling.model import Reply, Request

Json = Mapping[str, Any]
RESPONSE_FIELD = "answer"


class Server(Protocol):
    """What the sampler needs to know of a server. `parameters` is what answers depend on."""

    @property
    def url(self) -> str: ...

    @property
    def secret(self) -> str:
        """The key, kept out of every message; empty when there is none."""
        ...

    @property
    def parameters(self) -> Json: ...

    def headers(self) -> Mapping[str, str]: ...

    def body(self, request: Request) -> Json: ...

    def reply(self, answer: Json) -> Reply: ...


def endpoint(base: str, path: str) -> str:
    """`base` may be a host, an address ending in /v1, or the whole address of either kind."""
    base = base.strip().rstrip("/")
    for whole in ("/chat/completions", "/completions"):
        if base.endswith(whole):
            return base.removesuffix(whole) + path
    return f"{base}{path}" if base.endswith("/v1") else f"{base}/v1{path}"


def _bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}


@dataclass(frozen=True)
class OpenAIChat:
    """An OpenAI-compatible chat server: vLLM, SGLang, llama.cpp, hosted ones.

    sampling   temperature, top_p, max_tokens, … as they stand in the body
    """

    base_url: str
    model: str
    sampling: Json = field(default_factory=dict)
    secret: str = field(default="", repr=False)

    @property
    def url(self) -> str:
        return endpoint(self.base_url, "/chat/completions")

    @property
    def parameters(self) -> Json:
        return {"kind": "chat", "model": self.model, **self.sampling}

    def headers(self) -> Mapping[str, str]:
        return _bearer(self.secret)

    def body(self, request: Request) -> Json:
        return {
            "model": self.model,
            "messages": [dict(m) for m in request.messages],
            **self.sampling,
            **_stop_and_seed(request),
            **request.extra,
        }

    def reply(self, answer: Json) -> Reply:
        choice = _choice(answer)
        message = choice.get("message")
        if not isinstance(message, dict):
            raise CallError("BadReply", f"no field 'message' in the choice; it has {_keys(choice)}")
        return _openai_reply(
            answer, choice, _content(message.get("content")), bool(message.get("refusal"))
        )


@dataclass(frozen=True)
class OpenAICompletions:
    """The text completion address of an OpenAI-compatible server: what base models need."""

    base_url: str
    model: str
    sampling: Json = field(default_factory=dict)
    secret: str = field(default="", repr=False)

    @property
    def url(self) -> str:
        return endpoint(self.base_url, "/completions")

    @property
    def parameters(self) -> Json:
        return {"kind": "completions", "model": self.model, **self.sampling}

    def headers(self) -> Mapping[str, str]:
        return _bearer(self.secret)

    def body(self, request: Request) -> Json:
        return {
            "model": self.model,
            "prompt": request.prompt,
            **self.sampling,
            **_stop_and_seed(request),
            **request.extra,
        }

    def reply(self, answer: Json) -> Reply:
        choice = _choice(answer)
        return _openai_reply(answer, choice, _content(choice.get("text")), False)


@dataclass(frozen=True)
class LocalContract:
    """A server of one's own: POST {dataset, prompt, sample_id, …} → JSON with the answer.

    server_url      the whole address
    dataset         name sent with each problem
    extra           further fields of every request
    response_field  where the answer stands in the reply
    """

    server_url: str
    dataset: str
    extra: Json = field(default_factory=dict)
    response_field: str = RESPONSE_FIELD
    secret: str = field(default="", repr=False)

    @property
    def url(self) -> str:
        return self.server_url

    @property
    def parameters(self) -> Json:
        whole = {"kind": "local", "dataset": self.dataset, "extra": dict(self.extra)}
        if self.response_field != RESPONSE_FIELD:
            # What another field held is another answer. The default is left out so that
            # the responses of earlier versions are still taken over.
            whole["response_field"] = self.response_field
        return whole

    def headers(self) -> Mapping[str, str]:
        return _bearer(self.secret)

    def body(self, request: Request) -> Json:
        return {
            "dataset": self.dataset,
            "prompt": request.prompt,
            "sample_id": request.sample,
            **self.extra,
            **request.extra,
        }

    def reply(self, answer: Json) -> Reply:
        if self.response_field not in answer:
            raise CallError(
                "BadReply",
                f"no field {self.response_field!r} in the reply; it has {_keys(answer)}: "
                "name the right one with --response-field",
            )
        value = answer[self.response_field]
        if isinstance(value, (dict, list)):
            raise CallError(
                "BadReply",
                f"field {self.response_field!r} of the reply is not a text: name another one "
                "with --response-field",
            )
        text = value if isinstance(value, str) else "" if value is None else json.dumps(value)
        return Reply(
            text=text,
            finish_reason=_text(answer.get("finish_reason")),
            tokens_in=_count(answer.get("tokens_in")),
            tokens_out=_count(answer.get("tokens_out")),
            provider=_text(answer.get("provider")),
            model=_text(answer.get("model")),
        )


def _stop_and_seed(request: Request) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if request.stop:
        fields["stop"] = list(request.stop)
    if request.seed is not None:
        fields["seed"] = request.seed
    return fields


def _choice(answer: Json) -> Json:
    choices = answer.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0]
    error = answer.get("error")
    if isinstance(error, dict):
        # Some routers answer 200 with the upstream's error in the body.
        raise _error_in_body(error)
    raise CallError("BadReply", f"no 'choices' in the reply; it has {_keys(answer)}", retry=True)


def _error_in_body(error: Json) -> CallError:
    code = error.get("code")
    message = one_line(str(error.get("message")))
    if "quota" in f"{code} {error.get('type')}".lower() or code == 402:
        return CallError("InsufficientQuota", message)
    if code == 429:
        return CallError("RateLimited", message, retry=True)
    if isinstance(code, int) and 400 <= code < 500:
        return CallError("RequestRefused", message)
    return CallError("ServerError", message, retry=True)


def _content(value: Any) -> str:
    """A message's content: a text, or a list of parts of which the texts count."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = (p.get("text") for p in value if isinstance(p, dict))
        return "".join(p for p in parts if isinstance(p, str))
    if value is None:
        return ""
    raise CallError("BadReply", f"the answer is {type(value).__name__}, not a text", retry=True)


def _openai_reply(answer: Json, choice: Json, text: str, refused: bool) -> Reply:
    usage = answer.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Reply(
        text=text,
        finish_reason=_text(choice.get("finish_reason")),
        tokens_in=_count(usage.get("prompt_tokens")),
        tokens_out=_count(usage.get("completion_tokens")),
        provider=_text(answer.get("provider")),
        model=_text(answer.get("model")),
        refused=refused,
    )


def _text(value: Any) -> str | None:
    return value[:200] if isinstance(value, str) and value else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _keys(value: Json) -> str:
    names = [one_line(str(k)[:40]) for k in list(value)[:8]]
    return ", ".join(names) if names else "no field"
