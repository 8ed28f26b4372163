"""open_checker: the right program with the right files, really run; and its errors."""

import os
import shutil

import pytest

from gradebox.checkers import open_checker
from gradebox.checkers.check import Check, CheckerError
from gradebox.sandbox.errors import SandboxError
from testing.fakes.scripted_sandbox import FakeSandbox
from testing.rows import rows

pytestmark = pytest.mark.slow
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ on this machine")


PYTHON = """
import sys
given, correct, output = (open(path).read() for path in sys.argv[1:4])
print(1 if int(output) ** 2 == int(given) else 0)
"""

# source of a generated_checker, outcome, words in the message
PYTHON_ROWS = {
    "right": (PYTHON, "accepted", ""),
    "wrong": ("print(0)", "rejected", ""),
    "crashing": ("1 / 0", "unclear", "ZeroDivisionError"),
    "killed": ("import os\nos.kill(os.getpid(), 9)", "unclear", "signal 9"),
    "flooding": ("print(1)\nwhile True:\n    print('x' * 10000)", "unclear", ""),
    "lone surrogate": ("print('\ud800')", "unclear", ""),
}


@pytest.mark.parametrize(("source", "outcome", "words"), PYTHON_ROWS.values(), ids=PYTHON_ROWS)
def test_python_checkers(sandbox, source, outcome, words):
    checker = open_checker(sandbox, source=source or "pass", name=None)
    check = checker.check(b"9", b"-3", b"3")
    assert (check.outcome, words in check.message) == (outcome, True)


def test_a_checker_sees_only_the_test_the_output_and_nothing_of_earlier_cases(sandbox):
    source = (
        "import os\n"
        "names = [n for n in sorted(os.listdir()) if n.endswith('.txt')]\n"
        "open('left.txt', 'w').write('x')\n"
        "print(1, names)"
    )
    checker = open_checker(sandbox, source=source, name=None)
    for _ in range(2):
        assert checker.check(b"i", b"o", b"e").message == (
            "['correct_output.txt', 'input.txt', 'solution_output.txt']"
        )
    assert sandbox.runs[0] == sandbox.runs[1]
    assert sandbox.runs[0] == {
        "stdin": b"",
        "args": ("input.txt", "correct_output.txt", "solution_output.txt"),
        "files": {"input.txt": b"i", "correct_output.txt": b"e", "solution_output.txt": b"o"},
        "collect": (),
    }


def test_faults_of_the_machine_are_raised():
    broken = FakeSandbox(lambda call: SandboxError("the machine is on fire"))
    checker = open_checker(broken, source="print(1)", name=None)
    with pytest.raises(SandboxError, match="on fire"):
        checker.check(b"", b"", b"")


KATTIS = """
import sys
given, answer, feedback = sys.argv[1:4]
flags = sys.argv[4:]
right = sys.stdin.buffer.read() == open(answer, 'rb').read()
open(feedback + 'judgemessage.txt', 'w').write(f'flags {flags}')
if 'score' in flags:
    open(feedback + 'score.txt', 'w').write('0.5')
sys.exit(42 if right else 43)
"""


def test_kattis_validators(sandbox, tmp_path):
    path = tmp_path / "validate.py"
    path.write_text(KATTIS)

    def check(flags: str, output: bytes) -> Check:
        checker = open_checker(sandbox, source=None, name=f"kattis:{path}{flags}")
        return checker.check(b"in", output, b"ans")

    assert check("", b"ans").score == 1.0
    assert check("", b"other").outcome == "rejected"
    assert check(" a 'b c'", b"ans").message == "flags ['a', 'b c']"
    assert check(" score", b"ans").score == 0.5
    assert check(" score", b"other").outcome == "unclear"


VALIDATOR = {
    "validate.cc": '#include "validate.h"\n#include <fstream>\n'
    "int main(int, char** args) {\n"
    "    std::ifstream answer(args[2]);\n"
    "    return same(answer, std::cin) ? 42 : 43;\n}\n",
    "validate.h": "#pragma once\n#include <iostream>\nbool same(std::istream&, std::istream&);\n",
    "compare.cc": '#include "validate.h"\n#include <string>\n'
    "bool same(std::istream& a, std::istream& b) {\n"
    "    std::string x, y;\n    a >> x;\n    b >> y;\n    return x == y;\n}\n",
}


def test_a_validator_may_have_headers_and_several_sources(sandbox, tmp_path):
    for name, text in VALIDATOR.items():
        (tmp_path / name).write_text(text)
    checker = open_checker(sandbox, source=None, name=f"kattis:{tmp_path}")
    checker.prepare()
    outcomes = [checker.check(b"", output, b"a").outcome for output in (b" a", b"b")]
    assert outcomes == ["accepted", "rejected"]


TESTLIB_H = """
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
"""

TESTLIB_CPP = """
#include "testlib.h"
static std::string text(const char *path) {
    std::ifstream in(path);
    return std::string(std::istreambuf_iterator<char>(in), {});
}
int main(int, char **argv) {
    std::string said = text(argv[2]);
    if (said == "crash") __builtin_trap();
    if (said == "half") { fprintf(stderr, "points 0.5 half right\\n"); return 7; }
    if (said == "fail") { fprintf(stderr, "FAIL no answer\\n"); return 3; }
    if (said == text(argv[3])) { fprintf(stderr, "ok\\n"); return 0; }
    fprintf(stderr, "wrong answer %s\\n", said.c_str());
    return said.empty() ? 2 : 1;
}
"""


@needs_compiler
def test_testlib_checkers(sandbox, tmp_path):
    (tmp_path / "check.cpp").write_text(TESTLIB_CPP)
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "testlib.h").write_text(TESTLIB_H)
    name = f"testlib:{tmp_path / 'check.cpp'}"
    for header in (tmp_path / "headers", tmp_path / "headers" / "testlib.h"):
        checker = open_checker(sandbox, source=None, name=name, testlib=str(header))
        checks = [
            checker.check(b"", o, b"a") for o in (b"a", b"b", b"", b"half", b"fail", b"crash")
        ]
        assert [s.verdict for s in checks] == ["OK", "WA", "PE", "OK", "FAIL", "FAIL"]
        assert [s.score for s in checks] == [1.0, 0.0, 0.0, 0.5, None, None]
        assert checks[1].message == "wrong answer b"
        assert checker.name == "testlib:check.cpp"


@needs_compiler
def test_a_checker_that_does_not_compile_is_unclear(sandbox, tmp_path):
    (tmp_path / "check.cpp").write_text("int main() { retrun 0; }")
    (tmp_path / "testlib.h").write_text("")
    checker = open_checker(sandbox, source=None, name=f"testlib:{tmp_path / 'check.cpp'}")
    check = checker.check(b"", b"", b"")
    assert check.outcome == "unclear"
    assert check.message.startswith("the checker does not compile: main.cpp:1:14: error: ")
    assert "retrun" in check.message
    with pytest.raises(CheckerError, match="does not compile: main"):
        checker.prepare()
    assert b"retrun" in check.stderr


@pytest.mark.parametrize(
    ("line", "output", "outcome"),
    [
        ("cmp -s {output} {answer}", b"a", "accepted"),
        ("cmp -s {output} {answer}", b"b", "rejected"),
        ("cmp -s {output} missing", b"b", "unclear"),
        ("no-such-command", b"a", "unclear"),
        ("sh -c 'cmp -s $1 $2' x {output} {answer}", b"a", "accepted"),
        ("sh -c 'test $# = 3' x", b"a", "accepted"),
        ("sh -c 'kill -9 $$'", b"a", "unclear"),
    ],
)
def test_command_checkers(sandbox, line, output, outcome):
    checker = open_checker(sandbox, source=None, name=f"command:{line}")
    assert checker.check(b"i", output, b"a").outcome == outcome


def test_a_name_goes_before_the_source(sandbox):
    checker = open_checker(sandbox, source="print(0)", name="wcmp")
    assert checker.check(b"", b"a  b", b"a b").accepted
    assert sandbox.runs == []


def test_without_source_and_name_there_is_no_checker(sandbox):
    assert open_checker(sandbox, source=None, name=None) is None
    assert open_checker(sandbox, source=" \n", name="") is None


def test_digests_differ_between_checkers(sandbox, tmp_path):
    (tmp_path / "a.py").write_text("print(1)")
    path = tmp_path / "a.py"
    names = (f"python:{path}", f"kattis:{path}", f"kattis:{path} x", "command:true", "command:cat")
    checkers = [open_checker(sandbox, source=None, name=name) for name in names]
    checkers.append(open_checker(sandbox, source="print(0)", name=None))
    assert len({checker.digest for checker in checkers if checker}) == 6


@pytest.mark.parametrize(
    ("name", "words"),
    rows(__file__, "wrong_name_is"),
)
def test_a_wrong_name_is_reported(sandbox, name, words):
    with pytest.raises(CheckerError) as error:
        open_checker(sandbox, source=None, name=name)
    assert [word for word in words if word not in str(error.value)] == []


def test_a_missing_header_is_reported(sandbox, tmp_path):
    (tmp_path / "check.cpp").write_text("")
    name = f"testlib:{tmp_path / 'check.cpp'}"
    with pytest.raises(CheckerError, match=r"'check.cpp' needs testlib.h: put it beside"):
        open_checker(sandbox, source=None, name=name)
    with pytest.raises(CheckerError, match=r"nowhere.h' can't be read: No such file"):
        open_checker(sandbox, source=None, name=name, testlib=str(tmp_path / "nowhere.h"))


def test_a_dataset_may_choose_builtins_only(sandbox):
    checker = open_checker(sandbox, source=None, name="wcmp", programs=False)
    assert checker is not None
    for name in (f"python:{os.devnull}", "command:cat /etc/hostname"):
        with pytest.raises(CheckerError, match="may only name a built-in"):
            open_checker(sandbox, source=None, name=name, programs=False)


def test_a_hanging_checker_is_unclear(sandbox):
    from gradebox.checkers.programs import ProgramChecker
    from gradebox.checkers.protocols import PROTOCOLS
    from gradebox.sandbox.model import Limits, Program

    program = Program("python", {"checker.py": b"import time\ntime.sleep(600)"})
    checker = ProgramChecker(sandbox, PROTOCOLS["python"], program, limits=Limits(wall_s=0.3))
    check = checker.check(b"", b"", b"")
    assert (check.outcome, check.message) == (
        "unclear",
        "the checker was stopped at 0.3 s of wall time",
    )
