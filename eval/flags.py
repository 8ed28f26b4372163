"""The command line of the main command: one row a flag, read into `Options`."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from eval.choice import SORTS
from eval.one_line_parser import OneLineParser
from eval.options import COMPARISONS, EXECUTORS, PACKAGES, SANDBOXES, Options

DESCRIPTION = """\
Grades programs against problems' tests in a sandbox. Records go to
RESULTS_DIR/<solutions file's stem>/piston_eval_results.jsonl, their sum to
piston_eval_metrics.json beside it; started again, a run goes on where it stopped."""

EPILOG = """\
exit status: 0 all graded; 2 bad input or usage; 3 graded but for infrastructure errors;
130 interrupted and resumable"""


def _names(text: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in text.split(",") if part.strip())
    if not names:
        raise ValueError(text)
    return names


def _reads(make: Callable[[str], Any], wanted: str) -> Callable[[str], Any]:
    """`make` for argparse: its ValueError becomes a message that says what is wanted."""

    def read(text: str) -> Any:
        try:
            return make(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not {wanted}") from None

    return read


def _scale_of(text: str) -> tuple[str, float]:
    language, equals, factor = text.rpartition("=")
    if not equals or not language:
        raise ValueError(text)
    return language, float(factor)


_int = _reads(int, "a whole number")
_float = _reads(float, "a number")
_list = _reads(_names, "a list of names with commas between")
_numbers = _reads(
    lambda text: tuple(int(part) for part in _names(text)),
    "a list of whole numbers such as 1,5,10",
)
_scale = _reads(_scale_of, "LANGUAGE=FACTOR, such as python=2")

# (flag, what argparse is told); the default comes from Options.
_ROWS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("--solutions-path", {"nargs": "+", "metavar": "FILE|GLOB", "required": True,
        "help": "solutions, JSON lines; each file has a results folder of its own"}),
    ("--dataset", {"metavar": "NAME|PATH",
        "help": "a Hugging Face dataset, or a local .jsonl, .parquet or saved-dataset folder"}),
    ("--dataset-split", {"metavar": "NAME", "help": "split of the dataset"}),
    ("--dataset-subsets", {"type": _list, "metavar": "A,B",
        "help": "subsets; the first that has a problem wins"}),
    ("--problems", {"type": _list, "metavar": "ID,ID", "help": "only these problems"}),
    ("--limit", {"type": _int, "metavar": "N", "help": "only the first N solutions"}),
    ("--sandbox", {"choices": SANDBOXES,
        "help": "where programs run; auto: Piston when --endpoint is given or one answers at "
        "http://localhost:2000 with the languages needed, else the embedded box"}),
    ("--endpoint", {"type": _list, "metavar": "URL,URL", "help": "Piston servers"}),
    ("--endpoint-concurrency", {"type": _int, "metavar": "N",
        "help": "programs at once on one Piston server"}),
    ("--piston-package", {"choices": PACKAGES, "help": "language packages of the servers"}),
    ("--allow-unsafe-sandbox", {"action": "store_true",
        "help": "run even where this machine can't isolate programs"}),
    ("--generated-tests-dir", {"type": Path, "metavar": "DIR",
        "help": "folder of the generated tests' parquet files"}),
    ("--max-generated-tests", {"type": _int, "metavar": "N",
        "help": "0 none, -1 all, N the first N of a problem"}),
    ("--generated-tests-sample", {"type": _float, "metavar": "SHARE",
        "help": "share of the generated tests, in (0, 1]"}),
    ("--sort-generated-tests", {"choices": SORTS, "help": "by input size, before the limit"}),
    ("--skip-large-inputs-over", {"type": _int, "metavar": "BYTES",
        "help": "tests with a longer input are skipped; -1: none is"}),
    ("--max-generated-bytes-per-problem", {"type": _int, "metavar": "BYTES",
        "help": "input bytes of a problem's generated tests; -1: no limit"}),
    ("--generated-tests-workers", {"type": _int, "metavar": "N",
        "help": "cases of one solution running at once; 0: no cap"}),
    ("--stop-on-first-failure", {"action": "store_true",
        "help": "cases after a solution's first failing one are not run"}),
    ("--results-dir", {"type": Path, "metavar": "DIR", "help": "where results go"}),
    ("--workers", {"type": _int, "metavar": "N",
        "help": "programs running at once; 0: one for each physical core"}),
    ("--compare", {"choices": COMPARISONS, "help": "how outputs are compared"}),
    ("--checker", {"metavar": "NAME",
        "help": "judge every problem with this checker, such as wcmp or testlib:FILE.cpp"}),
    ("--testlib", {"metavar": "PATH", "help": "testlib.h, for checkers that include it"}),
    ("--time-limit-scale", {"type": _scale, "action": "append", "metavar": "LANG=F",
        "help": "multiplies a language's time limits; may be given again"}),
    ("--executor", {"choices": EXECUTORS,
        "help": "local: the cores of this machine; ray: those of a Ray cluster"}),
    ("--ray-address", {"metavar": "ADDRESS",
        "help": "the cluster, such as auto or HOST:6379; without it Ray's own choice"}),
    ("--repeat", {"type": _int, "metavar": "N",
        "help": "run every case N times and report those that change their verdict"}),
    ("--seed", {"type": _int, "metavar": "N", "help": "of the sample and of intervals"}),
    ("--fresh", {"action": "store_true", "help": "start over, forgetting earlier records"}),
    ("--dry-run", {"action": "store_true", "help": "print the plan and run nothing"}),
    ("--k", {"type": _numbers, "metavar": "K,K", "help": "for pass@k"}),
    ("--max-stored-output", {"type": _int, "metavar": "BYTES",
        "help": "bytes of each output kept in a record"}),
    ("--cache", {"type": Path, "metavar": "DIR",
        "help": "folder of verdicts shared between runs"}),
    ("--self-check", {"action": "store_true",
        "help": "first try every checker and known solutions; stop when one is judged wrong"}),
    ("--self-check-solutions", {"type": Path, "metavar": "FILE",
        "help": "known solutions with `expect`, for a self-check; implies it"}),
    ("--log-file", {"type": Path, "metavar": "FILE", "help": "details, with tracebacks"}),
)  # fmt: skip


def _default(name: str) -> Any:
    row = next(f for f in fields(Options) if f.name == name)
    return None if row.default is MISSING else row.default


def make_parser(prog: str | None = None) -> argparse.ArgumentParser:
    """The parser with a row for every flag, defaults shown."""
    parser = OneLineParser(
        prog=prog,
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    for flag, told in _ROWS:
        default = _default(flag[2:].replace("-", "_"))
        text = told["help"]
        if "action" not in told and default not in (None, ()):
            plain = ",".join(map(str, default)) if isinstance(default, tuple) else default
            text = f"{text} (default: {plain})"
        parser.add_argument(flag, **{**told, "help": text, "default": default})
    return parser


def parse(argv: Sequence[str] | None = None, prog: str | None = None) -> Options:
    """Options from a command line; InputError for wrong ones, SystemExit for --help."""
    values = vars(make_parser(prog).parse_args(argv))
    values["time_limit_scale"] = dict(values["time_limit_scale"] or ())
    return Options(**values)


def shown(options: Options, width: int = 80) -> str:
    """Every flag with its effective value, as it would be typed."""
    words = [f"{name}\u00a0{_typed(value)}" for name, value in options.as_json().items()]
    return "\n".join(
        textwrap.wrap("  ".join(words), width - 1, break_long_words=False, break_on_hyphens=False)
    ).replace("\u00a0", " ")


def _typed(value: Any) -> str:
    if value is None or value == [] or value == {}:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return ",".join(map(str, value))
    if isinstance(value, dict):
        return ",".join(f"{k}={v:g}" for k, v in value.items())
    return str(value)
