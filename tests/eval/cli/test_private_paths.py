"""By the command: data below a folder that programs are shown is not theirs to read."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gradebox.eval.cli.grade import main
from gradebox.sandbox.box import embedded
from tests.sandbox.levels import box_at

pytestmark = pytest.mark.slow  # real programs


@pytest.fixture
def arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A run over data in a toolchain's folder. Its solution looks for the data."""
    tool = tmp_path / "tool"
    (tool / "data").mkdir(parents=True)
    problems, solutions = tool / "data" / "problems.jsonl", tmp_path / "solutions.jsonl"
    tests = [{"input": "1", "output": "AC"}]
    problems.write_text(json.dumps({"id": "1/A", "official_tests": tests}) + "\n")
    cheat = f"import os\nprint('AC' if os.path.getsize({str(problems)!r}) else 'hidden')"
    solutions.write_text(json.dumps({"id": "1/A", "code": cheat, "language": "python"}) + "\n")
    host = embedded.inspect_host()
    shown = replace(host, binds=(*host.binds, str(tool)))
    monkeypatch.setattr(embedded, "inspect_host", lambda: shown)
    results = str(tmp_path / "results")
    paths = ["--solutions-path", str(solutions), "--dataset", str(problems)]
    # One driver: another process would not have the host that is shown here.
    return [*paths, "--results-dir", results, "--sandbox", "local", "--drivers", "1"]


def test_landlock_refuses_to_start(arguments, tmp_path, monkeypatch, capsys):
    box_at("landlock").close()
    monkeypatch.setenv("SANDBOX_LEVEL", "landlock")
    assert main(arguments) == 2
    errors = [
        line for line in capsys.readouterr().err.splitlines() if "programs could read" in line
    ]
    assert len(errors) == 1
    assert str(tmp_path / "tool" / "data" / "problems.jsonl") in errors[0]
    assert "move it to another folder" in errors[0]


@pytest.mark.parametrize("level", ["full", "delegated", "userns"])
def test_the_other_levels_hide_it(level, arguments, tmp_path, monkeypatch):
    box_at(level).close()
    monkeypatch.setenv("SANDBOX_LEVEL", level)
    assert main(arguments) == 0
    lines = (tmp_path / "results" / "solutions" / "piston_eval_results.jsonl").read_text()
    (case,) = json.loads(lines)["details"]
    assert (case["verdict"], case["output"]) == ("WA", "hidden\n")
