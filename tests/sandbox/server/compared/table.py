"""The requests of the comparison: requests.jsonl. What a real Piston answers is in answers.json.

A line has the fields of `Case` that are not the default, and the `part` of the interface that it is
about. `ours` has the parts of the answer in which our server differs, `why` the reason; `why` alone
says why a request is here that another server could get wrong. A part of the answer that is
"(left out)" is NONE.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NONE: Any = object()  # in `ours`: the answer does not have this part
EXECUTE = "/api/v2/execute"


@dataclass(frozen=True)
class Case:
    """One request. `raw` is sent as it is; otherwise `request` is, as JSON."""

    name: str
    request: dict[str, Any] = field(default_factory=dict)
    ours: dict[str, Any] = field(default_factory=dict)
    why: str = ""
    method: str = "POST"
    path: str = EXECUTE
    raw: bytes | None = None
    content_type: str | None = "application/json"


def _case(line: str) -> Case:
    row = json.loads(line)
    del row["part"]
    if "raw" in row:
        row["raw"] = row["raw"].encode("latin-1")
    left_out = {k: NONE for k, v in row.get("ours", {}).items() if v == "(left out)"}
    return Case(**{**row, "ours": row.get("ours", {}) | left_out})


_LONG = {"name": "main.py", "content": "print(len(open(0).read()))"}
_TOO_MUCH = (
    "the request is over 102400 bytes; send less, or start the server with a larger --body-limit"
)
REQUESTS = [
    *map(_case, Path(__file__).with_name("requests.jsonl").read_text("utf-8").splitlines()),
    Case(
        "long stdin",
        {"language": "python", "version": "*", "files": [_LONG], "stdin": "x" * 90_000},
        ours={"run": {"stdout": "90000\n"}},
        why="stdin arrives unchanged",
    ),
    Case(
        "a body over the limit",
        raw=b'{"x":"' + b"y" * 110_000 + b'"}',
        ours={"status": 413, "body": {"message": _TOO_MUCH}},
        why="the status of HTTP",
    ),
]
