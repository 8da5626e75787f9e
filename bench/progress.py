"""What is being measured right now, on a terminal only."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.text import Text

from .race import Watch


@contextmanager
def progress() -> Iterator[Watch]:
    """Give a function that shows a line on the terminal, or does nothing where there is none.

    It draws between timings only: a thread that draws would be measured with the rest.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield lambda line: live.update(Text(line, style="dim"), refresh=True)


def about(name: str, watch: Watch) -> Watch:
    """Return a watch whose every line begins with a name."""
    return lambda line: watch(f"{name}: {line}")
