"""The texts of an exported case: its README, its script, its judge."""

README = """\
{case}

  sh run.sh          builds the program, runs it on input.txt, judges output.txt

Needs sh, python3 (3.10 or newer) and, for C++, g++. Nothing of gradebox is imported.

The program and the checker run as you, without a sandbox: read them before you start it.

  solution/          the program
  input.txt          the test
  expected.txt       the expected output
  recorded_output.txt  what the program wrote in the run (missing where it was cut)
  checker/           the problem's checker program, when it has one
  judge.py, judging/ how outputs are compared, and the built-in checkers
"""

RUN = """\
#!/bin/sh
# Builds, runs and judges one case. NO SANDBOX: program and checker run as you.
# Limits in the run: {limits}. The CPU time is limited here to {cpu_s} s.
cd "$(dirname "$0")" || exit 1
mkdir -p build || exit 1

{build} || {{ echo "verdict: CE, the program does not compile"; exit 1; }}

rm -rf work && mkdir work && cd work || exit 1
{before}
(ulimit -t {cpu_s}; export PYTHONHASHSEED=0; {program} < {stdin} > stdout.txt 2> ../stderr.txt)
status=$?
{after} || {{ : > ../output.txt; echo "nothing was written"; }}
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
echo "the output is not equal to the expected one"
{judge}
"""

INTERACT = """\
#!/bin/sh
# Builds one interactive case and lets the two talk. NO SANDBOX: both programs run as you.
# Limits in the run: {limits}. The CPU time is limited here to {cpu_s} s.
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

# What a checker's end means, by protocol: shell, with its exit status in $said.
VERDICTS = {
    "python": """\
cat checker_stdout.txt
score=$(awk 'NF {print $1; exit}' checker_stdout.txt)
full=$(awk 'NF {print ($1 == 1 || $1 == 100) ? "full" : "part"; exit}' checker_stdout.txt)
case "$said $full" in
  "0 full") echo "verdict: AC, the checker's score is $score" ;;
  "0 "?*) echo "verdict: WA, the checker's score is $score (1 or 100 is full)" ;;
  *) echo "verdict: CU, the checker failed: it says nothing about the solution" ;;
esac""",
    "testlib": """\
case $said in
  0) echo "verdict: AC by the checker" ;;
  1) echo "verdict: WA by the checker" ;;
  2|4|8) echo "verdict: WA by the checker, a presentation error" ;;
  7) echo "verdict: points, as the checker says above" ;;
  *) echo "verdict: CU, the checker failed: it says nothing about the solution" ;;
esac""",
    "kattis": """\
for f in checking/judgemessage.txt checking/score.txt; do
  if [ -f "$f" ]; then echo "$f:"; cat "$f"; fi
done
case $said in
  42) echo "verdict: AC by the validator" ;;
  43) echo "verdict: WA by the validator" ;;
  *) echo "verdict: CU, the validator failed: it says nothing about the solution" ;;
esac""",
    "command": """\
case $said in
  0) echo "verdict: AC by the checker" ;;
  1) echo "verdict: WA by the checker" ;;
  *) echo "verdict: CU, the checker failed: it says nothing about the solution" ;;
esac""",
}

JUDGE = '''\
"""Compares output.txt with expected.txt.

    judge.py equal MODE        exit status 0 when they are equal, 1 when not
    judge.py difference MODE   says where they differ
    judge.py builtin NAME      asks a built-in checker
"""

import sys
from pathlib import Path


def main():
    what, name = sys.argv[1:3]
    given, output, expected = (
        Path(f).read_bytes() for f in ("input.txt", "output.txt", "expected.txt")
    )
    if what == "builtin":
        from judging.builtins import builtin

        check = builtin(name)(given, output, expected)
        print(f"verdict: {check.outcome} by {name} ({check.verdict}): {check.message}")
        return 0 if check.accepted else 1
    from judging import compare

    if what == "equal":
        return 0 if compare.equal(output, expected, name) else 1
    print("verdict: WA,", compare.first_difference(output, expected, name))
    return 1


if __name__ == "__main__":
    sys.exit(main())
'''
