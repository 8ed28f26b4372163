"""HTTP with model servers: their addresses, their keys, and JSON sent with POST.

Every fault of a call is a CallError. The reply is not trusted: its size is limited, redirects are
not followed (they would take the API key elsewhere), its text is made printable before it is
shown, and the key is removed from all output.
"""

from __future__ import annotations

import functools
import json
import os
import socket
import urllib.request
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from gradebox.eval.common.errors import InputError
from gradebox.eval.models.backoff import error_of_status
from gradebox.eval.models.exchange import CallError, ModelReply
from gradebox.sandbox.common.loopback import is_loopback
from gradebox.sandbox.common.retry_after import retry_after_s

if TYPE_CHECKING:
    import ssl

    import httpx

HIDDEN = "***"
# Shorter keys are placeholders such as EMPTY, which an answer may contain as a word.
MIN_KEY_CHARS = 16
_MIN_PREFIX_CHARS = 8


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


def redact(text: str, key: str) -> str:
    """Return a message without the key, and without a part of the key where it was cut."""
    if not key:
        return text
    text = text.replace(key, HIDDEN)
    uncut = text.removesuffix("…")
    for length in range(len(key) - 1, _MIN_PREFIX_CHARS - 1, -1):
        if uncut.endswith(key[:length]):
            return uncut[:-length] + HIDDEN
    return text


def redact_reply(reply: ModelReply, key: str) -> ModelReply:
    """Return a reply without the key, which some servers echo with their request's headers."""
    if len(key) < MIN_KEY_CHARS:
        return reply
    fields: dict[str, Any] = {
        name: value.replace(key, HIDDEN)
        for name, value in vars(reply).items()
        if isinstance(value, str)
    }
    return replace(reply, **fields)


CONNECT_TIMEOUT_S = 5.0
MODELS_TIMEOUT_S = 30.0
DEFAULT_PORTS = {"http": 80, "https": 443}
_MAX_LISTED_MODELS = 8


def on_this_machine(url: str) -> bool:
    """Return whether no proxy of the environment is used, since the server is on this machine."""
    return is_loopback(urlsplit(url).hostname)


@functools.cache
def tls_context() -> ssl.SSLContext:
    """Return what all clients share: reading the certificates takes 30 ms."""
    import httpx

    return httpx.create_ssl_context()


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
        port = parts.port
    except ValueError as error:
        raise InputError(f"{flag} {url!r}: {error}; write it as http://host:port/path") from None
    host = parts.hostname
    if parts.scheme not in DEFAULT_PORTS or not host:
        raise InputError(f"{flag} {url!r} is not an address; write it as http://host:port/path")
    if port == 0:
        raise InputError(f"{flag} {url!r} has port 0; use a port from 1 to 65535")
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
    headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
    try:
        with httpx.Client(
            timeout=MODELS_TIMEOUT_S, verify=tls_context(), trust_env=not on_this_machine(url)
        ) as client:
            response = client.get(url, headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        reason = redact(str(error), api_key)
        raise InputError(f"{url}: {reason}; name the model with --model-name") from None
    try:
        value = json.loads(response.content) if response.status_code == 200 else None
        names = [str(entry["id"]) for entry in value["data"]] if value else []
    except (ValueError, RecursionError, KeyError, TypeError):
        names = []
    if len(names) == 1 and names[0].isprintable() and names[0]:
        return names[0]
    if names:
        listed = ", ".join(one_line(name) for name in names[:_MAX_LISTED_MODELS])
        raise InputError(
            f"{url} serves {len(names)} models ({redact(listed, api_key)}); choose one with "
            "--model-name"
        )
    raise InputError(
        f"{url} answered HTTP {response.status_code} without a list of models "
        f"({redact(start_of(response.content), api_key)}); name the model with --model-name"
    )


MAX_REPLY_BYTES = 16 << 20
MAX_SHOWN_CHARS = 300
MAX_RETRY_AFTER_S = 600.0


async def post_json(
    client: httpx.AsyncClient,
    url: str,
    body: Mapping[str, Any],
    headers: Mapping[str, str],
) -> Mapping[str, Any]:
    """Return the JSON object that `url` answers to `body`.

    Raises CallError; `backoff` has the table of what is retried.
    """
    status, reply_headers, raw = await _exchange(client, url, body, headers)
    if status >= 300:
        wait_s = retry_after_s(reply_headers.get("retry-after"), MAX_RETRY_AFTER_S)
        detail = raw[: 1 << 16].decode("utf-8", "replace")
        raise error_of_status(status, f"HTTP {status}: {start_of(raw)}", detail, wait_s)
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise CallError(
            "BadReply",
            f"the reply is not JSON ({one_line(str(error))}): {start_of(raw)}",
            retry=True,
        ) from None
    if not isinstance(value, dict):
        raise CallError("BadReply", f"the reply is not a JSON object: {start_of(raw)}", retry=True)
    return value


async def _exchange(
    client: httpx.AsyncClient,
    url: str,
    body: Mapping[str, Any],
    headers: Mapping[str, str],
) -> tuple[int, Mapping[str, str], bytes]:
    import httpx

    raw = bytearray()
    # No compression: a compressed chunk could expand beyond the limit at once.
    sent = {"accept-encoding": "identity", "content-type": "application/json", **headers}
    # ASCII escapes, because models emit lone surrogates, which UTF-8 can't encode.
    content = json.dumps(body).encode("ascii")
    try:
        async with client.stream("POST", url, content=content, headers=sent) as response:
            async for chunk in response.aiter_bytes():
                raw += chunk
                if len(raw) > MAX_REPLY_BYTES:
                    raise CallError(
                        "BadReply",
                        f"the reply is over {MAX_REPLY_BYTES} bytes; check that {url} is a model "
                        "server",
                    )
            return response.status_code, response.headers, bytes(raw)
    except httpx.TimeoutException as error:
        raise CallError("TimeoutError", _describe(error, url), retry=True) from None
    except httpx.RequestError as error:
        raise CallError("NetworkError", _describe(error, url), retry=True) from None
    except (httpx.InvalidURL, httpx.StreamError) as error:
        raise CallError("NetworkError", _describe(error, url)) from None


def _describe(error: Exception, url: str) -> str:
    return f"{url}: {type(error).__name__} {one_line(str(error))}".rstrip()


def start_of(raw: bytes) -> str:
    """Return the start of a server's reply as one printable line, "(empty)" for none."""
    return one_line(raw[: 4 * MAX_SHOWN_CHARS].decode("utf-8", "replace")) or "(empty)"


def one_line(text: str) -> str:
    """Return untrusted text as one printable line of at most MAX_SHOWN_CHARS characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= MAX_SHOWN_CHARS else line[: MAX_SHOWN_CHARS - 1] + "…"
