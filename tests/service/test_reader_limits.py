"""A reader has limits of its own, and spills nothing on the ledger's disk."""

import subprocess
import sys
from pathlib import Path

import pytest

from discreet.datasets.configuration import read_configuration
from discreet.service.dispatcher_process import reader_limits
from discreet.service.reader_limits import folder_for_spills

CODE = """
import sys
from discreet.service.reader_limits import ReaderLimits, set_limits
set_limits(ReaderLimits({memory}, {folder!r}, {spill}))
from discreet.tables.database import connect_memory
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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
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


@pytest.mark.parametrize(("turn", "nice"), [("250ms", 10), ("0s", 0)])
def test_readers_stand_behind_for_the_processor_where_replies_have_times(
    turn: str, nice: int, tmp_path: Path
) -> None:
    (tmp_path / "d.csv").write_text("x\n1\n")
    (tmp_path / "discreet.toml").write_text(
        'ledger = "budget.db"\n[datasets.d]\nsource = "d.csv"\n'
        'columns.x = { type = "integer", minimum = 0, maximum = 9 }\n'
        f'[server]\nturn = "{turn}"\n'
    )
    limits = reader_limits(read_configuration(tmp_path / "discreet.toml"))
    code = (
        "import os; from discreet.service.reader_limits import ReaderLimits, set_limits; "
        f"before = os.nice(0); set_limits(ReaderLimits(yields={limits.yields})); print(os.nice(0) - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) == nice
