"""A trial for the owner: how long answers take on this machine under load, and which times fit.

Some readers ask the same question at once, beside one busy process for each worker, several times. They charge
nothing and publish nothing: they have no ledger, and an account that throws each draw away. What leaves them are
durations.

Side channels: the durations, and what follows from them, depend on the data. They are for the owner.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, inf

from ...base.messages import Message, plural
from ...tables.datasets.configuration import Configuration
from ..asking.dearest_questions import DearQuestion, Duration, dearest_questions
from ..queue.promises import LADDER, AnswerTimes, answer_times
from .trial_processes import Load, TrialProcesses

TURNS, SLOWEST, ROOM = 5, 3, 3
"""How often the slowest questions are asked, how many these are, and how many times as long a unit is."""

NOTES = (
    Message("these durations are private: show them only to people who may see the data"),
    Message(
        "answers_after is public, so a value that fits your rows reveals something about them, up "
        "to 3.2 bits. Try with invented rows, as many as you will ever have"
    ),
)
"""What an owner should know of the times that are printed."""


def room_of(load: Load) -> int:
    """Return how many times as long as the slowest answer a unit must be.

    On one core each busy process takes its part of the processor from an answer that was alone when it was tried.
    """
    return max(ROOM, 1 + load.workers) if load.cores == 1 else ROOM


@dataclass(frozen=True, slots=True)
class FittingTimes:
    """The times that fit the answers about a dataset. Private until its owner writes them into discreet.toml.

    Attributes:
        dataset: its name.
        declared: the times as they are declared.
        tried: the questions with their durations.
        room: see `Load.room`.
    """

    dataset: str
    declared: AnswerTimes
    tried: Sequence[DearQuestion]
    room: int = ROOM

    @property
    def slowest(self) -> DearQuestion | None:
        """The question that took longest by its units, of those that did not fail. None if there is none."""
        answered = (one for one in self.tried if not one.duration.failure)
        return max(answered, key=lambda one: one.seconds_of_a_unit, default=None)

    @property
    def needed(self) -> tuple[Fraction | float, Fraction | float]:
        """The seconds above which `answers_after` and `longest` fit."""
        answered = [one for one in self.tried if not one.duration.failure]
        seconds = max((one.seconds_of_a_unit for one in answered), default=0.0)
        processor = max((one.processor_of_a_unit for one in answered), default=0.0)
        return self.room * seconds, self.room * processor

    @property
    def answers_after(self) -> Fraction | None:
        """The first value of the ladder above the least. None if there is none."""
        return _first_above(self.needed[0])

    @property
    def longest(self) -> Fraction | None:
        """The same for the processor time."""
        return _first_above(self.needed[1])

    @property
    def times_as_many_rows(self) -> float | None:
        """For how many times as many rows `answers_after` would still be printed, rounded down."""
        value, least = self.answers_after, self.needed[0]
        return None if value is None or not least else floor(10 * value / least) / 10

    @property
    def is_declared_enough(self) -> bool:
        """Whether the times that are declared fit too. Answers that leave when ready have no promise to keep."""
        answers_after, longest = self.needed
        times = self.declared
        return (
            not times.answers_after or times.answers_after > answers_after
        ) and times.longest > longest

    def as_dict(self) -> dict[str, object]:
        """Return them in plain values, in seconds."""
        values = {"answers_after": self.answers_after, "longest": self.longest}
        return {
            "dataset": self.dataset,
            **{name: None if one is None else float(one) for name, one in values.items()},
            "times_as_many_rows": self.times_as_many_rows,
            "is_declared_enough": self.is_declared_enough,
            "questions": [one.as_dict() for one in self.tried],
        }  # fmt: skip

    def lines(self) -> Iterator[str]:
        """Yield the lines that are printed."""
        slowest = self.slowest
        for one in self.tried:
            if one.duration.failure:
                yield Message(
                    "{dataset}: {question} failed with {error}", dataset=self.dataset, question=one.name,
                    error=one.duration.failure,
                )  # fmt: skip
        if slowest is None:
            yield Message("{dataset}: there are no questions to try", dataset=self.dataset)
            return
        yield Message(
            "{dataset}: of {number} questions {question} takes longest, {seconds} s for {units}",
            dataset=self.dataset, number=len(self.tried), question=slowest.name,
            seconds=f"{slowest.duration.seconds:.3g}",
            units=plural("{count:,} unit", "{count:,} units", slowest.units),
        )  # fmt: skip
        yield from self._fitting()

    def _fitting(self) -> Iterator[str]:
        """Yield the times that fit, and whether those that are declared do."""
        answers_after, longest = self.answers_after, self.longest
        if answers_after is None or longest is None:
            yield Message(
                "{dataset}: no time up to {most} s fits. Allow less, or store the data as Parquet",
                dataset=self.dataset, most=f"{float(LADDER[-1]):g}",
            )  # fmt: skip
            return
        yield Message(
            'answers_after = "{seconds}s" fits, also for {times} times as many rows',
            seconds=f"{float(answers_after):g}", times=f"{self.times_as_many_rows:g}",
        )  # fmt: skip
        yield Message('longest = "{seconds}s" fits, and more', seconds=f"{float(longest):g}")
        if not self.is_declared_enough:
            yield Message(
                "what is declared is too short: answers_after = {after} s, longest = {longest} s",
                after=f"{float(self.declared.answers_after):g}", longest=f"{float(self.declared.longest):g}",
            )  # fmt: skip


def _first_above(least: Fraction | float) -> Fraction | None:
    """Return the first value of the ladder above so many seconds, or None if there is none."""
    return next((one for one in LADDER if one > least), None)


Stopwatch = Callable[[DearQuestion, float], Iterable[Duration]]
"""Asks a question once in every reader, and returns the durations; each is given up after so many seconds."""


def try_times(
    description: Configuration, load: Load, measure: Stopwatch | None = None
) -> list[FittingTimes]:
    """Return the times that fit the answers about every dataset, as they were measured.

    Args:
        description: the description.
        load: the load.
        measure: measures a question. By default in processes of their own.
    """
    questions = dearest_questions(description)
    if measure is not None:
        return list(_fitting_times(description, load, questions, measure))
    with TrialProcesses(description, load) as processes:
        return list(_fitting_times(description, load, questions, processes.ask))


def _fitting_times(
    description: Configuration, load: Load, questions: Sequence[DearQuestion], measure: Stopwatch
) -> Iterator[FittingTimes]:
    """Ask every question once, and those again that took longest by their units."""
    for name, times in answer_times(description).items():
        tried = [_again(one, times, measure) for one in questions if one.dataset == name]
        tried.sort(key=lambda one: one.seconds_of_a_unit, reverse=True)
        for _ in range(TURNS - 1):
            tried[:SLOWEST] = [_again(one, times, measure) for one in tried[:SLOWEST]]
        yield FittingTimes(name, times, tried, room_of(load))


def _again(question: DearQuestion, times: AnswerTimes, measure: Stopwatch) -> DearQuestion:
    """Return a question with the durations of one turn more. One that failed or did not end is not asked again."""
    largest = question.duration
    if not largest.failure and largest.seconds < inf:
        for one in measure(question, times.promise(question.parts).clock):
            seconds = max(largest.seconds, one.seconds)
            processor = max(largest.processor, one.processor)
            largest = Duration(seconds, processor, largest.failure or one.failure)
    return replace(question, duration=largest)
