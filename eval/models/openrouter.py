"""OpenRouter with pinned providers, and the models file that configures its models.

{"defaults": {allow_fallbacks, max_output_tokens_cap, reasoning_mode},
 "models": {alias: {model, provider "slug/quantization", max_output_tokens, temperature, …}}}
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.models.servers import OpenAIChat

BASE_URL = "https://openrouter.ai/api/v1"
DEFAULT_CAP = 8192

# `provider.order` of a request takes display names; models files have slugs.
_PROVIDERS = (
    "Amazon Bedrock, Anthropic, Azure, BaseTen, Cerebras, DeepInfra, Fireworks, Friendli, "
    "Google AI Studio, Groq, Hyperbolic, Lepton, Mancer, MiniMax, Nebius, Novita, OpenAI, "
    "Parasail, Recursal, SambaNova, Stepfun, Together, xAI"
)
DISPLAY_NAMES = {name.lower().replace(" ", "-"): name for name in _PROVIDERS.split(", ")}
DISPLAY_NAMES["google-vertex"] = "Google Vertex AI"


@dataclass(frozen=True)
class ModelEntry:
    """A model of the models file.

    model              OpenRouter's name of the model
    provider           display name; "" leaves the choice to OpenRouter
    quantization       "bf16", "fp8", … or ""
    max_output_tokens  at most the file's max_output_tokens_cap
    temperature        sent with every request
    seed               None when no seed is sent
    reasoning_effort   "none" when reasoning is disabled
    """

    alias: str
    model: str
    provider: str = ""
    quantization: str = ""
    allow_fallbacks: bool = False
    max_output_tokens: int = DEFAULT_CAP
    temperature: float = 0.0
    seed: int | None = None
    reasoning_effort: str = "none"

    def request_fields(self) -> dict[str, Any]:
        """Return the fields that the entry adds to every request."""
        fields: dict[str, Any] = {
            "max_tokens": self.max_output_tokens,
            "temperature": self.temperature,
            "reasoning": {"effort": self.reasoning_effort},
        }
        if self.seed is not None:
            fields["seed"] = self.seed
        if self.provider:
            fields["provider"] = {"order": [self.provider], "allow_fallbacks": self.allow_fallbacks}
            if self.quantization:
                fields["provider"]["quantizations"] = [self.quantization]
        return fields


def openrouter_server(entry: ModelEntry, api_key: str = "", base_url: str = BASE_URL) -> OpenAIChat:
    """Return OpenRouter's chat server for one model."""
    return OpenAIChat(base_url, entry.model, entry.request_fields(), api_key)


def read_models(path: Path) -> dict[str, ModelEntry]:
    """Return the entries of a models file by alias; raise InputError for a wrong field."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"models file {path}: {error}") from None
    models = content.get("models") if isinstance(content, dict) else None
    if not isinstance(models, dict) or not models:
        raise InputError(
            f'models file {path} has no "models" object; add it, with an entry for each alias'
        )
    defaults = content.get("defaults", {})
    if not isinstance(defaults, dict):
        raise InputError(f'models file {path}: "defaults" is not an object')
    return {alias: _parse_entry(path, alias, defaults, raw) for alias, raw in models.items()}


def select_models(models: Mapping[str, ModelEntry], aliases: Iterable[str]) -> list[ModelEntry]:
    """Return the entries of these aliases, all entries when there is no alias.

    Raises InputError for an unknown alias and names the most similar one.
    """
    selected = []
    for alias in aliases:
        if alias not in models:
            near = difflib.get_close_matches(alias, models, n=1)
            hint = f"; did you mean {near[0]!r}" if near else ""
            raise InputError(f"unknown model {alias!r}{hint}; known: {', '.join(models)}")
        selected.append(models[alias])
    return selected or list(models.values())


def _parse_entry(path: Path, alias: str, defaults: Mapping[str, Any], raw: Any) -> ModelEntry:
    where = f"models file {path}: {alias}"
    if not isinstance(raw, dict):
        raise InputError(f"{where} is not an object")
    fields = {**defaults, **raw}
    model = _typed(where, fields, "model", str, "")
    if not model:
        raise InputError(f'{where} has no "model", such as "openai/gpt-oss-120b"')
    slug, _, quantization = _typed(where, fields, "provider", str, "").partition("/")
    cap = _typed(where, fields, "max_output_tokens_cap", int, DEFAULT_CAP)
    tokens = _typed(where, fields, "max_output_tokens", int, cap)
    if cap < 1 or tokens < 1:
        raise InputError(f"{where} allows {min(cap, tokens)} output tokens; allow at least 1")
    mode = _typed(where, fields, "reasoning_mode", str, "disabled")
    effort = _typed(where, fields, "reasoning_effort", str, "low")
    seed = _typed(where, fields, "seed", int, None)
    # Text after an @ is the user's note on the route, not part of the name.
    name = model.partition("@")[0].strip()
    return ModelEntry(
        alias=alias,
        model=name if "/" in name else model,
        provider=DISPLAY_NAMES.get(slug.strip().lower(), slug.strip()),
        quantization=quantization.strip(),
        allow_fallbacks=_typed(where, fields, "allow_fallbacks", bool, False),
        max_output_tokens=min(cap, tokens),
        temperature=_typed(where, fields, "temperature", (int, float), 0.0),
        seed=seed if _typed(where, fields, "use_seed", bool, seed is not None) else None,
        reasoning_effort="none" if mode == "disabled" else effort,
    )


def _typed(where: str, fields: Mapping[str, Any], name: str, kind: Any, default: Any) -> Any:
    """Return a field, or `default` when it is missing; raise InputError for another type."""
    value = fields.get(name)
    if value is None:
        return default
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        expected = kind.__name__ if isinstance(kind, type) else "number"
        raise InputError(f"{where}: {name} is {value!r}, not a {expected}")
    return value
