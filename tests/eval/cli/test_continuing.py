"""What a command says after an interrupt continues the run."""

from __future__ import annotations

import argparse

import pytest

from gradebox.eval.cli.command import run_command


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ([], "interrupted; start the same command again to continue\n"),
        (["--fresh"], "interrupted; start the same command again without --fresh to continue\n"),
    ],
)
def test_the_flag_that_starts_over_is_left_out(
    argv: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def parser() -> argparse.ArgumentParser:
        made = argparse.ArgumentParser()
        made.add_argument("--fresh", action="store_true")
        return made

    def interrupted(_: argparse.Namespace) -> int:
        raise KeyboardInterrupt

    assert run_command(parser, interrupted, argv) == 130
    assert capsys.readouterr().err == said
