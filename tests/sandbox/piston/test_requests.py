"""The bodies of requests."""

from __future__ import annotations

import base64
import json

import pytest

from gradebox.sandbox.piston.execute import SentFile, encode

BYTES = bytes(range(256)) * 3


@pytest.mark.parametrize("name", ["a.bin", 'q"\\.bin', "漢\n"])
def test_a_body_is_the_json_of_its_parts(name: str) -> None:
    files = [SentFile("main.py", "print('é\"')".encode(), source=True), SentFile(name, BYTES)]
    text = base64.b64encode(BYTES).decode()
    sent = {"name": name, "content": text, "encoding": "base64"}
    expected = {
        "language": "python",
        "version": "*",
        "run_timeout": 5,
        "files": [{"name": "main.py", "content": "print('é\"')"}, sent],
    }
    assert json.loads(encode("python", files, {"run_timeout": 5})) == expected
    assert json.loads(encode("c", [], {})) == {"language": "c", "version": "*", "files": []}
