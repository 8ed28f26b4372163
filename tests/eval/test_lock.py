"""One run a folder; the dead hold nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from eval.input_error import InputError
from eval.lock import FolderLock


def test_the_second_is_refused_and_told_who_holds_it(tmp_path):
    with FolderLock(tmp_path), pytest.raises(InputError) as refused:
        FolderLock(tmp_path)
    assert f"process {os.getpid()}" in str(refused.value)
    assert "another --results-dir" in str(refused.value)


def test_after_the_first_the_next_may(tmp_path):
    FolderLock(tmp_path).close()
    with FolderLock(tmp_path) as lock:
        lock.close()
        lock.close()
    FolderLock(tmp_path).close()


def test_a_killed_process_holds_nothing(tmp_path):
    code = (
        "import sys, time; from pathlib import Path; from eval.lock import FolderLock\n"
        "lock = FolderLock(Path(sys.argv[1])); print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(InputError, match=f"process {holder.pid}"):
            FolderLock(tmp_path)
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    FolderLock(tmp_path).close()
