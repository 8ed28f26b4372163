"""What a server says is one printable line in an error."""

import json

import pytest

from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.piston.transport import parse_answer

HOSTILE = "\x1b[2J\x1b]0;title\x07bad\r\n\u202e\x9b31m"


@pytest.mark.parametrize("status", [200, 400, 401, 413, 415, 429, 500])
@pytest.mark.parametrize("body", [json.dumps({"message": HOSTILE}).encode(), HOSTILE.encode()])
def test_an_error_has_no_control_characters(status, body):
    if status == 200 and body.startswith(b"{"):
        return
    with pytest.raises(SandboxError) as error:
        parse_answer("http://host", status, body, 0, HOSTILE)
    assert str(error.value).isprintable()
    if status == 400:
        assert "bad" in str(error.value)
