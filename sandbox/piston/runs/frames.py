"""The bytes of POST /gradebox/runs, between gradebox's client and server only.

    request  frame {nonce, language, files, limits, runs: [[size, index into limits]…], …}
             bytes: files, files of the run, inputs
    answer   frame {nonce, first, executions: […]}  bytes: stdout, stderr, files of each; …
             frame {nonce, end, error?}             when fewer runs were made than were asked for

A frame is the size of its head in 4 bytes and the head as JSON. The bytes follow, in the order of
the sizes that the head has in their place.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradebox.sandbox.model import Execution, Limits
from gradebox.sandbox.piston.faults import Transient
from gradebox.sandbox.piston.runs.executions import as_object, checked_execution

VERSION = 1
ROUTE = "/gradebox/runs"
CONTENT_TYPE = "application/x-gradebox-runs"
COUNT_HEADER = "Gradebox-Runs"  # runs of a request, for admission before the body arrives
MOST_RUNS = 64  # of one request
HEAD_BYTES = 2 << 20
SIZE = struct.Struct(">I")

Read = Callable[[int], bytes]  # exactly so many bytes, or an exception


def frame(head: Mapping[str, Any], *data: bytes) -> bytes:
    """Return a frame and the bytes after it."""
    raw = json.dumps(head, separators=(",", ":")).encode()
    return b"".join((SIZE.pack(len(raw)), raw, *data))


def write_group(nonce: str, first: int, group: Sequence[Execution]) -> bytes:
    """Return the executions of consecutive runs, of which `first` is the number of the first."""
    heads: list[dict[str, Any]] = []
    data: list[bytes] = []
    for one in group:
        files = {name: len(content) for name, content in one.files.items()}
        sizes = {"stdout": len(one.stdout), "stderr": len(one.stderr), "files": files}
        heads.append({**vars(one), **sizes, "limits_hit": sorted(one.limits_hit)})
        data += [one.stdout, one.stderr, *one.files.values()]
    return frame({"nonce": nonce, "first": first, "executions": heads}, *data)


def write_end(nonce: str, count: int, error: str = "") -> bytes:
    """Return the last frame of an answer with `count` executions, fewer than asked for.

    error  the fault of the sandbox in the next run
    """
    return frame({"nonce": nonce, "end": count, **({"error": error} if error else {})})


def read_group(
    read: Read, nonce: str, first: int, limits: Sequence[Limits], collect: Sequence[str]
) -> list[Execution]:
    """Read the next executions; none at the end of an answer that has fewer than asked for.

    limits  of all runs of the request

    Raises Transient for whatever is malformed, is larger than the limits of the runs allow, or
    belongs to another request, and for the sandbox's fault that the answer ends with.
    """
    (size,) = SIZE.unpack(read(SIZE.size))
    if size > HEAD_BYTES:
        raise Transient(f"the answer has a head of {size} bytes; at most {HEAD_BYTES}")
    try:
        head = as_object(json.loads(read(size)), "the head of a frame")
    except (ValueError, RecursionError) as error:
        raise Transient(f"the head of a frame is not JSON: {str(error)[:200]}") from error
    if head.get("nonce") != nonce:
        raise Transient("the answer belongs to another request")
    number, heads = head.get("first", head.get("end")), head.get("executions")
    if type(number) is not int or number != first:
        raise Transient(f"the answer has run {str(number)[:40]} where run {first} is expected")
    if "end" in head:
        if head.get("error"):
            raise Transient(f"the server's sandbox failed: {str(head['error'])[:300]}")
        return []
    if not isinstance(heads, list) or not 0 < len(heads) <= len(limits) - first:
        raise Transient("the answer has a group without executions, or with too many")
    objects = [as_object(one, "an execution") for one in heads]
    sizes = [_sizes(one, limits[first + i], collect) for i, one in enumerate(objects)]
    data, at = memoryview(read(sum(map(sum, sizes)))), 0

    def take(size: int) -> bytes:
        nonlocal at
        at += size
        return bytes(data[at - size : at])

    group = []
    for one, (out, err, *others) in zip(objects, sizes, strict=True):
        stdout, stderr = take(out), take(err)
        files = {name: take(size) for name, size in zip(one["files"], others, strict=True)}
        group.append(checked_execution(one, stdout, stderr, files))
    return group


def _sizes(head: Mapping[str, Any], limits: Limits, collect: Sequence[str]) -> list[int]:
    """Return the sizes of stdout, stderr and the files of an execution, within its limits."""
    files = as_object(head.get("files"), "files")
    sizes = [head.get("stdout"), head.get("stderr"), *files.values()]
    most = [limits.output_bytes, limits.stderr_bytes, *[limits.output_bytes] * len(files)]
    if not set(files) <= set(collect):
        raise Transient("the answer has a file that was not asked for")
    for size, limit in zip(sizes, most, strict=True):
        if type(size) is not int or not 0 <= size <= limit:
            raise Transient(f"the answer has {str(size)[:40]} bytes where {limit} are the limit")
    return sizes
