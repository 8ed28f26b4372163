"""A case under the warm driver ends as by a plain start, and cannot see another case."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from gradebox.checkers.programs.warm import DRIVER_FILES, SessionBroken, WarmClient
from gradebox.sandbox.model import MIB, Execution, Limits

LIMITS = Limits(cpu_s=5, wall_s=20, memory_bytes=512 * MIB, output_bytes=1 * MIB)
PATIENCE_S = 60


@contextmanager
def warm(tmp_path: Path, source: str, *clean: Path) -> Iterator[WarmClient]:
    """Start a driver for one checker, as the sandbox would."""
    place = tmp_path / "driver"
    place.mkdir()
    for path in DRIVER_FILES:
        (place / path.name).write_bytes(path.read_bytes())
    (place / "checker.py").write_text(source)
    (tmp_path / "cases").mkdir()
    process = subprocess.Popen(
        [
            sys.executable,
            place / "warm_driver.py",
            place / "checker.py",
            tmp_path / "cases",
            *clean,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=_environment(),
    )
    assert process.stdin and process.stdout
    watchdog = threading.Timer(PATIENCE_S, process.kill)
    watchdog.start()
    try:
        yield WarmClient(process.stdin, process.stdout)
    finally:
        watchdog.cancel()
        process.kill()
        process.wait()
        process.stdout.close()
        with suppress(BrokenPipeError):
            process.stdin.close()


def _environment() -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "PYTHONHASHSEED": "0"}


def plain(tmp_path: Path, source: str, stdin: bytes, args: list[str]) -> tuple[int, bytes, bytes]:
    """Return exit status, stdout and stderr of `python3 checker.py args…`."""
    place = tmp_path / "plain"
    place.mkdir()
    (place / "checker.py").write_text(source)
    (place / "a.txt").write_bytes(b"hello\n")
    done = subprocess.run(
        [sys.executable, "checker.py", *args],
        cwd=place,
        input=stdin,
        capture_output=True,
        timeout=PATIENCE_S,
        env=_environment(),
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def status(x: Execution) -> int:
    return x.exit_code if x.exit_code is not None else -(x.signal or 0)


ENDINGS = {
    "nothing": "",
    "prints": "print(1)",
    "argv": "import sys\nprint(sys.argv)",
    "name": "print(__name__, __file__, __package__, __spec__, __doc__)",
    "main is the module": "import __main__\nx = 5\nprint(__main__.x, sorted(vars(__main__)))",
    "guard": "def main():\n    print(1)\n\nif __name__ == '__main__':\n    main()",
    "docstring": "'the words'\nprint(__doc__)",
    "exit 3": "import sys\nprint(0)\nsys.exit(3)",
    "exit text": "import sys\nsys.exit('no good')",
    "exit none": "import sys\nprint(1)\nsys.exit()",
    "exit true": "raise SystemExit(True)",
    "exit big": "raise SystemExit(256 + 7)",
    "exit()": "print(1)\nexit()",
    "quit(2)": "quit(2)",
    "exception": "print(1)\n\ndef f():\n    raise ValueError('bad\\n')\n\nf()",
    "chained": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError(3) from e",
    "keyboard": "raise KeyboardInterrupt",
    "assertion": "assert False, 'why'",
    "syntax": "print(1\nx = =",
    "indentation": "if True:\nprint(1)",
    "warning": "print('\\d', 1 is 1)",
    "deep": "def f(n):\n    return f(n + 1)\n\nf(0)",
    "_exit": "import os\nprint('lost')\nos._exit(4)",
    "abort": "import os\nos.abort()",
    "killed": "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)",
    "atexit": "import atexit\natexit.register(print, 'bye')\nprint('hi')",
    "atexit after error": "import atexit\natexit.register(print, 'bye')\n1 / 0",
    "no newline": "import sys\nsys.stdout.write('1')",
    "thread": "import threading, time\n"
    "threading.Thread(target=lambda: (time.sleep(0.1), print('late'))).start()\nprint('first')",
    "daemon thread": "import threading, time\n"
    "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\nprint(1)",
    "stdin": "import sys\nprint(repr(sys.stdin.read()))",
    "stdin bytes": "import sys\nprint(sys.stdin.buffer.read())",
    "input": "print(input())\nprint(input())",
    "fd 0": "import os\nprint(os.read(0, 100))",
    "open 0": "print(open(0).read())",
    "dev stdin": "print(open('/dev/stdin').read())",
    "bad stdin": "import sys\nsys.stdin.buffer.read()\nsys.stdin.close()\nprint(1)",
    "file": "print(open('a.txt').read())",
    "missing file": "open('b.txt')",
    "closed stdout": "import sys\nsys.stdout.close()",
    "non-ascii": "print('漢', '\\udcff')",
    "stderr": "import sys\nprint('words', file=sys.stderr)\nprint(1)",
    "excepthook": "import sys\nsys.excepthook = lambda *a: print(a[0].__name__)\n1 / 0",
    "subprocess": "import subprocess, sys\n"
    "print(subprocess.run([sys.executable, '-c', 'print(7)'], capture_output=True).stdout)",
    "fork": "import os\npid = os.fork()\nprint('child' if pid == 0 else os.waitpid(pid, 0)[1])",
    "pickle": "import pickle\n\nclass A:\n    pass\n\nprint(pickle.dumps(A()))",
    "dataclass": "from dataclasses import dataclass\n\n"
    "@dataclass\nclass A:\n    x: int\n\nprint(A(3))",
    "annotations": "x: int = 3\nprint(__annotations__)",
    "builtins": "print(__builtins__)",
    "encodings": "import sys\n"
    "print([(s.encoding, s.errors, s.line_buffering, s.name) for s in (sys.stdin, sys.stdout, "
    "sys.stderr)])",
    "own source": "print(open(__file__).read())",
    "hash": "print(hash('abc'))",
    "recursion limit": "import sys\nprint(sys.getrecursionlimit())",
    "own globals": "print(sorted(globals()))",
    "loader": "print(__loader__)",
}


@pytest.mark.parametrize("source", ENDINGS.values(), ids=ENDINGS)
def test_a_case_ends_as_a_plain_start_does(tmp_path: Path, source: str) -> None:
    stdin, args = "one\nzwei ü\n".encode(), ["x", "--y", "ü z"]
    expected = plain(tmp_path, source, stdin, args)
    with warm(tmp_path, source) as client:
        for _ in range(2):
            found = client.run(LIMITS, stdin=stdin, args=args, files={"a.txt": b"hello\n"})
            assert (status(found), _words(found.stdout)) == (expected[0], _words(expected[1]))
            assert _words(found.stderr) == _words(expected[2])
            assert client.clean


def _words(printed: bytes) -> bytes:
    """Remove what differs between any two runs: the folder, addresses in memory.

    The driver has a frame of its own on the stack, so that recursion ends one level earlier.
    """
    private = rb"0x[0-9a-f]+|/[^ \"']*/(plain|cases/case)/|repeated \d+ more"
    return re.sub(private, b"", printed)


def test_a_null_byte_in_the_source_crashes_the_checker(tmp_path: Path) -> None:
    """The messages differ between starts and versions; the status does not."""
    with warm(tmp_path, "print('a\0b')") as client:
        found = client.run(LIMITS)
        assert (found.exit_code, found.stdout) == (1, b"")
        assert b"null bytes" in found.stderr


def test_random_is_seeded_anew(tmp_path: Path) -> None:
    with warm(tmp_path, "import random\nprint(random.random())") as client:
        assert len({client.run(LIMITS).stdout for _ in range(4)}) == 4


LEAVES = """
import os, sys
seen = os.listdir('.')
import builtins
seen.append(getattr(builtins, 'leak', None))
builtins.leak = 1
sys.modules['json'] = None
os.environ['LEAK'] = '1'
open('left.txt', 'w').write('x')
os.mkdir('d'); os.mkdir('d/e'); open('d/e/f', 'w').close()
os.chmod('d/e', 0); os.chmod('d', 0)
os.symlink('/etc', 'link')
os.mkfifo('pipe')
print(seen, os.environ.get('LEAK'), os.getcwd())
print(sys.argv)
"""


def test_shared_folders_are_emptied_after_each_case(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    source = f"import os\nprint(os.listdir({str(shared)!r}))\n" + (
        f"os.makedirs({str(shared / 'x' / 'y')!r})\nos.symlink('/', {str(shared / 'l')!r})\n"
    )
    with warm(tmp_path, source, shared) as client:
        assert [client.run(LIMITS).stdout for _ in range(3)] == [b"[]\n"] * 3
        assert client.clean
    assert list(shared.iterdir()) == []
    assert Path("/etc").is_dir()


def test_globals_files_and_environment_are_fresh(tmp_path: Path) -> None:
    source = LEAVES.replace("os.environ['LEAK'] = '1'\n", "")
    with warm(tmp_path, source) as client:
        first, second = (client.run(LIMITS, files={"in": b""}) for _ in range(2))
        assert first.stdout == second.stdout
        assert b"left.txt" not in second.stdout
        assert client.clean


def test_a_process_that_left_the_session_is_killed(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    source = f"""
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open({str(tmp_path / "pid")!r}, 'w').write(str(os.getpid()))
        time.sleep(600)
    os._exit(0)
os.wait()
while not os.path.exists({str(tmp_path / "pid")!r}):
    time.sleep(0.01)
print(1)
"""
    with warm(tmp_path, source) as client:
        assert client.run(LIMITS).stdout == b"1\n"
        assert client.clean
        pid = int((tmp_path / "pid").read_text())
        assert not Path(f"/proc/{pid}").exists()
    assert not marker.exists()


def test_a_sleeping_case_is_killed_for_wall_time(tmp_path: Path) -> None:
    with warm(tmp_path, "import time\nprint(1, flush=True)\ntime.sleep(600)") as client:
        found = client.run(Limits(cpu_s=5, wall_s=0.3))
        assert (found.killed_for, found.stdout) == ("wall", b"1\n")
        assert found.limits_hit == {"wall"}
        assert client.clean


def test_the_kernels_cpu_limit_is_above_the_wall_limit(tmp_path: Path) -> None:
    source = "import resource\nprint(*resource.getrlimit(resource.RLIMIT_CPU))"
    with warm(tmp_path, source) as client:
        seen = client.run(LIMITS).stdout.split()
    assert (
        min(map(int, seen)) > LIMITS.wall_s
    )  # it counts whole ticks, which may exceed the time used


@pytest.mark.slow
def test_a_spinning_case_is_killed_for_cpu_time(tmp_path: Path) -> None:
    with warm(tmp_path, "while True:\n    pass") as client:
        found = client.run(Limits(cpu_s=0.5, wall_s=60))
        assert found.killed_for == "cpu"


def test_too_much_output_is_cut_and_kills_the_case(tmp_path: Path) -> None:
    with warm(tmp_path, "while True:\n    print('x' * 1000)") as client:
        found = client.run(Limits(cpu_s=5, wall_s=20, output_bytes=5000))
        assert (found.killed_for, len(found.stdout), found.stdout_cut) == ("output", 5000, True)
        assert client.run(LIMITS).killed_for == "output"


def test_too_much_stderr_is_cut_and_kills_nothing(tmp_path: Path) -> None:
    source = "import sys\nsys.stderr.write('x' * 200000)\nprint(1)"
    with warm(tmp_path, source) as client:
        found = client.run(Limits(stderr_bytes=1000))
        assert (found.exit_code, found.stdout, len(found.stderr)) == (0, b"1\n", 1000)
        assert found.stderr_cut


def test_memory_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    with warm(tmp_path, "x = bytearray(1 << 30)\nprint(1)") as client:
        found = client.run(Limits(memory_bytes=128 * MIB))
        assert found.exit_code == 1
        assert b"MemoryError" in found.stderr


def test_large_contents_go_through(tmp_path: Path) -> None:
    source = "import sys\nprint(len(open('a').read()), len(sys.stdin.read()))"
    with warm(tmp_path, source) as client:
        found = client.run(LIMITS, files={"a": b"x" * 3_000_000}, stdin=b"y" * 2_000_000)
        assert found.stdout == b"3000000 2000000\n"


def test_files_are_collected_but_never_through_links(tmp_path: Path) -> None:
    source = "import os\nopen('a', 'w').write('A' * 100000)\nos.symlink('/etc/passwd', 'b')\n"
    source += "os.mkdir('c')\nos.mkfifo('d')\n"
    with warm(tmp_path, source) as client:
        found = client.run(LIMITS, collect=("a", "b", "c", "d", "e"))
        assert dict(found.files) == {"a": b"A" * 100000}


def test_a_case_that_kills_the_driver_breaks_the_session(tmp_path: Path) -> None:
    source = "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nprint(1)"
    with warm(tmp_path, source) as client, pytest.raises(SessionBroken, match="ended"):
        client.run(LIMITS)


def test_a_case_cannot_reach_the_protocols_descriptors(tmp_path: Path) -> None:
    source = """
import os
for fd in range(3, 256):
    try:
        os.write(fd, b'D\\0\\0\\0\\2{}')
        print('wrote to', fd)
    except OSError:
        pass
print(sorted(os.listdir('/proc/self/fd'), key=int)[:3])
"""
    with warm(tmp_path, source) as client:
        for _ in range(2):
            assert client.run(LIMITS).stdout == b"['0', '1', '2']\n"


class TestHostileFrames:
    """Frames that a hostile driver may send."""

    CASES = (
        (b"", "ended"),
        (b"X\0\0\0\0", "began with"),
        (b"R\0\1\0\0", "65536 bytes"),
        (b"R\0\0\0\0Z\0\0\0\0", "frame b'Z'"),
        (b"R\0\0\0\0O\xff\xff\xff\xff", "4294967295 bytes"),
        (b"R\0\0\0\0" + b"O\0\0\0\x20" + b"x" * 32, "more than 16 bytes"),
        (b"R\0\0\0\0N\0\0\0\1q", "not requested"),
        (b"R\0\0\0\0F\0\0\0\1q", "frame b'F'"),
        (b"R\0\0\0\0D\0\0\0\2{}", "malformed"),
        (b"R\0\0\0\0D\0\0\0\2[]", "malformed"),
        (b"R\0\0\0\0D\0\0\0\3{", "ended"),
    )

    @pytest.mark.parametrize(("sent", "message"), CASES)
    def test_they_break_the_session(self, tmp_path: Path, sent: bytes, message: str) -> None:
        path = tmp_path / "frames"
        path.write_bytes(sent)
        with (
            path.open("rb") as replies,
            (tmp_path / "requests").open("wb") as requests,
            pytest.raises(SessionBroken, match=message),
        ):
            WarmClient(requests, replies).run(Limits(output_bytes=16))
