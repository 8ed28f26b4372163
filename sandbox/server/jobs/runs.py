"""Parse and check a request of POST /gradebox/runs; piston/runs/frames.py has its form.

head {language, files, limits, runs: [[size of input, index into limits]…]} + bytes ─▶ RunsJob
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.model import Limits, Program
from gradebox.sandbox.piston.runs.frames import HEAD_BYTES, SIZE
from gradebox.sandbox.server.jobs.files import check_folders, plain_name
from gradebox.sandbox.server.jobs.limits import (
    compile_limits,
    gradebox_limits,
    run_limits,
    sharing_output,
)
from gradebox.sandbox.server.jobs.request import strings
from gradebox.sandbox.server.jobs.runtimes import Runtime, find_runtime
from gradebox.sandbox.server.settings import Ceilings

NONCE_CHARS = 64


@dataclass(frozen=True)
class RunsJob:
    """Runs of one program: limits and an input for each; the rest is for a single run only."""

    nonce: str
    runtime: Runtime
    program: Program
    compile_limits: Limits
    limits: Sequence[Limits]
    stdins: Sequence[bytes]
    args: tuple[str, ...]
    files: Mapping[str, bytes]
    collect: tuple[str, ...]
    alone: bool

    @property
    def plain(self) -> bool:
        """Whether nothing but inputs and limits was given."""
        return not (self.args or self.files or self.collect or self.alone)


def parse_runs(raw: bytearray, count: int, runtimes: list[Runtime], ceilings: Ceilings) -> RunsJob:
    """Return the job of a request that was admitted for `count` runs. Raises BadRequest."""
    head, data = _head(raw)
    nonce, language = head.get("nonce"), head.get("language")
    if not isinstance(nonce, str) or not 0 < len(nonce) <= NONCE_CHARS or not nonce.isascii():
        raise BadRequest(f"nonce must be a text of 1 to {NONCE_CHARS} characters")
    runtime = find_runtime(runtimes, str(language), "*", case=False)
    if runtime is None:
        raise BadRequest(f"{str(language)[:60]} runtime is unknown")
    sizes = _sizes(head.get("runs"), "runs")
    if len(sizes) != count:
        raise BadRequest(f"the request has {len(sizes)} runs and announced {count}")
    listed = {name: _named(head.get(name, []), name, ceilings) for name in ("files", "run_files")}
    given = head.get("limits")
    if not isinstance(given, list) or not 0 < len(given) <= count:
        raise BadRequest("limits must be a list, with one for each run at most")
    default = run_limits({}, ceilings)
    known = [gradebox_limits(one, ceilings.run_limits(), default) for one in given]
    if not all(0 <= index < len(known) for _, index in sizes):
        raise BadRequest("a run names limits that the request does not have")
    wanted = [size for pairs in listed.values() for _, size in pairs] + [s for s, _ in sizes]
    if sum(wanted) != len(data):
        raise BadRequest(f"the request has {len(data)} bytes of data, and names {sum(wanted)}")
    pieces = _split(data, wanted)
    files, run_files = ({name: next(pieces) for name, _ in pairs} for pairs in listed.values())
    if not files:
        raise BadRequest("files must have the program")
    collect = strings(head.get("collect"), "collect", ceilings.files_max)
    job = RunsJob(
        nonce=nonce,
        runtime=runtime,
        program=Program(runtime.row, files),
        compile_limits=gradebox_limits(
            head.get("compile_limits"), ceilings.compile_limits(), compile_limits({}, ceilings)
        ),
        limits=[sharing_output(known[index], len(collect)) for _, index in sizes],
        stdins=list(pieces),
        args=strings(head.get("args"), "args", ceilings.args_max),
        files=run_files,
        collect=collect,
        alone=head.get("alone") is True,
    )
    if count > 1 and not job.plain:
        raise BadRequest("args, run_files, collect and alone are for a single run")
    return job


def _head(raw: bytearray) -> tuple[dict[str, Any], memoryview]:
    """Return the head of a request and the bytes after it."""
    size = SIZE.unpack_from(raw)[0] if len(raw) >= SIZE.size else len(raw) + 1
    if size > min(len(raw) - SIZE.size, HEAD_BYTES):
        raise BadRequest(f"the head of the request is cut, or over {HEAD_BYTES} bytes")
    try:
        head = json.loads(raw[SIZE.size : SIZE.size + size])
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the head of the request is not JSON: {error}") from None
    if not isinstance(head, dict):
        raise BadRequest("the head of the request must be a JSON object")
    return head, memoryview(raw)[SIZE.size + size :]


def _sizes(value: Any, name: str) -> list[tuple[int, int]]:
    """Return pairs of numbers, of which the first are sizes."""
    if not isinstance(value, list):
        raise BadRequest(f"{name} must be a list")
    for pair in value:
        if not isinstance(pair, list) or [type(n) for n in pair] != [int, int] or pair[0] < 0:
            raise BadRequest(f"{name} must be a list of pairs of numbers")
    return [(size, index) for size, index in value]


def _named(value: Any, field: str, ceilings: Ceilings) -> list[tuple[str, int]]:
    """Return the names and sizes of files."""
    if not isinstance(value, list) or len(value) > ceilings.files_max:
        raise BadRequest(f"{field} must be a list of at most {ceilings.files_max} files")
    found: dict[str, int] = {}
    for i, pair in enumerate(value):
        if not isinstance(pair, list) or len(pair) != 2 or type(pair[1]) is not int or pair[1] < 0:
            raise BadRequest(f"{field} must be a list of names and sizes")
        found[plain_name(pair[0], i)] = pair[1]
    if len(found) != len(value):
        raise BadRequest(f"{field} has a name twice")
    check_folders(set(found))
    return list(found.items())


def _split(data: memoryview, sizes: Sequence[int]) -> Iterator[bytes]:
    """Yield pieces of these sizes."""
    at = 0
    for size in sizes:
        yield bytes(data[at : at + size])
        at += size
