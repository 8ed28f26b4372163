"""The kinds of server: their URL, the request's body, and where the answer is in the reply.

Server.url · Server.body(request) ─▶ POST ─▶ Server.reply(json) ─▶ ModelReply

    parameters  what the answers depend on, as part of each request's digest
    api_key     sent as a bearer token, removed from every message and record; "" for none
    reply       raises CallError when the JSON has no answer

OpenRouter is a chat server with pinned providers; a models file configures its models:

{"defaults": {allow_fallbacks, max_output_tokens_cap, reasoning_mode},
 "models": {alias: {model, provider "slug/quantization", max_output_tokens, temperature, …}}}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar

import msgspec

from gradebox.eval.common.errors import InputError, did_you_mean
from gradebox.eval.models.exchange import (
    CallError,
    ModelReply,
    Request,
    complete_url,
    error_of_status,
    one_line,
)

Json = Mapping[str, Any]
RESPONSE_FIELD = "answer"


@dataclass(frozen=True)
class OpenAIChat:
    """An OpenAI-compatible chat server: vLLM, SGLang, llama.cpp, hosted ones.

    sampling   temperature, top_p, max_tokens, … as the request's body has them
    """

    kind: ClassVar[str] = "chat"
    path: ClassVar[str] = "/chat/completions"
    base_url: str
    model: str
    sampling: Json = field(default_factory=dict)
    api_key: str = field(default="", repr=False)

    @property
    def url(self) -> str:
        return complete_url(self.base_url, self.path)

    @property
    def parameters(self) -> Json:
        return {"kind": self.kind, "model": self.model, **self.sampling}

    def body(self, request: Request) -> Json:
        fields = {"model": self.model, **self._question(request), **self.sampling}
        if request.stop:
            fields["stop"] = list(request.stop)
        if request.seed is not None:
            fields["seed"] = request.seed
        return fields

    def _question(self, request: Request) -> dict[str, Any]:
        return {"messages": [dict(m) for m in request.messages]}

    def reply(self, answer: Json) -> ModelReply:
        choice = _first_choice(answer)
        usage = answer.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        content, refused = self._content(choice)
        return ModelReply(
            text=_content_text(content),
            finish_reason=_text(choice.get("finish_reason")),
            tokens_in=_count(usage.get("prompt_tokens")),
            tokens_out=_count(usage.get("completion_tokens")),
            provider=_text(answer.get("provider")),
            model=_text(answer.get("model")),
            refused=refused,
        )

    def _content(self, choice: Json) -> tuple[Any, bool]:
        """Return the content of a choice, and whether the model refused."""
        message = choice.get("message")
        if not isinstance(message, dict):
            names = _field_names(choice)
            raise CallError("BadReply", f"the choice has no field 'message', only {names}")
        return message.get("content"), bool(message.get("refusal"))


@dataclass(frozen=True)
class OpenAICompletions(OpenAIChat):
    """The text completions of an OpenAI-compatible server, which base models need."""

    kind: ClassVar[str] = "completions"
    path: ClassVar[str] = "/completions"

    def _question(self, request: Request) -> dict[str, Any]:
        return {"prompt": request.prompt}

    def _content(self, choice: Json) -> tuple[Any, bool]:
        return choice.get("text"), False


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
            parameters["response_field"] = self.response_field
        return parameters

    def body(self, request: Request) -> Json:
        own = {"dataset": self.dataset, "prompt": request.prompt, "sample_id": request.sample}
        return {**own, **self.extra}

    def reply(self, answer: Json) -> ModelReply:
        name, value = self.response_field, answer.get(self.response_field)
        if name not in answer or isinstance(value, (dict, list)):
            raise CallError(
                "BadReply",
                f"the reply has no field {name!r} with a text, only {_field_names(answer)}; name "
                "the field of the answer with --response-field",
            )
        return ModelReply(
            text=value if isinstance(value, str) else "" if value is None else json.dumps(value),
            finish_reason=_text(answer.get("finish_reason")),
            tokens_in=_count(answer.get("tokens_in")),
            tokens_out=_count(answer.get("tokens_out")),
            provider=_text(answer.get("provider")),
            model=_text(answer.get("model")),
        )


Server = OpenAIChat | LocalContract


def _first_choice(answer: Json) -> Json:
    choices, error = answer.get("choices"), answer.get("error")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0]
    if isinstance(error, dict):
        # Some routers answer HTTP 200 with the upstream server's error in the body.
        code = error.get("code")
        status = code if isinstance(code, int) and code >= 400 else 500
        quota = "quota" in f"{code} {error.get('type')}".lower()
        raise error_of_status(402 if quota else status, one_line(str(error.get("message"))))
    names = _field_names(answer)
    raise CallError("BadReply", f"the reply has no 'choices', only {names}", retry=True)


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


# ---- OpenRouter ----

BASE_URL = "https://openrouter.ai/api/v1"

# `provider.order` of a request takes display names; models files have slugs.
_PROVIDERS = (
    "Amazon Bedrock, Anthropic, Azure, BaseTen, Cerebras, DeepInfra, Fireworks, Friendli, "
    "Google AI Studio, Groq, Hyperbolic, Lepton, Mancer, MiniMax, Nebius, Novita, OpenAI, "
    "Parasail, Recursal, SambaNova, Stepfun, Together, xAI"
)
DISPLAY_NAMES = {name.lower().replace(" ", "-"): name for name in _PROVIDERS.split(", ")}
DISPLAY_NAMES["google-vertex"] = "Google Vertex AI"
Tokens = Annotated[int, msgspec.Meta(ge=1)]


class ModelEntry(msgspec.Struct, frozen=True):
    """A model of the models file, with the file's defaults for what it lacks.

    model             OpenRouter's name; text after an @ is the user's note on the route
    provider          "slug/quantization"; "" leaves the choice to OpenRouter
    seed              sent with every request, unless `use_seed` is false
    reasoning_effort  used unless reasoning_mode is "disabled"
    """

    model: Annotated[str, msgspec.Meta(min_length=1)]
    provider: str = ""
    allow_fallbacks: bool = False
    max_output_tokens: Tokens | None = None
    max_output_tokens_cap: Tokens = 8192
    temperature: float = 0.0
    seed: int | None = None
    use_seed: bool = True
    reasoning_mode: str = "disabled"
    reasoning_effort: str = "low"

    def request_fields(self) -> dict[str, Any]:
        """Return the fields that the entry adds to every request."""
        effort = "none" if self.reasoning_mode == "disabled" else self.reasoning_effort
        cap = self.max_output_tokens_cap
        fields: dict[str, Any] = {
            "max_tokens": min(cap, self.max_output_tokens or cap),
            "temperature": self.temperature,
            "reasoning": {"effort": effort},
        }
        if self.seed is not None and self.use_seed:
            fields["seed"] = self.seed
        slug, _, quantization = (part.strip() for part in self.provider.partition("/"))
        if slug:
            order = [DISPLAY_NAMES.get(slug.lower(), slug)]
            fields["provider"] = {"order": order, "allow_fallbacks": self.allow_fallbacks}
            if quantization:
                fields["provider"]["quantizations"] = [quantization]
        return fields


def openrouter_server(entry: ModelEntry, api_key: str = "", base_url: str = BASE_URL) -> OpenAIChat:
    """Return OpenRouter's chat server for one model."""
    name = entry.model.partition("@")[0].strip()
    model = name if "/" in name else entry.model
    return OpenAIChat(base_url, model, entry.request_fields(), api_key)


class _ModelsFile(msgspec.Struct):
    models: Annotated[dict[str, dict[str, Any]], msgspec.Meta(min_length=1)]
    defaults: dict[str, Any] = {}


def read_models(path: Path) -> dict[str, ModelEntry]:
    """Return the entries of a models file by alias; raise InputError for a wrong field."""
    where = f"models file {path}"
    try:
        file = msgspec.json.decode(path.read_bytes(), type=_ModelsFile)
        found = {}
        for alias, fields in file.models.items():
            where = f"models file {path}: {alias}"
            given = {**file.defaults, **{n: v for n, v in fields.items() if v is not None}}
            found[alias] = msgspec.convert(given, ModelEntry)
    except (OSError, msgspec.MsgspecError, RecursionError) as error:
        raise InputError(f"{where}: {error}; docs/equational-theories.md has the fields") from None
    return found


def select_models(
    models: Mapping[str, ModelEntry], aliases: Iterable[str]
) -> dict[str, ModelEntry]:
    """Return the entries of these aliases, all entries when there is no alias.

    Raises InputError for an unknown alias and names the most similar one.
    """
    selected = {}
    for alias in aliases:
        if alias not in models:
            known = ", ".join(models)
            hint = did_you_mean(alias, models)
            raise InputError(f"unknown model {alias!r}{hint}; known: {known}")
        selected[alias] = models[alias]
    return selected or dict(models)
