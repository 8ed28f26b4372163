"""The prompts that configurations name: a table of question frames and worked examples.

The worked examples (eval/models/data/few_shot/) were written for this project. Figures made with
them can't be compared with a paper's, whose examples differ. `--few-shot-dir` takes the user's:
a file `<Name>.txt` there replaces the examples of the prompt of that name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.paths import DATA
from gradebox.eval.models.benchmarks.sample import Prompt

_EXAMPLES_SEPARATOR = "\n\n\n"


@dataclass(frozen=True)
class Frame:
    """The text around a question in a few-shot prompt, and the texts that end its answer."""

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

# Name → frame, file of examples, number of examples taken (0: all).
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
CHOICE_LETTERS: dict[str, str] = {
    "SFTCSBenchAssertionPrompt": "A or B",
    "SFTNEWTONConfidentQuestionsPrompt": "A, B, or C",
    "SFTPubmedQAPrompt": "A, B, or C",
    "SFTMMLUPrompt": "A, B, C, or D",
    "SFTMedQAPrompt": "A, B, C, D, or E",
    "SFTSuperGPQAPrompt": "A, B, C, D, E, F, G, H, I, or J",
}

ZERO_SHOT = (
    Prompt("SFTMATH0ShotPrompt", BOXED),
    Prompt("SFTGSM0ShotPrompt", BOXED),
    Prompt("SFTScibenchPrompt", CHAT.text, intro=SCIBENCH),
    Prompt("SFTOlympicArenaPrompt", "{question}"),
    Prompt("ORZMathPrompt", CONVERSATION.text, stop=CONVERSATION.stop, intro=CONVERSATION_INTRO),
)


def _read_examples(file: str, count: int) -> str:
    """Return the first `count` worked examples of a file, all of them for 0."""
    if not file:
        return ""
    text = (DATA / "few_shot" / f"{file}.txt").read_text("utf-8")
    examples = text.strip().split(_EXAMPLES_SEPARATOR)
    return _EXAMPLES_SEPARATOR.join(examples[:count] if count else examples)


def with_user_examples(prompt: Prompt, folder: Path) -> Prompt:
    """Return the prompt with the examples of the folder's `<Name>.txt`, if there is one."""
    path = folder / f"{prompt.name}.txt"
    if not folder.is_dir():
        raise InputError(f"--few-shot-dir {folder}: no such folder; give one with <Name>.txt files")
    if not path.is_file():
        return prompt
    try:
        return replace(prompt, shots=path.read_text("utf-8").strip(), own=True)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--few-shot-dir: {path}: {error}") from None


PROMPTS: dict[str, Prompt] = {
    **{
        name: Prompt(name, frame.text, _read_examples(file, count), frame.stop)
        for name, (frame, file, count) in FEW_SHOT.items()
    },
    **{
        name: Prompt(name, CHAT.text, intro=LAST_LINE.replace("{letters}", letters))
        for name, letters in CHOICE_LETTERS.items()
    },
    **{prompt.name: prompt for prompt in ZERO_SHOT},
}
