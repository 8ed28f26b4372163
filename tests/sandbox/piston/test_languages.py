"""Other languages on a stock Piston: large input, exact bytes, exit codes, build flags."""

import shutil

import pytest

from gradebox.sandbox import Limits, MissingToolchain, Program
from gradebox.sandbox.languages import find
from gradebox.sandbox.piston.packages import compile_command, run_command

pytestmark = pytest.mark.slow  # each test starts real programs

SUMS = {
    "javascript": (
        "node",
        "main.js",
        b"const d = require('fs').readFileSync(0, 'utf8').trim().split(/\\s+/).map(Number);\n"
        b"process.stdout.write(Buffer.from([255, 0]));\n"
        b"console.log(d.reduce((a, b) => a + b, 0));\nprocess.exitCode = 3;\n",
    ),
    "ruby": (
        "ruby",
        "main.rb",
        b"$stdout.write([255, 0].pack('CC'))\nputs STDIN.read.split.map(&:to_i).sum\nexit 3\n",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("language", SUMS)
def test_an_interpreted_language_runs_under_the_launcher(server, client, language):
    tool, name, source = SUMS[language]
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed here")
    box = client(server(languages=("python", language)))
    compiled = box.compile(Program(language, {name: source}))
    got = box.run(compiled, Limits(), stdin=b"1\n" * 200_000)
    assert (got.stdout, got.exit_code) == (b"\xff\x00200000\n", 3)


def test_c_is_compiled_as_c(server, client):
    box = client(server(languages=("python", "c", "c++")))
    source = (
        b'#include <stdio.h>\nint main(void) { int class = 0; return scanf("%d", &class) - class; }'
    )
    compiled = box.compile(Program("c", {"main.c": source}))
    assert box.run(compiled, Limits(), stdin=b"1").exit_code == 0
    assert not box.compile(Program("c", {"main.c": b"int main(void) { return x; }"})).ok


def test_go_is_built_with_the_environment_of_the_language_table():
    command = compile_command(find("go"), Program("go", {"main.go": b"package main"}), "out")
    assert "GO111MODULE=off" in command
    assert "{" not in command


def test_the_memory_limit_reaches_the_command_line():
    words = run_command(find("javascript"), "main.js", Limits(memory_bytes=256 << 20), ["a b"])
    assert words[0] == "node"
    assert "--max-old-space-size=304" in words  # a little over the limit, which decides
    assert words[-2:] == ["main.js", "a b"]
    assert not any("{" in w for w in words)


@pytest.mark.parametrize("package", ["javascript", "ruby", "go"])
def test_the_codeforces_package_refuses_languages_it_lacks(server, client, package):
    box = client(server(languages=("cf_python3", package)), package="codeforces")
    with pytest.raises(
        MissingToolchain,
        match=rf"{package} can't be run with --piston-package codeforces; use "
        "--piston-package piston or --sandbox local",
    ):
        box.compile(Program(package, {"main": b""}))
