"""The command line: defaults, errors in one line, dry runs."""

import json
import os
import sys
from pathlib import Path

import pytest

from gradebox.eval.cli.grade import changed_flags, main, make_parser, options_from
from gradebox.eval.grading.options import Options
from testing.commands import ROOT, run_command
from testing.rows import rows

COMMAND = ROOT / "eval" / "eval_with_piston_gentest_checker_stats.py"


def parse(argv: list[str]) -> Options:
    return options_from(make_parser().parse_args(argv))


@pytest.mark.parametrize(
    ("ranks", "drivers"), [("", 16), ("1", 16), ("8", 2), ("64", 1), ("0", 16), ("many", 16)]
)
def test_the_processes_of_a_trainer_share_the_drivers(ranks, drivers, monkeypatch):
    monkeypatch.setenv("LOCAL_WORLD_SIZE", ranks)
    assert Options(solutions_path="s.jsonl", workers=128).drivers == drivers


def test_every_flag_is_read():
    argv = (
        "--solutions-path a b* --dataset d --dataset-split train --dataset-subsets x,y "
        "--dataset-format mbpp --judge reference --from 2024-01-01 --to 2024-12-31 "
        "--difficulty easy,hard --platform atcoder "
        "--problems 1/A,2/B --limit 5 --sandbox piston --endpoint http://a,http://b "
        "--endpoint-concurrency 3 --piston-package codeforces --allow-unsafe-sandbox "
        "--python-start exec --python p "
        "--generated-tests-dir g --max-generated-tests -1 --generated-tests-sample 0.5 "
        "--sort-generated-tests large_first --skip-large-inputs-over 10 "
        "--max-generated-bytes-per-problem 20 --generated-tests-workers 2 "
        "--stop-on-first-failure --results-dir r --workers 99 --drivers 98 "
        "--compare upstream --checker wcmp "
        "--testlib t.h --executor ray --ray-address h:1 --time-limit-scale py=2 "
        "--time-limit-scale cpp=1.5 --repeat 2 --seed 7 "
        "--fresh --dry-run --k 1,5 --max-stored-output 99 --log-file l --cache c "
        "--self-check --self-check-solutions s --no-check-dataset --also-write evalplus=e"
    )
    options = parse(argv.split())
    values = options.as_json()
    assert values["--endpoint"] == ["http://a", "http://b"]
    assert values["--time-limit-scale"] == {"python": 2.0, "c++17": 1.5}
    assert values["--k"] == [1, 5]
    assert (options.from_, options.to) == ("2024-01-01", "2024-12-31")
    assert (options.difficulty, options.platform) == (("easy", "hard"), ("atcoder",))
    assert options.generated_tests_dir == Path("g")
    unchanged = [
        name
        for name, value in parse(["--solutions-path", "a b*"]).as_json().items()
        if values[name] == value
    ]
    assert unchanged == []
    assert set(values) == {
        action.option_strings[0]
        for action in make_parser()._actions
        if action.option_strings[0] != "-h"
    }


@pytest.mark.parametrize(
    ("flags", "message"),
    rows(__file__, "wrong_values"),
)
def test_wrong_values_are_reported_in_one_line(flags, message, capsys):
    assert main(["--solutions-path", "a.jsonl", *flags.split()]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1


def test_a_mistyped_flag_is_named_when_argparse_reports_a_missing_one(capsys):
    assert main(["--solution-path", "--dataset-splits.jsonl"]) == 2
    assert capsys.readouterr().err == (
        "error: the following arguments are required: --solutions-path; --solution-path: "
        "did you mean --solutions-path; --dataset-splits.jsonl: did you mean --dataset-split; "
        "see --help\n"
    )


def test_only_changed_flags_are_printed():
    assert changed_flags(parse(["--solutions-path", "a.jsonl"])) == "--solutions-path a.jsonl"
    argv = ["--solutions-path", *(f"{i}.jsonl" for i in range(30)), "--k", "1,5", "--fresh"]
    argv += ["--time-limit-scale", "python=2", "--time-limit-scale", "cpp=1.5"]
    text = changed_flags(parse(argv))
    assert max(map(len, text.splitlines())) <= 80
    assert "--k 1,5" in text
    assert "--fresh" in text
    assert "--time-limit-scale python=2  --time-limit-scale c++17=1.5" in text
    assert "--limit" not in text


def write(folder: Path, problems: list[dict], solutions: list[str]) -> list[str]:
    (folder / "p.jsonl").write_text("".join(json.dumps(p) + "\n" for p in problems))
    (folder / "s.jsonl").write_text("".join(line + "\n" for line in solutions))
    return [
        "--solutions-path", str(folder / "s.jsonl"), "--dataset", str(folder / "p.jsonl"),
        "--results-dir", str(folder / "results"),
    ]  # fmt: skip


PROBLEM = {"id": "1/A", "official_tests": [{"input": "12\n", "output": "1\n"}] * 3}


def test_a_dry_run_counts_and_writes_nothing(tmp_path, capsys):
    lines = ['{"id": "1/A", "code": "x"}', '{"id": "1/A", "text": ""}', '{"id": "7/Z", "code": ""}']
    argv = write(tmp_path, [PROBLEM], lines)
    assert main([*argv, "--dry-run", "--skip-large-inputs-over", "2"]) == 0
    out = capsys.readouterr().out
    assert "solutions   3 in 1 files, of 1 problems" in out
    assert "cases       0 to run" in out
    assert "skipped_large_input     3" in out
    assert "no code     1 solutions" in out
    assert "invalid     1 solutions" in out
    assert not (tmp_path / "results").exists()


def test_a_dry_run_reports_unused_flags_and_shared_folders(tmp_path, capsys):
    argv = write(tmp_path, [PROBLEM], ['{"id": "1/A", "code": "x"}'])
    idle = ["--dry-run", "--sandbox", "local", "--piston-package", "codeforces"]
    assert main([*argv, *idle]) == 0
    note = "note: --piston-package codeforces has no effect: programs run in the embedded sandbox"
    assert note in " ".join(capsys.readouterr().out.split())
    (tmp_path / "x").mkdir()
    twin = tmp_path / "x" / "s.jsonl"
    twin.write_text('{"id": "1/A", "code": "x"}\n')
    assert main([*argv, "--dry-run", "--solutions-path", str(tmp_path / "s.jsonl"), str(twin)]) == 2
    assert "would share the results folder 's'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda f: (f / "s.jsonl").unlink(), "s.jsonl does not exist"),
        (lambda f: (f / "s.jsonl").write_text(""), "s.jsonl is empty"),
        (lambda f: (f / "p.jsonl").unlink(), "p.jsonl"),
        (lambda f: (f / "results").write_text(""), "can't write results there"),
    ],
)
def test_bad_input_is_reported_in_one_line(tmp_path, capsys, prepare, message):
    argv = write(tmp_path, [PROBLEM], ['{"id": "1/A", "code": "x"}'])
    prepare(tmp_path)
    assert main([*argv, "--sandbox", "local"]) == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert errors.count("\n") == 1


def test_the_script_works_from_anywhere_and_needs_no_heavy_import(tmp_path):
    """--help must be fast, so it imports no large library."""
    code = (
        "import runpy, sys, atexit\n"
        "heavy = {'pandas', 'numpy', 'pyarrow', 'datasets', 'requests', 'tqdm'}\n"
        "atexit.register(lambda: print('HEAVY', sorted(heavy & set(sys.modules))))\n"
        f"sys.argv = [{str(COMMAND)!r}, '--help']\n"
        f"sys.path.insert(0, {str(COMMAND.parent)!r})\n"
        f"runpy.run_path({str(COMMAND)!r}, run_name='__main__')\n"
    )
    done = run_command(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": ""},
        timeout=150,
    )
    assert done.returncode == 0, done.stderr
    assert "--time-limit-scale" in done.stdout
    assert "HEAVY []" in done.stdout


def test_arguments_after_a_double_dash_are_not_flags(capsys):
    assert main(["--", "--solution-path"]) == 2
    assert "did you mean" not in capsys.readouterr().err
