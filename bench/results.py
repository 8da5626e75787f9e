"""What a race comes to: lines of times and ratios, and whether we met our target."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .race import Timing


@dataclass(frozen=True, slots=True)
class Target:
    """What we owe: a ratio to the contender `against`, or seconds if there is none."""

    limit: float
    against: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One contender in a row.

    Attributes:
        name: who did the work.
        timing: how long it took.
        ratio: our median by theirs; none where it says nothing.
        bits: random bits we read for each draw.
        target: what we owe on this line.
        met: whether we kept to it; none without a target.
    """

    name: str
    timing: Timing
    ratio: float | None = None
    bits: float | None = None
    target: Target | None = None
    met: bool | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the line in JSON's types, times in seconds."""
        timing, target = self.timing, self.target
        return {
            "name": self.name,
            "median": timing.median,
            "min": timing.best,
            "turns": len(timing.seconds),
            "ratio": self.ratio,
            "bits_per_draw": self.bits,
            "target": target and {"limit": target.limit, "against": target.against},
            "met": self.met,
            "failure": timing.failure,
            "warnings": timing.warned,
        }


@dataclass(frozen=True, slots=True)
class Row:
    """One work and everyone who did it."""

    title: str
    lines: Sequence[Line]
    notes: Sequence[str] = field(default=())

    def as_dict(self) -> dict[str, Any]:
        """Return the row in JSON's types."""
        lines = [line.as_dict() for line in self.lines]
        return {"title": self.title, "lines": lines, "notes": list(self.notes)}


def compared(
    timings: dict[str, Timing], target: Target | None, bits: float | None = None
) -> list[Line]:
    """Return a line for each timing; the first is ours, the ratios of the others are ours by theirs."""
    (name, ours), *peers = timings.items()
    lines = [
        _judged(Line(name, ours, bits=bits), target if target and target.against is None else None)
    ]
    for name, peer in peers:
        line = Line(name, peer, ratio=_ratio(ours.median, peer.median))
        lines.append(_judged(line, target if target and target.against == name else None))
    return lines


def _judged(line: Line, target: Target | None) -> Line:
    """Return the line with its target and whether it was met; what could not be measured was not."""
    if target is None:
        return line
    value = line.timing.median if target.against is None else line.ratio
    met = value is not None and value <= target.limit
    return Line(line.name, line.timing, line.ratio, line.bits, target, met)


def _ratio(ours: float | None, theirs: float | None) -> float | None:
    return None if ours is None or theirs is None else ours / theirs
