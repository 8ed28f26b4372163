"""Refuse requests that a foreign web page makes the user's browser send to this server.

Cross-origin   A browser adds the page's `Origin` to every WebSocket and POST request.
DNS rebinding  The page's own name resolves to this server's address. The browser then takes both
               for one origin, and the request has that name as `Host`. So only known names are
               accepted as `Host`. Addresses are, because they cannot be rebound.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from ipaddress import ip_address

from aiohttp import web

from gradebox.sandbox.common.loopback import is_loopback
from gradebox.sandbox.errors import RequestRefused


def check_origin(request: web.Request) -> None:
    """Raise RequestRefused for a request that a browser sent for a web page of another origin."""
    origins, host = request.headers.getall("Origin", []), request.headers.get("Host", "")
    if any(o.lower() not in (f"http://{host}".lower(), f"https://{host}".lower()) for o in origins):
        raise RequestRefused(
            403, f"Origin {origins[0][:80]!r} is not this server; web pages can't use it"
        )


def check_host(request: web.Request, loopback_only: bool, names: Collection[str]) -> None:
    """Raise RequestRefused for a Host that may be a rebound name.

    loopback_only  the server listens on loopback only, so no other address leads to it
    names          further names of this server (--allow-host)
    """
    hosts = request.headers.getall("Host", [])
    name = host_name(hosts[0]) if len(hosts) == 1 else ""
    if is_loopback(name) or name in names:
        return
    if not loopback_only and _is_address(name):
        return
    raise RequestRefused(
        403,
        f"Host {', '.join(hosts)[:80]!r} is not a known name of this server; use its address, "
        "start it with --allow-host NAME, or with a token",
    )


def host_name(host: str) -> str:
    """Return the name of a Host header in lower case, without port, brackets and final dot."""
    match = re.fullmatch(r"(?:\[([0-9a-f:.]+)\]|([^:\[\]@/]+))(?::[0-9]*)?", host.lower())
    return "" if match is None else (match[1] or match[2]).removesuffix(".")


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
