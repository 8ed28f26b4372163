"""Which units run, in what order, how many at once, and how a run ends."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradebox.eval.common.errors import InputError, Interrupted
from gradebox.eval.grading import scheduler as scheduler_module
from gradebox.eval.grading.scheduler import Done, Scheduler


@dataclass
class FakeTask:
    """A task whose units pass, except those in `failing`.

    does  most units that it does of those it is given
    """

    units: int
    failing: frozenset[int] = frozenset()
    on_run: Callable[[int], None] = lambda unit: None
    ran: list[int] = field(default_factory=list)
    finished: list[int | None] = field(default_factory=list)
    abandoned: int = 0
    running: int = 0
    most_running: int = 0
    most_at_once: int = 1
    does: int = 1
    stop: bool = True

    def __post_init__(self) -> None:
        self.lock = threading.Lock()

    def run(self, units: range) -> Done:
        assert 1 <= len(units) <= self.most_at_once
        with self.lock:
            self.running += 1
            self.most_running = max(self.most_running, self.running)
        failed, end = [], units.start
        for unit in units[: self.does]:
            self.on_run(unit)
            with self.lock:
                self.ran.append(unit)
            failed += [unit] if unit in self.failing and self.stop else []
            end = unit + 1
        with self.lock:
            self.running -= 1
        return Done(end, min(failed, default=None))

    def finish(self, first_failure: int | None) -> None:
        self.finished.append(first_failure)

    def abandon(self) -> None:
        self.abandoned += 1


@dataclass
class FakeJob:
    task: FakeTask | None
    cost: float = 1.0
    group: int = 0
    held_bytes: int = 10
    started: list[float] = field(default_factory=list)
    reserved: int = 0

    def reserve(self) -> None:
        self.reserved += 1

    def discard(self) -> None:
        self.reserved -= 1

    def start(self) -> FakeTask | None:
        self.started.append(self.cost)
        return self.task


@pytest.mark.slow
@given(
    workers=st.integers(1, 5),
    cap=st.integers(0, 3),
    stop=st.booleans(),
    tasks=st.lists(
        st.tuples(
            st.integers(1, 30),
            st.frozensets(st.integers(0, 30)),
            st.integers(1, 9),
            st.integers(1, 9),
        ),
        max_size=12,
    ),
)
@settings(deadline=None, max_examples=60)
def test_every_unit_up_to_the_first_failure_runs_once(workers, cap, stop, tasks):
    made = [
        FakeTask(units, failing, most_at_once=most, does=does, stop=stop)
        for units, failing, most, does in tasks
    ]
    assert Scheduler(workers, cap=cap).run(FakeJob(t) for t in made)
    for task in made:
        failed = sorted(i for i in task.failing if i < task.units)
        first = failed[0] if failed else None
        must = task.units if first is None or not stop else first + 1
        assert set(range(must)) <= set(task.ran)
        assert len(task.ran) == len(set(task.ran))
        assert task.finished == [first if stop else None]
        assert stop or len(task.ran) == task.units
        assert not cap or task.most_running <= cap


def test_the_last_task_is_given_out_in_shares_that_shrink():
    sizes: dict[int, int] = {}

    class Sized(FakeTask):
        def run(self, units: range) -> Done:
            done = super().run(units)
            sizes[units.start] = done.end - units.start
            return done

    assert Scheduler(4).run([FakeJob(Sized(1000, most_at_once=64, does=64))])
    assert (sizes[0], min(sizes.values()), sum(sizes.values())) == (64, 1, 1000)


@pytest.mark.parametrize(("units", "most"), [(1, 1), (3, 3), (100, 8)])
def test_no_more_threads_are_started_than_there_is_work_for(units, most, monkeypatch):
    names: list[str] = []
    start = threading.Thread.start

    def noted(thread: threading.Thread) -> None:
        names.append(thread.name)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", noted)
    assert Scheduler(8).run([FakeJob(FakeTask(units))])
    assert 1 <= len([name for name in names if name.startswith("grader")]) <= most + 1  # the feeder


def test_a_failure_cancels_later_units():
    task = FakeTask(1000, frozenset({3}), on_run=lambda unit: time.sleep(0.01 * (unit > 3)))
    Scheduler(2).run([FakeJob(task)])
    assert len(task.ran) < 900  # nearly always 4 or 5; the thread that finds it may have to wait


def test_the_last_task_is_spread_over_all_workers():
    meet = threading.Barrier(4)
    task = FakeTask(8, on_run=lambda unit: meet.wait(timeout=150) and None)
    assert Scheduler(4).run([FakeJob(task)])
    assert task.most_running == 4


@pytest.mark.parametrize("before", [True, False], ids=["before the run", "during the run"])
def test_a_wider_scheduler_spreads_the_last_task_over_more_workers(before):
    all_there = threading.Barrier(4)
    scheduler = Scheduler(1)
    if before:
        scheduler.widen(4)
    task = FakeTask(8, on_run=lambda unit: (scheduler.widen(4), all_there.wait(150)))
    assert scheduler.run([FakeJob(task)])
    assert task.most_running == 4
    assert sorted(task.ran) == list(range(8))


def test_the_cap_limits_the_units_at_once():
    task = FakeTask(40, on_run=lambda unit: time.sleep(0.001))
    assert Scheduler(4, cap=1).run([FakeJob(task)])
    assert (task.most_running, task.ran) == (1, list(range(40)))


def test_the_most_expensive_queued_job_starts_first():
    order: list[float] = []
    fed = threading.Event()
    jobs = [FakeJob(FakeTask(1, on_run=lambda unit: fed.wait(150) and None), 99.0, started=order)]
    jobs += [FakeJob(None, cost, started=order) for cost in (1.0, 5.0, 3.0, 4.0, 2.0)]

    def feed() -> Iterator[FakeJob]:
        yield from jobs
        fed.set()

    assert Scheduler(1).run(feed())
    assert order == [99.0, 5.0, 4.0, 3.0, 2.0, 1.0]


def test_the_memory_of_queued_jobs_is_bounded(monkeypatch):
    monkeypatch.setattr(scheduler_module, "WINDOW_BYTES", 1999)
    read, done = [], []

    def feed() -> Iterator[FakeJob]:
        for number in range(30):
            read.append(number)
            assert len(read) - len(done) <= 5
            task = FakeTask(1, on_run=lambda unit: done.append(unit))
            yield FakeJob(task, held_bytes=1000)

    assert Scheduler(1).run(feed())


def test_stopping_abandons_the_active_task_and_discards_queued_jobs():
    task, waiting = FakeTask(1000), FakeJob(FakeTask(5), cost=0.0)
    scheduler = Scheduler(1)

    def stop_at_four(unit: int) -> None:
        if unit == 4:
            while not waiting.reserved:  # the feeder has read it
                time.sleep(0.001)
            scheduler.stop()

    task.on_run = stop_at_four
    assert scheduler.run([FakeJob(task), waiting]) is False
    assert (task.ran, task.finished, task.abandoned) == ([0, 1, 2, 3, 4], [], 1)
    assert (waiting.started, waiting.reserved) == ([], 0)


def test_a_task_with_an_interrupted_unit_is_abandoned():
    scheduler = Scheduler(1)

    def interrupt(unit: int) -> None:
        scheduler.stop()
        raise Interrupted

    task = FakeTask(1, on_run=interrupt)
    assert scheduler.run([FakeJob(task)]) is False
    assert (task.finished, task.abandoned) == ([], 1)


@pytest.mark.parametrize("error", [InputError("disk full"), ZeroDivisionError("bug")])
def test_a_units_error_stops_the_run_and_is_raised(error):
    def fail(unit: int) -> None:
        raise error

    with pytest.raises(type(error), match=str(error)):
        Scheduler(2).run([FakeJob(FakeTask(1, on_run=fail)) for _ in range(50)])


def test_an_error_while_reading_jobs_is_raised():
    def feed() -> Iterator[FakeJob]:
        yield FakeJob(FakeTask(1))
        raise InputError("line 7")

    with pytest.raises(InputError, match="line 7"):
        Scheduler(2).run(feed())


@pytest.mark.parametrize("refused", [0, 1])
def test_a_thread_that_cannot_be_started_ends_the_run(monkeypatch, refused):
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name == f"grader_{refused}":
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(InputError, match=r"can't start new thread: raise .*ulimit -u"):
        Scheduler(2).run([FakeJob(FakeTask(100))])
    assert not [t for t in threading.enumerate() if t.name.startswith("grader")]


def test_of_units_that_fail_together_the_lowest_counts():
    both = threading.Barrier(2)

    def on_run(unit: int) -> None:
        both.wait(150)
        time.sleep(0.2 * unit)  # the higher one ends last

    task = FakeTask(2, frozenset({0, 1}), on_run=on_run)
    assert Scheduler(2).run([FakeJob(task)])
    assert task.finished == [0]
