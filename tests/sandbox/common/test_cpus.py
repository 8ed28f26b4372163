"""Physical cores, from made-up topologies."""

from pathlib import Path

import pytest

from gradebox.sandbox.common.cpus import Core, allowed_cpus, physical_cores


def write_topology(folder: Path, siblings: dict[int, str], nodes: dict[int, int]) -> None:
    for cpu, text in siblings.items():
        topology = folder / f"cpu{cpu}" / "topology"
        topology.mkdir(parents=True)
        (topology / "thread_siblings_list").write_text(text + "\n")
    for cpu, node in nodes.items():
        (folder / f"cpu{cpu}" / f"node{node}").symlink_to("/nowhere")


@pytest.fixture
def two_sockets(tmp_path: Path) -> Path:
    """Four cores of two hyperthreads each, on two nodes."""
    siblings = {cpu: f"{cpu % 4},{cpu % 4 + 4}" for cpu in range(8)}
    write_topology(tmp_path, siblings, {cpu: cpu % 4 // 2 for cpu in range(8)})
    return tmp_path


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [
        (range(8), [Core(0, 0, 0), Core(1, 1, 0), Core(2, 2, 1), Core(3, 3, 1)]),
        ([0, 4], [Core(0, 0, 0)]),
        # A mask without a core's first hyperthread: still the same core for every process.
        ([4, 5, 3], [Core(3, 3, 1), Core(4, 0, 0), Core(5, 1, 0)]),
    ],
)
def test_one_cpu_of_each_core_is_used(two_sockets, allowed, expected):
    assert physical_cores(allowed, two_sockets) == expected


@pytest.mark.parametrize(
    ("text", "name"), [("0-1", 0), ("0", 0), ("", 1), ("garbage", 1), ("0-1,8-9", 0)]
)
def test_lists_of_siblings(tmp_path, text, name):
    write_topology(tmp_path, {1: text}, {})
    assert physical_cores([1], tmp_path) == [Core(1, name, 0)]


def test_without_a_topology_every_cpu_is_a_core(tmp_path):
    assert physical_cores([3, 5], tmp_path) == [Core(3, 3), Core(5, 5)]


def test_only_allowed_cpus_are_used():
    assert {core.cpu for core in physical_cores()} <= allowed_cpus()
