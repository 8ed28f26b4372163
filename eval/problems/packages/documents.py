"""The configuration files of packages: YAML, XML and ini, read within bounds.

YAML may have no aliases, so that a file is never larger than it looks, and XML no DOCTYPE, so that
no entity is defined. Both are at most MOST_DEPTH deep.
"""

from __future__ import annotations

import configparser
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from gradebox.eval.common.errors import InputError, RowError, shown
from gradebox.eval.problems.packages.files import PackageFiles

MOST_YAML = 256 << 10  # PyYAML reads about 100 KB a second
MOST_XML = 16 << 20
MOST_DEPTH = 32
MOST_ELEMENTS = 200_000


@cache
def _loader() -> Any:
    """Return PyYAML, which few data sets need, and its safe loader within bounds."""
    try:
        import yaml
    except ImportError:
        raise InputError("packages need PyYAML; install it: pip install pyyaml") from None

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise yaml.MarkedYAMLError("it has an alias", self.peek_event().start_mark)
            self.depth += 1
            if self.depth > MOST_DEPTH:
                raise yaml.MarkedYAMLError(f"it is nested deeper than {MOST_DEPTH}")
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

    return yaml, Loader


def read_yaml(package: PackageFiles, path: Path) -> dict[str, Any]:
    """Return the mapping of a YAML file, {} for an empty one. Raises RowError."""
    name = package.say(path)
    text = package.bytes(path, MOST_YAML).decode("utf-8", "replace")
    yaml, loader = _loader()
    try:
        found = yaml.load(text, loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + 1}" if mark is not None else ""
        raise RowError(
            f"{name} is not YAML that can be used{line}: {error.problem or error.context}: "
            "correct it"
        ) from None
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError, TypeError) as error:
        raise RowError(
            f"{name} is not YAML that can be used: {str(error)[:120]}: correct it"
        ) from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise RowError(f"{name} is {shown(found)}: it must be a mapping of names to values")
    return {str(key): value for key, value in found.items()}


def read_xml(package: PackageFiles, path: Path) -> Element:
    """Return the root of an XML file. Raises RowError."""
    name, builder, parser = package.say(path), TreeBuilder(), expat.ParserCreate()
    depth = elements = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth, elements
        depth, elements = depth + 1, elements + 1
        if depth > MOST_DEPTH or elements > MOST_ELEMENTS:
            raise RowError(
                f"{name} has more than {MOST_ELEMENTS} elements or is nested deeper than "
                f"{MOST_DEPTH}: shorten it"
            )
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    def doctype(*_: object) -> None:
        raise RowError(f"{name} has a DOCTYPE, which may define entities: remove it")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(package.bytes(path, MOST_XML), True)
    except (expat.ExpatError, ValueError) as error:
        raise RowError(f"{name} is not XML: {str(error)[:120]}: correct it") from None
    return builder.close()


def read_ini(package: PackageFiles, path: Path) -> dict[str, str]:
    """Return the values of an ini file without sections, without their quotes. Raises RowError."""
    parser = configparser.RawConfigParser(strict=False)
    text = package.bytes(path, MOST_YAML).decode("utf-8", "replace")
    try:
        parser.read_string(f"[main]\n{text}")
    except configparser.Error as error:
        why = " ".join(str(error).split())[:120]
        raise RowError(f"{package.say(path)} is not an ini file: {why}: correct it") from None
    return {key: value.strip().strip("'\"") for key, value in parser["main"].items()}


# ---- values ----


def number(value: Any, what: str, *, least: float = 0.0, most: float = 1e9) -> float:
    """Return a finite number within bounds, which may be written as text. Raises RowError."""
    try:
        found = float(value) if isinstance(value, (int, float, str)) else math.nan
    except (ValueError, OverflowError):
        found = math.nan
    if isinstance(value, bool) or not least <= found <= most:
        raise RowError(f"{what} is {shown(value)}: give a number from {least:g} to {most:g}")
    return found


def mapping(value: Any, what: str) -> Mapping[str, Any]:
    """Return a mapping, {} for nothing. Raises RowError."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise RowError(f"{what} is {shown(value)}: it must be a mapping of names to values")
    return {str(key): v for key, v in value.items()}


def words(value: Any, what: str) -> list[str]:
    """Return a list of words, which may be one text with spaces between them. Raises RowError."""
    if value is None:
        return []
    if isinstance(value, str):
        return value.split()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return [str(value)]
    if isinstance(value, list) and all(isinstance(v, (str, int, float)) for v in value):
        return [str(v) for v in value]
    raise RowError(f"{what} is {shown(value)}: give words, as a text or a list")
