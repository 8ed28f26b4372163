"""Pipes, devices and sockets where a file is to be read: an error in words, and no waiting."""

import json
import os
import socket
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from gradebox.eval.cli.grade import main as grade
from gradebox.eval.common.errors import InputError
from gradebox.eval.results.records import read_metrics

SOLUTION = {"id": "1/A", "code": "print(1)"}
PROBLEM = {"id": "1/A", "official_tests": [{"input": "", "output": "1"}]}
WORDS = "it is {}, not a regular file: write its contents to a file first"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder: good files, and a FIFO where a results folder has its records."""
    (tmp_path / "s.jsonl").write_text(json.dumps(SOLUTION) + "\n")
    (tmp_path / "p.jsonl").write_text(json.dumps(PROBLEM) + "\n")
    (tmp_path / "run").mkdir()
    for name in ("fifo", "run/piston_eval_results.jsonl"):
        os.mkfifo(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("module", "flags"),
    [
        ("grade", "--solutions-path fifo --dataset p.jsonl --dry-run"),
        ("grade", "--solutions-path s.jsonl --dataset fifo --dry-run"),
        ("commands.answers", "fifo"),
        ("commands.report", "run"),
        ("commands.compare", "run run"),
        ("commands.run_benchmarks", "--config fifo --model m"),
    ],
)
def test_a_named_pipe_is_refused_by_every_command(files, capsys, module, flags):
    main = import_module(f"gradebox.eval.cli.{module}").main
    assert main(flags.split()) == 2
    assert WORDS.format("a pipe") in capsys.readouterr().err


def test_metrics_that_are_a_device_are_not_read(tmp_path):
    """A link to /dev/zero in a results folder of somebody else's took all of the memory."""
    (tmp_path / "piston_eval_metrics.json").symlink_to("/dev/null")
    with pytest.raises(InputError, match="it is a device, not a regular file"):
        read_metrics(tmp_path)


@pytest.mark.parametrize(("path", "kind"), [("/dev/zero", "a device"), ("socket", "a socket")])
def test_a_device_or_a_socket_is_refused(files, capsys, path, kind):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        assert grade(["--solutions-path", path, "--dataset", "p.jsonl", "--dry-run"]) == 2
    assert WORDS.format(kind) in capsys.readouterr().err


@pytest.fixture
def piped() -> Iterator[str]:
    """Return what `<(command)` gives: the path of a pipe that has a line and has ended."""
    reads, writes = os.pipe()
    os.write(writes, b'{"gold": "1", "response": "so \\\\boxed{1}", "id": "1/A", "code": "1"}\n')
    os.close(writes)
    yield f"/dev/fd/{reads}"
    os.close(reads)


def test_what_is_read_once_may_be_a_descriptor(files, piped, capsys):
    assert import_module("gradebox.eval.cli.commands.answers").main([piped]) == 0
    assert "1 " in capsys.readouterr().out


def test_a_solutions_file_is_read_several_times(files, piped, capsys):
    with (files / "s.jsonl").open() as file:
        redirected = f"/dev/fd/{file.fileno()}"  # as /dev/stdin is after `< s.jsonl`
        assert grade(["--solutions-path", redirected, "--dataset", "p.jsonl", "--dry-run"]) == 0
    assert grade(["--solutions-path", piped, "--dataset", "p.jsonl", "--dry-run"]) == 2
    assert WORDS.format("a pipe") in capsys.readouterr().err
