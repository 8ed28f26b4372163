"""What dialects share: bodies read as structs, tests in LiveCodeBench's form, one solution graded.

    JSON values ─ read ─▶ struct        {"inputs": ["1\\n"], "outputs": ["2\\n"], "fn_name": null}
                    └ invalid ─ answering ─▶ 422 {"detail": [{"loc": ["body", "code"], …}]}

The servers that we stand in for are written with FastAPI, so their clients know errors in its
form: 422 with a list for a wrong body, other statuses with a text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from gradebox.eval.common.errors import InputError, RowError, shown
from gradebox.eval.problems.formats import FORMATS, Judge, Reading, livecodebench
from gradebox.eval.results.records import fields_of
from gradebox.sandbox.common.cancellation import Cancellation
from gradebox.sandbox.errors import BadRequest, RequestRefused, SandboxError
from gradebox.sandbox.server.incoming import check_structure, structure_bytes
from gradebox.sandbox.server.settings import Answer, Route, ServerRequest

if TYPE_CHECKING:
    from gradebox.eval.api.service import GradeService

T = TypeVar("T")
Place = tuple[str | int, ...]
BODY: Place = ("body",)
_MISSING = re.compile("Object missing required field `(.+)`")


def invalid(where: Place, message: str, value: object = None) -> BadRequest:
    """Return the error of a wrong value of a body, with FastAPI's details of it.

    where  names of fields and numbers of elements, from the body on
    """
    error = BadRequest(f"{'.'.join(map(str, where))}: {message}")
    kind = "missing" if message == "Field required" else "value_error"
    error.detail = {"type": kind, "loc": list(where), "msg": message, "input": shown(value)}
    return error


# None: the server answers the error as its own routes do.
Form = Callable[[Exception], Answer | None]


def answering(route: Route, form: Form) -> Route:
    """Return a route whose errors have the form of a dialect."""

    def answer(request: ServerRequest) -> Answer:
        try:
            return route(request)
        except (BadRequest, InputError, RequestRefused, SandboxError) as error:
            found = form(error)
            if found is None:
                raise
            return found

    return answer


def fastapi_form(error: Exception) -> Answer | None:
    """422 a wrong body, 400 what else the client has to change, 503 a fault of the machine."""
    if isinstance(error, RequestRefused):
        return None
    if isinstance(error, BadRequest) and error.detail is not None:
        return 422, {"detail": [error.detail]}
    return 503 if isinstance(error, SandboxError) else 400, {"detail": str(error)}


def read(kind: type[T], value: Any, where: Place = BODY, *, strict: bool = True) -> T:
    """Return JSON values as a struct, or as another type. Raises BadRequest.

    strict  False: numbers and truth values may be texts
    """
    try:
        return msgspec.convert(value, kind, strict=strict)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$")
        names = re.findall(r"[^.\[\]`]+", path)
        places = [int(name) if name.isdigit() else name for name in names if name != "..."]
        missing = _MISSING.fullmatch(message)
        if missing:
            raise invalid((*where, *places, missing[1]), "Field required") from None
        raise invalid((*where, *places), message, value) from None
    except UnicodeEncodeError as error:  # a key that is half a surrogate pair
        raise invalid(where, f"Input should be text: {error}", value) from None


def optional(given: Mapping[str, Any], name: str, kind: Any) -> Any:
    """Return a field of a body, None without one; numbers may be texts. Raises BadRequest."""
    wanted: Any = kind | None
    return read(wanted, given.get(name), (*BODY, name), strict=False)


def within(value: float | None, default: float, most: float, *where: str) -> float:
    """Return a number over 0 and up to `most`, the default for None. Raises BadRequest."""
    if value is None:
        return min(default, most)
    if not 0 < value <= most:  # also for NaN
        raise invalid((*BODY, *where), f"Input should be over 0 and at most {most:g}", value)
    return value


# ---- values that are packed, or the text of JSON ----


def unpacked(text: str) -> Any:
    """Return a packed value. Raises BadRequest."""
    try:
        return livecodebench.unpacked(text, "the packed value")
    except RowError as error:
        raise BadRequest(str(error)) from None


def json_or_unpacked(value: Any) -> Any:
    """Return a value that may be JSON text or packed. Raises BadRequest, RequestRefused."""
    if not isinstance(value, str):
        return value
    if value.lstrip()[:1] in ("[", "{", '"'):
        return json_text(value)
    return unpacked(value)


def json_text(text: str) -> Any:
    """Return the value of JSON text, which may have line breaks in strings.

    Raises BadRequest; RequestRefused for one of too many parts.
    """
    check_structure(structure_bytes(text.encode("utf-8", "surrogatepass")))
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the value is not JSON: {str(error)[:100]}") from None


# ---- grading ----

NOT_RUN = "SK"  # the verdict of a test behind the first that failed


def tests_run(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the tests of a record up to the first failed one, or all."""
    return [test for test in record["details"] if test["verdict"] != NOT_RUN]


def grade_one(
    service: GradeService,
    solution: Mapping[str, Any],
    problem: Mapping[str, Any] | None,
    cancelled: Cancellation,
    **flags: Any,
) -> Mapping[str, Any]:
    """Grade one solution; return its record.

    problem  a row; None: the solution names one of the server's data set

    Raises SandboxError when the machine failed, BadRequest for a problem or solution that cannot be
    graded, whatever the program does.
    """
    problems = None if problem is None else [problem]
    (graded,) = service.grade([solution], problems, flags=flags, cancelled=cancelled)
    record = fields_of(graded)
    if record["status"] == "error":
        raise SandboxError(f"not graded, which is not the program's fault: {record['error']}")
    if record["status"] in ("invalid", "unsupported"):
        raise BadRequest(str(record["error"]))
    return record


def own_columns(
    format_name: str, row: Mapping[str, Any], judge: Judge = "reference", **columns: Any
) -> dict[str, Any]:
    """Return a row of a data set in our own columns, some of them replaced. Raises BadRequest."""
    try:
        found = Reading(FORMATS[format_name], judge).columns(row)
    except RowError as error:
        raise BadRequest(f"the problem is unusable: {error}") from None
    return {**found, **columns}


def live_problem(name: str, tests: Any, **columns: Any) -> dict[str, Any]:
    """Return the problem of such tests, judged as LiveCodeBench's grader does.

    With a function's name each test is a call, and a line of its input an argument.

    columns  replace our own columns of the problem

    Raises BadRequest.
    """
    given = tests if isinstance(tests, Mapping) else {}
    inputs, outputs, function = given.get("inputs"), given.get("outputs"), given.get("fn_name")
    if not isinstance(inputs, list) or not isinstance(outputs, list):
        raise BadRequest("the tests must be an object with the lists inputs and outputs")
    if len(inputs) != len(outputs):
        raise BadRequest(f"the tests have {len(inputs)} inputs, {len(outputs)} outputs")
    row = {
        "question_id": name,
        "public_test_cases": [
            {"input": _text(given), "output": _text(expected)}
            for given, expected in zip(inputs, outputs, strict=True)
        ],
        "metadata": {"func_name": function} if function else {},
    }
    return own_columns("livecodebench", row, **columns)


def _text(value: Any) -> Any:
    """Return a list of lines as a text."""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    return value
