"""Parse the Retry-After header of HTTP replies."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime


def retry_after_s(value: str | None, most_s: float) -> float | None:
    """Return the seconds to wait, at most `most_s`; None without a valid, positive value.

    The header is a number of seconds (some servers send fractions) or a date (RFC 9110, 10.2.3).
    Never raises: the text comes from a server.
    """
    text = (value or "").strip()
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - time.time()
        except (TypeError, ValueError, OverflowError, IndexError):
            return None
    return min(seconds, most_s) if seconds > 0 else None
