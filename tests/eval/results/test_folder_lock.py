"""The lock of a results folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from gradebox.eval.common.errors import InputError
from gradebox.eval.results.folder import FolderLock


def test_a_second_lock_is_refused_with_the_process_that_holds_the_first(tmp_path):
    with FolderLock(tmp_path), pytest.raises(InputError) as refused:
        FolderLock(tmp_path)
    assert f"process {os.getpid()}" in str(refused.value)
    assert "another --results-dir" in str(refused.value)


def test_a_released_lock_can_be_taken_again(tmp_path):
    FolderLock(tmp_path).close()
    with FolderLock(tmp_path) as lock:
        lock.close()
        lock.close()
    FolderLock(tmp_path).close()


def test_a_killed_process_releases_its_lock(tmp_path):
    code = (
        "import sys, time; from pathlib import Path\n"
        "from gradebox.eval.results.folder import FolderLock\n"
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
