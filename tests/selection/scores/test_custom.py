"""Scores from a function of the user's own."""

from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidScores
from discreet.privacy.sensitivity import sensitivity_of
from discreet.sampling.vectors import Vector
from discreet.selection.scores.custom import Custom

SECRET = 48151623


def revenue(x: Any, r: Any) -> Any:
    """The function of Sherpa.ai's notebook, as it stands there."""
    output = np.zeros(len(r))
    for i in range(len(r)):
        output[i] = r[i] * sum(np.greater_equal(x, r[i]))
    return output


def numbers(score: Custom) -> list[Fraction]:
    scores = score.compute(Fraction(0))
    return [scores.exact(i) for i in range(len(scores))]


def custom(returned: Any, **declared: Any) -> Custom:
    n = len(returned) if hasattr(returned, "__len__") else 1
    return Custom(lambda data, candidates: returned, None, range(n), change=1, **declared)


@pytest.mark.parametrize(
    "returned",
    [[1, 0], (1, 0), iter([1, 0]), np.array([1, 0]), pd.Series([1, 0]), [Fraction(1), 0],
     [Decimal(1), Decimal(0)], {"a": 1, "b": 0}.values(), [np.int64(1), 0], np.array([1, 0], dtype=object)],
)  # fmt: skip
def test_exact_results_need_no_declaration(returned: Any) -> None:
    assert numbers(Custom(lambda data, candidates: returned, None, "ab", change=1)) == [1, 0]


@pytest.mark.parametrize("returned", [SECRET, 0.5, np.float64(2), np.int64(3), Fraction(1, 3)])
def test_a_function_of_one_candidate_meets_its_wrapper(returned: Any) -> None:
    with pytest.raises(InvalidScores, match=r"pass discreet\.per_candidate\(u\)$") as caught:
        custom(returned).compute(Fraction(0))
    assert str(SECRET) not in str(caught.value)


@pytest.mark.parametrize(
    "returned",
    [[1.0, 0.0], [1, 0.0], np.array([1.0, 0]), np.array([1, 0], dtype=np.float32), pd.Series([1.0, 0]),
     np.array([1.0, 0], dtype=object), [np.float32(1), Fraction(0)], np.array([1, 0], dtype=np.longdouble)],
)  # fmt: skip
def test_floats_need_one(returned: Any) -> None:
    with pytest.raises(InvalidScores, match=r"returns floats.*error=.*granularity="):
        custom(returned).compute(Fraction(0))
    for declared in ({"error": 0}, {"error": "1e-9"}, {"granularity": 1}):
        assert numbers(custom(returned, **declared)) == [1, 0]


def test_an_error_widens_the_spread() -> None:
    wide = custom([0], error="1/8", monotonic=True).sensitivity("add_remove")
    assert wide.spread == Fraction(3, 2)
    assert not wide.monotonic
    assert custom([0], error="1/8").sensitivity("replace_one").spread == Fraction(5, 2)
    only_spread = Custom(revenue, None, [1], spread=1, error=1).sensitivity("add_remove")
    assert only_spread.spread == 5
    assert only_spread.change is None
    kept = custom([0], error=0, monotonic=True).sensitivity("add_remove")
    assert kept == sensitivity_of(1, "add_remove", monotonic=True)
    assert custom([0], error=0.1).sensitivity("add_remove").spread == 2 + 4 * Fraction(0.1)
    assert custom([0], granularity=3).sensitivity("add_remove") == sensitivity_of(1, "add_remove")


def test_the_spread_with_an_error_is_right_and_tight() -> None:
    """Exhaustively: every ideal change, and every error up to 1, of two candidates."""
    worst = {True: 0, False: 0}
    for monotonic in worst:
        for ideal in product((0, 1) if monotonic else (-1, 0, 1), repeat=2):
            for before, after in product(product((-1, 0, 1), repeat=2), repeat=2):
                moved = [d + b - a for d, a, b in zip(ideal, before, after, strict=True)]
                worst[monotonic] = max(worst[monotonic], max(moved) - min(moved))
    for monotonic, spread in worst.items():
        score = custom([0], error=1, monotonic=monotonic)
        assert score.sensitivity("add_remove").spread == spread


@given(
    st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=5),
    st.fractions("1/100", 100, max_denominator=1000),
)
def test_granularity_gives_the_ideal_scores(steps: list[int], granularity: Fraction) -> None:
    computed = [float(step * granularity) for step in steps]
    if all(
        abs(Fraction(c) - s * granularity) < granularity / 2
        for c, s in zip(computed, steps, strict=True)
    ):
        assert numbers(custom(computed, granularity=granularity)) == [
            s * granularity for s in steps
        ]


def test_nothing_private_is_in_a_repr() -> None:
    score = Custom(revenue, SECRET, [1], change=2)
    assert repr(score) == "Custom(change=2, spread=None, monotonic=False)"
    assert not score.in_runs
    assert isinstance(custom([1]).compute(Fraction(0)), Vector)
