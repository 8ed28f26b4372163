"""The outcome of a call for each fault of a server."""

import logging
from dataclasses import replace
from typing import NoReturn

import pytest

from gradebox.eval.common.errors import InputError
from gradebox.eval.models import (
    CallError,
    Request,
    RequestOutcome,
    RetryPolicy,
    Sampler,
    SamplerOptions,
)
from gradebox.eval.models.exchange import complete_url, get_served_model, read_api_key
from gradebox.eval.models.servers import LocalContract, OpenAIChat, OpenAICompletions, Server
from tests.eval.models.fake_server import (
    Answer,
    FakeServer,
    Handler,
    as_json,
    chat,
    free_url,
    raw,
    status,
    then,
)


class Unreachable(OpenAIChat):
    """A server to which no request can be sent."""

    def body(self, request: Request) -> NoReturn:
        raise CallError("NetworkError", "http: refused", retry=True)


FAST = SamplerOptions(
    concurrency=1,
    http_timeout_s=5.0,
    call_timeout_s=20.0,
    retry=RetryPolicy(first_s=0.01, longest_s=0.02, budget_s=10.0, max_retries=4),
)
ASK = Request(item="p", messages=({"role": "user", "content": "?"},), prompt="?")


def run(server: Server, options: SamplerOptions, requests: list[Request]) -> list[RequestOutcome]:
    outcomes: list[RequestOutcome] = []
    Sampler(server, options).run(requests, outcomes.append)
    return outcomes


def ask(
    answer: Answer | Handler, options: SamplerOptions = FAST, api_key: str = ""
) -> tuple[RequestOutcome, int]:
    """Return the outcome of one request and the number of calls it took."""
    with FakeServer(answer) as server:
        [outcome] = run(OpenAIChat(server.url, "m", api_key=api_key), options, [ASK])
        return outcome, len(server.calls)


QUOTA = {"error": {"type": "insufficient_quota", "message": "You exceeded your current quota"}}

RETRIED_FAULTS = {
    "429": status(429),
    "429 with another body": raw(b"slow down", status=429),
    "408": status(408),
    "500": status(500),
    "502 html": raw(b"<html>bad gateway</html>", status=502),
    "503": status(503),
    "529": status(529),
    "broken json": raw(b'{"choices": [{"mess'),
    "no json": raw(b"hello"),
    "json list": raw(b"[1, 2]"),
    "json too deep": raw(b"[" * 100_000 + b"]" * 100_000),
    "no utf-8": raw(b'{"choices": "\xff\xfe"}'),
    "a number of 10,000 digits": raw(b'{"choices": ' + b"9" * 10_000 + b"}"),
    "no choices": as_json({"id": "x"}),
    "choices empty": as_json({"choices": []}),
    "content of another kind": chat({"text": "x"}),
    "cut before the body": replace(chat("hello"), cut=0),
    "cut in the body": replace(chat("hello"), cut=20),
    "upstream's 502 in a 200": as_json({"error": {"code": 502, "message": "upstream"}}),
    "upstream's 429 in a 200": as_json({"error": {"code": 429, "message": "rate"}}),
    "empty reply": chat(""),
    "blank reply": chat(" \n"),
    "null reply": chat(None),
}


@pytest.mark.parametrize("fault", RETRIED_FAULTS)
def test_retried_faults(fault):
    outcome, asked = ask(then(RETRIED_FAULTS[fault], chat("late")))
    assert outcome.reply is not None and outcome.reply.text == "late", outcome.failure
    assert asked == 2
    assert outcome.attempts == 2


FINAL = {
    "429 for want of quota": (status(429, QUOTA), "InsufficientQuota", "current quota"),
    "402": (status(402), "InsufficientQuota", "HTTP 402"),
    "400": (status(400), "RequestRefused", "HTTP 400"),
    "401": (status(401), "RequestRefused", "HTTP 401"),
    "404": (raw(b"no such page", status=404), "RequestRefused", "no such page"),
    "redirect": (
        Answer(status=307, headers={"location": "http://127.0.0.1:1/"}),
        "RequestRefused",
        "HTTP 307",
    ),
    "quota in a 200": (
        as_json({"error": {"code": "insufficient_quota", "message": "pay"}}),
        "InsufficientQuota",
        "pay",
    ),
    "refused in a 200": (
        as_json({"error": {"code": 400, "message": "bad model"}}),
        "RequestRefused",
        "bad model",
    ),
    "no message": (as_json({"choices": [{"text": "x"}]}), "BadReply", "'message'"),
}


@pytest.mark.parametrize("fault", FINAL)
def test_final_faults(fault):
    answer, error, words = FINAL[fault]
    outcome, asked = ask(then(answer, chat("late")))
    assert outcome.reply is None and outcome.failure is not None
    assert (outcome.failure.kind, asked) == (error, 1)
    assert words in str(outcome.failure)


def test_an_empty_reply_is_asked_for_once_more():
    outcome, asked = ask(chat("", finish_reason="length"))
    assert (outcome.reply.text, outcome.reply.finish_reason, asked) == ("", "length", 2)


def test_a_refusal_is_not_retried():
    choice = {"message": {"content": None, "refusal": "I can't"}, "finish_reason": "stop"}
    outcome, asked = ask(as_json({"choices": [choice]}))
    assert outcome.reply is not None and outcome.reply.refused
    assert asked == 1


def test_retries_end_after_max_retries():
    outcome, asked = ask(status(500))
    assert outcome.failure is not None and outcome.failure.kind == "ServerError"
    assert asked == 5


def test_retries_end_after_the_budget():
    retry = RetryPolicy(first_s=0.2, jitter=0.0, budget_s=0.1)
    outcome, asked = ask(status(500), replace(FAST, retry=retry))
    assert outcome.failure is not None
    assert asked == 1


@pytest.mark.parametrize("answer", [Answer(delay_s=3.0), replace(chat("x" * 40), trickle_s=0.1)])
def test_a_slow_call_ends_at_its_time_limit(answer):
    outcome, _ = ask(answer, replace(FAST, call_timeout_s=0.3))
    assert outcome.failure.kind == "TimeoutError"
    assert "0.3 seconds" in str(outcome.failure)


def test_a_silent_server_is_a_read_timeout():
    retry = RetryPolicy(max_retries=0)
    outcome, _ = ask(Answer(delay_s=2.0), replace(FAST, http_timeout_s=0.2, retry=retry))
    assert outcome.failure is not None and outcome.failure.kind == "TimeoutError"
    assert "Timeout" in str(outcome.failure)


def test_the_key_is_not_in_messages_or_logs(caplog):
    key = "sk-very-secret"
    echo = status(400, {"error": f"bad key {key}"})
    with caplog.at_level(logging.DEBUG, "gradebox"):
        outcome, _ = ask(echo, api_key=key)
    assert outcome.failure is not None
    assert "***" in str(outcome.failure)
    assert key not in str(outcome.failure)
    assert key not in caplog.text


def test_a_key_cut_at_the_end_of_a_message_is_redacted():
    key = "sk-0123456789abcdef"
    starts = range(240, 300)
    answers = [raw(b"x" * at + key.encode() + b"y" * 300, status=400) for at in starts]
    with FakeServer(then(*answers)) as server:
        llm = OpenAIChat(server.url, "m", api_key=key)
        outcomes = run(llm, FAST, [replace(ASK, item=str(at)) for at in starts])
    messages = [str(outcome.failure) for outcome in outcomes if outcome.failure]
    assert len(messages) == len(starts)
    assert [message for message in messages if key[:8] in message] == []


def test_a_key_in_an_answer_is_redacted_but_a_placeholder_is_kept():
    key = "sk-0123456789abcdef"
    outcome, _ = ask(chat(f"you sent Bearer {key}", provider=key), api_key=key)
    assert (outcome.reply.text, outcome.reply.provider) == ("you sent Bearer ***", "***")
    outcome, _ = ask(chat("EMPTY = 0"), api_key="EMPTY")
    assert outcome.reply is not None and outcome.reply.text == "EMPTY = 0"


def test_keys_are_stripped_and_unprintable_ones_are_rejected(monkeypatch):
    monkeypatch.setenv("A_KEY", " sk-1\n")
    assert read_api_key("A_KEY") == "sk-1"
    for bad in ("sk-\nx", "ключ", "a\x1bb"):
        monkeypatch.setenv("A_KEY", bad)
        with pytest.raises(InputError, match="A_KEY contains a character") as caught:
            read_api_key("A_KEY")
        assert bad not in str(caught.value)


def test_a_key_in_a_list_of_models_is_redacted():
    key = "sk-0123456789abcdef"
    for answer, words in (
        (status(401, {"error": f"bad key {key}"}), r"HTTP 401: .*bad key \*\*\*"),
        (as_json({"data": [{"id": key}, {"id": "b"}]}), r"2 models \(\*\*\*, b\)"),
    ):
        with FakeServer(answer) as server, pytest.raises(InputError, match=words):
            get_served_model(server.url, key)


def test_a_list_of_models_without_end_is_not_read_to_the_end(monkeypatch):
    monkeypatch.setattr("gradebox.eval.models.exchange.MAX_REPLY_BYTES", 100)
    with FakeServer(raw(b" " * 1000)) as server, pytest.raises(InputError, match="over 100 bytes"):
        get_served_model(server.url)


@pytest.mark.parametrize(
    ("base", "path", "url"),
    [
        ("http://h", "/chat/completions", "http://h/v1/chat/completions"),
        ("http://h/v1/", "/completions", "http://h/v1/completions"),
        ("http://h/v1/chat/completions", "/chat/completions", "http://h/v1/chat/completions"),
        # The complete URL of the other kind, and of the list of models.
        ("http://h/v1/chat/completions", "/completions", "http://h/v1/completions"),
        ("http://h/v1/completions", "/chat/completions", "http://h/v1/chat/completions"),
        ("http://h/v1/chat/completions", "/models", "http://h/v1/models"),
        ("http://h/api/v4/chat/completions", "/models", "http://h/api/v4/models"),
    ],
)
def test_complete_url(base, path, url):
    assert complete_url(base, path) == url


def test_a_lost_server_ends_the_run():
    retry = RetryPolicy(max_retries=0)
    options = replace(FAST, retry=retry, lost_after=3)
    many = [replace(ASK, item=str(i)) for i in range(50)]
    outcomes: list[RequestOutcome] = []
    url = free_url()
    with pytest.raises(CallError, match="3 calls in a row") as caught:
        Sampler(OpenAIChat(url, "m"), options).run(many, outcomes.append)
    assert url in str(caught.value) and "run the same command again" in str(caught.value)
    assert [o.failure.kind for o in outcomes if o.failure] == ["NetworkError"] * 3


@pytest.mark.parametrize(
    "answer",
    [
        raw(b"\x1b[2J\x07gone\r\n" + b"x" * 5000, status=400),
        as_json({"\x1b[2Jkey\n": 1}),
        as_json({"error": {"code": 400, "message": "\x1b[2J\nbad"}}),
    ],
)
def test_messages_have_no_terminal_codes(answer):
    outcome, _ = ask(answer)
    assert outcome.failure is not None and str(outcome.failure).isprintable()
    assert len(str(outcome.failure)) < 400


def test_an_answer_with_a_lone_surrogate_is_kept():
    body = b'{"choices": [{"message": {"content": "a\\ud800b"}}]}'
    outcome, _ = ask(raw(body))
    assert outcome.reply.text == "a\ud800b"


def test_a_reply_over_the_size_limit_is_rejected(monkeypatch):
    from gradebox.eval.models import exchange

    monkeypatch.setattr(exchange, "MAX_REPLY_BYTES", 1000)
    outcome, asked = ask(chat("x" * 2000))
    assert outcome.failure is not None and outcome.failure.kind == "BadReply"
    assert "over 1000 bytes" in str(outcome.failure)
    assert asked == 1


def test_local_contract_names_a_missing_field():
    with FakeServer(as_json({"output": "5", "time": 1})) as server:
        [outcome] = run(LocalContract(server.url, "d"), FAST, [ASK])
    for part in ("no field 'answer'", "output, time", "--response-field"):
        assert part in str(outcome.failure)


def test_completions_request_and_reply():
    with FakeServer(chat("so 5")) as server:
        asked = replace(ASK, stop=("\nQ:",), seed=4)
        llm = OpenAICompletions(server.url + "/v1", "base", {"temperature": 0})
        [outcome] = run(llm, FAST, [asked])
    assert outcome.reply is not None and outcome.reply.text == "so 5"
    call = server.calls[0]
    assert call.path == "/v1/completions"
    assert call.body == {
        "model": "base",
        "prompt": "?",
        "temperature": 0,
        "stop": ["\nQ:"],
        "seed": 4,
    }


def test_a_lost_server_ends_the_run_when_calls_time_out():
    options = replace(FAST, retry=RetryPolicy(first_s=60.0), call_timeout_s=0.2, lost_after=2)
    outcomes: list[RequestOutcome] = []
    with pytest.raises(CallError, match="2 calls in a row"):
        Sampler(Unreachable(free_url(), "m"), options).run([ASK] * 9, outcomes.append)
    for outcome in outcomes:
        assert outcome.failure is not None and outcome.failure.kind == "NetworkError"
        assert "no answer within 0.2 seconds; last error: http" in str(outcome.failure)
