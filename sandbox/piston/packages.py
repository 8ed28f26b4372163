"""Which package of a Piston server runs which language, by Piston's names of runtimes.

python, pypy      the launcher in Python is the main file
c, c++, go, rust  compiled once by their own package (build.py); the binary runs under the
                  launcher in Python
javascript, ruby  a main file of one line starts the launcher in C, which is compiled once
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gradebox.sandbox.languages import Language, fill, memory_places
from gradebox.sandbox.model import Limits
from gradebox.sandbox.piston.execute import SentFile

C_LAUNCHER = "gbx-launcher"
COMPILED = ("c", "c++", "go", "rust")

_START = f"rm -f gbx-main.*; chmod +x {C_LAUNCHER}; exec ./{C_LAUNCHER}"
# runtime → name and text of the main file that starts the launcher in C
STARTERS = {
    "javascript": (
        "gbx-main.js",
        "require('child_process')"
        f".spawnSync('/bin/sh', ['-c', '{_START}'], {{stdio: 'inherit'}})\n",
    ),
    "ruby": ("gbx-main.rb", f"exec '/bin/sh', '-c', '{_START}'\n"),
}


@dataclass(frozen=True)
class Package:
    """A choice of --piston-package.

    runtime     the Python runtime, which runs the launcher
    languages   runtimes of programs that it can run
    codeforces  the package by that name: compilers are in `runtime` too; it drops empty lines,
                so that frames must be base64, and needs an input.txt and a grader_config
    """

    runtime: str
    languages: tuple[str, ...]
    codeforces: bool = False

    def supports(self, row: Language) -> bool:
        return row.piston[0] in self.languages

    def compiler(self, row: Language) -> str:
        """Return the runtime whose box has the compiler of a language."""
        return self.runtime if self.codeforces else row.piston[0]

    def needs(self, row: Language) -> tuple[str, ...]:
        """Return the runtimes a language needs: the launcher's, and those of its own."""
        language = row.piston[0]
        if language == "python":
            return (self.runtime,)
        if language in STARTERS:
            return (self.runtime, "c++", language)
        return (self.runtime, self.compiler(row))

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
    "piston": Package("python", ("python", "pypy", *COMPILED, *STARTERS)),
    "codeforces": Package("cf_python3", ("python", "c", "c++"), codeforces=True),
}


def run_command(row: Language, main: str, limits: Limits, args: Sequence[str]) -> list[str]:
    """Return the command line of an interpreted program; the tool is on the package's PATH."""
    places = {"{tool}": row.tool[0], "{source}": main, **memory_places(limits.memory_bytes)}
    return [*(fill(part, places) for part in row.run), *args]
