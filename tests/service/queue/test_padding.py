"""Replies leave at public times, in bodies of a public length."""

import asyncio
from typing import Any

import pytest

from discreet.service.http.exchange import exchange_of
from discreet.service.queue.padding import LENGTH, QUANTUM, Padding

from ..fake_clock import FakeClock

SCOPE: dict[str, Any] = {"type": "http"}


def replied(
    seconds: float, body: bytes = b"{}", arrives: float = 0.0, more: dict[str, Any] | None = None
) -> Any:
    """Return when a reply leaves that is ready after so many seconds, and its body."""
    clock = FakeClock(100.0)
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await clock.sleep(seconds)
        for name, value in (more or {}).items():
            setattr(exchange_of(scope), name, value)
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]}
        )
        await send({"type": "http.response.body", "body": body})

    async def receive() -> Any:
        await clock.sleep(arrives)
        return {"type": "http.request"}

    async def send(message: Any) -> None:
        sent.append((clock.time - 100.0, message))

    clock.run(Padding(app, clock.clock)({**SCOPE}, receive, send))
    (time, start), (_, whole) = sent
    assert dict(start["headers"])[b"content-length"] == str(len(whole["body"])).encode()
    return round(time, 6), whole["body"]


@pytest.mark.parametrize(
    ("ready", "leaves"), [(0.0, 1), (0.001, 1), (0.049, 1), (0.051, 2), (0.12, 3), (1.0, 21)]
)
@pytest.mark.parametrize("arrives", [0.0, 0.013, 2.7])
def test_a_free_reply_leaves_whole_quanta_after_its_request_was_whole(
    ready: float, leaves: int, arrives: float
) -> None:
    time, body = replied(ready, arrives=arrives)
    assert time == pytest.approx(arrives + leaves * QUANTUM)
    assert (len(body), body.rstrip()) == (LENGTH, b"{}")


@pytest.mark.parametrize(("end", "leaves"), [(101.5, 1.5), (0.0, 0.2), (100.1, 0.2)])
def test_a_reply_to_a_question_leaves_when_the_schedule_says(end: float, leaves: float) -> None:
    assert replied(0.2, more={"end": end})[0] == pytest.approx(leaves)


def test_a_reply_may_be_longer() -> None:
    assert len(replied(0.0, more={"lengths": 4})[1]) == 4 * LENGTH
    assert len(replied(0.0, b"x" * (LENGTH + 1))[1]) == 2 * LENGTH


def test_where_all_answers_leave_when_they_are_ready_free_replies_do_too() -> None:
    clock, sent = FakeClock(100.0), []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def send(message: Any) -> None:
        sent.append(clock.time)

    padding = Padding(app, clock.clock, pads_times=False)
    clock.run(padding({**SCOPE}, asyncio.sleep, send))  # type: ignore[arg-type]
    assert sent == [100.0, 100.0]
