"""Both halves of the wire agree: Python's structs and those of launcher.h and setup.c."""

from __future__ import annotations

import re
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.box import wire
from sandbox.box.build import HERE

SIZES = {"uint32_t": 4, "int32_t": 4, "int64_t": 8}


def size_in_c(file: str, name: str) -> int:
    """Bytes of a packed C struct, read off its declaration."""
    text = (HERE / file).read_text()
    body = re.search(rf"struct {name} {{(.*?)}} __attribute__\(\(packed\)\)", text, re.S)
    assert body, f"struct {name} in {file}"
    total = 0
    for line in re.sub(r"/\*.*?\*/", "", body[1], flags=re.S).split(";"):
        kind, _, names = line.strip().partition(" ")
        for field in filter(None, (n.strip() for n in names.split(","))):
            array = re.search(r"\[(\d+)\]", field)
            total += int(array[1]) if array else SIZES[kind]
    return total


@pytest.mark.parametrize(
    ("file", "name", "ours"),
    [
        ("launcher.h", "request", wire.REQUEST),
        ("launcher.h", "reply", wire.REPLY),
        ("setup.c", "plan", wire.PLAN),
    ],
)
def test_structs_have_the_same_size(file: str, name: str, ours: struct.Struct) -> None:
    assert size_in_c(file, name) == ours.size


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OP_RUN", wire.OP_RUN),
        ("OP_LOAD", wire.OP_LOAD),
        ("FRESH", wire.FRESH),
        ("EXEC_FD", wire.EXEC_FD),
        ("STDIN_FD", wire.STDIN_FD),
        ("STDOUT_FD", wire.STDOUT_FD),
        ("H_MEMORY", wire.HIT_MEMORY),
        ("H_PROCESSES", wire.HIT_PROCESSES),
        ("H_DISK", wire.HIT_DISK),
        ("H_FILES", wire.HIT_FILES),
    ],
)
def test_numbers_are_the_same(name: str, value: int) -> None:
    text = (HERE / "launcher.h").read_text()
    found = re.search(rf"\b{name} = (\d+)", text)
    assert found
    assert int(found[1]) == value


def test_every_reason_for_a_kill_has_its_name() -> None:
    text = (HERE / "launcher.h").read_text()
    found = re.search(r"enum { K_CPU = 1, (.*?) };", text)
    assert found
    names = ["cpu", *(n.strip().removeprefix("K_").lower() for n in found[1].split(","))]
    table = {number: name for number, name in wire.KILLED.items() if name and name != "aborted"}
    for number, name in table.items():
        assert names[number - 1] == name


@given(
    st.lists(
        st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"])), max_size=9
    ),
    st.binary(max_size=300),
)
def test_a_request_can_be_taken_apart_again(argv: list[str], stdin: bytes) -> None:
    data = wire.pack_request(
        wire.OP_RUN, 5, (1, 2, 3, 4, 5, 6), (7, 8, 9), -1, argv, ["f"], ["c", "d"], stdin
    )
    fields = wire.REQUEST.unpack_from(data)
    assert fields[:12] == (1, 5, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1)
    assert fields[12:] == (len(argv), 1, 2, len(stdin))
    rest = data[wire.REQUEST.size :]
    strings = rest[: len(rest) - len(stdin)].split(b"\0")[:-1]
    assert [s.decode() for s in strings] == [*argv, "f", "c", "d"]
    assert rest.endswith(stdin)


@given(st.binary(max_size=50), st.binary(max_size=50), st.binary(max_size=20))
def test_a_reply_is_read_by_its_lengths(out: bytes, err: bytes, beyond: bytes) -> None:
    head = wire.REPLY.pack(0, 256, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, len(out), len(err), 1, 1)
    reply = wire.unpack_reply(head + out + err + beyond)
    assert (reply.stdout, reply.stderr, reply.worn) == (out, err, True)
    assert (reply.wstatus, reply.cpu_ns, reply.err_total, reply.collected) == (256, 3, 10, 1)


@given(st.binary(max_size=wire.REPLY.size - 1))
def test_a_cut_reply_is_no_reply(data: bytes) -> None:
    with pytest.raises(struct.error):
        wire.unpack_reply(data)
