"""The versions of toolchains, the ranges of requests, and which runtime a request gets."""

import pytest

from gradebox.sandbox.piston.probe import read_runtimes
from gradebox.sandbox.server.runtimes import find_runtime, list_runtimes, satisfies, version_of
from testing.rows import rows

# Version lines as compilers and interpreters of many distributions print them.
LINES = rows(__file__, "lines")


@pytest.mark.parametrize(("language", "line", "version"), LINES)
def test_the_version_of_a_toolchain(language, line, version):
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
def test_a_range_has_npms_meaning(wanted):
    assert tuple(v for v in VERSIONS if satisfies(v, wanted)) == RANGES[wanted]


TOOLCHAINS = {"c++17": "g++ (x) 12.2.0", "c++20": "g++ (x) 12.2.0", "python": "Python 3.11.7"}


# language, version, whether with the Codeforces package's files; runtime and its version
@pytest.mark.parametrize(("language", "version", "case", "expected"), rows(__file__, "choices"))
def test_the_runtime_of_a_request(language, version, case, expected):
    found = find_runtime(list_runtimes(TOOLCHAINS), language, version, case=case)
    assert (found and [found.language, found.version]) == expected


def test_a_client_reads_the_version_of_the_compiler_not_that_of_the_package():
    lines = {name: line for name, line, _ in reversed(LINES)}
    read = read_runtimes([runtime.as_json() for runtime in list_runtimes(lines)])
    for name in ("python", "pypy3", "c++17", "c++20", "java"):
        assert read[name] == version_of(lines[name], name) != "1.0.0"
    assert read["cf_c++17"] == "1.0.0"
