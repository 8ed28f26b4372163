"""What is compared of an answer: no times, no memory, and no paths that servers choose."""

import re
from typing import Any

import requests

from .table import Case

LONG = 300
_NUMBERS = ("cpu_time", "wall_time", "memory")
_REPORT = re.compile(r"^\S*run: line \d+:\s+\d+ (.{24}).*$", re.MULTILINE)
_MARKS = re.compile(r"^ +[~^]+\n", re.MULTILINE)  # each Python sets them elsewhere in a traceback
_MISSING_OUTPUT = "chmod: cannot access 'a.out': No such file or directory\n"


def ask(url: str, case: Case) -> dict[str, Any]:
    """Send a request; return what is compared of its answer: `status` and the parts of the body."""
    headers = {} if case.content_type is None else {"Content-Type": case.content_type}
    data: dict[str, Any] = {"json": case.request} if case.raw is None else {"data": case.raw}
    answer = requests.request(case.method, url + case.path, headers=headers, timeout=60, **data)
    try:
        body = answer.json()
    except ValueError:
        body = answer.text
    return normal(answer.status_code, body)


def normal(status: int, body: Any) -> dict[str, Any]:
    """Return what is compared of an answer."""
    if not isinstance(body, dict) or "run" not in body:
        return {"status": status, "body": _other(body)}
    stages = {name: _stage(body[name]) for name in ("compile", "run") if name in body}
    return {"status": status, "language": body["language"], **stages}


def _other(body: Any) -> Any:
    if isinstance(body, dict) and "stack" in body:
        return {"stack": str(body["stack"]).partition(":")[0]}
    if isinstance(body, dict) and "gradebox" in body:
        return {**body, "gradebox": "…"}
    return body


def _stage(stage: dict[str, Any]) -> dict[str, Any]:
    whole = {k: v for k, v in stage.items() if k not in (*_NUMBERS, "output", "gradebox_signal")}
    for name in _NUMBERS:
        assert stage[name] is None or stage[name] >= 0, stage
    assert sorted(stage["output"]) == sorted(stage["stdout"] + stage["stderr"])
    over = stage["status"] in ("OL", "EL")
    for stream in ("stdout", "stderr"):
        whole[stream] = "…" if over else plain(stage[stream])
    return whole


def plain(text: str) -> str:
    """Return a program's output without what servers choose, or its length."""
    text = re.sub(r"/box/(?:submission|work)/", "/box/", text)
    text = text.replace(_MISSING_OUTPUT, "").replace(".cpp.cpp", ".cpp")
    text = text.replace("\u2018", "'").replace("\u2019", "'")
    text = _MARKS.sub("", text)
    text = _REPORT.sub(lambda found: f"run: {found[1].strip()}", text)
    return f"{len(text)} characters" if len(text) > LONG else text


def differing(theirs: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of our answer that differ from Piston's."""
    return {
        key: differing(theirs[key], ours[key])
        if isinstance(theirs.get(key), dict) and isinstance(ours.get(key), dict) and key != "body"
        else ours.get(key, "missing")
        for key in {**theirs, **ours}
        if theirs.get(key, "missing") != ours.get(key, "missing")
    }
