"""The tests of a dataset's row, the groups in which they give points, and single values.

    official_tests  [{"input", "output", "name", "args", "points"}, …]  or  {"input": […], …}
        ─ official_tests ─▶ (input, expected output) …, one at a time
        ─ input_sizes ────▶ bytes of each input
        ─ test_infos ─────▶ TestInfo …
    subtasks        [{"name", "points", "tests", "rule", …}, …] ─ subtasks_of ─▶ Subtask …

A reader of packages passes a `Path` for an input or output, which is read when it is yielded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from stat import S_ISREG
from typing import Annotated, Any

import msgspec

from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.problem import NO_INFO, Subtask, TestInfo

TESTS_COLUMN = "official_tests"
MAX_NAME = 200
_NAME = re.compile(rf"[^/\0\n\ud800-\udfff]{{1,{MAX_NAME}}}")
_TEST_KEYS = ("input", "output", "name", "args", "points")


def official_tests(value: object) -> Iterator[tuple[bytes, bytes | None]]:
    """Yield (input, expected output or None) of a row's `official_tests`, as UTF-8.

    value  None, a list of tests, one list for each key, or JSON text of those; in text, a byte that
           is not UTF-8 is a lone surrogate, as Python's surrogateescape has it

    A missing input is empty. Raises RowError with the number of the test that is wrong.
    """
    for number, test in enumerate(_items(value)):
        expected = test.get("output")
        given = _contents(number, test.get("input"))
        yield given, None if expected is None else _contents(number, expected)


def input_sizes(value: object, *, needs_output: bool) -> list[int]:
    """Return the bytes of each test's input; files are not read. Raises RowError.

    needs_output  whether a test without an output is an error
    """
    sizes = []
    for number, test in enumerate(_items(value)):
        sizes.append(_size(number, test.get("input")))
        if test.get("output") is not None:
            _size(number, test["output"])
        elif needs_output:
            raise RowError(f"official test {number} has no output")
    return sizes


def all_blank(value: object) -> bool:
    """Return whether there are tests, and none expects an output. Raises RowError."""
    outputs = [test.get("output") for test in _items(value)]
    return bool(outputs) and all(isinstance(one, str) and not one.strip() for one in outputs)


def test_infos(value: object) -> tuple[TestInfo, ...]:
    """Return what tests have besides input and output; empty when none has any. RowError."""
    found = [_info(number, test) for number, test in enumerate(_items(value))]
    return tuple(found) if any(info is not NO_INFO for info in found) else ()


def subtasks_of(row: Mapping[str, Any]) -> tuple[Subtask, ...]:
    """Return the groups; RowError for tests and groups that do not exist, and negative points."""
    given, known = row.get("subtasks") or (), set[str]()
    count = len(_items(row.get(TESTS_COLUMN))) if given else 0
    items = [
        {key: as_text(v) if key == "name" else v for key, v in item.items() if v is not None}
        if isinstance(item, Mapping)
        else item
        for item in (given if isinstance(given, (list, tuple)) else [given])
    ]
    found: tuple[Subtask, ...] = converted("subtasks", items, tuple[Subtask, ...])
    for group in found:
        if group.points < 0 or any(not 0 <= i < count for i in group.tests):
            raise RowError(f"subtasks: {shown(group.name)} needs {count} tests, points from 0 on")
        if missing := [name for name in (*group.groups, *group.needs) if name not in known]:
            raise RowError(
                f"subtasks: {shown(group.name)} names {shown(missing[0])}: it must be before"
            )
        known.add(group.name)
    return found


def _items(value: object) -> Sequence[Mapping[str, Any]]:
    """Return the tests as a list of objects, their contents as they are. Raises RowError."""
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else None
        except (ValueError, RecursionError) as error:
            raise RowError("official_tests is text that is not JSON") from error
    if value is None:
        return ()
    if isinstance(value, dict):
        inputs, outputs = value.get("input"), value.get("output")
        if not isinstance(inputs, list) or not isinstance(outputs, list):
            raise RowError("official_tests has no lists input and output")
        if len(inputs) != len(outputs):
            raise RowError(f"official_tests has {len(inputs)} inputs, {len(outputs)} outputs")
        lists = {key: value[key] for key in _TEST_KEYS if isinstance(value.get(key), list)}
        return [dict(zip(lists, test, strict=False)) for test in zip(*lists.values(), strict=False)]
    if not isinstance(value, (list, tuple)):
        raise RowError(f"official_tests is {shown(value)}: it must be a list of tests")
    for number, test in enumerate(value):
        if not isinstance(test, dict):
            raise RowError(
                f"official test {number} is {shown(test)}: it must have input and output"
            )
        if "input" not in test and (others := test.keys() - _TEST_KEYS):
            raise RowError(
                f"official test {number} has {shown(min(others, key=str))} and no input: name "
                "what a program reads `input`, which may be empty"
            )
    return value


def _contents(number: int, value: object) -> bytes:
    if isinstance(value, Path):
        try:
            return value.read_bytes()
        except OSError as error:
            raise _unreadable(number, value, error) from None
    if isinstance(value, bytes):
        return value
    if not isinstance(value, (str, type(None))):
        raise RowError(f"official test {number} has an input or output that is not text")
    try:
        return (value or "").encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise RowError(
            f"official test {number} has a lone surrogate: it must be UTF-8 text"
        ) from error


def _size(number: int, value: object) -> int:
    """Return the bytes of an input or output; a file must be a regular one, a pipe would block."""
    if not isinstance(value, Path):
        return len(_contents(number, value))
    try:
        found = value.stat()
    except OSError as error:
        raise _unreadable(number, value, error) from None
    if not S_ISREG(found.st_mode):
        raise RowError(
            f"official test {number}: {value} is not a regular file: put one in its place"
        )
    return found.st_size


def _unreadable(number: int, path: Path, error: OSError) -> RowError:
    return RowError(f"official test {number}: {path} can't be read: {error.strerror}")


def _info(number: int, test: Mapping[str, Any]) -> TestInfo:
    name, args = as_text(test.get("name")), test.get("args")
    points = test.get("points")
    if points is not None:
        kind = Annotated[float, msgspec.Meta(ge=0, le=1e300)]
        points = converted(f"official test {number}: points", points, kind)
    if not (name or args or points is not None):
        return NO_INFO
    args = converted(f"official test {number}: args", args or (), tuple[str, ...])
    return TestInfo(name, args, points)


# ---- single values: text, numbers, lists ----


def as_text(value: object) -> str:
    """Return text, or a whole number as text; "" for anything else."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if abs(value) < 1 << 63 else ""
    return value.strip() if isinstance(value, str) else ""


def converted(column: str, value: object, kind: Any) -> Any:
    """Return a value as a type that msgspec knows; a number may be text. Raises RowError."""
    try:
        if isinstance(value, str):
            value.encode()
        return msgspec.convert(value, kind, strict=False)
    except UnicodeEncodeError:
        raise RowError(f"{column} has a lone surrogate: it must be UTF-8 text") from None
    except msgspec.ValidationError as error:
        raise RowError(f"{column} is {shown(value)}: {error}") from None


def whole_number(value: object) -> int | None:
    """Return a whole number that a record can hold; None for anything else."""
    kind = Annotated[int, msgspec.Meta(ge=1 - (1 << 63), le=(1 << 63) - 1)]
    try:
        number: int = converted("", value, kind)
    except RowError:
        return None
    return number


def plain_name(column: str, value: object) -> str:
    """Return the name of a file in a program's folder."""
    if not isinstance(value, str) or not _NAME.fullmatch(value) or value in (".", ".."):
        raise RowError(
            f"{column} has {shown(value)}: a file name has 1 to {MAX_NAME} characters and no '/'"
        )
    return value


def items_of(value: object, kind: type) -> tuple[Any, ...]:
    """Return the items of a list that have a type; () when the value is not a list."""
    if not isinstance(value, (list, tuple)):
        return ()
    return tuple(item for item in value if isinstance(item, kind))
