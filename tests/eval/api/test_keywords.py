"""The keywords' types are those of `Options`."""

from dataclasses import fields

import gradebox
from gradebox.eval.api.keywords import Flags, GraderFlags, RequestFlags
from gradebox.eval.grading.options import FLAGS, Options

PARAMETERS = {"sandbox": "str | Sandbox | None", "drivers": "int | DriverPool"}  # of a Grader


def written(keywords: type) -> dict[str, str]:
    return {name: ref.__forward_arg__ for name, ref in keywords.__annotations__.items()}


def test_each_keyword_is_a_flag_with_its_type():
    types = {f.name: str(f.type).replace("Path", "str | PathLike[str]") for f in fields(Options)}
    taken = {name: types[name] for name, flag in FLAGS.items() if flag.grader}
    assert written(Flags) == taken | PARAMETERS
    assert written(GraderFlags) == {n: t for n, t in taken.items() if n not in PARAMETERS}
    assert written(RequestFlags) == {n: types[n] for n, flag in FLAGS.items() if flag.request}


def test_help_lists_the_flags():
    for function in (gradebox.grade, gradebox.Grader):
        lines = [line.strip() for line in function.__doc__.splitlines()]
        assert "max_generated_tests=0" in lines and "seed=0" in lines
        assert not {name for name in FLAGS if not FLAGS[name].grader} & set(lines)
