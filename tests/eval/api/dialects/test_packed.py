"""Packed tests of requests: what is read, and pickles that attack the reader."""

import base64
import contextlib
import json
import pickle
import sys
import tracemalloc
import zlib
from typing import Any

import pytest

from gradebox.eval.api.dialects.common import json_or_unpacked, unpacked
from gradebox.eval.problems.formats import livecodebench as packed
from gradebox.eval.problems.row import row_workers
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
def test_plain_values_are_read(protocol):
    assert unpacked(pack(pickle.dumps(VALUE, protocol=protocol))) == json.loads(json.dumps(VALUE))


def test_json_is_read_packed_or_not():
    assert unpacked(pack(b'{"a": [1]}')) == {"a": [1]}
    assert json_or_unpacked(' ["a"]') == ["a"]
    assert json_or_unpacked(["a"]) == ["a"]


class Call:
    def __reduce__(self) -> Any:
        return print, ("called",)


P = b"\x80\x04"
DOUBLED: list[Any] = [0]
for _ in range(60):
    DOUBLED = [DOUBLED, DOUBLED]
ATTACKS = {
    "calls a function": pickle.dumps(Call()),
    "names a class": b"\x80\x02cos\nsystem\n.",
    "extension": P + b"\x82\x01.",
    "persistent id": b"\x80\x02U\x01xQ.",
    "reserves memory": P + b"\x96" + (1 << 40).to_bytes(8, "little") + b".",
    "bytes": pickle.dumps(b"x" * 10),
    "far place": P + b"]r\xff\xff\xff\x7f.",
    "repeats lists": pickle.dumps(DOUBLED),
    "repeats a text": P
    + b"](X\x00\x00\x10\x00" + b"a" * (1 << 20) + b"\x94" + b"h\x00" * 100 + b"e.",
    "numbers as keys": P + b"}(" + b"K\x01N" * 9 + b"u.",
    "a number as a key": P + b"}K\x01Ns.",
    "a number in a dict of marks": P + b"(K\x01Nd.",
    "a key without value": P + b"}(X\x01\x00\x00\x00au.",
    "adds to a number": P + b"K\x01Na.",
    "many parts": P + b"](" + b"K\x01" * (1 << 18) + b"e.",
    "cut": P + b"](X\xff\x00\x00\x00a",
    "no stack": P + b"e.",
    "nothing": P,
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_hostile_pickle_is_refused_cheaply(attack, capsys):
    text = pack(ATTACKS[attack])
    # Python 3.15 reads it, without room for the places before it.
    may_be_read = attack == "far place" and sys.version_info >= (3, 15)
    tracemalloc.start()
    try:
        with contextlib.suppress(BadRequest) if may_be_read else pytest.raises(BadRequest):
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
def test_what_is_not_packed_is_refused(case):
    with pytest.raises(BadRequest):
        unpacked(NOT_PACKED[case])


def test_a_bomb_is_refused():
    with pytest.raises(BadRequest, match="unpacks to more than 20971520 bytes"):
        unpacked(pack(b"x" * (21 << 20)))
    with pytest.raises(BadRequest, match="over 131072 lists, objects, numbers and texts"):
        unpacked(pack(b"[1" + b",11" * 200_000 + b"]"))


LONG = {"input": "ä\ud800" * 10**6, "output": "1", "": {"b": ["\0" * 65, None, {}]}}
# What a worker reads, whose values are the same.
SLOW: dict[str, tuple[Any, bytes]] = {
    "many bytes": (LONG, json.dumps(LONG).encode()),
    "a pickle": ([1, ("a",)], pickle.dumps([1, ("a",)])),
    "many parts": ([1] * 10**5, json.dumps([1] * 10**5).encode()),
    "none": (LONG["output"], b'"1"'),
}


@pytest.mark.parametrize("case", SLOW)
def test_what_is_slow_to_read_is_read_by_a_worker(case, monkeypatch):
    asked = []
    monkeypatch.setattr(
        packed, "in_worker", lambda *args: asked.append(args) or row_workers.in_worker(*args)
    )
    value, data = SLOW[case]
    assert unpacked(pack(data)) == json.loads(json.dumps(value))
    assert len(asked) == (case != "none")


def test_a_stream_that_takes_long_is_unpacked_by_a_worker(monkeypatch):
    monkeypatch.setattr(packed, "QUICK_S", 0.0)
    monkeypatch.setattr(packed, "in_worker", lambda _function, arguments: arguments[1])
    assert unpacked(pack(b"[1]")) == "the packed value"
