"""Two checkouts are timed with the package of each."""

import subprocess
import sys
from pathlib import Path

from bench.checkouts import HERE, timings


def test_each_work_is_timed_once_a_turn() -> None:
    watched = list[str]()
    measured = timings([("unpaid", HERE), ("paid_in_memory", HERE)], 2, 1, watched.append)
    assert [name.partition(",")[0] for name in measured] == ["unpaid", "paid_in_memory"]
    assert len(watched) == 4
    for timing in measured.values():
        assert len(timing.seconds) == len(timing.processor) == 2
        assert min(timing.seconds) > 0


def test_the_package_is_that_of_the_folder(tmp_path: Path) -> None:
    package = tmp_path / "src" / "discreet"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from .other import *\n", encoding="utf-8")
    (package / "other.py").write_text("raise RuntimeError('the other package')\n", encoding="utf-8")
    command = [sys.executable, "-m", "bench.checkouts", f"unpaid={tmp_path}", "unpaid"]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "the other package" in done.stderr


def test_works_and_folders_are_checked_first(tmp_path: Path) -> None:
    for works, reason in (
        (["unpaid"], "give two works"),
        (["unpaid", "unpaid"], "give two works"),
        (["other", "unpaid"], "no work 'other'. There are unpaid"),
        ([f"unpaid={tmp_path}", "unpaid"], "it has no src/discreet"),
    ):
        command = [sys.executable, "-m", "bench.checkouts", *works]
        done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert reason in done.stderr
