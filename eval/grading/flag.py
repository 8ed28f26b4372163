"""`Flag`: the metadata of one field of `Options`, from which every interface offers it.

field of Options ─┬─ cli/grade.py      argument, --help, parsing
                  ├─ Options           validation, what is recorded
                  ├─ api/grader.py     keywords of a Grader
                  ├─ api/service.py    what a request to POST /grade may set
                  └─ notes on flags without effect (`Options.unused`)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError, shown


@dataclass(frozen=True)
class Flag:
    """How one field of `Options` is offered.

    group          heading in --help
    metavar        placeholder of the value in --help
    least, most    allowed range of a number; `remedy` says what to give instead
    in_record_key  another value gives records another key. Not needed for flags that choose tests,
                   checkers or limits: what they choose is in the key
    grader         a `Grader` takes it as a keyword
    request        a request to POST /grade may set it, a number up to `request_most`
    reopened       debug_case.py takes it from the metrics of a run
    needs          what must hold for it to have an effect: a key of `options.CONDITIONS`
    """

    help: str
    group: str
    metavar: str = "N"
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    remedy: str = ""
    in_record_key: bool = False
    grader: bool = True
    request: bool = False
    request_most: int | None = None
    reopened: bool = True
    needs: str | None = None


def flag(default: Any, help: str, group: str, *, run_only: bool = False, **more: Any) -> Any:
    """Return a dataclass field that carries a `Flag`.

    default   a value, a factory, or MISSING
    run_only  only the main command takes it: neither a Grader nor a reopened run
    """
    if run_only:
        more |= {"grader": False, "reopened": False}
    metadata = {"flag": Flag(help, group, **more)}
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


def flag_name(field_name: str) -> str:
    """Return a field's flag as it is typed: `max_tests` → `--max-tests`, `from_` → `--from`."""
    return "--" + field_name.rstrip("_").replace("_", "-")


@dataclass(frozen=True)
class Kind:
    """The values of a field's type.

    accepts  whether a Python caller's value has the type
    wanted   the type in words
    parse    reads a value from the command line; raises ValueError
    convert  makes a Python caller's value uniform
    """

    accepts: Callable[[Any], bool]
    wanted: str
    parse: Callable[[str], Any]
    convert: Callable[[Any], Any] = lambda value: value


def kind_of(annotation: str) -> Kind:
    """Return the kind of a field's annotation, `| None` ignored."""
    return _KINDS[annotation.removesuffix(" | None")]


def checked(name: str, annotation: str, flag: Flag, value: Any) -> Any:
    """Return a field's value, converted; raise InputError with the value, the limit, the remedy."""
    kind, optional = kind_of(annotation), annotation.endswith(" | None")
    if value is None and optional:
        return None
    if not kind.accepts(value):
        wanted = f"{kind.wanted}, or None" if optional else kind.wanted
        raise InputError(f"{flag_name(name)} {shown(value)}: give {wanted}")
    if flag.choices and value not in flag.choices:
        choices = ", ".join(flag.choices)
        raise InputError(f"{flag_name(name)} {shown(value)}: choose one of {choices}")
    for number in value if isinstance(value, (list, tuple)) else (value,):
        if flag.least is not None and number < flag.least:
            raise InputError(f"{flag_name(name)} {number} is less than {flag.least}: {flag.remedy}")
        if flag.most is not None and number > flag.most:
            raise InputError(f"{flag_name(name)} {number} is more than {flag.most}: {flag.remedy}")
    return kind.convert(value)


def typed(name: str, value: Any) -> str:
    """Return a field and its value as one would type them: `--k 1,5`."""
    if value is True:
        return flag_name(name)
    if isinstance(value, Mapping):
        return "  ".join(f"{flag_name(name)} {key}={factor:g}" for key, factor in value.items())
    if isinstance(value, (list, tuple)):
        value = (" " if name == "solutions_path" else ",").join(map(str, value))
    return f"{flag_name(name)} {value}"


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, Collection) and not isinstance(value, (str, bytes, Mapping))


def _names(text: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in text.split(",") if part.strip())
    if not names:
        raise ValueError(text)
    return names


def _scale(text: str) -> tuple[str, float]:
    language, equals, factor = text.rpartition("=")
    if not equals or not language:
        raise ValueError(text)
    return language, float(factor)


def _no_parser(text: str) -> Any:
    raise ValueError(text)


_KINDS: Mapping[str, Kind] = {
    "bool": Kind(lambda value: isinstance(value, bool), "True or False", _no_parser),
    "int": Kind(_is_whole, "a whole number", int),
    "float": Kind(_is_number, "a number", float),
    "str": Kind(lambda value: True, "text", str),
    "Path": Kind(lambda value: isinstance(value, (str, os.PathLike)), "a path", Path, Path),
    "Sequence[str]": Kind(
        lambda value: _is_list(value) and all(value),
        "a list of names with commas between, none of them empty",
        _names,
    ),
    "Sequence[int]": Kind(
        lambda value: _is_list(value) and bool(value) and all(map(_is_whole, value)),
        "a list of whole numbers such as 1,5,10",
        lambda text: tuple(int(part) for part in _names(text)),
    ),
    "Sequence[str | Path]": Kind(
        _is_list, "the paths of solutions files", str, lambda value: tuple(value)
    ),
    "Mapping[str, float]": Kind(
        lambda value: isinstance(value, Mapping) and all(map(_is_number, value.values())),
        "LANGUAGE=FACTOR, such as python=2",
        _scale,
    ),
}
