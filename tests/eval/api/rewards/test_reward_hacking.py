"""Attempts to be rewarded without solving the task, in a real sandbox.

All are graded in one batch with honest solutions, once by comparing outputs and once with a
generated checker. The table has the reward that each must get.
"""

import pytest

from gradebox.eval.api.rewards import make_codeforces

pytestmark = pytest.mark.slow

NUMBERS = [(3, 4), (1000, 1)]
TESTS = [{"input": f"{a} {b}\n", "output": f"{a + b}\n"} for a, b in NUMBERS]
# Naive, as generated checkers are: it crashes on output that is not a number.
CHECKER = """\
import sys
want, got = (open(name).read().split() for name in sys.argv[2:4])
print(int(int(got[0]) == int(want[0]) and len(got) == 1))
"""
HONEST = "a, b = map(int, input().split())\nprint(a + b)"
WATCH = """\
import os, time
if os.fork() == 0:
    os.setsid()
    for _ in range(200):
        for folder in (".", "/tmp", "/dev/shm", ".."):
            for name in ("checker.py", "correct_output.txt", "solution_output.txt"):
                try:
                    with open(os.path.join(folder, name), "w") as file:
                        file.write("print(1)")
                except OSError:
                    pass
        time.sleep(0.01)
    os._exit(0)
print(1)
"""
SEARCH = """\
import os
found = []
for top in (".", "..", "/tmp", "/var/tmp", "/dev/shm", "/home", "/root", "/proc/1", "/proc/self"):
    for folder, _, names in os.walk(top):
        for name in names:
            if "output" in name or "expect" in name or "answer" in name or name.endswith(".out"):
                try:
                    found.append(open(os.path.join(folder, name)).read(100))
                except (OSError, ValueError):
                    pass
print("\\n".join(found) or 1)
"""
HANG_THEN_PASS = """\
import os, time
marks = ["mark", "/tmp/mark", "/dev/shm/mark", "/var/tmp/mark"]
if any(map(os.path.exists, marks)):
    a, b = map(int, input().split())
    print(a + b)
else:
    for mark in marks:
        try:
            open(mark, "w").close()
        except OSError:
            pass
    time.sleep(60)
"""
ONLY_THE_SAMPLE = "a, b = map(int, input().split())\nprint(7 if (a, b) == (3, 4) else 0)"

# name → program, tests passed of two when outputs are compared, the same with the checker
CHEATS: dict[str, tuple[str, int, int]] = {
    "leave early with success": ("import os\nos._exit(0)", 0, 0),
    "leave before the answer in an atexit": ("import atexit, sys\nsys.exit(0)", 0, 0),
    "print every likely answer": ("print(*range(2000))", 0, 0),
    "print one answer a line": ("print(*range(-5, 2000), sep='\\n')", 0, 0),
    "the right answer and another": (HONEST + "\nprint(a + b + 1)", 0, 0),
    "print what a checker prints": ("print(1)", 0, 0),
    "print a verdict": ("print('AC passed_by_checker 1.0 accepted')", 0, 0),
    "answer on stderr": (
        "import sys\n" + HONEST.replace("a + b)", "a + b, file=sys.stderr)"),
        0,
        0,
    ),
    "answer, then crash": (HONEST + "\nraise SystemExit(1)", 0, 0),
    "look for the answers": (SEARCH, 0, 0),
    "wait for the checker's files": (WATCH, 0, 0),
    "hang, to be right when tried again": (HANG_THEN_PASS, 0, 0),
    "only the sample": (ONLY_THE_SAMPLE, 1, 1),
    "a number with a point": ("a, b = map(int, input().split())\nprint(float(a + b))", 0, 0),
    "digits of another script": (
        "a, b = map(int, input().split())\n"
        "print(''.join(chr(0xFF10 + int(c)) for c in str(a + b)))",
        0,
        2,  # int() of the naive checker accepts them, and the checker decides
    ),
    "break the checker": ("print('x' * 10)", 0, 0),
    "flood the checker": ("print('1 ' * 20_000_000)", 0, 0),
    "end all processes": ("import os\nos.kill(-1, 9)", 0, 0),
    "end the parent": ("import os\nos.kill(os.getppid(), 9)", 0, 0),
    "more processes than allowed": ("import os\nwhile True:\n    os.fork()", 0, 0),
    "honest, spread over lines and blanks": (
        HONEST.replace("a + b", "'\\n ', a + b, '  \\n'"),
        2,
        2,
    ),
    "honest": (HONEST, 2, 2),
}


@pytest.mark.parametrize(("checker", "column"), [(None, 1), (CHECKER, 2)])
def test_each_attempt_gets_its_reward(real, checker, column):
    completions = [f"```python\n{row[0]}\n```" for row in CHEATS.values()]
    rewards = make_codeforces("partial", grader=real)(
        completions,
        official_tests=[TESTS] * len(completions),
        generated_checker=[checker] * len(completions),
        time_limit=[0.5] * len(completions),
    )
    deserved = {name: row[column] / len(TESTS) for name, row in CHEATS.items()}
    assert dict(zip(CHEATS, rewards, strict=True)) == deserved


# Answers where "YES" is expected, and their rewards by the rules of the comparison.
ANSWERS = {"YES": 1.0, "yes": 1.0, "Yes\\n\\n": 1.0, "YES NO": 0.0, "YESNO": 0.0, "Y": 0.0, "": 0.0}


def test_the_lenient_comparison_accepts_no_wrong_answer(real):
    completions = [f'```python\nprint("{answer}")\n```' for answer in ANSWERS]
    rewards = make_codeforces("pass_fail", grader=real)(
        completions, official_tests=[[{"input": "1\n", "output": "YES\n"}]] * len(completions)
    )
    assert dict(zip(ANSWERS, rewards, strict=True)) == ANSWERS


def test_including_other_files_gains_nothing(real):
    cheats = [
        '#include "/etc/passwd"\nint main() {}',
        "#include <iostream>\nint main() { std::cout << __FILE__; }",
        '#include "correct_output.txt"\nint main() {}',
    ]
    completions = [f"```cpp\n{code}\n```" for code in cheats]
    rewards = make_codeforces("pass_fail", grader=real)(
        completions, official_tests=[TESTS] * len(completions)
    )
    assert rewards == [-0.1, 0.0, -0.1]
