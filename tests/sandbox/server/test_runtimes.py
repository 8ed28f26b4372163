"""The versions of toolchains, the ranges of requests, and which runtime a request gets."""

from __future__ import annotations

import pytest

from gradebox.sandbox.piston.probe import read_runtimes
from gradebox.sandbox.server.runtimes import find_runtime, list_runtimes, satisfies, version_of
from testing.rows import rows

# Version lines as compilers and interpreters of many distributions print them.
LINES = rows(__file__, "lines")


@pytest.mark.parametrize(("language", "line", "version"), LINES)
def test_the_version_of_a_toolchain(language: str, line: str, version: str) -> None:
    assert version_of(line, language) == version


VERSIONS = ("2.7.18", "3.9.4", "3.10.0", "3.11.7", "4.0.0", "12.2.0")
# Range → what npm's own library, which Piston uses, finds in it.
RANGES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("*", "x", "X", "||", "", ">=0", "^x"), VERSIONS),
    **dict.fromkeys(("3", "3.x", "3.*", "3.X", "~3", ">=3.0.0 <4.0.0"), VERSIONS[1:4]),
    **dict.fromkeys(("3.11", "3.11.7", "=3.11.7", "v3.11.7", "= 3.11.7", "~3.11"), ("3.11.7",)),
    **dict.fromkeys(("~>3.11", "3.11.7+build", "3.x >3.10"), ("3.11.7",)),
    "^3.10.0": ("3.10.0", "3.11.7"),
    ">= 3.10": ("3.10.0", "3.11.7", "4.0.0", "12.2.0"),
    "<4": VERSIONS[:4],
    "3 - 4": VERSIONS[1:5],
    "3.9 - 3.10": ("3.9.4", "3.10.0"),
    "3.10 || 3.11": ("3.10.0", "3.11.7"),
    "2.x||>=12": ("2.7.18", "12.2.0"),
    "  3.x  <3.11 ": ("3.9.4", "3.10.0"),
    **dict.fromkeys(
        ("latest", "3.", "03.1", "^", "<", "<x", "3.11.7 foo", "!3", "3,11", "3 -4"), ()
    ),
    **dict.fromkeys(("3.11.7.1", "9" * 60, "3.1", "3.11.7-rc1", "\0", "٣"), ()),
}


@pytest.mark.parametrize("wanted", RANGES)
def test_a_range_has_npms_meaning(wanted: str) -> None:
    assert tuple(v for v in VERSIONS if satisfies(v, wanted)) == RANGES[wanted]


TOOLCHAINS = {"c++17": "g++ (x) 12.2.0", "c++20": "g++ (x) 12.2.0", "python": "Python 3.11.7"}

CHOICES = [
    # language, version, the Codeforces package's files → runtime, version
    ("c++", "*", False, ("c++", "12.2.0")),
    ("c++", "*", True, ("c++", "1.0.0")),
    ("c++20", "12.x", False, ("c++20", "12.2.0")),
    ("c++17", "*", False, ("c++", "12.2.0")),
    ("c++17", "*", True, ("c++17", "1.0.0")),
    ("c++17", "1.0.0", False, ("c++17", "1.0.0")),
    ("C++17 (GCC 9-64)", "*", True, ("c++17", "1.0.0")),
    ("cf_c++17", "*", True, ("c++17", "1.0.0")),
    ("cf_python3", "*", True, ("python3", "1.0.0")),
    ("py", "3.x", True, ("python", "3.11.7")),
    ("python3", "3.x", False, ("python", "3.11.7")),
    ("python3", "*", True, ("python3", "1.0.0")),
    ("ruby", "*", False, None),
    ("python", "2.x", False, None),
    ("python", "3.x" + " " * 200, False, None),
]


@pytest.mark.parametrize(("language", "version", "case", "expected"), CHOICES)
def test_the_runtime_of_a_request(
    language: str, version: str, case: bool, expected: tuple[str, str] | None
) -> None:
    found = find_runtime(list_runtimes(TOOLCHAINS), language, version, case=case)
    assert (found and (found.language, found.version)) == expected


def test_a_client_reads_the_version_of_the_compiler_not_that_of_the_package() -> None:
    lines = {name: line for name, line, _ in reversed(LINES)}
    read = read_runtimes([runtime.as_json() for runtime in list_runtimes(lines)])
    for name in ("python", "pypy3", "c++17", "c++20", "java"):
        assert read[name] == version_of(lines[name], name) != "1.0.0"
    assert read["cf_c++17"] == "1.0.0"
