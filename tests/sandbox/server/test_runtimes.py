"""The versions of toolchains, the ranges of requests, and which runtime a request gets."""

from __future__ import annotations

import pytest

from gradebox.sandbox.piston.probe import read_runtimes
from gradebox.sandbox.server.jobs.runtimes import find_runtime, list_runtimes, satisfies, version_of

# Version lines as compilers and interpreters of many distributions print them.
LINES = [
    ("python", "Python 3.11.7", "3.11.7"),
    ("python", "Python 3.14.0rc2", "3.14.0"),
    ("python", "Python 3.12.3+", "3.12.3"),
    ("pypy3", "Python 3.9.16 (7.3.11+dfsg-2+deb12u3, Dec 30 2024, 22:36:23)", "3.9.16"),
    ("c++17", "g++ (Debian 12.2.0-14+deb12u1) 12.2.0", "12.2.0"),
    ("c++20", "g++ (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0", "13.3.0"),
    ("c++17", "g++ (GCC) 8.5.0 20210514 (Red Hat 8.5.0-26)", "8.5.0"),
    ("c++17", "g++ (Alpine 14.2.0) 14.2.0", "14.2.0"),
    ("c++17", "x86_64-conda-linux-gnu-g++ (conda-forge gcc 12.4.0-2) 12.4.0", "12.4.0"),
    ("c++17", "g++ (SUSE Linux) 7.5.0", "7.5.0"),
    ("c", "gcc (GCC) 15.1.1 20250425", "15.1.1"),
    ("c", "gcc-12 (Homebrew GCC 12.3.0) 12.3.0", "12.3.0"),
    ("c++17", "Apple clang version 15.0.0 (clang-1500.3.9.4)", "15.0.0"),
    ("java", 'javac 17.0.15 / openjdk version "17.0.15" 2025-04-15', "17.0.15"),
    ("java", 'javac 21 / openjdk version "21" 2023-09-19', "21.0.0"),
    ("java", 'javac 1.8.0_392 / openjdk version "1.8.0_392"', "8.0.392"),
    ("java", 'javac 11.0.20.1 / openjdk version "11.0.20.1" 2023-08-24 LTS', "11.0.20"),
    ("java", 'javac 25-ea / openjdk version "25-ea" 2025-09-16', "25.0.0"),
    ("javascript", "v20.20.2", "20.20.2"),
    ("javascript", "v24.0.0-nightly20250101", "24.0.0"),
    ("go", "go version go1.19.8 linux/amd64", "1.19.8"),
    ("go", "go version go1.22rc1 linux/arm64", "1.22.0"),
    ("go", "go version devel go1.25-3af4c2 Tue Jan 7 linux/amd64", "1.25.0"),
    ("rust", "rustc 1.95.0 (59807616e 2026-04-14)", "1.95.0"),
    ("rust", "rustc 1.63.0", "1.63.0"),
    ("rust", "rustc 1.77.0-nightly (ef71f1047 2024-01-21)", "1.77.0"),
    ("kotlin", "info: kotlinc-jvm 1.3.31 (JRE 17.0.15+6) / openjdk version", "1.3.31"),
    ("c#", "Mono C# compiler version 6.8.0.105 / Mono JIT compiler version 6.8.0.105", "6.8.0"),
    ("ruby", "ruby 3.1.2p20 (2022-04-12 revision 4491bb740a) [x86_64-linux-gnu]", "3.1.2"),
    ("ruby", "ruby 3.4.1 (2024-12-25 revision 48d4efcb85) +PRISM [x86_64-linux]", "3.4.1"),
    ("mine", "mine 7", "7.0.0"),
    ("python", "unknown", "0.0.0"),
]


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
