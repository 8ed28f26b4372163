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
from gradebox.eval.grading.options import Options
from gradebox.eval.results.records import RESULTS_NAME, read_records

pytest.importorskip("ray", reason="ray is missing: pip install 'gradebox[ray]'")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray"), pytest.mark.timeout(300)]

MEASURED = {"cpu_s", "wall_s", "memory_bytes", "contended"}
ECHO = "print(input())"
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
CHECKER = """\
import sys
expected, got = (open(name).read().strip() for name in sys.argv[2:4])
print(int(float(got) == float(expected)))
"""


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
    options = Options(
        solutions_path=folder / "sols.jsonl",
        dataset=str(folder / "problems.jsonl"),
        results_dir=folder / name,
        sandbox="local",
        **more,
    )
    result = run_grading(options)
    metrics = result.files[0].metrics
    assert metrics is not None
    return list(read_records(result.files[0].folder)), metrics


def unmeasured(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: unmeasured(v) for k, v in value.items() if k not in MEASURED}
    return [unmeasured(v) for v in value] if isinstance(value, list) else value


def test_records_and_metrics_equal_those_of_a_local_run(cluster: Cluster, tmp_path: Path):
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


def test_the_solutions_of_a_dead_node_are_graded_again(cluster: Cluster, tmp_path: Path):
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


def test_a_node_with_another_sandbox_or_dataset_is_reported(cluster: Cluster, tmp_path: Path):
    from dataclasses import replace

    import ray

    from gradebox.eval.grading.ray_cluster import grade_one
    from gradebox.eval.grading.resources import TestSetInfo
    from gradebox.eval.grading.solution_run import SolutionRun
    from gradebox.eval.problems.problem import Problem
    from gradebox.eval.solutions.solution import Solution

    write_set(tmp_path, SOLUTIONS)
    options = Options(solutions_path=(), dataset=str(tmp_path / "problems.jsonl"), sandbox="local")
    test_set = TestSetInfo(0, "another digest", "", 3, 6, 3, 0, 0)
    solution = Solution("1/A", "1", 0, 1, "python", ECHO)
    run = SolutionRun(
        solution, Problem("1/A"), test_set, "python", 1.0, "", {"level": "none at all"}
    )
    task = ray.remote(grade_one)
    done = ray.get(task.remote(run, options.for_worker("box"), "."))
    assert "give all nodes the same image" in done
    other = ray.get(
        task.remote(replace(run, sandbox=_sandbox_of(options)), options.for_worker("box"), ".")
    )
    assert "tests or checker of 1/A are not the command's" in other


def _sandbox_of(options: Options) -> dict[str, Any]:
    from gradebox.eval.grading.solution_run import RunContext
    from gradebox.sandbox.opening import open_sandbox

    with open_sandbox("local") as sandbox:
        return RunContext(sandbox.describe()).sandbox_fields("python")


def test_rewards_work_inside_ray_workers(cluster: Cluster):
    import ray

    def rewards() -> Any:  # as a trainer's reward worker does
        import gradebox

        reward = gradebox.rewards.make_codeforces("pass_fail", sandbox="local")
        tests = [{"input": "7\n", "output": "7\n"}]
        answers = ["```python\nprint(input())\n```", "```python\nprint(1)\n```", "no"]
        return [reward(answers, official_tests=[tests] * 3) for _ in range(2)]

    task = ray.remote(rewards)
    assert ray.get([task.remote() for _ in range(2)]) == [[[1.0, 0.0, -1.0]] * 2] * 2


def test_a_missing_cluster_is_reported():
    from gradebox.eval.grading.ray_cluster import _connect

    with pytest.raises(InputError, match=r"--ray-address 127\.0\.0\.1:1: no Ray cluster there"):
        _connect("127.0.0.1:1")
