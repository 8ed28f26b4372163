"""Completion of the console script's commands and flags, tried in bash."""

import shutil
import subprocess

import pytest

from gradebox.eval.cli.commands.completion import SHELLS, main
from gradebox.eval.cli.console import COMMANDS

pytest.importorskip("shtab", reason="shtab is missing; pip install 'gradebox[completion]'")
ASK = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
function=$(complete -p gradebox | grep -o -- '-F [^ ]*'); ${function#-F } gradebox "${!#}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_knows_every_command(shell, capsys):
    assert main([shell]) == 0
    text = capsys.readouterr().out
    assert [name for name in COMMANDS if name not in text] == []
    assert "solutions-path" in text and "cluster-by-contest" in text


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is missing")
def test_bash_completes(tmp_path, capsys):
    main(["bash"])
    (tmp_path / "script").write_text(capsys.readouterr().out)
    (tmp_path / "sol.jsonl").touch()
    for words, wanted in {
        ("",): [*COMMANDS],
        ("grade", "--solutions"): ["--solutions-path"],
        ("grade", "--sandbox", ""): ["auto", "local", "piston"],
        ("grade", "--solutions-path", "so"): ["sol.jsonl"],
    }.items():
        command = ["bash", "-c", ASK, "bash", "./script", "gradebox", *words]
        assert subprocess.check_output(command, cwd=tmp_path, text=True).split() == wanted
