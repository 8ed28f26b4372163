"""A run on a Ray cluster of two nodes on this machine gives the records of a local run."""

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gradebox.eval.cli.run import run_grading
from gradebox.eval.common.errors import InputError
from gradebox.eval.results.records import RESULTS_NAME, read_records
from tests.eval.grading.drivers.small_work import CHECKER, ECHO, options_of, unmeasured

pytest.importorskip("ray", reason="ray is missing: pip install 'gradebox[ray]'")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray"), pytest.mark.timeout(300)]

SOLUTIONS = [
    {"id": "1/A", "code": ECHO},
    {"id": "1/A", "code": "print(1)"},
    {"id": "1/A", "completion": "I can't."},
    {"id": "2/B", "code": "print(int(input()) + 0.0)"},
    {"id": "2/B", "code": "print(-1)"},
    {"id": "2/B", "code": "int main( {", "language": "cpp"},
    {"id": "3/C", "code": ECHO},
    {"id": "9/Z", "code": ECHO},
    {"id": "1/A", "code": ECHO},
    {"id": "1/A", "code": "import sys; sys.exit(3)"},
]


class Cluster:
    """Two nodes with a core each, on loopback; the driver belongs to the first."""

    def __init__(self) -> None:
        import ray
        from ray.cluster_utils import Cluster as Nodes

        self.nodes = Nodes(
            initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
        )
        self.second = self.nodes.add_node(num_cpus=1)
        ray.init(address=self.nodes.address, log_to_driver=False)
        self.cores = ray.cluster_resources()["CPU"]

    def kill_second(self) -> None:
        self.nodes.remove_node(self.second, allow_graceful=False)

    def close(self) -> None:
        import ray

        ray.shutdown()
        self.nodes.shutdown()


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    made = Cluster()
    yield made
    made.close()


def write_set(folder: Path, solutions: list[dict[str, Any]]) -> None:
    tests = [{"input": f"{n}\n", "output": f"{n}\n"} for n in (1, 2, 3)]
    rows = [
        {"id": "1/A", "official_tests": tests, "time_limit": 5.0},
        {"id": "2/B", "official_tests": tests, "time_limit": 5.0, "generated_checker": CHECKER},
        {"id": "3/C", "official_tests": []},
    ]
    (folder / "problems.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "sols.jsonl").write_text("".join(json.dumps(row) + "\n" for row in solutions))


def graded(folder: Path, name: str, **more: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    result = run_grading(options_of(folder, name, **more))
    metrics = result.files[0].metrics
    assert metrics is not None
    return list(read_records(result.files[0].folder)), metrics


def test_records_and_metrics_equal_those_of_a_local_run(cluster, tmp_path):
    assert cluster.cores == 2
    write_set(tmp_path, SOLUTIONS)
    flags = {"stop_on_first_failure": True}
    far, far_metrics = graded(tmp_path, "ray", executor="ray", **flags)
    near, near_metrics = graded(tmp_path, "local", **flags)
    assert [r["status"] for r in near] == [
        *("passed", "failed", "failed", "passed", "failed"),
        *("failed", "no_tests", "invalid", "passed", "failed"),
    ]
    assert unmeasured(far) == unmeasured(near)
    counted = ("num_attempted", "num_correct", "pass_at_1", "stats", "verdicts", "statuses")
    assert {k: far_metrics[k] for k in counted} == {k: near_metrics[k] for k in counted}


def test_the_solutions_of_a_dead_node_are_graded_again(cluster, tmp_path):
    slow = [
        {"id": "1/A", "code": f"import time\ntime.sleep(0.3)\n{ECHO}  # {i}"} for i in range(12)
    ]
    write_set(tmp_path, slow)
    killed_after: list[int] = []

    def kill() -> None:
        records = tmp_path / "ray" / "sols" / RESULTS_NAME
        while not records.exists() or records.read_bytes().count(b"\n") < 2:
            time.sleep(0.02)
        cluster.kill_second()
        killed_after.append(records.read_bytes().count(b"\n"))

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    records, metrics = graded(tmp_path, "ray", executor="ray")
    killer.join(150)
    assert killed_after and killed_after[0] < len(slow)
    assert [r["status"] for r in records] == ["passed"] * len(slow)
    assert metrics["statuses"] == {"passed": len(slow)}


def test_a_missing_cluster_is_reported():
    from gradebox.eval.grading.ray_cluster import _connect

    with pytest.raises(InputError, match=r"--ray-address 127\.0\.0\.1:1: no Ray cluster there"):
        _connect("127.0.0.1:1")
