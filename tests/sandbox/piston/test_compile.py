"""C++ on a stock Piston: compiled once with -O2, or in every run where a binary can't travel."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

import pytest

from gradebox.sandbox import BadRequest, Execution, Limits, MissingToolchain, Program, SandboxError
from gradebox.sandbox.errors import Refused
from gradebox.sandbox.languages import TABLE, Language, register
from gradebox.sandbox.piston import PistonSandbox

from .fake_piston import FakePiston
from .faults import run_stage

pytestmark = pytest.mark.slow  # each test starts real programs

Make = Callable[..., FakePiston]
Connect = Callable[..., PistonSandbox]

TWICE = b'#include <cstdio>\nint main(){long n; if(scanf("%ld",&n)==1) printf("%ld\\n", 2*n);}'
OPTIMISED = b"#ifdef __OPTIMIZE__\n#ifdef ONLINE_JUDGE\nint main() { return 7; }\n#endif\n#endif\n"


def cpp(source: bytes, **files: bytes) -> Program:
    return Program("c++17", {"main.cpp": source, **files})


def test_a_program_is_compiled_once_for_many_runs(piston: FakePiston, client: Connect) -> None:
    box = client(piston)
    compiled = box.compile(cpp(TWICE))
    for n in (1, 20, 300):
        assert box.run(compiled, Limits(), stdin=b"%d" % n).stdout == b"%d\n" % (2 * n)
    assert box.compile(cpp(TWICE)).cached
    assert piston.received.compiles == 1


def test_the_optimiser_is_on_whatever_flags_the_package_uses(
    piston: FakePiston, client: Connect
) -> None:
    box = client(piston)
    assert box.run(box.compile(cpp(OPTIMISED)), Limits()).exit_code == 7


def test_compiler_errors_are_returned(piston: FakePiston, client: Connect) -> None:
    compiled = client(piston).compile(cpp("int main() { return ö; }".encode()))
    assert not compiled.ok
    assert b"main.cpp:1" in compiled.log
    with pytest.raises(BadRequest, match="did not compile"):
        client(piston).run(compiled, Limits())


def test_source_files_may_have_any_names(piston: FakePiston, client: Connect) -> None:
    source = b'#include "my part.h"\nint main() { return part(); }'
    compiled = client(piston).compile(
        Program("c++17", {"so'lve $x.cpp": source, "my part.h": b"inline int part() { return 3; }"})
    )
    assert client(piston).run(compiled, Limits()).exit_code == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [{"output_max": 20_000, "chunk": 512}, {"body_limit": 102_400}],
    ids=["output limit", "body limit"],
)
def test_where_a_binary_cannot_travel_every_run_compiles_and_the_cost_is_reported(
    server: Make, client: Connect, caplog: pytest.LogCaptureFixture, settings: dict[str, int]
) -> None:
    small = server(**settings)
    box = client(small)
    source = (  # large enough not to fit: iostream is linked into it
        b"#include <iostream>\nint main(){long n; std::cin>>n;"
        b' std::cerr<<"e"; std::cout<<2*n<<"\\n"; return n == 4 ? 9 : 0;}'
    )
    with caplog.at_level(logging.WARNING, "gradebox.piston"):
        compiled = box.compile(cpp(source))
        box.compile(cpp(source + b"\n"))
    assert compiled.ok
    warnings = [r.getMessage() for r in caplog.records if "compiles again" in r.getMessage()]
    assert len(warnings) == 1
    assert "s of CPU each" in warnings[0]
    assert any("compiles again" in line for line in box.describe().details["advice"])
    before = small.received.compiles
    got = box.run(compiled, Limits(), stdin=b"21")
    assert (got.stdout, got.stderr, got.exit_code) == (b"42\n", b"e", 0)
    assert box.run(compiled, Limits(), stdin=b"4").exit_code == 9
    assert small.received.compiles == before + 2
    assert not box.compile(cpp(b"int main() { return x; }")).ok


@pytest.mark.slow
def test_a_run_that_compiles_first_is_reported_as_any_other(server: Make, client: Connect) -> None:
    box = client(server(output_max=30_000, chunk=512))
    source = (
        b"#include <iostream>\n#include <fstream>\n#include <csignal>\n#include <unistd.h>\n"
        b"int main(int c, char** v) {\n"
        b'  std::ifstream in("in.bin"); std::ofstream("out.bin") << in.rdbuf();\n'
        b"  std::string how = v[1];\n"
        b'  if (how == "sleep") sleep(30);\n'
        b'  if (how == "flood") for (;;) std::cout << "yyyyyyyyyyyyyyy\\n";\n'
        b'  if (how == "bytes") for (int i = 0; i < 256; i++) std::cout.put(i);\n'
        b'  if (how == "kill") raise(SIGSEGV);\n}\n'
    )
    compiled = box.compile(cpp(source))
    limits = Limits(wall_s=1.0, output_bytes=2000)

    def run(how: str) -> Execution:
        given = {"in.bin": b"\x00\xff"}
        collect = ("out.bin", "no")
        return box.run(compiled, limits, args=(how,), files=given, collect=collect)

    got = run("bytes")
    assert got.stdout == bytes(range(256))
    assert dict(got.files) == {"out.bin": b"\x00\xff"}
    assert run("kill").signal == 11
    assert run("sleep").killed_for == "wall"
    flood = run("flood")
    assert (flood.killed_for, len(flood.stdout)) == ("output", 2000)


def test_an_unsupported_language_is_refused_at_once(
    piston: FakePiston, client: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TABLE, "whitespace", TABLE["python"])
    register(
        Language(
            "whitespace", (), "main.ws", ("ws",), None, ("{tool}",), piston=("whitespace", "*")
        )
    )
    with pytest.raises(MissingToolchain, match="whitespace can't be run on a Piston server"):
        client(piston).compile(Program("whitespace", {"main.ws": b""}))


@pytest.mark.slow
def test_a_compiler_that_cannot_start_is_the_servers_fault(
    server: Make, client: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = server()
    box = client(fake)
    source = cpp(b"int main() {}")
    gone = replace(TABLE["c++17"], tool=("no-such-compiler",))
    monkeypatch.setitem(TABLE, "c++17", gone)
    with pytest.raises(SandboxError, match=r"can't start the compiler.*install the package"):
        box.compile(source)


@pytest.mark.slow
def test_a_compiler_killed_early_by_the_server_is_not_a_compile_error(
    server: Make, client: Connect
) -> None:
    fake = server()
    box = client(fake)
    box.run(box.compile(Program("python", {"main.py": b"pass"})), Limits())  # past the probe
    fake.always = run_stage(status="TO", signal="SIGKILL", cpu_time=900, wall_time=3000)
    with pytest.raises(Refused, match=r"PISTON_RUN_TIMEOUT .*after 3 s"):
        box.compile(cpp(b"int main() {}"))
    fake.always = run_stage(status="TO", signal="SIGKILL", cpu_time=31_000, wall_time=32_000)
    assert not box.compile(cpp(b"int main() {}")).ok
