"""A spinner while a file is read, for people at a terminal. It shows the time and nothing of the data."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

PATIENCE = 1.0
"""Seconds before anything is shown."""


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show `what` and the seconds since, on stderr, if it is a terminal and this takes long.

    How far the scan has come is not shown: an engine estimates it from the rows.
    """
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    said = TextColumn("{task.description}", markup=False)
    console = Console(stderr=True)
    bar = Progress(SpinnerColumn(), said, TimeElapsedColumn(), console=console, transient=True)
    bar.add_task(what, total=None)
    timer = Timer(PATIENCE, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        if bar.live.is_started:
            bar.stop()
