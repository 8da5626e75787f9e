"""The bar: for terminals, after a while, gone at the end, and nothing of the data in it but a percentage."""

import gzip
import io
import random
import re
import sys
import threading
import zipfile
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

import discreet
from discreet.cli.application import build_app
from discreet.cli.releasing import UNDESCRIBED_TEXT
from discreet.tables.engines import database, progress
from discreet.tables.formats import reader_library, text_records
from discreet.tables.formats.byte_blocks import open_bytes

GONE = "\x1b[?25h\r\x1b[1A\x1b[2K"
"""The cursor is back, and the line is erased."""


class Terminal(io.StringIO):
    """A stderr that is a terminal, and says when some text was written to it."""

    def __init__(self, awaited: str) -> None:
        super().__init__()
        self.awaited, self.seen = awaited, threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self.awaited in text:
            self.seen.set()
        return super().write(text)

    def lines(self) -> list[str]:
        """Return what was shown, one line after another, without colours."""
        plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.getvalue())
        return re.split(r"[\r\n]+", plain)


class Connection:
    """A connection of DuckDB whose query is somewhere."""

    def __init__(self, percent: float) -> None:
        self.percent = percent
        self.told = list[str]()

    def execute(self, query: str) -> None:
        self.told.append(query)

    def query_progress(self) -> float:
        return self.percent


def at_a_terminal(monkeypatch: pytest.MonkeyPatch, awaited: str = "reading") -> Terminal:
    """To be called by the test itself: between its phases pytest sets stderr anew."""
    found = Terminal(awaited)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "stderr", found)
    return found


def the_bar() -> progress.Bar:
    """Return the bar that is shown."""
    bar = progress.BAR.get()
    assert bar is not None
    return bar


def test_what_takes_long_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_a_terminal(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.waiting("reading [red]a.csv"):
        assert terminal.seen.wait(10)
    assert "reading [red]a.csv" in terminal.getvalue()
    assert terminal.getvalue().endswith(GONE)


def test_what_is_done_at_once_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_a_terminal(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 3600.0)
    with progress.waiting("reading a.csv"):
        pass
    assert terminal.getvalue() == ""


def test_it_is_gone_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_a_terminal(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)

    def fail() -> None:
        with progress.waiting("reading a.csv"):
            assert terminal.seen.wait(10)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert terminal.getvalue().endswith(GONE)


def test_a_file_or_a_pipe_gets_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    (tmp_path / "a.csv").write_text("drink\ntea\n")
    with progress.waiting("reading a.csv"):
        pass
    assert capsys.readouterr().err == ""
    asked = [
        "mode",
        str(tmp_path / "a.csv"),
        "drink",
        "--candidates",
        "tea",
        "--epsilon",
        "1",
    ]
    done = CliRunner().invoke(build_app(), asked)
    promise = (
        f"{UNDESCRIBED_TEXT}\nε = 1 (add/remove one record), exponential mechanism\n"
        "in 95 of 100 answers the answer is as good as the best one\n"
    )
    assert (done.exit_code, done.stdout, done.stderr) == (0, "tea\n", promise)


@pytest.mark.parametrize(
    ("percents", "shown"),
    [
        ([], None),
        ([-1.0], None),
        ([0.0], 0.0),
        ([43.2], 43.2),
        ([-1.0, 43.2, -1.0], 43.2),
        ([12.0, 43.2], 43.2),
    ],
)
def test_the_percentage_is_of_the_last_scan_that_runs(
    percents: list[float], shown: float | None
) -> None:
    bar = progress.Bar(of_files=True)
    for percent in percents:
        bar.watch(Connection(percent))
    assert bar.percent == shown


def test_a_bar_is_shown_where_the_engine_tells_and_a_spinner_where_it_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = at_a_terminal(monkeypatch, "≈ 43% of this scan")
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.waiting("reading a.csv"):
        connection = Connection(43.2)
        the_bar().watch(connection)
        assert terminal.seen.wait(10)
        terminal.awaited = "≈ 88% of this scan"
        terminal.seen.clear()
        connection.percent = 88.4
        assert terminal.seen.wait(10)
        terminal.awaited = "a.csv 0:00:0"
        connection.percent = -1.0
        shown = len(terminal.lines())
        for _ in range(2):
            terminal.seen.clear()
            assert terminal.seen.wait(10)
    assert "%" not in "".join(terminal.lines()[shown + 2 :])
    assert any(
        re.fullmatch(r". reading a.csv 0:00:\d\d ━+[╸╺]━+ ≈ 43% of this scan", line)
        for line in terminal.lines()
    )


def test_a_long_name_leaves_room_for_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_a_terminal(monkeypatch, "≈100% of this scan")
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.waiting(f"reading {'a' * 200}.csv"):
        the_bar().watch(Connection(100.0))
        assert terminal.seen.wait(10)
    assert max(map(len, terminal.lines())) == 80


def test_there_is_a_bar_only_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    with progress.waiting("reading a.csv"):
        assert progress.BAR.get() is None
    at_a_terminal(monkeypatch)
    with progress.waiting("reading a.csv"):
        assert the_bar().percent is None
    assert progress.BAR.get() is None


def settings() -> tuple[bool, bool]:
    """Return whether DuckDB follows its progress in a new connection, and whether it prints it."""
    asked = "SELECT current_setting('enable_progress_bar'), current_setting('enable_progress_bar_print')"
    found: tuple[bool, bool] = database.connect_memory().sql(asked).fetchall()[0]
    return found


def test_duckdb_follows_its_progress_for_the_bar_only_and_prints_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert settings()[0] is False
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)  # where DuckDB shows a bar of its own
    monkeypatch.setattr(database, "_databases", [])
    assert settings()[0] is False
    at_a_terminal(monkeypatch)
    with progress.waiting("reading a.csv"):
        assert settings() == (True, False)
    assert settings()[0] is False


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_scan_of_a_file_is_followed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ending: str
) -> None:
    file = str(tmp_path / f"a.{ending}")
    rows = "SELECT 'w' || range % 100 AS word FROM range(500000)"
    database.connect_memory().execute(f"COPY ({rows}) TO '{file}'")
    terminal = at_a_terminal(monkeypatch, "% of this scan")
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.waiting(f"reading a.{ending}"):
        for _ in range(500):  # the bar is drawn ten times a second, and one scan may be faster
            discreet.mode(file, "word", candidates=["w1", "w2"], epsilon=1)
            if terminal.seen.is_set():
                break
    assert terminal.seen.is_set()


def test_a_file_says_how_far_it_is_read_by_its_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.csv.gz"
    file.write_bytes(gzip.compress(random.Random(1).randbytes(3 << 20)))
    at_a_terminal(monkeypatch)
    with progress.waiting("reading standard input", of_files=False):
        assert the_bar().watch_file(file) is None, "its size is not public"
    with progress.waiting("reading a.csv.gz"):
        bar = the_bar()
        bar.watch(Connection(43.2))
        reading = bar.watch_file(file)
        assert reading is not None
        assert bar.percent == 43.2, "it is not open yet"
        with open_bytes(file, None, reading) as stream:
            told = [reading.query_progress() for _ in iter(partial(stream.read, 1 << 20), b"")]
        assert len(told) == 3
        assert told == sorted(told)
        assert 20 < told[0] < 50 < told[1] < 90 < told[2] <= 100
        assert reading.query_progress() == -1, "it is closed"


@pytest.mark.skipif(reader_library.open_reader() is None, reason="the kernel was not built")
@pytest.mark.parametrize("end", ["csv", "jsonl", "zip"])
def test_a_question_about_text_is_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    file, told, bar = tmp_path / f"a.{end}", list[float | None](), progress.BAR.get()
    file.write_text('a\n{"a": 1}\n')
    if end == "zip":
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("a.csv", "a\n1\n")
    at_a_terminal(monkeypatch)
    read = text_records._ByKernel._read_some

    def look(batches: text_records._ByKernel) -> bool:
        was_read = read(batches)
        assert bar is not None
        told.append(bar.percent)
        return was_read

    monkeypatch.setattr(text_records._ByKernel, "_read_some", look)
    with progress.waiting("reading a"):
        bar = the_bar()
        discreet.count(file, epsilon=1)
    assert 100.0 in told, told
