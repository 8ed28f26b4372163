"""The launcher's binary: built once from source, cached by its hash, shipped in a wheel."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from gradebox.sandbox import SandboxUnavailable
from gradebox.sandbox.box import build
from gradebox.sandbox.box.isolation import host


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRADEBOX_CACHE", str(tmp_path / "cache"))
    return build.cache_folder()


def test_without_a_compiler_the_message_names_the_package(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(SandboxUnavailable) as result:
        build.LAUNCHER.build(tmp_path / "launcher")
    assert "no C compiler" in str(result.value) and "apt-get install gcc" in str(result.value)


@pytest.mark.parametrize("changed", ["watch.c", "protocol.h"])
def test_a_checkout_builds_the_launcher_once_for_the_same_sources(cache, monkeypatch, changed):
    made: list[Path] = []

    def fake(part: build.Part, target: Path, compiler: str | None = None) -> None:
        made.append(target)
        target.write_bytes(b"binary")

    monkeypatch.setattr(build, "HERE", _copied(cache.parent / "sources"))
    monkeypatch.setattr(build.Part, "build", fake)
    first = build.launcher()
    assert build.launcher() == first and made == [first] and first.parent == cache
    with (build.HERE / changed).open("a") as file:
        file.write("/* another */\n")
    second = build.launcher()
    assert second != first and made == [first, second]
    second.unlink()
    assert build.launcher() == second and len(made) == 3, "the cache was cleaned meanwhile"


def _copied(folder: Path) -> Path:
    return Path(shutil.copytree(build.HERE, folder, ignore=shutil.ignore_patterns("bin")))


def test_a_shipped_binary_is_preferred(cache, monkeypatch):
    monkeypatch.setattr(build, "HERE", _copied(cache.parent / "sources"))
    shipped = build.HERE / "bin" / build.LAUNCHER.file_name()
    shipped.parent.mkdir()
    shipped.write_bytes(b"binary")
    assert build.binary(build.LAUNCHER) == shipped
    assert list(cache.iterdir()) == []


def test_a_cache_that_others_can_write_to_is_refused(cache):
    cache.chmod(0o777)
    with pytest.raises(SandboxUnavailable, match="mode 777; it must be yours"):
        build.cache_folder()


def test_installed_packages_are_hidden_and_their_neighbours_are_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    site = tmp_path / "site-packages"
    monkeypatch.setattr(host, "__file__", str(site / "gradebox/sandbox/box/isolation/host.py"))
    assert host.hidden_folders() == (str(site / "gradebox"), str(tmp_path))
    monkeypatch.setattr(host, "__file__", str(site / "sandbox/box/isolation/host.py"))
    assert host.hidden_folders() == (str(site), str(tmp_path))  # of a checkout, all


def test_without_a_home_folder_the_cache_is_below_tmp(tmp_path, monkeypatch):
    """As of a user id without an account: HOME is unset, or a folder of somebody else."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("GRADEBOX_CACHE", "XDG_CACHE_HOME", "HOME", "HF_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", lambda uid: {}[uid])
    own = tmp_path / f"gradebox-{os.getuid()}"
    assert build.cache_folder() == own and own.stat().st_mode & 0o777 == 0o700
    assert host.data_caches() == ()
    others = tmp_path / "home"
    (others / ".cache" / "gradebox").mkdir(parents=True)
    (others / ".cache" / "gradebox").chmod(0o777)
    monkeypatch.setenv("HOME", str(others))
    assert build.cache_folder() == own
    (others / ".cache" / "gradebox").chmod(0o700)
    assert build.cache_folder() == others / ".cache" / "gradebox"


def test_a_link_below_tmp_is_not_used_as_the_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("GRADEBOX_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/proc/none")
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / f"gradebox-{os.getuid()}").symlink_to("elsewhere")
    with pytest.raises(SandboxUnavailable, match="set GRADEBOX_CACHE to a folder of your own"):
        build.cache_folder()


def test_the_message_quotes_a_failing_compiler(tmp_path):
    broken = tmp_path / "cc"
    broken.write_text("#!/bin/sh\necho cannot find -lc >&2\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(SandboxUnavailable, match=r"apt-get install gcc libc6-dev\): cannot find"):
        build.LAUNCHER.build(tmp_path / "launcher", str(broken))
    assert [p.name for p in tmp_path.iterdir()] == ["cc"]
