"""The host's side of `warm_driver`: sends requests, reads frames, returns an `Execution`.

A hostile program may control the answers. Every frame's size and their sum are bounded, and
anything unexpected raises SessionBroken, after which the case gets a plain start.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import MIB, Execution, LimitName, Limits

# Files that must be in one folder of the box; the first is started:
# python3 warm_driver.py CHECKER.py FOLDER [CLEAN_FOLDER…]
DRIVER_FILES = tuple(
    Path(__file__).with_name(name) for name in ("warm_driver.py", "warm_case.py", "warm_clean.py")
)

# Address space beyond the memory limit: what Python reserves without using it.
_RESERVED_BYTES = 64 * MIB
_FRAME_BYTES = 1 << 16
_EVIDENCE_BYTES = 4096
_KILLED_FOR: frozenset[LimitName] = frozenset({"cpu", "wall", "output"})


class SessionBroken(SandboxError):
    """The driver is gone or broke the protocol: close the session, run the case by itself."""


class WarmClient:
    """Talks to one driver over its stdin (`requests`) and stdout (`replies`), both buffered.

    Only one thread at a time may use it. `clean` False: the driver has ended, start another one.
    The owner of the process closes the pipes and kills a driver that does not answer within the
    case's wall_s and some seconds, which ends `run`.
    """

    def __init__(self, requests: BinaryIO, replies: BinaryIO) -> None:
        self._requests = requests
        self._replies = replies
        self.clean = True
        kind, _ = self._frame()
        if kind != b"R":
            raise SessionBroken(f"the driver began with {kind!r}")

    def run(
        self,
        limits: Limits,
        *,
        stdin: bytes = b"",
        args: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
        collect: Sequence[str] = (),
    ) -> Execution:
        """Run one case; raise SessionBroken when the driver ended or broke the protocol."""
        files = files or {}
        request = {
            "args": list(args),
            "files": [[name, len(content)] for name, content in files.items()],
            "stdin": len(stdin),
            "collect": list(collect),
            "limits": {
                "cpu_s": limits.cpu_s,
                "wall_s": limits.wall_s,
                "address_bytes": limits.memory_bytes + _RESERVED_BYTES,
                "output_bytes": limits.output_bytes,
                "stderr_bytes": limits.stderr_bytes,
                "file_size_bytes": limits.file_size_bytes,
                "open_files": limits.open_files,
            },
        }
        text = json.dumps(request).encode()
        try:
            self._requests.write(len(text).to_bytes(4, "big") + text)
            for content in (*files.values(), stdin):
                self._requests.write(content)
            self._requests.flush()
        except (OSError, ValueError) as e:
            raise SessionBroken(f"the driver is gone: {e}") from e
        return self._execution(limits, frozenset(collect))

    def _execution(self, limits: Limits, wanted: frozenset[str]) -> Execution:
        streams = {b"O": bytearray(), b"E": bytearray()}
        most = {b"O": limits.output_bytes, b"E": limits.stderr_bytes}
        found: dict[str, bytearray] = {}
        name = ""
        while True:
            kind, payload = self._frame()
            if kind in streams:
                streams[kind] += payload
                _bound(streams[kind], most[kind])
            elif kind == b"N":
                name = payload.decode("utf-8", "replace")
                if name not in wanted or name in found:
                    raise SessionBroken(f"the driver sent a file {name!r} that was not requested")
                found[name] = bytearray()
            elif kind == b"F" and name in found:
                found[name] += payload
                _bound(found[name], limits.output_bytes)
            elif kind == b"D":
                kept = {n: bytes(content) for n, content in found.items()}
                return self._done(payload, bytes(streams[b"O"]), bytes(streams[b"E"]), kept)
            else:
                raise SessionBroken(f"the driver sent a frame {kind!r}")

    def _done(
        self, payload: bytes, stdout: bytes, stderr: bytes, files: Mapping[str, bytes]
    ) -> Execution:
        try:
            evidence: dict[str, Any] = json.loads(payload)
            self.clean = evidence["clean"] is True
            reason = evidence["killed_for"]
            if reason is not None and reason not in _KILLED_FOR:
                raise SessionBroken(f"the driver names a limit {reason!r}")
            return Execution(
                exit_code=_optional_int(evidence["exit_code"]),
                signal=_optional_int(evidence["signal"]),
                cpu_s=float(evidence["cpu_s"]),
                wall_s=float(evidence["wall_s"]),
                memory_bytes=int(evidence["memory_bytes"]),
                stdout=stdout,
                stderr=stderr,
                stdout_bytes=int(evidence["stdout_bytes"]),
                stdout_cut=bool(evidence["stdout_cut"]),
                stderr_cut=bool(evidence["stderr_cut"]),
                killed_for=cast("LimitName | None", reason),
                limits_hit=frozenset() if reason is None else frozenset({reason}),
                files=files,
            )
        except (ValueError, TypeError, KeyError, AttributeError) as e:
            raise SessionBroken(f"the driver's evidence is malformed: {e}") from e

    def _frame(self) -> tuple[bytes, bytes]:
        head = self._exactly(5)
        size = int.from_bytes(head[1:], "big")
        if size > (_EVIDENCE_BYTES if head[:1] in b"DRN" else _FRAME_BYTES):
            raise SessionBroken(f"the driver sent a frame of {size} bytes")
        return head[:1], self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        try:
            data = self._replies.read(size)
        except (OSError, ValueError) as e:
            raise SessionBroken(f"reading from the driver failed: {e}") from e
        if len(data) != size:
            raise SessionBroken("the driver has ended")
        return data


def _bound(data: bytearray, most: int) -> None:
    if len(data) > most:
        raise SessionBroken(f"the driver sent more than {most} bytes of one stream")


def _optional_int(value: Any) -> int | None:
    return None if value is None else int(value)
