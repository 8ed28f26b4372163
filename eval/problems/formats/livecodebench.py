"""LiveCodeBench: stdin tests, and calls of one function or method of `Solution`.

public_test_cases   JSON: [{"input", "output", "testtype"}, …]
private_test_cases  the same JSON, or packed: base64(zlib(pickle(that JSON as text)))
metadata            JSON: {"func_name": …} when functions are called, else {}

A packed value may be JSON, or a pickle of plain values or of JSON text; clients of open-instruct's
server send lists and dicts. A data set or request may come from anywhere: a worker with limits of
CPU time and memory reads what is long or slow, and every pickle but that of one text. Its unpickler
knows no class: nothing is called.
"""

from __future__ import annotations

import base64
import io
import math
import pickle
import re
import time
import zlib
from typing import Any, NoReturn

from gradebox.eval.common.errors import RowError
from gradebox.eval.problems.formats.pairs import Judging, columns, loaded, read_tests
from gradebox.eval.problems.formats.row_format import (
    Content,
    Judge,
    Row,
    RowFormat,
    day,
    fields,
    of,
    parsed,
    text,
)
from gradebox.eval.problems.row.row_workers import in_worker
from gradebox.eval.problems.row.tests import converted
from gradebox.sandbox.common.json_text import load_json

TIME_LIMIT_S = 6.0  # the original: 6 s of wall time a test
MOST_TESTS_BYTES = 512 << 20
PLAIN = (
    *("string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random"),
    *("statistics", "itertools", "functools", "operator", "io", "sys", "json"),
)
# What the original puts before every solution.
PRELUDE = [
    *(f"from {name} import *" for name in (*PLAIN, "builtins", "typing")),
    f"import {','.join(PLAIN)}",
    "sys.setrecursionlimit(50000)",
]
LIVE_JUDGING = Judging("lines-reference", "value-reference", "\n".join(PRELUDE), "value")
# Problems that the project itself lists as misjudged, by id, or title for LeetCode's.
ERRATA = {
    **dict.fromkeys(
        (
            "abc311_c",
            "abc326_d",
            "abc327_b",
            "abc333_e",
            "abc343_a",
            "abc343_e",
            "abc362_c",
            "arc185_c",
            "find-words-containing-character",
            "find-the-peaks",
            "generate-binary-strings-without-adjacent-zeros",
        ),
        "several right answers",
    ),
    **dict.fromkeys(("abc337_e", "abc355_e"), "interactive"),
    **dict.fromkeys(
        ("abc350_c", "arc189_a", "apply-operations-to-make-string-empty", "most-frequent-ids"),
        "wrong tests",
    ),
}


def _tests(row: Row, field: str) -> list[Any]:
    given = row.get(field)
    if isinstance(given, str):
        given = given.strip()
        if not given:
            return []
        packed = field.startswith("private") and given[0] not in "[{"
        given = unpacked(given, field, MOST_TESTS_BYTES) if packed else parsed(given, field)
    found: list[Any] = converted(field, [] if given is None else given, list[dict[str, Any]])
    return found


def _slug(title: str) -> str:
    return "-".join(title.lower().split())


def _convert(row: Row, judge: Judge) -> dict[str, Any]:
    metadata = converted("metadata", loaded(row.get("metadata"), "metadata") or {}, dict[str, Any])
    function = metadata.get("func_name")
    private = _tests(row, "private_test_cases")
    tests = [*_tests(row, "public_test_cases"), *private]
    kind = "functional" if function else "stdin"
    named = [{"testtype": kind, **test, "fn_name": function, "metadata": None} for test in tests]
    title = text(row, "question_title")
    return {
        **columns(read_tests(named, "test_cases"), judge, LIVE_JUDGING),
        "title": title,
        "contest_id": text(row, "contest_id"),
        "contest_start_year": day(row.get("contest_date"))[:4],
        "tags": [],
        "errata": ERRATA.get(str(row.get("question_id"))) or ERRATA.get(_slug(title)),
        "time_limit": TIME_LIMIT_S,
        "doubt": "" if private else "private_test_cases is empty: only the public tests run",
    }


LIVECODEBENCH = RowFormat(
    name="livecodebench",
    needs=fields("question_id public_test_cases private_test_cases"),
    content=dict.fromkeys(("public_test_cases", "private_test_cases"), Content()),
    ids={
        "id": of("question_id"),
        "difficulty": of("difficulty"),
        "platform": of("platform"),
        "contest_date": of("contest_date", read=day),
    },
    uses=("question_title", "contest_id", "metadata"),
    convert=_convert,
)
FORMATS = (LIVECODEBENCH,)


# ---- packed values ----

MOST_BYTES, MOST_RATIO, LESS_BYTES = 64 << 20, 20, 20 << 20
MOST_PARTS = 1 << 17
STEP_BYTES = 1 << 17
# In the caller's process: for each megabyte, of which numbers unpack to two in 7 ms.
QUICK_BYTES, QUICK_PARTS, QUICK_S = 5 << 19, 1 << 16, 0.015
_TEXT = re.compile(rb"\x80[\x02-\x05](?:\x95.{8})?X(.{4})", re.DOTALL)
_SCALARS = frozenset((type(None), bool, int, float, str))


def unpacked(text: str, where: str, most: int = MOST_BYTES) -> Any:
    """Return the value of packed JSON, or of a packed pickle; a text in a pickle is JSON.

    where  names the value in messages
    most   the bytes that it may unpack to; at most MOST_RATIO times the text's, or LESS_BYTES

    Raises RowError; SandboxError when no worker can be started.
    """
    most = min(most, max(LESS_BYTES, MOST_RATIO * len(text)))
    size = max(1.0, len(text) / (1 << 20))
    data = _inflated(text, where, min(most, int(size * QUICK_BYTES)), size * QUICK_S)
    found = None if data is None else _text_in(data)
    if found is not None and found.count(",") <= size * QUICK_PARTS:
        return _json(found, where)
    return in_worker(read_long, [text, where, most])


def read_long(arguments: tuple[str, str, int]) -> Any:
    """Return what `unpacked` does, in a worker. Raises RowError."""
    text, where, most = arguments
    data = _inflated(text, where, most, math.inf)
    if data is None:
        raise RowError(f"{where} unpacks to more than {most} bytes")
    value: Any = _text_in(data)
    if value is None:
        try:
            value = _Unpickler(data).load()
        except RowError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a damaged pickle leads to
            raise RowError(f"{where} is damaged: {str(error)[:100]}") from None
    if isinstance(value, str):
        value = _json(value, where)
    _check_plain(value, where, most)
    return value


class _Unpickler(pickle.Unpickler):
    """Reads plain values; any class is refused, so that nothing can be called."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))

    def find_class(self, module: str, name: str) -> NoReturn:
        raise RowError(f"a pickle names {module}.{name}: only plain values are read")


def _check_plain(value: Any, where: str, most: int) -> None:
    """Raise RowError for what JSON does not have, too many values, and over `most` characters.

    A list or text that is repeated counts each time: a few bytes could otherwise stand for
    terabytes.
    """
    left, characters, waiting = MOST_PARTS, 0, [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if not all(isinstance(key, str) for key in part):
                raise RowError(f"{where} has a key that is not text")
            inner = list(part.values())
        elif isinstance(part, (list, tuple)):
            inner = list(part)
        elif type(part) in _SCALARS:
            characters += len(part) if isinstance(part, str) else 0
            inner = []
        else:
            kind = type(part).__name__
            raise RowError(f"{where} has {kind}: only text, numbers, lists and dicts are read")
        left -= len(inner)
        if left < 0:
            raise RowError(f"{where} has over {MOST_PARTS} lists, objects, numbers and texts")
        if characters > most:
            raise RowError(f"{where} is over {most} characters")
        waiting += inner


def _text_in(data: bytes) -> str | None:
    """Return JSON text, alone or as all that is in a pickle, as in LiveCodeBench; else None."""
    if data[:1] != pickle.PROTO:
        return data.decode("utf-8", "replace")
    start = _TEXT.match(data)
    end = start.end() + int.from_bytes(start[1], "little") if start else 0
    known = start is not None and data[end : end + 4] in (b".", b"\x94.", b"q\x00.")
    return str(memoryview(data)[start.end() : end], "utf-8", "replace") if start and known else None


def _json(text: str, where: str) -> Any:
    try:
        return load_json(text, strict=False)
    except (ValueError, RecursionError) as error:
        raise RowError(f"{where} is not JSON: {str(error)[:100]}") from None


def _inflated(text: str, where: str, most: int, cpu_s: float) -> bytes | None:
    """Return the bytes of a packed text, None for more of them or of CPU time. Raises RowError."""
    inflate, blocks, left = zlib.decompressobj(), [], most
    until_s = time.thread_time() + cpu_s
    try:
        packed = base64.b64decode(text, validate=True)
        for at in range(0, len(packed), STEP_BYTES):
            blocks.append(inflate.decompress(packed[at : at + STEP_BYTES], left + 1))
            left -= len(blocks[-1])
            if left < 0 or time.thread_time() > until_s:  # tables take 80 ms a megabyte
                return None
    except (zlib.error, ValueError) as error:
        raise RowError(f"{where} is neither JSON nor packed: {error}") from None
    if not inflate.eof:
        raise RowError(f"{where} is cut")
    return b"".join(blocks)
