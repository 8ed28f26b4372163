"""The kinds of server: their URL, the request's body, and where the answer is in the reply.

Server.url · Server.headers() · Server.body(request) ─▶ POST ─▶ Server.reply(json) ─▶ Reply

    parameters  what the answers depend on, as part of each request's digest
    api_key     removed from every message and record; "" for none
    reply       raises CallError when the JSON has no answer
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gradebox.eval.models.backoff import error_of_status
from gradebox.eval.models.exchange import CallError, ModelReply, Request
from gradebox.eval.models.http_json import complete_url, one_line

Json = Mapping[str, Any]
RESPONSE_FIELD = "answer"


def _authorization(api_key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {api_key}"} if api_key else {}


@dataclass(frozen=True)
class OpenAIChat:
    """An OpenAI-compatible chat server: vLLM, SGLang, llama.cpp, hosted ones.

    sampling   temperature, top_p, max_tokens, … as the request's body has them
    """

    base_url: str
    model: str
    sampling: Json = field(default_factory=dict)
    api_key: str = field(default="", repr=False)

    @property
    def url(self) -> str:
        return complete_url(self.base_url, "/chat/completions")

    @property
    def parameters(self) -> Json:
        return {"kind": "chat", "model": self.model, **self.sampling}

    def headers(self) -> Mapping[str, str]:
        return _authorization(self.api_key)

    def body(self, request: Request) -> Json:
        return self._body(request, "messages", [dict(m) for m in request.messages])

    def _body(self, request: Request, field_name: str, question: Any) -> Json:
        fields = {"model": self.model, field_name: question, **self.sampling}
        if request.stop:
            fields["stop"] = list(request.stop)
        if request.seed is not None:
            fields["seed"] = request.seed
        return fields | dict(request.extra)

    def reply(self, answer: Json) -> ModelReply:
        choice = _first_choice(answer)
        message = choice.get("message")
        if not isinstance(message, dict):
            raise CallError(
                "BadReply", f"the choice has no field 'message', only {_field_names(choice)}"
            )
        return _openai_reply(answer, choice, message.get("content"), bool(message.get("refusal")))


@dataclass(frozen=True)
class OpenAICompletions(OpenAIChat):
    """The text completions of an OpenAI-compatible server, which base models need."""

    @property
    def url(self) -> str:
        return complete_url(self.base_url, "/completions")

    @property
    def parameters(self) -> Json:
        return {"kind": "completions", "model": self.model, **self.sampling}

    def body(self, request: Request) -> Json:
        return self._body(request, "prompt", request.prompt)

    def reply(self, answer: Json) -> ModelReply:
        choice = _first_choice(answer)
        return _openai_reply(answer, choice, choice.get("text"), False)


@dataclass(frozen=True)
class LocalContract:
    """The user's own server: POST {dataset, prompt, sample_id, …} → JSON with the answer.

    url             the complete address
    dataset         name sent with each problem
    extra           additional fields of every request
    response_field  field of the reply that holds the answer
    """

    url: str
    dataset: str
    extra: Json = field(default_factory=dict)
    response_field: str = RESPONSE_FIELD
    api_key: str = field(default="", repr=False)

    @property
    def parameters(self) -> Json:
        parameters = {"kind": "local", "dataset": self.dataset, "extra": dict(self.extra)}
        if self.response_field != RESPONSE_FIELD:
            # The default is left out, so that responses of earlier versions can be resumed.
            parameters["response_field"] = self.response_field
        return parameters

    def headers(self) -> Mapping[str, str]:
        return _authorization(self.api_key)

    def body(self, request: Request) -> Json:
        return {
            "dataset": self.dataset,
            "prompt": request.prompt,
            "sample_id": request.sample,
            **self.extra,
            **request.extra,
        }

    def reply(self, answer: Json) -> ModelReply:
        if self.response_field not in answer:
            raise CallError(
                "BadReply",
                f"the reply has no field {self.response_field!r}, only {_field_names(answer)}; "
                "name the field of the answer with --response-field",
            )
        value = answer[self.response_field]
        if isinstance(value, (dict, list)):
            raise CallError(
                "BadReply",
                f"field {self.response_field!r} of the reply is a {type(value).__name__}, not a "
                "text; name another one with --response-field",
            )
        text = value if isinstance(value, str) else "" if value is None else json.dumps(value)
        return ModelReply(
            text=text,
            finish_reason=_text(answer.get("finish_reason")),
            tokens_in=_count(answer.get("tokens_in")),
            tokens_out=_count(answer.get("tokens_out")),
            provider=_text(answer.get("provider")),
            model=_text(answer.get("model")),
        )


Server = OpenAIChat | LocalContract


def _first_choice(answer: Json) -> Json:
    choices = answer.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0]
    error = answer.get("error")
    if isinstance(error, dict):
        # Some routers answer HTTP 200 with the upstream server's error in the body.
        raise _error_in_body(error)
    raise CallError(
        "BadReply", f"the reply has no 'choices', only {_field_names(answer)}", retry=True
    )


def _error_in_body(error: Json) -> CallError:
    code = error.get("code")
    status = code if isinstance(code, int) and code >= 400 else 500
    if "quota" in f"{code} {error.get('type')}".lower():
        status = 402
    return error_of_status(status, one_line(str(error.get("message"))))


def _openai_reply(answer: Json, choice: Json, content: Any, refused: bool) -> ModelReply:
    usage = answer.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return ModelReply(
        text=_content_text(content),
        finish_reason=_text(choice.get("finish_reason")),
        tokens_in=_count(usage.get("prompt_tokens")),
        tokens_out=_count(usage.get("completion_tokens")),
        provider=_text(answer.get("provider")),
        model=_text(answer.get("model")),
        refused=refused,
    )


def _content_text(content: Any) -> str:
    """Return the text of a message's content: a string, a list of parts, or null for no text."""
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        return "".join(text for text in parts if isinstance(text, str))
    if content is None or isinstance(content, str):
        return content or ""
    kind = type(content).__name__
    raise CallError("BadReply", f"the answer is a {kind}, not a text", retry=True)


def _text(value: Any) -> str | None:
    return value[:200] if isinstance(value, str) and value else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _field_names(value: Json) -> str:
    return ", ".join(one_line(str(name)[:40]) for name in list(value)[:8]) or "no field"
