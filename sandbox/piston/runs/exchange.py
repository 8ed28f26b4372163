"""One request for several runs of a program on gradebox.sandbox.server, and its answer.

    RunsRequest ─▶ one body ─▶ groups of executions as they come

Closing the generator closes the connection, and the server cancels what has not run.
"""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field

from gradebox.sandbox import languages
from gradebox.sandbox.model import Execution, Limits, Program
from gradebox.sandbox.piston.backend import COMPILE_LIMITS
from gradebox.sandbox.piston.faults import Transient
from gradebox.sandbox.piston.http.execute import QUEUE_S
from gradebox.sandbox.piston.http.transport import Transport
from gradebox.sandbox.piston.runs import frames

_COMPILING = dataclasses.asdict(COMPILE_LIMITS)


@dataclass(frozen=True)
class RunsRequest:
    """Runs of one program: limits and an input for each.

    args, files, collect, alone  as those of Sandbox.run; for a single run only
    """

    program: Program
    limits: Sequence[Limits]
    stdins: Sequence[bytes]
    args: Sequence[str] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    collect: Sequence[str] = ()
    alone: bool = False

    def body(self, nonce: str) -> bytes:
        """Return the request as bytes; frames.py has their form."""
        program, distinct = self.program, list(dict.fromkeys(self.limits))
        index = {limits: i for i, limits in enumerate(distinct)}
        head = {
            "nonce": nonce,
            "language": languages.find(program.language).name,
            "files": [[name, len(data)] for name, data in program.files.items()],
            "run_files": [[name, len(data)] for name, data in self.files.items()],
            "args": list(self.args),
            "collect": list(self.collect),
            "alone": self.alone,
            "limits": [vars(limits) for limits in distinct],
            "compile_limits": _COMPILING,
            "runs": [
                [len(stdin), index[limits]]
                for stdin, limits in zip(self.stdins, self.limits, strict=True)
            ],
        }
        return frames.frame(head, *program.files.values(), *self.files.values(), *self.stdins)


def exchange(transport: Transport, request: RunsRequest) -> Generator[list[Execution], None, None]:
    """Send a request; yield its executions in order, in groups as they come.

    The server may end the answer before the last run, but not before the first. Raises Transient
    or Refused; what was yielded before remains true.
    """
    nonce, count, received = secrets.token_hex(16), len(request.stdins), 0
    headers = {"Content-Type": frames.CONTENT_TYPE, frames.COUNT_HEADER: str(count)}
    wall_s = max(limits.wall_s for limits in request.limits)
    timeout_s = QUEUE_S + 3 * wall_s + COMPILE_LIMITS.wall_s
    body = request.body(nonce)
    with transport.stream(frames.ROUTE, body, headers, timeout_s) as answer:
        while received < count:
            answer.more_time()
            group = frames.read_group(answer.read, nonce, received, request.limits, request.collect)
            if not group:
                break
            received += len(group)
            yield group
        answer.finish()
    if not received:
        raise Transient(f"{transport.base_url}: the answer has no executions")
