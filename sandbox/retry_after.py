"""The Retry-After header of whoever answers us: a server of programs, of graders or of models."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime


def retry_after_s(value: str | None, most_s: float) -> float | None:
    """Seconds to wait, over 0 and at most `most_s`; None where the header asks for no wait.

    RFC 9110, 10.2.3: a number of seconds (fractions are met in the wild) or a date. The text is a
    stranger's: whatever it holds, nothing is raised.
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
