"""Foreign errors never get out, and what comes out instead names the fix."""

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import duckdb
import pandas
import pytest

import discreet
from discreet.errors import MissingPackage, UnreadableData, UnreadableFile
from discreet.tables.engines.engine_errors import quietly

from ...installed import Installed


def raising(error: BaseException) -> None:
    raise error


def test_an_error_is_replaced_and_not_linked() -> None:
    failure = UnreadableFile("t.csv cannot be read")
    with pytest.raises(UnreadableFile) as caught:
        quietly(lambda: raising(ValueError("s3cr3t")), failure)
    assert caught.value is failure
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_a_lack_of_memory_is_named_as_such() -> None:
    with pytest.raises(UnreadableFile, match="not enough memory") as caught:
        quietly(lambda: raising(MemoryError("s3cr3t")), UnreadableFile("t.csv cannot be read"))
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_an_engine_without_memory_is_named_as_such() -> None:
    connection = duckdb.connect(config={"memory_limit": "10MB", "max_temp_directory_size": "0KB"})
    many = connection.sql("SELECT hash(range) % 10_000_000 AS v FROM range(10_000_000)")
    with pytest.raises(UnreadableData, match="memory_limit"):
        discreet.quantiles(many, "v", alphas=["1/2"], candidates=discreet.Grid(0, 10**7), epsilon=1)


@pytest.mark.parametrize("wanted", [KeyboardInterrupt(), SystemExit(3)])
def test_a_wish_to_stop_gets_through(wanted: BaseException) -> None:
    with pytest.raises(type(wanted)):
        quietly(lambda: raising(wanted), UnreadableData("no"))


def test_an_engine_that_was_interrupted_is_not_called_damaged() -> None:
    """After Ctrl-C DuckDB raises this RuntimeError."""
    with pytest.raises(KeyboardInterrupt) as caught:
        quietly(lambda: raising(RuntimeError("Query interrupted")), UnreadableFile("damaged"))
    assert caught.value.__context__ is caught.value.__cause__ is None
    with pytest.raises(UnreadableFile, match="damaged"):
        quietly(lambda: raising(RuntimeError("another")), UnreadableFile("damaged"))


def test_an_interrupt_behind_a_foreign_error_gets_through() -> None:
    def work() -> None:
        try:
            raising(KeyboardInterrupt())
        except KeyboardInterrupt:
            raising(ValueError("s3cr3t"))  # as engines do

    with pytest.raises(KeyboardInterrupt) as caught:
        quietly(work, UnreadableData("no"))
    assert caught.value.__context__ is caught.value.__cause__ is None


INTERRUPTED = """
import os, signal, sys, threading
import duckdb, discreet

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in what runs in the background
asked = {"candidates": [1, 2], "epsilon": 1}
discreet.mode(duckdb.sql("SELECT 1 AS c"), "c", **asked)  # what imports modules may lose an interrupt
endless = duckdb.sql("SELECT (a.range * b.range) % 10 AS c FROM range(10_000_000) a, range(10_000_000) b")
ended = threading.Event()

def press():
    while not ended.wait(0.5):  # one that comes inside a callback of Python's is lost, so a person presses again
        os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=press, daemon=True).start()
try:
    discreet.mode(endless, "c", **asked)
except KeyboardInterrupt:
    ended.set()
    print("interrupted", flush=True)
    os._exit(0)  # the end of an interpreter may wait for what DuckDB has left of the query
"""


def test_an_interrupted_query_is_interrupted() -> None:
    """Ctrl-C while DuckDB counts, also where the tests themselves ignore it."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,  # only so that a failure ends, too
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_IGN),
    )
    assert (done.returncode, done.stdout) == (0, "interrupted\n")


TERMINATED = """
import os, signal, sys, threading, time
from discreet import cli
from discreet.tables import engines
from discreet.tables.engines import database

def stopped(*_):
    database.connect_memory()
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGTERM)).start()
    time.sleep(60)

engines.parse_candidates = stopped
sys.argv = ["discreet", "mode", sys.argv[1], "c", "--candidates", "a", "--epsilon", "1"]
cli.main()
"""


def test_a_command_that_is_terminated_leaves_no_files(tmp_path: Path) -> None:
    """As `docker stop`, systemd and `timeout` do it."""
    (tmp_path / "t.csv").write_text("c\na\n")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", TERMINATED, str(tmp_path / "t.csv")],
        env={**os.environ, "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (143, "", "")
    assert os.listdir(temporary) == []


def test_text_of_pandas_names_the_package_that_it_needs() -> None:
    """What pandas 3 makes of text; pandas brings no PyArrow."""
    cities = pandas.Series(["Basel", "Bern"], dtype="string")
    with Installed() as installed:
        installed.add("pandas")
        with pytest.raises(MissingPackage, match="pyarrow"):
            discreet.mode(cities, candidates=["Basel", "Bern"], epsilon=1)
