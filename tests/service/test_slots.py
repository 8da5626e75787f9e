"""Replies leave at public times, in bodies of a public length. Time is a script here."""

import asyncio
from typing import Any

import pytest

from discreet.service.slots import LENGTH, Clock, Slots


class Script:
    """A clock that moves only when somebody works or sleeps."""

    def __init__(self) -> None:
        self.at = 100.0

    async def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.at += seconds


def replied(takes: float, body: bytes, slot: float = 0.25) -> tuple[float, int, list[Any], int]:
    """Return when a reply left, its length, its headers, and how many slots were missed."""
    script, sent = Script(), []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        script.at += takes
        headers = [
            (b"content-length", str(len(body)).encode()),
            (b"content-type", b"application/json"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body[:3], "more_body": True})
        await send({"type": "http.response.body", "body": body[3:]})

    async def send(message: Any) -> None:
        sent.append((script.at, message))

    slots = Slots(app, slot, Clock(lambda: script.at, script.sleep))
    asyncio.run(slots({"type": "http"}, None, send))  # type: ignore[arg-type]
    start, end = sent
    assert end[1]["body"].rstrip() == body
    return end[0] - 100, len(end[1]["body"]), sorted(start[1]["headers"]), slots.late_replies


@pytest.mark.parametrize("takes", [0, 1e-9, 0.001, 0.1, 0.249, 0.25])
@pytest.mark.parametrize("body", [b"", b"{}", b"[1]", b"x" * (LENGTH - 1), b"x" * LENGTH])
def test_replies_within_the_slot_cannot_be_told_apart(takes: float, body: bytes) -> None:
    assert replied(takes, body) == replied(0.1, b"{}")
    assert replied(takes, body)[0] == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("takes", "slots"), [(0.2500001, 2), (0.4, 2), (0.5, 2), (0.51, 3), (2.6, 11)]
)
def test_an_overrun_takes_the_next_slot_and_is_counted(takes: float, slots: int) -> None:
    left, _, _, missed = replied(takes, b"{}")
    assert left == pytest.approx(slots * 0.25)
    assert missed == 1


def test_without_a_slot_replies_leave_when_they_are_ready() -> None:
    assert replied(0.1, b"{}", slot=0)[0] == pytest.approx(0.1)


def test_a_long_body_takes_the_next_length() -> None:
    assert replied(0, b"x" * (LENGTH + 1))[1] == 2 * LENGTH
