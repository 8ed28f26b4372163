"""Calls of model servers: a request, its reply or failure, HTTP, and what is retried, when.

Request(item, sample, messages | prompt) ─▶ RequestOutcome(request, reply | failure)

A call that fails raises CallError; one of kind ServerLost ends the run: the server has gone.

what happened                                   kind               retried
network fault, time-out                         NetworkError, …    yes
402, or 429 with a used-up quota                InsufficientQuota  no
429                                             RateLimited        yes
408, 425                                        RequestRefused     yes
another status under 500                        RequestRefused     no
500 and more                                    ServerError        yes
a reply that is not JSON, or has no choices     BadReply           yes
a reply that is too long, or lacks the field    BadReply           no

A reply is not trusted: its size is limited, redirects are not followed (they would take the API key
elsewhere), the key is removed from it, and its text is made printable before it is shown.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import json
import os
import random
import socket
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.terminal import cut
from gradebox.sandbox.common.loopback import is_loopback
from gradebox.sandbox.common.retry_after import retry_after_s

if TYPE_CHECKING:
    import ssl

    import httpx

CallErrorKind = Literal[
    "TimeoutError",
    "NetworkError",
    "RateLimited",
    "InsufficientQuota",
    "ServerError",
    "RequestRefused",
    "BadReply",
    "ServerLost",
]


class CallError(Exception):
    """A call that failed, or a server that stopped answering during a run (ServerLost).

    kind           the error's name in records
    retry          whether the same request may succeed when it is sent again
    retry_after_s  seconds the server asked us to wait, or None
    """

    def __init__(
        self,
        kind: CallErrorKind,
        message: str,
        *,
        retry: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: CallErrorKind = kind
        self.retry = retry
        self.retry_after_s = retry_after_s


RETRIED_STATUSES = frozenset({408, 425, 429})
QUOTA_PHRASES = (
    *("insufficient_quota", "insufficient quota", "insufficient credits"),
    "exceeded your current quota",
)


def error_of_status(
    status: int, message: str, detail: str = "", retry_after_s: float | None = None
) -> CallError:
    """Return the error of an HTTP status, from 300 on.

    detail  text of the server in which it says that a quota is used up, which waiting won't change
    """
    of_quota = any(phrase in detail.lower() for phrase in QUOTA_PHRASES)
    if status == 402 or (status == 429 and of_quota):
        return CallError("InsufficientQuota", message)
    kind: CallErrorKind = "ServerError" if status >= 500 else "RequestRefused"
    return CallError(
        "RateLimited" if status == 429 else kind,
        message,
        retry=status >= 500 or status in RETRIED_STATUSES,
        retry_after_s=retry_after_s,
    )


@dataclass(frozen=True)
class RetryPolicy:
    """How often and for how long a call is retried.

    first_s      seconds before the first retry, doubled for each further one
    longest_s    longest wait in seconds
    jitter       share by which a wait may be shorter or longer
    budget_s     a retry that would start later than this after the first call is not made
    max_retries  calls after the first; None: as many as the budget allows
    """

    first_s: float = 1.0
    longest_s: float = 30.0
    jitter: float = 0.5
    budget_s: float = 120.0
    max_retries: int | None = None

    def wait_s(self, failures: int, error: CallError) -> float:
        """Return the seconds to wait after `failures` failed calls, the last with this error.

        The wait is never shorter than what the server asked for.
        """
        doubled = min(self.longest_s, self.first_s * 2.0 ** min(failures - 1, 60))
        wait = doubled * random.uniform(1 - self.jitter, 1 + self.jitter)
        return max(wait, error.retry_after_s or 0.0)


@dataclass(frozen=True)
class Request:
    """One question to a server.

    item      id of the problem; (item, sample) is unique in a run
    sample    number of this sample of the problem, from 0
    messages  the messages, for chat servers
    prompt    the text, for completion servers
    stop      texts that end the answer
    seed      seed of this sample; None leaves it to the server
    """

    item: str
    sample: int = 0
    messages: tuple[Mapping[str, str], ...] = ()
    prompt: str = ""
    stop: tuple[str, ...] = ()
    seed: int | None = None

    @classmethod
    def of(
        cls, item: str, sample: int, text: str, *, chat: bool, seed: int | None, **fields: Any
    ) -> Request:
        """Return the request of a sample.

        chat    whether the server takes messages, or one text
        seed    of the first sample of the problem; each further sample adds 1
        fields  see `Request`
        """
        seed = None if seed is None else seed + sample
        if chat:
            return cls(item, sample, ({"role": "user", "content": text},), seed=seed, **fields)
        return cls(item, sample, prompt=text, seed=seed, **fields)

    @property
    def resume_key(self) -> tuple[str, int]:
        """Return what identifies the request when a run is resumed."""
        return (self.item, self.sample)

    def digest(self, parameters: Mapping[str, Any]) -> str:
        """Return the SHA-256 (hex) of everything the answer depends on."""
        content = {
            "messages": [dict(m) for m in self.messages],
            "prompt": self.prompt,
            "stop": list(self.stop),
            "seed": self.seed,
            "extra": {},  # so that responses of earlier runs are those to the same request
            "parameters": dict(parameters),
        }
        text = json.dumps(content, sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class ModelReply:
    """A server's answer. Fields the server did not send are None."""

    text: str
    finish_reason: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    provider: str | None = None
    model: str | None = None
    refused: bool = False


@dataclass(frozen=True)
class RequestOutcome:
    """A request with its reply or its failure.

    attempts  number of calls made, including retries
    wall_s    seconds from the first call to the result
    """

    request: Request
    reply: ModelReply | None
    failure: CallError | None
    attempts: int
    wall_s: float


# ---- HTTP and JSON ----

HIDDEN = b"***"
# Shorter keys are placeholders such as EMPTY, which an answer may contain as a word.
MIN_KEY_CHARS = 16
CONNECT_TIMEOUT_S = 5.0
MODELS_TIMEOUT_S = 30.0
DEFAULT_PORTS = {"http": 80, "https": 443}
_MAX_LISTED_MODELS = 8
MAX_REPLY_BYTES = 16 << 20
MAX_SHOWN_CHARS = 300
MAX_RETRY_AFTER_S = 600.0


def read_api_key(variable: str) -> str:
    """Return the key in an environment variable, "" when it is not set.

    Surrounding white space, as editors and `$(cat file)` leave it, is removed. Raises InputError
    when the key can't be sent in an HTTP header; the message does not show the key.
    """
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise InputError(
            f"{variable} contains a character that is not printable ASCII, so it can't be an API "
            "key; set it again"
        )
    return key


def _without_key(raw: bytes, key: str, status: int) -> bytes:
    """Return a reply without the key, which some servers echo with their request's headers."""
    if key and (status >= 300 or len(key) >= MIN_KEY_CHARS):
        for form in (key, key.replace("/", "\\/")):  # some servers write `/` as `\/` in JSON
            raw = raw.replace(form.encode(), HIDDEN)
    return raw


def client_settings(url: str, timeout_s: float) -> dict[str, Any]:
    """Return the settings of an httpx client; no proxy is used for a server on this machine."""
    proxies = not is_loopback(urlsplit(url).hostname)
    return {"timeout": timeout_s, "verify": _tls_context(), "trust_env": proxies}


@functools.cache
def _tls_context() -> ssl.SSLContext:
    """Return what all clients share: reading the certificates takes 30 ms."""
    import httpx

    return httpx.create_ssl_context()


def _headers(api_key: str) -> dict[str, str]:
    # No compression: a compressed chunk could expand beyond the limit at once.
    bearer = {"authorization": f"Bearer {api_key}"} if api_key else {}
    return {"accept-encoding": "identity", "content-type": "application/json", **bearer}


def complete_url(base: str, path: str) -> str:
    """Return the URL of an OpenAI-compatible `path`, such as "/models".

    `base` is a host, an address ending in /v1, or the complete URL of either kind of completion.
    """
    base = base.strip().rstrip("/")
    for known_path in ("/chat/completions", "/completions"):
        if base.endswith(known_path):
            return base.removesuffix(known_path) + path
    return f"{base}{path}" if base.endswith("/v1") else f"{base}/v1{path}"


def check_reachable(url: str, flag: str) -> None:
    """Raise InputError unless `url` is an http(s) address that accepts connections.

    `flag` is the flag that holds the address. An address behind a proxy is not tried.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
        if parts.scheme not in DEFAULT_PORTS or not host or port == 0:
            raise ValueError("it is not an address with a port from 1")
    except ValueError as error:
        raise InputError(f"{flag} {url!r}: {error}; write it as http://host:port/path") from None
    proxied = parts.scheme in urllib.request.getproxies() and not urllib.request.proxy_bypass(host)
    if proxied and not is_loopback(host):
        return
    try:
        address = (host, port or DEFAULT_PORTS[parts.scheme])
        socket.create_connection(address, CONNECT_TIMEOUT_S).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"no server answers at {url} ({reason}); start it, or give its address with {flag}"
        ) from None


def get_served_model(base_url: str, api_key: str = "") -> str:
    """Return the name of the only model an OpenAI-compatible server serves.

    Raises InputError when the server can't be asked or serves several models.
    """
    import httpx

    url = complete_url(base_url, "/models")

    async def ask() -> Mapping[str, Any]:
        async with httpx.AsyncClient(**client_settings(url, MODELS_TIMEOUT_S)) as client:
            return await exchange_json(client, url, None, api_key)

    try:
        names = [str(entry["id"]) for entry in asyncio.run(ask())["data"]]
    except CallError as error:
        why = error if url in str(error) else f"{url}: {error}"
        raise InputError(f"{why}; name the model with --model-name") from None
    except (KeyError, TypeError):
        names = []
    if len(names) == 1 and names[0].isprintable() and names[0]:
        return names[0]
    listed = ", ".join(one_line(name) for name in names[:_MAX_LISTED_MODELS]) or "none"
    raise InputError(f"{url} names {len(names)} models ({listed}); choose one with --model-name")


async def exchange_json(
    client: httpx.AsyncClient, url: str, body: Mapping[str, Any] | None, api_key: str
) -> Mapping[str, Any]:
    """Return the JSON object that `url` answers to a POST of `body`, or to a GET for None.

    Raises CallError; `exchange` has the table of what is retried.
    """
    import httpx

    raw = bytearray()
    # ASCII escapes, because models emit lone surrogates, which UTF-8 can't encode.
    content = None if body is None else json.dumps(body).encode("ascii")
    method, headers = "GET" if body is None else "POST", _headers(api_key)
    try:
        async with client.stream(method, url, content=content, headers=headers) as response:
            async for chunk in response.aiter_bytes():
                raw += chunk
                if len(raw) > MAX_REPLY_BYTES:
                    raise CallError(
                        "BadReply",
                        f"the reply is over {MAX_REPLY_BYTES} bytes; check that {url} is a model "
                        "server",
                    )
    except (httpx.RequestError, httpx.InvalidURL, httpx.StreamError) as error:
        text = f"{url}: {type(error).__name__} {one_line(str(error))}".rstrip()
        timeout, faulty = isinstance(error, httpx.TimeoutException), httpx.RequestError
        kind: Any = "TimeoutError" if timeout else "NetworkError"
        raise CallError(kind, text, retry=isinstance(error, faulty)) from None
    return _object_of(response, _without_key(bytes(raw), api_key, response.status_code))


def _object_of(response: httpx.Response, raw: bytes) -> Mapping[str, Any]:
    if response.status_code >= 300:
        wait_s = retry_after_s(response.headers.get("retry-after"), MAX_RETRY_AFTER_S)
        detail = raw[: 1 << 16].decode("utf-8", "replace")
        text = f"HTTP {response.status_code}: {start_of(raw)}"
        raise error_of_status(response.status_code, text, detail, wait_s)
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise CallError("BadReply", f"the reply is not a JSON object: {start_of(raw)}", retry=True)
    return value


def start_of(raw: bytes) -> str:
    """Return the start of a server's reply as one printable line, "(empty)" for none."""
    return one_line(raw[: 4 * MAX_SHOWN_CHARS].decode("utf-8", "replace")) or "(empty)"


def one_line(text: str) -> str:
    """Return untrusted text as one printable line of at most MAX_SHOWN_CHARS columns."""
    return cut(" ".join(text[: 4 * MAX_SHOWN_CHARS].split()), MAX_SHOWN_CHARS)
