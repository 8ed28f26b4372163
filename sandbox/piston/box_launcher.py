"""Run one program inside a Piston box and print a report of it. Sent to the server as source.

Piston itself can't carry bytes: it cuts stdin, decodes output piece by piece, kills for
stderr. So this file is the main file of the job. It opens a data file as descriptor 0, starts
the real program and prints its output in frames of plain ASCII:

    GBX1 nonce
    B n            n characters of stdout follow, base64
    E n            stderr, base64
    F name n       a collected file, base64 (the name in hexadecimal)
    Z nonce exit signal cpu_us rss_kib stdout_bytes stderr_bytes wall_us why

`why`: "-" the program ended by itself; "output", "wall" it was killed here for that limit;
"short" the server can't carry the whole output. The job is in the file gbx-job (launcher.py).

The program runs as the same user and could forge frames. It gains nothing: output and exit
status are its own to choose, time and memory are checked against the server's figures.
Must run under any Python from 3.6 on: nothing newer, nothing heavy to import.
"""
# pathlib and contextlib would cost each run milliseconds
# ruff: noqa: PTH101, PTH104, PTH108, PTH110, PTH123, PTH208, SIM105, UP037

import sys

sys.path.pop(0)  # the program's files are there: none may replace a library module

import binascii
import os
import resource
import select
import signal
import time
import zlib

IGNORED = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)

# the same in every backend, so that a program behaves the same in each
FIXED = (
    "HOME=/tmp",
    "TMPDIR=/tmp",
    "USER=box",
    "LANG=C.UTF-8",
    "TZ=UTC",
    "PYTHONHASHSEED=0",
    "PYTHONDONTWRITEBYTECODE=1",
    "OMP_NUM_THREADS=1",
    "OPENBLAS_NUM_THREADS=1",
    "ONLINE_JUDGE=1",
)
KEPT = ("PATH", "LD_LIBRARY_PATH", "RUST_INSTALL_LOC")  # variables of the package
BROKEN = 3  # exit code when this process fails after the program has begun
PIECE = 48 * 1024  # a multiple of 3: base64 of a piece needs no padding
TICK_MS = 10


class LaunchJob:
    """The contents of gbx-job: fields separated by NUL."""

    def __init__(self, raw: bytes) -> None:
        fields = raw.split(b"\0")
        numbers = [int(x) for x in fields[1].split()]
        self.nonce = fields[0].decode()
        (
            self.stdout_max,
            self.stderr_max,
            self.budget,
            self.wall_ms,
            self.processes,
            self.open_files,
            self.file_max,
            self.fixed_addresses,
            argc,
            filec,
        ) = numbers
        self.argv = fields[2 : 2 + argc]
        self.files = fields[2 + argc : 2 + argc + filec]
        self.collect = fields[2 + argc + filec :]


class Printer:
    """Writes frames, and stops when the server's output limit would be reached."""

    def __init__(self, job: LaunchJob) -> None:
        self.left = job.budget - 400  # so that the first and the last line always fit
        self.short = False
        self.held_s = 0.0  # seconds spent in writes, which a slow server holds up
        self.put("GBX1 " + job.nonce + "\n")

    def put(self, text: "bytes | str") -> None:
        data = text if isinstance(text, bytes) else text.encode()
        began = time.monotonic()
        while data:
            data = data[os.write(1, data) :]
        self.held_s += time.monotonic() - began

    def frame(self, head: bytes, body: bytes) -> None:
        head = head + b" %d\n" % len(body)
        size = len(head) + len(body) + 1
        if self.short or size > self.left:
            self.short = True
            return
        self.left -= size
        self.put(head + body + b"\n")

    def base64(self, head: bytes, data: bytes) -> None:
        self.frame(head, binascii.b2a_base64(data).rstrip())


class Pipe:
    """The output of one descriptor of the program, counted and kept up to a limit."""

    def __init__(self, read: int, keep: int, poll: "select.poll") -> None:
        self.read = read
        self.keep = keep
        self.poll = poll
        self.total = 0
        self.open = True
        os.set_blocking(read, False)
        poll.register(read, select.POLLIN)

    def next(self) -> "bytes | None":
        """Return the bytes to keep of those available; None when there are none."""
        try:
            piece = os.read(self.read, PIECE)
        except BlockingIOError:
            return None
        if not piece:
            self.open = False
            self.poll.unregister(self.read)
            return None
        room = max(0, self.keep - self.total)
        self.total += len(piece)
        return piece[:room]


def limit(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, value))


def environment() -> "dict[str, str]":
    kept = {k: os.environ[k] for k in KEPT if k in os.environ}
    return dict(kept, **dict(pair.split("=", 1) for pair in FIXED))


def start(job: LaunchJob, stdin: int, out: int, err: int) -> int:
    argv = [a.replace(b"{python}", os.fsencode(sys.executable)) for a in job.argv]
    if job.fixed_addresses:
        argv = [b"/usr/bin/setarch", os.uname().machine.encode(), b"-R", *argv]
    pid = os.fork()
    if pid:
        return pid
    try:
        for place, fd in enumerate((stdin, out, err)):
            os.dup2(fd, place)
        os.setsid()
        for number in (*IGNORED, signal.SIGPIPE, signal.SIGXFSZ):  # the defaults of any program
            signal.signal(number, signal.SIG_DFL)
        limit(resource.RLIMIT_CORE, 0)
        limit(resource.RLIMIT_FSIZE, job.file_max)
        limit(resource.RLIMIT_NOFILE, job.open_files)
        limit(resource.RLIMIT_NPROC, job.processes + 8)  # the server's own shells count too
        os.execvpe(argv[0], argv, environment())
    finally:
        os._exit(127)


def waited_s(pid: "int | str") -> float:
    """Return the seconds for which a process was ready and had no core."""
    try:
        with open(f"/proc/{pid}/schedstat") as f:
            return int(f.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def hindered_s(printer: Printer) -> float:
    """Return the seconds in which this process could not pass output on.

    The program waits meanwhile for room in its pipe.
    """
    return printer.held_s + waited_s("self")


def overdue(job: LaunchJob, pid: int, spent_s: float, printer: Printer, before_s: float) -> bool:
    """Return whether the wall time is used up by the program, not by waiting for a core or here."""
    limit_s = job.wall_ms / 1000
    if spent_s <= limit_s:
        return False
    return spent_s - waited_s(pid) - (hindered_s(printer) - before_s) > limit_s


def drain(out: Pipe, err: Pipe, printer: Printer, kept: "list[bytes]") -> bool:
    """Pass on one piece of each pipe; return whether there was one."""
    some = False
    for pipe in (out, err):
        piece = pipe.next() if pipe.open else None
        some = some or piece is not None
        if piece and pipe is out:
            printer.base64(b"B", piece)
        elif piece:
            kept.append(piece)
    return some


def supervise(
    job: LaunchJob, pid: int, out: Pipe, err: Pipe, printer: Printer
) -> "tuple[int, resource.struct_rusage, bytes, str, float]":
    """Pass output on until the program ends; return (status, usage, stderr, why, seconds)."""
    began, before_s = time.monotonic(), hindered_s(printer)
    kept: "list[bytes]" = []
    why, ended = "-", 0
    while not ended:
        # a program that has closed both pipes will end soon
        out.poll.poll(TICK_MS if out.open or err.open else 1)
        drain(out, err, printer, kept)
        if out.total > job.stdout_max:
            why = "output"
        elif overdue(job, pid, time.monotonic() - began, printer, before_s):
            why = "wall"
        if why != "-":
            os.killpg(pid, signal.SIGKILL)
        ended, status, usage = os.wait4(pid, 0 if why != "-" else os.WNOHANG)
    while out.total <= job.stdout_max and drain(out, err, printer, kept):
        pass
    if out.total > job.stdout_max:
        why = "output"
    return status, usage, b"".join(kept), why, time.monotonic() - began


def collected(name: bytes, most: int) -> "bytes | None":
    """Return a regular file of the working folder, never through a link; None if absent."""
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        if (os.fstat(fd).st_mode & 0o170000) != 0o100000:
            return None
        with os.fdopen(os.dup(fd), "rb") as f:
            return f.read(most)
    finally:
        os.close(fd)


def prepare(job: LaunchJob) -> None:
    """Remove what started this process, and give the program's files their names."""
    if os.path.exists("gbx-program"):
        with open("gbx-program", "rb") as f, open("main", "wb") as g:
            g.write(zlib.decompress(f.read(), 31))
        os.chmod("main", 0o755)
    for i, wanted in enumerate(job.files):  # sent under names no package reacts to
        os.rename(f"gbx-{i}", wanted)
    for name in os.listdir("."):
        if name.startswith("gbx-"):
            os.unlink(name)


def finish(printer: Printer, job: LaunchJob, stderr: bytes, why: str, *numbers: int) -> None:
    """Print the last frames."""
    stderr = stderr[: max(0, (printer.left - 40) // 4 * 3)]  # stderr must not cause "short"
    if stderr:
        printer.base64(b"E", stderr)
    for wanted in job.collect:
        data = collected(wanted, job.stdout_max)
        if data is not None:
            printer.base64(b"F " + binascii.hexlify(wanted), data)
    if printer.short and why == "-":
        why = "short"
    printer.put(f"Z {job.nonce} {' '.join(map(str, numbers))} {why}\n")


def main() -> None:
    with open("gbx-job", "rb") as f:
        job = LaunchJob(f.read())
    stdin = os.open("gbx-stdin", os.O_RDONLY)
    prepare(job)
    printer = Printer(job)
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    for number in IGNORED:  # the program could send these signals to this process
        signal.signal(number, signal.SIG_IGN)
    pid = start(job, stdin, out_write, err_write)
    for fd in (stdin, out_write, err_write):
        os.close(fd)
    poll = select.poll()
    out, err = Pipe(out_read, job.stdout_max, poll), Pipe(err_read, job.stderr_max, poll)
    try:
        report(job, pid, out, err, printer)
    except (OSError, MemoryError, ValueError):  # the program set limits for this process, say
        os._exit(BROKEN)


def report(job: LaunchJob, pid: int, out: Pipe, err: Pipe, printer: Printer) -> None:
    status, usage, stderr, why, wall_s = supervise(job, pid, out, err, printer)
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass
    finish(
        printer,
        job,
        stderr,
        why,
        os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1,
        os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
        int((usage.ru_utime + usage.ru_stime) * 1e6),
        usage.ru_maxrss,
        out.total,
        err.total,
        int(wall_s * 1e6),
    )


if __name__ == "__main__":
    main()
