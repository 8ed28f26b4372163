"""The key of a record: a hash of everything its verdict depends on.

A solution whose key has a record is not graded again.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from gradebox.eval.results.record import SCHEMA


@dataclass(frozen=True)
class KeyParts:
    """What a key is computed from. All values can be encoded as JSON.

    tests     digest of the chosen tests: contents, order, and which are skipped
    checker   digest of the checker, "" for none
    limits    CPU seconds (scale included) and bytes of memory
    flags     flags that change what a record says
    sandbox   backend, level and the version of what runs the language
    """

    problem_id: str
    code: str
    language: str
    tests: str
    checker: str
    limits: dict[str, Any]
    flags: dict[str, Any]
    sandbox: dict[str, Any]
    schema: int = SCHEMA


def key_of(parts: KeyParts) -> str:
    """Return the SHA-256 (hex) of the parts."""
    text = json.dumps(vars(parts), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
