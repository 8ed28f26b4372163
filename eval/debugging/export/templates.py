"""Templates of an exported case: README, run.sh and judge.py."""

README = """\
{case}

  sh run.sh          builds the program, runs it on input.txt and judges output.txt

It needs sh, python3 (3.10 or newer) and, for C++, g++. It does not need gradebox.

The program and the checker run as you, without a sandbox. Read them first.

  solution/          the program
  input.txt          the test
  expected.txt       the expected output
  recorded_output.txt  what the program wrote in the run (missing if it was cut)
  checker/           the problem's checker program, if it has one
  compiling/         lets Python compile a program without running it (if there is one in Python)
  judge.py, judging/ the comparison of outputs, and the built-in checkers
"""

RUN = """\
#!/bin/sh
# Build, run and judge one case. NO SANDBOX: program and checker run as you.
# Limits in the run: {limits}. Here only the CPU time is limited, to {cpu_s} s.
cd "$(dirname "$0")" || exit 1
mkdir -p build || exit 1

{build} || {{ echo "verdict: CE, the program does not compile"; exit 1; }}

rm -rf work && mkdir work && cd work || exit 1
{before}
(ulimit -t {cpu_s}; export PYTHONHASHSEED=0; {program} < {stdin} > stdout.txt 2> ../stderr.txt)
status=$?
{after} || {{ : > ../output.txt; echo "the program wrote no output"; }}
cd ..
echo "program: exit status $status"
if [ -s stderr.txt ]; then echo "stderr:"; cat stderr.txt; fi
case $status in
  0) ;;
  137|152) echo "verdict: TLE, or killed for another reason"; exit 1 ;;
  *) echo "verdict: RE, exit status $status"; exit 1 ;;
esac

if python3 judge.py equal {mode}; then
  echo "verdict: AC, the output equals the expected one"
  exit 0
fi
echo "the output differs from the expected one"
{judge}
"""

RUN_INTERACTIVE = """\
#!/bin/sh
# Build and run a program with its interactor. NO SANDBOX: both run as you.
# Limits in the run: {limits}. Here only the CPU time is limited, to {cpu_s} s.
cd "$(dirname "$0")" || exit 1
mkdir -p build || exit 1

{build} || {{ echo "verdict: CE, the program does not compile"; exit 1; }}

rm -rf work && mkdir work && mkfifo work/to work/from || exit 1
: > output.txt
(cd work && ulimit -t {cpu_s} && export PYTHONHASHSEED=0 && \\
  {program} < to > from 2> ../stderr.txt; echo "program: exit status $?" > ../ended.txt) &
{judge}
{verdict}
wait
cat ended.txt
if [ -s stderr.txt ]; then echo "stderr:"; cat stderr.txt; fi
"""

_SCORE = """\
cat {file}
score=$(awk 'NF {{print $1; exit}}' {file})
full=$(awk 'NF {{print {full} ? "full" : "part"; exit}}' {file})
case "$status $full" in
  "0 full") echo "verdict: AC, the checker's score is $score" ;;
  "0 "?*) echo "verdict: WA, the checker's score is $score ({marks} is full)" ;;
  *) echo "verdict: CU, the checker failed; the solution has no verdict" ;;
esac"""
_ONE = {"full": "($1 == 1)", "marks": "1"}

# Shell code that prints the verdict, by protocol. $status is the checker's exit status.
VERDICTS = {
    "python": _SCORE.format(
        file="checker_stdout.txt", full="($1 == 1 || $1 == 100)", marks="1 or 100"
    ),
    "cms": _SCORE.format(file="checker_stdout.txt", **_ONE),
    "cms-manager": _SCORE.format(file="checking/score.txt", **_ONE),
    "testlib": """\
case $status in
  0) echo "verdict: AC by the checker" ;;
  1) echo "verdict: WA by the checker" ;;
  2|4|8) echo "verdict: WA by the checker (presentation error)" ;;
  7) echo "verdict: points, see the checker's output above" ;;
  *) echo "verdict: CU, the checker failed; the solution has no verdict" ;;
esac""",
    "kattis": """\
for f in checking/judgemessage.txt checking/score.txt; do
  if [ -f "$f" ]; then echo "$f:"; cat "$f"; fi
done
case $status in
  42) echo "verdict: AC by the validator" ;;
  43) echo "verdict: WA by the validator" ;;
  *) echo "verdict: CU, the validator failed; the solution has no verdict" ;;
esac""",
    "command": """\
case $status in
  0) echo "verdict: AC by the checker" ;;
  1) echo "verdict: WA by the checker" ;;
  *) echo "verdict: CU, the checker failed; the solution has no verdict" ;;
esac""",
}

# Of tests that are compiled with the program: what they write after the last assert.
MARK = b"exported"
MARKED = f"""\
if grep -qx {MARK.decode()} output.txt; then
  echo "verdict: AC, the tests ran to their end"
else
  echo "verdict: WA, the program ended before its last test"
fi"""

JUDGE = '''\
"""Compare output.txt with expected.txt.

    judge.py equal MODE        exit status 0 when they are equal, 1 when not
    judge.py difference MODE   print where they differ
    judge.py builtin NAME      run a built-in checker
"""

import sys
from pathlib import Path


def main():
    action, name = sys.argv[1:3]
    given, output, expected = (
        Path(f).read_bytes() for f in ("input.txt", "output.txt", "expected.txt")
    )
    if action == "builtin":
        from judging.builtins import builtin
        from judging.values.judges import JUDGES, ValueJudge

        checker = ValueJudge(name) if name in JUDGES else builtin(name)
        check = checker.check(given, output, expected)
        print(f"verdict: {check.outcome} by {name} ({check.verdict}): {check.message}")
        return 0 if check.accepted else 1
    from judging import compare

    if action == "equal":
        return 0 if compare.equal(output, expected, name) else 1
    print("verdict: WA,", compare.first_difference(output, expected, name))
    return 1


if __name__ == "__main__":
    sys.exit(main())
'''
