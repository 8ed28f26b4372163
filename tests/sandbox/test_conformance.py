"""The behaviour that all sandboxes share: the embedded box, the server, a real Piston."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest

from gradebox.sandbox import (
    BadRequest,
    Compiled,
    Limits,
    Program,
    Sandbox,
)
from gradebox.sandbox.errors import Refused
from gradebox.sandbox.protocol import BatchSandbox
from testing.rows import rows
from tests.sandbox.backends import NAMES, open_backend, skip

pytestmark = pytest.mark.slow  # each test starts real programs

MIB = 1 << 20


PARAMS = [pytest.param(n, marks=pytest.mark.piston if n == "piston" else ()) for n in NAMES]


@pytest.fixture(scope="session", params=PARAMS)
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with open_backend(request.param) as sandbox:
        yield sandbox


def made(box: Sandbox, language: str, source: str) -> Compiled:
    name = "main.py" if language == "python" else "main.cpp"
    return box.compile(Program(language, {name: source.encode()}))


def run(box: Sandbox, language: str, source: str, **more: Any) -> Any:
    limits = more.pop("limits", Limits())
    return box.run(made(box, language, source), limits, **more)


ECHO = "import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())"


@pytest.mark.parametrize(
    ("language", "source", "stdin", "expected"),
    [pytest.param(*row, id=name) for name, *row in rows(__file__, "ends")],
)
def test_results_of_programs(box, language, source, stdin, expected):
    """Of the execution, the fields that are given; bytes are written as Latin-1."""
    got = run(box, language, source, stdin=stdin.encode("latin-1"))
    seen = {name: getattr(got, name) for name in expected}
    shown = {n: v.decode("latin-1") if isinstance(v, bytes) else v for n, v in seen.items()}
    assert shown == expected


LIMITS: dict[str, tuple[str, str, Limits]] = {
    "cpu": ("python", "while True: pass", Limits(cpu_s=0.5, wall_s=20)),
    "cpu of a child": (
        "python",
        "import os\nos.fork()\nwhile True: pass",
        Limits(cpu_s=0.6, wall_s=20),
    ),
    "wall": ("python", "import time; time.sleep(60)", Limits(cpu_s=1, wall_s=0.5)),
    "memory": (
        "c++17",
        "#include <vector>\nint main(){std::vector<int> v(100000000,1);return v[7]-1;}",
        Limits(memory_bytes=64 * MIB),
    ),
    "output": ("python", "while True: print('x' * 1000)", Limits(output_bytes=200_000, cpu_s=5)),
}


@pytest.mark.parametrize("name", LIMITS)
def test_each_limit_is_reported_by_name(box, name):
    language, source, limits = LIMITS[name]
    if "fork" in source and box.describe().level in ("userns", "landlock"):
        pytest.skip("programs may not fork at this level")
    got = run(box, language, source, limits=limits)
    assert got.killed_for == name.split()[0]
    assert got.killed_for in got.limits_hit
    assert len(got.stdout) <= limits.output_bytes


@contextmanager
def large_bodies() -> Iterator[None]:
    """Skip the test on a real Piston that was started with its own limit of requests."""
    try:
        yield
    except Refused as error:
        skip("piston", str(error))


def test_large_input_arrives_whole(box):
    data = b"1234567\n" * 300_000
    source = "import hashlib\nprint(hashlib.sha256(open(0, 'rb').read()).hexdigest())"
    with large_bodies():
        got = run(box, "python", source, stdin=data)
    assert got.stdout.decode().strip() == hashlib.sha256(data).hexdigest()


def test_large_output_comes_back_whole(box):
    data = "漢字かな".encode() * 40_000
    with large_bodies():
        got = run(box, "python", ECHO, stdin=data)
    assert (got.stdout == data, got.stdout_bytes, got.stdout_cut) == (True, len(data), False)


def test_stderr_is_cut_and_the_program_continues(box):
    source = "import sys\nsys.stderr.write('e' * 300_000)\nprint('done')"
    got = run(box, "python", source, limits=Limits(stderr_bytes=1000))
    assert (got.stdout, got.exit_code, got.stderr_cut) == (b"done\n", 0, True)
    assert got.stderr == b"e" * 1000


def test_files_in_and_out(box):
    """A collected link is not followed."""
    source = "data = open('input.txt', 'rb').read()\nopen('output.txt', 'wb').write(data[::-1])\n"
    source += "import os\nos.symlink('/etc/passwd', 'link')"
    collect = ("output.txt", "none", "link")
    got = run(box, "python", source, files={"input.txt": b"\x00\xffab"}, collect=collect)
    assert dict(got.files) == {"output.txt": b"ba\xff\x00"}


def test_arguments_arrive_unchanged(box):
    args = ("one", "two words", "", "'\"$x", "漢")
    got = run(box, "python", "import sys\nprint(sys.argv[1:])", args=args)
    assert got.stdout.decode() == f"{list(args)}\n"


def test_each_run_starts_clean(box):
    source = (
        "import os\nfor d in ('.', '/tmp'):\n  p = os.path.join(d, 'left')\n"
        "  print(os.path.exists(p))\n  open(p, 'w').close()\n"
    )
    compiled = made(box, "python", source)
    for _ in range(2):
        assert box.run(compiled, Limits()).stdout == b"False\nFalse\n"


def test_there_is_no_network(box):
    source = (
        "import socket\ns = socket.socket()\ns.settimeout(2)\n"
        "try:\n  s.connect(('192.0.2.1', 80))\nexcept OSError as e:\n  print('no')\n"
    )
    got = run(box, "python", source, limits=Limits(wall_s=10))
    assert got.stdout in (b"no\n", b"")
    assert got.stdout == b"no\n" or got.exit_code != 0


def test_the_log_of_a_rejected_program_has_the_error(box):
    compiled = made(box, "c++17", "int main() { return undeclared_name; }")
    assert not compiled.ok
    assert b"undeclared_name" in compiled.log


def test_the_same_program_is_compiled_once(box):
    source = f"// {id(box)}\nint main() {{}}"
    assert not made(box, "c++17", source).cached
    assert made(box, "c++17", source).cached


def test_helper_files_are_compiled_with_the_program(box):
    files = {
        "main.cpp": b'#include "twice.h"\nint main(){return twice(4);}',
        "twice.h": b"inline int twice(int n) { return 2 * n; }",
    }
    compiled = box.compile(Program("c++17", files))
    assert box.run(compiled, Limits()).exit_code == 8


def test_the_sources_of_a_program_are_compiled_one_by_one(box):
    files = {
        "main.cpp": b'#include "part.h"\n#include "text.cpp"\nstatic int own = 1;\n'
        b"int main() { return own + part() + text(); }",
        "part.h": b"int part();",
        "part.cpp": b'#include "part.h"\nstatic int own = 2;\nint part() { return own; }',
        "text.cpp": b"int text() { return 4; }",  # a part of main.cpp
    }
    assert box.run(box.compile(Program("c++17", files)), Limits()).exit_code == 7


def test_many_threads_at_once(box):
    compiled = made(box, "python", "print(int(input()) ** 2)")
    got: dict[int, bytes] = {}

    def one(n: int) -> None:
        got[n] = box.run(compiled, Limits(), stdin=str(n).encode()).stdout

    threads = [threading.Thread(target=one, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == {n: b"%d\n" % (n * n) for n in range(8)}


def test_a_run_alone_is_not_contended(box):
    assert "alone" in box.capabilities
    got = run(box, "python", "print(1)", alone=True)
    assert (got.stdout, got.contended) == (b"1\n", False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"limits": Limits(cpu_s=0)}, "cpu_s"),
        ({"limits": Limits(memory_bytes=-1)}, "memory_bytes"),
        ({"limits": Limits(wall_s=float("nan"))}, "wall_s"),
        ({"files": {"../x": b""}}, r"\.\./x"),
        ({"files": {"a/b": b""}}, "a/b"),
        ({"collect": ("..",)}, r"\.\."),
    ],
)
def test_impossible_requests_are_refused_before_anything_runs(box, change, message):
    with pytest.raises(BadRequest, match=message):
        run(box, "python", "print(1)", **change)


def test_description_can_be_recorded(box):
    about = box.describe().as_json()
    assert about["backend"] in ("box", "piston")
    assert {"python", "c++17"} <= set(about["toolchains"])


def together(box: Sandbox, compiled: Compiled, stdins: list[bytes], **limits: Any) -> list[Any]:
    """Return the executions of a batch, or of single runs where the sandbox has no batches."""
    each = [Limits(**limits)] * len(stdins)
    if "batch" in box.capabilities:
        groups = cast("BatchSandbox", box).run_many(compiled, each, stdins)
        return [one for group in groups for one in group]
    return [
        box.run(compiled, limit, stdin=stdin) for limit, stdin in zip(each, stdins, strict=True)
    ]


@pytest.mark.parametrize("language", ["python", "c++17"])
def test_a_batch_gives_what_single_runs_give(box, language):
    source = {
        "python": "print(sum(map(int, input().split())))",
        "c++17": "#include <iostream>\nint main(){int a,b;std::cin>>a>>b;std::cout<<a+b<<'\\n';}",
    }[language]
    compiled = made(box, language, source)
    stdins = [b"%d %d\n" % (i, i * i) for i in range(7)]
    got = together(box, compiled, stdins)
    assert [one.stdout for one in got] == [b"%d\n" % (i + i * i) for i in range(7)]
    assert {(one.exit_code, one.signal, one.limits_hit) for one in got} == {(0, None, frozenset())}
    alone = box.run(compiled, Limits(), stdin=stdins[0])
    for one in got:
        assert one.memory_bytes is not None and alone.memory_bytes is not None
        assert abs(one.memory_bytes - alone.memory_bytes) < 2 * MIB


def test_a_batch_ends_after_a_run_that_fails(box):
    compiled = made(box, "python", "print(1 // int(input()))")
    got = together(box, compiled, [b"1", b"0", b"1"])
    assert [one.exit_code for one in got[:2]] == [0, 1]
    assert len(got) == (2 if "batch" in box.capabilities else 3)
