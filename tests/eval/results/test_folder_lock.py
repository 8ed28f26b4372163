"""The lock of a results folder."""

import os
import signal
import subprocess
import sys

import pytest

from gradebox.eval.common.errors import InputError
from gradebox.eval.results.folder import FolderLock, make_folder
from gradebox.eval.results.records import RecordLog


def test_a_second_lock_is_refused_with_the_process_that_holds_the_first(tmp_path):
    with FolderLock(tmp_path), pytest.raises(InputError) as refused:
        FolderLock(tmp_path)
    assert f"process {os.getpid()}" in str(refused.value)
    assert "another --results-dir" in str(refused.value)


def test_a_killed_process_releases_its_lock(tmp_path):
    code = (
        "import sys, time; from pathlib import Path\n"
        "from gradebox.eval.results.folder import FolderLock\n"
        "lock = FolderLock(Path(sys.argv[1])); print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(InputError, match=f"process {holder.pid}"):
            FolderLock(tmp_path)
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    FolderLock(tmp_path).close()


def test_links_in_a_folder_from_elsewhere_are_not_followed(tmp_path):
    mine = tmp_path / "mine.txt"
    mine.write_text("a line\nno line end")
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / ".lock").symlink_to(mine)
    for opening in (FolderLock, make_folder):
        with pytest.raises(InputError, match=r"\(Too many levels of symbolic links\)"):
            opening(folder)
    (folder / "records.jsonl").symlink_to(mine)
    with pytest.raises(InputError, match="can't write records: it is a symbolic link"):
        RecordLog(folder / "records.jsonl")
    assert mine.read_text() == "a line\nno line end"
