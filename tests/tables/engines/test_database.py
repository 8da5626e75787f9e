"""Where the database that reads files writes what its memory does not hold."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from discreet.errors import UnreadableFile
from discreet.tables import engines as tables
from discreet.tables.engines import database

SPILLS = """
import os, stat
from discreet.tables.engines import database

database.CONFIG["memory_limit"] = "30MB"
connection = database.connect_memory()
connection.execute("CREATE TABLE rows AS SELECT hash(range) AS cell FROM range(8000000)")
((path,),) = connection.sql("SELECT current_setting('temp_directory')").fetchall()
assert os.path.dirname(path) == os.environ["TMPDIR"], path
assert stat.S_IMODE(os.stat(path).st_mode) == 0o700
"""


def run(program: str, tmp_path: Path) -> tuple[str, list[str], list[str]]:
    """Return what a program printed, and what it left in its folder and in that for temporary files."""
    here, temporary = tmp_path / "here", tmp_path / "temporary"
    here.mkdir()
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, cwd=here, env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr, os.listdir(here), os.listdir(temporary)


def test_what_is_written_only_the_user_can_read_and_is_gone_at_the_end(tmp_path: Path) -> None:
    program = SPILLS + "print(len(os.listdir(path)) > 1, os.listdir('.'))"
    assert run(program, tmp_path) == ("True []\n", [], [])


def test_a_fork_leaves_it_to_the_parent(tmp_path: Path) -> None:
    program = SPILLS + (
        "import atexit, warnings\n"
        "warnings.simplefilter('ignore', DeprecationWarning)  # of threads: DuckDB's\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    atexit._run_exitfuncs(); os._exit(0)\n"
        "print(os.waitpid(child, 0)[1], len(os.listdir(path)) > 1)"
    )
    assert run(program, tmp_path) == ("0 True\n", [], [])


def test_workers_of_a_pool_leave_nothing(tmp_path: Path) -> None:
    program = (
        "import multiprocessing\n"
        "from discreet.tables.engines import database\n"
        "def work(_): return len(database.connect_memory().sql('SELECT 1').fetchall())\n"
        "with multiprocessing.get_context('fork').Pool(2) as pool:\n"
        "    print(sum(pool.map(work, range(4))))\n"
        "    pool.close(); pool.join()"
    )
    assert run(program, tmp_path) == ("4\n", [], [])


def test_nothing_is_made_before_a_file_is_read(tmp_path: Path) -> None:
    program = (
        "import os, discreet\nfrom discreet.tables.engines import database\n"
        "print(os.listdir(os.environ['TMPDIR']))"
    )
    assert run(program, tmp_path) == ("[]\n", [], [])


def test_where_no_directory_can_be_made_nothing_is_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    monkeypatch.setattr(database, "_databases", [])
    asked = "SELECT current_setting('temp_directory')"
    assert database.connect_memory().sql(asked).fetchall() == [("",)]


def test_a_file_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    """Else one record would count twice, and its answers tell twice as much about it."""
    (tmp_path / "rows").mkdir()
    file = tmp_path / "rows" / "a.csv"
    file.write_text("x\n1\n")
    (tmp_path / "rows" / "link.csv").symlink_to(file)
    (tmp_path / "hard.csv").hardlink_to(file)
    (tmp_path / "rows" / "again").symlink_to(tmp_path / "rows")
    link, hard = tmp_path / "rows" / "link.csv", tmp_path / "hard.csv"
    for twice in (
        tmp_path / "rows", str(tmp_path / "rows" / "*.csv"), str(tmp_path / "rows" / "**" / "a.csv"),
        [file, file], [file, link], [file, hard], [hard, str(tmp_path / "rows" / "a*.csv")],
    ):  # fmt: skip
        with pytest.raises(
            UnreadableFile, match="are the same file, so its records would count twice"
        ):
            tables.count(twice, "x", ["1"])
    assert tables.count([link], "x", ["1"]) == [1]
    assert tables.count(str(tmp_path / "*.csv"), "x", ["1"]) == [1]


def test_nothing_is_left_for_duckdb_to_report_when_a_process_ends(tmp_path: Path) -> None:
    """It writes to stderr which objects of its own outlive the modules."""
    (tmp_path / "t.csv").write_text("n\n1\n2\n")
    program = (
        "import discreet; discreet.median('t.csv', 'n', candidates=discreet.Grid(0, 3), epsilon=1)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
