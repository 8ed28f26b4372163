"""`--sandbox gradebox` of inspect_ai: commands, files, limits and attacks."""

from typing import Any

import pytest

ENVIRONMENT = "inspect"
pytestmark = pytest.mark.frameworks


def sh(text: str, **options: Any) -> tuple[str, dict[str, Any]]:
    return "exec", {"cmd": ["bash", "-c", text], **options}


def raised(name: str) -> dict[str, str]:
    return {"raised": name}


def test_inspects_own_checks_hold_but_for_other_users(client):
    found = client.call("self_check", "")
    assert found["checks"] >= 44
    assert list(found["failed"]) == ["test_exec_as_user"]  # a box has one user
    assert "has one user" in found["failed"]["test_exec_as_user"]


def test_tools_of_an_agent_share_files(client):
    calls = [
        ["bash", {"command": "cat data/in.txt; echo 41 > number"}],
        ["python", {"code": "print(int(open('number').read()) + 1)"}],
        ["python", {"code": "raise ValueError('on purpose')"}],
    ]
    first, second, third = client.call("agent", "", calls=calls)
    assert (first, second.strip()) == ("from the sample", "42")
    assert "ValueError: on purpose" in third


READ_A = ("read_file", {"file": "a"})


@pytest.mark.parametrize(
    ("steps", "last"),
    [
        # files that were written before a time-out stay; a background process ends
        ([sh("echo 1 > a; sleep 60", timeout=1), READ_A], "1\n"),
        ([sh("sleep 60", timeout=1)], raised("TimeoutError")),
        ([sh("while :; do :; done", timeout=1)], raised("TimeoutError")),
        ([sh("(sleep 2; echo late > a) & echo now"), sh("sleep 3; ls")], [0, "", ""]),
        ([sh("head -c 1000000000 /dev/zero")], raised("OutputLimitExceededError")),
        ([sh("head -c 1000000000 /dev/zero >&2")], raised("OutputLimitExceededError")),
        ([sh("printf '\\xff'")], raised("UnicodeDecodeError")),
        ([("exec", {"cmd": ["/etc/passwd"]})], raised("PermissionError")),
        ([("exec", {"cmd": ["a\0b"]})], [126, "", "embedded null byte"]),
        ([sh("true", user="root")], raised("SandboxUserUnsupportedError")),
        # the interpreter that runs programs, by its usual names, whatever PATH the sample has
        ([sh("python -c 'print(6 * 7)'; python3 -c 'print(8)'; ls", env={"PATH": "/usr/bin:/bin"})],
         [0, "42\n8\n", ""]),
        ([sh("echo $X-$PWD", env={"X": "7"}, cwd="/")], [0, "7-/\n", ""]),
        # modes, links and names come back as they were
        ([sh("echo 5 > a; chmod 700 a; ln a b; ln -s a c; mkdir -p d/e; mkfifo f; echo 6 > $'\\n'"),
          sh("stat -c %a a; stat -c %h b; readlink c; ls -d d/e; cat $'\\n'; [ -e f ] || echo 7")],
         [0, "700\n2\na\nd/e\n6\n7\n", ""]),
        # attacks: they reach this sample's box only, and its files of before stay
        ([sh("echo 1 > a"), sh("echo 2 > a; kill -9 $PPID; sleep 5"), READ_A], "1\n"),
        ([sh("echo 1 > a"), sh("echo '{}' > .gradebox-status; echo x > .gradebox-state"), READ_A],
         "1\n"),
        ([sh("rm -rf /tmp/* ./* 2>/dev/null; :(){ :|:& };:", timeout=3), sh("echo well")],
         [0, "well\n", ""]),
        ([sh("ln -s / root; echo x > root/evil"), sh("ls root/evil 2>/dev/null || echo no")],
         [0, "no\n", ""]),
    ],
)  # fmt: skip
def test_steps_of_a_sample_end_as(client, steps, last):
    assert client.call("commands", "", steps=steps)[-1] == last


def test_files_over_the_limit_are_reported_and_lost(client):
    steps = [sh("echo 1 > a"), sh("echo 2 > a; head -c 150000000 /dev/zero > big"), READ_A]
    _, second, third = client.call("commands", "", steps=steps)
    assert second[0] == 1 and "the files are over 128 MiB" in second[2]
    assert third == "1\n"


def test_a_sample_writes_nothing_of_this_machine(client, tmp_path):
    outside = tmp_path / "outside"
    names = [str(outside), f"../../../../..{outside}"]
    tries = "; ".join(f"mkdir -p $(dirname {name}); echo x > {name}" for name in names)
    steps = [sh(tries), *(("write_file", {"file": name, "contents": "x"}) for name in names)]
    client.call("commands", "", steps=[*steps, sh(f"ln -s {tmp_path} t; echo x > t/outside")])
    assert not outside.exists()
