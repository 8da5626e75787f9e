"""The numbers of OpenDP's page on quantiles, from its formulas."""

import math
from fractions import Fraction
from itertools import combinations_with_replacement as multisets
from itertools import product
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

IDEAL = [NormalDist(0, 10).inv_cdf((i + 0.5) / 1000) for i in range(1000)]


def golf(candidate: float, data: list[float]) -> int:
    return abs(sum(x < candidate for x in data) - sum(x > candidate for x in data))


def best() -> int:
    scores = [golf(c, IDEAL) for c in range(-50, 51)]
    return scores.index(min(scores))


def changes(numerator: int, denominator: int) -> list[list[int]]:
    """For every dataset of up to four records, and one record more, the changes of all scores, of any alpha."""

    def score(c: int, data: tuple[int, ...]) -> int:
        below, above = sum(x < c for x in data), sum(x > c for x in data)
        return abs((denominator - numerator) * below - numerator * above)

    smaller = [data for n in range(5) for data in multisets(range(4), n)]
    return [
        [score(c, (*data, more)) - score(c, data) for c in range(4)]
        for data, more in product(smaller, range(4))
    ]


def sensitivity(numerator: int, denominator: int) -> int:
    return max(abs(change) for each in changes(numerator, denominator) for change in each)


def spread(numerator: int, denominator: int) -> int:
    return max(max(each) - min(each) for each in changes(numerator, denominator))


def binomial(n: int, p: float) -> NDArray[np.float64]:
    logs = [
        math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        + k * math.log(p) + (n - k) * math.log1p(-p)
        for k in range(n + 1)
    ]  # fmt: skip
    law: NDArray[np.float64] = np.exp(np.array(logs))
    return law


def chance_of_zero() -> float:
    """The chance that 1,000 random records make the exponential mechanism answer 0, not -1 or 1."""
    near = 2 * (NormalDist(0, 10).cdf(1) - 0.5)
    total, middle = 0.0, binomial(1000, 0.5)
    for below in range(400, 501):  # by symmetry, the rest is the mirror image
        left = 1000 - 2 * (below - np.arange(below + 1))
        right = np.abs(1000 - 2 * (below + np.arange(1001 - below)))
        score = 1000 - 2 * below
        odds = [np.exp(np.minimum(score - other, 700.0)) for other in (left, right)]
        mean = (
            binomial(below, near)
            @ (1 / (1 + odds[0][:, None] + odds[1]))
            @ binomial(1000 - below, near)
        )
        total += float(middle[below] * mean) * (1 if below == 500 else 2)
    return total


def least_rho() -> list[float]:
    """The largest KL divergences at ε = 2: of a bounded range, and of exponential noise that is shifted."""
    x = 2 / (1 - math.exp(-2))
    return [x - 1 - math.log(x), 2 - 1 + math.exp(-2)]


VALUES = {
    "variance": lambda: [math.pi**2 / 6, 1.0],
    "answer": lambda: [best() - 50.0],
    "sensitivity": lambda: [sensitivity(1, 2)],
    "index": lambda: [best(), best()],
    "epsilon": lambda: [2 * sensitivity(1, 2)],
    "rho": least_rho,
    "alpha": lambda: [1 / math.sqrt(2)],
    "scaled": lambda: [sensitivity(7071, 10_000)],
    "spread": lambda: [Fraction(spread(7071, 10_000), 10_000)],
}
CHANCES = {
    "answer": lambda theirs: chance_of_zero() * (theirs == 0),
    "index": lambda theirs: chance_of_zero() * (theirs == 50),
}
