"""Tools are found by their real paths; missing ones are reported with the remedy."""

import os
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradebox.sandbox import MissingToolchain
from gradebox.sandbox.box.isolation import host
from gradebox.sandbox.box.toolchains import find as toolchain
from gradebox.sandbox.languages import TABLE, Language, register


@pytest.fixture(autouse=True)
def nothing_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("GRADEBOX_CACHE", str(tmp_path / "cache"))
    toolchain._resolve.cache_clear()
    toolchain._known.cache_clear()
    yield
    toolchain._resolve.cache_clear()
    toolchain._known.cache_clear()


def tool(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def row(**more: object) -> Language:
    fields = {"name": "lang", "aliases": (), "source": "m", "tool": ("gbx-lang",), "compile": None}
    return Language(**{**fields, "run": ("{tool}",), "install": "apt-get install lang", **more})  # type: ignore[arg-type]


def test_a_version_managers_shim_is_not_used(tmp_path, monkeypatch):
    tool(tmp_path / "shims/gbx-lang", "exit 1")
    real = tool(tmp_path / "opt/bin/gbx-lang", "echo lang 1.2")
    monkeypatch.setenv("PATH", f"{tmp_path}/shims:{tmp_path}/opt/bin:{os.environ['PATH']}")
    found = toolchain.resolve(row())
    assert (found.path, found.version) == (str(real), "lang 1.2")
    assert f"{tmp_path}/opt/lib" in found.binds


def test_a_proxy_is_queried_for_the_real_tool(tmp_path, monkeypatch):
    real = tool(tmp_path / "toolchains/a/bin/gbx-lang", "echo lang 3")
    tool(tmp_path / "bin/gbx-lang", f'[ "$1" = root ] && echo {tmp_path}/toolchains/a')
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    found = toolchain.resolve(row(sysroot=("root",)))
    assert (found.path, found.version) == (str(real), "lang 3")


def test_the_runtime_beside_the_compiler_is_preferred(tmp_path, monkeypatch):
    tool(tmp_path / "jdk/bin/gbx-lang", "echo compiler 2")
    beside = tool(tmp_path / "jdk/bin/gbx-run", "echo runtime 2")
    tool(tmp_path / "other/gbx-run", "echo runtime 1")
    monkeypatch.setenv("PATH", f"{tmp_path}/other:{tmp_path}/jdk/bin:{os.environ['PATH']}")
    found = toolchain.resolve(row(runtime=("gbx-run",)))
    assert found.runtime == str(beside)
    assert found.version == "compiler 2 / runtime 2"


def test_a_missing_tool_is_reported_with_its_remedy():
    with pytest.raises(MissingToolchain) as result:
        toolchain.resolve(row(tool=("gbx-no-1", "gbx-no-2")))
    for part in ("lang", "gbx-no-1", "gbx-no-2", "apt-get install lang"):
        assert part in str(result.value)


def test_other_users_do_not_get_a_tool_in_a_private_folder(tmp_path, monkeypatch):
    tool(tmp_path / "home/bin/gbx-lang", "echo lang 1")
    (tmp_path / "home").chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}/home/bin:{os.environ['PATH']}")
    assert toolchain.resolve(row()).version == "lang 1"
    with pytest.raises(MissingToolchain, match="other users cannot enter"):
        toolchain.resolve(row(), public=True)


@pytest.mark.slow
def test_the_host_lists_missing_tools(monkeypatch):
    monkeypatch.setattr("gradebox.sandbox.languages.TABLE", {**TABLE})
    register(row(tool=("gbx-no",)))
    result = host.inspect_host()
    assert result.missing["lang"].endswith("install it: apt-get install lang")
    assert "python" in result.versions and "lang" not in result.versions


def test_a_home_folder_is_never_shown_as_a_whole(tmp_path, monkeypatch):
    tool(tmp_path / "bin/gbx-lang", "echo lang 1")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    binds = toolchain.resolve(row(own_folder=True)).binds
    assert f"{tmp_path}/lib" in binds and str(tmp_path) not in binds


def test_an_environment_is_named_by_its_own_path(tmp_path):
    venv.create(tmp_path / "env")
    path = str(tmp_path / "env" / "bin" / "python")
    (package,) = (tmp_path / "env").glob("lib/python*/site-packages")
    (package / "made").mkdir()
    first = toolchain.resolve(TABLE["python"], python=path)
    assert (first.path, first.startup_files) == (path, ())
    assert str(tmp_path / "env") in first.binds
    assert "made" in toolchain.importable(first.modules)
    (package / "made-1.0.dist-info").mkdir()
    toolchain._resolve.cache_clear()
    assert toolchain.resolve(TABLE["python"], python=path).version != first.version


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (None, "no program of this name"),
        ("echo hello", "it does not answer as Python does"),
        ("echo python 2 7; echo /bin/python", "it is Python 2.7"),
        ('exec python3 "$@"', "/tmp is each program's own folder"),
    ],
)
def test_what_is_no_python_is_refused(script, why):
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        path = Path(folder, "python")
        if script is not None:
            tool(path, script)
        with pytest.raises(MissingToolchain, match=why):
            toolchain.named_python(str(path))
