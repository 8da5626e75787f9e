"""The public timetable: what it says is what a simulation of rounds does, and no caller moves another's times."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.datasets.configuration import Configuration, read_configuration
from discreet.errors import InvalidDescription, UnknownName
from discreet.service.timetable import Place, Timetable, make_timetable, read_turn


def described(
    analysts: dict[str, list[str]], turns: dict[str, Any], server: dict[str, Any] | None = None
) -> Configuration:
    """Return a configuration with these analysts and datasets."""
    serving = {
        name: {key: one for key, one in (("turns", length), ("reader", "own")) if one is not None}
        if name.startswith("own")
        else {}
        if length is None
        else {"turns": length}
        for name, length in turns.items()
    }
    about = {name: {"datasets": tuple(datasets)} for name, datasets in analysts.items()}
    datasets: Any = dict.fromkeys(turns)
    return Configuration(
        Path("discreet.toml"), None, datasets, {}, {}, about, server or {}, serving
    )


LENGTHS = st.integers(1, 5)


@st.composite
def timetables(draw: st.DrawFn) -> tuple[Timetable, Configuration]:
    """Draw a timetable with its description."""
    names = ["one", "two", "own_three", "own_four"][: draw(st.integers(1, 4))]
    turns = {name: draw(LENGTHS | st.none()) for name in names}
    analysts = {
        f"analyst {number}": draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
        for number in range(draw(st.integers(0, 5)))
    }
    turn = draw(st.sampled_from(["250ms", "5ms", "0.1s"]))
    configuration = described(analysts, turns, {"turn": turn})
    return make_timetable(configuration, draw(st.integers(1, 4))), configuration


@given(timetables(), st.floats(0, 1e6), st.integers(0, 3))
def test_a_span_is_that_of_a_simulation_of_the_round(
    drawn: tuple[Timetable, Configuration], time: float, position: int
) -> None:
    timetable, _ = drawn
    for places in timetable.rounds:
        assert [place.start for place in places] == [
            sum(one.turns for one in places[:number]) for number in range(len(places))
        ]
        for place in places:
            begin, end = timetable.span(place, time, position)
            period = sum(one.turns for one in places) * timetable.turn
            offset = timetable.turn * Fraction(place.reader, len(timetable.rounds))
            # Rounds are counted from the clock's zero: no more than one of them lies between.
            number = int((Fraction(time) - offset) / period) - 2
            while offset + number * period + place.start * timetable.turn < Fraction(time):
                number += 1
            exact_begin = offset + (number + position) * period + place.start * timetable.turn
            assert begin == float(exact_begin)
            assert end == float(exact_begin + place.turns * timetable.turn)
            longest = timetable.wait(place)[1]
            assert timetable.span(place, time)[1] - time <= longest + 1e-6


@given(timetables())
def test_every_caller_has_a_place_as_long_as_the_longest_question_it_may_ask(
    drawn: tuple[Timetable, Configuration],
) -> None:
    timetable, configuration = drawn
    allowed: dict[str | None, Any] = {None: tuple(configuration.datasets)}
    allowed |= {name: about["datasets"] for name, about in configuration.analysts.items()}
    for caller, names in allowed.items():
        for name in configuration.datasets:
            if name not in names:
                continue
            place = timetable.place(caller, name)
            is_own = name.startswith("own")
            alike = [name] if is_own else [one for one in names if not one.startswith("own")]
            lengths = [configuration.serving[one].get("turns", 4) for one in alike]
            assert place.turns == max(lengths)
            assert (timetable.own_readers.get(name) == place.reader) is is_own
    every_place = [place for places in timetable.rounds for place in places]
    assert len({(place.caller, place.reader) for place in every_place}) == len(every_place)


def test_an_analyst_has_no_place_for_the_data_of_others() -> None:
    timetable = make_timetable(described({"ann": ["one"]}, {"one": 4, "own_two": 9}), 1)
    with pytest.raises(UnknownName, match="no place"):
        timetable.place("ann", "own_two")
    with pytest.raises(UnknownName, match="no place"):
        timetable.place("bob", "one")


def test_twenty_analysts_and_two_readers_wait_as_the_documentation_says() -> None:
    many = {f"analyst {number}": ["one"] for number in range(20)}
    waits = {}
    for analysts, readers in ((1, 1), (5, 1), (20, 1), (20, 2), (20, 7)):
        some = dict(list(many.items())[:analysts])
        timetable = make_timetable(described(some, {"one": 4}), readers)
        longest = max(
            (timetable.wait(place) for places in timetable.rounds for place in places),
            key=lambda wait: wait[1],
        )
        waits[analysts, readers] = longest
    assert waits == {
        (1, 1): (2, 3), (5, 1): (4, 7), (20, 1): (11.5, 22), (20, 2): (6.5, 12), (20, 7): (2.5, 4),
    }  # fmt: skip


def test_a_place_is_lent_to_others_that_are_not_longer() -> None:
    places = tuple(
        Place(name, 0, start, turns)
        for name, start, turns in ((None, 0, 4), ("ann", 4, 2), ("bob", 6, 4), ("eve", 10, 1))
    )
    timetable = Timetable(Fraction(1, 4), (places,), {}, lends=True)
    names = {place.caller: [one.caller for one in timetable.borrowers(place)] for place in places}
    assert names == {
        None: ["ann", "bob", "eve"], "ann": ["eve"], "bob": ["eve", None, "ann"], "eve": [],
    }  # fmt: skip
    assert not Timetable(Fraction(1, 4), (places,), {}).borrowers(places[0])


@given(st.floats(0, 1e9), st.sampled_from([Fraction(1, 4), Fraction(1, 200), Fraction(2)]))
def test_a_turn_ends_after_the_time_and_within_a_turn(time: float, turn: Fraction) -> None:
    end = Timetable(turn, (), {}).turn_end(time)
    assert time < end <= time + float(turn) + 1e-6
    assert Timetable(Fraction(0), (), {}).turn_end(time) == time


def test_the_slot_of_older_versions_is_four_turns(tmp_path: Path) -> None:
    text = '[datasets.x]\nsource = "x.csv"\n[datasets.x.columns.a]\ntype = "integer"\nminimum = 0\nmaximum = 9\n'
    path = tmp_path / "discreet.toml"
    path.write_text(text + '[server]\nslot = "1s"\n')
    with pytest.warns(UserWarning, match='server.slot is turn = "250ms" now'):
        configuration = read_configuration(path)
    assert read_turn(configuration.server) == Fraction(1, 4)
    path.write_text(text + '[server]\nslot = "1s"\nturn = "1s"\n')
    with pytest.raises(InvalidDescription, match="which is given too"):
        read_configuration(path)
    for wrong in ("", "250", "-1s", "1 s", "1m", "9" * 99 + "s", "infs", "٣s"):
        path.write_text(text + f'[server]\nturn = "{wrong}"\n')
        with pytest.raises(InvalidDescription, match=r"must be a (time|text)|empty"):
            read_configuration(path)
    path.write_text(text + '[server]\nturn = "0.5s"\nwaiting = 3\n')
    read = read_configuration(path)
    assert make_timetable(read, 2).turn == Fraction(1, 2)
    assert make_timetable(read, 2).waiting == 3
