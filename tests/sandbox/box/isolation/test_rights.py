"""User id 0 without root's rights gets an ordinary user's levels; programs have no capability."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from testing.commands import run_command

RUN = """
import json, sys
from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.model import Limits, Program
code = b'''
import ctypes
class Data(ctypes.Structure):
    _fields_ = [("bits", ctypes.c_uint32 * 6)]
class Header(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]
data = Data()
status = ctypes.CDLL(None).capget(ctypes.byref(Header(0x20080522, 0)), ctypes.byref(data))
print(status, sum(data.bits))
'''
with EmbeddedSandbox(1, level=sys.argv[1] or None, python_start=sys.argv[2]) as box:
    run = box.run(box.compile(Program("python", {"main.py": code})), Limits())
    print(json.dumps([box.describe().level, run.stdout.decode(), run.stderr.decode()]))
"""


def run_as(prefix: list[str], level: str, start: str) -> subprocess.CompletedProcess[str]:
    if not shutil.which(prefix[0]):
        pytest.skip(f"{prefix[0]} is missing: apt-get install util-linux")
    return run_command([*prefix, sys.executable, "-c", RUN, level, start], timeout=150)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("level", "start"), [("", "fork"), ("userns", "exec"), ("landlock", "exec")]
)
def test_the_root_of_a_user_namespace_gets_a_level(level, start):
    made = subprocess.run(["unshare", "-r", "true"], capture_output=True, check=False)
    if made.returncode:
        pytest.skip(f"no user namespaces here: {made.stderr.decode()}")
    done = run_as(["unshare", "-r"], level, start)
    assert done.returncode == 0, done.stderr[-800:]
    used, out, err = json.loads(done.stdout)
    assert used == level or (not level and used in ("delegated", "userns"))
    assert out == "0 0\n", err


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give up capabilities of user id 0")
@pytest.mark.parametrize(
    "prefix",
    [
        ["setpriv", "--bounding-set=-all", "--inh-caps=-all"],
        ["setpriv", "--bounding-set=-all,+chown,+dac_override", "--inh-caps=-all"],
        ["setpriv", "--inh-caps=+dac_override", "--ambient-caps=+dac_override"],
    ],
    ids=["none", "some", "all, some ambient"],
)
def test_programs_have_no_capability_of_user_id_0_at_landlock(prefix):
    done = run_as(prefix, "landlock", "exec")
    assert done.returncode == 0, done.stderr[-800:]
    assert json.loads(done.stdout)[1] == "0 0\n"
