"""The doctor reports which levels work and how to enable the others."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from gradebox.sandbox import doctor
from gradebox.sandbox.box.isolation.levels import LEVELS, NoLevel


@pytest.mark.slow
def test_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    status = doctor.main(["--json"])
    found = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in found["levels"]] == [level.name for level in LEVELS]
    working = [row["name"] for row in found["levels"] if row["works"] and row["name"] != "none"]
    assert found["usable"] is bool(working)
    assert status == (0 if working else 1)
    assert found["level"] == (working[0] if working else None)
    for row in found["levels"]:
        assert bool(row["why_not"]) is not row["works"]
        assert bool(row["remedy"]) is not row["works"]
        assert bool(row["python_start"]) is row["works"]
    assert found["languages"]["found"]["python"].startswith("Python 3.")
    for name, why in found["languages"]["missing"].items():
        assert name in why
    assert found["machine"]["physical_cores"] >= 1
    assert found["machine"]["cgroup"] in ("v1", "v2", "none")


class Refusing:
    """The sandbox of a machine on which only some levels work."""

    works: tuple[str, ...] = ()

    def __init__(self, slots: int, *, level: str, allow_unsafe: bool) -> None:
        if level not in self.works:
            raise NoLevel({level: "clone: Operation not permitted"})

    def __enter__(self) -> Refusing:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def python_start(self) -> str:
        return "exec: the interpreter cannot be a template"


@pytest.mark.parametrize("kind", ["", "docker", "podman", "apptainer", "lxc"])
@pytest.mark.parametrize(
    ("works", "level", "status"),
    [
        ((), None, 1),
        (("none",), None, 1),
        (("landlock", "none"), "landlock", 0),
        (("userns",), "userns", 0),
    ],
)
def test_other_machines(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    works: tuple[str, ...],
    level: str | None,
    status: int,
    kind: str,
) -> None:
    monkeypatch.setattr(doctor, "container_kind", lambda: kind)
    monkeypatch.setattr(doctor, "EmbeddedSandbox", type("Some", (Refusing,), {"works": works}))
    assert doctor.main([]) == status
    out = capsys.readouterr().out
    assert out.splitlines()[0] == f"level      {level or 'none that isolates'}"
    assert (f"in a container ({kind})" in out) is bool(kind)
    userns = doctor.REMEDIES["userns"]
    said = {
        "": userns.machine,
        "docker": userns.docker,
        "podman": f"podman{userns.docker.removeprefix('docker')}",
        "apptainer": userns.machine,
        "lxc": userns.container,
    }
    for remedy in said.values():
        assert (remedy in out) is (level != "userns" and remedy == said[kind])
    if level != "userns":
        assert "userns     does not work: clone: Operation not permitted\n" in out


def test_a_reader_that_stops_is_no_error() -> None:
    script = "from gradebox.sandbox import doctor; doctor.examine = lambda: {'usable': True}; "
    script += "doctor.main(['--json'])"
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")
