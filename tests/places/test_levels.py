"""The examples are graded right in containers of many kinds, each at the level it offers."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from gradebox.sandbox.container import COMPOSE as FILE
from tests.places.conftest import Container

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.docker, pytest.mark.slow]
COMPOSE = [
    "--cap-drop=ALL",
    *(
        f"--security-opt={option}"
        for option in yaml.safe_load(FILE.read_text())["services"]["box"]["security_opt"]
    ),
]
PLACES = {  # options of `docker run` → the level
    "default options": ([], "landlock"),
    "compose's options": (COMPOSE, "userns"),
    "compose's options, --user 1000": ([*COMPOSE, "--user=1000:1000"], "userns"),
    "compose's options, --user 0": ([*COMPOSE, "--user=0"], "landlock"),
    "--user 1000": (["--user=1000:1000"], "landlock"),
    "--user 0": (["--user=0"], "landlock"),
    "--privileged": (["--privileged"], "userns"),
    "--privileged --user 0": (["--privileged", "--user=0"], "full"),
    "--read-only --tmpfs /tmp": (["--read-only", "--tmpfs=/tmp"], "landlock"),
}
# An ordinary user without an account, a home folder, a compiler and /dev/shm, with few files.
BARE = """
python -m venv --system-site-packages /tmp/own && cd /tmp
HOME=/tmp own/bin/pip install -q --no-deps --no-index --force-reinstall /wheel/*.whl && unset HOME
! command -v gcc cc g++ && ! test -e /dev/shm && ulimit -n 96 && own/bin/gradebox "$@"
"""
GRADE = [
    *("grade", "--dataset", "/work/examples/problems.jsonl", "--max-generated-tests", "-1"),
    *("--generated-tests-dir", "/work/examples/generated_tests", "--results-dir", "/results"),
    *("--skip-large-inputs-over", "3000000", "--solutions-path"),
]
EXAMPLES = [json.loads(line) for line in (ROOT / "examples/solutions.jsonl").open()]


def levels(done: subprocess.CompletedProcess[str], folder: Path, rows: list[Any]) -> set[str]:
    """Return the levels in a run's records; fail unless each solution ended as it should."""
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = folder.glob("*/piston_eval_results.jsonl")
    records = [json.loads(line) for line in path.open()]
    assert sorted(record["line"] for record in records) == [*range(1, len(rows) + 1)]
    for record in records:
        row = rows[record["line"] - 1]
        found = {name: record.get(name) for name in ("status", "verdict")}
        expected = {name: row["expect"][name] for name in found}
        assert found == expected, (row["solution_id"], record.get("error"), record["details"][-1:])
    return {record["sandbox"]["level"] for record in records if record.get("sandbox")}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder for results that any user may write to."""
    tmp_path.chmod(0o777)
    return tmp_path


@pytest.mark.parametrize("place", PLACES)
def test_the_examples_are_graded_right(place, container, table, results):
    options, level = PLACES[place]
    words = [*GRADE, "/work/examples/solutions.jsonl"]
    used = levels(container([*options, f"-v={results}:/results"], words), results, EXAMPLES)
    table(f"{place:<32} {', '.join(sorted(used))}")
    assert used == {level}


def bare(container: Container, results: Path, script: str) -> subprocess.CompletedProcess[str]:
    rows = [row for row in EXAMPLES if row.get("language") == "python"]
    (results / "python.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = ["--user=4321:4321", "--ipc=none", f"-v={results}:/results", "--entrypoint=sh"]
    words = ["-c", script, "sh", *GRADE, "/results/python.jsonl", "--workers", "1"]
    return container(options, words, "gradebox")


def test_a_wheel_of_an_ordinary_user_grades_with_next_to_nothing(container, table, results):
    done = bare(container, results, BARE)
    rows = [json.loads(line) for line in (results / "python.jsonl").open()]
    used = levels(done, results, rows)
    table(f"{'a wheel, with next to nothing':<32} {', '.join(sorted(used))}")
    assert used == {"landlock"}


def test_what_is_missing_is_said_in_one_line(container, results):
    done = bare(container, results, BARE.replace("ulimit -n 96", "ulimit -n 64"))
    assert done.returncode == 2
    said = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert said == [
        "error: this process may have 64 open files, and 1 program needs 96: ulimit -n 96"
    ]
    assert "Traceback" not in done.stderr


def test_a_read_only_container_without_tmpfs_says_what_is_missing(container, results):
    options = ["--read-only", "--ipc=none", f"-v={results}:/results"]
    done = container(options, [*GRADE, "/work/examples/solutions.jsonl"])
    assert done.returncode == 2
    assert done.stderr.endswith("in a read-only container, give one with --tmpfs /tmp\n")
    assert "Traceback" not in done.stderr


def test_results_belong_to_the_calling_user_and_have_its_paths(container, results):
    for name in ("problems.jsonl", "solutions.jsonl"):
        (results / name).write_text((ROOT / "examples" / name).read_text())
    words = ["grade", "--dataset", "problems.jsonl", "--solutions-path", "solutions.jsonl"]
    done = container(["--user=4321:4321", f"-v={results}:/work"], [*words, "--limit", "4"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "records      results/solutions\n" in done.stdout
    assert (results / "results" / "solutions").stat().st_uid == 4321


def test_the_image_without_compilers_is_small(container):
    words = ["docker", "image", "inspect", "gradebox", "--format={{.Size}}"]
    size = int(subprocess.check_output(words, text=True))
    assert size < 700e6
