"""Streams that are closed, broken or full end no run and are never mistaken for the records."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from eval.progress import Progress, Tally
from eval.streams import tell

COMMAND = Path(__file__).resolve().parents[2] / "eval/eval_with_piston_gentest_checker_stats.py"


class Broken(io.StringIO):
    """A stream whose reader is gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError(32, "Broken pipe")


def plan(folder: Path, redirection: str) -> subprocess.CompletedProcess[str]:
    """`--dry-run` over one solution under a shell's redirections."""
    test = {"input": "", "output": ""}
    (folder / "p.jsonl").write_text(json.dumps({"id": "1/A", "official_tests": [test]}) + "\n")
    (folder / "s.jsonl").write_text(
        '{"id": "1/A", "code": "0"}\n{"id": "9/\\u00e9", "code": "0"}\n'
    )
    words = f"{sys.executable} {COMMAND} --dataset p.jsonl --solutions-path s.jsonl --dry-run"
    return subprocess.run(
        ["sh", "-c", f"{words} {redirection}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "redirection",
    [">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", ">/dev/full 2>&1", "| head -c 1; exit 0"],
)
def test_a_stream_that_cannot_be_written_is_no_failure(tmp_path, redirection):
    done = plan(tmp_path, redirection)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_what_the_encoding_cannot_spell_is_escaped(tmp_path):
    done = plan(tmp_path, "--k 1 | cat")
    assert "unknown problem '9/é'" in done.stdout
    (tmp_path / "p.jsonl").unlink()
    done = subprocess.run(
        [sys.executable, COMMAND, "--solutions-path", tmp_path / "é.jsonl"],
        env={"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "\\xe9.jsonl does not exist" in done.stderr


def test_closed_descriptors_are_never_given_to_files(tmp_path):
    code = (
        "from eval.streams import steady_streams; steady_streams(); "
        "print(open('records', 'w').fileno(), file=open('number', 'w'))"
    )
    subprocess.run(
        ["sh", "-c", '"$0" -c "$1" <&- >&- 2>&-', sys.executable, code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(COMMAND.parents[1])},
        check=True,
    )
    assert int((tmp_path / "number").read_text()) > 2


def test_progress_and_lines_survive_a_stream_that_broke():
    stream = Broken()
    tally = Tally()
    tally.solution("passed", "AC", "ran")
    progress = Progress(tally, 2, stream=stream)
    progress.tick()
    progress.close()
    tell("gone", stream)
    assert stream.getvalue() == ""
