"""Which sandbox `open_sandbox` opens: servers only where somebody names them."""

from collections.abc import Iterator

import pytest

from gradebox.eval.api.grader import Grader
from gradebox.eval.cli.grade import make_parser, options_from
from gradebox.eval.grading.session import GradingSession
from gradebox.sandbox import SandboxUnavailable
from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.opening import Kind, open_sandbox
from gradebox.sandbox.piston import PistonSandbox
from gradebox.sandbox.protocol import Sandbox
from tests.sandbox.piston.fake_piston import FakePiston, Handler, Settings

NOBODY = "http://127.0.0.1:9"


@pytest.fixture
def stranger(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakePiston]:
    """A Piston server at the default address that nobody named."""
    with FakePiston(Settings(languages=("python",))) as server:
        monkeypatch.setattr("gradebox.sandbox.endpoints.DEFAULT", server.url)
        yield server


def by_the_command(*flags: str) -> Sandbox:
    options = options_from(make_parser().parse_args(["--solutions-path", "a.jsonl", *flags]))
    with GradingSession(options) as session:
        session.files = []
        return session.sandbox


def by_a_grader(**flags: object) -> Sandbox:
    with Grader(workers=1, **flags) as grader, grader.use_sandbox() as sandbox:  # type: ignore[arg-type]
        return sandbox


def by_a_call(kind: Kind | None = None) -> Sandbox:
    with open_sandbox(kind, slots=1) as sandbox:
        return sandbox


@pytest.mark.parametrize("open_one", [by_the_command, by_a_grader, by_a_call])
def test_a_server_that_nobody_named_is_sent_nothing(open_one, stranger):
    stranger.always = lambda handler, body: pytest.fail("it was sent a program")
    asked: list[str] = []
    stranger.http.RequestHandlerClass.do_GET = lambda handler: asked.append(handler.path)  # type: ignore[attr-defined]
    assert isinstance(open_one(), EmbeddedSandbox)
    assert asked == []


@pytest.mark.parametrize("variable", ["PISTON_ENDPOINTS", "PISTON_ENDPOINT"])
@pytest.mark.parametrize("open_one", [by_the_command, by_a_grader, by_a_call])
def test_a_variable_names_servers(open_one, variable, stranger, monkeypatch):
    monkeypatch.setattr("gradebox.sandbox.endpoints.DEFAULT", NOBODY)
    monkeypatch.setenv(variable, stranger.url)
    assert isinstance(open_one(), PistonSandbox)


def test_a_flag_names_servers(stranger):
    assert isinstance(by_the_command("--sandbox", "piston"), PistonSandbox)
    assert isinstance(by_the_command("--endpoint", stranger.url), PistonSandbox)
    assert isinstance(by_a_grader(endpoint=[stranger.url]), PistonSandbox)


def test_the_box_is_chosen_over_servers_of_the_environment(stranger, monkeypatch):
    monkeypatch.setenv("PISTON_ENDPOINTS", stranger.url)
    assert isinstance(by_the_command("--sandbox", "local"), EmbeddedSandbox)


@pytest.mark.parametrize("kind", [None, "auto", "piston"])
def test_named_servers_are_never_replaced(kind, monkeypatch):
    monkeypatch.setenv("PISTON_ENDPOINTS", NOBODY)
    with pytest.raises(SandboxUnavailable, match=r"127\.0\.0\.1:9"):
        open_sandbox(kind, slots=1).close()


@pytest.mark.slow(seconds=1)
def test_auto_takes_a_server_that_passes_its_probe(stranger):
    assert isinstance(by_a_call("auto"), PistonSandbox)
    with open_sandbox("auto", slots=1, languages=["c++17"]) as sandbox:
        assert isinstance(sandbox, EmbeddedSandbox)


def no_job_works(handler: Handler, body: dict[str, object]) -> None:
    handler.reply(500, {"message": "the disk is full"})


def no_piston(handler: Handler) -> None:
    handler.reply(200, {"runtimes": "none"})


def test_auto_takes_no_server_whose_probe_fails(stranger, monkeypatch):
    stranger.always = no_job_works
    assert isinstance(by_a_call("auto"), EmbeddedSandbox)
    monkeypatch.setattr(stranger.http.RequestHandlerClass, "do_GET", no_piston, raising=False)
    assert isinstance(by_a_call("auto"), EmbeddedSandbox)
    monkeypatch.setattr("gradebox.sandbox.endpoints.DEFAULT", NOBODY)
    assert isinstance(by_a_call("auto"), EmbeddedSandbox)
