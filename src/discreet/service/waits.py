"""How long callers wait for answers, in words and in numbers: public, as the timetable is."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..messages import Message
from .timetable import Caller, Place, Timetable


@dataclass(frozen=True, slots=True)
class Wait:
    """When an answer would leave, were the question asked now, and none of its caller's waited.

    Attributes:
        seconds: the seconds until then.
        longest: the most seconds that this can be, at any time.
    """

    seconds: float
    longest: float


def wait_of(timetable: Timetable, caller: Caller, dataset: str, now: float) -> Wait | None:
    """Return the wait of a caller for an answer about a dataset; None without places."""
    if not timetable.is_timed:
        return None
    place = timetable.place(caller, dataset)
    return Wait(timetable.span(place, now)[1] - now, timetable.wait(place)[1])


def describe_timetable(timetable: Timetable) -> Iterator[str]:
    """Yield the lines in which the timetable is printed when a service starts."""
    if not timetable.is_timed:
        yield Message(
            "answers leave as soon as they are ready, which may tell something about the data"
        )
        return
    for places in timetable.rounds:
        for place in places:
            yield _describe_place(timetable, place)


def _describe_place(timetable: Timetable, place: Place) -> Message:
    """Return the waits of a caller, in words."""
    average, longest = timetable.wait(place)
    return Message(
        "{caller}: an answer {average} s after the question on average, {longest} s at most{dataset}",
        caller=place.caller or Message("the owner"), average=f"{average:g}", longest=f"{longest:g}",
        dataset=_dataset_of(timetable, place),
    )  # fmt: skip


def _dataset_of(timetable: Timetable, place: Place) -> Message | str:
    """Return the dataset of a place that is for questions about it alone, in words."""
    for dataset, reader in timetable.own_readers.items():
        if reader == place.reader:
            return Message(" (about {dataset})", dataset=dataset)
    return ""
