"""What is taken for a record, and what is not."""

from __future__ import annotations

import json
import math

import pytest

from eval.record_shape import is_record
from eval.records import as_json
from tests.fakes.records import record

FIELDS = json.loads(json.dumps(as_json(record())))
[CASE] = FIELDS["details"]


def test_a_record_is_one():
    assert is_record(FIELDS)
    assert is_record({**FIELDS, "details": [], "verdict": None, "score": None})
    assert is_record({**FIELDS, "details": [{**CASE, "repeats": ["AC", "WA"]}]})
    assert is_record({**FIELDS, "added": "later"})


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_no_field_may_be_missing(name):
    assert not is_record({k: v for k, v in FIELDS.items() if k != name})


@pytest.mark.parametrize("name", sorted(CASE))
def test_no_field_of_a_case_may_be_missing(name):
    assert not is_record({**FIELDS, "details": [{k: v for k, v in CASE.items() if k != name}]})


@pytest.mark.parametrize("value", [None, 5, "x", [], {}, [FIELDS]])
def test_another_value_is_none(value):
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
def test_no_field_may_hold_what_it_never_holds(name, value):
    assert not is_record({**FIELDS, name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("verdict", None),
        ("verdict", {}),
        ("reason", "no reason"),
        ("case_type", "other"),
        ("test_case_i", "0"),
        ("passed", "true"),
        ("cpu_s", math.nan),
        ("cpu_s", "0.1"),
        ("output", None),
        ("repeats", ["XX"]),
        ("repeats", 2),
    ],
)
def test_no_field_of_a_case_may_hold_what_it_never_holds(name, value):
    assert not is_record({**FIELDS, "details": [CASE, {**CASE, name: value}]})
