"""Configuration files: a JSON object of benchmarks by name.

{"gsm8k-cot": {"test_path": "gsm8k/test.jsonl", "language": "en", "tasks": ["cot"],
               "process_fn": "process_gsm8k_test",
               "answer_extraction_fn": "extract_gsm_few_shot_cot_answer",
               "eval_fn": "eval_last_single_answer", "few_shot_prompt": "CoTGSMPrompt"}}
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from eval.benchmarks import registry
from eval.benchmarks.model import Benchmark, Language, Task
from eval.benchmarks.prompts import with_own_shots
from eval.input_error import InputError

FIELDS = (
    "test_path",
    "language",
    "tasks",
    "process_fn",
    "answer_extraction_fn",
    "eval_fn",
    "few_shot_prompt",
)


def read_configs(paths: Sequence[Path], few_shot_dir: Path | None = None) -> dict[str, Benchmark]:
    """The benchmarks of all files, in their order.

    Raises InputError for an unknown name, a missing or unknown field, or one benchmark in two
    files.
    """
    found: dict[str, Benchmark] = {}
    for path in paths:
        for name, entry in _read(path).items():
            if name in found:
                raise InputError(f"{path}: {name!r} is configured twice; rename one of them")
            found[name] = _benchmark(path, name, entry, few_shot_dir)
    return found


def choose(
    benchmarks: Mapping[str, Benchmark], names: Sequence[str], tasks: Sequence[Task]
) -> list[tuple[Benchmark, Task]]:
    """The (benchmark, task) pairs asked for; everything when nothing is named."""
    for name in names:
        if name not in benchmarks:
            near = difflib.get_close_matches(name, benchmarks, n=1)
            hint = f"; did you mean {near[0]!r}" if near else ""
            raise InputError(
                f"--benchmarks {name!r} is in no configuration{hint}; there are "
                f"{', '.join(benchmarks)}"
            )
    chosen = [
        (benchmark, task)
        for benchmark in benchmarks.values()
        if not names or benchmark.name in names
        for task in benchmark.tasks
        if not tasks or task in tasks
    ]
    folders: dict[str, Benchmark] = {}
    for benchmark, task in chosen:
        folder = folder_name(benchmark, task)
        if folder in folders:
            raise InputError(
                f"{folders[folder].name!r} and {benchmark.name!r} would both write into "
                f"{folder!r}; rename one of them"
            )
        folders[folder] = benchmark
    if not chosen:
        raise InputError(f"no benchmark has a task {' or '.join(tasks)}; leave --tasks out")
    return chosen


def folder_name(benchmark: Benchmark, task: Task) -> str:
    """Where its outputs stand: the benchmark's name, with the task when it has several."""
    return benchmark.name if len(benchmark.tasks) == 1 else f"{benchmark.name}-{task}"


def _read(path: Path) -> Mapping[str, Any]:
    try:
        pairs = json.loads(path.read_text("utf-8-sig"), object_pairs_hook=_no_duplicates)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"--config {path}: {error}") from None
    except InputError as error:
        raise InputError(f"--config {path}: {error}") from None
    if not isinstance(pairs, dict) or not pairs:
        raise InputError(f"--config {path}: not an object with an entry per benchmark")
    return pairs


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{twice!r} stands there twice; rename one of them")
    return found


def _benchmark(path: Path, name: str, entry: Any, few_shot_dir: Path | None) -> Benchmark:
    where = f"{path}: {name}"
    if not isinstance(entry, dict):
        raise InputError(f"{where} is not an object with {', '.join(FIELDS)}")
    if name in (".", "..") or "/" in name:
        raise InputError(f"{where}: the name becomes a folder and cannot hold a slash")
    if not name or name != name.strip() or not name.isprintable():
        raise InputError(
            f"{path}: the name {name!r} becomes a folder; write one that can be read, without "
            "white space at its ends"
        )
    unknown = sorted(set(entry) - set(FIELDS))
    if unknown:
        raise InputError(f"{where}: unknown field {unknown[0]!r}; known are {', '.join(FIELDS)}")
    try:
        prompt = registry.find_prompt(_text(entry, "few_shot_prompt"))
        return Benchmark(
            name=name,
            test_path=_text(entry, "test_path"),
            language=_language(entry),
            tasks=_tasks(entry),
            process=registry.find_process(_text(entry, "process_fn")),
            extract=registry.find_extract(_text(entry, "answer_extraction_fn")),
            evaluate=registry.find_evaluate(_text(entry, "eval_fn")),
            prompt=with_own_shots(prompt, few_shot_dir) if few_shot_dir else prompt,
        )
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _text(entry: Mapping[str, Any], field: str) -> str:
    value = entry.get(field)
    if not isinstance(value, str) or not value:
        raise InputError(f"no field {field!r}; it must be a text")
    return value


def _language(entry: Mapping[str, Any]) -> Language:
    value = entry.get("language", "en")
    if value not in get_args(Language):
        raise InputError(
            f"language is {value!r}; it must be one of {', '.join(get_args(Language))}"
        )
    found: Language = value
    return found


def _tasks(entry: Mapping[str, Any]) -> tuple[Task, ...]:
    value = entry.get("tasks")
    known = get_args(Task)
    if not isinstance(value, list) or not value or any(task not in known for task in value):
        raise InputError(f"tasks is {value!r}; it must be a list of {', '.join(known)}")
    if len(set(value)) != len(value):
        raise InputError(f"tasks is {value!r}; name each task once")
    return tuple(value)
