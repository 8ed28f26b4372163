"""`gradebox answers FILE`."""

import json
from pathlib import Path

import pytest

from gradebox.eval.cli import console
from testing.rows import rows


@pytest.fixture
def file(tmp_path: Path):
    def write(*lines: object) -> str:
        path = tmp_path / "pairs.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return str(path)

    return write


@pytest.mark.slow(seconds=1)
def test_outcomes_are_counted_and_written_in_order(file, tmp_path, capsys):
    pairs = [
        (r"\frac12", "So it is $\\boxed{0.5}$.", "equal"),
        (["1", "one"], "The answer is one.", "equal"),
        ("5", "6", "different"),
        (r"\sqrt{2}", r"\sqrt{3}", "different"),
        ("green", "blue", "different"),
        ("5", None, "no answer"),
        ("5", "n 2", "not read"),
        ("n 2", "5", "not read"),
        ("1", r"\sqrt{1+10^{-3000}}", "not read"),
    ]
    rows = [{"id": f"q{i}", "answer": gold, "response": r} for i, (gold, r, _) in enumerate(pairs)]
    output = tmp_path / "graded.jsonl"
    assert console.main(["answers", file(*rows), "--output", str(output)]) == 0
    verdicts = [json.loads(line) for line in output.read_text().splitlines()]
    assert [v["outcome"] for v in verdicts] == [outcome for _, _, outcome in pairs]
    assert [v["equal"] for v in verdicts] == [outcome == "equal" for _, _, outcome in pairs]
    assert [(v["line"], v["id"]) for v in verdicts] == [(i + 1, f"q{i}") for i in range(9)]
    assert (verdicts[0]["answer"], verdicts[0]["reason"]) == ("0.5", "value")
    assert capsys.readouterr().out.splitlines() == [
        "responses                    9",
        "equal                        2  0.2222",
        "different                    3  0.3333",
        "not read                     3  0.3333",
        "  answer                     1  0.1111",
        "  gold                       1  0.1111",
        "  undecided                  1  0.1111",
        "no answer                    1  0.1111",
    ]


def test_fields_and_policy_are_chosen(file, capsys):
    rows = file({"q": "1", "out": "1.0005", "answer": "2"})
    arguments = ["answers", rows, "--gold", "q", "--response", "out"]
    assert console.main([*arguments, "--policy", "lm-open-science"]) == 0
    assert "equal                        1  1.0000" in capsys.readouterr().out
    assert console.main(arguments) == 0
    assert "different                    1  1.0000" in capsys.readouterr().out


def test_choices_and_policies_are_columns(file, capsys):
    rows = [
        {"answer": "B", "response": "It is 3.14.", "choices": ["2", "3.14"]},
        {"answer": "B", "response": "It is 3.14.", "options": {"A": "3.14", "B": "2"}},
        {"answer": "28.89", "response": "28.889", "policy": "rounded"},
        {"answer": "28.89", "response": "28.889"},
    ]
    assert console.main(["answers", file(*rows)]) == 0
    assert "equal                        2  0.5000" in capsys.readouterr().out
    assert console.main(["answers", file(*rows), "--policy", "rounded:0.01", "--choices", "c"]) == 0
    assert "equal                        2  0.5000" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("lines", "flags", "message"),
    rows(__file__, "bad_input"),
)
def test_bad_input_is_one_line_and_writes_nothing(file, tmp_path, capsys, lines, flags, message):
    output = tmp_path / "graded.jsonl"
    assert console.main(["answers", file(*lines), "--output", str(output), *flags]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and message in error and error.count("\n") == 1
    assert not output.exists()
