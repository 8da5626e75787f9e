"""An answer with everything that was drawn along with it, before it becomes a release."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import InvalidArgument

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True, slots=True)
class Answer:
    """A drawn answer, named. All of it is covered by the guarantee of its release.

    Attributes:
        value: the answer.
        counts: noisy counts of the answer, in the shape of the value; None where there are none.
        gap: how far ahead the winner was; None where it is not released.
        other: the noisy number of units outside the answer; None where it is not released.
        bounds: the bounds that were drawn for a sum or a mean; None where they were known.
        error: how far off it may be, where that is known with the answer only: see `Release.error`.
        noise: the noise of columns, of a statement of several: see `Release.noise`.
    """

    value: Any
    counts: Any = None
    gap: Any = None
    other: Any = None
    bounds: Any = None
    error: Any = None
    noise: Any = None

    @classmethod
    def of(cls, named: Any) -> Answer:
        """Return an answer alone, unless it is one already."""
        return named if isinstance(named, Answer) else cls(named)

    @classmethod
    def listed(cls, answers: Iterable[Any]) -> Answer:
        """Return several answers as one, with a list in place of every part that any of them has."""
        parts = [cls.of(one) for one in answers]
        values = [one.value for one in parts]
        return cls(values, *(_part(parts, name) for name in cls.__slots__[1:]))

    @classmethod
    def grouped(cls, answers: Mapping[Any, Any]) -> Answer:
        """Return the answers of groups as one, with a dict for every part that any has, and the largest error."""
        every = cls.listed(answers.values())
        parts = {name: getattr(every, name) for name in cls.__slots__ if name != "error"}
        by_group: dict[str, Any] = {
            name: None if part is None else dict(zip(answers, part, strict=True))
            for name, part in parts.items()
        }
        return cls(
            **by_group,
            error=max(filter(None, every.error or ()), key=attrgetter("error"), default=None),
        )


def _part(answers: Sequence[Answer], name: str) -> list[Any] | None:
    """Return the same part of several answers, or None if none of them has it."""
    parts = [getattr(one, name) for one in answers]
    return None if all(one is None for one in parts) else parts


class AnswerLists(Protocol):
    """The drawn answers of several parts, for study: lists of numbers, or lists of these by group. Private."""

    @property
    def is_complete(self) -> bool:
        """Whether `answers` returns all that there are."""

    def answers(self, most: int) -> list[Any]:
        """Return the drawn answers that are worked out one by one, as nested tuples.

        Raises:
            InvalidArgument: if there are more than so many.
        """

    def chances(self, answers: Sequence[Any]) -> list[arb]:
        """Return balls around the probabilities of some drawn answers, at the precision in force."""


class ListedAnswers(ABC):
    """The base of answers that are all worked out at once, with their probabilities. Private."""

    __slots__ = ()

    @property
    def is_complete(self) -> bool:
        """Always: there is an end of them."""
        return True

    def answers(self, most: int) -> list[Any]:
        """Return all answers that are worked out; raise if there may be more than so many."""
        refuse_too_many(self._number(most), most)
        return sorted(self._chances())

    def chances(self, answers: Sequence[Any]) -> list[arb]:
        """Return balls around the probabilities of some answers, at the precision in force."""
        from flint import arb

        chances = self._chances()
        return [chances.get(one, arb(0)) for one in answers]

    @abstractmethod
    def _number(self, most: int) -> int:
        """Return how many answers there are, or a number above `most`."""

    @abstractmethod
    def _chances(self) -> Mapping[Any, arb]:
        """Return the probabilities of all answers."""


def refuse_too_many(number: int, most: int) -> None:
    """Raise if there are more answers than are worked out one by one."""
    if number > most:
        raise InvalidArgument(
            f"there are {number:,} answers, and up to {most:,} are worked out. Use simulate, which "
            "draws from any number"
        )
