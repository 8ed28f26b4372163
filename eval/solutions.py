"""Solutions files, read as a stream.

    {"id": "1000/A", "code": "…"}                                          upstream's
    {"contest_id": 1000, "index": "A", "code": "…", "language": "cpp"}
    {"problem_id": "1000/A", "completion": "…```python…```", "sample_id": 3}
    {"problem_id": "1000/A", "messages": [{"role": "assistant", "content": "…"}]}
        ─▶ Solution(problem_id, solution_id, sample_i, line, language, code)

A line that cannot be used becomes a Solution with `error` set and loses no other. The
order of lines alone decides ids and numbers, so a second reading gives the same ones.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from eval.extract_code import DEFAULT_LANGUAGE, extract_code
from eval.input_error import shown
from eval.model import Solution
from eval.solution_files import find_files, read_lines
from sandbox.errors import UnknownLanguage
from sandbox.languages import find

PROBLEM_KEYS = ("problem_id", "id")
TEXT_KEYS = ("completion", "response", "generation", "text", "messages")
NAME_KEYS = ("solution_id", "completion_id", "sample_id")
MAX_NAME = 200

Resolve = Callable[[str], "str | None"]


class _LineError(ValueError):
    """Why a line is invalid; becomes Solution.error."""


def read_solutions(
    paths: Sequence[str | Path],
    *,
    limit: int | None = None,
    problems: Collection[str] | None = None,
    resolve: Resolve | None = None,
) -> Iterator[Solution]:
    """The solutions of files and globs, in order; memory does not grow with the texts.

    limit     only the first so many (of those that `problems` lets through)
    problems  only these problem ids; lines without a readable id are left out as well
    resolve   gives a problem's canonical id for any of its names, or None; problem ids
              of known problems are then canonical, so aliases share one count of samples

    `sample_i` counts the lines of a problem from 0, whatever `limit` and `problems`. A
    solution is named by its line's number when it has no name; with several files the
    file's name stands before it. A name that a problem has had already gets
    `@` and that number after it. Missing, empty and unreadable files raise InputError
    here, before the first solution; a damaged gzip file does so where it is damaged.
    """
    files = find_files(paths)
    return _read(files, limit, problems, resolve)


def read_rows(
    rows: Iterable[Mapping[str, Any]], *, resolve: Resolve | None = None, only_id: str = ""
) -> Iterator[Solution]:
    """The solutions of rows in memory, each as a line of a file would be; line 1 is the first.

    only_id  the problem of rows that name none
    """
    canonical = resolve or (lambda _: None)
    samples: dict[str, int] = {}
    names = _Names()
    for number, row in enumerate(rows, start=1):
        solution = _solution(partial(_object, row, only_id), number, "", str(number))
        problem_id = canonical(solution.problem_id) or solution.problem_id
        sample_i = samples.get(problem_id, 0) if problem_id else 0
        samples[problem_id] = sample_i + 1
        solution_id = names.once(problem_id, solution.solution_id, str(number))
        yield replace(solution, problem_id=problem_id, solution_id=solution_id, sample_i=sample_i)


def _read(
    files: list[Path],
    limit: int | None,
    problems: Collection[str] | None,
    resolve: Resolve | None,
) -> Iterator[Solution]:
    canonical = resolve or (lambda _: None)
    wanted = None if problems is None else {canonical(p) or p for p in problems}
    prefixes = _prefixes(files)
    samples: dict[str, int] = {}
    names = _Names()
    given = 0
    for path, prefix in zip(files, prefixes, strict=True):
        for number, line in read_lines(path):
            if limit is not None and given >= limit:
                return
            solution = _solution(partial(_parse, line), number, str(path), f"{prefix}{number}")
            problem_id = canonical(solution.problem_id) or solution.problem_id
            sample_i = 0
            if problem_id:
                sample_i = samples.get(problem_id, 0)
                samples[problem_id] = sample_i + 1
            solution_id = names.once(problem_id, solution.solution_id, f"{prefix}{number}")
            if wanted is not None and problem_id not in wanted:
                continue
            given += 1
            yield Solution(
                problem_id=problem_id,
                solution_id=solution_id,
                sample_i=sample_i,
                line=number,
                language=solution.language,
                code=solution.code,
                error=solution.error,
                source=solution.source,
            )


def _prefixes(files: list[Path]) -> list[str]:
    """What stands before line numbers to tell files apart: nothing for a single file."""
    if len(files) == 1:
        return [""]
    stems = [file.name.split(".")[0] for file in files]
    if len(set(stems)) < len(stems):
        return [f"{file}:" for file in files]
    return [f"{stem}:" for stem in stems]


def _solution(
    read: Callable[[], Mapping[str, Any]], number: int, source: str, default_id: str
) -> Solution:
    """One line read; `sample_i` is still to be set."""
    problem_id, solution_id, language, code, error = "", default_id, DEFAULT_LANGUAGE, None, None
    try:
        row = read()
        problem_id = _problem_id(row)
        solution_id = _first_name(row, NAME_KEYS) or default_id
        asked = _name(row, "language") or None
        language = asked or language
        _check_language(language)
        code, language = _program(row, asked)
    except _LineError as why:
        error = f"line {number}: {why}"
    return Solution(problem_id, solution_id, 0, number, language, code, error, source)


def _parse(line: bytes | str) -> Mapping[str, Any]:
    if isinstance(line, str):
        raise _LineError(line)
    try:
        row = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise _LineError(f"not UTF-8 at byte {error.start}: save the file as UTF-8") from error
    except RecursionError as error:
        raise _LineError("JSON nested too deeply: one flat object a line is needed") from error
    except ValueError as error:  # JSONDecodeError, or an integer of too many digits
        raise _LineError(f"not JSON ({error}): one object a line is needed") from error
    if not isinstance(row, dict):
        raise _LineError(f"a JSON {type(row).__name__}, not an object: {shown(row)}")
    return row


def _object(row: object, only_id: str) -> Mapping[str, Any]:
    if not isinstance(row, Mapping):
        raise _LineError(f"{shown(row)} is no row: an object with `code` or `completion` is needed")
    named = not only_id or any(row.get(key) for key in (*PROBLEM_KEYS, "contest_id"))
    return row if named else {**row, "id": only_id}


def _problem_id(row: Mapping[str, Any]) -> str:
    contest, index = _name(row, "contest_id"), _name(row, "index")
    given = _first_name(row, PROBLEM_KEYS)
    split = f"{contest}/{index}" if contest and index else ""
    if given and not (split and given.isdigit()):  # a bare number beside both is a row's number
        return given
    if not split:
        raise _LineError("no problem: give id or problem_id, or contest_id and index")
    return split


def _first_name(row: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next((name for name in (_name(row, key) for key in keys) if name), "")


def _name(row: Mapping[str, Any], key: str) -> str:
    """A name as text, "" when there is none; whole numbers are names, too."""
    value = row.get(key)
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            value = str(value)
        except ValueError:  # more digits than Python prints
            raise _LineError(f"{key} has too many digits: at most {MAX_NAME}") from None
    if not isinstance(value, str):
        raise _LineError(f"{key} is {shown(value)}: text or a whole number is needed")
    if len(value) > MAX_NAME:
        raise _LineError(f"{key} has {len(value)} characters: at most {MAX_NAME}")
    return _encodable(value.strip())


def _check_language(name: str) -> None:
    try:
        find(name)
    except UnknownLanguage as error:
        raise _LineError(str(error)) from error


def _program(row: Mapping[str, Any], language: str | None) -> tuple[str | None, str]:
    """The program and its language; None as program when the response has none.

    `code` is taken as it stands, unless a fence is its first line. A field that is
    there but null is a response without an answer.
    """
    code = row.get("code")
    if isinstance(code, str) and code.strip():
        text = _encodable(code)
        if text.lstrip().startswith(("```", "~~~")):
            return extract_code(text, language)
        return text, language or DEFAULT_LANGUAGE
    if code is not None and not isinstance(code, str):
        raise _LineError(f"code is {shown(code)}: text is needed")
    for key in TEXT_KEYS:
        if row.get(key) is not None:
            return extract_code(_encodable(_text(key, row[key])), language)
    if "code" not in row and not any(key in row for key in TEXT_KEYS):
        raise _LineError(f"no program: give code, or a response in {', '.join(TEXT_KEYS)}")
    return None, language or DEFAULT_LANGUAGE


def _text(key: str, value: object) -> str:
    """The text of a response: a string, or the last message of the assistant."""
    if isinstance(value, str) and key != "messages":
        return value
    messages = [value] if isinstance(value, dict) else value
    if not isinstance(messages, list) or not all(isinstance(m, dict) for m in messages):
        raise _LineError(f"{key} is {shown(value)}: text or a list of messages is needed")
    for message in reversed(messages):
        if message.get("role", "assistant") == "assistant":
            return _content(key, message.get("content"))
    raise _LineError(f"{key} has no message of the assistant among {len(messages)}")


def _content(key: str, content: object) -> str:
    """A message's content: text, null, or parts of which the text ones count."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise _LineError(f"the content in {key} is {shown(content)}: text is needed")
    parts = [part if isinstance(part, str) else _part(part) for part in content]
    return "".join(parts)


def _part(part: object) -> str:
    text = part.get("text") if isinstance(part, dict) else None
    return text if isinstance(text, str) else ""


def _encodable(text: str) -> str:
    """The text with lone surrogates replaced: JSON can spell them, UTF-8 cannot."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


class _Names:
    """Makes names unique within their problem, holding eight bytes a name.

    An open-addressing table of 64-bit hashes: a million names take 16 MB where a set
    would take over 100. Two names of one hash would only give the second a longer name.
    """

    def __init__(self) -> None:
        self._slots = array("Q", bytes(8 * 1024))
        self._used = 0

    def once(self, problem_id: str, name: str, line: str) -> str:
        """The name, with `@` and the line's name after it as often as it takes."""
        while not self._add(problem_id, name):
            name = f"{name}@{line}"
        return name

    def _add(self, problem_id: str, name: str) -> bool:
        digest = hashlib.blake2b(f"{problem_id}\0{name}".encode(), digest_size=8).digest()
        if not self._put(int.from_bytes(digest, "big") or 1):
            return False
        self._used += 1
        if 2 * self._used > len(self._slots):
            self._grow()
        return True

    def _put(self, value: int) -> bool:
        slots, mask = self._slots, len(self._slots) - 1
        place = value & mask
        while slots[place]:
            if slots[place] == value:
                return False
            place = (place + 1) & mask
        slots[place] = value
        return True

    def _grow(self) -> None:
        old = self._slots
        self._slots = array("Q", bytes(8 * 2 * len(old)))
        for value in old:
            if value:
                self._put(value)
