"""What a race comes to: lines of times and ratios, and whether we met our target."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from .race import Ratio, Timing, paired_ratio


@dataclass(frozen=True, slots=True)
class Target:
    """What we owe: a ratio to the contender `against`, or seconds if there is none, by one of two clocks."""

    limit: float
    against: str | None = None
    clock: Literal["wall", "processor"] = "wall"


@dataclass(frozen=True, slots=True)
class Line:
    """One contender in a row.

    Attributes:
        name: who did the work.
        timing: how long it took.
        ratio: our time by theirs, by the clock on the wall; none where it says nothing.
        processor: the same by the processor's time.
        bits: random bits we read for each draw.
        target: what we owe on this line.
        met: whether we kept to it with the whole interval; none without a target.
    """

    name: str
    timing: Timing
    ratio: Ratio | None = None
    processor: Ratio | None = None
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
            **_in_json("ratio", self.ratio),
            **_in_json("processor_ratio", self.processor),
            "bits_per_draw": self.bits,
            "target": target and asdict(target),
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
        line = Line(name, peer, *_ratios(ours, peer))
        lines.append(_judged(line, target if target and target.against == name else None))
    return lines


def _ratios(ours: Timing, theirs: Timing) -> tuple[Ratio | None, Ratio | None]:
    """Return our time by theirs, by the wall and by the processor; none where one of both failed."""
    if ours.failure or theirs.failure:
        return None, None
    return (
        paired_ratio(ours.seconds, theirs.seconds),
        paired_ratio(ours.processor, theirs.processor),
    )


def _judged(line: Line, target: Target | None) -> Line:
    """Return the line with its target and whether it was met; what could not be measured was not."""
    if target is None:
        return line
    ratio = line.ratio if target.clock == "wall" else line.processor
    reached = (
        line.timing.median if target.against is None else None if ratio is None else ratio.high
    )
    return replace(line, target=target, met=reached is not None and reached <= target.limit)


def _in_json(name: str, ratio: Ratio | None) -> dict[str, Any]:
    interval = None if ratio is None else [ratio.low, ratio.high]
    return {name: ratio and ratio.median, f"{name}_interval": interval}
