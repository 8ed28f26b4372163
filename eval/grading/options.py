"""`Options`: the flags of a grading run, with defaults and limits.

Each field is a flag of the main command and carries its `Flag`. Add a flag here and nowhere else.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.grading.flag import Flag, checked, flag, flag_name, typed
from gradebox.eval.problems.formats import FORMATS, JUDGES
from gradebox.eval.problems.selection import SORTS, TestSelection
from gradebox.eval.results.other_formats import targets
from gradebox.sandbox.common.cpus import usable_cores
from gradebox.sandbox.errors import UnknownLanguage
from gradebox.sandbox.languages import find
from gradebox.sandbox.opening import chosen_kind

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
GROUPS = (
    "problems and solutions", "which tests run", "how outputs are judged", "where programs run",
    "results",
)  # fmt: skip
WORKERS_PER_DRIVER = 8  # of a Python process; more wait for its interpreter's lock
PROBLEMS, TESTS, JUDGING, SANDBOX, RESULTS = GROUPS

# Value of `Flag.needs` → why the flag has no effect when the need is not met.
CONDITIONS = {
    "box": "programs run on Piston servers, not in the embedded sandbox",
    "drivers": "only the embedded sandbox of this machine has driver processes",
    "generated tests": "no generated test is chosen; --generated-tests-dir DIR with "
    "--max-generated-tests -1 chooses all",
    "piston": "programs run in the embedded sandbox, not on Piston servers",
    "subsets": "a dataset that is a file has neither splits nor subsets",
}


@dataclass(frozen=True)
class Options:
    """What to grade and how. A wrong value raises InputError: the value, the limit, the remedy.

    Paths may be given as text, and one solutions path without a list.
    """

    # fmt: off
    solutions_path: Sequence[str | Path] = flag(
        MISSING, "solutions as JSON lines; each file gets its own results folder", PROBLEMS,
        metavar="FILE|GLOB", run_only=True)
    dataset: str = flag(
        "open-r1/codeforces", "name on the Hugging Face hub, or a local .jsonl, .parquet or "
        "saved-dataset folder, or problem packages", PROBLEMS, metavar="NAME|PATH")
    dataset_split: str = flag(
        "test", "split of the dataset", PROBLEMS, metavar="NAME", needs="subsets")
    dataset_subsets: Sequence[str] = flag(
        ("verifiable", "default"), "subsets of the dataset; the first one that has a problem is "
        "used for it", PROBLEMS, metavar="A,B", needs="subsets")
    dataset_format: str | None = flag(
        None, "which data set's columns the rows have; left out: found by the columns", PROBLEMS,
        choices=tuple(FORMATS))
    problems: Sequence[str] | None = flag(
        None, "grade only these problems", PROBLEMS, metavar="ID,ID", grader=False)
    from_: str | None = flag(
        None, "only problems of contests since this date; those without one are left out", PROBLEMS,
        metavar="YYYY-MM-DD", grader=False)
    to: str | None = flag(
        None, "only problems of contests until this date", PROBLEMS, metavar="YYYY-MM-DD",
        grader=False)
    difficulty: Sequence[str] | None = flag(
        None, "only problems of these difficulties, such as easy,medium", PROBLEMS,
        metavar="A,B", grader=False)
    platform: Sequence[str] | None = flag(
        None, "only problems of these platforms, such as atcoder", PROBLEMS, metavar="A,B",
        grader=False)
    limit: int | None = flag(
        None, "grade only the first N solutions", PROBLEMS, least=1,
        remedy="leave it out for all, or give the number of solutions", run_only=True)
    sandbox: str | None = flag(
        None, "local: the embedded sandbox; piston: Piston servers; auto: the server at "
        "localhost:2000 if it has the languages and passes its probe, else local; left out: piston "
        "where --endpoint or PISTON_ENDPOINTS names servers, else local", SANDBOX,
        choices=("auto", "local", "piston"))
    endpoint: Sequence[str] = flag((), "addresses of Piston servers", SANDBOX, metavar="URL,URL")
    endpoint_concurrency: int | None = flag(
        None, "programs running at once on each Piston server", SANDBOX, least=1,
        remedy="leave it out for no limit of its own", needs="piston")
    piston_package: str = flag(
        "piston", "language packages that the Piston servers have", SANDBOX,
        choices=("piston", "codeforces"), needs="piston")
    allow_unsafe_sandbox: bool = flag(
        False, "run programs even where this machine cannot isolate them", SANDBOX, reopened=False)
    python_start: str = flag(
        "fork", "fork: Python programs start from a process that has started already, where the "
        "sandbox can; exec: each run starts an interpreter", SANDBOX, choices=("fork", "exec"),
        needs="box")
    python: str | None = flag(
        None, "interpreter of Python programs, such as that of a virtual environment with the "
        "libraries that a data set needs; left out: gradebox's own, without its environment",
        SANDBOX, metavar="PATH", needs="box")
    generated_tests_dir: Path | None = flag(
        None, "folder of the generated tests' parquet files", TESTS, metavar="DIR")
    max_generated_tests: int = flag(
        0, "generated tests of each problem: 0 none, -1 all, N the first N", TESTS, least=-1,
        remedy="0 takes none, -1 all, N the first N")
    generated_tests_sample: float = flag(
        1.0, "share of the generated tests to choose from, in (0, 1]", TESTS, metavar="SHARE",
        needs="generated tests")
    sort_generated_tests: str = flag(
        "none", "order by input size, before the first N are taken", TESTS, choices=SORTS,
        needs="generated tests")
    skip_large_inputs_over: int = flag(
        -1, "skip tests with a longer input; -1 skips none", TESTS, metavar="BYTES", least=-1,
        remedy="-1 skips none, N skips inputs over N bytes")
    max_generated_bytes_per_problem: int = flag(
        -1, "input bytes of a problem's generated tests in all; -1: no limit", TESTS,
        metavar="BYTES", least=-1, remedy="-1 sets no limit, N allows N bytes")
    generated_tests_workers: int = flag(
        0, "cases of one solution running at once; 0: no limit", SANDBOX, least=0,
        remedy="0 sets no limit", request=True)
    stop_on_first_failure: bool = flag(
        False, "do not run the cases after a solution's first failing one", TESTS,
        in_record_key=True, request=True)
    results_dir: Path = flag(
        Path("results"), "folder of the results", RESULTS, metavar="DIR", run_only=True)
    workers: int = flag(
        0, "programs running at once; 0: one for each physical core", SANDBOX, least=0, most=4096,
        remedy="0 takes one for each physical core; more than the cores is not faster",
        reopened=False)
    drivers: int = flag(
        0, "processes that feed the cores; 0: one for each 8 workers", SANDBOX, least=0, most=512,
        remedy="0 takes one for each 8 workers", needs="drivers", reopened=False)
    compare: str = flag(
        "open-r1", "how outputs are compared where there is no checker", JUDGING,
        choices=("open-r1", "upstream", "exact"), in_record_key=True, request=True)
    judge: str = flag(
        "strict", "reference: as the data set's own grader judges; strict: as docs/datasets.md "
        "says; for Codeforces both are the same", JUDGING, choices=JUDGES, request=True)
    checker: str | None = flag(
        None, "judge every problem with this checker, such as wcmp or testlib:FILE.cpp", JUDGING,
        metavar="NAME")
    testlib: str | None = flag(
        None, "path of testlib.h, for checkers that include it", JUDGING, metavar="PATH")
    time_limit_scale: Mapping[str, float] = flag(
        lambda: MappingProxyType({}), "multiply a language's time limits; may be repeated", JUDGING,
        metavar="LANG=F", request=True)
    executor: str = flag(
        "local", "local: the cores of this machine; ray: those of a Ray cluster", SANDBOX,
        choices=("local", "ray"), run_only=True)
    ray_address: str | None = flag(
        None, "address of the Ray cluster, such as auto or HOST:6379", SANDBOX, metavar="ADDRESS",
        run_only=True)
    repeat: int = flag(
        1, "run every case N times and report those whose verdict changes", JUDGING, least=1,
        remedy="1 runs every case once", in_record_key=True, request=True, request_most=16)
    seed: int = flag(0, "seed of --generated-tests-sample and of confidence intervals", TESTS)
    fresh: bool = flag(False, "start over and ignore earlier records", RESULTS, run_only=True)
    dry_run: bool = flag(
        False, "print what would be graded, and run nothing", RESULTS, run_only=True)
    k: Sequence[int] = flag(
        (1,), "compute pass@k for these k", RESULTS, metavar="K,K", least=1,
        remedy="give numbers from 1, such as 1,5", grader=False)
    max_stored_output: int = flag(
        4096, "bytes of each output kept in a record", RESULTS, metavar="BYTES", least=0,
        remedy="0 keeps no output, N keeps N bytes", in_record_key=True, request=True,
        request_most=1 << 20)
    also_write: Sequence[str] | None = flag(
        None, "also write the results as another grader does: livecodebench=PATH, evalplus=PATH",
        RESULTS, metavar="FORMAT=PATH", run_only=True)
    cache: Path | None = flag(
        None, "folder of verdicts shared between runs", RESULTS, metavar="DIR", reopened=False)
    self_check: bool = flag(
        False, "first run every checker and known solutions; stop if one is misjudged", JUDGING,
        run_only=True)
    self_check_solutions: Path | None = flag(
        None, "known solutions with their `expect`; implies --self-check", JUDGING, metavar="FILE",
        run_only=True)
    no_check_dataset: bool = flag(
        False, "do not grade the data set's own solutions of the first 20 problems before a run",
        JUDGING, reopened=False)
    log_file: Path | None = flag(
        None, "write details and tracebacks to this file", RESULTS, metavar="FILE", run_only=True)
    # fmt: on

    def __post_init__(self) -> None:
        if isinstance(self.solutions_path, (str, Path)):
            object.__setattr__(self, "solutions_path", (self.solutions_path,))
        for f in fields(self):
            value = checked(f.name, str(f.type), FLAGS[f.name], getattr(self, f.name))
            object.__setattr__(self, f.name, value)
        object.__setattr__(self, "sandbox", chosen_kind(self.sandbox, self.endpoint))
        if self.endpoint and self.sandbox == "local":
            raise InputError("--endpoint with --sandbox local: leave one of them out")
        if self.ray_address is not None and self.executor != "ray":
            raise InputError("--ray-address without --executor ray: give both or none")
        for name, date in (("--from", self.from_), ("--to", self.to)):
            if date is not None and not _DATE.fullmatch(date):
                raise InputError(f"{name} {date}: give a date as YYYY-MM-DD, such as 2024-05-01")
        targets(self.also_write)
        if not 0 < self.generated_tests_sample <= 1:  # also for NaN
            raise InputError(
                f"--generated-tests-sample {self.generated_tests_sample} is not in (0, 1]: 1 takes "
                "all, 0.5 half; to take none give --max-generated-tests 0"
            )
        if self.max_generated_tests and self.generated_tests_dir is None:
            raise InputError(
                f"--max-generated-tests {self.max_generated_tests} without --generated-tests-dir: "
                "name the folder of the parquet files, or leave it at 0"
            )
        object.__setattr__(self, "time_limit_scale", _scales(self.time_limit_scale))
        if self.workers == 0:
            object.__setattr__(self, "workers", usable_cores())
        if self.drivers == 0:
            object.__setattr__(self, "drivers", self._chosen_drivers())
        if self.drivers > self.workers:
            raise InputError(
                f"--drivers {self.drivers} is more than --workers {self.workers}: each driver "
                f"needs a worker; give at most {self.workers}, or 0 for one for each "
                f"{WORKERS_PER_DRIVER} workers"
            )

    @property
    def chooses_problems(self) -> bool:
        """Whether only some problems are graded."""
        chosen = (self.problems, self.from_, self.to, self.difficulty, self.platform)
        return any(value is not None for value in chosen)

    def _chosen_drivers(self) -> int:
        return max(1, self.workers // WORKERS_PER_DRIVER // _local_ranks())

    def unused(self, *, boxed: bool) -> list[str]:
        """Return a message for each flag that differs from its default and has no effect.

        boxed  programs run in the embedded sandbox
        """
        met = {
            "box": boxed,
            "drivers": boxed and self.executor == "local",
            "generated tests": self.max_generated_tests != 0,
            "piston": not boxed,
            "subsets": not Path(self.dataset).expanduser().is_file(),
        }
        messages = []
        for f in fields(self):
            need, value = FLAGS[f.name].needs, getattr(self, f.name)
            default = self._chosen_drivers() if f.name == "drivers" else f.default
            given = (tuple(value) if isinstance(value, list) else value) != default
            if need is not None and not met[need] and given:
                messages.append(f"{typed(f.name, value)} has no effect: {CONDITIONS[need]}")
        return messages

    def test_selection(self) -> TestSelection:
        """Return the flags that choose a problem's tests."""
        return TestSelection(
            max_generated=self.max_generated_tests,
            sample=self.generated_tests_sample,
            sort=self.sort_generated_tests,
            skip_over=self.skip_large_inputs_over,
            budget=self.max_generated_bytes_per_problem,
            seed=self.seed,
        )

    def record_flags(self) -> dict[str, Any]:
        """Return the flags that are in a record's key beside its tests, limits and checker."""
        return {name: getattr(self, name) for name, flag in FLAGS.items() if flag.in_record_key}

    def for_worker(self, backend: str) -> dict[str, Any]:
        """Return the fields for a process that grades single solutions: a driver, a Ray worker.

        backend  of the sandbox that was chosen
        """
        return {
            **{f.name: getattr(self, f.name) for f in fields(self)},
            "solutions_path": (),
            "time_limit_scale": dict(self.time_limit_scale),
            "sandbox": "local" if backend == "box" else "piston",
            "executor": "local",
            "ray_address": None,
            "drivers": 1,
        }

    def as_json(self) -> dict[str, Any]:
        """Return every flag with its effective value."""
        return {flag_name(f.name): _json(getattr(self, f.name)) for f in fields(self)}


FLAGS: Mapping[str, Flag] = MappingProxyType({f.name: f.metadata["flag"] for f in fields(Options)})


def _json(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_json(v) for v in value]
    return value


def _local_ranks() -> int:
    """Return the number of processes that torchrun started on this machine, each with its own."""
    ranks = os.environ.get("LOCAL_WORLD_SIZE", "")
    return max(1, int(ranks)) if ranks.isascii() and ranks.isdigit() else 1


def _scales(given: Mapping[str, float]) -> Mapping[str, float]:
    """Return the factors under the languages' own names."""
    scales: dict[str, float] = {}
    for name, factor in given.items():
        if not (math.isfinite(factor) and factor > 0):
            raise InputError(
                f"--time-limit-scale {name}={factor}: the factor must be over 0 and finite"
            )
        try:
            language = find(name).name
        except UnknownLanguage as e:
            raise InputError(f"--time-limit-scale: {e}") from None
        if scales.setdefault(language, factor) != factor:
            raise InputError(
                f"--time-limit-scale {name}={factor:g}: {language} already has "
                f"{scales[language]:g}; leave one out"
            )
    return MappingProxyType(scales)
