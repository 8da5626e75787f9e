"""The certificates of the draw, proved by an SMT solver: there is no U and no weights that they settle wrongly.

A certificate is stated as real arithmetic, with every rounding as a variable inside its bound. The solver (z3) is
asked for a counterexample, and says that there is none; with a margin a little smaller it must find one, so what
is proved is not a statement that holds of anything.
"""

from typing import Any

import numpy as np
import pytest

from discreet.sampling.bernoulli import COIN_ERROR
from discreet.sampling.categorical import Sums
from discreet.sampling.enclosures import HALF_ULP, error_of_sums
from discreet.sampling.short_lists import _slack

z3 = pytest.importorskip("z3")

U = z3.RealVal(1) / 2**53
LIMIT = 60_000
"""Milliseconds after which the solver may give up; it takes a few."""


def margin() -> tuple[float, float]:
    """Return a and b of the margin (a * A + b * u) that the code takes."""

    def slack(error: float) -> float:
        return Sums(np.ones(1), error)._slack(1.0)

    return (slack(2.0**-30) - slack(0.0)) * 2**30, slack(0.0) / HALF_ULP


def verdict(*claims: Any) -> str:
    """Return whether real numbers can satisfy all claims: "sat", "unsat" or "unknown"."""
    solver = z3.Solver()
    solver.set("timeout", LIMIT)
    solver.add(*claims)
    return str(solver.check())


def rounded(name: str, exact: Any, claims: list[Any]) -> Any:
    """Return a variable that is `exact` after one rounding."""
    value, error = z3.Reals(f"{name} {name}_rounding")
    claims += [value == exact * (1 + error), error >= -U, error <= U]
    return value


class Draw:
    """What is known in the fast pass, all of it relative to the computed total: that total is 1."""

    def __init__(self) -> None:
        self.error, self.total, self.end, self.real_end, self.v = z3.Reals("A Z S_hat S v")
        self.word, self.cell = z3.Reals("m/2^k 2^-k")
        self.claims: list[Any] = [
            self.error >= 0, self.error <= z3.RealVal(1) / 1024,
            self.total > 0, within(self.total, 1, self.error),
            self.end >= 0, self.end <= 1, within(self.real_end, self.end, self.error),
            self.cell > 0, self.word >= 0, self.word + self.cell <= 1,
            self.word <= self.v, self.v < self.word + self.cell,
        ]  # fmt: skip

    def target(self, share: Any) -> Any:
        """Return the computed share of the total: the quotient and the product are rounded."""
        return rounded("target", rounded("share", share, self.claims), self.claims)

    def slack(self, a: float, b: float) -> Any:
        """Return the computed margin: a sum and a product, each rounded."""
        summed = rounded("sum", a * self.error + b * U, self.claims)
        return rounded("slack", summed, self.claims)


def within(value: Any, middle: Any, radius: Any) -> Any:
    return z3.And(value - middle <= radius, middle - value <= radius)


def lower_end(a: float, b: float) -> str:
    """Look for a U that is below the lower end of an index that was certified."""
    draw = Draw()
    difference = rounded("difference", draw.target(draw.word) - draw.end, draw.claims)
    certified = difference > draw.slack(a, b)
    return verdict(*draw.claims, certified, draw.v * draw.total < draw.real_end)


def upper_end(a: float, b: float) -> str:
    """Look for a U that is not below the upper end of an index that was certified."""
    draw = Draw()
    difference = rounded("difference", draw.end - draw.target(draw.word + draw.cell), draw.claims)
    certified = difference > draw.slack(a, b)
    return verdict(*draw.claims, certified, draw.v * draw.total >= draw.real_end)


def upper_end_of_a_batch(a: float, b: float) -> str:
    """The same, where the upper end of the word is its lower end and a cell."""
    draw = Draw()
    difference = rounded("difference", draw.end - draw.target(draw.word), draw.claims)
    bound = rounded("bound", draw.slack(a, b) + draw.cell, draw.claims)
    return verdict(*draw.claims, difference > bound, draw.v * draw.total >= draw.real_end)


CERTIFICATES = [lower_end, upper_end, upper_end_of_a_batch]


def test_the_margins_are_those_that_are_proved() -> None:
    assert margin() == (2, 8)
    for n in (1, 10, 100):
        assert _slack(n) == Sums(np.ones(1), error_of_sums(2.0**-43, n, n))._slack(1.0)


@pytest.mark.parametrize("certificate", CERTIFICATES)
def test_no_number_is_settled_wrongly_by_the_fast_pass(certificate: Any) -> None:
    assert certificate(*margin()) == "unsat"


@pytest.mark.parametrize("certificate", CERTIFICATES)
@pytest.mark.parametrize(("a", "b"), [(1.999, 8), (2, 1.99), (2, 0)])
def test_smaller_margins_have_counterexamples(certificate: Any, a: float, b: float) -> None:
    assert certificate(a, b) == "sat"


def in_balls(known_below: Any, known_above: Any) -> tuple[str, str]:
    """Look for a U outside an index that balls certified, at its lower and at its upper end.

    A comparison of balls holds for all numbers in them, the real ones too.
    """
    word, scale, total, end, v = z3.Reals("m 2^k Z S v")
    claims = [
        word >= 0, scale >= 1, total > 0, end >= 0, word <= v * scale, v * scale < word + 1,
    ]  # fmt: skip
    after, before = (
        known_below(word) * total >= end * scale,
        known_above(word) * total <= end * scale,
    )
    return verdict(*claims, after, v * total < end), verdict(*claims, before, v * total >= end)


def test_no_number_is_settled_wrongly_in_balls() -> None:
    assert in_balls(lambda m: m, lambda m: m + 1) == ("unsat", "unsat")
    assert in_balls(lambda m: m + 0.001, lambda m: m + 0.999) == ("sat", "sat")


def coin(error: float) -> tuple[str, str]:
    """Look for a coin that falls heads though U is not below its probability, and the other way round."""
    fast, real, word, cell, v = z3.Reals("fast p m/2^w 2^-w v")
    claims: list[Any] = [
        within(fast, real, COIN_ERROR), real >= 0, real <= 1, cell > 0, word >= 0, word + cell <= 1,
        word <= v, v < word + cell, fast >= 0, fast <= 2,
    ]  # fmt: skip
    ahead = rounded("ahead", fast - rounded("word", word, claims), claims)
    certain = rounded("certain", cell + error, claims)
    heads, tails = ahead > certain, -ahead > certain
    return verdict(*claims, heads, v >= real), verdict(*claims, tails, v < real)


def test_no_coin_falls_wrongly() -> None:
    assert coin(2 * COIN_ERROR) == ("unsat", "unsat")
    assert coin(0.999 * COIN_ERROR) == ("sat", "sat")
