"""Packed tests of requests: what is read, and pickles that attack the reader."""

from __future__ import annotations

import base64
import pickle
import tracemalloc
import zlib
from typing import Any

import pytest

from gradebox.eval.api.dialects.grades import json_or_unpacked, unpacked
from gradebox.sandbox.errors import BadRequest


def pack(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data)).decode()


VALUE = [
    {"input": "ä\n", "output": "1"},
    {},
    [],
    (),
    {"a": ("a",), "b": ("b", 1)},
    ("x", 1, 2.5, None, True, -(10**30)),
    "ä\n",
]


@pytest.mark.parametrize("protocol", range(2, 6))
def test_plain_values_are_read(protocol: int) -> None:
    assert unpacked(pack(pickle.dumps(VALUE, protocol=protocol))) == VALUE


def test_json_is_read_packed_or_not() -> None:
    assert unpacked(pack(b'{"a": [1]}')) == {"a": [1]}
    assert json_or_unpacked(' ["a"]') == ["a"]
    assert json_or_unpacked(["a"]) == ["a"]


class Call:
    def __reduce__(self) -> Any:
        return print, ("called",)


P = b"\x80\x04"
ATTACKS = {
    "calls a function": pickle.dumps(Call()),
    "names a class": b"\x80\x02cos\nsystem\n.",
    "extension": P + b"\x82\x01.",
    "persistent id": b"\x80\x02U\x01xQ.",
    "reserves memory": P + b"\x96" + (1 << 40).to_bytes(8, "little") + b".",
    "bytes": pickle.dumps(b"x" * 10),
    "far place": P + b"]r\xff\xff\xff\x7f.",
    "repeats a list": P + b"](" + b"]\x94(X\x01\x00\x00\x00ae" + b"h\x00" * 9 + b"e.",
    "repeats a text": P
    + b"](X\x00\x00\x10\x00" + b"a" * (1 << 20) + b"\x94" + b"h\x00" * 100 + b"e.",
    "numbers as keys": P + b"}(" + b"K\x01N" * 9 + b"u.",
    "a number as a key": P + b"}K\x01Ns.",
    "a number in a dict of marks": P + b"(K\x01Nd.",
    "a key without value": P + b"}(X\x01\x00\x00\x00au.",
    "adds to a number": P + b"K\x01Na.",
    "many parts": P + b"](" + b"K\x01" * 2000 + b"e.",
    "cut": P + b"](X\xff\x00\x00\x00a",
    "no stack": P + b"e.",
    "nothing": P,
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_hostile_pickle_is_refused_cheaply(
    attack: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gradebox.eval.problems.formats.packed.MOST_INSTRUCTIONS", 1000)
    text = pack(ATTACKS[attack])
    tracemalloc.start()
    try:
        with pytest.raises(BadRequest):
            unpacked(text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 150 << 20
    assert capsys.readouterr().out == ""


NOT_PACKED = {
    "no base64": "!",
    "nothing": "",
    "no zlib": "QQ==",
    "cut": pack(b"{}")[:-8],
    "no JSON": pack(b"{'a'}"),
}


@pytest.mark.parametrize("case", NOT_PACKED)
def test_what_is_not_packed_is_refused(case: str) -> None:
    with pytest.raises(BadRequest):
        unpacked(NOT_PACKED[case])


def test_a_bomb_is_refused() -> None:
    with pytest.raises(BadRequest):
        unpacked(pack(b"x" * (65 << 20)))
