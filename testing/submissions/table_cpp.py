"""The C++ rows of the corpus."""

from __future__ import annotations

import platform
import signal

from testing.submissions.inputs import SPELLINGS, TEN_MB, counted, numbers
from testing.submissions.model import Row

READERS = (
    "read_scanf.cpp",
    "read_cin.cpp",
    "read_cin_unsynced.cpp",
    "read_getline.cpp",
    "read_getchar.cpp",
    "read_fread.cpp",
    "read_descriptor.cpp",
    "read_mmap.cpp",
    "read_dev_stdin.cpp",
    "read_past_the_end.cpp",
    "read_newline_format.cpp",
    "read_unlocked.cpp",
    "read_iterators.cpp",
    "online_judge_macro.cpp",
    "threads.cpp",
)
BIG_READERS = (
    "read_cin_unsynced.cpp",
    "read_getchar.cpp",
    "read_fread.cpp",
    "read_descriptor.cpp",
    "read_scanf.cpp",
)

READING = [
    *(Row(p, name=name, stdin=text) for p in READERS for name, text in SPELLINGS.items()),
    *(Row(p, name="10 MB", stdin=TEN_MB.input, expected=TEN_MB.sum, cpu_s=5) for p in BIG_READERS),
    Row("read_file_mode.cpp", name="input.txt", mode="file"),
    Row("read_file_mode.cpp", "WA", "no input.txt", mode="stdio"),
    Row("answer_in_a_file.cpp", "WA", "output.txt is not read in stdio mode"),
    Row("answer_in_a_file.cpp", name="output.txt is read in file mode", mode="file"),
    Row("read_scanf.cpp", "WA", "prints although output.txt is wanted", mode="file"),
    Row("async.cpp"),
    Row("closed_stdin.cpp"),
]

MEMORY = [
    Row("deep_recursion.cpp", name="a million calls", expected=b"1000000\n"),
    Row("infinite_recursion.cpp", "MLE RE", "the stack has no limit but the memory's", cpu_s=5),
    Row("big_local_array.cpp"),
    Row("raise_stack.cpp"),
    *(
        Row(p, verdict, f"{mb} of 128 MB", stdin=b"%d" % mb, expected=b"2\n", memory_mb=128)
        for p in ("memory_vector.cpp", "memory_static.cpp")
        for mb, verdict in ((1, "AC"), (64, "AC"), (110, "AC"), (140, "MLE"), (380, "MLE"))
        if (p, mb) != ("memory_vector.cpp", 380)
    ),
    Row("memory_leak.cpp", "MLE", memory_mb=64),
    Row("memory_leak.cpp", "MLE", "a limit of 1 GB", memory_mb=1024, cpu_s=5),
    Row("bad_alloc_uncaught.cpp", "RE MLE", "asks for 2^43 bytes", says=b"bad_alloc"),
    Row("bad_alloc_caught.cpp"),
]

SIGNALLED = {
    "null": signal.SIGSEGV,
    "wild": signal.SIGSEGV,
    "divide": signal.SIGFPE,
    "abort": signal.SIGABRT,
    "assert": signal.SIGABRT,
    "throw": signal.SIGABRT,
    "throw_int": signal.SIGABRT,
    "at": signal.SIGABRT,
    "stoi": signal.SIGABRT,
    "noexcept": signal.SIGABRT,
    "double_free": signal.SIGABRT,
}
RAISED = (1, 2, 3, 6, 8, 9, 10, 11, 12, 13, 14, 15, 24, 31)

CRASHES = [
    Row("crash.cpp", name="does not", stdin=b"no"),
    *(Row("crash.cpp", "RE", w, stdin=w.encode(), signal=s) for w, s in SIGNALLED.items()),
    Row("crash.cpp", "RE", "trap", stdin=b"trap"),
    Row("crash.cpp", "RE", "smash", stdin=b"smash"),
    Row("segv_handler.cpp", name="answers from its signal handler"),
    Row("crash.cpp", "RE", "a pure virtual call", stdin=b"virtual"),
    *(Row("crash.cpp", "RE", f"signal {n}", stdin=b"raise %d" % n, signal=n) for n in RAISED),
    # A sandbox may ignore the signal of its own limit on files.
    Row("crash.cpp", "RE AC OLE", f"signal {signal.SIGXFSZ:d}", stdin=b"raise 25"),
    *(
        Row("crash.cpp", "RE", f"exit {n}", stdin=b"exit %d" % n, exit_code=n)
        for n in (*range(1, 4), 42, *range(123, 160), 254, 255)  # with those of 128 + signal
    ),
    Row("crash.cpp", name="exit 0", stdin=b"exit 0", exit_code=0),
    Row("crash.cpp", name="exit 256 is 0", stdin=b"exit 256", exit_code=0),
    Row("crash.cpp", "RE", "exit -1", stdin=b"exit -1", exit_code=255),
    Row("crash.cpp", "RE", "quick_exit", stdin=b"quick_exit", exit_code=7),
    Row("crash.cpp", "RE", "return 1", stdin=b"return", exit_code=1),
    Row("crash.cpp", "RE", "what() is on stderr", stdin=b"throw", says=b"strange text"),
    Row("crash.cpp", "RE", "assert is on stderr", stdin=b"assert", says=b"zero == 1"),
]

TIME = [
    Row("busy.cpp", "TLE", cpu_s=0.2),
    Row("busy_threads.cpp", "TLE", "the threads' time counts together", cpu_s=0.3),
    Row("burn_cpu.cpp", name="half of the limit", stdin=b"200", cpu_s=0.4),
    Row("burn_cpu.cpp", "TLE", "1.15 times the limit: ends by itself", stdin=b"460", cpu_s=0.4),
    Row("burn_cpu.cpp", "TLE", "twice the limit: is ended", stdin=b"800", cpu_s=0.4),
    Row("sleep.cpp", "TLE", cpu_s=0.1),
    Row("short_sleep.cpp", name="longer than the limit, by the clock only", cpu_s=0.2),
    Row("wait_for_a_signal.cpp", "TLE", "ignores every signal", cpu_s=0.1),
    Row("clock_and_random.cpp"),
    Row("priority_and_affinity.cpp"),
]

OUTPUT = [
    Row("flood.cpp", "OLE", cpu_s=3),
    Row(
        "large_output.cpp", name="4 MB", stdin=b"1000000", expected=lambda: counted(1_000_000, 1000)
    ),
    Row("stderr_much.cpp", name="5 MB of stderr end nothing"),
    Row("stderr_endless.cpp", "TLE RE OLE", "stderr without end", cpu_s=0.3),
    Row("endl_often.cpp", expected=lambda: counted(20_000)),
    Row("constructors_print.cpp", expected=b"1 2 3\n"),
    Row("lost_buffer.cpp", "WA", output_bytes=0),
    Row("closed_stdout.cpp", "WA", output_bytes=0),
    Row("silent.cpp", "WA", output_bytes=0),
    Row("silent.cpp", name="nothing is wanted", expected=b""),
    Row("files_there_and_back.cpp"),
    Row("system_pause.cpp"),
    *(
        Row("bytes_out.cpp", verdict, name, stdin=text.hex().encode(), output_bytes=len(text))
        for name, verdict, text in (
            ("no newline", "AC", b"6"),
            ("CRLF", "AC", b"6\r\n"),
            ("blanks and empty lines", "AC", b"  6  \n\n"),
            ("a second token", "WA", b"6 7\n"),
            ("a leading zero", "WA", b"06\n"),
            ("a NUL", "WA", b"6\0\n"),
            ("not UTF-8", "WA", b"\xff\xfe6\n"),
            ("a byte order mark", "WA", b"\xef\xbb\xbf6\n"),
            ("an escape sequence", "WA", b"\x1b[2J6\n"),
        )
    ),
    Row("bytes_out.cpp", name="bytes as they are", stdin=b"00ff80", expected=b"\x00\xff\x80"),
]

STANDARDS = ("11", "14", "17", "20", "23")
LANGUAGE = [
    *(Row(f"std{s}.cpp", language=f"c++{s}") for s in STANDARDS),
    *(Row(f"std{new}.cpp", "CE", language="c++11") for new in STANDARDS[2:]),
    Row("std20.cpp", "CE", language="c++17"),
    Row("std17.cpp", name="by a Markdown fence's tag", language="cpp"),
    *(Row("read_scanf.cpp", language=f"c++{s}") for s in STANDARDS),
    Row("policy_tree.cpp"),
    # Intrinsics of one family of processors.
    *([Row("pragmas.cpp")] if platform.machine() in ("x86_64", "AMD64") else []),
]

COMPILING = [
    Row("ce_semicolon.cpp", "CE", says=b"expected"),
    Row("ce_error_directive.cpp", "CE", says=b"this is not going to work"),
    Row("ce_templates.cpp", "CE", says=b"depth"),
    Row("ce_static_assert.cpp", "CE", says=b"an int of three bytes"),
    Row("ce_no_header.cpp", "CE", says=b"no/such/header.h"),
    Row("ce_unresolved.cpp", "CE", says=b"elsewhere"),
    Row("ce_no_main.cpp", "CE", says=b"main"),
    Row("ce_two_mains.cpp", "CE", says=b"main"),
    Row("ce_python_inside.cpp", "CE"),
    Row("ce_error_flood.cpp", "CE", says=b"undeclared_name"),
    Row("warning_flood.cpp"),
    Row("empty.py", "CE", "an empty file", language="c++17"),
]

REAL_SUM = numbers(1000)
ROWS = [
    *READING,
    Row("read_cin.cpp", name="a thousand", stdin=REAL_SUM.input, expected=REAL_SUM.sum),
    *MEMORY,
    *CRASHES,
    *TIME,
    *OUTPUT,
    *LANGUAGE,
    *COMPILING,
]
