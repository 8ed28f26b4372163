"""Isolate every test from the user's settings, from the network and from chance."""

import gc
import os
import signal
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.sandbox.backends import required
from tests.sandbox.levels import why_equal

# The `datasets` library must not ask the hub: tests bring their own data.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_DATASETS_OFFLINE", "1")
# A key or an endpoint in the user's environment must not change a test.
for name in ("OPENROUTER_API_KEY", "OPENAI_API_KEY", "PISTON_ENDPOINT", "PISTON_ENDPOINTS"):
    os.environ.pop(name, None)

# A shell starts background jobs with SIGINT ignored, and nohup ignores SIGHUP. Every command that a
# test starts would inherit that.
signal.pthread_sigmask(signal.SIG_SETMASK, ())
python_ignores = {signal.SIGPIPE, signal.SIGXFSZ}
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    if signal.getsignal(number) == signal.SIG_IGN and number not in python_ignores:
        signal.signal(number, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples every time, and no deadline, because test machines are busy.
# HYPOTHESIS_PROFILE=few is that of `make test-fast`; =search tries new examples.
EVERY_PROFILE: Any = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("same", derandomize=True, **EVERY_PROFILE)
settings.register_profile("few", derandomize=True, max_examples=20, **EVERY_PROFILE)
settings.register_profile("search", max_examples=1000, **EVERY_PROFILE)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

# Collecting the tests leaves little garbage and many objects to look for it among.
gc.disable()

ROOT = Path(__file__).resolve().parents[1]
LONGEST_ID = 60
SLOW_S = 2.0
WEAKER_S = 0.3
FAST_S = 0.02
STRONGEST = "GRADEBOX_TEST_LEVEL"  # the variable with its name
WEAKER_LEVELS = ("delegated", "userns", "landlock", "none")


def pytest_configure(config: pytest.Config) -> None:
    """Keep the order of the groups: pytest-xdist would start those of the most tests first.

    Find the strongest level of isolation, once for all workers: they must collect the same tests.
    """
    config.option.loadscopereorder = False
    if STRONGEST not in os.environ:
        os.environ[STRONGEST] = strongest_level()


def strongest_level() -> str:
    """Return the level that runs have here, "" where none works."""
    from gradebox.sandbox import SandboxError
    from gradebox.sandbox.box import EmbeddedSandbox

    try:
        with EmbeddedSandbox(1, python_start="exec") as sandbox:
            return str(sandbox._factory.level.name)
    except SandboxError:
        return ""


Marks = dict[str, pytest.Mark]
LEFT_OUT: pytest.StashKey[Counter[str]] = pytest.StashKey()  # why tests are left out → how many


@pytest.hookimpl(wrapper=True, tryfirst=True)  # around pytest's own order and xdist's groups
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Iterator[None]:
    """Leave out what cannot run here, and order the rest.

    Tests that share a sandbox are kept together, and the longest groups start first: at the end,
    one worker would wait for the other. The short tests of a folder stay together as well: what the
    first of them imports or starts, such as SciPy or the pool of math workers, is there for the
    others.
    """
    kept, left_out = [], []
    reasons = config.stash.setdefault(LEFT_OUT, Counter())
    markexpr = str(config.getoption("markexpr"))
    groups: dict[int, str] = {}  # by id: xdist changes names, which are hashed
    seconds: dict[str, float] = {}
    for item in items:
        marks: Marks = {mark.name: mark for mark in reversed(list(item.iter_markers()))}
        level = level_of(item)
        if is_repeated(marks, level):
            left_out.append(item)
            continue
        if why := why_not_here(marks, level, markexpr):
            left_out.append(item)
            reasons[why] += 1
            continue
        kept.append(item)
        if level and "slow" not in marks:
            marks["slow"] = pytest.mark.slow(WEAKER_S).mark
            item.add_marker("slow")
        groups[id(item)] = group = group_of(item, marks)
        if group != item.nodeid and "xdist_group" not in marks:
            item.add_marker(pytest.mark.xdist_group(group))
        seconds[group] = seconds.get(group, 0) + seconds_of(marks)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept
    yield
    place = {group: number for number, group in enumerate(seconds)}
    items.sort(key=lambda item: (-seconds[groups[id(item)]], place[groups[id(item)]]))


def why_not_here(marks: Marks, level: object, markexpr: str) -> str:
    """Return why a test is left out on this machine; "" where it is not."""
    if "frameworks" in marks and "frameworks" not in markexpr:
        return "tests of frameworks: make test-frameworks"
    if "piston" in marks and not os.environ.get("PISTON_URL") and not required("piston"):
        return "no real Piston is named in PISTON_URL"
    if "needs" in marks and not any(map(which, marks["needs"].args)):
        return f"none of these commands is here: {' '.join(marks['needs'].args)}"
    return why_equal(level)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let a worker of pytest-xdist report what it has left out."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = dict(session.config.stash.get(LEFT_OUT, {}))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take a worker's report. Each worker collects all tests."""
    node.config.stash[LEFT_OUT] = Counter(getattr(node, "workeroutput", {}).get("left_out", {}))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for why, count in config.stash.get(LEFT_OUT, Counter[str]()).items():
        terminalreporter.write_line(f"LEFT OUT [{count}] {why}")


def is_repeated(marks: Marks, level: object) -> bool:
    """Return whether a test would show at its level what it shows at the strongest one."""
    found = marks.get("levels")
    return bool(found and level and level not in (*found.args, os.environ[STRONGEST]))


def group_of(item: pytest.Item, marks: Marks) -> str:
    """Return the name of the group that a test belongs to, its own where it is alone."""
    if "xdist_group" in marks:
        return str(marks["xdist_group"].args[0])
    return shared(item) or (item.nodeid if "slow" in marks else short_tests(item.path.parent))


@cache
def short_tests(folder: Path) -> str:
    return f"short tests of {folder.relative_to(ROOT)}"


def seconds_of(marks: Marks) -> float:
    """Return about how long a test takes: what its mark `slow` says, or what is usual."""
    return next(iter(marks["slow"].args), SLOW_S) if "slow" in marks else FAST_S


def pytest_collection_finish() -> None:
    """Look for garbage again, but no longer among what the collection has left: it stays."""
    gc.freeze()
    gc.enable()


def level_of(item: pytest.Item) -> object:
    """Return the level of isolation for which a test is repeated, or None.

    `make test-fast` runs such tests at the strongest level only.
    """
    params = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return next((value for value in params if value in WEAKER_LEVELS), None)


def shared(item: pytest.Item) -> str:
    """Return a name for the fixtures that a test shares with others, or nothing.

    Every worker makes such a fixture once more: it opens a sandbox and compiles programs.
    """
    words: dict[str, set[str]] = {"session": set(), "module": set()}
    indices = item.callspec.indices if hasattr(item, "callspec") else {}
    for name, found in item._fixtureinfo.name2fixturedefs.items():  # type: ignore[attr-defined]
        last = found[-1]
        if last.scope in words and last.baseid:  # fixtures of plugins have no base
            file = item.nodeid.partition("::")[0]
            base = file if last.scope == "module" else last.baseid
            words[last.scope] |= {base, str(indices.get(name, ""))}
    return " ".join(sorted(words["session"] or words["module"])).strip()


def pytest_make_parametrize_id(val: Any) -> str | None:
    """Shorten long values in the names of tests, which workers send and reports hold."""
    if not isinstance(val, str | bytes) or len(val) <= LONGEST_ID:
        return None
    start = val[: LONGEST_ID - 20]
    text = start if isinstance(start, str) else start.decode("ascii", "backslashreplace")
    return f"{text}... of {len(val)}"
