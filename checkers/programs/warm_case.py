"""The forked child of the warm driver: puts the case's contents into place, then becomes the
checker. Runs inside the box beside `warm_driver`.
"""

from __future__ import annotations

import builtins
import ctypes
import os
import resource
import sys
import types
from typing import Any

# pathlib would be a module that a plain start does not load
# ruff: noqa: PTH109, PTH118, PTH119, PTH120, PTH123

Json = dict[str, Any]

PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
BLOCK_BYTES = 1 << 16


def prctl(option: int, value: int) -> bool:
    try:
        return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def write(fd: int, data: bytes | memoryview) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def become_case(
    request: Json, requests: int, case: str, out: int, err: int, source: bytes, script: str
) -> None:
    """Write the files, replace the descriptors, set the limits; runs before any hostile code."""
    os.setsid()
    os.chdir(case)
    with open(os.path.basename(script), "wb") as f:
        f.write(source)
    for name, size in request["files"]:
        _copy(requests, _create(name), size)
    stdin = os.memfd_create("stdin")
    _copy(requests, os.dup(stdin), request["stdin"])
    os.lseek(stdin, 0, os.SEEK_SET)
    for fd, stream in ((stdin, 0), (out, 1), (err, 2)):
        os.dup2(fd, stream)
        os.close(fd)
    os.close(requests)
    _limit(request["limits"])
    # As after a plain start: /dev/stdin and similar files need it.
    prctl(PR_SET_DUMPABLE, 1)


def _create(name: str) -> int:
    if "/" in name or name in ("", ".", ".."):
        raise ValueError(f"not a plain file name: {name!r}")
    return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644)


def _copy(source: int, target: int, size: int) -> None:
    while size:
        part = os.read(source, min(size, BLOCK_BYTES))
        if not part:
            os._exit(1)
        write(target, part)
        size -= len(part)
    os.close(target)


def _limit(limits: Json) -> None:
    for what, value in (
        (resource.RLIMIT_CPU, int(limits["wall_s"]) + 1),  # the driver watches the time used
        (resource.RLIMIT_AS, limits["address_bytes"]),
        (resource.RLIMIT_FSIZE, limits["file_size_bytes"]),
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_CORE, 0),
    ):
        _, most = resource.getrlimit(what)
        if most != resource.RLIM_INFINITY:
            value = min(value, most)
        resource.setrlimit(what, (value, value))


def main_module(
    code: types.CodeType | None, source: bytes, name: str, args: list[str]
) -> tuple[types.CodeType, dict[str, Any]]:
    """Prepare the state that `python3 NAME ARGS…` has before the program's first line.

    Return the code and the globals to run it in. A checker that does not compile ends here, with
    the interpreter's own messages.
    """
    module = types.ModuleType("__main__")
    path = os.path.join(os.getcwd(), name)
    module.__file__ = path
    # A main program has the same kind of loader as this file.
    loader: Any = globals()["__loader__"]
    module.__loader__ = type(loader)("__main__", path)
    module.__dict__["__cached__"] = None
    module.__dict__["__builtins__"] = builtins
    module.__dict__.setdefault("__annotations__", {})
    sys.modules["__main__"] = module
    sys.argv[:] = [name, *args]
    sys.path[0] = os.getcwd()
    sys.excepthook = _plain_traceback
    if "random" in sys.modules:
        sys.modules["random"].seed()
    if code is None:
        code = compile(source, path, "exec", dont_inherit=True)
    return code, module.__dict__


_OWN_FILES = (__file__, os.path.join(os.path.dirname(__file__), "warm_driver.py"))


def _plain_traceback(
    kind: type[BaseException], value: BaseException, trace: types.TracebackType | None
) -> None:
    """Print the usual traceback, without the frames of the driver."""
    while trace is not None and trace.tb_frame.f_code.co_filename in _OWN_FILES:
        trace = trace.tb_next
    sys.__excepthook__(kind, value.with_traceback(trace), trace)
