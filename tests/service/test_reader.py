"""A reader reports its steps, and keeps the times of its place."""

import signal
from typing import Any

import pytest

from discreet.errors import Unanswerable
from discreet.ledger.failed_questions import QuestionFailed
from discreet.node.allowed_questions import charge_first
from discreet.service.reader import Pace


class Script:
    """A clock that moves when somebody waits, and the lines that a dispatcher would get."""

    def __init__(self, time: float) -> None:
        self.time, self.lines = time, list[dict[str, Any]]()

    def pace(self, **times: Any) -> Pace:
        defaults = {"charge_by": 100.0625, "store_at": 100.9375, "turn": 0.25, "limit": 0.875}
        return Pace(
            self.lines.append, **{**defaults, **times}, now=lambda: self.time, wait=self.wait
        )

    def wait(self, seconds: float) -> None:
        self.time += seconds


@pytest.mark.parametrize(("charged", "late"), [(100.0, 0), (100.06, 0), (100.07, 1), (100.5, 2)])
def test_waiting_for_the_charge_makes_all_that_follows_late_by_whole_turns(
    charged: float, late: int
) -> None:
    script = Script(charged)
    pace = script.pace()
    pace.begin()
    script.time += 0.3
    pace.finish()
    assert script.time == pytest.approx(100.9375 + late * 0.25)
    assert script.lines == [
        {"step": "charged", "at": charged, "late_turns": late}, {"step": "drawn"},
    ]  # fmt: skip


def test_the_kernel_ends_a_reader_that_nobody_else_ends() -> None:
    pace = Script(100.0).pace()
    pace.begin()
    assert 0.9 < signal.getitimer(signal.ITIMER_REAL)[0] <= 0.875 + 0.25
    pace.finish()
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_without_turns_nothing_is_waited_for() -> None:
    script = Script(100.0)
    pace = script.pace(store_at=None, turn=0.0, limit=0.0)
    pace.begin()
    pace.finish()
    assert (script.time, [line["step"] for line in script.lines]) == (
        100.0, ["charged", "drawn"],
    )  # fmt: skip


@pytest.mark.parametrize("fails", ["no", "reading", "drawing"])
def test_all_reading_follows_the_charge_and_its_outcome_waits(fails: str) -> None:
    order: list[str] = []

    def prepare() -> Any:
        order.append("read")
        if fails == "reading":
            raise ValueError("SECRET")

        def draw() -> int:
            order.append("draw")
            if fails == "drawing":
                raise Unanswerable("SECRET")
            return 3

        return draw

    wrapped = charge_first(lambda: order.append("begin"), lambda: order.append("finish"))(prepare)
    draw = wrapped()
    assert order == []  # nothing is read before the charge, which comes now
    if fails == "no":
        assert draw() == 3
    else:
        with pytest.raises(QuestionFailed):
            draw()
    drawn = [] if fails == "reading" else ["draw"]
    assert order == ["begin", "read", *drawn, "finish"]
