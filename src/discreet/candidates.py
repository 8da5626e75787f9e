"""What may be answered: public, and fixed before the data are read."""

from collections.abc import Iterable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .errors import InvalidCandidates
from .numbers import Number, exact, positive


class Answers(Protocol):
    """What may be answered, by index."""

    @property
    def size(self) -> int:
        """How many answers there are, which may be more than `len` can say."""
        ...

    def __getitem__(self, index: int, /) -> Any: ...


class Labels(Sequence[Any]):
    """A list of distinct answers, in the order in which they were given."""

    __slots__ = ("_labels",)

    def __init__(self, labels: Iterable[Any]) -> None:
        """Keep the labels.

        Raises:
            InvalidCandidates: if there are none, or two are equal, or one is NaN, missing or unhashable.
        """
        if isinstance(labels, str | bytes):
            raise InvalidCandidates(
                f"candidates must be a list of answers, got the single text {labels!r}"
            )
        if not isinstance(labels, Iterable):
            raise InvalidCandidates(f"candidates must be a list of answers, got {labels!r}")
        self._labels = tuple(labels.tolist() if isinstance(labels, np.ndarray) else labels)
        if not self._labels:
            raise InvalidCandidates(
                "candidates must not be empty: there must be something to answer"
            )
        _refuse_repeats(self._labels)

    def __len__(self) -> int:
        return len(self._labels)

    @property
    def size(self) -> int:
        """How many labels there are."""
        return len(self._labels)

    def __getitem__(self, index: Any) -> Any:
        return self._labels[index]

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self._labels[:5]))
        return f"Labels([{shown}{', ...' if len(self) > 5 else ''}], {len(self)} in all)"


class Grid:
    """The numbers lo, lo + step, lo + 2 step, ... up to hi: exact, as many as one likes, never listed.

    Args:
        lo: the least answer.
        hi: the largest; hi - lo must be a multiple of the step.
        step: the distance of neighbours, above zero.

    A point is an int where lo and step are integers, a Decimal where they end after finitely many
    digits, else a Fraction.
    """

    __slots__ = ("_digits", "hi", "lo", "size", "step")

    def __init__(self, lo: Number, hi: Number, step: Number = 1) -> None:
        """Keep the three numbers, exactly.

        Raises:
            InvalidNumber: if one is no finite number, or the step is not above zero.
            InvalidCandidates: if hi is below lo, or not a whole number of steps above it.
        """
        self.lo, self.hi, self.step = exact(lo, "lo"), exact(hi, "hi"), positive(step, "step")
        steps = (self.hi - self.lo) / self.step
        if steps < 0 or steps.denominator != 1:
            raise InvalidCandidates(
                f"hi must be lo plus a whole number of steps, got lo={lo!r}, hi={hi!r}, step={step!r}"
            )
        self.size = int(steps) + 1
        self._digits = _decimal_places(self.lo, self.step)

    def __getitem__(self, index: int) -> int | Decimal | Fraction:
        if not 0 <= index < self.size:
            raise IndexError(f"the grid has {self.size} points, there is no number {index}")
        point = self.lo + index * self.step
        if self._digits == 0:
            return int(point)
        if self._digits is None:
            return point
        with localcontext(prec=len(str(abs(point.numerator))) + self._digits + 5):
            return Decimal(point.numerator) / point.denominator

    def nearest(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the index of a point next to each value; what is outside goes to the ends.

        Each index depends on its own value alone. It is the nearest point up to the rounding of one
        subtraction and one multiplication of doubles; integers on a grid of integers are exact. The
        values must not be NaN, and the grid must have at most 2**62 points.
        """
        if values.dtype.kind in "iu" and self._digits == 0:
            return self._nearest_integers(values)
        scaled = np.subtract(values, float(self.lo), dtype=np.float64)
        np.multiply(scaled, float(1 / self.step), out=scaled)
        np.rint(scaled, out=scaled)
        inside = np.clip(scaled, 0, min(self.size - 1, 2**62), out=scaled)
        indices: NDArray[np.int64] = np.minimum(inside.astype(np.int64), self.size - 1)
        return indices

    def _nearest_integers(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the nearest index for integers, with integer arithmetic only."""
        lo, hi, step = int(self.lo), int(self.hi), int(self.step)
        info = np.iinfo(values.dtype)
        clipped = np.clip(values, max(lo, info.min), max(min(hi, info.max), info.min))
        above = clipped.astype(np.uint64) - np.uint64(max(lo, info.min) % 2**64)
        above += np.uint64(max(0, info.min - lo))
        indices: NDArray[np.int64] = ((above + np.uint64(step // 2)) // np.uint64(step)).astype(
            np.int64
        )
        return indices

    def __repr__(self) -> str:
        return f"Grid({self.lo}, {self.hi}, step {self.step}; {self.size:,} points)"


def _decimal_places(*numbers: Fraction) -> int | None:
    """Return how many decimal places write all numbers exactly, or None if none do."""
    for places in range(64):
        if all((number * 10**places).denominator == 1 for number in numbers):
            return places
    return None


def _refuse_repeats(labels: tuple[Any, ...]) -> None:
    """Raise unless all labels are distinct, hashable, and equal to themselves."""
    seen = set()
    for label in labels:
        try:
            repeated = label in seen
            seen.add(label)
        except TypeError:
            raise InvalidCandidates(
                f"candidates must be simple values such as text, numbers or dates, got {label!r}"
            ) from None
        if repeated:
            raise InvalidCandidates(f"candidates must be distinct, {label!r} is there twice")
        if label is None or label != label:
            raise InvalidCandidates(f"candidates must be values that rows can equal, got {label!r}")
