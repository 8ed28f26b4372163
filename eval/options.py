"""`Options`: everything a grading run can be told, with its defaults and limits.

Field for field the flags of the main command (`eval.flags` reads them), but without
anything of the command line, so that Python callers use the same.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from pathlib import Path
from types import MappingProxyType, NoneType
from typing import Any

from eval.choice import SORTS, Choice
from eval.input_error import InputError, WrongType, shown
from sandbox.errors import UnknownLanguage
from sandbox.languages import find

SANDBOXES = ("auto", "local", "piston")
COMPARISONS = ("open-r1", "upstream", "exact")
PACKAGES = ("piston", "codeforces")
EXECUTORS = ("local", "ray")
MOST_WORKERS = 4096


@dataclass(frozen=True)
class Options:
    """What to grade and how. Wrong values raise InputError: the value, the limit, the remedy.

    workers 0        one for each physical core this process may use
    endpoint ()      none given: http://localhost:2000 is tried when `sandbox` allows
    problems         only these ids; None: all
    paths            may be given as text, and a single solutions path by itself
    time_limit_scale language → multiplier of its time limits
    """

    solutions_path: Sequence[str | Path]
    dataset: str = "open-r1/codeforces"
    dataset_split: str = "test"
    dataset_subsets: Sequence[str] = ("verifiable", "default")
    problems: Sequence[str] | None = None
    limit: int | None = None
    sandbox: str = "auto"
    endpoint: Sequence[str] = ()
    endpoint_concurrency: int | None = None
    piston_package: str = "piston"
    allow_unsafe_sandbox: bool = False
    generated_tests_dir: Path | None = None
    max_generated_tests: int = 0
    generated_tests_sample: float = 1.0
    sort_generated_tests: str = "none"
    skip_large_inputs_over: int = -1
    max_generated_bytes_per_problem: int = -1
    generated_tests_workers: int = 0
    stop_on_first_failure: bool = False
    results_dir: Path = Path("results")
    workers: int = 0
    compare: str = "open-r1"
    checker: str | None = None
    testlib: str | None = None
    time_limit_scale: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    executor: str = "local"
    ray_address: str | None = None
    repeat: int = 1
    seed: int = 0
    fresh: bool = False
    dry_run: bool = False
    k: Sequence[int] = (1,)
    max_stored_output: int = 4096
    log_file: Path | None = None
    cache: Path | None = None
    self_check: bool = False
    self_check_solutions: Path | None = None

    def __post_init__(self) -> None:
        if isinstance(self.solutions_path, (str, Path)):
            object.__setattr__(self, "solutions_path", (self.solutions_path,))
        for name in (
            "results_dir",
            "generated_tests_dir",
            "log_file",
            "cache",
            "self_check_solutions",
        ):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else Path(value))
        for f in fields(self):
            value, (kinds, words) = getattr(self, f.name), _KINDS.get(str(f.type), _ANY)
            if not isinstance(value, kinds) or (isinstance(value, bool) and Integral in kinds):
                raise WrongType(f"{_flag(f.name)} {shown(value)}: give {words}")
        for name, least, remedy in _LEAST:
            value = getattr(self, name)
            if value is not None and value < least:
                raise InputError(f"{_flag(name)} {value} is less than {least}: {remedy}")
        if self.workers > MOST_WORKERS:
            raise InputError(
                f"--workers {self.workers} is more than {MOST_WORKERS}: 0 takes one for each "
                "physical core, and more than the cores makes nothing faster"
            )
        for name in ("endpoint", "problems", "dataset_subsets"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, str) or not all(value)):
                raise InputError(
                    f"{_flag(name)} {value!r}: give a list of names that are not empty"
                )
        for name, allowed in _ONE_OF:
            value = getattr(self, name)
            if value not in allowed:
                raise InputError(f"{_flag(name)} {value!r}: choose one of {', '.join(allowed)}")
        if not self.k or min(self.k) < 1:
            raise InputError(
                f"--k {','.join(map(str, self.k)) or 'nothing'}: give numbers from 1, such as 1,5"
            )
        if self.endpoint and self.sandbox == "local":
            raise InputError("--endpoint with --sandbox local: leave one of them out")
        if self.ray_address is not None and self.executor != "ray":
            raise InputError("--ray-address without --executor ray: give both or none")
        self.choice()
        if self.max_generated_tests and self.generated_tests_dir is None:
            raise InputError(
                f"--max-generated-tests {self.max_generated_tests} without --generated-tests-dir: "
                "name the folder of the parquet files, or leave it at 0"
            )
        object.__setattr__(self, "time_limit_scale", _scales(self.time_limit_scale))
        if self.workers == 0:
            object.__setattr__(self, "workers", default_workers())

    def choice(self) -> Choice:
        """Which of a problem's tests are run."""
        return Choice(
            max_generated=self.max_generated_tests,
            sample=self.generated_tests_sample,
            sort=self.sort_generated_tests,
            skip_over=self.skip_large_inputs_over,
            budget=self.max_generated_bytes_per_problem,
            seed=self.seed,
        )

    def record_flags(self) -> dict[str, Any]:
        """The flags that change what a record says beyond its tests, limits and checker."""
        names = ("compare", "repeat", "stop_on_first_failure", "max_stored_output")
        return {name: getattr(self, name) for name in names}

    def as_json(self) -> dict[str, Any]:
        """Every flag with its effective value, under the flag's name."""
        return {_flag(f.name): _plain(getattr(self, f.name)) for f in fields(self)}


# What a Python caller may give for a field of a type: the command line's parser sees to its own.
_ANY: tuple[tuple[type, ...], str] = ((object,), "")
_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "bool": ((bool,), "True or False"),
    "int": ((Integral,), "a whole number"),
    "int | None": ((Integral, NoneType), "a whole number, or None"),
    "float": ((Real,), "a number"),
}
_LEAST: tuple[tuple[str, int, str], ...] = (
    ("limit", 1, "leave it out for all, or give the number of solutions"),
    ("workers", 0, "0 takes one for each physical core"),
    ("generated_tests_workers", 0, "0 sets no cap"),
    ("endpoint_concurrency", 1, "leave it out for no cap of its own"),
    ("repeat", 1, "1 runs every case once"),
    ("max_stored_output", 0, "0 keeps no output, N keeps N bytes"),
)
_ONE_OF: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("sandbox", SANDBOXES),
    ("compare", COMPARISONS),
    ("sort_generated_tests", SORTS),
    ("piston_package", PACKAGES),
    ("executor", EXECUTORS),
)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(v) for v in value]
    return value


def _scales(given: Mapping[str, float]) -> Mapping[str, float]:
    """Multipliers under the languages' own names."""
    scales: dict[str, float] = {}
    for name, factor in given.items():
        if not (math.isfinite(factor) and factor > 0):
            raise InputError(f"--time-limit-scale {name}={factor}: the factor must be over 0")
        try:
            language = find(name).name
        except UnknownLanguage as e:
            raise InputError(f"--time-limit-scale: {e}") from None
        if scales.setdefault(language, factor) != factor:
            raise InputError(
                f"--time-limit-scale {name}={factor:g}: {language} has {scales[language]:g} already"
            )
    return MappingProxyType(scales)


def default_workers() -> int:
    """Physical cores this process may use, fewer when its control group has less CPU time."""
    cores = len(_physical_cores(os.sched_getaffinity(0)))
    quota = _cpu_quota(Path("/sys/fs/cgroup/cpu.max"))
    return max(1, min(cores, int(quota)) if quota else cores)


def _physical_cores(cpus: set[int]) -> set[str]:
    return {_siblings(cpu) for cpu in cpus}


def _siblings(cpu: int) -> str:
    path = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    try:
        return path.read_text().strip()
    except OSError:
        return str(cpu)


def _cpu_quota(path: Path) -> float | None:
    """CPUs' worth of time a cgroup v2 grants, None for no limit."""
    try:
        quota, period = path.read_text().split()
        return int(quota) / int(period)
    except (OSError, ValueError):
        return None
