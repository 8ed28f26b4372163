"""The steps that build a box's file system: visible and hidden paths."""

from __future__ import annotations

from pathlib import Path

from gradebox.sandbox.box.isolation import layout
from gradebox.sandbox.box.isolation.layout import NEW, OLD


def tree(tmp_path: Path) -> Path:
    for name in ("tool/bin", "tool/lib/tests", "tool/lib/other"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "tool" / "file").write_text("x")
    (tmp_path / "tool" / "link").symlink_to("file")
    return tmp_path / "tool"


def test_only_listed_paths_of_the_host_are_shown(tmp_path: Path) -> None:
    tool = tree(tmp_path)
    steps = layout.steps([str(tool / "bin")])
    binds = [(path, source) for op, path, source, _ in steps if op == "B"]
    shown = {source.removeprefix(OLD) for _, source in binds}
    assert shown <= {str(tool / "bin"), *(f"/dev/{d}" for d in layout.DEVICES)}
    assert str(tool / "bin") in shown


def test_binds_are_read_only_and_devices_only_where_named(tmp_path: Path) -> None:
    for op, path, _, flags in layout.steps([str(tree(tmp_path))]):
        if op == "B":
            assert ("d" in flags) == path.startswith(f"{NEW}/dev/")
            assert ("r" in flags) != path.startswith(f"{NEW}/dev/")


def test_the_old_root_is_detached_before_anything_runs(tmp_path: Path) -> None:
    steps = layout.steps([str(tree(tmp_path))])
    assert steps[-2:] == [("R", NEW, "", ""), ("S", "/", "", "")]
    assert all(not path.startswith(OLD) for _, path, _, _ in steps)


def test_covered_folders_are_hidden_inside_a_bind(tmp_path: Path) -> None:
    tool = tree(tmp_path)
    hidden = str(tool / "lib" / "tests")
    steps = layout.steps([str(tool)], covered=[hidden, "/nowhere"])
    bind = steps.index(("B", NEW + str(tool), OLD + str(tool), "r"))
    cover = next(i for i, step in enumerate(steps) if step[:2] == ("T", NEW + hidden))
    assert cover > bind
    assert not any("/nowhere" in path for _, path, _, _ in steps)


def test_links_stay_links_and_missing_paths_are_omitted(tmp_path: Path) -> None:
    tool = tree(tmp_path)
    steps = layout.steps([str(tool / "link"), str(tool / "gone"), str(tool / "file")])
    assert ("L", f"{NEW}{tool}/link", "file", "") in steps
    assert not any("gone" in path for _, path, _, _ in steps)
    assert ("F", f"{NEW}{tool}/file", "", "") in steps


def test_a_folder_is_made_before_its_contents(tmp_path: Path) -> None:
    made = {"/tmp", NEW}
    for op, path, _, _ in layout.steps([str(tree(tmp_path))]):
        if op in "DFLTB" and path.startswith(NEW + "/"):
            assert str(Path(path).parent) in made, path
        if op in "DT":
            made.add(path)


def test_without_a_group_no_device_has_uncounted_memory() -> None:
    assert "zero" not in layout.COUNTED_BY_PROCESS
    steps = layout.steps([], devices=layout.COUNTED_BY_PROCESS)
    assert not any(path == f"{NEW}/dev/zero" for _, path, _, _ in steps)


def test_landlock_allows_writing_only_to_the_working_folder(tmp_path: Path) -> None:
    tool, work, program = tree(tmp_path), "/w", "/p"
    steps = layout.confined([str(tool)], work, program, landlock=3, folders=False)
    rights = {path: right for op, path, right, _ in steps if op == "A"}
    writable = {path for path, right in rights.items() if set(right) & set("aw")}
    assert writable == {work, *(f"/dev/{d}" for d in layout.DEVICES)}
    assert rights[work] == "an"
    assert rights[str(tool)] == rights[program] == "x"
    assert [op for op, *_ in steps].index("A") == steps.index(("G", "", "3", "")) + 1
    assert steps[-1] == ("C", work, "6", "")


def test_level_none_has_no_landlock_rules(tmp_path: Path) -> None:
    steps = layout.confined([str(tree(tmp_path))], "/w", "/p", landlock=0)
    assert [op for op, *_ in steps] == ["K", "K", "C"]


def test_for_root_sources_are_the_launchers_staged_mounts(tmp_path: Path) -> None:
    steps = layout.steps([str(tree(tmp_path))])
    moved, sources = layout.staged(steps)
    assert len(moved) == len(steps)
    for (op, path, source, _), (_, same, place, _) in zip(steps, moved, strict=True):
        assert path == same
        if op == "B":
            assert sources[int(place.rpartition("/")[2])] == source.removeprefix(OLD)
