"""Print what makes a shell complete commands and flags: `gradebox completion bash`.

The text is made from the parsers of all commands, so that a Tab starts no Python. It is made again
after an update of gradebox.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from gradebox.eval.cli.command import CommandParser, run_command

# How each shell reads the text: from the command at its start, or from a file in a folder.
SHELLS = {
    "bash": 'eval "$(gradebox completion bash)"   in ~/.bashrc',
    "zsh": "gradebox completion zsh > FOLDER/_gradebox   a folder of $fpath, before compinit",
    "fish": "gradebox completion fish > ~/.config/fish/completions/gradebox.fish",
}
PARSERS = {
    "grade": "make_parser",
    "debug": "make_parser",
    "answer": "parser_of_one",
    "export": "parser_of_table",
}
# Placeholders of values that are completed as paths.
_OF_FILES = {"A", "B", "DIR", "FILE", "GLOB", "PACKAGE", "PATH", "RESULTS"}


def parser() -> CommandParser:
    """Return the parser of the command line."""
    p = CommandParser(
        description="Print the completion of commands and flags for a shell.",
        epilog="\n".join(SHELLS.values()),
    )
    p.add_argument("shell", choices=tuple(SHELLS), help="the shell that reads it")
    return p


def all_commands() -> argparse.ArgumentParser:
    """Return one parser that has every command of `gradebox`."""
    import shtab

    from gradebox.eval.cli.console import COMMANDS

    top = argparse.ArgumentParser("gradebox")
    top.add_argument("-V", "--version", action="store_true", help="print the version")
    commands = top.add_subparsers()
    for name, command in COMMANDS.items():
        module = import_module(f"gradebox.{command.function.partition(':')[0]}")
        own: argparse.ArgumentParser = getattr(module, PARSERS.get(name, "parser"))()
        commands.add_parser(
            name, parents=[own], add_help=False, help=command.help, description=command.help
        )
        for action in own._actions:
            words = str(action.metavar).split("|")
            if action.nargs != 0 and (action.type is Path or _OF_FILES.intersection(words)):
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    return top


def _print(options: argparse.Namespace) -> int:
    import shtab

    print(shtab.complete(all_commands(), options.shell))
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run_command(parser, _print, argv)
