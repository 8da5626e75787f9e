"""A progress bar while a file is read, for people at a terminal: a percentage, the time, no part of the data."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import timedelta
from io import RawIOBase
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.spinner import Spinner
    from rich.table import Table


class Scanning(Protocol):
    """A connection that tells how far its scan is, as those of DuckDB do."""

    def execute(self, query: str, /) -> object:
        """Run a statement."""
        ...

    def query_progress(self) -> float:
        """Return the percentage of the scan that runs, below 0 if it does not tell."""
        ...


class Telling(Protocol):
    """A teller of how far a task is."""

    def query_progress(self) -> float:
        """Return the percentage, below 0 if it does not say."""
        ...


class FileReading:
    """How far a file has been read: the place in it, of as many bytes as it has. The rows decide neither.

    Attributes:
        stream: the file while it is open, without its buffer.
    """

    def __init__(self, size: int) -> None:
        self.stream: RawIOBase | None = None
        self._size = size

    def query_progress(self) -> float:
        """Return the percentage, below 0 where it is not open."""
        stream = self.stream
        try:
            return -1.0 if stream is None else 100 * stream.tell() / max(self._size, 1)
        except (OSError, ValueError):  # it was closed meanwhile
            return -1.0


PATIENCE = 1.0
"""Seconds before anything is shown."""


class Bar:
    """A bar: the connections and files that it asks, and the step that it names.

    Attributes:
        step: the step of several, after what the bar names itself.
    """

    def __init__(self, *, of_files: bool) -> None:
        """Begin without any.

        Args:
            of_files: whether the sizes of files are public: that of a copy of standard input is not.
        """
        self.step, self._of_files, self._tellers = "", of_files, list[Telling]()

    def watch(self, connection: Scanning) -> None:
        """Ask a connection of DuckDB from now on, which never prints any progress itself."""
        connection.execute("SET enable_progress_bar_print = false; SET enable_progress_bar = true")
        self._tellers.append(connection)

    def watch_file(self, file: Path) -> FileReading | None:
        """Return the question of the bar while a file is read; None if its size is not public."""
        if not self._of_files:
            return None
        with suppress(OSError):
            reading = FileReading(file.stat().st_size)
            self._tellers.append(reading)
            return reading
        return None

    @property
    def percent(self) -> float | None:
        """How far the scan is that runs, None if none runs or it does not tell."""
        percentages = [teller.query_progress() for teller in self._tellers]
        return next((percent for percent in reversed(percentages) if percent >= 0), None)


BAR: ContextVar[Bar | None] = ContextVar("bar", default=None)
"""The bar that is shown; without one DuckDB keeps no count of its progress."""


@contextmanager
def waiting(what: str, *, of_files: bool = True) -> Iterator[None]:
    """Show the text, the seconds since and how far the scan is, on stderr, if it is a terminal and this takes long.

    For a text file, the percentage is the position in the file. Otherwise it comes from DuckDB and covers only the
    current scan, so a new scan starts at 0. If neither is known, only a spinner is shown.

    Args:
        what: the text.
        of_files: whether the sizes of files of text are public.

    Side channels: DuckDB's percentage is computed from bytes or rows read, of those in the file, and from numbers
    of groups that DuckDB expects, which it may take from the statistics in the file. So it depends on the data,
    as the time does, and is shown to the curator at the terminal alone.
    """
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner

    bar, spinner, start = Bar(of_files=of_files), Spinner("dots"), time.monotonic()

    def line() -> "Table":
        return _line(spinner, f"{what}{bar.step}", time.monotonic() - start, bar.percent)

    live = Live(
        get_renderable=line,
        console=Console(stderr=True),
        refresh_per_second=10,
        transient=True,
    )
    timer = Timer(PATIENCE, live.start)
    timer.daemon = True
    token = BAR.set(bar)
    timer.start()
    try:
        yield
    finally:
        BAR.reset(token)
        timer.cancel()
        timer.join()
        live.stop()


def name_step(done: int, all_steps: int) -> None:
    """Show how many of several steps are done, if there is a bar. Both are public numbers."""
    bar = BAR.get()
    if bar is not None:
        bar.step = f", {done} of {all_steps} columns done"


def _line(spinner: "Spinner", what: str, seconds: float, percent: float | None) -> "Table":
    """Return the line that is shown."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    name = Text(what, no_wrap=True, overflow="ellipsis")
    cells: list[RenderableType] = [spinner, name, Text(str(timedelta(seconds=int(seconds))))]
    if percent is not None:
        cells += [ProgressBar(completed=percent, width=20), Text(f"≈{percent:3.0f}% of this scan")]
    line = Table.grid(padding=(0, 1))
    for cell in cells:
        line.add_column(no_wrap=cell is not name)  # a long name gives way to the others
    line.add_row(*cells)
    return line
