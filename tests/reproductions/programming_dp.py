"""The numbers of the reading notes on Programming Differential Privacy, from their formulas."""

import math
from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FILE = Path(__file__).parents[2] / "examples" / "marital_status.csv"
COUNTS = [n for _, n in Counter(FILE.read_text().splitlines()[1:]).most_common()]


def law() -> list[float]:
    """Return the probabilities of the statuses, by counts in thousands and a sensitivity of one."""
    weights = [math.exp(count / 2000) for count in COUNTS]
    return [weight / sum(weights) for weight in weights]


def noisy_max(scores: list[float]) -> Floats:
    """Return who is largest with Laplace noise of scale 1, by an integral over the largest value."""
    low, high = min(scores) - 40, max(scores) + 40
    places = low + (high - low) * (np.arange(100_000) + 0.5) / 100_000
    density, below = {}, {}
    for score in set(scores):
        gap = places - score
        density[score] = np.exp(-np.abs(gap)) / 2
        below[score] = np.where(gap < 0, density[score], 1 - density[score])
    shares = []
    for score in scores:
        others = Counter(scores)
        others[score] -= 1
        product = density[score]
        for other, n in others.items():
            product = product * below[other] ** n
        shares.append(product.sum() * (high - low) / 100_000)
    return np.array(shares)


def epsilon(before: Floats, after: Floats) -> float:
    return float(np.abs(np.log(before / after)).max())


def priced(n: int) -> float:
    """The exponential mechanism at ε = 1, when one of n scores rises by 1 and all others fall by 1."""
    before, after = np.zeros(n), np.ones(n)
    before[0], after[0] = 1, 0
    laws = [np.exp(scores / 2) / np.exp(scores / 2).sum() for scores in (before, after)]
    return epsilon(*laws)


def largest(n: int) -> float:
    zeros = [0.0] * (n - 1)
    return epsilon(noisy_max([0.0, *zeros]), noisy_max([1.0, *zeros]))


def first_of_the_noisy() -> float:
    return float(noisy_max([count / 1000 for count in COUNTS])[0])


def as_far(count: float, p: float) -> float:
    """The chance that a count of 200 draws is as far from its expectation."""
    logs = [
        math.lgamma(201) - math.lgamma(k + 1) - math.lgamma(201 - k)
        + k * math.log(p) + (200 - k) * math.log1p(-p)
        for k in range(201)
    ]  # fmt: skip
    gap = abs(count - 200 * p)
    return sum(math.exp(log) for k, log in enumerate(logs) if abs(k - 200 * p) > gap - 1e-9)


def laplace() -> float:
    """Weights e^-|q - r| on -20 ... 20, for q = 0 and q = 1."""
    places = np.arange(-20, 21)
    laws = [np.exp(-np.abs(places - q)) for q in (0, 1)]
    return epsilon(laws[0] / laws[0].sum(), laws[1] / laws[1].sum())


VALUES = {
    "any_mechanism": lambda: [math.log((math.e / (1 + math.e)) / (1 / (1 + math.e)))],
    "price": lambda: [priced(10_000)],
    "counts": lambda: COUNTS,
    "first": lambda: [200 * law()[0]],
    "second": lambda: [200 * law()[1]],
    "others": lambda: [200 * sum(law()[2:])],
    "thousand": lambda: [1 / 2000],
    "all_scores": lambda: [2, 7, 12],
    "largest": lambda: [largest(n) for n in (2, 7, 12)],
    "noisy_max": lambda: [200 * first_of_the_noisy()],
    "general": lambda: [epsilon(noisy_max([0.0] * 30 + [40]), noisy_max([1.0] * 30 + [39]))],
    "laplace": lambda: [laplace()],
}
CHANCES = {
    "first": lambda theirs: as_far(theirs, law()[0]),
    "second": lambda theirs: as_far(theirs, law()[1]),
    "others": lambda theirs: as_far(theirs, sum(law()[2:])),
    "noisy_max": lambda theirs: as_far(theirs, first_of_the_noisy()),
}
