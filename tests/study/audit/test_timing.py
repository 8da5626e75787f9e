"""Work is counted and time is compared: a loop that depends on the scores is told from ours."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest

import discreet
from discreet import audit
from discreet.errors import InvalidArgument
from discreet.sampling.bits import SystemBits
from discreet.study.attacks.rejection import _EPSILON, NEIGHBOR, SCORES, UnsafeRejection

still: Callable[[], float] = lambda: 0.0  # noqa: E731  # a clock that stands


def rejection(scores: list[int]) -> int:
    return UnsafeRejection(scores, _EPSILON / 2).draw(SystemBits())


def ours(scores: list[int]) -> Any:
    return discreet.select(scores, sensitivity=1, epsilon=1)


def test_a_rejection_sampler_is_told_by_its_work() -> None:
    found = audit.timing(rejection, SCORES, NEIGHBOR, repeats=150, clock=still)
    assert "words" in found.tells
    assert found.first["words"][0] == found.first["words"][1] < found.second["words"][1]
    assert not found.constant
    assert str(found).startswith("told apart by words")


def test_ours_does_the_same_work_whatever_the_scores() -> None:
    found = audit.timing(ours, SCORES, NEIGHBOR, repeats=60, clock=still)
    assert found.constant
    assert found.tells == []
    assert found.first == {
        "words": (1, 1),
        "functions": (20, 20),
        "passes": (0, 0),  # plain Python: no arrays
        "balls": (0, 0),
    }
    assert str(found) == (
        "not told apart (60 pairs of runs; the same work every time; time ratio 1.00)"
    )


class Clock:
    """Goes on by what the run says it took."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_time_is_compared_pair_by_pair_in_turns() -> None:
    clock, order = Clock(), []

    def run(took: int) -> None:
        order.append(took)
        clock.now += took

    found = audit.timing(run, 1, 3, repeats=20, clock=clock)
    assert order == [1, 3] + [1, 3, 3, 1] * 10
    assert found.ratio == 3
    assert found.chances["time"] == Fraction(2, 2**20)
    assert found.chances["words"] == 1
    assert found.tells == ["time"]
    assert found.constant  # no work of ours was counted at all


def test_a_machine_that_slows_down_is_fair_to_both() -> None:
    """Each run is slower than the one before: whoever is second loses, and they take turns."""
    clock, slow = Clock(), iter(range(1, 10_000))

    def run(_: int) -> None:
        clock.now += next(slow)

    found = audit.timing(run, 1, 2, repeats=30, clock=clock)
    assert found.tells == []
    assert found.chances["time"] == 1


def test_few_runs_are_no_evidence() -> None:
    def run(given: Iterator[int]) -> None:
        clock.now += next(given)

    clock = Clock()
    found = audit.timing(run, iter([1] * 12), iter([2] * 12), repeats=11, clock=clock)
    assert found.chances["time"] == Fraction(2, 2**11)  # one of five comparisons
    assert found.tells == []
    assert found.risk == Fraction(1, 1000)


@pytest.mark.parametrize(
    "arguments", [{"repeats": 0}, {"confidence": 1}, {"confidence": 0}, {"confidence": "high"}]
)
def test_numbers_are_checked_before_anything_runs(arguments: Any) -> None:
    def never(_: Any) -> None:
        raise AssertionError("was run")

    with pytest.raises(InvalidArgument, match=next(iter(arguments))):
        audit.timing(never, 1, 2, **arguments)
