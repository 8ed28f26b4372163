"""Clients of Piston that others wrote, unmodified, with our server (docs/server.md lists more)."""

import sys
from importlib.util import find_spec

import pytest

from testing.commands import run_command
from tests.sandbox.backends import open_backend, served

PISTON_RSPY = """
import asyncio, os, sys
from piston_rspy import Client, Executor, File

def job(language, name, source):
    made = Executor().set_language(language).set_version("*").set_stdin("Ada\\n")
    return made.add_file(File(name=name, content=source))

async def main():
    client = Client.with_url(sys.argv[1] + "/api/v2")
    names = {runtime.language for runtime in await client.fetch_runtimes()}
    assert "python" in names, names
    ran = await client.execute(job("python", "main.py", "print(input() + '!')"))
    assert (ran.run.stdout, ran.run.code) == ("Ada!\\n", 0), ran
    ran = await client.execute(job("python", "main.py", "import os; os.kill(os.getpid(), 11)"))
    assert (ran.run.code, ran.run.signal) == (139, None), ran
    if "c++" in names:
        ran = await client.execute(job("c++", "a.cpp", "int main() { return x; }"))
        assert ran.compile.code == 1 and ran.compile.stderr.startswith("a.cpp:"), ran
    print("served", flush=True)
    os._exit(0)  # without the end of its threads, which fails now and then

asyncio.run(main())
"""


@pytest.mark.slow
def test_piston_rspy():
    if find_spec("piston_rspy") is None:
        pytest.skip("piston_rspy is not installed (pip install piston_rspy)")
    with open_backend("box") as box, served(box) as url:
        done = run_command([sys.executable, "-c", PISTON_RSPY, url], timeout=120)
    assert (done.stdout, done.returncode) == ("served\n", 0), done.stderr
