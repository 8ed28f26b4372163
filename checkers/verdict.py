"""The former name of `gradebox.checkers.true_false`, kept importable."""

from gradebox.checkers.true_false import (
    Verdict,
    extract_verdict,
    judge_response,
    render_prompt,
)

__all__ = ["Verdict", "extract_verdict", "judge_response", "render_prompt"]
