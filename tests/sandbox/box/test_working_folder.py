"""All files of a working folder are returned as they are, whatever a program left there."""

import pytest

from gradebox.sandbox.model import FOLDER, Limits, Program
from tests.sandbox.levels import box_at

pytestmark = [pytest.mark.slow, pytest.mark.levels("landlock")]

LIMITS = Limits(cpu_s=5, wall_s=20, output_bytes=100_000)
LEAVES = r"""
import os
for name, text in (("plain", b"12 5\nother"), ("1 2\nx", b""), ("given", b"changed")):
    open(name, "wb").write(text)
os.symlink("/etc/passwd", "link")
os.link("plain", "again")
os.mkfifo("fifo")
"""
TOO_MUCH = (b"open('large', 'wb').truncate(1 << 26)", b"for i in range(1100): open(str(i), 'w')")


@pytest.mark.parametrize(
    ("level", "start"), [("full", "fork"), ("full", "exec"), ("landlock", "exec")]
)
def test_only_plain_files_are_returned_and_not_too_many(level, start):
    with box_at(level, python_start=start) as box:
        leaves = box.compile(Program("python", {"main.py": LEAVES.encode()}))
        found = box.run(leaves, LIMITS, files={"given": b"1"}, collect=(FOLDER,))
        assert (found.exit_code, found.stderr) == (0, b"")
        plain = b"12 5\nother"
        assert found.files == {"plain": plain, "again": plain, "1 2\nx": b"", "given": b"changed"}
        for leave in TOO_MUCH:
            leaves = box.compile(Program("python", {"main.py": leave}))
            assert box.run(leaves, LIMITS, collect=(FOLDER,)).killed_for == "output"
