"""The spinner: for terminals, after a while, gone at the end, and nothing of the data in it."""

import io
import sys
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet.cli import app
from discreet.tables import progress

GONE = "\x1b[?25h\r\x1b[1A\x1b[2K"
"""The cursor is back, and the line is erased."""


class Terminal(io.StringIO):
    """A stderr that is a terminal, and says when something was written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if "reading" in text:
            self.seen.set()
        return super().write(text)


def at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """To be called by the test itself: between its phases pytest sets stderr anew."""
    found = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", found)
    return found


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
        "--column",
        "drink",
        "--candidates",
        "tea",
        "--epsilon",
        "1",
    ]
    done = CliRunner().invoke(app, asked)
    assert (done.exit_code, done.stderr) == (0, "")
