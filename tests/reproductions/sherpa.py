"""The numbers of Sherpa.ai's notebook, from its formulas."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

BIDS = [Fraction(1)] * 3 + [Fraction("3.01")]
PRICES = [Fraction(i, 1000) for i in range(3500)]
TEN = [0.001 + 10 * i for i in range(10)]
LARGEST = 3.499


def revenue(price: Fraction, bids: list[Fraction] = BIDS) -> Fraction:
    return price * sum(bid >= price for bid in bids)


def law(epsilon: float) -> NDArray[np.float64]:
    """Return the probabilities of the 3,500 prices, by the notebook's weights."""
    weights: NDArray[np.float64] = np.exp(
        epsilon * np.array([float(revenue(p)) for p in PRICES]) / (2 * LARGEST)
    )
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def charge() -> list[float]:
    """One utility of 1,000 rises by one, all others fall by one: the log-ratios of the two laws."""
    e = math.exp(0.5)
    before, after = e + 999, 1 + 999 * e
    return [max(abs(math.log(ratio)) for ratio in (e / before * after, after / before / e))]


def response() -> list[float]:
    return [logistic(u) for pair in ((-0.25, 0.25), (-1, 2), (0, 3)) for u in pair]


def sensitivity() -> list[Fraction]:
    """The largest change of a revenue by one bid more, over all bids and prices in halves up to 3.5."""
    halves = [Fraction(i, 2) for i in range(8)]
    changes = [
        revenue(price, [a, b, c]) - revenue(price, [a, b])
        for a, b, c, price in product(halves, repeat=4)
    ]
    return [max(changes)]


def densities() -> list[float]:
    places = (0, 1000, 1001, 3010, 3011)
    return [1000 * float(law(e)[i]) for e in (0.01, 1, 5) for i in places]


def shares() -> list[float]:
    found = law(5)
    return [float(part.sum()) for part in (found[:1001], found[1001:3011], found[3011:])]


def losses() -> list[float]:
    lost = np.array([float(4 - revenue(p)) for p in PRICES])
    return [float(law(epsilon) @ lost) for epsilon in TEN]


def response_ratio(weight: float) -> list[float]:
    """The ε of randomised response that tells the truth with odds e^weight."""
    return [math.log(logistic(weight) / logistic(-weight))]


def laplace() -> list[float]:
    gaps = np.abs(np.arange(-20_000, 20_000) - 3_500)
    weights = np.exp(-gaps / 2000)
    return [float(weights[gaps <= 1000 * by].sum() / weights.sum()) for by in (1, 2, 4, 8)]


VALUES = {
    "charge": charge,
    "response": response,
    "revenue": lambda: [revenue(Fraction(p)) for p in ("1.00", "3.00", "3.01", "3.02")],
    "missed": lambda: [revenue(Fraction(float(np.arange(0, 3.5, 0.001)[3010])))],
    "sensitivity": sensitivity,
    "densities": densities,
    "queries": lambda: [5 * 10_000],
    "shares": shares,
    "losses": losses,
    "text_charge": lambda: response_ratio(1 / 4),
    "code_charge": lambda: response_ratio(1 / 8),
    "truths": lambda: [logistic(epsilon / 8) for epsilon in TEN],
    "laplace_charge": lambda: [Fraction(1, 2)],
    "laplace": laplace,
}
CHANCES: dict[str, object] = {}
