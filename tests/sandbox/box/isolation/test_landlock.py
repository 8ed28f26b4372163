"""Older versions of Landlock guard less; the filter then refuses the rest."""

import tempfile
from pathlib import Path

import pytest

from gradebox.sandbox.box.isolation import levels
from gradebox.sandbox.errors import SandboxError, SandboxUnavailable
from testing.submissions.hostile import harness


def this_kernels() -> int:
    try:
        return levels.landlock_version()
    except SandboxUnavailable as error:
        pytest.skip(str(error))


@pytest.mark.slow
@pytest.mark.parametrize("version", [1, 2, 3])
def test_no_version_lets_a_program_empty_files(version, monkeypatch):
    if this_kernels() < version:
        pytest.skip(f"this kernel's Landlock is of version {this_kernels()}")
    monkeypatch.setattr(levels, "landlock_version", lambda: version)
    with tempfile.TemporaryDirectory() as name, harness.opened("landlock") as sandbox:
        Path(name).chmod(0o755)
        victim = Path(name, "victim")
        victim.write_bytes(b"what another program of the user keeps")
        victim.chmod(0o666)  # for root, programs have another user id
        result = sandbox.run(
            harness.Programs(sandbox)["reach"], harness.GENEROUS, args=("emptied", str(victim))
        )
        assert (result.exit_code, result.stdout) == (0, b"held\n")
        assert victim.stat().st_size == 38


def test_a_kernel_without_landlock_is_named(monkeypatch):
    monkeypatch.setattr(levels, "LANDLOCK_CREATE_RULESET", 1 << 20)  # no such call
    with pytest.raises(SandboxError, match="landlock: Landlock: Function not implemented"):
        harness.opened("landlock").__enter__()
