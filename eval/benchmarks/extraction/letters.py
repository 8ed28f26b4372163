"""The letter a model chose.

Looked for in this order, in the last line and then in the whole text, the last one counting:
    1. announced    "answer: X", "the correct option is (X)"
    2. boxed        \\boxed{X}, \\boxed{\\text{X}}, \\boxed{(X) its text}
    3. praised      "X is correct", "(X) is the right answer"
    4. bare         a line that is nothing but the letter, "X." or "(X)"
then    5. the text of an option, announced, boxed or alone on the last line
and, for base models, 6. the last "(X)".
"""

from __future__ import annotations

import re
from functools import lru_cache

from eval.benchmarks.extraction.marks import after_thinking, all_boxed, before, last_match
from eval.benchmarks.fields import LETTERS
from eval.benchmarks.model import Extract, Sample
from eval.benchmarks.registry import register

# A capital A or I is often a word: "the answer is A large …"; these may follow the letter.
_AFTER_A = "because|since|as|for|due|which|with|and|based|from|where|given|in|by|is"
_MARKUP = re.compile(r"\\(?:text|textbf|textrm|mathrm|mathbf|boxed|bf|rm)(?![a-zA-Z])|[{}$*`_\\]")
_SPACES = re.compile(r"[ \t]+")
_END = r"(?:(?=[\s).\]:,;!?]|$))"
_NOT_A_WORD = rf"(?!(?<=[AI]) +(?!(?:{_AFTER_A})\b)[a-z])"


@lru_cache
def _patterns(letters: str) -> tuple[re.Pattern[str], ...]:
    one = rf"[(\[]? ?(?P<l>[{letters}]){_END}{_NOT_A_WORD}"
    return (
        re.compile(
            r"\b(?i:answer|option|choice|result)(?: [a-z]+){0,4}? ?"
            rf"(?:(?i:is|should be|must be|would be|as)\b ?[:：]?|[:：=]) "
            rf"?(?:(?i:option|choice) )?{one}"
        ),
        re.compile(
            rf"(?:^|[\s(])(?P<l>[{letters}])\)? (?:is|seems|must be) (?:the )?(?:most )?"
            r"(?:correct|right|best)\b",
            re.MULTILINE,
        ),
    )


def _bare(letters: str) -> re.Pattern[str]:
    return re.compile(rf"^ ?[(\[]? ?(?P<l>[{letters}]) ?[)\]]? ?[.:]? ?$")


def _bare_start(letters: str) -> re.Pattern[str]:
    return re.compile(rf"^ ?(?:\((?P<l>[{letters}])\)|(?P<m>[{letters}])[).:])(?: |$)")


def plain(text: str) -> str:
    """The text without markup that only decorates a letter."""
    return _SPACES.sub(" ", _MARKUP.sub(" ", text)).replace("( ", "(").replace(" )", ")")


def _last(pattern: re.Pattern[str], text: str) -> str | None:
    found = last_match(pattern, text)
    return found["l"] if found else None


def chosen_letter(text: str, letters: str) -> str | None:
    """The letter by rules 1 to 4."""
    stripped = text.strip()
    last_line = stripped.rpartition("\n")[2]
    announced, praised = _patterns(letters)
    for part in (last_line, stripped):
        bare_part = plain(part)
        found = (
            _last(announced, bare_part) or _boxed_letter(part, letters) or _last(praised, bare_part)
        )
        if found is None and (match := _bare(letters).match(bare_part)):
            found = match["l"]
        if found is not None:
            return found
    if "\n" not in stripped and (match := _bare_start(letters).match(plain(stripped))):
        return match["l"] or match["m"]
    return None


def _boxed_letter(text: str, letters: str) -> str | None:
    for inside in reversed(all_boxed(text)):
        bare = plain(inside)
        for pattern in (_bare(letters), _bare_start(letters)):
            match = pattern.match(bare)
            if match:
                groups = match.groupdict()
                return groups["l"] or groups.get("m")
    return None


def chosen_option(text: str, options: tuple[str, ...]) -> str | None:
    """The letter of the option whose text is announced, boxed or the last line."""
    stripped = text.strip()
    candidates = [
        *reversed(all_boxed(stripped)),
        *reversed([m[1] for m in re.finditer(r"(?i:answer)(?: is)?:? ([^\n]+)", plain(stripped))]),
        stripped.rpartition("\n")[2],
    ]
    wanted = [_folded(option) for option in options]
    for candidate in candidates:
        folded = _folded(candidate)
        if folded and wanted.count(folded) == 1:
            return LETTERS[wanted.index(folded)]
    return None


def _folded(text: str) -> str:
    return " ".join(plain(text).strip().strip(".").split()).lower()


def _for_tuned(count: int | None) -> Extract:
    """Rules 1 to 5 among `count` letters; None: as many as there are options."""

    def extract(output: str, sample: Sample) -> list[str]:
        text = after_thinking(output)
        letters = LETTERS[: count or len(sample.options) or 4]
        found = chosen_letter(text, letters) or chosen_option(text, sample.options)
        return [found] if found else []

    return extract


def _for_base(count: int, *marks: str) -> Extract:
    """An announced letter, else the last "(X)", before the model goes on with `marks`.

    There are `count` letters, or more when the question has more options.
    """

    def extract(output: str, sample: Sample) -> list[str]:
        letters = LETTERS[: max(count, len(sample.options))]
        announced, _ = _patterns(letters)
        bracketed = re.compile(rf"\((?P<l>[{letters}{letters.lower()}])\)")
        text = before(after_thinking(output), *marks)
        found = _last(announced, plain(text)) or _last(bracketed, text)
        return [found.upper()] if found else []

    return extract


PROBLEM = "Problem:"

TABLE: dict[str, Extract] = {
    "extract_mmlu_stem": _for_base(4, PROBLEM),
    "extract_sat_few_shot_answer": _for_base(4, PROBLEM),
    "extract_mathqa_few_shot_answer": _for_base(5, PROBLEM),
    "extract_medqa": _for_base(5, PROBLEM),
    "extract_super_gpqa": _for_base(10, PROBLEM),
    "extract_super_gpqa_few_shot_answer": _for_base(10, PROBLEM),
    "extract_mmlu_sft_answer": _for_tuned(4),
    "extract_gpqa_sft_answer": _for_tuned(4),
    "extract_two_choice_sft_answer": _for_tuned(2),
    "extract_three_choice_sft_answer": _for_tuned(3),
    "extract_five_choice_sft_answer": _for_tuned(5),
    "extract_adaptive_mc_sft_answer": _for_tuned(None),
    "extract_mmlu_pro_sft_answer": _for_tuned(10),
    "extract_super_gpqa_sft_answer": _for_tuned(10),
}

for _name, _function in TABLE.items():
    register("answer_extraction_fn", _name, _function)
