"""The exponential mechanism by the signature of synthesizers: the distribution, the price, and what is refused."""

from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import discreet
from discreet import Ledger
from discreet.errors import Exhausted, InvalidArgument, InvalidNumber, InvalidScores
from discreet.mechanisms.testing import BitTree, bit_tree
from discreet.privacy import BoundedRange
from discreet.sampling.bits import SystemBits
from discreet.study.adapters import exponential_mechanism

from ...selection.test_payment import Purse

INF = float("inf")


def enumerated(depth: int, *args: Any, **kwargs: Any) -> BitTree:
    """Return the answers to every string of bits."""

    def answer(bits: Any) -> Any:
        with (
            patch.object(SystemBits, "word", lambda _: bits.word()),
            patch.object(SystemBits, "width", bits.width),
        ):
            return exponential_mechanism(*args, **kwargs)

    return bit_tree(answer, depth)


QUALITIES = {("a",): 0.0, ("b",): 1.5, ("a", "b"): 2.0}


@pytest.mark.parametrize("sensitivity", [1.0, 0.5])
def test_it_is_the_formula_of_the_synthesizers(sensitivity: float) -> None:
    """softmax(epsilon / (2 * sensitivity) * q + log(base)), which they compute in floats."""
    base = {("a",): 1.0, ("b",): 0.0, ("a", "b"): 3.0}
    for measure in (None, base):
        tree = enumerated(10, QUALITIES, 2.0, sensitivity, measure)
        weights = {
            key: np.exp(q / sensitivity) * (1 if measure is None else measure[key])
            for key, q in QUALITIES.items()
        }
        for key, weight in weights.items():
            share = weight / sum(weights.values())
            mass = tree.masses.get(key, Fraction(0))
            assert mass - 1e-9 <= share <= mass + tree.undecided + 1e-9
        assert tree.undecided < Fraction(1, 64)


def test_an_array_of_a_base_measure_holds_logarithms() -> None:
    """As in private-pgm: where the qualities are in an array, so is the logarithm of the base measure."""
    tree = enumerated(10, np.zeros(3), 1.0, 1.0, np.log([1.0, 3.0, 4.0]))
    for i, share in enumerate((0.125, 0.375, 0.5)):
        assert tree.masses[i] - 1e-9 <= share <= tree.masses[i] + tree.undecided + 1e-9
    assert exponential_mechanism([0, 9], 1, 1, [0.0, -INF]) == 0


def test_the_types_are_those_of_the_functions_replaced() -> None:
    keys = [("a", "b"), ("a",)]
    key = exponential_mechanism({keys[0]: 0.0, keys[1]: 999.0}, 1.0)
    assert key is keys[1]
    for scores in ([0, 99], np.array([0.0, 99]), np.array([0, 99], dtype=np.float32)):
        assert type(exponential_mechanism(scores, np.float64(1))) is np.int64
    zero_dimensional = {"a": np.array(0.0), "b": np.array(99.5)}
    assert exponential_mechanism(zero_dimensional, np.array(2.0), np.array(1.0)) == "b"


@pytest.mark.parametrize(
    ("terms", "spread"),
    [
        ({}, 2),
        ({"sensitivity": 3.0}, 6),
        ({"rounding": "1/8"}, Fraction(5, 2)),
        ({"spread": 1}, 1),
        ({"spread": 1, "monotonic": True}, 1),
        ({"spread": "3/2", "rounding": 1, "sensitivity": 99}, Fraction(11, 2)),
    ],
)
def test_the_weights_are_those_of_the_spread(terms: dict[str, Any], spread: Any) -> None:
    tree = enumerated(8, np.array([0.0, 1.0]), 3.0, **terms)
    law = discreet.distribution([0.0, 1.0], spread=spread, epsilon=3)
    for i, share in law.pmf().items():
        assert tree.masses[i] - 1e-9 <= share <= tree.masses[i] + tree.undecided + 1e-9


def test_the_proved_guarantee_is_charged() -> None:
    purse = Purse()
    exponential_mechanism(QUALITIES, 0.1, ledger=purse)
    exponential_mechanism(dict(reversed(QUALITIES.items())), 0.1, ledger=purse)
    assert purse.bills[0].guarantee == BoundedRange(Fraction(1, 10))
    assert purse.bills[0].guarantee.rho < Fraction(1, 800)  # epsilon**2 / 8
    assert purse.bills[0] == purse.bills[1]  # the order of the dict may be that of the data
    exponential_mechanism({"x": 0.0, "y": 1.5, "z": 2.0}, 0.1, ledger=purse)
    exponential_mechanism(QUALITIES, 0.1, neighbors="replace_one", ledger=purse)
    assert len({bill.digest for bill in purse.bills}) == 3
    ledger = Ledger()
    ledger.open("adult", rho="0.1")
    session = ledger.session("adult")
    first = exponential_mechanism(QUALITIES, 0.5, ledger=session, request="round 1")
    assert exponential_mechanism(QUALITIES, 0.5, ledger=session, request="round 1") == first
    with pytest.raises(Exhausted):
        exponential_mechanism(QUALITIES, 1, ledger=session)


@pytest.mark.parametrize(
    "generator", [np.random.default_rng(0), np.random.RandomState(0), np.random]
)
def test_a_generator_is_refused_with_words(generator: Any) -> None:
    for given in ({"rng": generator}, {"prng": generator}, {"base_measure": generator}):
        with pytest.raises(InvalidArgument, match=r"a generator is not taken.*Leave it out"):
            exponential_mechanism(QUALITIES, 1.0, **given)
    with pytest.raises(InvalidArgument, match="a generator"):
        exponential_mechanism(np.zeros(2), 1.0, 1.0, generator)  # where dpsynth has its rng


@pytest.mark.parametrize(
    ("terms", "error", "words"),
    [
        ({"monotonic": True}, InvalidArgument, r"monotonic=True says.*spread=.*synthesizers\.md"),
        ({"monotonic": 1}, InvalidArgument, "True or False"),
        ({"rounding": -1}, InvalidArgument, "rounding must be at least zero"),
        ({"sensitivity": 0.0}, InvalidNumber, "sensitivity must be greater"),
        ({"sensitivity": INF}, InvalidNumber, "sensitivity must be a finite"),
        ({"epsilon": 0.0}, InvalidNumber, "epsilon must be greater"),
        ({"spread": "x"}, InvalidNumber, "spread must be"),
        ({"base_measure": {("a",): 1}}, InvalidArgument, "a weight for each"),
        ({"base_measure": [1, 2, 3]}, InvalidArgument, "must be a dict"),
        ({"qualities": {}}, InvalidScores, "at least one candidate"),
        ({"qualities": {"a": float("nan")}}, InvalidScores, "NaN"),
        ({"qualities": [0.0, -INF]}, InvalidScores, "infinity"),
        ({"qualities": np.zeros((2, 2))}, InvalidScores, "one-dimensional"),
        ({"qualities": [0.0], "base_measure": {0: 1}}, InvalidArgument, "goes with a dict"),
        ({"qualities": 7}, InvalidScores, "an array that NumPy can read"),
    ],
)
def test_what_is_refused(terms: dict[str, Any], error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        exponential_mechanism(**{"qualities": QUALITIES, "epsilon": 1.0, **terms})
