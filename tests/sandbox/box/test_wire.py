"""Python's message structs agree with those of c/protocol.h."""

import re
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.sandbox.box import wire
from gradebox.sandbox.box.build import HERE

SIZES = {"uint32_t": 4, "int32_t": 4, "int64_t": 8}
CONSTANT = re.compile(r"\b([A-Z_]{3,}) = (\d+(?: \* \d+)?)\b")
PROTOCOL = (HERE / "protocol.h").read_text()


def size_in_c(name: str) -> int:
    """Return the bytes of a packed C struct, from its declaration."""
    body = re.search(
        rf"struct {name} {{(?: /\*.*?\*/)?(.*?)}} __attribute__\(\(packed\)\)", PROTOCOL, re.S
    )
    assert body, f"struct {name}"
    total = 0
    for line in re.sub(r"/\*.*?\*/", "", body[1], flags=re.S).split(";"):
        kind, _, names = line.strip().partition(" ")
        for field in filter(None, (n.strip() for n in names.split(","))):
            array = re.search(r"\[(\d+)\]", field)
            total += int(array[1]) if array else SIZES[kind]
    return total


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("request", wire.REQUEST),
        ("input", struct.Struct("<qII")),
        ("reply", wire.REPLY),
        ("plan", wire.PLAN),
    ],
)
def test_structs_have_the_same_size(name: str, ours: struct.Struct) -> None:
    assert size_in_c(name) == ours.size


def test_constants_have_the_same_values() -> None:
    theirs = {name: eval(value) for name, value in CONSTANT.findall(PROTOCOL)}
    ours = {name: getattr(wire, name) for name in theirs if hasattr(wire, name)}
    assert {"OP_PAUSE", "FORK", "FAILED", "HIT_FILES", "REPLIES_CAP", "MAX_ARGS"} <= ours.keys()
    assert ours == {name: theirs[name] for name in ours}


def test_every_reason_for_a_kill_has_a_name() -> None:
    found = re.search(r"KILLED_CPU = 1,(.*?)}", PROTOCOL, re.S)
    assert found
    names = ["cpu", *(n.strip().removeprefix("KILLED_").lower() for n in found[1].split(","))]
    table = {number: name for number, name in wire.KILLED.items() if name and name != "aborted"}
    for number, name in table.items():
        assert names[number - 1] == name


@given(
    st.lists(
        st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"])), max_size=9
    ),
    st.lists(st.binary(max_size=300), max_size=4),
)
def test_a_packed_request_can_be_unpacked(argv: list[str], stdins: list[bytes]) -> None:
    inputs = [(i, 10 * i, len(stdin)) for i, stdin in enumerate(stdins)]
    data = b"".join(stdins)
    packed = wire.pack_request(
        wire.OP_RUN, 5, (1, 2, 3, 4, 5, 6), (7, 8, 9), argv, ["f"], ["c", "d"], inputs, data
    )
    fields = wire.REQUEST.unpack_from(packed)
    assert fields[:11] == (1, 5, 1, 2, 3, 4, 5, 6, 7, 8, 9)
    assert fields[11:] == (len(argv), 1, 2, len(stdins))
    table = len(packed) - len(data) - 16 * len(inputs)
    strings = packed[wire.REQUEST.size : table].split(b"\0")[:-1]
    assert [s.decode() for s in strings] == [*argv, "f", "c", "d"]
    assert list(struct.iter_unpack("<qII", packed[table : len(packed) - len(data)])) == inputs
    assert packed.endswith(data)


def packed_reply(out: bytes, err: bytes, state: int = 0) -> bytes:
    fields = (0, 256, 1, 2, 3, 4, 5, 6, 7, 8, len(out), len(err), 1, 1, *range(6), state)
    return wire.REPLY.pack(*fields) + out + err


@given(st.lists(st.tuples(st.binary(max_size=50), st.binary(max_size=50)), min_size=1, max_size=4))
def test_replies_are_split_by_their_lengths(streams: list[tuple[bytes, bytes]]) -> None:
    data = b"".join(packed_reply(*both, state=i) for i, both in enumerate(streams))
    replies = wire.unpack_replies(data)
    assert [(reply.stdout, reply.stderr) for reply in replies] == streams
    assert [reply.state for reply in replies] == list(range(len(streams)))
    for reply in replies:
        assert (reply.wstatus, reply.cpu_ns, reply.err_total, reply.collected) == (256, 3, 8, 1)


@given(st.binary(max_size=50), st.data())
def test_a_message_that_ends_within_a_reply_is_refused(out: bytes, data: st.DataObject) -> None:
    whole = packed_reply(b"x", b"") + packed_reply(out, b"y")
    missing = data.draw(st.integers(1, wire.REPLY.size))
    with pytest.raises(struct.error):
        wire.unpack_replies(whole[:-missing])
