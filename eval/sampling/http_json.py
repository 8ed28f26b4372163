"""One POST of JSON that comes back as JSON, every fault of it as a CallError.

The reply is hostile: its size is capped, it is never redirected elsewhere with our key,
and nothing it says is more than text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from eval.sampling.errors import CallError, CallErrorKind
from sandbox.retry_after import retry_after_s

if TYPE_CHECKING:
    import httpx

MAX_REPLY_BYTES = 16 << 20
SHOWN_CHARS = 300
LONGEST_RETRY_AFTER_S = 600.0
TRY_AGAIN = frozenset({408, 425, 429})
QUOTA_WORDS = (
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
    *,
    max_bytes: int = MAX_REPLY_BYTES,
) -> Mapping[str, Any]:
    """The JSON object that `url` answers to `body`.

    Raises CallError: network faults, 408, 425, 429 (but not for want of quota), 5xx and
    broken JSON may be tried again; other statuses and a reply over `max_bytes` may not.
    """
    status, reply_headers, raw = await _exchange(client, url, body, headers, max_bytes)
    if status >= 300:
        raise _refusal(status, reply_headers, raw)
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise CallError(
            "BadReply", f"the reply is not JSON ({one_line(str(error))}): {shown(raw)}", retry=True
        ) from None
    if not isinstance(value, dict):
        raise CallError("BadReply", f"the reply is not a JSON object: {shown(raw)}", retry=True)
    return value


async def _exchange(
    client: httpx.AsyncClient,
    url: str,
    body: Mapping[str, Any],
    headers: Mapping[str, str],
    max_bytes: int,
) -> tuple[int, Mapping[str, str], bytes]:
    import httpx

    raw = bytearray()
    # Identity: a compressed reply could grow beyond the cap inside one chunk.
    sent = {"accept-encoding": "identity", "content-type": "application/json", **headers}
    # ASCII escapes carry lone surrogates that models do emit; UTF-8 could not.
    content = json.dumps(body).encode("ascii")
    try:
        async with client.stream("POST", url, content=content, headers=sent) as response:
            async for chunk in response.aiter_bytes():
                raw += chunk
                if len(raw) > max_bytes:
                    raise CallError(
                        "BadReply",
                        f"the reply is over {max_bytes} bytes; is {url} a model server?",
                    )
            return response.status_code, response.headers, bytes(raw)
    except httpx.TimeoutException as error:
        raise CallError("TimeoutError", _named(error, url), retry=True) from None
    except httpx.RequestError as error:
        raise CallError("NetworkError", _named(error, url), retry=True) from None
    except (httpx.InvalidURL, httpx.StreamError) as error:
        raise CallError("NetworkError", _named(error, url)) from None


def _named(error: Exception, url: str) -> str:
    return f"{url}: {type(error).__name__} {one_line(str(error))}".rstrip()


def _refusal(status: int, headers: Mapping[str, str], raw: bytes) -> CallError:
    text = shown(raw)
    if status == 402 or (status == 429 and is_quota(raw)):
        return CallError("InsufficientQuota", f"HTTP {status}: {text}")
    kind: CallErrorKind = "RequestRefused"
    if status == 429:
        kind = "RateLimited"
    elif status >= 500:
        kind = "ServerError"
    again = status in TRY_AGAIN or status >= 500
    return CallError(
        kind,
        f"HTTP {status}: {text}",
        retry=again,
        retry_after_s=retry_after_s(headers.get("retry-after"), LONGEST_RETRY_AFTER_S)
        if again
        else None,
    )


def is_quota(raw: bytes) -> bool:
    """Whether a refusal is for want of quota, which waiting does not cure."""
    text = raw[: 1 << 16].decode("utf-8", "replace").lower()
    return any(word in text for word in QUOTA_WORDS)


def shown(raw: bytes) -> str:
    """The start of a server's text, fit for one line of a terminal."""
    return one_line(raw[: 4 * SHOWN_CHARS].decode("utf-8", "replace")) or "(empty)"


def one_line(text: str) -> str:
    """A hostile text as one printable line, cut to `SHOWN_CHARS`."""
    line = "".join(c if c.isprintable() else " " for c in text)
    line = " ".join(line.split())
    return line if len(line) <= SHOWN_CHARS else line[: SHOWN_CHARS - 1] + "…"
