"""Data below a folder that programs are shown: hidden, or the level is not used."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gradebox.sandbox.box import EmbeddedSandbox, embedded
from gradebox.sandbox.box.isolation.host import data_caches, shown_at, with_targets
from gradebox.sandbox.errors import SandboxUnavailable
from gradebox.sandbox.model import Limits
from tests.sandbox.levels import box_at, built

COVERING = ("full", "delegated", "userns")
SECRET = "the expected output"
# For each path in the input: its contents or why there are none; then it tries to write beside it.
READS = rb"""
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
int main() {
    char path[4096], text[100];
    while (scanf("%4095s", path) == 1) {
        FILE *file = fopen(path, "r");
        if (file && fgets(text, sizeof text, file)) puts(text);
        else puts(file ? "empty" : strerror(errno));
        if (fopen((std::string(path) + "-left").c_str(), "w")) puts("written");
    }
}
"""


def show(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let programs see a folder, as one of a toolchain."""
    host = embedded.inspect_host()
    shown = replace(host, binds=(*host.binds, str(folder)))
    monkeypatch.setattr(embedded, "inspect_host", lambda: shown)


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A toolchain that programs are shown, with a library."""
    folder = tmp_path / "tool"
    folder.mkdir()
    (folder / "library").write_text("code")
    show(folder, monkeypatch)
    return folder


@pytest.fixture
def data(tool: Path) -> Path:
    folder = tool / "data"
    folder.mkdir()
    (folder / "problems.jsonl").write_text(SECRET)
    return folder


def read(sandbox: EmbeddedSandbox, *paths: Path) -> list[str]:
    text = "\n".join(map(str, paths)).encode()
    result = sandbox.run(built(sandbox, READS), Limits(), stdin=text)
    assert result.exit_code == 0, result
    return result.stdout.decode().splitlines()


@pytest.fixture(params=COVERING)
def opened(request: pytest.FixtureRequest) -> Iterator[Callable[..., EmbeddedSandbox]]:
    made: list[EmbeddedSandbox] = []

    def open_it(*hidden: str | Path) -> EmbeddedSandbox:
        made.append(box_at(request.param, hidden=hidden))
        return made[-1]

    yield open_it
    for sandbox in made:
        sandbox.close()


GONE = os.strerror(2)


@pytest.mark.slow
@pytest.mark.levels("userns")
def test_only_what_is_hidden_cannot_be_read(opened, data, tmp_path, monkeypatch):
    """A folder, a file, the target of a link, a relative path, and what is made later."""
    tool = data.parent
    for name in ("file", "target", "relative"):
        (tool / name).write_text(SECRET)
    for name in ("rows", "elsewhere"):
        (tmp_path / name).mkdir()
    (tmp_path / "rows" / "link").symlink_to(tool / "target")
    monkeypatch.chdir(tmp_path / "elsewhere")  # the working folder is hidden: data is beside it
    hidden = (data, tool / "file", tmp_path / "rows", "../tool/relative", tool / "results")
    sandbox = opened(*hidden)
    (tool / "results" / "records.jsonl").write_text(SECRET)
    places = ("data/problems.jsonl", "results/records.jsonl", "file", "target", "relative")
    paths = [tool / name for name in (*places, "library")]
    assert read(sandbox, *paths) == [GONE, GONE, "empty", "empty", "empty", "code"]
    assert read(opened(), *paths) == [SECRET] * 5 + ["code"]  # without the cover they would be read
    shutil.rmtree(data)
    sandbox._pool.invalidate()  # new boxes are built from now on
    assert read(sandbox, tool / "library") == ["code"]


@pytest.mark.slow
@pytest.mark.levels("userns", "landlock")
@pytest.mark.parametrize("level", [*COVERING, "landlock"])
def test_what_programs_are_shown_they_cannot_change(level, monkeypatch):
    """Not even where every user of the machine may."""
    with tempfile.TemporaryDirectory(prefix="gradebox-shown-", dir="/var/tmp") as name:
        folder = Path(name)
        show(folder, monkeypatch)
        (folder / "library").write_text("code")
        (folder / "library").chmod(0o644)
        folder.chmod(0o777)
        with box_at(level) as box:
            assert read(box, folder / "library") == ["code"]


@pytest.mark.parametrize("level", COVERING)
def test_a_toolchain_itself_cannot_be_hidden(level, tool):
    box_at(level).close()
    with pytest.raises(SandboxUnavailable, match=f"programs could read {tool}.* move it"):
        EmbeddedSandbox(1, level=level, hidden=[tool])


def test_landlock_is_not_used_where_it_cannot_hide(data, tmp_path):
    box_at("landlock", hidden=[tmp_path / "outside"]).close()
    with pytest.raises(SandboxUnavailable, match=f"programs could read {data}.*; move it") as e:
        EmbeddedSandbox(1, level="landlock", hidden=[data])
    assert "\n" not in str(e.value)


def test_a_path_is_found_under_the_name_that_programs_see(tmp_path):
    (tmp_path / "real" / "data").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    binds = [f"{tmp_path}/link", f"{tmp_path}/rea", "/usr/lib"]
    assert shown_at(f"{tmp_path}/real/data", binds) == [(binds[0], f"{tmp_path}/link/data")]


def test_links_in_a_folder_lead_to_their_targets(tmp_path):
    for name in ("blobs", "rows/test"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "rows" / "test" / "a").symlink_to("../../blobs/a")
    (tmp_path / "rows" / "loop").symlink_to("../rows")
    names = {f"{tmp_path}/rows", f"{tmp_path}/blobs/a"}
    assert set(with_targets([tmp_path / "rows"])) == names


def test_the_caches_of_data_sets(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", f"{tmp_path}/gone")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    other = tmp_path / "of somebody else"
    other.mkdir(mode=0)
    monkeypatch.setenv("HF_DATASETS_CACHE", f"{other}/datasets")
    assert data_caches() == (str(tmp_path),)
    other.chmod(0o700)  # else an ordinary user's next run can't remove it
