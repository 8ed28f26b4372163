"""What a command says after an interrupt continues the run and starts nothing over."""

import argparse

import pytest

from gradebox.eval.cli.command import run_command
from gradebox.eval.common.signals import is_discarded

AGAIN = "start the same command again"


@pytest.mark.parametrize(
    ("argv", "discarded", "said"),
    [
        ([], False, f"{AGAIN} to continue"),
        (["--fresh"], False, f"{AGAIN} to continue"),
        (["--fresh"], True, f"{AGAIN} without --fresh to continue"),
        ([], True, f"{AGAIN} to continue"),
    ],
)
def test_the_flag_is_left_out_once_it_has_had_its_effect(
    argv: list[str], discarded: bool, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def parser() -> argparse.ArgumentParser:
        made = argparse.ArgumentParser()
        made.add_argument("--fresh", action="store_true")
        return made

    def interrupted(_: argparse.Namespace) -> int:
        if discarded:
            is_discarded()
        raise KeyboardInterrupt

    assert run_command(parser, interrupted, argv) == 130
    assert capsys.readouterr().err == f"interrupted; {said}\n"
