"""The public timetable: when the questions of a caller are read, and when their answers leave.

Every caller, the owner and the analysts of discreet.toml, has a place in the round of a reader. Rounds repeat for
ever. A place is as long as the longest question that its caller may ask, used or not. A question begins with the
next free place of its caller, and its reply leaves at the end of that place. So both times are functions of
discreet.toml, of the clock and of the caller's own questions alone.

Times are seconds of `time.monotonic`, which all processes of a machine share. Places begin at multiples of a turn,
and those of reader r of R by r/R of a turn later, so that charges of different readers are written one by one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from ..datasets.configuration import Configuration
from ..datasets.keys import read_duration
from ..errors import UnknownName, preview

Caller = str | None
"""The name of an analyst, or None for the owner."""

TURN, TURNS, WAITING = "250ms", 4, 16
"""The length of a turn, the turns of a dataset's questions, and how many questions of a caller may wait."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a caller in a round.

    Attributes:
        caller: the analyst, or None for the owner.
        reader: the number of the reader whose round it is.
        start: the turns of the round before it.
        turns: its length in turns.
    """

    caller: Caller
    reader: int
    start: int
    turns: int


@dataclass(frozen=True, slots=True)
class Timetable:
    """The places of all callers.

    Attributes:
        turn: the seconds of a turn; 0 where replies leave as soon as they are ready, and places have no times.
        rounds: the places of every reader, in their order.
        own_readers: the numbers of the readers that read one dataset alone, by its name.
        waiting: the most questions of a caller that wait.
        lends: whether a place that is not used is lent.
    """

    turn: Fraction
    rounds: tuple[tuple[Place, ...], ...]
    own_readers: Mapping[str, int]
    waiting: int = WAITING
    lends: bool = False

    @property
    def is_timed(self) -> bool:
        """Whether places have times."""
        return self.turn > 0

    def place(self, caller: Caller, dataset: str) -> Place:
        """Return the place in which a caller's questions about a dataset are read.

        Raises:
            UnknownName: if the caller has none: the description lets the caller ask nothing about it.
        """
        own = self.own_readers.get(dataset)
        rounds = self.rounds if own is None else (self.rounds[own],)
        for places in rounds:
            for place in places:
                is_apart = place.reader in self.own_readers.values()
                if place.caller == caller and is_apart == (own is not None):
                    return place
        raise UnknownName(
            "the timetable has no place for questions about {dataset}", dataset=preview(dataset)
        )

    def period(self, place: Place) -> int:
        """Return the turns of the round of a place."""
        return sum(one.turns for one in self.rounds[place.reader])

    def span(self, place: Place, time: float, position: int = 0) -> tuple[float, float]:
        """Return when a place begins and ends, the first time at or after a time, or so many rounds later."""
        period, offset = self.period(place), self._offset(place)
        turns = (Fraction(time) - offset) / self.turn - place.start
        number = ceil(turns / period) + position
        begin = (number * period + place.start) * self.turn + offset
        return float(begin), float(begin + place.turns * self.turn)

    def wait(self, place: Place) -> tuple[float, float]:
        """Return the seconds from a question to its reply, on average and at most, if no other question waits."""
        period = self.period(place)
        return float((Fraction(period, 2) + place.turns) * self.turn), float(
            (period + place.turns) * self.turn
        )

    def borrowers(self, place: Place) -> tuple[Place, ...]:
        """Return the places that a place is lent to if it is not used, the first one first.

        A longer place is not lent a shorter one: its questions may take its whole length.
        """
        places = self.rounds[place.reader]
        at = places.index(place)
        others = (*places[at + 1 :], *places[:at]) if self.lends else ()
        return tuple(other for other in others if other.turns <= place.turns)

    def turn_end(self, time: float) -> float:
        """Return the first end of a turn after a time, or that time if there are no turns."""
        if not self.is_timed:
            return time
        return float((floor(Fraction(time) / self.turn) + 1) * self.turn)

    def _offset(self, place: Place) -> Fraction:
        return self.turn * Fraction(place.reader, len(self.rounds))


def make_timetable(configuration: Configuration, readers: int) -> Timetable:
    """Return the timetable of a description.

    Args:
        configuration: the description.
        readers: how many readers share all questions; those that read one dataset alone are added to them.
    """
    server, lengths = configuration.server, _lengths(configuration)
    apart = [name for name, keys in configuration.serving.items() if keys.get("reader") == "own"]
    shared = [name for name in configuration.datasets if name not in apart]
    rounds = _share_out(_longest(configuration, shared, lengths), readers)
    own_readers = {name: len(rounds) + number for number, name in enumerate(apart)}
    rounds += [_longest(configuration, [name], lengths) for name in apart]
    return Timetable(
        read_turn(server),
        tuple(_places(number, one) for number, one in enumerate(rounds)),
        own_readers,
        server.get("waiting", WAITING),
        server.get("shared_turns", False),
    )


def read_turn(server: Mapping[str, object]) -> Fraction:
    """Return the seconds of the turn that a description declares, or of the slot that an older one does.

    A slot was the time of one question: it is the place of a question of four turns.
    """
    if "slot" in server:
        return read_duration(server["slot"], "slot") / TURNS
    return read_duration(server.get("turn", TURN), "turn")


def _lengths(configuration: Configuration) -> dict[str, int]:
    """Return the turns of a question, by dataset."""
    return {
        name: configuration.serving.get(name, {}).get("turns", TURNS)
        for name in configuration.datasets
    }


def _longest(
    configuration: Configuration, datasets: Iterable[str], lengths: Mapping[str, int]
) -> dict[Caller, int]:
    """Return the turns of the longest question that every caller may ask about some datasets, the owner first."""
    names = set(datasets)
    by_caller: dict[Caller, set[str]] = {None: names}
    for analyst, about in configuration.analysts.items():
        by_caller[analyst] = names.intersection(about["datasets"])
    return {caller: max(lengths[name] for name in own) for caller, own in by_caller.items() if own}


def _share_out(turns: Mapping[Caller, int], readers: int) -> list[dict[Caller, int]]:
    """Return the callers of every reader: the longest places first, always to the shortest round."""
    rounds: list[dict[Caller, int]] = [{} for _ in range(min(readers, len(turns)))]
    for caller in sorted(turns, key=turns.__getitem__, reverse=True):
        shortest = min(rounds, key=lambda one: sum(one.values()))
        shortest[caller] = turns[caller]
    return [{caller: one[caller] for caller in turns if caller in one} for one in rounds]


def _places(reader: int, turns: Mapping[Caller, int]) -> tuple[Place, ...]:
    """Return the places of a round, one after another."""
    places: list[Place] = []
    for caller, length in turns.items():
        places.append(Place(caller, reader, sum(one.turns for one in places), length))
    return tuple(places)
