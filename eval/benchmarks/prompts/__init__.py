"""Prompts by the names configurations carry: a table of frames and of worked examples.

The worked examples (`texts/*.txt`) were written for this project. Figures made with them
cannot be compared with a paper's, whose examples are others; `--few-shot-dir` takes the
user's own: a file `<Name>.txt` there replaces the examples of the prompt of that name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from eval.benchmarks.model import Prompt
from eval.benchmarks.registry import register
from eval.input_error import InputError

TEXTS = Path(__file__).resolve().parent / "texts"


@dataclass(frozen=True)
class Frame:
    """How a question stands in a few-shot prompt, and what ends its answer."""

    text: str
    stop: tuple[str, ...]


PROBLEM = Frame("Problem:\n{question}\n\nSolution:", ("\nProblem:",))
QA = Frame("Q: {question}\nA:", ("\nQ:",))
PROBLEM_ZH = Frame("问题：{question}\n解答：", ("\n问题：",))
PAL = Frame(
    "Q: {question}\n\n# solution in Python:\n\n```python\n",
    ("```", "\nQ:"),
)
CHAT = Frame("Question: {question}", ())
BOXED = (
    "Question: {question}\nPlease reason step by step, and put your final answer within \\boxed{}."
)
CONVERSATION = Frame("User: {question}\nAssistant:", ("User:", "Assistant:"))
CONVERSATION_INTRO = (
    "A conversation between a user and an assistant. The assistant thinks the question through "
    "and then answers it. The final answer stands in \\boxed{}, since it is read from there."
)
LAST_LINE = (
    "Answer the following multiple choice question. Exactly one of the choices is right. End "
    "with a line 'Answer: X' without the quotes, where X is one of {letters}."
)
SCIBENCH = (
    "Solve the following problem step by step. The problem says which unit its answer has; "
    "give the number alone, without the unit, as a decimal number. End with: "
    "The answer is therefore \\boxed{your number}."
)

# Name → frame, file of examples, how many of them (0: all).
FEW_SHOT: dict[str, tuple[Frame, str, int]] = {
    "CoTGSMPrompt": (QA, "gsm", 0),
    "CoTTABMWPPrompt": (QA, "tables", 0),
    "CoTAMCPrompt": (QA, "", 0),
    "PALGSMPrompt": (PAL, "gsm_programs", 0),
    "PALMathPrompt": (PAL, "math_programs", 0),
    "MinervaMathPrompt": (PROBLEM, "math", 0),
    "OCWCoursesPrompt": (PROBLEM, "ocw", 0),
    "SciBench": (PROBLEM, "scibench", 0),
    "ChemBenchStrMatch": (PROBLEM, "chemistry", 0),
    "CoTSATPrompt": (PROBLEM, "sat", 0),
    "CoTMathQAPrompt": (PROBLEM, "mathqa", 0),
    "PubMedQAPrompt": (PROBLEM, "pubmed", 0),
    "SuperGPQAPrompt": (PROBLEM, "ten_choices", 0),
    "SuperGPQAPromptLong": (PROBLEM, "ten_choices", 0),
    "CSBenchAssertion": (PROBLEM, "assertions", 0),
    "PIQA": (PROBLEM, "two_choices", 0),
    "MMLUSTEMPrompt": (PROBLEM, "stem_choices", 4),
    "MMLUSTEMPrompt_Science": (PROBLEM, "stem_choices", 4),
    "GPQAPrompt": (PROBLEM, "stem_choices", 0),
    "ChemBenchMultiChoise": (PROBLEM, "stem_choices", 0),
    "NEWTONConfidentQuestions": (PROBLEM, "stem_choices", 0),
    "NEWTONExplicitQuestions": (PROBLEM, "stem_choices", 4),
    "NEWTONImplicitQuestions": (PROBLEM, "stem_choices", 4),
    "CSBenchMultipleChoice": (PROBLEM, "computing_choices", 0),
    "MMLUCollegeComputerScience": (PROBLEM, "computing_choices", 4),
    "MMLUComputerSecurity": (PROBLEM, "computing_choices", 0),
    "MMLUHighSchoolComputerScience": (PROBLEM, "computing_choices", 4),
    "MMLUCollegeChemistry": (PROBLEM, "stem_choices", 0),
    "MMLUHighSchoolChemistry": (PROBLEM, "stem_choices", 0),
    "MMLUCollegePhysics": (PROBLEM, "stem_choices", 0),
    "MMLUConceptualPhysics": (PROBLEM, "stem_choices", 0),
    "MMLUHighSchoolPhysics": (PROBLEM, "stem_choices", 0),
    "MMLUCollegeBiology": (PROBLEM, "medical_choices", 0),
    "MMLUHighSchoolBiology": (PROBLEM, "medical_choices", 0),
    "MMLUHighSchoolBiology4Shot": (PROBLEM, "medical_choices", 4),
    "MMLUAnatomy": (PROBLEM, "medical_choices", 0),
    "MMLUClinicalKnowledge": (PROBLEM, "medical_choices", 0),
    "MMLUCollegeMedicine": (PROBLEM, "medical_choices", 0),
    "MMLUMedicalGenetics": (PROBLEM, "medical_choices", 0),
    "MMLUProfessionalMedicine": (PROBLEM, "medical_choices", 4),
    "MEDQAPrompt": (PROBLEM, "medical_choices", 0),
    "MEDMCQAPrompt": (PROBLEM, "medical_choices", 0),
    "MEDMCQAPrompt3Shot": (PROBLEM, "medical_choices", 3),
    "MMLUEconometrics": (PROBLEM, "society_choices", 4),
    "MMLUHighSchoolMacroeconomics": (PROBLEM, "society_choices", 4),
    "MMLUHighSchoolMicroeconomics": (PROBLEM, "society_choices", 0),
    "MMLUInternationalLaw": (PROBLEM, "society_choices", 0),
    "MMLUProfessionalLaw": (PROBLEM, "society_choices", 4),
    "CoTCMATHPrompt": (PROBLEM_ZH, "cmath", 6),
    "CoTCMATHPrompt4Shot": (PROBLEM_ZH, "cmath", 4),
    "CoTMGSMZHPrompt": (PROBLEM_ZH, "cmath", 0),
    "CoTMGSMZHPrompt4Shot": (PROBLEM_ZH, "cmath", 4),
    "MMMLUZHMathPrompt": (PROBLEM_ZH, "choices_zh", 4),
    "CoTGaoKaoMathClozePrompt": (PROBLEM_ZH, "cloze_zh", 0),
    "CoTGaoKaoMathQAPrompt": (PROBLEM_ZH, "choices_zh", 0),
}

# Name → the letters a tuned model may choose from.
CHOICE: dict[str, str] = {
    "SFTCSBenchAssertionPrompt": "A or B",
    "SFTNEWTONConfidentQuestionsPrompt": "A, B, or C",
    "SFTPubmedQAPrompt": "A, B, or C",
    "SFTMMLUPrompt": "A, B, C, or D",
    "SFTMedQAPrompt": "A, B, C, D, or E",
    "SFTSuperGPQAPrompt": "A, B, C, D, E, F, G, H, I, or J",
}

ZERO_SHOT: dict[str, Prompt] = {
    "SFTMATH0ShotPrompt": Prompt("SFTMATH0ShotPrompt", BOXED),
    "SFTGSM0ShotPrompt": Prompt("SFTGSM0ShotPrompt", BOXED),
    "SFTScibenchPrompt": Prompt("SFTScibenchPrompt", CHAT.text, intro=SCIBENCH),
    "SFTOlympicArenaPrompt": Prompt("SFTOlympicArenaPrompt", "{question}"),
    "ORZMathPrompt": Prompt(
        "ORZMathPrompt", CONVERSATION.text, stop=CONVERSATION.stop, intro=CONVERSATION_INTRO
    ),
}


def shots_of(file: str, count: int) -> str:
    """The first `count` worked examples of a file (0: all); they stand three newlines apart."""
    if not file:
        return ""
    shots = (TEXTS / f"{file}.txt").read_text("utf-8").strip().split("\n\n\n")
    return "\n\n\n".join(shots[:count] if count else shots)


def with_own_shots(prompt: Prompt, folder: Path) -> Prompt:
    """The prompt with the user's `<Name>.txt` of that folder; itself when there is none."""
    path = folder / f"{prompt.name}.txt"
    if not folder.is_dir():
        raise InputError(f"--few-shot-dir {folder}: no such folder; it holds files <Name>.txt")
    if not path.is_file():
        return prompt
    try:
        return replace(prompt, shots=path.read_text("utf-8").strip(), own=True)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--few-shot-dir: {path}: {error}") from None


def _register_all() -> None:
    for name, (frame, file, count) in FEW_SHOT.items():
        shots = shots_of(file, count)
        register("few_shot_prompt", name, Prompt(name, frame.text, shots, frame.stop))
    for name, letters in CHOICE.items():
        intro = LAST_LINE.replace("{letters}", letters)
        register("few_shot_prompt", name, Prompt(name, CHAT.text, intro=intro))
    for name, prompt in ZERO_SHOT.items():
        register("few_shot_prompt", name, prompt)


_register_all()
