"""Ways to install it: what each adds to a Python, and how it works among other people's files."""

import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import msgspec
import pytest

import gradebox
from gradebox.sandbox.box import build
from testing.commands import ROOT, run_command

SHIPPED = ("eval", "sandbox", "checkers", "src", "pyproject.toml", "setup.py", "README.md",
           "LICENSE")  # fmt: skip
HOME = "https://github.com/example/gradebox"
DATA = {".c", ".h", ".css", ".js", ".html", ".json", ".jsonl", ".txt", ".yaml"}
pytestmark = [pytest.mark.slow(10), pytest.mark.xdist_group("wheel")]

# A program of a user, run beside files that have the names of our folders.
USER = """
import gradebox

rows = [{"id": "1/A", "official_tests": [{"input": "2\\n", "output": "4\\n"}]}]
records = gradebox.grade(
    [{"id": "1/A", "code": "print(int(input()) * 2)"}, {"id": "1/A", "code": "print(5)"}],
    rows,
    sandbox="local",
    allow_unsafe_sandbox=True,
)
print([record["verdict"] for record in records])
print(gradebox.run("print(6 * 7)", sandbox="local", allow_unsafe_sandbox=True).stdout)
"""
# Each reward of docs/rewards.md, with nothing installed but the wheel and msgspec.
REWARDS = """
import asyncio, importlib.util, sys

import gradebox
from gradebox import openrlhf, trl, verl

tests = [{"input": "2 3\\n", "output": "5\\n"}]
right = "print(sum(map(int, input().split())))"
answers = [f"```python\\n{right}\\n```", "```python\\nprint(6)\\n```", "six"]
box = {"sandbox": "local", "allow_unsafe_sandbox": True}
columns = {"official_tests": [tests] * 3, "language": ["python"] * 3}
print(gradebox.rewards.make_codeforces("pass_fail", **box)(answers, **columns))
print(asyncio.run(trl.reward("pass_fail", **box)(completions=answers, prompts=[""] * 3, **columns)))
print([verl.compute_score("", a, tests, mode="pass_fail", **box)["score"] for a in answers])
reward_func = openrlhf.make_reward_func("pass_fail", **box)
print(reward_func(answers, [""] * 3, [tests] * 3)["rewards"])
packages = "aiohttp datasets docker numpy pandas pyarrow requests sympy tqdm yaml".split()
print([name for name in packages if name in sys.modules or importlib.util.find_spec(name)])
"""
TYPED = """
import gradebox

with gradebox.Grader("problems.jsonl", sandbox="local") as grader:
    records = grader.grade([{"id": "1/A", "code": "print(1)"}])
first: gradebox.Record = records[0]
verdicts = [case["verdict"] for case in first["details"]]
seconds: float = gradebox.run("print(1)", limits=gradebox.Limits(cpu_s=2.0)).cpu_s
frame = gradebox.latest_records("results/solutions")
wrong: int = gradebox.run("print(1)").stdout
gradebox.grade([], {}, worker=3)
gradebox.nothing
first["verdikt"]
grader.grade([])[0]["details"][0]["cpu"]
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("setuptools", minversion="70.1", reason="setuptools 70.1 builds the wheel")
    if not shutil.which("gcc") and not shutil.which("cc"):
        pytest.skip("no C compiler to build the wheel's launcher with")
    folder = tmp_path_factory.mktemp("wheel")
    copy_checkout(folder / "source")
    return built("wheel", folder / "source")


def copy_checkout(folder: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__", "launcher-*")
    for name in SHIPPED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=ignored)
        else:
            shutil.copy(ROOT / name, folder / name)


@pytest.fixture(scope="module")
def unlinked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout without symbolic links, as of a zip archive: each is a file with its target."""
    source = tmp_path_factory.mktemp("unlinked") / "source"
    copy_checkout(source)
    for path in (source / "src" / "gradebox").iterdir():
        if path.is_symlink():
            target = str(path.readlink())
            path.unlink()
            path.write_text(target)
    return source


def built(kind: str, source: Path) -> Path:
    """Return what a build of a kind (wheel, editable or sdist) makes of a checkout."""
    code = f"from setuptools import build_meta; print(build_meta.build_{kind}('made'))"
    (source / "made").mkdir(exist_ok=True)
    done = run_command([sys.executable, "-c", code], cwd=source)
    assert done.returncode == 0, done.stderr[-2000:]
    return source / "made" / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has the wheel, msgspec, and nothing else."""
    home = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True, timeout=120)
    (packages,) = home.glob("lib/python*/site-packages")
    install = ("-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", packages, wheel)
    subprocess.run([sys.executable, *install], check=True, timeout=120)
    (packages / "msgspec").symlink_to(Path(msgspec.__file__).parent)  # it needs no other package
    return home / "bin" / "python"


def run_alone(
    python: Path, arguments: list[str], folder: Path, cache: Path
) -> subprocess.CompletedProcess[str]:
    """Run the installed Python in a folder, without a compiler and without our checkout."""
    empty = cache.with_name("empty")
    empty.mkdir(exist_ok=True)
    keep = ("HOME", "SANDBOX_LEVEL", "LANG", "GRADEBOX_PYTHON")
    return run_command(
        [str(python), *arguments],
        cwd=folder,
        env={
            **{name: os.environ[name] for name in keep if name in os.environ},
            "PATH": str(empty),
            "GRADEBOX_CACHE": str(cache),
        },
    )


def test_it_adds_one_importable_name_with_all_sources_and_data(wheel):
    machine = platform.machine()
    assert wheel.name.endswith(f"-py3-none-manylinux_2_17_{machine}.musllinux_1_1_{machine}.whl")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"gradebox"}
    binaries = {name for name in names if "/bin/" in name}
    assert binaries == {f"gradebox/sandbox/box/c/bin/{part.file_name()}" for part in build.PARTS}
    sources = {
        f"gradebox/{path.relative_to(ROOT)}"
        for package in ("eval", "sandbox", "checkers")
        for path in (ROOT / package).rglob("*")
        if path.suffix in DATA | {".py"} and path.is_file() and "__pycache__" not in path.parts
    }
    assert sorted((sources | {"gradebox/py.typed"}) - set(names)) == []


@pytest.mark.parametrize("kind", ["modules", "packages"])
def test_it_works_beside_files_that_are_named_like_ours(kind, python, tmp_path):
    """A training project has an eval.py of its own; so it may have a sandbox/ and a results/."""
    project = tmp_path / "project"
    project.mkdir()
    for name in ("eval", "sandbox", "checkers", "results", "tests", "models"):
        if kind == "modules":
            (project / f"{name}.py").write_text("raise SystemExit('a file of the user')\n")
            continue
        (project / name).mkdir()
        (project / name / "__init__.py").write_text("raise SystemExit('of the user')\n")
    (project / "train.py").write_text(USER)
    done = run_alone(python, ["train.py"], project, tmp_path / "cache")
    assert done.stdout.splitlines() == ["['AC', 'WA']", "b'42\\n'"], done.stderr[-2000:]


def test_rewards_need_the_wheel_and_msgspec_only(python, tmp_path):
    done = run_alone(python, ["-c", REWARDS], tmp_path, tmp_path / "cache")
    assert done.stdout.splitlines() == [*["[1.0, 0.0, -1.0]"] * 4, "[]"], done.stderr[-2000:]


def test_a_source_installation_without_a_compiler_is_refused(wheel, tmp_path):
    setup = [sys.executable, "setup.py", "-q", "build", "--build-base", str(tmp_path)]
    done = run_command(setup, cwd=wheel.parents[1], env={"PATH": str(tmp_path)})
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        "gradebox is not installed: the sandbox's launcher must be compiled once, but no C compiler"
    )


def test_its_commands_work_without_a_checkout(python, tmp_path):
    packages = next(python.parents[1].glob("lib/python*/site-packages"))
    command = packages / "bin" / "gradebox"
    done = run_alone(python, [str(command), "doctor"], tmp_path, tmp_path / "cache")
    assert "level" in done.stdout, done.stderr[-2000:]


def test_a_checkout_without_links_works(unlinked, wheel, tmp_path):
    for command in (["eval/report.py", "--help"], ["-m", "sandbox.doctor", "--help"]):
        subprocess.run([sys.executable, *command], cwd=unlinked, check=True, capture_output=True)
    code = "import sandbox, gradebox.eval.cli; print(sandbox.__file__, gradebox.eval.cli.__file__)"
    files = subprocess.check_output([sys.executable, "-c", code], cwd=unlinked, text=True)
    # the files that git knows, with links too
    assert files == f"{unlinked}/sandbox/__init__.py {unlinked}/eval/cli/__init__.py\n"
    names = zipfile.ZipFile(built("wheel", unlinked)).namelist()
    assert sorted(names) == sorted(zipfile.ZipFile(wheel).namelist())


def test_an_editable_installation_adds_one_name(wheel, tmp_path):
    source = wheel.parents[1]
    archive = zipfile.ZipFile(built("editable", source))
    (paths,) = (name for name in archive.namelist() if name.endswith(".pth"))
    assert archive.read(paths).decode().split() == [f"{source}/src"]
    code = "import importlib.util as u; print([u.find_spec(n) is None for n in %r])"
    names = ["gradebox.eval.cli", "eval", "sandbox", "checkers", "docs", "tests", "examples"]
    found = subprocess.check_output(
        [sys.executable, "-S", "-c", code % names],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{source}/src"},
        text=True,
    )
    assert found == f"{[False, *[True] * 6]}\n"


def test_a_source_archive_has_the_documents_and_makes_the_same_wheel(wheel, tmp_path, monkeypatch):
    source = tmp_path / "source"
    copy_checkout(source)
    for name in ("docs", "examples", "tests", "MANIFEST.in", "CHANGELOG.md"):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, source / name)
    monkeypatch.setenv("GRADEBOX_HOMEPAGE", HOME)
    with tarfile.open(built("sdist", source)) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
        archive.extractall(tmp_path / "archive", filter="data")
    assert {"docs/architecture.md", "CHANGELOG.md", "examples/problems.jsonl"} <= inside
    assert not {name for name in inside if name.startswith("tests")}
    monkeypatch.delenv("GRADEBOX_HOMEPAGE")  # the archive has it
    (folder,) = (tmp_path / "archive").iterdir()
    made = zipfile.ZipFile(built("wheel", folder))
    assert sorted(made.namelist()) == sorted(zipfile.ZipFile(wheel).namelist())
    (name,) = (name for name in made.namelist() if name.endswith("/METADATA"))
    metadata, tag = made.read(name).decode(), f"v{gradebox.__version__}"
    assert f"Project-URL: Homepage, {HOME}\n" in metadata
    assert f"]({HOME}/raw/{tag}/docs/images/report.png)" in metadata
    assert f"]({HOME}/blob/{tag}/docs/sandbox.md)" in metadata
    assert re.findall(r"\]\((?!https://)[^)]*\)", metadata) == []


@pytest.mark.parametrize("wrong", ["https://", "git@example.org:gradebox", "https://example.org"])
def test_a_homepage_that_is_no_address_of_a_repository_is_refused(wrong):
    done = run_command(
        [sys.executable, "setup.py", "--name"], env={**os.environ, "GRADEBOX_HOMEPAGE": wrong}
    )
    assert done.returncode == 1
    assert "give the repository's address, such as https://github.com/NAME/" in done.stderr


def test_a_users_script_is_checked_against_its_types(python, tmp_path):
    pytest.importorskip("mypy", reason="mypy is missing; make test installs it")
    script = tmp_path / "train.py"
    script.write_text(TYPED)
    done = run_command(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--python-executable", str(python)),
            *("--cache-dir", str(tmp_path / "cache"), "--ignore-missing-imports", script.name),
        ],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
    )
    found = [line for line in done.stdout.splitlines() if ": error: " in line]
    at = TYPED.splitlines().index('wrong: int = gradebox.run("print(1)").stdout') + 1
    wanted = (
        "Incompatible types in assignment",
        'Unexpected keyword argument "worker" for "grade"',
        'Module has no attribute "nothing"',
        'TypedDict "Record" has no key "verdikt"',
        'TypedDict "Case" has no key "cpu"',
    )
    assert len(found) == len(wanted), done.stdout + done.stderr
    for line, (text, error) in enumerate(zip(found, wanted, strict=True), start=at):
        assert text.startswith(f"train.py:{line}: error: {error}")
