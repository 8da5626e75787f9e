"""A reader has limits of its own, and spills nothing on the ledger's disk."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.service.queue.resources import folder_for_spills, stop_databases_after

CODE = """
import sys
from discreet.service.queue.resources import ReaderLimits, set_limits
set_limits(ReaderLimits({memory}, {folder!r}, {spill}))
from discreet.tables.engines.database import connect_memory
connection = connect_memory()
setting = lambda name: connection.execute(f"SELECT current_setting('{{name}}')").fetchone()[0]
is_there = setting("temp_directory").startswith({folder!r} or "?")
print(setting("threads"), is_there, setting("max_temp_directory_size"))
print(open("/proc/self/oom_score_adj").read().strip())
import resource
print(resource.getrlimit(resource.RLIMIT_DATA)[1])
try:
    bytearray(3 << 30)
except MemoryError:
    print("too much")
"""


def limited(memory: int | None, folder: str | None, spill: int | None) -> list[str]:
    """Return the lines of a process with limits."""
    code = CODE.format(memory=memory, folder=folder, spill=spill)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.splitlines()


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
def test_limits_of_memory_and_of_what_is_spilled(tmp_path: Path) -> None:
    engine, oom, data, refusal = limited(2 << 30, str(tmp_path), 1 << 30)
    assert engine.split()[:2] == ["1", "True"]
    assert "1.0 GiB" in engine
    assert (int(oom), int(data), refusal) == (800, 2 << 30, "too much")


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
def test_without_a_folder_nothing_is_spilled() -> None:
    assert "0 bytes" in limited(None, None, None)[0]


def test_spills_lie_on_another_disk_than_the_ledger(tmp_path: Path) -> None:
    elsewhere = next(
        (one for one in ("/dev/shm", "/run", "/proc") if Path(one).exists()
         and Path(one).stat().st_dev != tmp_path.stat().st_dev), None,
    )  # fmt: skip
    assert folder_for_spills(tmp_path, [str(tmp_path)]) is None
    assert folder_for_spills(tmp_path, [str(tmp_path), "/nowhere"]) is None
    assert folder_for_spills(None, [str(tmp_path)]) == str(tmp_path)
    if elsewhere is not None:
        assert folder_for_spills(tmp_path, [str(tmp_path), elsewhere]) == elsewhere


def test_readers_stand_behind_nobody_for_the_processor() -> None:
    code = (
        "import os; from discreet.service.queue.resources import ReaderLimits, set_limits; "
        "set_limits(ReaderLimits()); print(os.nice(0))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert int(done.stdout) == os.nice(0)


def test_a_statement_of_postgresql_ends_with_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGOPTIONS", "")
    stop_databases_after(1.5)
    assert os.environ["PGOPTIONS"] == "-c statement_timeout=1500"
