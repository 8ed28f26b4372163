"""Started drivers, seen from their parent: what each is given, and what follows when one dies.

    Scheduler ─ RunInDrivers.grade, a thread for each solution ─▶ DriverPool ─ work ─▶ driver
                        ▲ record                                    │ graded, or it died
                        └───────────────────────────────────────────┘

A driver gets a few more solutions than it runs at once, first of problems that it was sent before.
A solution whose driver died is graded again by a driver that has nothing else. When the queue is
empty and a driver has nothing left, those that are still busy run as many cases at once as the free
workers allow. A thread for each driver takes its calls.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from pathlib import Path

from gradebox.eval.common.errors import DriversUnavailable, InputError, Interrupted
from gradebox.eval.common.files import working_folder
from gradebox.eval.grading.drivers.driver import DriverSetup
from gradebox.eval.grading.drivers.process import DriverProcess, Graded, numbers, room_of
from gradebox.eval.grading.options import Options
from gradebox.eval.grading.resources import ProblemResources
from gradebox.eval.grading.scheduler import Scheduler
from gradebox.eval.grading.session import GradingSession, box_options
from gradebox.eval.grading.solution_job import JobContext
from gradebox.eval.grading.solution_run import SolutionRun
from gradebox.eval.results.record import CaseVerdict
from gradebox.eval.results.records import EncodedRecord
from gradebox.sandbox.children.child import END_S
from gradebox.sandbox.common.cleanup import Closeable
from gradebox.sandbox.errors import SandboxError, Transient
from gradebox.sandbox.model import Description
from gradebox.sandbox.protocol import Sandbox

MOST_DEATHS = 3  # of drivers while they graded one solution
MOST_FRUITLESS = 5  # drivers that died in a row, none of which graded anything
CLOSE_S = 15.0  # for a driver to end by itself
LOOK_AGAIN_S = 1.0
log = logging.getLogger(__name__)


class DriverPool(Closeable):
    """Started drivers. Any thread may call any method. Raises DriversUnavailable.

    setups    of the drivers, one each
    folder    their working folder; None: this process's
    on_run_s  open run → called with the seconds that programs ran
    """

    def __init__(self, setups: list[DriverSetup], folder: str | None) -> None:
        self.setups = setups
        self._folder = folder
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)  # a driver may have room
        self._fruitless = 0
        self._waiting_alone = 0
        self._error: Exception | None = None
        self._closing = False
        self.drivers: list[DriverProcess] = []
        self.on_run_s: dict[int, Callable[[float], None]] = {}
        self._threads: list[threading.Thread] = []
        self.open()

    def open(self) -> None:
        """Begin a run: after an error, which may be repaired, all drivers are started again."""
        with self._lock:
            if self._closing:
                raise DriversUnavailable("the driver processes were closed")
            if not self.drivers:
                self._error, self._fruitless = None, 0
                try:
                    for setup in self.setups:
                        self._start(setup)
                except BaseException as error:
                    self._end_all(error)
                    raise

    def _start(self, setup: DriverSetup) -> None:
        driver = DriverProcess(setup, self._folder)
        self.drivers.append(driver)
        thread = threading.Thread(target=self._read, args=(driver,), name="driver", daemon=True)
        self._threads = [*(t for t in self._threads if t.is_alive()), thread]
        thread.start()

    def grade(
        self, run: RunInDrivers, solution_run: SolutionRun, resources: ProblemResources
    ) -> Graded:
        """Return a solution's record. Raises SandboxError if each of its drivers died."""
        died = ""
        for deaths in range(MOST_DEATHS):
            try:
                return self._give(run, solution_run, resources, alone=deaths > 0).result()
            except Transient as error:
                died = str(error)
        raise SandboxError(
            f"the driver process ended {MOST_DEATHS} times while it graded this: {died}"
        )

    def _give(
        self,
        run: RunInDrivers,
        solution_run: SolutionRun,
        resources: ProblemResources,
        *,
        alone: bool,
    ) -> Future[Graded]:
        with self._changed:
            self._waiting_alone += alone
            try:
                while True:
                    if self._error is not None:
                        raise self._error
                    if run.is_stopping:
                        raise Interrupted
                    free = [d for d in self.drivers if d.has_room and not (alone and d.sent)]
                    if free and (alone or not self._waiting_alone):
                        break
                    self._changed.wait(LOOK_AGAIN_S)
            finally:
                self._waiting_alone -= alone
                if alone:
                    self._changed.notify_all()
            problem = solution_run.problem
            driver = min(free, key=lambda d: d.reluctance(run.options, problem))
            driver.alone = alone
            return driver.give(run.number, run.options, solution_run, resources)

    def widen(self, run: int) -> None:
        """Let the drivers that still have work use the workers of those that have none."""
        with self._lock:
            busy = [d for d in self.drivers if d.sent or not d.ready]
            if len(busy) < len(self.drivers):
                for driver in busy:
                    share = sum(setup.workers for setup in self.setups) // len(busy)
                    if driver.runs.get(run, share) < share:
                        driver.runs[run] = share
                        driver.tell("widen", run, share)

    def end_run(self, run: int, stopping: bool) -> None:
        """End a run in all drivers; what they have of it is not graded if it is `stopping`."""
        with self._lock:
            for driver in self.drivers:
                if driver.runs.pop(run, None) is not None:
                    driver.tell("end_run", run, stopping)
            self._changed.notify_all()

    # ---- calls of drivers, in the thread of each ------------------------------------------

    def _read(self, driver: DriverProcess) -> None:
        try:
            while (call := driver.calls.take()) is not None:
                getattr(self, f"on_{call[0]}")(driver, *call[1])
            how = driver.end(CLOSE_S if self._closing else END_S)
            with self._lock:
                if driver in self.drivers:  # else it was ended
                    self._on_death(driver, how)
        except Exception as e:  # without this thread every run would wait forever
            log.exception("unexpected error of the grader")
            with self._lock:
                self._end_all(e)

    def on_ready(self, driver: DriverProcess, description: Description | None, error: str) -> None:
        """Its sandbox is open; `error` says why it is not."""
        expected = driver.setup.description
        with self._lock:
            driver.ready = description == expected
            self._changed.notify_all()
            if error:
                why = f"--drivers: a driver process cannot be used: {error}"
                self._end_all(DriversUnavailable(why))
        if not error and not driver.ready:  # such as a start by fork that failed: another may do
            driver.why = f"its sandbox is {description}, not {expected}"
            driver.child.kill()

    def on_graded(
        self,
        driver: DriverProcess,
        run: int,
        number: int,
        record: EncodedRecord,
        cases: Mapping[CaseVerdict, int],
    ) -> None:
        """A solution has its record."""
        with self._lock:
            self._fruitless, alone = 0, driver.alone
            if (run, number) in driver.sent:  # else it was given up
                driver.take_back(run, number).set_result((record, cases))
            if alone or self._waiting_alone:
                self._changed.notify_all()
            else:  # room for one
                self._changed.notify()

    def on_run_ended(self, driver: DriverProcess, run: int, error: Exception | None) -> None:
        """The run has ended in this driver: because of an error, or it was to."""
        with self._lock:
            driver.fail(error or Interrupted(), run)
            self._changed.notify_all()

    def on_ran(self, driver: DriverProcess, run: int, seconds: float) -> None:
        """Programs of a run ran for so long since its last call."""
        if run in self.on_run_s:
            self.on_run_s[run](seconds)

    def on_logged(self, driver: DriverProcess, record: logging.LogRecord) -> None:
        """A message for the user's log, with the traceback as text."""
        logger = logging.getLogger(record.name)
        if logger.isEnabledFor(record.levelno):
            logger.handle(record)

    # ---- ends; the caller holds the lock --------------------------------------------------

    def _on_death(self, driver: DriverProcess, how: str) -> None:
        self.drivers.remove(driver)
        self._fruitless += 1
        hopeless = driver.failed_by_itself and not driver.ready
        try:
            if hopeless or self._fruitless >= MOST_FRUITLESS:
                raise DriversUnavailable(
                    f"--drivers: driver processes end before they grade anything ({how}); give "
                    "fewer --drivers or --workers, or --drivers 1"
                )
            log.warning(
                "a driver process ended (%s): another one takes its place, and the %d solutions "
                "that it had are graded again",
                how,
                len(driver.sent),
            )
            self._start(driver.setup)
        except InputError as error:
            self._end_all(error)
        driver.fail(self._error or Transient(how))  # another one grades what it had

    def _end_all(self, error: BaseException) -> None:
        """End every driver, and every run with an error."""
        self._error = error if isinstance(error, Exception) else RuntimeError(str(error))
        drivers, self.drivers = self.drivers, []
        for driver in drivers:
            if not self._closing:
                driver.child.kill()
            driver.child.channel.shutdown()  # both ends find the end, even within a message
            driver.fail(self._error)
        self._changed.notify_all()

    def abort(self) -> None:
        """Kill all drivers, and with them what they run; runs fail."""
        with self._lock:
            self._end_all(DriversUnavailable("the driver processes were ended"))

    def close(self) -> None:
        """End all drivers and wait for them; runs fail. A second call has no effect."""
        with self._lock:
            self._closing = True
            self._end_all(DriversUnavailable("the driver processes were closed"))
        for thread in self._threads:
            thread.join()


def open_drivers(options: Options, sandbox: Sandbox, hidden: Iterable[str | Path]) -> DriverPool:
    """Start `options.drivers` drivers with `options.workers` in all. Raises InputError.

    sandbox  that theirs must be equal to
    hidden   paths that programs must not see
    """
    folder = working_folder()  # drivers inherit a removed one
    share, more = divmod(options.workers, options.drivers)
    level = logging.getLogger().getEffectiveLevel()
    paths = tuple(str(Path(folder or "", path)) for path in hidden)
    box = {**box_options(options), "measured": getattr(sandbox, "measured", None)}
    description = sandbox.describe()
    setups = [
        DriverSetup(box, options.workers, share + (index < more), paths, description, level)
        for index in range(options.drivers)
    ]
    return DriverPool(setups, folder)


class RunInDrivers:
    """A run over the drivers of a session, which are started at its first use.

    See `Scheduler` for its methods.
    """

    def __init__(self, session: GradingSession) -> None:
        self._pool = session.drivers or session.keep(
            "own drivers",
            lambda: open_drivers(session.options, session.sandbox, session.private_paths()),
        )
        self._pool.open()
        options = session.options.for_worker("box")
        self.options = repr(options), options
        self.number = next(numbers)
        self.is_stopping = False
        self.most_at_once = sum(map(room_of, self._pool.setups))

    def grade(
        self, run: SolutionRun, context: JobContext, resources: ProblemResources
    ) -> EncodedRecord:
        """See `GradeWhole`."""
        self._pool.on_run_s[self.number] = context.on_run_s
        record, cases = self._pool.grade(self, run, resources)
        for verdict, number in cases.items():
            context.on_case(verdict, number)
        return record

    def poll(self, scheduler: Scheduler) -> None:
        """End the run in the drivers when it is stopping; near its end use idle workers."""
        if scheduler.stopping and not self.is_stopping:
            self.is_stopping = True
            self._pool.end_run(self.number, stopping=True)
        elif scheduler.all_started:
            self._pool.widen(self.number)

    def end(self) -> None:
        """See `Scheduler`."""
        self._pool.end_run(self.number, stopping=False)
        self._pool.on_run_s.pop(self.number, None)
