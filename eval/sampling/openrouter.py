"""OpenRouter with pinned providers, and the file that says which model runs how.

{"defaults": {allow_fallbacks, max_output_tokens_cap, reasoning_mode},
 "models": {alias: {model, provider "slug/quant", max_output_tokens, temperature, …}}}
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval.input_error import InputError
from eval.sampling.model import Reply, Request
from eval.sampling.servers import Json, OpenAIChat

BASE_URL = "https://openrouter.ai/api/v1"
DEFAULT_CAP = 8192

# OpenRouter's `provider.order` takes display names; configurations write slugs.
DISPLAY_NAMES = {
    "amazon-bedrock": "Amazon Bedrock",
    "anthropic": "Anthropic",
    "azure": "Azure",
    "baseten": "BaseTen",
    "cerebras": "Cerebras",
    "deepinfra": "DeepInfra",
    "fireworks": "Fireworks",
    "friendli": "Friendli",
    "google-ai-studio": "Google AI Studio",
    "google-vertex": "Google Vertex AI",
    "groq": "Groq",
    "hyperbolic": "Hyperbolic",
    "lepton": "Lepton",
    "mancer": "Mancer",
    "minimax": "MiniMax",
    "nebius": "Nebius",
    "novita": "Novita",
    "openai": "OpenAI",
    "parasail": "Parasail",
    "recursal": "Recursal",
    "sambanova": "SambaNova",
    "stepfun": "Stepfun",
    "together": "Together",
    "xai": "xAI",
}


@dataclass(frozen=True)
class ModelEntry:
    """One model of the file: what is asked, from whom, how.

    provider           display name, or "" for OpenRouter's own choice
    quantization       "bf16", "fp8", … or ""
    max_output_tokens  already capped
    seed               None when none is sent
    reasoning_effort   "none" when reasoning is off
    """

    alias: str
    model: str
    provider: str = ""
    quantization: str = ""
    allow_fallbacks: bool = False
    max_output_tokens: int = DEFAULT_CAP
    temperature: float | None = 0.0
    seed: int | None = None
    reasoning_effort: str = "none"

    def body_fields(self) -> dict[str, Any]:
        """The fields of the request that come from the entry."""
        fields: dict[str, Any] = {"max_tokens": self.max_output_tokens}
        if self.temperature is not None:
            fields["temperature"] = self.temperature
        fields["reasoning"] = {"effort": self.reasoning_effort}
        if self.provider:
            fields["provider"] = {"order": [self.provider]}
            if self.quantization:
                fields["provider"]["quantizations"] = [self.quantization]
            fields["provider"]["allow_fallbacks"] = self.allow_fallbacks
        return fields


@dataclass(frozen=True)
class OpenRouter:
    """OpenRouter's chat address for one entry."""

    entry: ModelEntry
    secret: str = field(default="", repr=False)
    base_url: str = BASE_URL

    @property
    def _chat(self) -> OpenAIChat:
        return OpenAIChat(
            self.base_url, self.entry.model, self.entry.body_fields(), secret=self.secret
        )

    @property
    def url(self) -> str:
        return self._chat.url

    @property
    def parameters(self) -> Json:
        return {"seed": self.entry.seed, **self._chat.parameters, "kind": "openrouter"}

    def headers(self) -> Mapping[str, str]:
        return self._chat.headers()

    def body(self, request: Request) -> Json:
        body = dict(self._chat.body(request))
        if self.entry.seed is not None:
            body.setdefault("seed", self.entry.seed)
        return body

    def reply(self, answer: Json) -> Reply:
        return self._chat.reply(answer)


def read_models(path: Path) -> dict[str, ModelEntry]:
    """The entries of a models file by alias; InputError says which field is wrong and how."""
    try:
        whole = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"models file {path}: {error}") from None
    models = whole.get("models") if isinstance(whole, dict) else None
    if not isinstance(models, dict) or not models:
        raise InputError(f'models file {path}: no "models" object with an entry per alias')
    defaults = whole.get("defaults", {})
    if not isinstance(defaults, dict):
        raise InputError(f'models file {path}: "defaults" is not an object')
    return {alias: _entry(path, alias, defaults, raw) for alias, raw in models.items()}


def choose_models(models: Mapping[str, ModelEntry], aliases: Iterable[str]) -> list[ModelEntry]:
    """The entries asked for, all of them when none is; InputError names the nearest alias."""
    chosen = []
    for alias in aliases:
        if alias not in models:
            near = difflib.get_close_matches(alias, models, n=1)
            hint = f"; did you mean {near[0]!r}" if near else ""
            raise InputError(f"unknown model {alias!r}{hint}; known: {', '.join(models)}")
        chosen.append(models[alias])
    return chosen or list(models.values())


def _entry(path: Path, alias: str, defaults: Mapping[str, Any], raw: Any) -> ModelEntry:
    if not isinstance(raw, dict):
        raise InputError(f"models file {path}: {alias} is not an object")
    where = f"models file {path}: {alias}"
    merged = {**defaults, **raw}
    model = _typed(where, merged, "model", str, "")
    if not model:
        raise InputError(f'{where}: no "model", such as "openai/gpt-oss-120b"')
    slug, _, quantization = _typed(where, merged, "provider", str, "").partition("/")
    cap = _typed(where, merged, "max_output_tokens_cap", int, DEFAULT_CAP)
    tokens = _typed(where, merged, "max_output_tokens", int, cap)
    if cap < 1 or tokens < 1:
        raise InputError(f"{where}: {min(cap, tokens)} output tokens; at least 1 is needed")
    mode = _typed(where, merged, "reasoning_mode", str, "disabled")
    effort = _typed(where, merged, "reasoning_effort", str, "low")
    seed = _typed(where, merged, "seed", int, None)
    temperature = _typed(where, merged, "temperature", (int, float), 0.0)
    return ModelEntry(
        alias=alias,
        # What follows @ is the user's own note on the route, not part of the model's name.
        model=model.partition("@")[0].strip() if "/" in model.partition("@")[0] else model,
        provider=DISPLAY_NAMES.get(slug.strip().lower(), slug.strip()),
        quantization=quantization.strip(),
        allow_fallbacks=_typed(where, merged, "allow_fallbacks", bool, False),
        max_output_tokens=min(cap, tokens),
        temperature=temperature,
        seed=seed if _typed(where, merged, "use_seed", bool, seed is not None) else None,
        reasoning_effort="none" if mode == "disabled" else effort,
    )


def _typed(where: str, fields: Mapping[str, Any], name: str, kind: Any, default: Any) -> Any:
    value = fields.get(name)
    if value is None:
        return default
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        wanted = kind.__name__ if isinstance(kind, type) else "number"
        raise InputError(f"{where}: {name} is {value!r}, not a {wanted}")
    return value
