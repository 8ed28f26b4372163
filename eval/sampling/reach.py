"""Is there a server at all? Asked once before a run, so that a wrong address is one line."""

from __future__ import annotations

import socket
import urllib.request
from urllib.parse import urlsplit

from eval.input_error import InputError

CONNECT_S = 5.0
PORTS = {"http": 80, "https": 443}


def check_address(url: str, flag: str) -> None:
    """InputError unless `url` is an http(s) address; `flag` is where the user wrote it."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise InputError(f"{flag} {url!r}: {error}; write it as http://host:port/path") from None
    if parts.scheme not in PORTS or not parts.hostname:
        raise InputError(f"{flag} {url!r} is no address; write it as http://host:port/path")
    if port == 0:
        raise InputError(f"{flag} {url!r}: port 0; write a port from 1 to 65535")


def check_reachable(url: str, flag: str) -> None:
    """InputError unless something listens at `url`. Behind a proxy nothing can be said."""
    check_address(url, flag)
    parts = urlsplit(url)
    host = parts.hostname or ""
    proxied = parts.scheme in urllib.request.getproxies() and not urllib.request.proxy_bypass(host)
    if proxied and host not in ("localhost", "127.0.0.1", "::1"):
        return
    try:
        socket.create_connection((host, parts.port or PORTS[parts.scheme]), CONNECT_S).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"no server answers at {url} ({reason}); start it, or give its address with {flag}"
        ) from None
