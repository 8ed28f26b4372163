"""Compiles on a Piston server, once: the binary comes back and travels with every run.

The server's own compile stage has no -O2, compiles every utf8 file and does so on every
call. So a small source of ours is what it compiles; in the run stage, where the package's
compiler is at hand, that starts `build.sh`, which compiles the real program with the
flags of the language table and prints log and binary in base64:

    GBX1 nonce / L log / P gzipped binary (when it compiled) / I machine and libc / Z nonce code
"""

from __future__ import annotations

import base64
import binascii
import re
import shlex
import zlib
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import BadRequest
from sandbox.languages import Language
from sandbox.model import Program
from sandbox.piston.job import BadReport
from sandbox.piston.request import File

BINARY_MAX = 256 << 20
LOG_BYTES = 64 * 1024
WORK = "/tmp/gbx-work"  # in the box: what the table calls {work}, a compiler's own folder

_C_DRIVER = (
    b'#include <stdlib.h>\nint main(void) { return system("/bin/bash gbx/build.sh") != 0; }\n'
)
_PYTHON_DRIVER = b'import os\nos.execv("/bin/bash", ["/bin/bash", "gbx/build.sh"])\n'

_GO_DRIVER = b"""package main
import ("os"; "os/exec")
func main() { c := exec.Command("/bin/bash", "gbx/build.sh"); c.Stdout = os.Stdout; c.Run() }
"""
_RUST_DRIVER = b"""fn main() {
    let _ = std::process::Command::new("/bin/bash").arg("gbx/build.sh").status();
}
"""

# Which source starts build.sh in the runtime that has the compiler.
DRIVERS = {
    "go": ("gbx-driver", _GO_DRIVER),
    "rust": ("gbx-driver", _RUST_DRIVER),
    "c++": ("gbx-driver", _C_DRIVER),
    "c": ("gbx-driver", _C_DRIVER),
    "cf_python3": ("gbx-driver.py", _PYTHON_DRIVER),
    "python": ("gbx-driver.py", _PYTHON_DRIVER),
}

# So that the binary runs where the compiler's own libraries are not.
STANDALONE = {
    "c++": ("-static-libstdc++", "-static-libgcc", "-s"),
    "c": ("-static-libgcc", "-s"),
    "go": (),
    "rust": (),
}
# Where a package keeps what its compiler does not find by itself; the shell fills it in.
PLACES = {
    "rust": "${RUST_INSTALL_LOC:+-L $RUST_INSTALL_LOC/rustc/lib}"
    " ${RUST_INSTALL_LOC:+-L $(echo $RUST_INSTALL_LOC/rust-std-*/lib/rustlib/*/lib)}",
}


@dataclass(frozen=True)
class Built:
    """What build.sh printed.

    binary     gzipped; None when the compiler refused, or when it can't travel
    each_call  it can't: the server's limits are too small, so every run compiles again
    cpu_s      CPU seconds that compiling took there, when it is done on each call
    """

    code: int
    log: bytes
    binary: bytes | None
    platform: str
    each_call: bool = False
    cpu_s: float = 0.0


def build_files(
    row: Language, program: Program, nonce: str, driver: str, *, send: bool = True
) -> list[File]:
    """The files of a request that compiles `program` in the runtime named `driver`.

    `send` False: only the compiler's words come back, not the binary.
    """
    if row.compile is None or row.piston[0] not in STANDALONE or driver not in DRIVERS:
        raise BadRequest(
            f"{row.name} can't be compiled on a Piston server; those that can: "
            + ", ".join(STANDALONE)
        )
    name, text = DRIVERS[driver]
    command = _command(row, program, "gbx-out")
    script = _SCRIPT.format(nonce=nonce, command=command, log_bytes=LOG_BYTES, send=int(send))
    return [File(name, text, source=True), *_in_folder(program, script)]


def each_call_files(row: Language, program: Program, binary: str) -> list[File]:
    """The files of a run that compiles first: box_launcher.c, build.sh, the sources."""
    launcher = Path(__file__).with_name("box_launcher.c").read_bytes()
    command = _command(row, program, f"../{binary}")
    script = f"cd gbx || exit 1\n{command} 2>gbx-log </dev/null >/dev/null\n"
    return [File("gbx-driver", launcher, source=True), *_in_folder(program, script)]


def _command(row: Language, program: Program, output: str) -> str:
    main, *_ = program.files
    flags = [a.format(source=main, binary=output) for a in row.compile or ()]
    package = row.piston[0]
    environment = [pair.replace("{work}", WORK) for pair in row.environment]
    words = ["env", *environment, row.tool[0], *flags, *STANDALONE[package]]
    folder = f"mkdir -p {WORK} && " if environment != list(row.environment) else ""
    return f"{folder}{shlex.join(words)} {PLACES.get(package, '')}".strip()


def _in_folder(program: Program, script: str) -> list[File]:
    """Apart from the working folder: the package compiles every source it finds there."""
    sources = (File(f"gbx/{n}", c) for n, c in program.files.items())
    return [File("gbx/build.sh", script.encode()), *sources]


_SCRIPT = """cd gbx || exit 1
{command} 2>gbx-log </dev/null >/dev/null
code=$?
echo "GBX1 {nonce}"
printf 'L '; head -c {log_bytes} gbx-log | base64 -w0; echo
if [ $code = 0 ] && [ {send} = 1 ]; then printf 'P '; gzip -c gbx-out | base64 -w0; echo; fi
printf 'I '; (uname -m; ldd --version 2>&1 | head -n 1) | base64 -w0; echo
echo "Z {nonce} $code"
"""


def read_built(text: str, nonce: str) -> Built:
    """Reads what build.sh printed; BadReport when it is not whole."""
    lines = text.split("\n")
    if lines[0] != f"GBX1 {nonce}":
        raise BadReport("no build report")
    parts: dict[str, bytes] = {}
    for line in lines[1:]:
        tag, _, rest = line.partition(" ")
        if tag == "Z":
            words = rest.split()
            if len(words) == 2 and words[0] == nonce and re.fullmatch("[0-9]{1,9}", words[1]):
                return _built(int(words[1]), parts)
            break
        try:
            parts[tag] = base64.b64decode(rest, validate=True)
        except (binascii.Error, ValueError) as error:
            raise BadReport(f"the build report is damaged: {error}") from error
    raise BadReport("the build report ends in the middle")


def _built(code: int, parts: dict[str, bytes]) -> Built:
    binary = parts.get("P")
    if binary is not None:
        _check_binary(binary)
    platform = parts.get("I", b"").decode("utf-8", "replace").strip().replace("\n", ", ")
    return Built(code, parts.get("L", b""), binary if code == 0 else None, platform)


def _check_binary(packed: bytes) -> None:
    """A bomb would be unpacked in the box, but is refused here already."""
    try:
        unpacker = zlib.decompressobj(31)
        unpacker.decompress(packed, BINARY_MAX)
    except zlib.error as error:
        raise BadReport(f"the binary is damaged: {error}") from error
    if not unpacker.eof:
        raise BadReport(f"the binary is cut, or over {BINARY_MAX} bytes")
