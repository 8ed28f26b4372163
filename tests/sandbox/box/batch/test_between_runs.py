"""A run of a batch finds nothing of the runs before it or after it: the same program, other inputs.

The input tells the program to look around, to leave what it can, or to search for other inputs.
"""

import ast
import secrets
from collections.abc import Iterator, Sequence

import pytest

from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.model import MIB, Compiled, Execution, Limits, Program
from tests.sandbox.levels import box_at

pytestmark = pytest.mark.slow  # each test starts real programs

LIMITS = Limits(cpu_s=8, wall_s=40, memory_bytes=256 * MIB, output_bytes=MIB)

LOOK = rb"""
import ctypes, fcntl, os, resource, signal, socket, stat, sys, threading, time

def tried(function, *arguments):
    try:
        return function(*arguments)
    except (OSError, ValueError, AttributeError, TypeError) as error:
        return type(error).__name__

def text(path):
    with open(path, 'rb') as file:
        return file.read(1 << 16)

def state(path):
    s = os.lstat(path)
    return path, s.st_mode, s.st_size, s.st_uid

def folder(path):
    return sorted(state(os.path.join(path, name)) for name in os.listdir(path))

def descriptors():
    found = []
    for fd in range(256):
        try:
            s, flags = os.fstat(fd), fcntl.fcntl(fd, fcntl.F_GETFL)
        except OSError:
            continue
        seals = tried(fcntl.fcntl, fd, 1034)
        at = tried(os.lseek, fd, 0, os.SEEK_CUR)
        found.append((fd, stat.S_IFMT(s.st_mode), s.st_mode, flags, seals, at))
    return found

def connects(name):
    return tried(lambda: socket.socket(socket.AF_UNIX).connect_ex(name))

def looks():
    work = os.getcwd()
    return {
        'descriptors': descriptors(),
        'size of stdout': os.fstat(1).st_size,
        'folders': [tried(folder, p) for p in (work, '/tmp', '/dev/shm', '/box', '/program')],
        'work': state(work), 'umask': os.umask(0o22),
        'processes': sum(name.isdigit() for name in tried(os.listdir, '/proc')),
        'limits': [resource.getrlimit(n) for n in range(16)],
        'signals': [str(signal.getsignal(n)) for n in (1, 2, 13, 15, 17)],
        'blocked': sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
        'timer': signal.getitimer(signal.ITIMER_REAL), 'nice': tried(os.nice, 0),
        'ids': os.getresuid() + os.getresgid(), 'groups': sorted(os.getgroups()),
        'session': os.getsid(0) == os.getpid(), 'environment': sorted(os.environ.items()),
        'cores': len(os.sched_getaffinity(0)), 'locks': tried(text, '/proc/locks'),
        'abstract': connects('\0left'), 'path': connects('/tmp/left'),
        'shared memory': tried(text, '/proc/sysvipc/shm'),
    }

def leaves():
    for place in ('.', '/tmp', '/dev/shm'):
        for n in range(20):
            tried(lambda: open(f'{place}/left{n}', 'wb').write(b'x' * (1 << 17)))
        tried(os.makedirs, f'{place}/a/b/c')
        tried(os.symlink, '/etc/passwd', f'{place}/link')
        tried(os.mkfifo, f'{place}/fifo')
        tried(os.chmod, place, 0o100)
    for name in ('\0left', '/tmp/left'):
        s = globals()[name] = tried(socket.socket, socket.AF_UNIX)
        if not isinstance(s, str):
            tried(s.bind, name), tried(s.listen, 1)
    kept = tried(os.memfd_create, 'left')
    if isinstance(kept, int):
        tried(os.write, kept, b'x' * (8 << 20))
    for number in range(1, 32):
        tried(signal.signal, number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))
    for number in range(16):
        soft, hard = resource.getrlimit(number)
        if number not in (resource.RLIMIT_AS, resource.RLIMIT_DATA, resource.RLIMIT_STACK):
            tried(resource.setrlimit, number, (min(hard, 30) if hard >= 0 else 30,) * 2)
    for fd in (0, 1, 2):
        tried(fcntl.fcntl, fd, fcntl.F_SETFL, os.O_NONBLOCK | os.O_APPEND)
        tried(os.fchmod, fd, 0)
        tried(fcntl.flock, fd, fcntl.LOCK_EX)
        tried(os.write, tried(os.open, f'/proc/self/fd/{fd}', os.O_RDWR), b'left')
    tried(os.nice, 5), os.umask(0o777)
    for _ in range(4):
        child = tried(os.fork)
        if child == 0:
            tried(os.setsid)
            for fd in (0, 1):
                tried(os.close, fd)
            while True:
                time.sleep(1)
    signal.setitimer(signal.ITIMER_REAL, 100)
    print('left')
    sys.stdout.flush()
    os._exit(0)

def mappings():
    try:
        maps = open('/proc/self/maps').read()
    except OSError:
        return
    with open('/proc/self/mem', 'rb', 0) as memory:
        for line in maps.splitlines():
            span, modes = line.split()[:2]
            low, high = (int(n, 16) for n in span.split('-'))
            if modes[0] == 'r' and '[v' not in line and high - low < 64 << 20:
                tried(memory.seek, low)
                yield tried(memory.read, high - low)

def files():
    for number in ('self', 'thread-self', *map(str, range(1, 40))):
        for fd in range(64):
            for link in (f'/proc/{number}/fd/{fd}',):
                if number not in ('self', 'thread-self') or fd > 2:
                    yield link
        for name in ('mem', 'environ', 'cmdline', 'maps', 'stack', 'syscall'):
            if number not in ('self', 'thread-self') and number != str(os.getpid()):
                yield f'/proc/{number}/{name}'
    for top in ('/box', '/program', '/tmp', '/dev/shm', '.'):
        for folder, _, names in os.walk(top):
            for name in names:
                yield os.path.join(folder, name)

def searches(own):
    seen = set()
    mark = own[:16]
    def look(data):
        at = data.find(mark) if isinstance(data, bytes) else -1
        while at >= 0:
            seen.add(data[at:at + len(own)])
            at = data.find(mark, at + 1)
    for fd in range(3, 1024):
        look(tried(os.pread, fd, 1 << 20, 0)), look(tried(os.read, fd, 1 << 16))
    look(tried(os.pread, 0, 1 << 21, 0))
    seen.discard(own)
    recent = time.time() - 300
    for path in files():
        at = tried(os.stat, path)
        if stat.S_ISFIFO(getattr(at, 'st_mode', 0)) or getattr(at, 'st_ctime', recent) < recent:
            continue
        fd = tried(os.open, path, os.O_RDONLY | os.O_NONBLOCK)
        if isinstance(fd, int):
            look(tried(os.read, fd, 1 << 21))
            os.close(fd)
    for data in mappings():
        look(data)
    libc = ctypes.CDLL(None, use_errno=True)
    for pid in range(1, 40):
        if pid != os.getpid() and libc.ptrace(16, pid, 0, 0) == 0:
            seen.add(b'traced %d' % pid)
        pidfd = tried(getattr(os, 'pidfd_open', os.open), pid, 0)
        if isinstance(pidfd, int):
            for fd in range(40):
                if pid != os.getpid() and libc.syscall(438, pidfd, fd, 0) >= 0:
                    seen.add(b'taken from %d' % pid)
    words = (bytes(one) for one in seen - {own})
    hexadecimal = set(b'0123456789abcdef')  # anything else is a part of a word, in this memory
    return {one for one in words if not set(one) - hexadecimal or one.startswith(b't')}

def fills():
    left = bytearray(64 << 20)
    for name in 'abcd':
        tried(lambda: open(name, 'wb').write(b'x' * (4 << 20)))

order, _, rest = sys.stdin.buffer.read().partition(b' ')
if order == b'leave':
    leaves()
if order == b'fill':
    fills()
print(ascii(looks() if order != b'search' else searches(rest[:40])))
"""


@pytest.fixture(
    scope="module",
    params=[
        "full fork",
        "full exec",
        "delegated fork",
        "userns fork",
        "userns exec",
        "landlock exec",
    ],
)
def box(request: pytest.FixtureRequest) -> Iterator[EmbeddedSandbox]:
    level, start = request.param.split()
    with box_at(level, allow_unsafe=True, python_start=start) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def program(box: EmbeddedSandbox) -> Compiled:
    return box.compile(Program("python", {"main.py": LOOK}))


def many(box: EmbeddedSandbox, program: Compiled, stdins: Sequence[bytes]) -> list[Execution]:
    groups = box.run_many(program, [LIMITS] * len(stdins), stdins)
    return [execution for group in groups for execution in group]


def test_what_a_run_leaves_is_gone(box, program):
    got = many(box, program, [b"look "] * 2 + [b"leave ", b"look "] * 3)
    assert [one.exit_code for one in got] == [0] * 8, [one.stderr for one in got if one.exit_code]
    assert [one.stdout[-5:] for one in got[2::2]] == [b"left\n"] * 3
    views = [ast.literal_eval(one.stdout.decode()) for one in (got[0], got[1], *got[3::2])]
    for name, first in views[0].items():
        assert [view[name] for view in views] == [first] * 5, name


def test_a_run_has_the_memory_that_it_has_alone(box, program):
    alone = box.run(program, LIMITS, stdin=b"look ").memory_bytes
    got = many(box, program, [b"look ", b"fill ", b"look ", b"look "])
    for one in (got[0], got[2], got[3]):
        assert one.memory_bytes is not None and alone is not None
        assert abs(one.memory_bytes - alone) < 2 * MIB


@pytest.mark.parametrize("size", [0, 100_000], ids=["in the message", "in a file"])
def test_inputs_of_other_runs_cannot_be_found(box, program, size):
    mark = secrets.token_hex(8).encode()  # not in the program
    words = [mark + secrets.token_hex(12).encode() for _ in range(4)]
    got = many(box, program, [b"search " + word + bytes(size) for word in words])
    assert [(one.exit_code, one.stdout) for one in got] == [(0, b"set()\n")] * 4, got[0].stderr
    # It would have found one: this input has two.
    [both] = many(box, program, [b"search " + mark + b"0" * 24 + words[0]])
    assert ast.literal_eval(both.stdout.decode()) == {words[0]}
