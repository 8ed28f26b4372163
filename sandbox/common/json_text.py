"""JSON text of strangers, read without the collector."""

from __future__ import annotations

import gc
import json
from typing import Any


def load_json(text: str | bytes, **options: Any) -> Any:
    """Return `json.loads(text, **options)`, which has half a million containers a megabyte.

    The collector would walk all of them time and again: 1 MB of `[],` took 62 ms, now 32. Another
    thread may switch it on earlier, which takes time and nothing else.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return json.loads(text, **options)
    finally:
        if collects:
            gc.enable()
