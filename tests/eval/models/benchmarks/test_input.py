"""Configurations, test files and flags of benchmark runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from gradebox.eval.cli.commands.run_benchmarks import main
from gradebox.eval.models.benchmarks.registry import find_config, read_configs
from tests.eval.models.benchmarks.answering import CONFIG_FILES, model, right
from tests.eval.models.benchmarks.run_inputs import (
    GSM,
    answer_sum,
    make_run,
)
from tests.eval.models.fake_server import FakeServer

BAD_CONFIGS: dict[str, tuple[Any, str]] = {
    "unknown function": (
        {"a": GSM | {"process_fn": "process_gsm8k"}},
        "a: unknown process_fn 'process_gsm8k'; did you mean 'process_gsm8k_test'",
    ),
    "code for a name": (
        {"a": GSM | {"eval_fn": "__import__('os').system('true')"}},
        "unknown eval_fn",
    ),
    "missing field": (
        {"a": {k: v for k, v in GSM.items() if k != "test_path"}},
        "a: Object missing required field `test_path`",
    ),
    "unknown field": ({"a": GSM | {"few_shots": 5}}, "unknown field `few_shots`; its fields are"),
    "unknown task": ({"a": GSM | {"tasks": ["tool"]}}, "Invalid enum value 'tool'"),
    "unknown language": ({"a": GSM | {"language": "fr"}}, "Invalid enum value 'fr'"),
    "a name that is a path": ({"../../a": GSM}, "no slash"),
    "a name that is no name": ({"": GSM}, "the name '' becomes a folder"),
    "a name that clears a terminal": ({"\x1b[2J": GSM}, r"the name '\x1b[2J' becomes a folder"),
    "half a surrogate": ({"a\ud800": GSM}, r"the name 'a\ud800' becomes a folder"),
    "one folder for two": (
        {"a": GSM | {"tasks": ["cot", "sft"]}, "a-cot": GSM},
        "'a' and 'a-cot' would both write into 'a-cot'; rename one of them",
    ),
    "a number of 5,000 digits": ("9" * 5000, "integer string conversion"),
    "no file": ({"a": GSM | {"test_path": "nowhere.jsonl"}}, "no file nowhere.jsonl; looked for"),
    "no files": (
        {
            "a": GSM | {"test_path": "nowhere.jsonl"},
            "b": GSM | {"test_path": "neither.jsonl"},
        },
        "2 files are missing: nowhere.jsonl, neither.jsonl",
    ),
    "not an object": ([1], "not an object with an entry per benchmark"),
    "empty": ({}, "not an object with an entry per benchmark"),
}


@pytest.mark.parametrize("case", BAD_CONFIGS)
def test_bad_configurations(case, tmp_path, capsys):
    whole, words = BAD_CONFIGS[case]
    flags = make_run(tmp_path)
    text = whole if isinstance(whole, str) else json.dumps(whole)
    (tmp_path / "config.json").write_text(text)
    with FakeServer(answer_sum) as server:
        assert main([*flags, "--model", server.url]) == 2
        assert server.calls == []
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--benchmarks", "gsn"], "did you mean 'gsm'"),
        (["--tasks", "pal"], "no benchmark has a task pal"),
        (["--register", "no_such_module_here"], "--register no_such_module_here"),
        (["--few-shot-dir", "/nowhere"], "no such folder"),
        (["--model", "/nowhere"], "is not an address"),
        (["--model", "http://[::1"], "Invalid IPv6 URL; write it as http://host:port/path"),
    ],
)
def test_bad_flags(more, words, tmp_path, capsys):
    flags = make_run(tmp_path)
    with FakeServer(answer_sum) as server:
        assert main([*flags, "--model", server.url, *more]) == 2
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1


@pytest.mark.parametrize("suite", ["octothinker", "megascience"])
def test_suites(suite, tmp_path, capsys):
    config = next(path for path in CONFIG_FILES if path.stem == suite)
    with FakeServer(model(config, right)) as server:
        arguments = [suite, "--model", server.url, "--output-dir", str(tmp_path), "--dry-run"]
        assert main(arguments) == 0
    names = list(read_configs([config]))
    assert capsys.readouterr().out.splitlines() == [f"org/fake-7b {name}" for name in names]


def test_included_configurations_are_found_by_name(tmp_path):
    included = next(path for path in CONFIG_FILES if path.stem == "math-pal")
    for name in ("math-pal", "math-pal.json", "configs/math-pal.json"):
        assert find_config(Path(name)).samefile(included)
    users = tmp_path / "math-pal.json"
    users.write_text("{}")
    assert find_config(users) == users
    assert find_config(tmp_path / "octothinker.json") == tmp_path / "octothinker.json"


def test_a_name_that_one_configuration_has_twice_is_an_error(tmp_path, capsys):
    """JSON keeps the last of two entries with one name; the first would never be run."""
    config = tmp_path / "config.json"
    config.write_text('{"gsm8k": {}, "gsm8k": {}}')
    assert main(["--config", str(config), "--model", "http://h"]) == 2
    assert "'gsm8k' is there twice; rename one of them" in capsys.readouterr().err
