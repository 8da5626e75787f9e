"""Folders of a service: removed with it, and after a kill at the next start; never those of others that live."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from discreet.service.http.temporary_folders import TemporaryFolder

HOLD = """
import sys, time
from discreet.service.http.temporary_folders import TemporaryFolder
folder = TemporaryFolder(sys.argv[1])
print(folder.path, flush=True)
time.sleep(60)
"""


def age(folder: Path) -> None:
    """Make a folder old enough."""
    before = time.time() - 61
    os.utime(folder, (before, before))


def folders(place: Path) -> set[str]:
    return {str(one) for one in place.iterdir()}


def test_a_folder_goes_with_its_service(tmp_path: Path) -> None:
    folder = TemporaryFolder(str(tmp_path))
    assert Path(folder.path).stat().st_mode & 0o777 == 0o700
    (Path(folder.path) / "spilled").write_text("rows")
    folder.remove()
    assert folders(tmp_path) == set()


@pytest.mark.parametrize("is_killed", [True, False])
def test_the_next_start_removes_what_a_killed_service_left(tmp_path: Path, is_killed: bool) -> None:
    """And leaves that of one that lives, however old it is."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        left = Path(other.stdout.readline().strip())
        (left / "spilled").write_text("rows")
        age(left)
        if is_killed:
            other.send_signal(signal.SIGKILL)
            other.wait(60)
        ours = TemporaryFolder(str(tmp_path))
        assert folders(tmp_path) == {ours.path} | (set() if is_killed else {str(left)})
        other.kill()
    ours.remove()


def test_one_that_is_just_being_made_is_left(tmp_path: Path) -> None:
    (tmp_path / "discreet-service-young").mkdir()
    old = tmp_path / "discreet-service-old"
    old.mkdir()
    age(old)
    ours = TemporaryFolder(str(tmp_path))
    assert folders(tmp_path) == {ours.path, str(tmp_path / "discreet-service-young")}
    ours.remove()


def test_links_and_files_and_folders_of_other_names_are_left(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("kept")
    (tmp_path / "discreet-service-link").symlink_to(elsewhere)
    (tmp_path / "discreet-service-file").write_text("")
    for one in tmp_path.iterdir():
        before = time.time() - 61
        os.utime(one, (before, before), follow_symlinks=False)
    before_start = folders(tmp_path)
    ours = TemporaryFolder(str(tmp_path))
    assert folders(tmp_path) == {*before_start, ours.path}
    assert (elsewhere / "kept").exists()
    ours.remove()
