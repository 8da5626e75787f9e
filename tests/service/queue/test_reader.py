"""A reader reports its steps, computes for a limited time, and stores when it is told to."""

import signal
from typing import Any

import pytest

from discreet.errors import DataUnavailable, MissingColumn, Unanswerable
from discreet.ledger.delays import GivenUp, Timing
from discreet.ledger.failed_questions import QuestionFailed
from discreet.service.asking.checkout import charge_first
from discreet.service.queue.reader import Reading


def test_the_steps_of_a_reading_and_its_limit() -> None:
    lines: list[dict[str, Any]] = []
    timing = Timing("", factor=4)
    reading = Reading(lines.append, lambda: {"stored_at": "then", "factor": 8}, timing, 30.0)
    reading.begin()
    assert 29 < signal.getitimer(signal.ITIMER_PROF)[0] < 30.1
    reading.finish()
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0
    assert lines == [{"step": "charged", "factor": 4}, {"step": "ended"}]
    assert (timing.stored_at, timing.factor) == ("then", 8)


FAILURES = {
    "no": None,
    "reading": ValueError("SECRET"),
    "drawing": Unanswerable("SECRET"),
    "memory": MemoryError(),
    "column": MissingColumn("SECRET"),
    "locked": DataUnavailable("the data are locked"),
}
REASONS = {
    "reading": "InvalidScores", "drawing": "Unanswerable", "memory": "memory", "column": "MissingColumn",
    "locked": "the data are locked",
}  # fmt: skip


@pytest.mark.parametrize("fails", FAILURES)
def test_all_reading_follows_the_charge_and_its_outcome_waits(fails: str) -> None:
    """What is locked is given up; all else that fails is a failure, with a reason that quotes nothing."""
    order: list[str] = []

    def prepare() -> Any:
        order.append("read")
        error = FAILURES[fails]
        if error is not None and fails != "drawing":
            raise error

        def draw() -> int:
            order.append("draw")
            if error is not None:
                raise error
            return 3

        return draw

    wrapped = charge_first(lambda: order.append("begin"), lambda: order.append("finish"))(prepare)
    draw = wrapped()
    assert order == []  # nothing is read before the charge, which comes now
    if fails == "no":
        assert draw() == 3
    else:
        with pytest.raises((GivenUp, QuestionFailed)) as caught:
            draw()
        assert isinstance(caught.value, GivenUp) == (fails == "locked")
        assert getattr(caught.value, "reason") == REASONS[fails]  # noqa: B009  # of both
    drawn = ["draw"] if fails in ("no", "drawing") else []
    assert order == ["begin", "read", *drawn, "finish"]
