"""The parts of the virtual machines that can be tested without one."""

from __future__ import annotations

import lzma
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.vm import container, record, run
from tests.vm.guest import SCENARIOS
from tests.vm.image import archive, initramfs, load_order
from tests.vm.machine import ARCHES, accelerated
from tests.vm.run import MACHINES

ROW = {"machine": "M", "kernel": "6.1", "kvm": False, "scenario": "root", "check": "a | b"}
ROW |= {"expected": 3, "seen": 3.5, "unit": "MB", "ok": False}


def module(folder: Path, name: str, needs: str, packed: bool = False) -> None:
    data = b"\x7fELF\0license=GPL\0depends=" + needs.encode() + b"\0name=" + name.encode()
    folder.mkdir(parents=True, exist_ok=True)
    if packed:
        (folder / f"{name}.ko.xz").write_bytes(lzma.compress(data))
    else:
        (folder / f"{name}.ko").write_bytes(data)


def test_modules_come_after_their_dependencies(tmp_path: Path) -> None:
    deep = tmp_path / "lib/modules/1/kernel"
    module(deep / "fs", "9p", "9pnet,net-fs", packed=True)
    module(deep / "net", "9pnet", "")
    module(deep / "fs", "net_fs", "9pnet")
    names = [name for name, _ in load_order(tmp_path, ("9p", "built_in", "9pnet"))]
    assert names == ["9pnet", "net_fs", "9p"]
    assert dict(load_order(tmp_path, ("9p",)))["9p"].startswith(b"\x7fELF")


@pytest.mark.skipif(not shutil.which("cpio"), reason="cpio is not installed")
def test_cpio_reads_the_archive(tmp_path: Path) -> None:
    data = archive([("bin", 0o040755, b""), ("bin/odd", 0o100755, b"abc"), ("x", 0o100644, b"")])
    listed = subprocess.run(["cpio", "-t"], input=data, capture_output=True, check=True).stdout
    assert listed.split() == [b"bin", b"bin/odd", b"x"]
    command = ["cpio", "-i", "--to-stdout", "bin/odd"]
    assert subprocess.run(command, input=data, capture_output=True, check=True).stdout == b"abc"


def test_the_initial_file_system_is_complete(tmp_path: Path) -> None:
    module(tmp_path / "k", "9p", "")
    (tmp_path / "busybox").write_bytes(b"BUSYBOX")
    image = initramfs(tmp_path / "busybox", tmp_path / "k")
    for part in (b"BUSYBOX", b"modules/9p.ko", b"#!/bin/busybox sh", b"TRAILER!!!"):
        assert part in image
    assert len(image) % 4 == 0


def test_the_scenarios_of_every_machine_exist() -> None:
    for machine in MACHINES:
        assert set(machine.scenarios) <= set(SCENARIOS), machine.name
        assert machine.kind in ARCHES, machine.name
    assert {"full", "delegated", "userns", "landlock", ""} == {
        scenario.level for scenario in SCENARIOS.values()
    }


def test_a_privileged_container_has_what_the_guest_root_has() -> None:
    one = container.settings(["true"], {"HOME": "/tmp"}, private=True)
    other = container.settings(["true"], {}, private=False)
    kinds = [{row["type"] for row in each["linux"]["namespaces"]} for each in (one, other)]
    assert kinds[0] - kinds[1] == {"cgroup"} and {"mount", "pid"} <= kinds[1]
    (group,) = [row for row in one["mounts"] if row["destination"] == "/sys/fs/cgroup"]
    assert "ro" not in group["options"] and "seccomp" not in one["linux"]
    assert one["process"]["env"] == ["HOME=/tmp"]
    assert one["process"]["capabilities"]["effective"] == container.held_capabilities()


def test_another_architecture_is_never_accelerated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADEBOX_VM_ACCEL", "kvm")
    assert not accelerated("s390x")
    monkeypatch.setenv("GRADEBOX_VM_ACCEL", "tcg")
    assert not any(accelerated(name) for name in ARCHES)


def test_the_record_replaces_only_its_own_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Title\n")
    monkeypatch.setattr(record, "PAGE", page)
    record.keep("M", [ROW])
    record.keep("N", [{**ROW, "ok": True}])
    record.keep("M", [ROW, ROW])
    text = page.read_text()
    assert text.startswith("# Title\n\n<!-- machine: M -->\n### M\n")
    assert text.count("### M") == text.count("### N") == 1
    assert "2 checks, 2 failed" in text and "1 checks, all passed" in text
    assert "| root | a \\| b | 3 MB | 3.5 MB | **failed** |" in text


def test_an_unknown_machine_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert run.main(["Linux 9"]) == 2
    message = capsys.readouterr().err
    assert "Linux 9" in message and "Linux 6.1" in message
