"""Containers of the image, and the table of places that `make test-docker` prints."""

import subprocess
from collections.abc import Callable

import pytest

from testing.commands import run_command
from tests.sandbox.backends import skip

Container = Callable[..., subprocess.CompletedProcess[str]]
TABLE: pytest.StashKey[list[str]] = pytest.StashKey()


@pytest.fixture(scope="session")
def container() -> Container:
    """Return a function that runs the image's command in a container without a network.

    Its arguments: options of `docker run`, the words of the command, the image.
    """
    for words in (["version"], ["image", "inspect", "gradebox", "gradebox-cpp"]):
        try:
            asked = run_command(["docker", *words])
        except FileNotFoundError:
            skip("docker", "the command docker is missing")
            raise
        if asked.returncode:
            why = asked.stderr.strip().splitlines()[-1]
            skip("docker", f"no engine, or its images are not built (make test-docker): {why}")

    def run(
        options: list[str], words: list[str], image: str = "gradebox-cpp"
    ) -> subprocess.CompletedProcess[str]:
        return run_command(
            ["docker", "run", "--rm", "--network=none", *options, image, *words], timeout=150
        )

    return run


@pytest.fixture
def table(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Return a function that adds a line to the table of places."""
    return request.config.stash.setdefault(TABLE, []).append


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    lines = config.stash.get(TABLE, [])
    if lines:
        terminalreporter.section("places")
        for line in lines:
            terminalreporter.write_line(line)
