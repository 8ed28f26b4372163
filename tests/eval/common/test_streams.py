"""Closed, broken and full streams end no run, and their output never goes into the records."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from gradebox.eval.cli.progress import Progress
from gradebox.eval.common.streams import print_line
from gradebox.eval.grading.planner import ProgressCounts
from testing.commands import run_command

COMMAND = Path(__file__).resolve().parents[3] / "eval/eval_with_piston_gentest_checker_stats.py"


class Broken(io.StringIO):
    """A stream whose reader has gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError(32, "Broken pipe")


def plan(folder: Path, redirection: str) -> subprocess.CompletedProcess[str]:
    """Run `--dry-run` with a shell's redirections."""
    test = {"input": "", "output": ""}
    (folder / "p.jsonl").write_text(json.dumps({"id": "1/A", "official_tests": [test]}) + "\n")
    (folder / "s.jsonl").write_text(
        '{"id": "1/A", "code": "0"}\n{"id": "9/\\u00e9", "code": "0"}\n'
    )
    words = f"{sys.executable} {COMMAND} --dataset p.jsonl --solutions-path s.jsonl --dry-run"
    return run_command(["sh", "-c", f"{words} {redirection}"], cwd=folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    "redirection",
    [">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", ">/dev/full 2>&1", "| head -c 1; exit 0"],
)
def test_a_run_tolerates_unwritable_streams(tmp_path, redirection):
    done = plan(tmp_path, redirection)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


@pytest.mark.slow
def test_characters_that_the_encoding_lacks_are_escaped(tmp_path):
    done = plan(tmp_path, "--k 1 | cat")
    assert "unknown problem '9/é'" in done.stdout
    (tmp_path / "p.jsonl").unlink()
    done = run_command(
        [sys.executable, COMMAND, "--solutions-path", tmp_path / "é.jsonl"],
        env={"PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 2
    assert "\\xe9.jsonl does not exist" in done.stderr


def test_files_never_get_the_descriptors_of_closed_streams(tmp_path):
    code = (
        "from gradebox.eval.common.streams import repair_streams; repair_streams(); "
        "print(open('records', 'w').fileno(), file=open('number', 'w'))"
    )
    subprocess.run(
        ["sh", "-c", '"$0" -c "$1" <&- >&- 2>&-', sys.executable, code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(COMMAND.parents[1] / "src")},
        check=True,
    )
    assert int((tmp_path / "number").read_text()) > 2


def test_progress_and_lines_tolerate_a_broken_stream():
    stream = Broken()
    tally = ProgressCounts()
    tally.add_solution("passed", "AC")
    progress = Progress(tally, 2, stream=stream)
    progress.tick()
    progress.close()
    print_line("gone", stream)
    assert stream.getvalue() == ""
