"""Jobe's API as CodeRunner uses it: outcomes, support files, what is refused."""

import base64
import hashlib
from typing import Any

import pytest
import requests

from gradebox.eval.api.dialects.jobe import FILES_BYTES
from gradebox.sandbox.errors import SandboxError
from testing.fakes.scripted_sandbox import FakeSandbox, ready
from tests.eval.api.dialects.conftest import Served

ROOT = "/jobe/index.php/restapi"
PYTHON = {"language_id": "Python3", "sourcecode": "print(1)", "parameters": []}


def run(served: Served, **fields: Any) -> tuple[int, Any]:
    return served.post(f"{ROOT}/runs", {"run_spec": {**PYTHON, **fields}})


def put(served: Served, name: str, content: bytes | str) -> requests.Response:
    raw = content if isinstance(content, str) else base64.b64encode(content).decode()
    url = f"{served.url}{ROOT}/files/{name}"
    return requests.put(url, json={"file_contents": raw}, timeout=60)


ENDS: dict[str, tuple[Any, int]] = {
    "well": (ready("1"), 15),
    "with words on stderr": (ready("1", stderr=b"!"), 12),
    "code": (ready(exit_code=1), 12),
    "output": (ready(killed_for="output"), 12),
    "cpu": (ready(killed_for="cpu"), 13),
    "memory": (ready(killed_for="memory"), 17),
    "the machine": (SandboxError("no cgroup"), 21),
}


@pytest.mark.parametrize("end", ENDS)
def test_how_a_program_ended_is_an_outcome(start, end):
    outcome, expected = ENDS[end]
    status, answer = run(start(lambda call: outcome))
    assert (status, answer["outcome"]) == (200, expected)
    assert list(answer) == ["run_id", "outcome", "cmpinfo", "stdout", "stderr"]
    assert bool(answer["stderr"]) == (expected in (12, 21) and end != "output")


@pytest.mark.parametrize("language", ["cpp", "python3"])
def test_what_does_not_compile_is_said(start, language):
    served = start(FakeSandbox(compile_log=lambda source: b"x undeclared"))
    _, answer = run(served, language_id=language)
    assert (answer["outcome"], answer["cmpinfo"]) == (11, "x undeclared")


def test_files_are_put_when_a_run_misses_them(start):
    box = FakeSandbox()
    served, content = start(box), b"1 2\n\xff"
    name = hashlib.md5(content).hexdigest()
    listed = [[name, "data.txt"], [name, "sub-2.py", True]]
    assert run(served, file_list=listed)[0] == 404
    head = f"{served.url}{ROOT}/files/{name}"
    assert requests.head(head, timeout=60).status_code == 404
    assert put(served, name, content).status_code == 204
    assert requests.head(head, timeout=60).status_code == 204
    assert run(served, file_list=listed)[1]["outcome"] == 15
    assert box.calls[0].files["data.txt"] == box.calls[0].files["sub-2.py"] == content


def test_a_file_of_another_name_is_refused(start):
    served = start(FakeSandbox())
    long = b"x" * (FILES_BYTES // 4 + 1)
    for name, content, message in (
        ("0" * 32, b"forged", "the file's id must be the MD5 of its contents, which is"),
        ("0" * 32, "é", "file_contents: "),
        (hashlib.md5(long).hexdigest(), long, f"the file has {len(long)} bytes"),
    ):
        answer = put(served, name, content)
        assert (answer.status_code, answer.json()[: len(message)]) == (400, message)


def test_parameters_are_limits(start):
    box = FakeSandbox()
    given = {"cputime": "2", "memorylimit": 10**9, "numprocs": 0, "streamsize": 0.5}
    run(start(box), parameters={**given, "runargs": ["a", 1]}, input="7")
    limits = box.calls[0].limits
    assert (limits.cpu_s, limits.memory_bytes, limits.output_bytes) == (2, 4 << 30, 1 << 19)
    assert (limits.processes, box.calls[0].args, box.calls[0].stdin) == (256, ("a", "1"), b"7")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"language_id": "cobol"}, "no language 'cobol' here: "),
        ({"sourcecode": None}, "body.run_spec.sourcecode: Expected `str`, got `null`"),
        ({"parameters": {"cputime": -1}}, "body.cputime: Input should be over 0 and at most 120"),
        ({"parameters": {"compileargs": ["-w"]}}, "compileargs is refused: this server chooses"),
        ({"file_list": [["a", "../b"]]}, "files[0].name is '../b'; it must be a path inside"),
        ({"file_list": [["a"]]}, "body.file_list: Expected `array` of length 2, got 1"),
    ],
)
def test_a_wrong_run_is_refused_in_words(start, fields, message):
    status, answer = run(start(FakeSandbox()), **fields)
    assert (status, answer[: len(message)]) == (400, message)


def test_languages_are_those_installed(start):
    listed = start(FakeSandbox()).get(f"{ROOT}/languages/")[1]
    assert ["python3", "3.11.0"] in listed
    assert "nodejs" not in dict(listed)
