"""Attacks on the start by fork: on the template, its supervisor, and the next run.

An attack prints "BREACH …" for what worked, else "held".
"""

import ctypes
import gc
import json
import os
import resource
import signal
import socket
import sys
import threading
import time

libc = ctypes.CDLL(None, use_errno=True)
NAMESPACES = (0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000, 0x2000000)
FATAL = (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGINT, signal.SIGSEGV)


def breach(*what):
    print("BREACH", *what, flush=True)
    sys.exit(1)


def open_descriptors():
    found = []
    for fd in range(3, 1100):
        try:
            os.fstat(fd)
            found.append(fd)
        except OSError:
            pass
    return found


def status():
    with open("/proc/self/status") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def attack_probe():
    """Not an attack: print what a run before could have changed."""
    try:
        shown = status()
        words = [shown.get(name) for name in ("SigBlk", "SigIgn", "SigCgt", "CapEff", "Threads")]
    except OSError:
        words = []
    limits = [resource.getrlimit(n) for n in range(resource.RLIM_NLIMITS) if n not in (0, 6)]
    print(words, limits, open_descriptors(), os.getcwd(), os.umask(0), dict(os.environ))
    print(sorted(os.listdir(".")), sorted(sys.modules), json.__file__, sys.path, len(builtins()))
    print(signal.getitimer(signal.ITIMER_REAL), os.getpriority(0, 0), gc.get_threshold())
    print(os.sched_getscheduler(0), libc.prctl(3), libc.prctl(39), sys.getrecursionlimit())


def builtins():
    return vars(sys.modules["builtins"])


def attack_descriptors():
    found = open_descriptors()
    if found:
        breach("descriptors", found)


def attack_signals():
    for pid in (1, os.getppid()):
        for number in (*FATAL, *range(1, 65)):
            libc.kill(pid, int(number))
        for number in FATAL:
            libc.syscall(424, pid, int(number), None, 0)
            libc.syscall(434, pid, 0)
    for group in set(range(1, 300)) - {1, os.getpgrp()}:
        libc.kill(-group, 9)


def attack_processes():
    own = {"self", "thread-self", str(os.getpid()), os.readlink("/proc/self")}
    for pid in range(1, 1000):
        if str(pid) in own:
            continue
        for name in ("status", "mem", "maps", "environ", "cmdline", "root/etc/passwd", "fd/3"):
            try:
                with open(f"/proc/{pid}/{name}", "rb"):
                    breach("process", pid, name)
            except OSError:
                pass
        buffer = ctypes.create_string_buffer(8)
        vector = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 8)
        if libc.process_vm_readv(pid, vector, 1, vector, 1, 0) > 0:
            breach("memory of", pid)
        if libc.ptrace(16, pid, 0, 0) == 0:
            breach("traces", pid)


def attack_namespaces():
    for flag in NAMESPACES:
        if libc.unshare(flag) == 0:
            breach("unshare", hex(flag))
        if os.uname().machine == "x86_64":
            pid = libc.syscall(56, flag | signal.SIGCHLD, 0, 0, 0, 0)
            if pid == 0:
                os._exit(0)
            if pid > 0:
                breach("clone", hex(flag))
    for name in ("pid", "mnt", "user", "net", "pid_for_children"):
        try:
            fd = os.open(f"/proc/self/ns/{name}", os.O_RDONLY)
        except OSError:
            continue
        if libc.setns(fd, 0) == 0:
            breach("setns", name)


def attack_rights():
    try:
        shown = status()
    except OSError:  # no /proc at this level
        return
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        if int(shown[name], 16):
            breach(name, shown[name])
    if (shown["NoNewPrivs"], shown["Seccomp"]) != ("1", "2"):
        breach("filter", shown["NoNewPrivs"], shown["Seccomp"])
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    if libc.capset(header, (ctypes.c_uint32 * 6)(*[1 << 21] * 3)) == 0:
        breach("capset")
    if libc.prctl(47, 2, 21, 0, 0) == 0 or libc.prctl(28, 1, 0, 0, 0) == 0:
        breach("ambient capabilities or securebits")
    nothing = (ctypes.c_size_t * 2)(1, 0)
    if libc.prctl(22, 2, nothing) == 0 or libc.syscall(317, 1, 0, nothing) == 0:
        breach("a filter of its own")
    if libc.setresuid(0, 0, 0) == 0 and os.getuid() == 0:
        breach("root")
    try:
        os.sched_setaffinity(0, range(64))
        breach("affinity")
    except OSError:
        pass


def attack_input():
    size = os.fstat(0).st_size
    for path in ("/dev/stdin", "/proc/self/fd/0"):
        for flags in (os.O_RDWR, os.O_WRONLY | os.O_TRUNC, os.O_WRONLY | os.O_APPEND):
            try:
                fd = os.open(path, flags)
                os.ftruncate(fd, size + (1 << 20))
            except OSError:
                pass
    if os.fstat(0).st_size != size:
        breach("stdin has", os.fstat(0).st_size, "bytes")


def attack_interpreter():
    """Change everything that a next program would find if it were the same process."""
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    signal.pthread_sigmask(signal.SIG_SETMASK, range(1, 65))
    signal.setitimer(signal.ITIMER_REAL, 3600)
    os.umask(0o777)
    os.environ.clear()
    gc.unfreeze()
    gc.set_threshold(1)
    sys.setrecursionlimit(100)
    sys.path[:] = ["/tmp"]
    with open("/tmp/json.py", "w") as file:
        file.write("print('BREACH')\n")
    json.__file__ = "/tmp/json.py"
    vars(sys.modules["builtins"])["print_"] = print
    print("held", flush=True)
    with open("/proc/self/maps") as file:  # all memory of the interpreter and the template
        areas = [line.split() for line in file]
    for area in areas:
        if area[1].startswith("rw") and not area[-1].startswith("[stack"):
            start, end = (int(x, 16) for x in area[0].split("-"))
            ctypes.memset(start, 0, end - start)
    os._exit(0)


def attack_own_file():
    libc.fopen(b"/program/main.py", b"r")
    for fd in (3, 4, 5):  # where a template has its socket
        one, two = socket.socketpair()
        os.dup2(one.fileno(), fd)
        two.sendall(b"\2" + bytes(4000))
        libc.fopen(b"/program/main.py", b"r")


def attack_children():
    held = []
    try:
        while True:
            pid = os.fork()
            if not pid:
                os.setsid()
                for number in set(range(1, 32)) - {9, 19}:
                    signal.signal(number, signal.SIG_IGN)
                time.sleep(1000)
            held.append(pid)
    except OSError:
        pass


def attack_threads():
    def spin():
        while True:
            pass

    for _ in range(8):
        threading.Thread(target=spin, daemon=True).start()


def attack_fork_bomb():
    while True:
        try:
            os.fork()
        except OSError:
            pass


def attack_stop():
    os.kill(os.getpid(), signal.SIGSTOP)


def attack_memory():
    held = []
    while True:
        held.append(b"x" * (1 << 20))


def attack_memory_children():
    try:
        for _ in range(12):
            if not os.fork():
                attack_memory()
    except OSError:
        pass
    attack_memory()


def attack_vfork():
    """Leave a child that shares the program's memory and never ends."""
    if os.uname().machine == "x86_64":
        pid = libc.syscall(56, 0x100 | 0x4000 | signal.SIGCHLD, 0, 0, 0, 0)
        if pid == 0:
            time.sleep(1000)


globals()[f"attack_{sys.argv[1]}"]()
print("held", flush=True)
