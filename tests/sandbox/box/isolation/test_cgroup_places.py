"""The folder of this process's control group, for hosts and containers."""

import errno
import os
import shutil
from pathlib import Path

import pytest

from gradebox.sandbox.box.isolation import cgroup
from gradebox.sandbox.box.isolation.cgroup import Cgroup

MOUNT = "35 31 0:32 {root} {place} rw,relatime shared:9 - {kind} {kind} rw,{options}\n"
V1_MEMORY = "/sys/fs/cgroup/memory"


def mount(root: str, place: str, options: str, kind: str = "cgroup") -> str:
    return MOUNT.format(root=root, place=place, kind=kind, options=options)


@pytest.mark.parametrize(
    ("groups", "mounts", "controller", "folder"),
    [
        ("4:memory:/a/b", mount("/", V1_MEMORY, "memory"), "memory", f"{V1_MEMORY}/a/b"),
        ("4:memory:/", mount("/", V1_MEMORY, "memory"), "memory", V1_MEMORY),
        # a container on a v1 host: only its own group is mounted
        ("4:memory:/docker/c1", mount("/docker/c1", V1_MEMORY, "memory"), "memory", V1_MEMORY),
        (
            "4:memory:/docker/c1/job",
            mount("/docker/c1", V1_MEMORY, "memory"),
            "memory",
            f"{V1_MEMORY}/job",
        ),
        # another container's group, and one whose name only begins alike
        ("4:memory:/docker/c1", mount("/docker/c2", V1_MEMORY, "memory"), "memory", None),
        ("4:memory:/docker/c12", mount("/docker/c1", V1_MEMORY, "memory"), "memory", None),
        # controllers that share a hierarchy, at a place that is not named after one
        (
            "3:cpu,cpuacct:/x",
            mount("/", "/sys/fs/cgroup/cpu,cpuacct", "cpu,cpuacct"),
            "cpuacct",
            "/sys/fs/cgroup/cpu,cpuacct/x",
        ),
        # v2, in a namespace of its own and on the host
        ("0::/", mount("/", "/sys/fs/cgroup", "nsdelegate", "cgroup2"), "", "/sys/fs/cgroup"),
        (
            "0::/user.slice/s",
            mount("/", "/sys/fs/cgroup", "nsdelegate", "cgroup2"),
            "",
            "/sys/fs/cgroup/user.slice/s",
        ),
        # outside the part of the hierarchy that is visible
        ("0::/../other", mount("/", "/sys/fs/cgroup", "x", "cgroup2"), "", None),
        ("4:memory:/a", mount("/", "/mnt/a\\040b", "memory"), "memory", "/mnt/a b/a"),
        ("4:memory:/a", "", "memory", None),
        ("0::/", mount("/", V1_MEMORY, "memory"), "memory", None),
    ],
)
def test_own_folder(groups, mounts, controller, folder, tmp_path, monkeypatch):
    (tmp_path / "cgroup").write_text(f"{groups}\n1:name=systemd:/other\n")
    other = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
    (tmp_path / "mountinfo").write_text(other + mounts)
    monkeypatch.setattr(cgroup, "PROC", tmp_path)
    found = cgroup.own_folder(controller)
    assert found == (None if folder is None else Path(folder))


def test_a_group_is_removed_even_when_its_processes_take_seconds_to_end(tmp_path, monkeypatch):
    (tmp_path / "gradebox-1-0/box/program").mkdir(parents=True)
    now = 0.0

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        if 5 < now < 5.1:  # while another program has the core
            shutil.rmtree(tmp_path / "gradebox-1-0/box/program", ignore_errors=True)

    monkeypatch.setattr("gradebox.sandbox.box.isolation.cgroup.time.sleep", sleep)
    monkeypatch.setattr("gradebox.sandbox.box.isolation.cgroup.time.monotonic", lambda: now)
    Cgroup((tmp_path / "gradebox-1-0",), 1).close()
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("reason", [errno.EROFS, errno.EPERM, errno.EACCES])
def test_a_group_that_nobody_may_remove_is_not_waited_for(reason, monkeypatch):
    """A read-only file system refuses to remove even what does not exist."""

    def refused(_: Path) -> None:
        raise OSError(reason, os.strerror(reason))

    monkeypatch.setattr(Path, "rmdir", refused)
    monkeypatch.setattr(cgroup.time, "sleep", lambda _: pytest.fail("it waits"))
    Cgroup((Path("/sys/fs/cgroup/memory/gradebox-1-0"),), 1).close()
