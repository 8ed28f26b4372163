"""The models file and the requests to OpenRouter."""

import json
from pathlib import Path
from typing import Any

import pytest

from gradebox.eval.common.errors import InputError
from gradebox.eval.models import Request, RequestOutcome, Sampler, SamplerOptions
from gradebox.eval.models.servers import openrouter_server, read_models, select_models
from testing.rows import rows
from tests.eval.models.fake_server import FakeServer, chat

OFFICIAL = Path(__file__).resolve().parents[3] / "eval" / "models" / "evaluation_models.json"


def models(tmp_path: Path, whole: Any) -> Path:
    path = tmp_path / "models.json"
    path.write_text(json.dumps(whole))
    return path


@pytest.mark.parametrize(
    ("alias", "model", "provider", "quantization", "effort"),
    [
        ("gpt-oss-120b", "openai/gpt-oss-120b", "DeepInfra", "bf16", "low"),
        (
            "llama-3-3-70b-instruct",
            "meta-llama/llama-3.3-70b-instruct",
            "DeepInfra",
            "fp8",
            "none",
        ),
        ("gemma-4-31b-it", "google/gemma-4-31b-it", "Novita", "bf16", "none"),
    ],
)
def test_the_official_requests(alias, model, provider, quantization, effort):
    entry = read_models(OFFICIAL)[alias]
    server = openrouter_server(entry, api_key="k")
    assert server.url == "https://openrouter.ai/api/v1/chat/completions"
    message = {"role": "user", "content": "?"}
    assert server.body(Request("p", messages=(message,))) == {
        "model": model,
        "messages": [message],
        "max_tokens": 8192,
        "temperature": 0.0,
        "seed": 0,
        "reasoning": {"effort": effort},
        "provider": {
            "order": [provider],
            "quantizations": [quantization],
            "allow_fallbacks": False,
        },
    }


def test_defaults_are_overridden_and_tokens_capped(tmp_path):
    whole = {
        "defaults": {
            "allow_fallbacks": True,
            "max_output_tokens_cap": 100,
            "reasoning_mode": "on",
        },
        "models": {
            "a": {"model": "x/y", "max_output_tokens": 5000, "use_seed": False, "seed": 3},
            "b": {"model": "x/z", "reasoning_mode": "disabled", "allow_fallbacks": False},
        },
    }
    found = read_models(models(tmp_path, whole))
    assert found["a"].request_fields()["max_tokens"] == 100
    assert "seed" not in found["a"].request_fields()
    assert found["a"].request_fields()["reasoning"] == {"effort": "low"}
    assert found["b"].request_fields()["reasoning"] == {"effort": "none"}
    assert (found["a"].allow_fallbacks, found["b"].allow_fallbacks) == (True, False)


@pytest.mark.parametrize(
    ("whole", "words"),
    rows(__file__, "bad_files"),
)
def test_bad_models_files(tmp_path, whole, words):
    with pytest.raises(InputError) as caught:
        read_models(models(tmp_path, whole))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_alias_suggests_a_similar_one():
    with pytest.raises(InputError, match="unknown model 'gpt-oss'; did you mean 'gpt-oss-120b'"):
        select_models(read_models(OFFICIAL), ["gpt-oss"])
    assert len(select_models(read_models(OFFICIAL), [])) == 3


def test_the_provider_that_answered_is_recorded():
    outcomes: list[RequestOutcome] = []
    with FakeServer(chat("TRUE", provider="DeepInfra")) as server:
        llm = openrouter_server(read_models(OFFICIAL)["gpt-oss-120b"], "k", server.url + "/api/v1")
        Sampler(llm, SamplerOptions()).run([Request("p")], outcomes.append)
        assert server.calls[0].path == "/api/v1/chat/completions"
    reply = outcomes[0].reply
    assert (reply.provider, reply.finish_reason) == ("DeepInfra", "stop")
    assert (reply.tokens_in, reply.tokens_out) == (7, 11)
