"""Bounds from draws: they find what leaks, they do not accuse what does not, and they count right."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from discreet import audit
from discreet.errors import InvalidArgument, InvalidNumber
from discreet.mechanisms.testing import SeededBits
from discreet.study.audit.binomial import at_least, at_most


def response(truth: Fraction, seed: int) -> Callable[[int], int]:
    """Return randomised response of two values, from words that are the same every time."""
    bits = SeededBits(seed)
    return lambda value: value if bits.word() < truth * 2**64 else 1 - value


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.one_in(3)
def test_randomised_response_is_bounded_from_below_and_not_accused(seed: int) -> None:
    found = audit.sampling(response(Fraction(3, 4), seed), 0, 1, n=4000, confidence="0.999")
    assert 0.8 < found.epsilon < math.log(3)
    assert not found.refutes("1.0987")
    assert found.refutes("0.8")
    assert len(found.event) == 1
    assert found.event == {int(found.toward_neighbor)}


def test_what_always_tells_is_refuted() -> None:
    found = audit.sampling(lambda value: value, "a", "b", n=1000)
    assert found.refutes(4)
    assert found.event == {"a"}
    risk = Fraction(1, 20) / 4
    exact = math.log(at_least(500, 500, risk) / at_most(0, 500, risk))
    assert float(found.epsilon) == pytest.approx(exact)
    assert found.confidence == Fraction(19, 20)


def test_the_bound_is_a_matter_of_held_out_draws_only() -> None:
    """The first half tells everything, the second nothing: so nothing is told."""
    found = audit.samples(["a"] * 500 + ["c"] * 500, ["b"] * 500 + ["c"] * 500)
    assert found.epsilon == 0
    assert not found.refutes("1e-9")
    honest = audit.samples(["a"] * 1000, ["b"] * 500 + ["a"] * 500)
    assert honest.epsilon == 0


def test_the_event_is_a_set_of_the_answers_of_largest_ratio() -> None:
    here = ["a"] * 30 + ["b"] * 30 + ["c"] * 40
    there = ["a"] * 1 + ["b"] * 1 + ["c"] * 98
    found = audit.samples(here * 10 + here * 10, there * 10 + there * 10)
    assert found.event == {"a", "b"}
    assert not found.toward_neighbor
    turned = audit.samples(there * 20, here * 20)
    assert turned.event == {"a", "b"}
    assert turned.toward_neighbor
    assert turned.epsilon == found.epsilon


def test_a_delta_is_taken_off_first() -> None:
    def leak(delta: str) -> audit.SamplingAudit:
        rare = (["told"] + ["same"] * 9) * 100
        return audit.samples(rare * 2, ["same"] * 2000, delta=delta)

    assert leak("0").refutes(2)
    assert leak("0.05").epsilon < leak("0").epsilon
    assert leak("0.1").epsilon == 0


def test_answers_that_never_repeat_say_nothing() -> None:
    assert audit.samples(range(1000), range(1000, 2000)).epsilon == 0


def test_the_mechanism_is_asked_n_times_for_each() -> None:
    asked: list[str] = []
    found = audit.sampling(lambda data: asked.append(data) or 0, "x", "y", n=7)  # type: ignore[func-returns-value]
    assert sorted(asked) == ["x"] * 7 + ["y"] * 7
    assert found.draws == 7
    assert found.epsilon == 0


def test_a_bound_is_wrong_as_rarely_as_it_says() -> None:
    """Equal laws, at the risk of one half: of 200 audits far fewer than half accuse."""
    accused = 0
    for seed in range(200):
        found = audit.sampling(response(Fraction(1, 2), seed), 0, 1, n=40, confidence="0.5")
        accused += found.epsilon > 0
    assert 0 < accused < 100


def test_how_it_is_told() -> None:
    found = audit.samples(["a"] * 100, ["b"] * 100)
    assert str(found) == (
        f"ε ≥ {float(found.epsilon):.4g} with confidence 0.95 (100 draws each; a lower bound, no proof "
        "of privacy)"
    )
    assert found.as_dict() == {
        "epsilon_at_least": float(found.epsilon), "confidence": "19/20", "delta": "0",
        "draws": 100, "event": ["a"], "toward_neighbor": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 1}, "n must be at least 2"),
        ({"n": 0}, "n must be a whole number"),
        ({"confidence": 1}, "confidence must be below 1, got 1"),
        ({"confidence": 0}, "confidence must be greater than zero"),
        ({"delta": 1}, "delta must be from 0 to below 1"),
        ({"delta": "-0.1"}, "delta must be from 0 to below 1"),
    ],
)
def test_numbers_are_checked_before_anything_is_drawn(arguments: Any, message: str) -> None:
    def never(data: Any) -> int:
        raise AssertionError("was drawn from")

    with pytest.raises(InvalidNumber, match=message):
        audit.sampling(never, 0, 1, **arguments)


def test_as_many_answers_for_the_one_as_for_the_other() -> None:
    with pytest.raises(InvalidArgument, match="got 2 and 3"):
        audit.samples([1, 2], [1, 2, 3])
    with pytest.raises(InvalidArgument, match="at least 2, got 1 and 1"):
        audit.samples([1], [1])
