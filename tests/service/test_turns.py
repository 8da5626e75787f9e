"""Replies leave at public times, in bodies of a public length. Time is a script here."""

from fractions import Fraction
from typing import Any

import pytest

from discreet.service.timetable import Timetable
from discreet.service.turns import END, LENGTH, Turns

from .fake_clock import FakeClock


def replied(
    takes: float, body: bytes, turn: float = 0.25, end: float | None = None, start: float = 100.0
) -> tuple[float, int, list[Any], int]:
    """Return when a reply left, its length, its headers, and how many replies were late."""
    clock, sent = FakeClock(start), []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        clock.time += takes
        if end is not None:
            scope[END] = end
        headers = [
            (b"content-length", str(len(body)).encode()),
            (b"content-type", b"application/json"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body[:3], "more_body": True})
        await send({"type": "http.response.body", "body": body[3:]})

    async def send(message: Any) -> None:
        sent.append((clock.time, message))

    turns = Turns(app, Timetable(Fraction(turn), (), {}), clock.clock)
    scope: Any = {"type": "http"}

    async def work() -> None:
        receive: Any = None
        await turns(scope, receive, send)

    clock.run(work())
    first, last = sent
    assert last[1]["body"].rstrip() == body
    return first[0] - 100, len(last[1]["body"]), sorted(first[1]["headers"]), turns.late_replies


@pytest.mark.parametrize("takes", [0, 1e-9, 0.001, 0.1, 0.2499])
@pytest.mark.parametrize("body", [b"", b"{}", b"[1]", b"x" * (LENGTH - 1), b"x" * LENGTH])
def test_replies_within_a_turn_cannot_be_told_apart(takes: float, body: bytes) -> None:
    assert replied(takes, body) == replied(0.1, b"{}")
    assert replied(takes, body)[0] == pytest.approx(0.25)


@pytest.mark.parametrize(("takes", "turns"), [(0.2500001, 2), (0.4, 2), (0.51, 3), (2.6, 11)])
def test_a_reply_leaves_at_the_end_of_the_turn_in_which_it_is_ready(
    takes: float, turns: int
) -> None:
    time, _, _, late = replied(takes, b"{}")
    assert time == pytest.approx(turns * 0.25)
    assert late == 0


@pytest.mark.parametrize("start", [100.0, 100.1, 100.12])
def test_turns_are_of_the_clock_and_not_of_requests(start: float) -> None:
    assert replied(0.01, b"{}", start=start)[0] == pytest.approx(0.25)


@pytest.mark.parametrize("start", [100.13, 100.2, 100.249])
@pytest.mark.parametrize("takes", [0, 0.001, 0.02, 0.1])
def test_no_reply_shows_on_which_side_of_an_end_it_was_ready(start: float, takes: float) -> None:
    """Its request came late in a turn: so it leaves at the end of the next, also if it was ready before."""
    assert replied(takes, b"{}", start=start)[0] == pytest.approx(0.5)


@pytest.mark.parametrize("takes", [0, 0.3, 0.9, 1.06])
def test_the_reply_of_a_place_leaves_at_its_end(takes: float) -> None:
    time, _, _, late = replied(takes, b"{}", end=101.0625)
    assert time == pytest.approx(1.0625)
    assert late == 0


@pytest.mark.parametrize(("takes", "turns"), [(1.07, 1), (1.3, 1), (1.32, 2), (3.0, 8)])
def test_a_late_reply_leaves_whole_turns_after_its_place_and_is_counted(
    takes: float, turns: int
) -> None:
    time, _, _, late = replied(takes, b"{}", end=101.0625)
    assert time == pytest.approx(1.0625 + turns * 0.25)
    assert late == 1


def test_without_turns_replies_leave_when_they_are_ready() -> None:
    assert replied(0.1, b"{}", turn=0)[0] == pytest.approx(0.1)
    assert replied(0.1, b"{}", turn=0, end=0.0)[0] == pytest.approx(0.1)


def test_a_long_body_takes_the_next_length() -> None:
    assert replied(0, b"x" * (LENGTH + 1))[1] == 2 * LENGTH
