"""Incoming requests: those of foreign web pages are refused, bodies are read within bounds.

    socket ─ receive ─▶ bytearray ─ parse ─▶ JSON values
            size, time             structure
    JSON values ─ encode ─▶ body of the answer

Parsed, a string takes at most 4 bytes for each of its characters, but `{},` takes 72 bytes. So
the JSON outside strings is counted before it is parsed: a byte of it takes up to 70 bytes.

What a foreign web page makes the user's browser send is refused:

Cross-origin   A browser adds the page's `Origin` to every WebSocket and POST request.
DNS rebinding  The page's own name resolves to this server's address. The browser then takes both
               for one origin, and the request has that name as `Host`. So only known names are
               accepted as `Host`. Addresses are, because they cannot be rebound.
"""

from __future__ import annotations

import asyncio
import io
import json
import re
from collections.abc import Collection
from ipaddress import ip_address
from typing import Any

from aiohttp import web

from gradebox.sandbox.common.json_text import load_json
from gradebox.sandbox.common.loopback import is_loopback
from gradebox.sandbox.errors import RequestRefused
from gradebox.sandbox.model import MIB

STRUCTURE_BYTES = 2 * MIB  # JSON outside strings in one request, without white space
BLOCK_BYTES = 1 * MIB
PIECE_CHARS = 1 * MIB  # of a string that is written at once, so that other threads run in between
UPLOAD_GRACE_S = 20.0  # a body may be slower than SLOWEST_RATE for so long
SLOWEST_RATE = 64 * 1024  # bytes a second

_compact = json.JSONEncoder(separators=(",", ":")).encode


async def receive(request: web.Request, limit: int, upload_s: float) -> bytearray:
    """Return the body as it was sent. Raises RequestRefused when it is too large or too slow.

    Raises ConnectionError when the client disconnects. The body must arrive within `upload_s`, and
    at SLOWEST_RATE on average after UPLOAD_GRACE_S.
    """
    body, content = bytearray(), request.content
    now = asyncio.get_running_loop().time
    began = now()
    while not content.at_eof():
        allowed_s = min(upload_s, UPLOAD_GRACE_S + len(body) / SLOWEST_RATE)
        try:
            if content.is_eof():  # all of it is here
                body += content.read_nowait()
            else:
                left_s = max(0.0, began + allowed_s - now())
                body += await asyncio.wait_for(content.readany(), left_s)
        except asyncio.TimeoutError:
            message = f"the request did not arrive within {allowed_s:.3g} s"
            raise RequestRefused(408, message) from None
        except asyncio.CancelledError:  # the connection is lost, or the server ends
            lost = content.exception()
            if lost is None:
                raise
            raise ConnectionError(str(lost)) from None
        except web.RequestPayloadError as error:
            raise RequestRefused(400, f"the request's body can't be read: {error}") from None
        check_size(len(body), limit)
    return body


def check_size(size: int, limit: int) -> None:
    """Raise RequestRefused for a body over the limit of its route."""
    if size > limit:
        raise RequestRefused(
            413,
            f"the request is over {limit} bytes; send less, or start the server with a larger "
            "--body-limit",
        )


def parse(raw: bytearray) -> Any:
    """Return the JSON values of a body, which is emptied. Raises RequestRefused."""
    check_structure(structure_bytes(raw))
    try:
        text = raw.decode("utf-8-sig", "surrogatepass")
        raw.clear()
        return load_json(text)
    except (ValueError, RecursionError) as error:
        raise RequestRefused(400, f"the request is not JSON: {error}") from None


def parse_text(text: str) -> Any:
    """Return the JSON values of a text. Raises RequestRefused."""
    return parse(bytearray(text.encode("utf-8", "surrogatepass")))


def check_structure(size: int) -> None:
    """Raise RequestRefused when a request has too much JSON outside strings."""
    if size > STRUCTURE_BYTES:
        raise RequestRefused(
            413,
            f"the request has over {STRUCTURE_BYTES} bytes of JSON outside strings, which take "
            "much memory; send several requests",
        )


def structure_bytes(raw: bytes | bytearray) -> int:
    """Return how much of a JSON text is outside strings, without white space.

    A string counts as one byte. The result is exact up to STRUCTURE_BYTES; above, the counting
    stops early. It works in blocks, so that other threads run in between.
    """
    if len(raw) <= STRUCTURE_BYTES:
        return len(raw)
    total, inside, escape = 0, False, b""
    for start in range(0, len(raw), BLOCK_BYTES):
        block = escape + bytes(raw[start : start + BLOCK_BYTES])
        block = block.replace(b"\\\\", b"")
        escape = b"\\" if block.endswith(b"\\") else b""
        parts = block.replace(b'\\"', b"").split(b'"')
        outside = b"".join(parts[inside::2])
        total += len(outside.translate(None, b" \t\r\n")) + (len(parts) - inside) // 2
        inside ^= len(parts) % 2 == 0
        if total > STRUCTURE_BYTES:
            break
    return total


def encode(value: Any) -> io.BytesIO:
    """Return JSON, ready to be read. Bytes, as a whole or in a list, are JSON already."""
    buffer = io.BytesIO()
    _write(value, buffer)
    buffer.seek(0)
    return buffer


def _write(value: Any, buffer: io.BytesIO) -> None:
    if isinstance(value, dict):
        for i, (key, inner) in enumerate(value.items()):
            buffer.write(b"{" if i == 0 else b",")
            buffer.write(json.dumps(key).encode() + b":")
            _write(inner, buffer)
        buffer.write(b"}" if value else b"{}")
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            buffer.write(b"[" if i == 0 else b",")
            buffer.write(inner if isinstance(inner, bytes) else _compact(inner).encode())
        buffer.write(b"]" if value else b"[]")
    elif isinstance(value, str) and len(value) > PIECE_CHARS:
        buffer.write(b'"')
        for start in range(0, len(value), PIECE_CHARS):
            piece = value[start : start + PIECE_CHARS]
            buffer.write(json.dumps(piece)[1:-1].encode())
        buffer.write(b'"')
    else:
        buffer.write(value if isinstance(value, bytes) else _compact(value).encode())


# ---- where a request comes from ----


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
