"""C++ on a stock Piston: compiled once with -O2."""

from dataclasses import replace

import pytest

from gradebox.sandbox import BadRequest, Limits, MissingToolchain, Program, SandboxError
from gradebox.sandbox.errors import Refused
from gradebox.sandbox.languages import TABLE, Language, register

from .faults import run_stage

pytestmark = pytest.mark.slow  # each test starts real programs

TWICE = b'#include <cstdio>\nint main(){long n; if(scanf("%ld",&n)==1) printf("%ld\\n", 2*n);}'
OPTIMISED = b"#ifdef __OPTIMIZE__\n#ifdef ONLINE_JUDGE\nint main() { return 7; }\n#endif\n#endif\n"


def cpp(source: bytes, **files: bytes) -> Program:
    return Program("c++17", {"main.cpp": source, **files})


def test_a_program_is_compiled_once_for_many_runs(piston, client):
    box = client(piston)
    compiled = box.compile(cpp(TWICE))
    for n in (1, 20, 300):
        assert box.run(compiled, Limits(), stdin=b"%d" % n).stdout == b"%d\n" % (2 * n)
    assert box.compile(cpp(TWICE)).cached
    assert piston.received.compiles == 1


def test_the_optimiser_is_on_whatever_flags_the_package_uses(piston, client):
    box = client(piston)
    assert box.run(box.compile(cpp(OPTIMISED)), Limits()).exit_code == 7


def test_compiler_errors_are_returned(piston, client):
    compiled = client(piston).compile(cpp("int main() { return ö; }".encode()))
    assert not compiled.ok
    assert b"main.cpp:1" in compiled.log
    with pytest.raises(BadRequest, match="did not compile"):
        client(piston).run(compiled, Limits())


def test_source_files_may_have_any_names(piston, client):
    source = b'#include "my part.h"\nint main() { return part(); }'
    compiled = client(piston).compile(
        Program("c++17", {"so'lve $x.cpp": source, "my part.h": b"inline int part() { return 3; }"})
    )
    assert client(piston).run(compiled, Limits()).exit_code == 3


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"output_max": 20_000, "chunk": 512}, "PISTON_OUTPUT_MAX_SIZE .* as for a compiled"),
        ({"body_limit": 102_400}, r"request of \d+ bytes .* raise its body limit"),
    ],
    ids=["output limit", "body limit"],
)
def test_where_a_binary_cannot_travel_the_setting_to_raise_is_named(
    server, client, settings, words
):
    box = client(server(**settings))
    source = b"#include <iostream>\nint main() { std::cout << 1; }"  # it has most of the library
    with pytest.raises(Refused, match=words):
        box.run(box.compile(cpp(source)), Limits())


def test_an_unsupported_language_is_refused_at_once(piston, client, monkeypatch):
    monkeypatch.setitem(TABLE, "whitespace", TABLE["python"])
    register(
        Language(
            "whitespace", (), "main.ws", ("ws",), None, ("{tool}",), piston=("whitespace", "*")
        )
    )
    with pytest.raises(MissingToolchain, match="whitespace can't be run on a Piston server"):
        client(piston).compile(Program("whitespace", {"main.ws": b""}))


@pytest.mark.slow
def test_a_compiler_that_cannot_start_is_the_servers_fault(server, client, monkeypatch):
    fake = server()
    box = client(fake)
    source = cpp(b"int main() {}")
    gone = replace(TABLE["c++17"], tool=("no-such-compiler",))
    monkeypatch.setitem(TABLE, "c++17", gone)
    with pytest.raises(SandboxError, match=r"can't start the compiler.*install the package"):
        box.compile(source)


@pytest.mark.slow
def test_a_compiler_killed_early_by_the_server_is_not_a_compile_error(server, client):
    fake = server()
    box = client(fake)
    box.run(box.compile(Program("python", {"main.py": b"pass"})), Limits())  # past the probe
    fake.always = run_stage(status="TO", signal="SIGKILL", cpu_time=900, wall_time=3000)
    with pytest.raises(Refused, match=r"PISTON_RUN_TIMEOUT .*after 3 s"):
        box.compile(cpp(b"int main() {}"))
    fake.always = run_stage(status="TO", signal="SIGKILL", cpu_time=31_000, wall_time=32_000)
    assert not box.compile(cpp(b"int main() {}")).ok
