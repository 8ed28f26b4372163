"""Answers and launcher reports are read strictly; their evidence is a pure function."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from gradebox.sandbox import Limits
from gradebox.sandbox.errors import Refused, Transient
from gradebox.sandbox.model import Execution
from gradebox.sandbox.piston.execute import ServerLimits, Stage, plan_limits, read_answer
from gradebox.sandbox.piston.launcher import (
    Report,
    decode_report,
    evidence_of,
    reconcile_cpu,
    without_report,
)
from testing.rows import rows

MIB = 1 << 20
LIMITS = Limits(cpu_s=1.0, wall_s=5.0, memory_bytes=256 * MIB)
SENT = plan_limits(LIMITS, ServerLimits(), 0)
STAGE = Stage("", "", 0, None, None, 0.05, 0.06, 20 * MIB)
REPORT = Report(Execution(0, None, 0.02, 0.03, 9 * MIB, b"out", b"", 3), "-")


def evidence(stage: Stage = STAGE, report: Report | None = REPORT, **sent: Any) -> Any:
    if report is None:
        return without_report(stage, "n", LIMITS, replace(SENT, **sent))
    return evidence_of(stage, report, LIMITS, replace(SENT, **sent))


@pytest.mark.parametrize(
    ("stage", "report", "expected"),
    [
        ({}, {}, {"exit_code": 0, "killed_for": None, "memory_bytes": 9 * MIB}),
        ({}, {"exit_code": 3}, {"exit_code": 3}),
        ({}, {"exit_code": None, "signal": 11}, {"signal": 11, "killed_for": None}),
        ({}, {"why": "wall", "signal": 9}, {"killed_for": "wall"}),
        ({}, {"why": "output", "signal": 9, "stdout_bytes": 1 << 40}, {"killed_for": "output"}),
        ({}, {"exit_code": None, "signal": 25}, {"killed_for": "file_size"}),
        (
            {"memory_bytes": SENT.memory_bytes},
            {"exit_code": None, "signal": 9},
            {"killed_for": "memory"},
        ),
        ({}, {"exit_code": None, "signal": 9}, {"killed_for": None, "signal": 9}),
        (
            {"memory_bytes": None},
            {"exit_code": None, "signal": 9, "memory_bytes": 256 * MIB},
            {"killed_for": "memory"},
        ),
        # three children of 100 MiB each: the launcher sees only the largest
        ({"memory_bytes": 300 * MIB}, {"memory_bytes": 100 * MIB}, {"memory_bytes": 276 * MIB}),
        ({"cpu_s": 2.0}, {}, {"cpu_s": pytest.approx(2.0 - SENT.allowance_s)}),
        ({"cpu_s": None}, {"cpu_s": 0.7}, {"cpu_s": 0.7}),
    ],
)
def test_evidence_from_the_report_within_the_servers_bounds(stage, report, expected):
    why = report.pop("why", "-")
    reported = Report(replace(REPORT.execution, **report), why)
    got = evidence(structs.replace(STAGE, **stage), reported)
    assert {name: getattr(got, name) for name in expected} == expected


@given(server=st.floats(0, 1e4), reported=st.floats(0, 1e4), allowance=st.floats(0, 10))
def test_cpu_time_is_between_the_servers_figure_and_that_less_the_allowance(
    server, reported, allowance
):
    got = reconcile_cpu(server, reported, allowance)
    assert server - allowance <= got <= server
    if server - allowance <= reported <= server:
        assert got == reported


@pytest.mark.parametrize(
    ("stage", "killed_for"),
    [
        ({"status": "TO", "cpu_s": SENT.cpu_s}, "cpu"),
        ({"status": "TO", "cpu_s": 0.1, "wall_s": SENT.wall_s}, "wall"),
        ({"status": "TO", "cpu_s": None, "wall_s": SENT.wall_s}, "wall"),
        ({"status": "SG", "signal": 9, "memory_bytes": SENT.memory_bytes}, "memory"),
        ({"status": "RE", "code": 137, "memory_bytes": SENT.memory_bytes}, "memory"),
    ],
)
def test_without_a_report_the_server_decides_the_killing_limit(stage, killed_for):
    got = evidence(structs.replace(STAGE, **stage), None)
    assert (got.killed_for, got.signal, got.exit_code) == (killed_for, 9, None)


@pytest.mark.parametrize(
    ("stage", "of_program"),
    [
        ({}, False),  # lost on the way
        ({"stdout": "GBX1 n\njunk\nZ n 0"}, True),  # not lost: its end is there
        ({"stdout": "GBX1 other\n", "status": "TO", "cpu_s": 2.0}, False),
        ({"status": "OL"}, True),
        ({"status": "EL"}, True),
        ({"status": "RE", "code": 1}, False),  # the launcher did not start
        ({"status": "RE", "code": 127}, False),
        ({"status": "RE", "code": 3}, True),
        ({"status": "RE", "code": 137, "memory_bytes": None}, True),
        ({"status": "SG", "signal": 9}, True),
    ],
)
def test_a_missing_report_that_no_limit_explains_is_a_fault(stage, of_program):
    with pytest.raises(Transient) as found:
        evidence(structs.replace(STAGE, **stage), None)
    assert (found.value.evidence is not None) is of_program


@pytest.mark.parametrize(
    ("stage", "report", "sent", "setting"),
    [
        (
            {"status": "TO", "cpu_s": 0.5},
            None,
            {"short": ("run_cpu_time",), "cpu_s": 0.5},
            "PISTON_RUN_CPU_TIME",
        ),
        (
            {"status": "TO", "cpu_s": 0.1},
            None,
            {"short": ("run_timeout",), "wall_s": 3.0},
            "PISTON_RUN_TIMEOUT",
        ),
        (
            {"status": "SG", "memory_bytes": 64 * MIB},
            None,
            {"short": ("run_memory_limit",), "memory_bytes": 64 * MIB},
            "PISTON_RUN_MEMORY_LIMIT",
        ),
        ({}, REPORT._replace(why="short"), {}, "PISTON_OUTPUT_MAX_SIZE"),
        # capped silently: neither of the limits sent had been reached
        ({"status": "TO", "cpu_s": 0.1, "wall_s": 3.0}, None, {}, "PISTON_RUN_TIMEOUT"),
        ({"status": "TO", "cpu_s": 0.5, "wall_s": 0.5}, None, {}, "PISTON_RUN_CPU_TIME"),
        ({"status": "TO", "cpu_s": None, "wall_s": None}, None, {}, "PISTON_RUN_TIMEOUT"),
    ],
)
def test_a_limit_of_the_server_is_not_evidence(stage, report, sent, setting):
    with pytest.raises(Refused, match=setting):
        evidence(structs.replace(STAGE, **stage), report, **sent)


def frames(*lines: str, end: str = "Z n 0 0 1000 2000 {size} 0 500 -\n") -> str:
    return "GBX1 n\n" + "".join(lines) + end


COMPLETE = frames("B 4\nYWJj\n", "E 4\nZXJy\n", "F 61 4\nZmls\n").replace("{size}", "3")


def test_a_complete_report():
    report = decode_report(COMPLETE, "n").execution
    assert (report.stdout, report.stderr, dict(report.files)) == (b"abc", b"err", {"a": b"fil"})
    assert (report.cpu_s, report.memory_bytes, report.wall_s) == (0.001, 2000 * 1024, 0.0005)


@given(st.integers(0, len(COMPLETE) - 2))
def test_a_truncated_report_is_rejected(cut):
    with pytest.raises(ValueError):
        decode_report(COMPLETE[:cut], "n")


@given(st.integers(0, len(COMPLETE) - 1))
def test_a_damaged_character_is_rejected_or_harmless(place):
    damaged = COMPLETE[:place] + "\ufffd" + COMPLETE[place + 1 :]
    try:
        report = decode_report(damaged, "n")
    except ValueError:
        return
    assert report == decode_report(COMPLETE, "n")


@pytest.mark.parametrize(
    "text",
    rows(__file__, "malformed_report_is"),
)
def test_a_malformed_report_is_rejected(text):
    with pytest.raises(ValueError):
        decode_report(text.replace("{size}", "0"), "n")


@pytest.mark.parametrize(
    "value",
    rows(__file__, "malformed_answer_is"),
)
def test_a_malformed_answer_is_transient(value):
    with pytest.raises(Transient):
        read_answer(value)


def test_figures_of_a_stage_are_converted_to_seconds_and_bytes():
    stage = read_answer(
        {"run": {"code": 1, "cpu_time": 12.5, "wall_time": 20, "memory": 5_000_000}}
    )
    assert (stage.cpu_s, stage.wall_s, stage.memory_bytes) == (0.0125, 0.02, 5_120_000)
