"""Answers that contain code, hang or need much memory are not equal and do no harm."""

import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from gradebox.checkers.math import (
    EvaluatorMath,
    extract_answer,
    grade,
    grade_many,
    latex2sympy_interval,
)
from gradebox.checkers.math.workers.answers import Pool
from gradebox.checkers.workers import worker
from gradebox.sandbox.errors import SandboxError
from testing.commands import ROOT, run_command


def planted(marker: str) -> list[str]:
    """Return code that creates the file `marker`, in the forms an answer can have."""
    touch = f"open('{marker}','w').close()"
    system = f'__import__("os").system("touch {marker}")'
    call = f"__import__('os').system('touch {marker}')"
    bare = [
        call,
        touch,
        f"eval({touch!r})",
        f"exec({touch!r})",
        f"(lambda: {call})()",
        f"[{call} for x in [1]]",
        f"{{{call}}}",
        f"N('{system}')",
        f"S('{system}')",
        f"sympify('{system}')",
        f"Symbol('{system}')",
        f"Integer({call})",
        f"1+{call}",
        f"x**{call}",
        f"sqrt({call})",
        f"().__class__.__base__.__subclasses__(), {call}",
        f"breakpoint() or {call}",
        f"f'{{{call}}}'",
        f"1 if {call} else 2",
        f"y:={call}",
        f"import os; os.system('touch {marker}')",
        f"Matrix([[{call}]])",
        f"Interval(0,{call})",
        f"({call},1)",
        f"[0,{call})",
        f"3\n{call}",
    ]
    latex = [
        rf"\operatorname{{{call}}}",
        rf"\text{{{call}}}",
        rf"\frac{{{call}}}{{2}}",
        rf"\sqrt[{call}]{{2}}",
        rf"\begin{{pmatrix}}{call}\\2\end{{pmatrix}}",
        rf"\sum_{{i=1}}^{{3}} {call}",
        rf"\int_0^1 {call} dx",
        rf"\gcd({call},2)",
        rf"\lim_{{x\to 0}} {call}",
        rf"x_{{{call}}}",
        rf"\log_{{{call}}} 2",
        rf"\{{{call}, 1\}}",
        rf"1\pm {call}",
        rf"\overline{{{call}}}",
        rf"{call}^\circ",
        rf"{call}\%",
        rf"\binom{{{call}}}{{2}}",
        rf"x = {call}",
        rf"x < {call}",
        rf"\input{{|touch {marker}}}",
        rf"\write18{{touch {marker}}}",
    ]
    return bare + latex


def responses(answer: str) -> list[str]:
    return [answer, rf"so \boxed{{{answer}}}", f"The answer is {answer}", f"$ {answer} $"]


@pytest.mark.slow
def test_planted_code_never_runs(tmp_path):
    marker = tmp_path / "pwned"
    answers = [r for a in planted(str(marker)) for r in responses(a)]
    pairs = [("5", a) for a in answers] + [("x^2+1", a) for a in answers[::4]]
    found = list(grade_many(pairs, timeout=1)) + list(grade_many(pairs[::3], "dart", timeout=1))
    assert [f for f in found if f.equal] == []
    assert not marker.exists()


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("5", "10^{10^{10^{10}}}"),
        ("10^{10^{10^{10}}}", "5"),
        ("x", "10^{10^{10^{10}}}x"),
        ("9^{9^{9^{9}}}", "9^{9^{9^{8}}}"),
    ],
)
def test_towers_of_powers_are_not_read(gold, answer):
    began = time.process_time()
    found = grade(gold, answer, timeout=2)
    assert (found.equal, found.outcome) == (False, "not read")
    assert time.process_time() - began < 2


def test_planted_code_never_runs_in_text_functions(tmp_path):
    marker = tmp_path / "pwned"
    evaluator = EvaluatorMath()
    for answer in planted(str(marker)):
        extract_answer(answer)
        evaluator.extract_ans(answer)
        evaluator.norm_math_str(answer)
        evaluator.norm_pm(answer)
        evaluator.extract_set(answer)
        for function in (latex2sympy_interval, evaluator.latex2matrix):
            try:
                function(answer)
            except ValueError:
                continue
    assert not marker.exists()


GUARD = """
    import sys
    from gradebox.checkers.math.compare import judge
    from gradebox.checkers.math.workers.no_eval import disable_eval
    from gradebox.checkers.math.policy import get_policy
    judge.preload()
    disable_eval()
    compiled = []
    def watch(event, args):
        if event == "compile" and args[0] is not None:
            source = str(args[0])
            if "planted" in source:
                compiled.append(source)
    sys.addaudithook(watch)
    import sympy
    for attempt in (
        lambda: sympy.sympify("planted()"),
        lambda: sympy.S("planted+1"),
        lambda: sympy.parse_expr("planted"),
        lambda: sympy.Number("planted"),
        lambda: sympy.parsing.sympy_parser.eval_expr("planted", {}, {}),
    ):
        try:
            attempt()
        except ValueError as e:
            assert "never run as Python" in str(e), e
        else:
            raise SystemExit("text was run")
    assert sympy.sympify("12") == 12 and sympy.Number("0.5") == 0.5
    strict = get_policy("strict")
    for text in (r"\\\\operatorname{planted}(2)", r"\\\\sum_{i=1}^{3} planted(i)", r"planted(1)+1",
                 r"\\\\gcd(planted,2)"):
        judge.judge("5", text, strict)
    print("compiled", compiled)
"""


@pytest.mark.slow
def test_dependencies_never_compile_text():
    """SymPy refuses text, and Python compiles none of it."""
    code = textwrap.dedent(GUARD).replace("\\\\\\\\", "\\\\")
    done = run_command([sys.executable, "-c", code])
    assert done.stdout.strip() == "compiled []", done.stderr


HARD = [
    ("5", "exit()"),
    ("5", "quit()"),
    ("5", "The answer is exit()"),
    ("5", r"\boxed{9^{9^{9^{9}}}}"),
    ("5", "9**9**9**9"),
    ("5", "2^{2^{2^{2^{2^{2}}}}}"),
    ("5", "99999999!"),
    ("5", "((((9!)!)!)!)!"),
    ("5", r"\binom{100000000}{50000000}"),
    ("5", "7" * 5000),
    ("7" * 5000, "7" * 4999 + "8"),
    ("5", ",".join(map(str, range(3000)))),
    ("5", "(" * 3000 + "5" + ")" * 3000),
    ("5", "-" * 5000 + "1"),
    ("5", "{" * 2000),
    ("5", r"\frac{1}{" * 400 + "1" + "}" * 400),
    ("5", r"\sqrt{" * 500 + "2" + "}" * 500),
    ("5", r"\pm" * 300),
    ("5", r"\text{" * 500),
    ("5", "x" * 20000),
    ("5", "1+" * 20000 + "1"),
    ("5;7", "*" * 90000 + " x"),
    ("x", "(x+1)^{5000}"),
    ("x", r"\left(\sin x\right)^{10^{9}}"),
    (r"(x+y+z)^{60}", r"(x+y+z)^{60}+1"),
    ("5", r"\sum_{i=1}^{10000000} \sin(i)"),
    ("5", r"\int_0^{\infty} e^{-x^3}\sin(x^2)\ln(x+1) dx"),
    ("5", r"\lim_{x\to 0}\frac{\sin(\tan x)-\tan(\sin x)}{x^7}"),
    ("5", r"\begin{pmatrix}" + "&".join("1" * 300) + r"\end{pmatrix}"),
    ("1000000000000", "1000000000001"),
    ("5", "\x00\ud7ff\u202e5"),
    ("5", "0/0"),
    ("5", "1/0"),
    ("5", r"\infty-\infty"),
]


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["strict", "dart"])
def test_hard_answers_are_not_equal(policy):
    found = list(grade_many(HARD, policy, timeout=0.5))
    assert [pair for pair, f in zip(HARD, found, strict=True) if f.equal] == []


def test_tiny_number_is_not_zero():
    assert not grade("0.000000001", "0").equal


@pytest.mark.slow
def test_a_hanging_pair_reaches_the_time_limit_and_others_are_graded():
    with Pool(1) as pool:
        assert grade("x+y", "y+x", pool=pool).equal
        hang = grade("5", "x^{61}+3x^{39}-7x^3+5 > 0", timeout=0.3, pool=pool)
        assert (hang.equal, hang.reason, hang.tier) == (False, "time limit", 2)
        assert grade("x+y", "y+x", pool=pool).equal


@pytest.mark.slow
def test_memory_is_capped():
    code = (
        "from gradebox.checkers.workers import worker; worker.confine(64 << 20)\n"
        "try: bytearray(256 << 20)\n"
        "except MemoryError: print('capped')"
    )
    done = run_command([sys.executable, "-c", code])
    assert done.stdout.strip() == "capped", done.stderr


def test_a_pair_that_needs_too_much_memory_is_not_equal():
    class Hungry:
        @staticmethod
        def work(request, blobs):
            raise MemoryError

    reply, again = worker.answer({"timeout": 5}, [], Hungry)
    assert reply == {"equal": False, "reason": "memory limit"}
    assert not again


@pytest.mark.parametrize("text", ["(0,9^{9^{9^{9}}})", "[9^{9^{9^{9}}},9^{9^{9^{8}}}]"])
@pytest.mark.slow
def test_error_for_an_interval_with_too_large_a_number(text):
    with pytest.raises(ValueError, match="a power of more than 100000 bits"):
        latex2sympy_interval(text)


@pytest.mark.slow
def test_grade_in_concurrent_threads():
    answers = ["y+x", "y-x"] * 8
    results: list[bool | None] = [None] * len(answers)

    def one(i: int) -> None:
        results[i] = grade("x+y", answers[i]).equal

    threads = [threading.Thread(target=one, args=(i,)) for i in range(len(answers))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [True, False] * 8


@pytest.mark.slow
def test_a_forked_child_gets_its_own_workers():
    assert grade("a+b", "b+a").equal
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            status = 0 if grade("a+b+c", "c+b+a").equal else 1
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert grade("a+2b", "2b+a").equal


@pytest.mark.slow
def test_closing_a_pool_ends_its_processes():
    pool = Pool(1)
    assert grade("x+y", "y+x", pool=pool).equal
    (pid,) = pool.pids()
    pool.close()
    deadline = time.monotonic() + 20
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not Path(f"/proc/{pid}").exists()
    assert grade("x+y", "y+x", pool=pool).equal
    pool.close()


@pytest.mark.slow
def test_a_worker_killed_from_outside_is_replaced():
    with Pool(1) as pool:
        assert grade("x+y", "y+x", pool=pool).equal
        (pid,) = pool.pids()
        os.kill(pid, 9)
        assert grade("x+2y", "2y+x", pool=pool).equal


@pytest.mark.slow
def test_workers_cannot_start_programs_or_write(tmp_path):
    code = textwrap.dedent(
        """
        import os, subprocess, socket, sys
        from gradebox.checkers.workers import worker
        worker.confine(1 << 30)
        for attempt in (
            lambda: os.system("true"),
            lambda: subprocess.run(["true"]),
            lambda: open(sys.argv[1], "w"),
            lambda: os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY),
            lambda: socket.create_connection(("127.0.0.1", 9)),
            lambda: os.remove("x"),
        ):
            try:
                attempt()
            except PermissionError as e:
                assert "forbidden in a worker" in str(e), e
            else:
                raise SystemExit("it worked")
        print("confined")
        """
    )
    done = run_command([sys.executable, "-c", code, str(tmp_path / "f")])
    assert done.stdout.strip() == "confined", done.stderr
    assert list(tmp_path.iterdir()) == []


def test_workers_that_do_not_start_raise_a_sandbox_error(monkeypatch, tmp_path):
    boot = tmp_path / "boot.py"
    boot.write_text("raise ImportError('no sympy here')")
    monkeypatch.setattr("gradebox.sandbox.children.child.BOOT", boot)
    with Pool(1) as pool, pytest.raises(SandboxError, match=r"no sympy here.*pip install"):
        grade("x+y", "y+x", pool=pool)


def test_importing_does_not_load_sympy():
    code = (
        "import gradebox.checkers.math, sys; gradebox.checkers.math.grade('1/2', '0.5'); "
        "print(sorted({'sympy', 'mpmath'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
