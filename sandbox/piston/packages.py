"""Which package of a Piston server runs which language, and how a job starts there.

The launcher (box_launcher.py) runs in every box. In a box of `python` or `pypy` it is the main
file; elsewhere the main file is a starter, which becomes the `python3` of the server's image.

python, pypy, javascript, ruby   the package's interpreter runs the program
c, c++, go, rust                 compiled once in their package's box; the binary runs in Python's
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from gradebox.sandbox.languages import Language, fill, memory_places
from gradebox.sandbox.model import MIB, Limits, Program
from gradebox.sandbox.piston.execute import SentFile
from gradebox.sandbox.source_tokens import other_sources

LAUNCHER = "gbx-launch.py"
WORK = "/tmp/gbx-work"  # in the box: the compiler's own folder, {work} in the language table


_C = f"""#include <unistd.h>
int main(void) {{ return execl("/usr/bin/env", "env", "python3", "-SE", "{LAUNCHER}", (char *)0); }}
"""
_GO = f"""package main
import ("os"; "syscall")
func main() {{
    syscall.Exec("/usr/bin/env", []string{{"env", "python3", "-SE", "{LAUNCHER}"}}, os.Environ())
    os.Exit(1)
}}
"""
_RUST = f"""use std::os::unix::process::CommandExt;
fn main() {{
    panic!("{{}}", std::process::Command::new("python3").arg("-SE").arg("{LAUNCHER}").exec());
}}
"""
_NODE = (
    "process.exitCode = require('child_process')"
    f".spawnSync('python3', ['-SE', '{LAUNCHER}'], {{stdio: 'inherit'}}).status ?? 1\n"
)
_RUBY = f"exec 'python3', '-SE', '{LAUNCHER}'\n"

STARTERS = {  # main files, by runtime
    "c": SentFile("gbx-start", _C.encode(), source=True),
    "c++": SentFile("gbx-start", _C.encode(), source=True),
    "go": SentFile("gbx-start", _GO.encode(), source=True),
    "rust": SentFile("gbx-start", _RUST.encode(), source=True),
    "javascript": SentFile("gbx-start.js", _NODE.encode(), source=True),
    "ruby": SentFile("gbx-start.rb", _RUBY.encode(), source=True),
}
STARTER_BYTES = {"javascript": 64 * MIB}  # of memory: Node waits beside the launcher

# Flags with which the binary runs where the compiler's own libraries are missing.
STANDALONE = {
    "c++": ("-static-libstdc++", "-static-libgcc", "-s"),
    "c": ("-static-libgcc", "-s"),
    "go": (),
    "rust": (),
}
# Where a package keeps libraries that its compiler does not find by itself; the shell expands it.
LIBRARIES = {
    "rust": "${RUST_INSTALL_LOC:+-L $RUST_INSTALL_LOC/rustc/lib}"
    " ${RUST_INSTALL_LOC:+-L $(echo $RUST_INSTALL_LOC/rust-std-*/lib/rustlib/*/lib)}",
}


@dataclass(frozen=True)
class Package:
    """A choice of --piston-package.

    runtime     the Python runtime, whose main file is the launcher
    languages   runtimes of programs that it can run
    codeforces  the package by that name: compilers are in `runtime` too; it drops empty lines,
                so that frames must be base64, and needs an input.txt and a grader_config
    """

    runtime: str
    languages: tuple[str, ...]
    codeforces: bool = False

    def supports(self, row: Language) -> bool:
        return row.piston[0] in self.languages

    def box_of(self, row: Language) -> str:
        """Return the runtime whose box has the compiler or interpreter of a language."""
        if self.codeforces or row.piston[0] == "python":
            return self.runtime
        return row.piston[0]

    def needs(self, row: Language) -> tuple[str, ...]:
        """Return the runtimes a language needs: the launcher's, and its own."""
        return tuple(dict.fromkeys((self.runtime, self.box_of(row))))

    def extra_files(self, wall_s: float) -> list[SentFile]:
        """Return the files that the package itself needs.

        The Codeforces package gets a time limit beyond ours, no memory limit (it would limit
        address space), and neither an expected output nor a checker.
        """
        if not self.codeforces:
            return []
        config = f"TIME_LIMIT={int(wall_s) + 1}\nINPUT_MODE=stdio\n"
        return [SentFile("input.txt", b"\n"), SentFile("grader_config", config.encode())]


PACKAGES = {
    "piston": Package("python", ("python", "pypy", *STARTERS)),
    "codeforces": Package("cf_python3", ("python", "c", "c++"), codeforces=True),
}


def run_command(row: Language, main: str, limits: Limits, args: Sequence[str]) -> list[str]:
    """Return the command line of an interpreted program; the tool is on the package's PATH."""
    python = row.piston[0] in ("python", "pypy")  # the launcher's own interpreter
    places = {
        "{tool}": "{python}" if python else row.tool[0],
        "{source}": main,
        **memory_places(limits.memory_bytes),
    }
    return [*(fill(part, places) for part in row.run), *args]


def compile_command(row: Language, program: Program, output: str) -> str:
    """Return the shell's command that compiles a program in its folder."""
    main, *_ = program.files
    flags = [a.format(source=main, binary=output) for a in row.compile or ()]
    environment = [pair.replace("{work}", WORK) for pair in row.environment]
    sources = other_sources(row.family, program.files)
    package = row.piston[0]
    words = ["env", *environment, row.tool[0], *flags, *sources, *STANDALONE[package]]
    return f"mkdir -p {WORK} && {shlex.join(words)} {LIBRARIES.get(package, '')}".strip()
