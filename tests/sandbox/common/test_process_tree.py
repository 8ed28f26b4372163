"""The threads of a process and of its descendants, from a made-up /proc."""

import pytest

from gradebox.sandbox.common import cpus

# pid: its parent, its threads
TREE = {7: (1, [7, 9]), 8: (7, [8]), 10: (8, [10, 11]), 12: (1, [12])}


def test_threads_of_all_descendants(tmp_path, monkeypatch):
    for pid, (_, threads) in TREE.items():
        for thread in threads:
            task = tmp_path / str(pid) / "task" / str(thread)
            task.mkdir(parents=True)
            children = [child for child, (above, _) in TREE.items() if above == pid]
            text = " ".join(map(str, children if thread == pid else []))
            (task / "children").write_text(text)
    (tmp_path / "version").touch()
    monkeypatch.setattr(cpus, "PROC", tmp_path)
    assert sorted(cpus.threads(7)) == [7, 8, 9, 10, 11]
    assert list(cpus.threads(99)) == []


def test_a_program_cannot_make_the_tree_too_deep(monkeypatch):
    monkeypatch.setattr(cpus, "children", lambda pid: [pid + 1] if pid < 10**7 + 5000 else [])
    assert list(cpus.threads(10**7)) == []


@pytest.mark.parametrize(
    ("text", "part"),
    [("MemTotal: 200 kB\nMemAvailable: 50 kB\n", 0.25), ("MemTotal: 200 kB\n", 1.0), ("", 1.0)],
)
def test_free_memory(text, part, tmp_path, monkeypatch):
    (tmp_path / "meminfo").write_text(text)
    monkeypatch.setattr(cpus, "MEMORY", tmp_path / "meminfo")
    assert cpus.free_memory() == part
