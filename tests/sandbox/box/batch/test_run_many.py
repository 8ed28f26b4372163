"""Several inputs of one program at once: order, ends, sizes, cancelling, boxes that die."""

import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.box.isolation.cgroup import Cgroup
from gradebox.sandbox.box.process import BoxProcess, _live_boxes
from gradebox.sandbox.box.run_request import MOST_RUNS
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.model import MIB, Compiled, Execution, Limits, Program
from testing.submissions.hostile import host
from tests.sandbox.levels import box_at, built

pytestmark = [pytest.mark.slow, pytest.mark.levels()]  # each test starts real programs

LIMITS = Limits(cpu_s=5, wall_s=20)
FAR = Limits(cpu_s=5, wall_s=3000)  # a run that sleeps for so long outlasts the time of a test
LEVELS = ("full", "delegated", "userns", "landlock", "none")
DOES = rb"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#include <unistd.h>
int main() {
    char word[32] = "", rest[32] = "";
    if (scanf("%31s %31s", word, rest) < 1) { puts("nothing"); return 0; }
    long n = atol(rest);
    if (!strcmp(word, "say")) printf("%s\n", rest);
    if (!strcmp(word, "exit")) return n;
    if (!strcmp(word, "signal")) abort();
    if (!strcmp(word, "cpu")) for (volatile long i = 0;; i++) {}
    if (!strcmp(word, "sleep")) usleep(n * 1000), puts("slept");
    if (!strcmp(word, "memory")) { std::vector<char> v(n << 20, 'x'); printf("%d\n", v[n]); }
    if (!strcmp(word, "print")) fputs(std::string(n, 'x').c_str(), stdout);
    if (!strcmp(word, "prints")) for (;;) { puts(rest); fflush(stdout); usleep(n); }
    if (!strcmp(word, "complain")) fputs(std::string(n, 'e').c_str(), stderr);
    if (!strcmp(word, "count")) { n = 0; while (getchar() != EOF) n++; printf("%ld\n", n); }
}
"""


@pytest.fixture(scope="module", params=LEVELS)
def box(request: pytest.FixtureRequest) -> Iterator[EmbeddedSandbox]:
    with box_at(request.param, allow_unsafe=True) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def does(box: EmbeddedSandbox) -> Compiled:
    return built(box, DOES)


def many(
    box: EmbeddedSandbox, program: Compiled, stdins: Sequence[bytes], limits: Limits = LIMITS
) -> list[Execution]:
    groups = list(box.run_many(program, [limits] * len(stdins), stdins))
    assert all(groups)
    return [execution for group in groups for execution in group]


def said(executions: list[Execution]) -> list[bytes]:
    return [execution.stdout for execution in executions]


@pytest.mark.levels("landlock")
@pytest.mark.parametrize("count", [1, 2, 33, MOST_RUNS + 2])
def test_executions_come_in_the_order_of_the_inputs(box, does, count):
    got = many(box, does, [b"say %d" % i for i in range(count)])
    assert said(got) == [b"%d\n" % i for i in range(count)]


@pytest.mark.levels("userns")
def test_python_programs(box):
    compiled = box.compile(Program("python", {"main.py": b"print(input()[::-1])"}))
    words = [b"a%d" % i for i in range(12)]
    got = many(box, compiled, words)
    assert said(got) == [word[::-1] + b"\n" for word in words]
    forks = box.describe().details["python_start"] == "fork"
    assert {execution.forked for execution in got} == {forks}


@pytest.mark.parametrize(
    "sizes", [[0, 0, 1], [70_000, 0, 5], [300_000] * 3, [0, 200_000, 3_000_000, 7]]
)
def test_inputs_of_any_size(box, does, sizes):
    stdins = [b"count x" + b"y" * size for size in sizes]
    # scanf takes at most 31 characters of the second word.
    assert [int(out) for out in said(many(box, does, stdins))] == [
        max(0, size + 1 - 31) for size in sizes
    ]
    assert said(many(box, does, [b"", b"say 1", b""])) == [b"nothing\n", b"1\n", b"nothing\n"]


@pytest.mark.levels("landlock")
def test_outputs_of_any_size(box, does):
    sizes = [1, 32 * 1024, 32 * 1024 + 1, 2, 3 * MIB, 30_000, 30_000, 30_000, 30_000, 30_000, 3]
    got = many(box, does, [b"print %d" % size for size in sizes])
    assert [len(out) for out in said(got)] == sizes
    got = many(box, does, [b"complain 60000"] * 4)
    assert [execution.stderr for execution in got] == [b"e" * 60_000] * 4


def test_each_run_has_its_own_output_limit(box, does):
    sizes = [10, 20, 70_000, 40]
    limits = [Limits(output_bytes=size) for size in sizes]
    groups = box.run_many(does, limits, [b"print %d" % size for size in sizes])
    assert [execution.stdout_bytes for group in groups for execution in group] == sizes
    limits[1] = Limits(output_bytes=19)
    groups = box.run_many(does, limits, [b"print %d" % size for size in sizes])
    last = [execution for group in groups for execution in group][-1]
    assert (last.stdout_bytes, last.limits_hit, last.stdout) == (20, {"output"}, b"x" * 19)


@pytest.mark.levels("landlock")
@pytest.mark.parametrize(
    ("stdin", "file_size"),
    [(b"prints 1000", 64 * MIB), (b"print 5000", 100)],
    ids=["box", "kernel"],
)
def test_the_output_limit_ends_with_one_signal(box, does, stdin, file_size):
    limits = Limits(cpu_s=5, output_bytes=100, file_size_bytes=file_size)
    [execution] = many(box, does, [stdin], limits)
    assert execution.signal == signal.SIGXFSZ
    assert execution.killed_for == "output"


def test_other_limits_may_differ(box, does):
    limits = [LIMITS, LIMITS, Limits(memory_bytes=16 * MIB), LIMITS]
    stdins = [b"memory 4", b"memory 40", b"memory 4", b"memory 40"]
    groups = box.run_many(does, limits, stdins)
    assert [execution.exit_code for group in groups for execution in group] == [0] * 4


STOPS: list[tuple[str, bytes, Limits, str | None]] = [
    ("exit code", b"exit 3", LIMITS, None),
    ("signal", b"signal 0", LIMITS, None),
    ("cpu", b"cpu 0", Limits(cpu_s=0.1, wall_s=20), "cpu"),
    ("wall", b"sleep 60000", Limits(cpu_s=5, wall_s=0.4), "wall"),
    ("memory", b"memory 200", Limits(cpu_s=5, memory_bytes=32 * MIB), "memory"),
    ("output", b"print 5000", Limits(cpu_s=5, output_bytes=1000), "output"),
]


@pytest.mark.levels("userns", "landlock")
@pytest.mark.parametrize(("name", "stdin", "limits", "limit"), STOPS, ids=[s[0] for s in STOPS])
def test_nothing_runs_after_a_crash_or_a_limit(box, does, name, stdin, limits, limit):
    got = many(box, does, [b"say 1", b"say 2", stdin, b"say 3", b"say 4"], limits)
    assert said(got)[:2] == [b"1\n", b"2\n"]
    assert len(got) == 3
    assert got[2].killed_for == limit or limit in got[2].limits_hit
    ends = [
        (one.exit_code, one.signal, one.killed_for, one.limits_hit)
        for one in (got[2], box.run(does, limits, stdin=stdin))
    ]
    assert ends[0] == ends[1]
    assert said(many(box, does, [b"say 3", b"say 4"], limits)) == [b"3\n", b"4\n"]


@pytest.mark.levels("landlock")
def test_closing_ends_the_running_one_and_cancels_the_rest(box, does):
    many(box, does, [b"say 1"])
    before = boxes()
    groups = box.run_many(does, [FAR] * 9, [b"sleep 10", *[b"sleep 2000000"] * 8])
    assert [execution.stdout for execution in next(groups)] == [b"slept\n"]
    groups.close()
    assert said(many(box, does, [b"say 5", b"say 6"])) == [b"5\n", b"6\n"]
    assert boxes() == before  # the box is used again


@pytest.mark.parametrize("first", [b"say 1", b"sleep 40"])
def test_a_long_run_does_not_keep_back_the_replies_before_it(box, does, first):
    groups = box.run_many(does, [FAR] * 3, [first, b"say 2", b"sleep 2000000"])
    got: list[Execution] = []
    while len(got) < 2:
        got += next(groups)
    assert said(got)[1] == b"2\n"
    groups.close()


def test_limits_are_enforced_while_nobody_reads_replies(box, does):
    limits = Limits(cpu_s=0.3, wall_s=20)
    groups = box.run_many(does, [limits] * 21, [*[b"print 30000"] * 20, b"cpu 0"])
    got = next(groups)
    time.sleep(1.5)
    for group in groups:
        got += group
    assert [len(out) for out in said(got)[:20]] == [30_000] * 20
    assert got[20].killed_for == "cpu"
    assert got[20].cpu_s < 0.9


def test_impossible_requests_are_refused_at_once(box, does):
    for limits, stdins, message in (
        ([LIMITS], [], "1 limits for 0 inputs"),
        ([], [], "at least one"),
        ([LIMITS, Limits(cpu_s=0)], [b"", b""], "cpu_s"),
    ):
        with pytest.raises(BadRequest, match=message):
            box.run_many(does, limits, stdins)


def boxes() -> set[int]:
    return {one.pid for one in _live_boxes if one.pid}


@pytest.mark.levels("landlock")
def test_nothing_is_left_of_batches(box, does):
    stdins = [b"say 1", b"print 40000", b"count" + bytes(30_000)] * 3
    many(box, does, stdins)
    before = replace(host.count(), processes=10**6)  # a box may be replaced
    for _ in range(10):
        many(box, does, stdins)
        box.run_many(does, [LIMITS] * 9, stdins)
        groups = box.run_many(does, [LIMITS] * 9, stdins)
        next(groups)
        groups.close()
    assert host.grown(before) is None


# ---- boxes that die ----------------------------------------------------------------------


def kill_in_the_middle(which: str) -> threading.Thread:
    """Kill the box that begins a request next, a little later."""
    before = {one: one.run_count for one in list(_live_boxes)}

    def kill() -> None:
        running: BoxProcess | None = None
        while running is None:
            time.sleep(0.001)
            begun = (x for x in list(_live_boxes) if x.pid and x.run_count > before.get(x, 0))
            running = next(begun, None)
        time.sleep(0.12)
        os.kill(running._outer_pid if which == "outer" else running.pid, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


@pytest.mark.levels("landlock")
@pytest.mark.parametrize("which", ["box", "outer"])
def test_a_batch_goes_on_in_another_box(box, does, which):
    many(box, does, [b"say 1"])
    killer = kill_in_the_middle(which)
    got = many(box, does, [b"sleep 40", b"say 1", b"sleep 40", b"say 2", b"sleep 40", b"sleep 41"])
    killer.join()
    assert said(got) == [b"slept\n", b"1\n", b"slept\n", b"2\n", b"slept\n", b"slept\n"]
    assert {execution.killed_for for execution in got} == {None}


def test_the_memory_of_one_run_is_no_fault_of_another(monkeypatch):
    """A box that the kernel ended for memory may have had replies that it had not sent."""
    with box_at("full") as box:
        does = built(box, DOES)
        many(box, does, [b"say 1"])
        monkeypatch.setattr(Cgroup, "oom_kills", lambda self: 1)
        killer = kill_in_the_middle("box")
        got = many(box, does, [b"sleep 1000", b"sleep 1", b"say 2"])
        killer.join()
        assert said(got) == [b"slept\n"] * 2 + [b"2\n"]
