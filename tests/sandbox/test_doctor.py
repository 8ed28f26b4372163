"""The doctor reports which levels work and how to enable the others."""

import json
from types import SimpleNamespace

import pytest

from gradebox.sandbox import doctor, languages
from gradebox.sandbox.box.isolation.levels import LEVELS
from gradebox.sandbox.box.toolchains import find
from gradebox.sandbox.errors import SandboxUnavailable


@pytest.mark.slow
def test_this_machine(capsys):
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
    assert found["languages"]["broken"] == {}
    for name, why in found["languages"]["missing"].items():
        assert name in why
    assert found["machine"]["physical_cores"] >= 1
    assert found["machine"]["cgroup"] in ("v1", "v2", "none")


class Refusing:
    """The sandbox of a machine on which only some levels work."""

    works: tuple[str, ...] = ()
    slots = 1
    probe = SimpleNamespace(why_not=lambda language: "")

    def __init__(self, slots: int, *, level: str, allow_unsafe: bool) -> None:
        if level not in self.works:
            error = SandboxUnavailable("no sandbox works here")
            error.reasons = {level: "clone: Operation not permitted"}
            raise error

    def __enter__(self) -> "Refusing":
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
def test_other_machines(monkeypatch, capsys, works, level, status, kind):
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


@pytest.mark.slow(seconds=4)
def test_an_interpreter_that_does_not_start_is_broken_and_has_no_version(
    tmp_path, capsys, monkeypatch
):
    python = tmp_path / "python3"
    python.write_text(
        "#!/bin/sh\necho libpython3.so: cannot open shared object file >&2\nexit 127\n"
    )
    python.chmod(0o755)
    monkeypatch.setattr("gradebox.sandbox.languages.TABLE", {"python": languages.TABLE["python"]})
    monkeypatch.setenv("GRADEBOX_PYTHON", str(python))
    monkeypatch.setattr(find, "_resolve", find._resolve.__wrapped__)
    status = doctor.main(["--json"])
    found = json.loads(capsys.readouterr().out)
    if not found["usable"]:
        pytest.skip("no isolating level works here")
    assert status == 3
    assert found["languages"]["found"] == {}
    assert "repair it" in found["languages"]["broken"]["python"]
    assert "exit code 127" in found["languages"]["broken"]["python"].lower()
