"""The public times of answers: the promises of discreet.toml for a dataset, and the unit of a request.

A request has one unit of time for every eight of its parts begun: see `request_parts`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from math import ceil

from ...base.messages import Message
from ...ledger.delays import RESETS, reset_before
from ...tables.datasets.configuration import Configuration
from ...tables.datasets.keys import read_duration
from .schedule import Promise

ANSWERS_AFTER, LONGEST = "1s", "30s"
"""What holds where a dataset does not say: when answers leave, and how long one may compute."""

PARTS_OF_A_UNIT = 8

CLOCKS = 10
"""A reading is given up after so many times `longest`, by the clock."""

LADDER = tuple(Fraction(one, 10) for one in (1, 2, 5, 10, 20, 50, 100, 300, 600))
"""The seconds among which an owner chooses `answers_after`: one that follows from late answers tells of them."""


@dataclass(frozen=True, slots=True)
class AnswerTimes:
    """The times of answers about a dataset. Public.

    Attributes:
        answers_after: the seconds of one unit; 0 for answers that leave when they are ready.
        longest: the seconds that a question of one unit may compute.
        resets: when longer delays begin again: one of `RESETS`.
    """

    answers_after: Fraction
    longest: Fraction
    resets: str

    def promise(self, parts: int) -> Promise:
        """Return the times of a request with so many parts."""
        units = ceil(Fraction(parts, PARTS_OF_A_UNIT))
        grain = float(self.answers_after)
        return Promise(units * grain, grain, float(CLOCKS * units * self.longest))

    def processor_limit(self, parts: int) -> float:
        """Return the seconds that a request with so many parts may compute."""
        return float(self.longest * ceil(Fraction(parts, PARTS_OF_A_UNIT)))

    def reset_before(self, time: datetime) -> str:
        """Return the time of the last public reset, as events have it."""
        return reset_before(time, self.resets)

    @property
    def doublings(self) -> int:
        """How often a delay doubles at most: up to the clock that gives up."""
        if not self.answers_after:
            return 0
        return (ceil(CLOCKS * self.longest / self.answers_after) - 1).bit_length()

    def longer(self, factor: int) -> Fraction:
        """Return the value of `answers_after` under which a delay would not have doubled so far."""
        enough = (one for one in LADDER if one >= factor * self.answers_after)
        return next(enough, LADDER[-1])


def answer_times(configuration: Configuration) -> dict[str, AnswerTimes]:
    """Return the times of answers by dataset."""
    return {name: _times_of(configuration.serving.get(name, {})) for name in configuration.datasets}


def _times_of(keys: Mapping[str, object]) -> AnswerTimes:
    return AnswerTimes(
        read_duration(keys.get("answers_after", ANSWERS_AFTER), "answers_after"),
        read_duration(keys.get("longest", LONGEST), "longest"),
        str(keys.get("delay_resets", RESETS[0])),
    )


def describe_times(times: Mapping[str, AnswerTimes]) -> Iterator[Message]:
    """Yield the lines in which the times are printed when a service starts."""
    for name, one in times.items():
        if not one.answers_after:
            yield Message(
                "{dataset}: answers leave as soon as they are ready, which may reveal something "
                "about the data",
                dataset=name,
            )
            continue
        yield Message(
            "{dataset}: an answer leaves {seconds} s after its reading began, or 2, 4, 8 … times as long",
            dataset=name, seconds=f"{float(one.answers_after):g}",
        )  # fmt: skip
