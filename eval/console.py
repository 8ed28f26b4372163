"""The console script `gradebox`: a word, then the flags of the command it stands for.

gradebox grade --solutions-path …    eval/eval_with_piston_gentest_checker_stats.py
gradebox debug RESULTS …             eval/debug_case.py
gradebox report RESULTS              eval/report.py
gradebox compare A B                 eval/compare.py
gradebox serve --port 2000           python -m sandbox.server
gradebox doctor                      python -m sandbox.doctor
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    # A script's folder comes first on sys.path; its modules would shadow libraries'.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

BAD_USAGE = 2


@dataclass(frozen=True)
class Command:
    """A module with `main(argv) -> int`, and what it is for."""

    module: str
    help: str


COMMANDS: dict[str, Command] = {
    "grade": Command("eval.cli", "grade a file of solutions"),
    "debug": Command("eval.debug_case", "look at one case of a run again"),
    "report": Command("eval.report", "write a run's page"),
    "compare": Command("eval.compare", "compare two runs, paired by problem"),
    "serve": Command("sandbox.server.__main__", "serve Piston's API and POST /grade"),
    "doctor": Command("sandbox.doctor", "what this machine offers, and what would give more"),
}


def usage() -> str:
    """The list of commands."""
    rows = [f"  gradebox {name:<9}{command.help}" for name, command in COMMANDS.items()]
    return "\n".join(["usage: gradebox COMMAND [flags]; COMMAND --help lists them", "", *rows])


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command named first; its exit status, or 2 when there is none of that name."""
    words = list(sys.argv[1:] if argv is None else argv)
    name = words[0] if words else ""
    if name in ("-h", "--help"):
        print(usage())
        return 0
    command = COMMANDS.get(name)
    if command is None:
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        print(f"gradebox: no command {name[:80]!r}{hint}\n{usage()}", file=sys.stderr)
        return BAD_USAGE
    sys.argv[0] = f"gradebox {name}"  # what its usage calls it
    status: int = import_module(command.module).main(words[1:])
    return status


if __name__ == "__main__":
    sys.exit(main())
