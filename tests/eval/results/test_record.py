"""Which JSON values are records."""

import json
import math

import pytest

from gradebox.eval.results.record import as_json, encode, is_record
from gradebox.eval.results.records import encoded
from testing.fakes.records import case, record
from testing.rows import rows

FIELDS = json.loads(json.dumps(as_json(record())))
[CASE] = FIELDS["details"]


def test_valid_records_are_accepted():
    assert is_record(FIELDS)
    assert is_record({**FIELDS, "details": [], "verdict": None, "score": None})
    assert is_record({**FIELDS, "details": [{**CASE, "repeats": ["AC", "WA"]}]})
    assert is_record({**FIELDS, "added": "later"})


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_a_record_without_a_field_is_refused(name):
    assert not is_record({k: v for k, v in FIELDS.items() if k != name})


@pytest.mark.parametrize("name", sorted(CASE))
def test_a_case_without_a_field_is_refused(name):
    assert not is_record({**FIELDS, "details": [{k: v for k, v in CASE.items() if k != name}]})


@pytest.mark.parametrize("value", [None, 5, "x", [], {}, [FIELDS]])
def test_other_json_values_are_refused(value):
    assert not is_record(value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("schema", 0),
        ("status", "great"),
        ("status", None),
        ("status", ["passed"]),
        ("verdict", "XX"),
        ("score", math.nan),
        ("score", math.inf),
        ("score", -1),
        ("score", "1"),
        ("error", None),
        ("num_official", True),
        ("num_skipped", -1),
        ("compile", []),
        ("sandbox", "box"),
        ("has_checker", "yes"),
        ("time_limit_s", {}),
        ("details", None),
        ("details", {"0": CASE}),
        ("details", [CASE, 5]),
    ],
)
def test_a_record_with_an_invalid_field_is_refused(name, value):
    assert not is_record({**FIELDS, name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    rows(__file__, "case_with_an"),
)
def test_a_case_with_an_invalid_field_is_refused(name, value):
    assert not is_record({**FIELDS, "details": [CASE, {**CASE, name: value}]})


@pytest.mark.parametrize("text", ["", 'a"b\\', "é\u2028\n\t\x00", "𝄞 %s {0}"])
def test_a_record_is_a_line_of_ascii_whatever_programs_wrote(text):
    line = encode(record(error=text, details=(case(stderr=text, transcript=text),)))
    assert line.isascii() and line.count(b"\n") == 1
    fields = json.loads(line)
    assert fields["error"] == fields["details"][0]["stderr"] == text
    assert encode(fields) == line


def test_a_lone_surrogate_is_written_as_an_escape():
    one = record(tags=("\ud800",))
    assert (
        json.loads(encode(one))["tags"] == json.loads(encode(as_json(one)))["tags"] == ["\\ud800"]
    )


def test_a_record_with_a_fault_of_the_sandbox_is_not_settled():
    assert encoded(record()).settled
    assert not encoded(record(details=(case(), case(verdict="ER")))).settled
    assert not encoded(record(status="error")).settled
