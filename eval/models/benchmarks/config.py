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

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.paths import DATA
from gradebox.eval.models.benchmarks import registry
from gradebox.eval.models.benchmarks.prompts import with_user_examples
from gradebox.eval.models.benchmarks.sample import Benchmark, Language, Task
from gradebox.sandbox.input_file import check_input_file

CONFIGS = DATA / "configs"
FIELDS = (
    "test_path",
    "language",
    "tasks",
    "process_fn",
    "answer_extraction_fn",
    "eval_fn",
    "few_shot_prompt",
)


def find_config(name: Path) -> Path:
    """Return the configuration file of a path, or of the name of one that gradebox includes."""
    included = CONFIGS / f"{name.stem}.json"
    is_included = name.parent in (Path(), Path("configs")) and name.suffix in ("", ".json")
    return included if not name.exists() and is_included and included.is_file() else name


def read_configs(paths: Sequence[Path], few_shot_dir: Path | None = None) -> dict[str, Benchmark]:
    """Return the benchmarks of all files in their order.

    Raises InputError for an unknown name, a missing or unknown field, or a benchmark that is
    configured twice.
    """
    found: dict[str, Benchmark] = {}
    for path in paths:
        for name, entry in _read(path).items():
            if name in found:
                raise InputError(f"{path}: {name!r} is configured twice; rename one of them")
            found[name] = _parse_benchmark(path, name, entry, few_shot_dir)
    return found


def select_benchmarks(
    benchmarks: Mapping[str, Benchmark], names: Sequence[str], tasks: Sequence[Task]
) -> list[tuple[Benchmark, Task]]:
    """Return the (benchmark, task) pairs of these names and tasks; no names or tasks: all.

    Raises InputError for an unknown name, an empty selection, or two pairs with one folder.
    """
    for name in names:
        if name not in benchmarks:
            near = difflib.get_close_matches(name, benchmarks, n=1)
            hint = f"; did you mean {near[0]!r}" if near else ""
            raise InputError(
                f"--benchmarks {name!r} is not in the configuration{hint}; it has "
                f"{', '.join(benchmarks)}"
            )
    selected = [
        (benchmark, task)
        for benchmark in benchmarks.values()
        if not names or benchmark.name in names
        for task in benchmark.tasks
        if not tasks or task in tasks
    ]
    by_folder: dict[str, Benchmark] = {}
    for benchmark, task in selected:
        folder = folder_name(benchmark, task)
        if folder in by_folder:
            raise InputError(
                f"{by_folder[folder].name!r} and {benchmark.name!r} would both write into "
                f"{folder!r}; rename one of them"
            )
        by_folder[folder] = benchmark
    if not selected:
        raise InputError(f"no benchmark has a task {' or '.join(tasks)}; leave --tasks out")
    return selected


def folder_name(benchmark: Benchmark, task: Task) -> str:
    """Return the name of a benchmark's output folder: its own, with the task if it has several.

    A name that ends with the task stays: `gsm8k-cot`, not `gsm8k-cot-cot`.
    """
    has_task = len(benchmark.tasks) == 1 or benchmark.name.endswith(f"-{task}")
    return benchmark.name if has_task else f"{benchmark.name}-{task}"


def _read(path: Path) -> Mapping[str, Any]:
    try:
        check_input_file(path, once=True)
        entries = json.loads(path.read_text("utf-8-sig"), object_pairs_hook=_without_duplicates)
    except FileNotFoundError:
        included = ", ".join(sorted(p.stem for p in CONFIGS.glob("*.json")))
        raise InputError(
            f"--config {path}: no such file; give a path, or one of the included configurations: "
            f"{included}"
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"--config {path}: {error}") from None
    if not isinstance(entries, dict) or not entries:
        raise InputError(f"--config {path}: not an object with an entry per benchmark")
    return entries


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; raise ValueError for a repeated name, of which JSON keeps the last."""
    entries = dict(pairs)
    if len(entries) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} is there twice; rename one of them")
    return entries


def _parse_benchmark(path: Path, name: str, entry: Any, few_shot_dir: Path | None) -> Benchmark:
    where = f"{path}: {name}"
    if not isinstance(entry, dict):
        raise InputError(f"{where} is not an object with {', '.join(FIELDS)}")
    if name in (".", "..") or "/" in name:
        raise InputError(f"{where}: the name becomes a folder and cannot contain a slash")
    if not name or name != name.strip() or not name.isprintable():
        raise InputError(
            f"{path}: the name {name!r} becomes a folder; use printable characters, and no "
            "white space at the ends"
        )
    unknown = sorted(set(entry) - set(FIELDS))
    if unknown:
        raise InputError(f"{where}: unknown field {unknown[0]!r}; known are {', '.join(FIELDS)}")
    try:
        prompt = registry.find("few_shot_prompt", _text(entry, "few_shot_prompt"))
        return Benchmark(
            name=name,
            test_path=_text(entry, "test_path"),
            language=_parse_language(entry),
            tasks=_parse_tasks(entry),
            process=registry.find("process_fn", _text(entry, "process_fn")),
            extract=registry.find("answer_extraction_fn", _text(entry, "answer_extraction_fn")),
            evaluate=registry.find("eval_fn", _text(entry, "eval_fn")),
            prompt=with_user_examples(prompt, few_shot_dir) if few_shot_dir else prompt,
        )
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _text(entry: Mapping[str, Any], field: str) -> str:
    value = entry.get(field)
    if not isinstance(value, str) or not value:
        raise InputError(f"no field {field!r}; it must be a text")
    return value


def _parse_language(entry: Mapping[str, Any]) -> Language:
    value = entry.get("language", "en")
    known = get_args(Language)
    if value not in known:
        raise InputError(f"language is {value!r}; it must be one of {', '.join(known)}")
    language: Language = value
    return language


def _parse_tasks(entry: Mapping[str, Any]) -> tuple[Task, ...]:
    value = entry.get("tasks")
    known = get_args(Task)
    if not isinstance(value, list) or not value or any(task not in known for task in value):
        raise InputError(f"tasks is {value!r}; it must be a list of {', '.join(known)}")
    if len(set(value)) != len(value):
        raise InputError(f"tasks is {value!r}; name each task once")
    return tuple(value)
