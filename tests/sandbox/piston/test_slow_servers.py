"""A server that does not take output for a while: the program waits, and is not at fault."""

import subprocess
import sys
import time

import pytest

from gradebox.sandbox import Limits, Program
from gradebox.sandbox.piston.launcher import LAUNCHER, decode_report, job_files, launcher_files

pytestmark = pytest.mark.slow(seconds=2)
PRINTS = (
    "import sys, time\nsys.stdout.write('x' * 400_000)\nsys.stdout.flush()\n"  # no pipe holds it
)
LIMITS = Limits(wall_s=1.0)
STOPS_S = 2.0  # longer than the program may take
NONCE = "0" * 16


@pytest.mark.parametrize(("source", "why"), [(PRINTS, "-"), (PRINTS + "time.sleep(60)\n", "wall")])
def test_time_in_which_a_launcher_cannot_write_does_not_count(tmp_path, source, why):
    argv = [sys.executable, "-S", "-c", source]
    options = {"output_chars": 1 << 24, "fixed_addresses": False}
    job = job_files(NONCE, argv, LIMITS, files={}, **options)  # type: ignore[arg-type]
    for file in (*launcher_files("python"), *job):
        (tmp_path / file.name).write_bytes(file.content)
    command = [sys.executable, LAUNCHER]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        time.sleep(STOPS_S)
        report = decode_report(process.stdout.read(), NONCE)
    assert (report.why, len(report.execution.stdout)) == (why, 400_000)


def test_a_server_that_stands_still_fails_no_program(server, client):
    fake = server()
    box = client(fake)
    program = box.compile(Program("python", {"main.py": PRINTS.encode()}), interpreted=False)
    assert box.run(program, Limits()).exit_code == 0  # past the probe
    fake.settings.stops_s = STOPS_S
    got = box.run(program, LIMITS)
    assert (got.killed_for, got.exit_code, got.stdout_bytes) == (None, 0, 400_000)
