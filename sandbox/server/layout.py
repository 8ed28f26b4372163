"""Where the files of a request are in a box: all in the working folder, under the user's names.

An interpreter of Piston runs the main file there, and helpers and data files are beside it. The
rows of the language table compile and run a program in a folder of its own instead, under a fixed
name. So this module adds variants of the rows:

    in place       an interpreter runs a file of the working folder, which is its first argument
    unpacked       the files come as one archive, which is unpacked before the program starts
    talking        stdin is a socket, over which the program's three streams are received
    from folders   a C or C++ compiler is given an archive: sources in folders, or of any ending

A box takes plain names, and a limited number of files; an archive has neither limit. A small
Python program receives the streams, unpacks the archive and then becomes the program (or compiler),
so that no process is started, which some levels of isolation forbid.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from gradebox.sandbox.box.toolchains.find import resolve
from gradebox.sandbox.box.wire import MAX_FILES
from gradebox.sandbox.errors import BadRequest, MissingToolchain
from gradebox.sandbox.languages import VARIANTS, Language, find
from gradebox.sandbox.model import Program
from gradebox.sandbox.source_tokens import SOURCE_ENDINGS, included_names, java_names

RESERVED = ".gradebox-"  # names that begin so are the server's own
ARCHIVE, SOURCES = f"{RESERVED}files", f"{RESERVED}sources"
BINARY = "program"
# What runs before a program, in this order. The archive is the length of its head, the head (names
# and sizes) and the contents.
RECEIVE = """\
import _socket
line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, 0)
fds = line.recvmsg(1, 64)[1][0][2]
line.detach()
for place in range(3):
    fd = int.from_bytes(fds[4 * place :][:4], sys.byteorder)
    os.dup2(fd, place)
    os.close(fd)
"""
UNPACK = f"""\
with open("{ARCHIVE}", "rb") as archive:
    os.unlink("{ARCHIVE}")
    head = archive.read(int(archive.readline())).split(b"\\0")
    at = archive.tell()
    for name, size in zip(head[::2], map(int, head[1::2])):
        if b"/" in name:
            os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "wb") as file:
            end = at + size
            while at < end:
                at += os.sendfile(file.fileno(), archive.fileno(), at, end - at)
"""
START = "os.execvp(sys.argv[1], sys.argv[1:])\n"
# Files that a C or C++ compiler is given beside the main one: known endings, and Piston's default
# name of a file.
UNIT_ENDINGS = (*SOURCE_ENDINGS["g++"], ".code")


@dataclass(frozen=True)
class Placed:
    """A program and the files of its working folder.

    args         arguments before the user's
    compiled_as  the main file's name in a compilation, if it is not the user's
    """

    program: Program
    files: Mapping[str, bytes] = field(default_factory=dict)
    args: tuple[str, ...] = ()
    compiled_as: str = ""


def place(row: Language, files: list[File], *, talking: bool = False) -> Placed:
    """Return the program of a request that is not the Codeforces package's.

    files  in the order of the request, at least one of them utf8; the first such is the main file.
           All utf8 files are the compiler's, as in Piston.
    talking  the streams are received over a socket
    """
    code = [f for f in files if f.utf8]
    main = code[0]
    everything = {f.name: f.content for f in files}
    packed = len(everything) > MAX_FILES or any("/" in name for name in everything)
    run_files = {ARCHIVE: archive(everything)} if packed else everything
    if row.compile is None:
        row = _variant("in place", row, _in_place)
        program = Program(_prepared(row, packed, talking).name, {row.source: b""})
        first = f"./{main.name}" if main.name.startswith("-") else main.name
        return Placed(program, run_files, (first,))
    sources = {f.name: f.content for f in code}
    if row.family in SOURCE_ENDINGS and _needs_folders(row, sources):
        listed = _response_file(row, sources)
        row = _variant("from folders", row, _from_folders)
        program_files = {ARCHIVE: archive({**sources, SOURCES: listed})}
        return Placed(Program(_prepared(row, packed, talking).name, program_files), run_files)
    name = java_names(main.content)[0] if row.family == "java" else row.source
    others = {f: c for f, c in sources.items() if "/" not in f and f not in (main.name, name)}
    program = Program(_prepared(row, packed, talking).name, {name: sources[main.name], **others})
    return Placed(program, run_files, compiled_as=name)


def archive(files: Mapping[str, bytes]) -> bytes:
    """Return files as one, for UNPACK."""
    head = b"\0".join(b"%s\0%d" % (n.encode(), len(c)) for n, c in files.items())
    return b"".join((b"%d\n" % len(head), head, *files.values()))


def _needs_folders(row: Language, sources: Mapping[str, bytes]) -> bool:
    """Return whether the sources can only be compiled under the names that they have."""
    main, *others = sources
    return (
        len(sources) > MAX_FILES
        or any("/" in name for name in sources)
        or row.source in others
        or any(name.endswith(".code") or "." not in name for name in others)
        or any(main in included_names(text) for text in sources.values())
    )


def _response_file(row: Language, sources: Mapping[str, bytes]) -> bytes:
    """Return the compiler's arguments that name what it compiles; the main file is the first."""
    main, *others = sources
    included = {name.rpartition("/")[2] for c in sources.values() for name in included_names(c)}
    units = [
        name
        for name in others
        if (name.lower().endswith(UNIT_ENDINGS) or "." not in name)
        and name.rpartition("/")[2] not in included
    ]
    quoted = "".join(f'"{_escaped(name)}"\n' for name in (main, *units))
    language = "c" if row.family == "gcc" else "c++"
    return f"-x {language}\n{quoted}-x none\n".encode()


def _escaped(name: str) -> str:
    path = f"./{name}" if name[0] in "-@" else name
    return path.replace("\\", "\\\\").replace('"', '\\"')


def _variant(kind: str, row: Language, make: Callable[[Language], Language]) -> Language:
    """Return a variant of a row, which the sandbox finds by its name."""
    name = f"{row.name} {kind}"
    if name not in VARIANTS:
        base = row.base or row.name
        VARIANTS[name] = replace(make(row), name=name, aliases=(), base=base)
    return VARIANTS[name]


def _prepared(row: Language, packed: bool, talking: bool) -> Language:
    """Return the variant of a row that prepares its run."""
    kinds = ["unpacked"] * packed + ["talking"] * talking
    if not kinds:
        return row
    start = _starting(RECEIVE * talking + UNPACK * packed)
    output = "" if row.compile is None else row.output or BINARY
    return _variant(
        " ".join(kinds), row, lambda row: replace(row, output=output, run=(*start, *row.run))
    )


def _in_place(row: Language) -> Language:
    return replace(row, run=tuple(part for part in row.run if part != "{source}"), family="")


def _from_folders(row: Language) -> Language:
    assert row.compile is not None
    options = [f"@{SOURCES}" if part == "{source}" else part for part in row.compile]
    python, *start = _starting(UNPACK)
    return replace(
        row,
        source=ARCHIVE,
        tool=(python,),
        compile=(*start, resolve(row).path, *options),
        family="",
    )


def _starting(preparation: str) -> tuple[str, ...]:
    """Return the command that prepares a run and then becomes the command that follows it."""
    row = find("python")
    try:
        python = resolve(row, public=True).path  # at some levels programs run as another user
    except MissingToolchain:
        python = resolve(row).path
    return (python, "-I", "-S", "-c", f"import os, sys\n{preparation}{START}")


# ---- the files of a request ----

MAX_NAME_BYTES, MAX_PATH_BYTES = 255, 1000
_FROM_URL = str.maketrans("-_", "+/")


@dataclass(frozen=True)
class File:
    """One file; `utf8` files are sources, as in Piston, all others data.

    name  relative to the working folder, with `/` between folders, without `.` and `..`
    """

    name: str
    content: bytes
    utf8: bool


def read_files(value: Any, most: int) -> list[File]:
    """Return the files of a request, at most `most`. Raises BadRequest."""
    if not isinstance(value, list):
        raise BadRequest("files is required as an array")
    if len(value) > most:
        raise BadRequest(f"the request has {len(value)} files; at most {most}")
    files = []
    for i, item in enumerate(value):
        if not isinstance(item, dict) or not isinstance(item.get("content"), str):
            raise BadRequest(f"files[{i}].content is required as a string")
        encoding = item.get("encoding", "utf8")
        name = plain_name(item.get("name") or f"file{i}.code", i)
        content = _decode(item["content"], encoding, i)
        files.append(File(name, content, encoding not in ("base64", "hex")))
    check_folders({file.name for file in files})
    return files


def plain_name(name: Any, i: int) -> str:
    """Return a file's name in its plainest spelling. Raises BadRequest."""
    field = f"files[{i}].name"
    parts = name.split("/") if isinstance(name, str) else ["/"]
    kept = [part for part in parts if part not in ("", ".")]
    if parts[0] in ("", "/") or parts[-1] in ("", ".") or ".." in parts or "\0" in name:
        raise BadRequest(
            f"{field} is {str(name)[:80]!r}; it must be a path inside the working folder, "
            "without '..'"
        )
    check_text(name, field)
    sizes = [len(part.encode()) for part in kept]
    if max(sizes) > MAX_NAME_BYTES or sum(sizes) + len(sizes) > MAX_PATH_BYTES:
        raise BadRequest(
            f"{field} begins with {name[:40]!r} and is too long; names have at most "
            f"{MAX_NAME_BYTES} bytes, paths {MAX_PATH_BYTES}"
        )
    if kept[0].startswith(RESERVED):
        raise BadRequest(f"{field} is {name[:80]!r}; names with {RESERVED} are the server's own")
    return "/".join(kept)


def check_folders(names: set[str]) -> None:
    """Raise BadRequest when a file is a folder of another one."""
    for name in names:
        for folder in PurePosixPath(name).parents:
            if str(folder) in names:
                raise BadRequest(f"{str(folder)[:80]!r} is a file and the folder of {name[:80]!r}")


def check_text(text: str, name: str) -> None:
    """Refuse half a surrogate pair, which JSON allows and UTF-8 cannot encode."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadRequest(f"{name} is not text: {error}") from error


def _decode(content: str, encoding: Any, i: int) -> bytes:
    try:
        if encoding == "base64":
            return decode_base64(content)
        if encoding == "hex":
            return bytes.fromhex(content)
        return content.encode()
    except (binascii.Error, ValueError) as error:
        raise BadRequest(f"files[{i}].content is not {encoding}: {error}") from error


def decode_base64(text: str) -> bytes:
    """Decode base64 as Node does: line breaks, the URL alphabet and no padding are allowed.

    Raises ValueError.
    """
    with contextlib.suppress(binascii.Error):
        return base64.b64decode(text, validate=True)  # without the copies below
    packed = "".join(text.split()).rstrip("=").translate(_FROM_URL)
    return base64.b64decode(packed + "=" * (-len(packed) % 4), validate=True)
