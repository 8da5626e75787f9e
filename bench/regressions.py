"""Whether we have become slower, by ratios to peers in the same run: times alone say more about the machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from .stored import Results, peer

TOLERANCE = 1.5
"""Ratios of two runs on one machine differ by up to so much when nothing has changed."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One row, now and as it was stored: our shortest time by that of the same peer."""

    title: str
    peer: str
    before: float
    now: float | None

    @property
    def worse(self) -> bool:
        """Whether we are slower beyond doubt, or could not be measured."""
        return self.now is None or self.now > TOLERANCE * self.before


def comparisons(stored: Results, measured: Results) -> list[Comparison]:
    """Return all rows that both have with a peer."""
    found = []
    for name, row in measured["rows"].items():
        before = stored["rows"].get(name)
        against = None if before is None else peer(before)
        if before is not None and against is not None:
            title, named = row["title"], against["name"]
            found.append(Comparison(title, named, _ratio(before, named) or 0.0, _ratio(row, named)))
    return found


def report(console: Console, found: list[Comparison]) -> bool:
    """Print the comparisons, and return whether none is worse."""
    table = Table(box=box.SIMPLE_HEAD, padding=0)
    for name in ("", "against"):
        table.add_column(name)
    for name in ("stored", "now", ""):
        table.add_column(name, justify="right", no_wrap=True)
    for one in found:
        now = "failed" if one.now is None else f"{one.now:.3g}x"
        verdict = "[bold red]SLOWER" if one.worse else "[green]as before"
        table.add_row(one.title, one.peer, f"{one.before:.3g}x", now, verdict)
    console.print(table)
    return not any(one.worse for one in found)


def _ratio(row: Mapping[str, Any], against: str) -> float | None:
    """Return our shortest time by theirs, None if one of them failed or is not there."""
    ours = row["lines"][0]["min"]
    theirs = next((line["min"] for line in row["lines"] if line["name"] == against), None)
    return None if ours is None or theirs is None else ours / theirs
