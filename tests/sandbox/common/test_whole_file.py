"""Files are written whole or not at all."""

import pytest

from gradebox.sandbox.common.whole_file import whole_file


def test_the_file_is_replaced_at_the_end_of_the_block(tmp_path):
    path = tmp_path / "figures.json"
    path.write_bytes(b"old")
    with whole_file(path, mode=0o640) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new" and [p.name for p in tmp_path.iterdir()] == ["figures.json"]
    assert path.stat().st_mode & 0o777 & ~0o640 == 0


def test_an_error_leaves_the_old_file_and_nothing_beside_it(tmp_path):
    path = tmp_path / "figures.json"
    path.write_bytes(b"old")
    with pytest.raises(ValueError, match="half way"), whole_file(path) as file:
        file.write(b"ne")
        raise ValueError("half way")
    assert path.read_bytes() == b"old" and [p.name for p in tmp_path.iterdir()] == ["figures.json"]


def test_a_missing_folder_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError), whole_file(tmp_path / "none" / "x"):
        pass
