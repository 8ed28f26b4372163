"""A submission of Judge0: how it is read, run and shown.

    JSON ─ read_submission ─▶ Judge0Submission ─ run ─▶ its values filled in ─ shown ─▶ JSON

A program that ended with 0 is accepted where the request has no `expected_output`. Otherwise its
output is compared with it, ignoring blanks at the end of lines and of the whole text.

judge0.json has languages, statuses, limits, and what is refused:

languages  [our name, how Judge0 writes it, its ids]: below 43 the flavor Extra CE, else CE
limits     [default, least, most, for `most` null the server's ceiling, how many of the
               ceiling's units are one of Judge0's]
refused    [value in answers, why another one is refused]
ended      [status, signal, message] of a program that met a limit, or that a signal ended
"""

from __future__ import annotations

import base64
import json
import shlex
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from gradebox.eval.api.dialects.common import BODY, invalid, optional, read
from gradebox.eval.api.dialects.programs import Asked, ProgramRunner, Ran
from gradebox.eval.common.errors import shown
from gradebox.sandbox.errors import BadRequest, SandboxError
from gradebox.sandbox.languages import find
from gradebox.sandbox.model import Execution
from gradebox.sandbox.server.layout import decode_base64
from gradebox.sandbox.server.request import strings
from gradebox.sandbox.server.runtimes import version_of
from gradebox.sandbox.server.settings import Ceilings

ARGUMENTS_CHARS = 512
BLANK = b" \t\n\v\f\r\0"
TABLES: Mapping[str, Any] = json.loads(Path(__file__).with_name("judge0.json").read_text("utf-8"))
STATUSES = [{"id": int(n), "description": name} for n, name in TABLES["statuses"].items()]
WAITS, RUNS, ACCEPTED, WRONG, LATE, NOT_COMPILED = range(1, 7)
EXITED, OTHER, FAULT = 11, 12, 13
FIELDS = [
    name for part in ("own", "texts", "measured", "limits", "refused") for name in TABLES[part]
]


def limits_of(ceilings: Ceilings) -> dict[str, tuple[float, float, float]]:
    """Return the default, the least and the most of each limit: seconds, and KiB of memory."""
    found: dict[str, tuple[float, float, float]] = {}
    for name, (usual, least, most, ceiling, units) in TABLES["limits"].items():
        highest = most or type(usual)(getattr(ceilings, ceiling) / units)
        found[name] = min(usual, highest), least, highest
    return found


def languages_of(toolchains: Mapping[str, str]) -> dict[int, dict[str, Any]]:
    """Return the languages that are installed, by id; `row` is our name."""
    found: dict[int, dict[str, Any]] = {}
    for row, form, ids in TABLES["languages"]:
        if row in toolchains:
            name = form.format(version_of(toolchains[row], row))
            file = find(row).source
            about = {"name": name, "is_archived": False, "source_file": file, "row": row}
            found |= {number: {"id": number, **about} for number in ids}
    return dict(sorted(found.items()))


@dataclass
class Judge0Submission:
    """A submission; `values` are its fields as they are answered, but texts as bytes."""

    asked: Asked
    values: dict[str, Any]

    @property
    def token(self) -> str:
        """Its name, which nobody guesses."""
        return str(self.values["token"])

    @property
    def size(self) -> int:
        """Bytes that it takes to keep."""
        return 4096 + sum(len(one) for one in self.values.values() if isinstance(one, bytes))

    def run(self, programs: ProgramRunner) -> dict[str, Any]:
        """Run the program; return the values at its end. A fault of the machine is a status."""
        self.values["status_id"] = RUNS
        try:
            found = self._outcome(programs.run(self.asked))
        except (SandboxError, BadRequest, OSError, RuntimeError) as error:
            found = {"status_id": FAULT, "message": str(error).encode()}
        # a copy, so that an answer being written meanwhile does not mix old and new values
        return {**self.values, **found, "finished_at": _now()}

    def _outcome(self, ran: Ran) -> dict[str, Any]:
        log = (ran.compiled.log if ran.compiles else b"") or None
        execution = ran.execution
        if execution is None:
            return {"status_id": NOT_COMPILED, "compile_output": log}
        status, signal, message = self._status(execution)
        return {
            "status_id": status,
            "message": message.encode() or None,
            "compile_output": log,
            "time": execution.cpu_s,
            "wall_time": execution.wall_s,
            "memory": (execution.memory_bytes or 0) >> 10,
            "stdout": execution.stdout or None,
            "stderr": execution.stderr or None,
            "exit_code": execution.exit_code or 0,
            "exit_signal": signal,
        }

    def _status(self, execution: Execution) -> tuple[int, int | None, str]:
        """Return the status, the signal and a message."""
        ended, limit = TABLES["ended"], execution.killed_for
        if limit is None and execution.cpu_s > self.values["cpu_time_limit"]:
            limit = "cpu"
        if limit is not None:
            return tuple(ended.get(limit, ended["another"]))
        if (signal := execution.signal) is not None:
            message = f"Caught fatal signal {signal}"
            return ended.get(str(signal), (OTHER,))[0], signal, message
        if execution.exit_code:
            return EXITED, None, f"Exited with error status {execution.exit_code}"
        expected = self.values["expected_output"]
        right = expected is None or _stripped(expected) == _stripped(execution.stdout)
        return ACCEPTED if right else WRONG, None, ""


def answered(values: Mapping[str, Any], names: Iterable[str], *, encoded: bool) -> dict[str, Any]:
    """Return fields; `encoded`: texts as base64. Raises BadRequest when they need it."""
    return {name: _shown(values, name, encoded) for name in names}


def _shown(values: Mapping[str, Any], name: str, encoded: bool) -> Any:
    if name == "status":
        return STATUSES[values["status_id"] - 1]
    value = values[name]
    if name in TABLES["seconds"] and value is not None:
        return f"{value:.3f}"
    if not isinstance(value, bytes):
        return value
    try:
        return base64.b64encode(value).decode() if encoded else value.decode()
    except UnicodeDecodeError:
        raise BadRequest(f"{name} is not UTF-8; ask with base64_encoded=true") from None


def read_submission(
    body: Any, languages: Mapping[int, Any], ceilings: Ceilings, *, encoded: bool
) -> Judge0Submission:
    """Return the submission of JSON values; `encoded`: its texts are base64. Raises BadRequest."""
    given = read(dict[str, Any], body)
    for name, (_, why) in TABLES["refused"].items():
        if given.get(name) not in (None, False, "", "false", 0):
            raise invalid((*BODY, name), why)
    number = optional(given, "language_id", int)
    if number not in languages:
        named = shown(given.get("language_id"), 20)
        message = f"{named} is not served; these are: {', '.join(map(str, languages))}"
        raise invalid((*BODY, "language_id"), message)
    limits = {name: _within(given, name, *bounds) for name, bounds in limits_of(ceilings).items()}
    texts = {name: _bytes(given, name, encoded) for name in TABLES["texts"]}
    if not texts["source_code"]:
        raise invalid((*BODY, "source_code"), "can't be blank")
    arguments = optional(given, "command_line_arguments", str)
    stop_s = limits["cpu_time_limit"] + limits["cpu_extra_time"]
    asked = Asked(
        language=languages[number]["row"],
        code=texts["source_code"],
        stdin=texts["stdin"] or b"",
        cpu_s=min(stop_s, ceilings.run_cpu_time / 1000),
        memory_bytes=limits["memory_limit"] << 10,
        args=_split(arguments or "", ceilings.args_max),
        wall_s=limits["wall_time_limit"],
        processes=limits["max_processes_and_or_threads"],
        output_bytes=limits["max_file_size"] << 10,
    )
    values = {
        **dict.fromkeys(FIELDS),
        **{name: value for name, (value, _) in TABLES["refused"].items()},
        **limits,
        **texts,
        "command_line_arguments": arguments,
        "language_id": number,
        "language": {"id": number, "name": languages[number]["name"]},
        "created_at": _now(),
        "status_id": WAITS,
        "token": str(uuid.uuid4()),
    }
    return Judge0Submission(asked, values)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _within(given: Mapping[str, Any], name: str, usual: float, least: float, most: float) -> Any:
    number = optional(given, name, float)
    number = usual if number is None else number
    if not least <= number <= most:  # also for NaN
        raise invalid((*BODY, name), f"must be at least {least:g} and at most {most:g}", number)
    return type(usual)(number)


def _bytes(given: Mapping[str, Any], name: str, encoded: bool) -> Any:
    text = optional(given, name, str)
    try:
        if text is None or not encoded:
            return text if text is None else text.encode("utf-8", "surrogatepass")
        return decode_base64(text)
    except ValueError as error:
        raise invalid((*BODY, name), f"is not base64 as base64_encoded says: {error}") from None


def _split(text: str, most: int) -> tuple[str, ...]:
    """Return arguments, written as for a shell. Raises BadRequest."""
    name = "command_line_arguments"
    try:
        if len(text) > ARGUMENTS_CHARS:
            raise BadRequest(f"{len(text)} characters; at most {ARGUMENTS_CHARS}")
        return strings(shlex.split(text), name, most)
    except (ValueError, BadRequest) as error:
        raise invalid((*BODY, name), f"can't be split into words: {error}") from None


def _stripped(text: bytes) -> bytes:
    return b"\n".join(line.rstrip(BLANK) for line in text.split(b"\n")).rstrip(BLANK)
