"""A taskset of verifiers 0.4 and prime-rl over the data sets that gradebox reads.

verifiers finds a taskset by the name of a top-level module, so write one of two lines:

    # programs.py
    from gradebox.verifiers import Programs
    __all__ = ["Programs"]

    eval programs --env.taskset.dataset openai/openai_humaneval -m MODEL
"""

from gradebox.eval.frameworks.taskset import Programs, ProgramsConfig, ProgramTask

__all__ = ["ProgramTask", "Programs", "ProgramsConfig"]
