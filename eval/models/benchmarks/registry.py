"""The tables of functions and prompts that configurations name.

To find how an answer is read out of a response of a benchmark, look up the benchmark's
`answer_extraction_fn` in the table of `extraction`. A user's function is added with
`register(kind, name, function)` from a module named by `--register module`.

Prompts come from eval/models/data/prompts.json:

    "frames"     the text around a question, and the texts that end its answer
    "few_shot"   name → frame, file of worked examples, number of them that is taken (0: all)
    "letters"    name → the letters that a tuned model may choose from
    "zero_shot"  name → frame, text before it, texts that end the answer

The worked examples (eval/models/data/few_shot/) were written for this project. Figures made with
them can't be compared with a paper's, whose examples differ. `--few-shot-dir` takes the user's:
a file `<Name>.txt` there replaces the examples of the prompt of that name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from gradebox.eval.common.errors import InputError, did_you_mean
from gradebox.eval.common.files import DATA
from gradebox.eval.models.answers.equality import load_user_module
from gradebox.eval.models.benchmarks.evaluators import EVAL_FUNCTIONS
from gradebox.eval.models.benchmarks.extraction import EXTRACTION_FUNCTIONS
from gradebox.eval.models.benchmarks.rows import PROCESS_FUNCTIONS
from gradebox.eval.models.benchmarks.sample import Benchmark, Language, Prompt, Task
from gradebox.sandbox.input_file import check_input_file

Kind = Literal["process_fn", "answer_extraction_fn", "eval_fn", "few_shot_prompt"]
_SEPARATOR = "\n\n\n"  # of worked examples


def _read_examples(file: str, count: int) -> str:
    """Return the first `count` worked examples of a file, all of them for 0."""
    if not file:
        return ""
    examples = (DATA / "few_shot" / f"{file}.txt").read_text("utf-8").strip().split(_SEPARATOR)
    return _SEPARATOR.join(examples[:count] if count else examples)


def _read_prompts() -> Iterator[Prompt]:
    table: dict[str, Any] = json.loads((DATA / "prompts.json").read_text("utf-8"))
    for name, (frame, file, count) in table["few_shot"].items():
        found = table["frames"][frame]
        yield Prompt(name, found["text"], _read_examples(file, count), tuple(found["stop"]))
    for name, letters in table["letters"].items():
        intro = table["letters_intro"].replace("{letters}", letters)
        yield Prompt(name, table["letters_frame"], intro=intro)
    for name, found in table["zero_shot"].items():
        stop = tuple(found.get("stop", ()))
        yield Prompt(name, found["frame"], stop=stop, intro=found.get("intro", ""))


TABLES: dict[Kind, dict[str, Any]] = {
    "process_fn": dict(PROCESS_FUNCTIONS),
    "answer_extraction_fn": dict(EXTRACTION_FUNCTIONS),
    "eval_fn": dict(EVAL_FUNCTIONS),
    "few_shot_prompt": {prompt.name: prompt for prompt in _read_prompts()},
}


def register(kind: Kind, name: str, value: Any) -> None:
    """Add a function or a Prompt under a name; a name that exists is replaced."""
    if kind not in TABLES:
        raise ValueError(f"unknown kind {kind!r}; use one of {', '.join(TABLES)}")
    TABLES[kind][name] = value


def load_user_modules(modules: Iterable[str]) -> None:
    """Import the modules of --register; raise InputError for one that can't be imported."""
    remedy = f"give a module on PYTHONPATH that calls {register.__module__}.register"
    for module in modules:
        load_user_module(module, f"--register {module}", remedy)


def find(kind: Kind, name: str) -> Any:
    """Return the function or Prompt of a name.

    Raises InputError for an unknown name and suggests the most similar one.
    """
    table = TABLES[kind]
    if name in table:
        return table[name]
    raise InputError(
        f"unknown {kind} {name!r}{did_you_mean(name, table)}; see the {len(table)} known names in "
        "docs/benchmarks-by-configuration.md, or add yours with --register MODULE"
    )


def with_user_examples(prompt: Prompt, folder: Path) -> Prompt:
    """Return the prompt with the examples of the folder's `<Name>.txt`, if there is one."""
    path = folder / f"{prompt.name}.txt"
    if not folder.is_dir():
        raise InputError(f"--few-shot-dir {folder}: no such folder; give one with <Name>.txt files")
    if not path.is_file():
        return prompt
    try:
        return replace(prompt, shots=path.read_text("utf-8").strip(), own=True)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--few-shot-dir: {path}: {error}") from None


# ---- configuration files ----

CONFIGS = DATA / "configs"
Name = Annotated[str, msgspec.Meta(min_length=1)]


class BenchmarkEntry(msgspec.Struct, forbid_unknown_fields=True):
    """An entry of a configuration. The last four are names in TABLES."""

    test_path: Name
    tasks: Annotated[list[Task], msgspec.Meta(min_length=1)]
    process_fn: Name
    answer_extraction_fn: Name
    eval_fn: Name
    few_shot_prompt: Name
    language: Language = "en"

    def benchmark(self, name: str, few_shot_dir: Path | None) -> Benchmark:
        """Return the benchmark of a name; raise InputError for an unknown function or prompt."""
        prompt = find("few_shot_prompt", self.few_shot_prompt)
        return Benchmark(
            name=name,
            test_path=self.test_path,
            language=self.language,
            tasks=tuple(dict.fromkeys(self.tasks)),
            process=find("process_fn", self.process_fn),
            extract=find("answer_extraction_fn", self.answer_extraction_fn),
            evaluate=find("eval_fn", self.eval_fn),
            prompt=with_user_examples(prompt, few_shot_dir) if few_shot_dir else prompt,
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
            if not name.isprintable() or name != name.strip() or "/" in name or not name.strip("."):
                raise InputError(
                    f"{path}: the name {name!r} becomes a folder; use printable characters, no "
                    "slash, and no white space at the ends"
                )
            try:
                parsed = msgspec.convert(entry, BenchmarkEntry)
                found[name] = parsed.benchmark(name, few_shot_dir)
            except msgspec.ValidationError as error:
                fields = ", ".join(BenchmarkEntry.__struct_fields__)
                raise InputError(f"{path}: {name}: {error}; its fields are {fields}") from None
            except InputError as error:
                raise InputError(f"{path}: {name}: {error}") from None
    return found


def select_benchmarks(
    benchmarks: Mapping[str, Benchmark], names: Sequence[str], tasks: Sequence[Task]
) -> list[tuple[Benchmark, Task]]:
    """Return the (benchmark, task) pairs of these names and tasks; no names or tasks: all.

    Raises InputError for an unknown name, an empty selection, or two pairs with one folder.
    """
    for name in names:
        if name not in benchmarks:
            raise InputError(
                f"--benchmarks {name!r} is not in the configuration"
                f"{did_you_mean(name, benchmarks)}; it has {', '.join(benchmarks)}"
            )
    by_folder: dict[str, tuple[Benchmark, Task]] = {}
    for benchmark in benchmarks.values():
        for task in benchmark.tasks:
            if (names and benchmark.name not in names) or (tasks and task not in tasks):
                continue
            folder = folder_name(benchmark, task)
            if folder in by_folder:
                raise InputError(
                    f"{by_folder[folder][0].name!r} and {benchmark.name!r} would both write into "
                    f"{folder!r}; rename one of them"
                )
            by_folder[folder] = benchmark, task
    if not by_folder:
        raise InputError(f"no benchmark has a task {' or '.join(tasks)}; leave --tasks out")
    return list(by_folder.values())


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
    except (OSError, ValueError, RecursionError) as error:
        included = ", ".join(sorted(p.stem for p in CONFIGS.glob("*.json")))
        why = "no such file" if isinstance(error, FileNotFoundError) else error
        raise InputError(
            f"--config {path}: {why}; give a path, or one of the included configurations: "
            f"{included}"
        ) from None
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
