"""Read solutions files as a stream.

    {"id": "1000/A", "code": "…"}                                          upstream's format
    {"contest_id": 1000, "index": "A", "code": "…", "language": "cpp"}
    {"id": "1000/A", "files": {"main.cpp": "…", "tree.h": "…"}}       the first one is the main file
    {"problem_id": "1000/A", "completion": "…```python…```", "sample_id": 3}
    {"task_id": "HumanEval/0", "completion": "    return 1"}          or a whole program: "solution"
    {"name": "HumanEval_0_has_close_elements", "completion": "…"}     MultiPL-E
    {"question_id": "abc301_a", "code_list": ["…", "…"]}              one solution for each
    {"submission_id": 5, "programmingLanguage": "GNU C++17", …}       codeforces-submissions
    {"problem_id": "1000/A", "messages": [{"role": "assistant", "content": "…"}]}
        ─▶ Solution(problem_id, solution_id, sample_i, line, language, code)

An unusable line becomes a Solution with `error` set and does not affect other lines. Ids and
numbers depend only on the order of the lines, so reading a file again gives the same ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError, RowError, shown
from gradebox.eval.common.files import OffsetIndex, fingerprint
from gradebox.eval.solutions.extract_code import DEFAULT_LANGUAGE, after_thinking, extract_code
from gradebox.eval.solutions.files import find_files, read_lines
from gradebox.eval.solutions.solution import EXPECTED, Solution, encodable, files_of
from gradebox.eval.solutions.submissions import as_line
from gradebox.sandbox.errors import UnknownLanguage
from gradebox.sandbox.languages import find

PROBLEM_KEYS = ("problem_id", "id", "task_id", "question_id", "name")
TEXT_KEYS = ("completion", "response", "generation", "text", "messages", "content")
NAME_KEYS = ("solution_id", "completion_id", "sample_id")
MESSAGE_KEYS = {"role", "content"}  # a message without a text has a role: it calls a tool
MAX_NAME = 200

Resolve = Callable[[str], "str | None"]
Row = Mapping[str, Any]


def read_solutions(
    paths: Sequence[str | Path],
    *,
    limit: int | None = None,
    problems: Collection[str] | None = None,
    resolve: Resolve | None = None,
) -> Iterator[Solution]:
    """Yield the solutions of files and globs in order; memory does not grow with the texts.

    limit     stop after this many solutions (of those that `problems` selects)
    problems  only these problem ids; lines without a readable id are left out as well
    resolve   returns a problem's own id for any of its names, or None for an unknown one;
              solutions then have that id, so that all aliases share one count of samples

    `sample_i` counts all lines of a problem from 0, whatever `limit` and `problems` are. A
    solution without a name is named by its line number. A name that another solution of the problem
    has gets `@` and that number.
    Raises InputError here for missing, empty and unreadable files, and while reading for a
    damaged gzip file.
    """
    files = find_files(paths)
    return _read(files, limit, problems, resolve)


def read_rows(
    rows: Iterable[Mapping[str, Any]], *, resolve: Resolve | None = None, only_id: str = ""
) -> Iterator[Solution]:
    """Yield the solutions of rows in memory, as if each were a line of a file; the first is line 1.

    only_id  the problem of rows that name none
    """
    names: set[int] = set()

    def add_name(name: int) -> bool:
        new = name not in names
        names.add(name)
        return new

    numbering = _Numbering(resolve or (lambda _: None), add_name)
    for number, row in enumerate(rows, start=1):
        solution = _solution(partial(_object, row, only_id), number, "", str(number))
        yield numbering.apply(solution, str(number))


def _read(
    files: list[Path],
    limit: int | None,
    problems: Collection[str] | None,
    resolve: Resolve | None,
) -> Iterator[Solution]:
    canonical = resolve or (lambda _: None)
    wanted = None if problems is None else {canonical(p) or p for p in problems}
    count = 0
    with OffsetIndex() as names:
        numbering = _Numbering(canonical, names.add)
        for path in files:
            for number, line in read_lines(path):
                if limit is not None and count >= limit:
                    return
                for name, read in _samples(line, str(number)):
                    if limit is not None and count >= limit:
                        return
                    solution = _solution(read, number, str(path), name)
                    solution = numbering.apply(solution, name)
                    if wanted is None or solution.problem_id in wanted:
                        count += 1
                        yield solution


class _Numbering:
    """Gives solutions their problem's own id, their sample number and a unique name.

    add_name  adds the fingerprint of a name and returns whether it is new
    """

    def __init__(self, resolve: Resolve, add_name: Callable[[int], bool]) -> None:
        self._resolve = resolve
        self._add_name = add_name
        self._samples: dict[str, int] = {}

    def apply(self, solution: Solution, line_name: str) -> Solution:
        problem_id = self._resolve(solution.problem_id) or solution.problem_id
        sample_i = 0
        if problem_id:
            sample_i = self._samples.get(problem_id, 0)
            self._samples[problem_id] = sample_i + 1
        name = solution.solution_id
        while not self._add_name(fingerprint(problem_id, name)):
            name = f"{name}@{line_name}"
        return replace(solution, problem_id=problem_id, solution_id=name, sample_i=sample_i)


def _samples(line: bytes | str, name: str) -> Iterator[tuple[str, Callable[[], Row]]]:
    """Yield a name and a reader for each solution of a line: one, or those of its `code_list`."""
    if isinstance(line, bytes) and b'"code_list"' in line:
        try:
            row = _parse(line)
        except RowError:
            row = {}
        codes = row.get("code_list")
        if isinstance(codes, list):
            for i, code in enumerate(codes):
                one = {**row, "code": code if isinstance(code, str) else ""}
                yield f"{name}.{i}", partial(dict, one)
            return
    yield name, partial(_parse, line)


def _solution(
    read: Callable[[], Mapping[str, Any]], number: int, source: str, default_id: str
) -> Solution:
    """Return the solution of one line, with `sample_i` 0."""
    problem_id, solution_id, language, code, error = "", default_id, DEFAULT_LANGUAGE, None, None
    response, expect = None, ""
    known: Mapping[str, str] = {}
    files: tuple[tuple[str, str], ...] = ()
    try:
        given = read()
        row = as_line(given)
        known = row["known"] if row is not given else {}
        status = row.get("expect")
        status = status.get("status") if isinstance(status, Mapping) else status
        expect = str(status) if status in EXPECTED else ""
        problem_id = _problem_id(row)
        solution_id = _first_name(row, NAME_KEYS) or default_id
        requested = _name(row, "language") or None
        language = requested or language
        _check_language(language)
        files = files_of(row, find(language).source)
        alone = files and row.get("code") is None
        code, language = _program({**row, "code": files[0][1]} if alone else row, requested)
        if files and not alone:
            files = (("", code or ""), *files)
        if code is None or not row.get("code"):
            response = _answer(row)
        if code is not None and (response or "").count("```") < 3:  # one fence: it is the code
            response = None
    except RowError as why:
        error = f"line {number}: {why}"
    return Solution(
        *(problem_id, solution_id, 0, number, language, code, error, source, response, known),
        files,
        expect,
    )


def _parse(line: bytes | str) -> Mapping[str, Any]:
    if isinstance(line, str):
        raise RowError(line)
    try:
        row = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise RowError(f"not UTF-8 at byte {error.start}: save the file as UTF-8") from error
    except RecursionError as error:
        raise RowError("JSON nested too deeply: one flat object a line is needed") from error
    except ValueError as error:  # JSONDecodeError, or an integer with too many digits
        raise RowError(f"not JSON ({error}): one object a line is needed") from error
    if not isinstance(row, dict):
        raise RowError(f"a JSON {type(row).__name__}, not an object: {shown(row)}")
    return row


def _object(row: object, only_id: str) -> Mapping[str, Any]:
    if not isinstance(row, Mapping):
        raise RowError(
            f"{shown(row)} is not a row: an object with `code` or `completion` is needed"
        )
    named = not only_id or any(row.get(key) for key in (*PROBLEM_KEYS, "contest_id"))
    return row if named else {**row, "id": only_id}


def _problem_id(row: Mapping[str, Any]) -> str:
    contest, index = _name(row, "contest_id"), _name(row, "index")
    given = _first_name(row, PROBLEM_KEYS)
    joined = f"{contest}/{index}" if contest and index else ""
    if given and not (joined and given.isdigit()):  # beside both, a bare number is a row number
        return given
    if not joined:
        raise RowError("no problem: give id or problem_id, or contest_id and index")
    return joined


def _first_name(row: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next((name for name in (_name(row, key) for key in keys) if name), "")


def _name(row: Mapping[str, Any], key: str) -> str:
    """Return a name or whole number as text, "" when it is missing."""
    value = row.get(key)
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            value = str(value)
        except ValueError:  # more digits than Python prints
            raise RowError(f"{key} has too many digits: at most {MAX_NAME}") from None
    if not isinstance(value, str):
        raise RowError(f"{key} is {shown(value)}: it must be text or a whole number")
    if len(value) > MAX_NAME:
        raise RowError(f"{key} has {len(value)} characters: at most {MAX_NAME}")
    return encodable(value.strip())


def _check_language(name: str) -> None:
    try:
        find(name)
    except UnknownLanguage as error:
        raise RowError(str(error)) from error


def _program(row: Mapping[str, Any], language: str | None) -> tuple[str | None, str]:
    """Return the program, or None when the response has none, and its language.

    `code` is used as it is, unless it begins with a fence or with thoughts. A field that is present
    but null is a response without an answer.
    """
    code = row.get("code")
    if code is None and "task_id" in row and isinstance(row.get("solution"), str):
        code = row["solution"]  # EvalPlus: a whole program
    if isinstance(code, str) and code.strip():
        text = encodable(code)
        if text.lstrip().startswith(("```", "~~~", "<think>")):
            return extract_code(text, language)
        return text, language or DEFAULT_LANGUAGE
    if code is not None and not isinstance(code, str):
        raise RowError(f"code is {shown(code)}: it must be text")
    response = _response(row)
    if response is not None:
        return extract_code(response, language)
    if "code" not in row and not any(key in row for key in TEXT_KEYS):
        raise RowError(f"no program: give code, or a response in {', '.join(TEXT_KEYS)}")
    return None, language or DEFAULT_LANGUAGE


def _answer(row: Mapping[str, Any]) -> str | None:
    """Return the answer of a response, None when it has no text."""
    text = after_thinking(_response(row) or "")
    return text if text.strip() else None


def _response(row: Mapping[str, Any]) -> str | None:
    """Return the model's response, None when no field has one."""
    for key in TEXT_KEYS:
        if row.get(key) is not None:
            return encodable(_text(key, row[key]))
    return None


def recorded_solution(
    path: Path, record: Mapping[str, Any], line: bytes | str | None = None
) -> tuple[Solution, str]:
    """Return the solution of a record, with `sample_i` 0, and the text that its program is from.

    line  of the solutions file, `path`; None: it is read

    The text is "" where the line has the program itself. Raises InputError when the line is not
    there any more, or holds another solution.
    """
    number, name = record.get("line"), record.get("solution_id")
    if not isinstance(number, int) or not isinstance(name, str):
        raise InputError("the record has no usable line; start the run again")
    line = line or next((data for n, data in read_lines(path) if n == number), None)
    if line is None:
        raise InputError(
            f"{path} has no line {number}, so it was shortened since the run; give --solutions-path"
        )
    own_names = (name, name.partition("@")[0])
    found: list[Solution] = []
    for default, read in _samples(line, str(number)):
        solution = _solution(read, number, str(path), default)
        found.append(solution)
        if solution.solution_id in own_names:
            return solution, _source_text(read, solution)
    raise InputError(
        f"line {number} of {path} is now {shown(found[0].solution_id)} of problem "
        f"{shown(found[0].problem_id)}, but the record is of {shown(name)}; give the run's own "
        "file with --solutions-path"
    )


def _source_text(read: Callable[[], Row], solution: Solution) -> str:
    try:
        row = as_line(read())
        text = encodable(str(row.get("code") or "")) or _response(row) or ""
    except RowError:
        return ""
    return "" if text == solution.code else text


def _text(key: str, value: object) -> str:
    """Return the text of a response: a string, or the last message of the assistant."""
    if isinstance(value, str) and key != "messages":
        return value
    messages = [value] if isinstance(value, dict) else value
    if not isinstance(messages, list) or not all(
        isinstance(m, dict) and m.keys() & MESSAGE_KEYS for m in messages
    ):
        raise RowError(f"{key} is {shown(value)}: it must be text or a list of messages")
    for message in reversed(messages):
        if message.get("role", "assistant") == "assistant":
            return _content(key, message.get("content"))
    raise RowError(f"{key} has no message of the assistant among {len(messages)}")


def _content(key: str, content: object) -> str:
    """Return the text of a message's content: text, null, or a list with text parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise RowError(f"the content in {key} is {shown(content)}: it must be text")
    parts = [part.get("text") if isinstance(part, dict) else part for part in content]
    return "".join(part for part in parts if isinstance(part, str))
