"""Which rules of the math answer grader a set of labelled answers needs.

    python benchmarks/answer_rules.py real.jsonl.gz                  every rule, least needed first
    python benchmarks/answer_rules.py --unneeded real.jsonl.gz       only rules that no row needs
    python benchmarks/answer_rules.py --only extract real.jsonl.gz   the rules of one folder

A rule is a module-level function or compiled pattern of checkers/math. Each one is switched off in
turn: a pattern then matches nothing, a function returns its argument, nothing or False, by its
annotations. Only the rows in which the rule did something are judged again. `right` is how many
rows are judged wrong without the rule, `wrong` how many become right. Rows are those of
answer_sets.py; doubtful ones are left out. Takes about 9 ms for each row and some for each rule.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import inspect
import json
import pkgutil
import re
import signal
import sys
import types
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parents[1])
sys.path.insert(1, f"{sys.path[0]}/src")

import gradebox.checkers.math as package  # noqa: E402
from gradebox.checkers.math import first_tier  # noqa: E402
from gradebox.checkers.math.compare.judge import judge, preload  # noqa: E402
from gradebox.checkers.math.policy import get_policy  # noqa: E402

ROW_S = 8  # wall seconds for a row
NOTHING = re.compile(r"(?!)")
STRICT = get_policy("strict")


class OutOfTime(BaseException):
    """A row took too long. Not an Exception: the judged code must not catch it."""


@dataclass
class Rule:
    """A function or a pattern, the modules that hold it, and the rows in which it did something."""

    name: str
    value: Any
    off: Any
    holders: list[tuple[types.ModuleType, str]] = field(default_factory=list)
    rows: set[int] = field(default_factory=set)

    def put(self, value: Any) -> None:
        for module, name in self.holders:
            setattr(module, name, value)


def modules() -> list[types.ModuleType]:
    """Return the modules of the package but for its worker processes."""
    names = [m.name for m in pkgutil.walk_packages(package.__path__, package.__name__ + ".")]
    return [package, *(importlib.import_module(n) for n in names if ".workers" not in n)]


def find_rules(found: list[types.ModuleType]) -> list[Rule]:
    """Return every function and pattern that can be switched off."""
    rules: dict[int, Rule] = {}
    for module in found:
        short = module.__name__.removeprefix(package.__name__ + ".")
        for name, value in vars(module).items():
            own = isinstance(value, types.FunctionType) and value.__module__ == module.__name__
            off = without(value) if own else NOTHING if isinstance(value, re.Pattern) else None
            if off is not None:
                rules.setdefault(id(value), Rule(f"{short}.{name}", value, off))
    for module in found:
        for name, value in vars(module).items():
            if id(value) in rules:
                rules[id(value)].holders.append((module, name))
    return list(rules.values())


def without(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return a function that does nothing in its place; None where that has no meaning."""
    signature = inspect.signature(function)
    kinds = [str(p.annotation) for p in signature.parameters.values()]
    returned = str(signature.return_annotation)
    if returned == "str" and kinds[:1] == ["str"]:
        return lambda *args, **_: args[0]
    if returned == "tuple[str, str]" and kinds[:2] == ["str", "str"]:
        return lambda *args, **_: args[:2]
    empty = {"str": "", "bool": False}
    if returned in empty:
        return lambda *_, **__: empty[returned]
    if returned.startswith("list["):
        return lambda *_, **__: []
    return (lambda *_, **__: None) if returned.endswith("| None") else None


class Watched:
    """A pattern that notes the row in which it matches."""

    def __init__(self, pattern: re.Pattern[str], note: Callable[[], None]) -> None:
        self._pattern, self._note = pattern, note

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._pattern, name)
        if not callable(method):
            return method

        def call(*args: Any, **kwargs: Any) -> Any:
            text = args[1] if name in ("sub", "subn") else args[0]
            if self._pattern.search(text):
                self._note()
            return method(*args, **kwargs)

        return call


def watched(rule: Rule, note: Callable[[], None]) -> Any:
    """Return the rule's value, made to note the rows in which it does something."""
    if isinstance(rule.value, re.Pattern):
        return Watched(rule.value, note)

    def call(*args: Any, **kwargs: Any) -> Any:
        result = rule.value(*args, **kwargs)
        same = False
        with suppress(Exception):
            same = bool(result == rule.off(*args, **kwargs))
        if not same:
            note()
        return result

    return call


def verdict(gold: str, answer: str, caches: list[Any]) -> bool:
    """Return whether the answer is judged right, in this process and within ROW_S."""
    for cached in caches:
        cached.cache_clear()
    signal.setitimer(signal.ITIMER_REAL, ROW_S)
    try:
        decided, _, left, right = first_tier.first_tier(gold, answer, STRICT)
        return judge(left, right, STRICT)[0] if decided is None else decided
    except (Exception, OutOfTime):  # noqa: BLE001 - without a rule, others may raise anything
        return False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def read(file: Path) -> list[tuple[str, str, bool]]:
    """Return (gold, answer or response, label) of the rows that are not doubtful."""
    with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as lines:
        rows = [json.loads(line) for line in lines if line.strip()]
    return [
        (row["gold"], row.get("answer") or row["response"], row["label"])
        for row in rows
        if not row.get("doubtful")
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--unneeded", action="store_true", help="only rules that no row needs")
    parser.add_argument("--only", default="", help="only rules whose name starts with this")
    args = parser.parse_args()

    def out_of_time(*_: object) -> None:
        raise OutOfTime

    signal.signal(signal.SIGALRM, out_of_time)
    found = modules()
    preload()
    caches = [v for m in found for v in vars(m).values() if hasattr(v, "cache_clear")]
    rules = find_rules(found)
    rows = [row for file in args.files for row in read(file)]
    now = 0
    for rule in rules:
        rule.put(watched(rule, lambda rule=rule: rule.rows.add(now)))
    base = []
    for now, (gold, answer, _) in enumerate(rows):  # noqa: B007 - the rules note it
        base.append(verdict(gold, answer, caches))
    for rule in rules:
        rule.put(rule.value)
    right = sum(b == label for b, (_, _, label) in zip(base, rows, strict=True))
    print(f"{right} of {len(rows)} rows are judged right; {len(rules)} rules")
    for rule in sorted(rules, key=lambda r: (len(r.rows), r.name)):
        if not rule.name.startswith(args.only):
            continue
        rule.put(rule.off)
        changes: dict[bool, int] = defaultdict(int)
        for at in sorted(rule.rows):
            gold, answer, label = rows[at]
            if verdict(gold, answer, caches) != base[at]:
                changes[base[at] == label] += 1
        rule.put(rule.value)
        if not (args.unneeded and changes[True]):
            print(
                f"{rule.name:48} used in {len(rule.rows):5}  right {changes[True]:4}  "
                f"wrong {changes[False]:4}",
                flush=True,
            )


if __name__ == "__main__":
    main()
