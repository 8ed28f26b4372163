"""The launcher's binary: built once from source, kept by its hash, shipped in a wheel."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from sandbox import SandboxUnavailable
from sandbox.box import build, host

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = ("eval", "sandbox", "checkers", "gradebox.py", "pyproject.toml", "setup.py", "README.md")

USE = """
import sys
from pathlib import Path
from sandbox import Limits, Program
from sandbox.box import EmbeddedSandbox
from sandbox.box.build import launcher

with EmbeddedSandbox(1) as box:
    program = box.compile(Program("python", {"main.py": b"print(int(input()) * 6)"}))
    seen = box.run(program, Limits(), stdin=b"7")
print(launcher(), seen.stdout.decode().strip(), seen.exit_code)
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRADEBOX_CACHE", str(tmp_path / "cache"))
    return build.cache_folder()


def test_without_a_compiler_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(SandboxUnavailable) as seen:
        build.build_launcher(tmp_path / "launcher")
    assert str(seen.value) == (
        "the sandbox's launcher must be compiled once and there is no C compiler: "
        "apt-get install gcc libc6-dev"
    )


def test_a_compiler_that_fails_is_quoted(tmp_path: Path) -> None:
    broken = tmp_path / "cc"
    broken.write_text("#!/bin/sh\necho cannot find -lc >&2\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(SandboxUnavailable, match=r"apt-get install gcc libc6-dev\): cannot find"):
        build.build_launcher(tmp_path / "launcher", str(broken))
    assert [p.name for p in tmp_path.iterdir()] == ["cc"]


def test_a_checkout_builds_it_once_and_keeps_it_by_its_sources(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Path] = []

    def fake(target: Path, compiler: str | None = None) -> None:
        made.append(target)
        target.write_bytes(b"binary")

    monkeypatch.setattr(build, "HERE", _copied(cache.parent / "sources"))
    monkeypatch.setattr(build, "build_launcher", fake)
    monkeypatch.setattr(build, "launcher", build.launcher.__wrapped__)
    first = build.launcher()
    assert build.launcher() == first and made == [first] and first.parent == cache
    with (build.HERE / "watch.c").open("a") as file:
        file.write("/* another */\n")
    assert build.launcher() != first and len(made) == 2


def _copied(folder: Path) -> Path:
    folder.mkdir()
    for name in (*build.SOURCES, *build.HEADERS):
        shutil.copy(build.HERE / name, folder / name)
    return folder


def test_a_shipped_binary_comes_first(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "HERE", _copied(cache.parent / "sources"))
    shipped = build.HERE / "bin" / build.launcher_name()
    shipped.parent.mkdir()
    shipped.write_bytes(b"binary")
    assert build.launcher.__wrapped__() == shipped
    assert list(cache.iterdir()) == []


def test_a_cache_that_others_may_write_to_is_refused(
    cache: Path,
) -> None:
    cache.chmod(0o777)
    with pytest.raises(SandboxUnavailable, match="mode 777; it must be yours"):
        build.cache_folder()


def test_installed_packages_are_hidden_and_their_neighbours_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    site = tmp_path / "site-packages"
    monkeypatch.setattr(host, "__file__", str(site / "sandbox/box/host.py"))
    names = ("eval", "checkers", "sandbox")
    assert host.hidden_folders() == (*(str(site / n) for n in names), str(tmp_path))
    (site / "sandbox").mkdir(parents=True)
    (site / "pyproject.toml").touch()
    assert host.hidden_folders() == (str(site), str(tmp_path))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("setuptools", minversion="70.1", reason="setuptools 70.1 builds the wheel")
    if not shutil.which("gcc") and not shutil.which("cc"):
        pytest.skip("no C compiler to build the wheel's launcher with")
    folder = tmp_path_factory.mktemp("wheel")
    ignored = shutil.ignore_patterns("__pycache__", "launcher-*")
    for name in SHIPPED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / "source" / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, folder / "source" / name)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"),
            *("--disable-pip-version-check", "-w", str(folder), str(folder / "source")),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (made,) = folder.glob("*.whl")
    return made


@pytest.mark.slow
@pytest.mark.xdist_group("wheel")
def test_the_wheel_carries_the_binary_and_its_data(wheel: Path) -> None:
    assert wheel.name.endswith(f"-py3-none-linux_{platform.machine()}.whl")
    names = zipfile.ZipFile(wheel).namelist()
    binaries = [n for n in names if n.startswith("sandbox/box/bin/")]
    assert binaries == [f"sandbox/box/bin/{build.launcher_name()}"]
    data = {".c", ".h", ".css", ".js", ".html", ".json", ".jsonl", ".txt"}
    sources = {
        str(path.relative_to(ROOT))
        for package in ("eval", "sandbox", "checkers")
        for path in (ROOT / package).rglob("*")
        if path.suffix in data | {".py"} and path.is_file() and "__pycache__" not in path.parts
    }
    assert sorted(sources - set(names)) == []
    assert not [n for n in names if n.startswith(("tests/", "docs/", "results/"))]


@pytest.mark.slow
@pytest.mark.xdist_group("wheel")
def test_the_wheel_works_without_checkout_and_compiler(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True, timeout=120)
    install = ("-m", "pip", "install", "-q", "--no-deps", "--no-index", str(wheel))
    subprocess.run([str(home / "bin/python"), *install], check=True, timeout=120)
    (tmp_path / "empty").mkdir()
    keep = ("HOME", "SANDBOX_LEVEL", "LANG", "GRADEBOX_PYTHON")
    done = subprocess.run(
        [str(home / "bin/python"), "-c", USE],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={
            **{name: os.environ[name] for name in keep if name in os.environ},
            "PATH": str(tmp_path / "empty"),
            "GRADEBOX_CACHE": str(tmp_path / "cache"),
        },
    )
    assert done.returncode == 0, done.stderr[-2000:]
    launcher, answer, status = done.stdout.split()
    assert Path(launcher).is_relative_to(home) and (answer, status) == ("42", "0")
    assert not list((tmp_path / "cache").glob("launcher-*"))
