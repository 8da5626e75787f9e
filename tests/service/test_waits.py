"""How long callers wait: in numbers and in words, from the timetable alone."""

from types import SimpleNamespace
from typing import Any

import pytest

from discreet.messages import translate, using_language
from discreet.service.app import Service
from discreet.service.turns import Arrival, Turns
from discreet.service.waits import Wait, describe_timetable, wait_of

from .fake_clock import FakeClock
from .test_dispatcher import timetable


def test_the_wait_of_a_caller_is_until_the_end_of_the_next_place() -> None:
    table = timetable({None: 4, "ann": 4})
    assert wait_of(table, "ann", "people", 100.0) == Wait(2.0, 3.0)
    later = wait_of(table, "ann", "people", 101.1)
    assert later is not None
    assert later.seconds == pytest.approx(2.9)
    assert wait_of(table, None, "people", 100.0) == Wait(1.0, 3.0)
    assert wait_of(timetable({None: 4}, turn=0), None, "people", 100.0) is None


def test_waits_of_the_issue() -> None:
    """20 analysts, 2 readers, places of 1 s: 6.5 s on average, 12 at most, for those whose round has 11 places."""
    callers: list[str | None] = [None, *map(str, range(20))]
    table = timetable(dict.fromkeys(callers[::2], 4), dict.fromkeys(callers[1::2], 4))
    assert table.wait(table.place(None, "people")) == (6.5, 12.0)


def test_the_timetable_in_words() -> None:
    table = timetable({None: 4, "ann": 2})
    assert [*map(str, describe_timetable(table))] == [
        "the owner: an answer 1.75 s after the question on average, 2.5 s at most",
        "ann: an answer 1.25 s after the question on average, 2 s at most",
    ]
    (line,) = describe_timetable(timetable({None: 4}, turn=0))
    assert "as soon as they are ready" in line
    with using_language("zh"):
        assert "数据所有者" in translate(next(describe_timetable(table)))


@pytest.mark.parametrize(("arrival", "seconds"), [(100.0, 1.75), (100.12, 1.75), (100.2, 1.5)])
@pytest.mark.parametrize("takes", [0.0, 0.04, 0.06, 0.2])
def test_what_keeps_the_cores_busy_does_not_move_the_wait_of_a_quote(
    arrival: float, seconds: float, takes: float
) -> None:
    """It is counted from when the reply leaves, on whichever side of the end of a turn it is computed."""
    clock, app = FakeClock(arrival + takes), None
    turns = Turns(app, timetable({None: 4, "ann": 4}), clock.clock)  # type: ignore[arg-type]
    service: Any = SimpleNamespace(turns=turns, dispatcher=object())
    wait = Service._wait(service, "ann", Arrival(arrival, ""), "people")
    assert wait is not None
    assert wait.seconds == pytest.approx(seconds)
