"""One solution graded again: each case by its stored output where that says all, else by a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from eval.debugging.explain import stored_output
from eval.debugging.find import Json
from eval.debugging.reopen import terms_of
from eval.grade_case import Bench, CaseGrader, Seen, look_at, seen_of, unjudged
from eval.grade_solution import Subject, compile_fields, program_of
from eval.input_error import InputError
from eval.interactive import interactive_attempt
from eval.kits import Kit
from eval.materials import Materials, checker_of
from eval.model import CaseRecord, Solution, TestCase, TestRef
from eval.plan import subject_of
from eval.records import as_json
from eval.time_policy import bounds_of
from eval.verdict import fails, sum_up
from sandbox.errors import BadRequest, SandboxError
from sandbox.model import Compiled, Execution

Name = tuple[str, int]
# What is found by the output alone: the run itself ended well and within its limits.
_BY_OUTPUT = frozenset((
    "passed_by_exact_match", "passed_by_checker", "failed_outputs_match", "failed_checker",
    "presentation_error", "checker_unclear",
))  # fmt: skip


class Regrader:
    """Grades solutions of one run again; may be called from several threads."""

    def __init__(self, materials: Materials, earlier: Iterable[str | None] = (None,)) -> None:
        """earlier: what --checker was when the records were made; None: the problem's own."""
        options = materials.options
        self._earlier = tuple(dict.fromkeys(earlier))
        self._materials = materials
        self._terms = terms_of(materials)
        self._bench = Bench(
            materials.sandbox,
            compare=options.compare,  # type: ignore[arg-type]
            stored_bytes=options.max_stored_output,
            repeat=options.repeat,
        )

    def regrade(
        self, record: Json, solution: Solution, cases: frozenset[Name]
    ) -> tuple[Json, Json, int]:
        """(old record, new record, cases judged by their stored output).

        cases  those to grade again, all when empty; all, too, when the key is another one now
        """
        problem = self._materials.problems.get(solution.problem_id)
        if problem is None:
            raise AssertionError("callers look the problem up first")
        kit = self._materials.shelf.borrow(problem)
        try:
            facts = self._materials.shelf.facts(problem)
            subject = subject_of(solution, problem, facts, self._terms)
            work = _Work(self._bench, subject, kit, record, self._checker_only(subject, record))
            try:
                same = subject.key == record.get("key")
                new = work.record(cases if same else frozenset(), self._stops)
            finally:
                work.close()
        finally:
            self._materials.shelf.give_back(kit)
        return record, new, work.from_stored

    @property
    def _stops(self) -> bool:
        return self._materials.options.stop_on_first_failure

    def _checker_only(self, subject: Subject, record: Json) -> bool:
        """Whether nothing but the checker is another one since, so that stored outputs are
        what the program writes: then the record has the key of one of the earlier checkers."""
        if subject.key == record.get("key"):
            return True
        materials, problem = self._materials, subject.problem
        for name in self._earlier:
            options = replace(materials.options, checker=name)
            try:
                checker = checker_of(problem, materials.sandbox, options)
            except InputError:  # its file is gone: what it was can't be told
                continue
            facts = replace(subject.facts, checker=checker.digest if checker else "")
            if checker is not None:
                checker.close()
            if subject_of(subject.solution, problem, facts, self._terms).key == record.get("key"):
                return True
        return False


class _Work:
    """One solution under way; compiled at the first case that has to run."""

    def __init__(
        self, bench: Bench, subject: Subject, kit: Kit, old: Json, use_stored: bool
    ) -> None:
        self._bench = bench
        self._subject = subject
        self._kit = kit
        self._old = old
        self._then = {(c["case_type"], c["test_case_i"]): c for c in old.get("details") or ()}
        self._use_stored = use_stored
        self._compiled: Compiled | None = None
        self._bounds = bounds_of(subject.problem, subject.scale)
        self.from_stored = 0

    def close(self) -> None:
        if self._compiled is not None:
            self._compiled.close()

    def record(self, chosen: frozenset[Name], stops: bool) -> dict[str, Any]:
        """The solution's new record."""
        cases: list[CaseRecord] = []
        failed = False
        for ref in self._kit.tests.plan:
            name = (ref.case_type, ref.index)
            if stops and failed:
                cases.append(unjudged(ref, "SK", ref.skip or "not_run_after_failure"))
                continue
            keep = chosen and name not in chosen and name in self._then
            if keep and self._then[name].get("reason") != "not_run_after_failure":
                case = _case_of(self._then[name])
            else:
                case = self._grade(ref)
            failed = failed or fails(case.verdict)
            cases.append(case)
        outcome = sum_up(cases)
        first_error = next((c.error for c in cases if c.verdict == outcome.verdict), "")
        made = self._subject.record(
            outcome.status,
            outcome.verdict,
            outcome.score,
            error=first_error if outcome.status == "error" else "",
            compile=self._compile_fields(),
            details=cases,
        )
        return as_json(made)

    def _compile_fields(self) -> dict[str, Any]:
        if self._compiled is not None:
            return compile_fields(self._compiled, self._bench.stored_bytes)
        return dict(self._old.get("compile") or {})

    def _grade(self, ref: TestRef) -> CaseRecord:
        if ref.skip is not None:
            return unjudged(ref, "SK", ref.skip)
        then = self._then.get((ref.case_type, ref.index))
        output = self._stored(then)
        if then is not None and output is not None:
            again = self._from_stored(ref, then, output)
            if again is not None:
                return again
        return self._from_run(ref)

    def _stored(self, then: Json | None) -> bytes | None:
        """The whole output of a run that is judged by nothing else; None: run it again."""
        if not self._use_stored or then is None or self._kit.interactor is not None:
            return None
        if then.get("reason") not in _BY_OUTPUT or then.get("exit_code") != 0:
            return None
        by_file = self._subject.problem.input_mode == "file"
        output = stored_output(then)
        return None if by_file and not output else output  # a file that was not written

    def _from_stored(self, ref: TestRef, then: Json, output: bytes) -> CaseRecord | None:
        """The case judged by what the program wrote then; None for another input."""

        def attempt(test: TestCase) -> Seen:
            found = look_at(test, output, self._kit.checker, self._bench.compare)
            return seen_of(run, self._bounds, output, found, bool(then.get("contended")))

        run = Execution(
            exit_code=0,
            signal=None,
            cpu_s=float(then.get("cpu_s") or 0.0),
            wall_s=float(then.get("wall_s") or 0.0),
            memory_bytes=then.get("memory_bytes"),
            stdout=output,
            stderr=str(then.get("stderr") or "").encode("utf-8", "surrogatepass"),
            stdout_bytes=len(output),
        )
        nothing = Compiled(program_of("", self._subject.language), ok=True)
        case = self._grader(nothing, attempt).grade(ref)
        if case.input_sha256 != then.get("input_sha256"):
            return None
        self.from_stored += 1
        return case

    def _from_run(self, ref: TestRef) -> CaseRecord:
        try:
            compiled = self._ready()
        except SandboxError as e:
            return unjudged(ref, "ER", "sandbox_error", str(e))
        if not compiled.ok:
            return unjudged(ref, "CE", "compile_error", "the program does not compile")
        attempt = None
        if self._kit.interactor is not None:
            attempt = interactive_attempt(self._bench, self._bounds, compiled, self._kit.interactor)
        return self._grader(compiled, attempt).grade(ref)

    def _grader(self, compiled: Compiled, attempt: Any) -> CaseGrader:
        return CaseGrader(
            self._bench,
            self._subject.problem,
            self._bounds,
            compiled,
            self._kit.checker,
            self._kit.tests,
            attempt=attempt,
            hashes=self._kit.hashes,
        )

    def _ready(self) -> Compiled:
        if self._compiled is None:
            program = program_of(self._subject.solution.code or "", self._subject.language)
            sandbox = self._bench.sandbox
            try:
                self._compiled = self._bench.retry.call(
                    lambda: sandbox.compile(program), "compiling"
                )
            except BadRequest as e:
                self._compiled = Compiled(program, ok=False, log=str(e).encode())
        return self._compiled


_CASE_FIELDS = frozenset(f.name for f in fields(CaseRecord))


def _case_of(case: Mapping[str, Any]) -> CaseRecord:
    """A case of a record as it was read."""
    known = {name: value for name, value in case.items() if name in _CASE_FIELDS}
    known["repeats"] = tuple(known.get("repeats") or ())
    return CaseRecord(**known)
