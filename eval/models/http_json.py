"""Send JSON with POST, receive JSON, and report every fault as a CallError.

The reply is not trusted: its size is limited, redirects are not followed (they would take the
API key elsewhere), and its text is made printable before it is shown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gradebox.eval.models.errors import CallError, CallErrorKind
from gradebox.sandbox.common.retry_after import retry_after_s

if TYPE_CHECKING:
    import httpx

MAX_REPLY_BYTES = 16 << 20
MAX_SHOWN_CHARS = 300
MAX_RETRY_AFTER_S = 600.0
RETRIED_STATUSES = frozenset({408, 425, 429})
QUOTA_PHRASES = (
    "insufficient_quota",
    "insufficient quota",
    "insufficient credits",
    "exceeded your current quota",
)


async def post_json(
    client: httpx.AsyncClient,
    url: str,
    body: Mapping[str, Any],
    headers: Mapping[str, str],
) -> Mapping[str, Any]:
    """Return the JSON object that `url` answers to `body`.

    Raises CallError. Network faults, 5xx, 408, 425, 429 (unless the quota is used up) and broken
    JSON are marked for a retry; other statuses and a reply over MAX_REPLY_BYTES are not.
    """
    status, reply_headers, raw = await _exchange(client, url, body, headers)
    if status >= 300:
        raise _status_error(status, reply_headers, raw)
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


def _status_error(status: int, headers: Mapping[str, str], raw: bytes) -> CallError:
    message = f"HTTP {status}: {start_of(raw)}"
    if status == 402 or (status == 429 and _mentions_quota(raw)):
        return CallError("InsufficientQuota", message)
    kind: CallErrorKind = "RequestRefused"
    if status == 429:
        kind = "RateLimited"
    elif status >= 500:
        kind = "ServerError"
    if status < 500 and status not in RETRIED_STATUSES:
        return CallError(kind, message)
    wait_s = retry_after_s(headers.get("retry-after"), MAX_RETRY_AFTER_S)
    return CallError(kind, message, retry=True, retry_after_s=wait_s)


def _mentions_quota(raw: bytes) -> bool:
    """Return whether a refusal is due to a used-up quota, which waiting does not change."""
    text = raw[: 1 << 16].decode("utf-8", "replace").lower()
    return any(phrase in text for phrase in QUOTA_PHRASES)


def start_of(raw: bytes) -> str:
    """Return the start of a server's reply as one printable line, "(empty)" for none."""
    return one_line(raw[: 4 * MAX_SHOWN_CHARS].decode("utf-8", "replace")) or "(empty)"


def one_line(text: str) -> str:
    """Return untrusted text as one printable line of at most MAX_SHOWN_CHARS characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= MAX_SHOWN_CHARS else line[: MAX_SHOWN_CHARS - 1] + "…"
