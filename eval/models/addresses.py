"""Addresses of model servers: completing and checking them, asking which model is served."""

from __future__ import annotations

import functools
import json
import socket
import urllib.request
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gradebox.eval.common.errors import InputError
from gradebox.eval.models.api_key import redact
from gradebox.eval.models.http_json import one_line, start_of
from gradebox.sandbox.common.loopback import is_loopback

if TYPE_CHECKING:
    import ssl

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
