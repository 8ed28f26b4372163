"""The Python rows of the corpus."""

from __future__ import annotations

import signal

from testing.submissions.inputs import SPELLINGS, TEN_MB, counted, lines
from testing.submissions.model import Row

READERS = (
    "read_input.py",
    "read_stdin_lines.py",
    "read_readline.py",
    "read_buffer.py",
    "read_os_read.py",
    "read_fstat.py",
    "read_open0.py",
    "read_mmap.py",
    "read_dev_stdin.py",
    "read_fileinput.py",
    "read_seek.py",
    "read_eof_caught.py",
    "read_readlines.py",
    "read_iterator.py",
    "read_fast_io.py",
    "local_files_if_there.py",
    "future_first.py",
    "main_guard.py",
    "coding_cookie.py",
    "threads.py",
)
BIG_READERS = (
    "read_buffer.py",
    "read_os_read.py",
    "read_fstat.py",
    "read_open0.py",
    "read_mmap.py",
    "read_input.py",
    "read_readline.py",
)

READING = [
    *(Row(p, name=name, stdin=text) for p in READERS for name, text in SPELLINGS.items()),
    *(
        Row(p, name="10 MB", stdin=TEN_MB.input, expected=TEN_MB.sum, cpu_s=8, memory_mb=512)
        for p in BIG_READERS
    ),
    Row(
        "read_too_much.py",
        "RE",
        "a hundred thousand lines, five too few",
        stdin=lambda: lines(100_000),
        cpu_s=5,
        exit_code=1,
        says=b"EOFError",
    ),
    Row("read_input.py", "RE", "empty input", stdin=b"", exit_code=1, says=b"EOFError"),
    Row("read_open0.py", "WA", "empty input", stdin=b""),
    Row("read_input.py", "RE", "input that is not UTF-8", stdin=b"3\n1 \xff 3\n", exit_code=1),
    Row("read_buffer.py", name="no need to be UTF-8", stdin=b"\xff\n1 2 3\n"),
    Row("utf8_in.py", stdin="né漢\n".encode(), expected="3 漢én\n".encode()),
    Row("read_file_mode.py", name="input.txt", mode="file"),
    Row("local_files_if_there.py", name="input.txt", mode="file"),
    Row("read_file_mode.py", "RE", "no input.txt", says=b"FileNotFoundError"),
    Row("read_input.py", "WA RE", "input only in input.txt", mode="file"),
]

CLEAN = ("exit()", "quit()", "sys.exit(0)", "sys.exit(None)", "SystemExit", "os._exit", "nothing")
RAISED = {
    "raise": b"ValueError",
    "index": b"IndexError",
    "zero": b"ZeroDivisionError",
    "assert": b"not so",
    "recursion": b"RecursionError",
}
KILLS = (1, 6, 8, 9, 11, 15)

ENDINGS = [
    *(Row("endings.py", name=way, stdin=way.encode(), exit_code=0) for way in CLEAN),
    Row("endings.py", "WA", "os._exit before the flush", stdin=b"lost", output_bytes=0),
    Row("endings.py", "WA", "an atexit function prints", stdin=b"atexit", output_bytes=4),
    *(
        Row("endings.py", "RE", f"{way}", stdin=way.encode(), exit_code=1, says=says)
        for way, says in RAISED.items()
    ),
    *(
        Row("endings.py", "RE", f"exit {n}", stdin=b"code %d" % n, exit_code=n)
        for n in (1, 2, 3, 42, 124, 126, 127, 128, 134, 137, 139, 143, 255)
    ),
    Row("endings.py", name="exit 256 is 0", stdin=b"code 256", exit_code=0),
    Row("endings.py", "RE", "exit with a text", stdin=b"text", exit_code=1, says=b"went wrong"),
    Row("endings.py", "RE", "KeyboardInterrupt", stdin=b"interrupt"),
    *(Row("endings.py", "RE", f"kill {n}", stdin=b"kill %d" % n, signal=n) for n in KILLS),
    Row("endings.py", "RE", "abort", stdin=b"abort", signal=signal.SIGABRT),
    Row("endings.py", "RE", "segfault", stdin=b"segfault", signal=signal.SIGSEGV),
    Row("syntax_error.py", "CE", says=b"SyntaxError"),
    Row("tabs_and_spaces.py", "CE", says=b"Error"),
    Row("unknown_module.py", "RE", exit_code=1, says=b"a_module_that_nobody_wrote"),
    Row("empty.py", "WA", output_bytes=0),
    Row("swallowed_exit.py", "WA", "catches its own exit", output_bytes=4),
    Row("read_cin.cpp", "CE", "C++ called Python", language="python", says=b"SyntaxError"),
]

MEMORY = [
    Row("deep_recursion.py", name="200,000 calls", expected=b"200000\n", cpu_s=2, memory_mb=512),
    Row(
        "deep_recursion_thread.py",
        name="100,000 calls in a thread",
        expected=b"100000\n",
        cpu_s=2,
        memory_mb=512,
    ),
    Row("raise_stack.py"),
    Row("cached_recursion.py", expected=b"551411\n"),
    *(
        Row(
            "memory.py",
            verdict,
            f"{mb} of 128 MB",
            stdin=b"%d" % mb,
            expected=b"2\n",
            memory_mb=128,
        )
        for mb, verdict in ((1, "AC"), (64, "AC"), (100, "AC"), (160, "MLE"), (1000, "MLE"))
    ),
    Row("memory_list.py", "MLE", memory_mb=64),
    Row("memory_error_caught.py"),
]

TIME = [
    Row("busy.py", "TLE", cpu_s=0.2),
    Row("ignores_exceptions.py", "TLE", cpu_s=0.2),
    Row("sleep.py", "TLE", cpu_s=0.1),
]

OUTPUT = [
    Row("flood.py", "OLE", cpu_s=3),
    Row("flush_often.py", expected=lambda: counted(5000)),
    Row("utf8_out.py", expected="Übergrößenträger 漢字 😀\n".encode()),
    Row("standard_library.py"),
    Row("files_there_and_back.py"),
    Row("big_integers.py"),
    Row("long_integers.py", expected=b"16902\n"),
]

ROWS = [*READING, *ENDINGS, *MEMORY, *TIME, *OUTPUT]
