"""The numbers of Ilvento's notebook, from its formulas and in doubles as it has them."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
X_LEAST = next(i for i in range(4000) if np.exp(-i / 4) == 0) - 1


def search() -> list[int]:
    x = 0
    while not (np.exp(-15 * x) > 0 and np.exp(-15 * x) + np.exp(7.5) == np.exp(7.5)):
        x += 1
    k = 1000
    while k * np.exp(-15 * (x - 1)) / np.exp(-7.5) <= 1 / 10:
        k += 1
    return [x, k]


def first_share() -> float:
    """Without Alice: one outcome of cost 1/2, and 999 of cost 1, at ε = 30."""
    return 1 / (1 + 999 * math.exp(-7.5))


def second_law() -> Floats:
    law = np.full(1000, (1 - first_share()) / 999)
    law[1] = first_share()
    return law


def chance_of_average(law: Floats, start: int, average: float) -> float:
    """The chance that an average of 100 draws is as far from its expectation, by repeated convolution."""
    sums, power = np.ones(1), law
    for bit in (4, 32, 64):  # 100 = 4 + 32 + 64
        power, reached = law, 1
        while reached < bit:
            size = 2 * len(power) - 1
            fine = 2 ** math.ceil(math.log2(size))
            power = np.fft.irfft(np.fft.rfft(power, fine) ** 2, fine)[:size]
            reached *= 2
        size = len(sums) + len(power) - 1
        fine = 2 ** math.ceil(math.log2(size))
        sums = np.fft.irfft(np.fft.rfft(sums, fine) * np.fft.rfft(power, fine), fine)[:size]
    places = 100 * start + np.arange(len(sums))
    mean = 100 * float((start + np.arange(len(law))) @ law)
    return float(sums[np.abs(places - mean) > abs(100 * average - mean) - 1e-6].sum())


def ks_p_value(statistic: float) -> Fraction:
    """Of 2,000 steps of ±1 that end at 0, the share that goes so many up or down: paths are counted."""
    far = round(1000 * statistic)
    paths = {0: 1}
    for _ in range(2000):
        new: dict[int, int] = {}
        for at, ways in paths.items():
            for to in (at - 1, at + 1):
                if abs(to) < far:
                    new[to] = new.get(to, 0) + ways
        paths = new
    return 1 - Fraction(paths[0], math.comb(2000, 1000))


def rounded(costs: Floats, base: float) -> Floats:
    """The mechanism with rounded costs, by Gauss-Legendre quadrature of E[w e^(-tw)] times the other means."""
    nodes, heights = np.polynomial.legendre.leggauss(20)
    edges = np.linspace(-36, 4.5, 82)  # beyond e^4.5 the integrand is below e^-90
    logs = (edges[:-1, None] + (nodes + 1) / 4).ravel()  # panels of length 1/2
    law = np.zeros(len(costs))
    weights = base ** -np.floor(costs), base ** -np.ceil(costs)
    chances = 1 - costs % 1, costs % 1
    for log, height in zip(logs, np.tile(heights / 4, 81), strict=True):
        t = math.exp(log)
        ways = [chance * np.exp(-t * w) for chance, w in zip(chances, weights, strict=True)]
        product = np.exp(np.log(ways[0] + ways[1]).sum())
        mean = (ways[0] * weights[0] + ways[1] * weights[1]) / (ways[0] + ways[1])
        law += height * t * product * mean
    return law


def unrounded(costs: Floats, base: float) -> Floats:
    weights = base**-costs
    shares: Floats = weights / weights.sum()
    return shares


def grid(steps: int, target: int = 0) -> Floats:
    return np.abs(np.arange(-10 * steps, 10 * steps + 1) / steps - target)


def bound(costs: Floats, base: float) -> Floats:
    up = costs % 1
    low, high = base ** -np.floor(costs), base ** -(np.floor(costs) + 1)
    means = (1 - up) * low + up * high
    least = np.array([
        (1 - up[i]) * low[i] / (rest + low[i]) + up[i] * high[i] / (rest + high[i])
        for i, rest in enumerate(means.sum() - means)
    ])  # fmt: skip
    most = least + 1 - least.sum()
    ideal = unrounded(costs, base)
    errors: Floats = np.maximum(ideal - least, most - ideal)
    return errors


def over_steps(largest: Callable[[int], Floats]) -> list[float]:
    return [float(largest(steps).max()) for steps in (4, 8, 16, 32, 64)]


def bounds(base: float) -> list[float]:
    return over_steps(lambda steps: bound(grid(steps), base))


def errors(base: float) -> list[float]:
    return over_steps(
        lambda steps: np.abs(rounded(grid(steps), base) - unrounded(grid(steps), base))
    )


def ks_distance() -> list[float]:
    costs = grid(16, target=3)
    return [float(np.abs(np.cumsum(rounded(costs, 2.0) - unrounded(costs, 2.0))).max())]


def as_far_from_zero(result: float) -> float:
    return float(rounded(grid(16), 2.0)[grid(16) >= abs(result)].sum())


def mean_squares() -> list[float]:
    """Return the mean squared errors of 2^(-|r - 3|) on the grid, and of Laplace noise: 2 b²."""
    places = [i / 16 for i in range(-160, 161)]
    weights = [2.0 ** -abs(place - 3) for place in places]
    squares = [(place - 3) ** 2 for place in places]
    ours = math.fsum(map(math.prod, zip(weights, squares, strict=True))) / math.fsum(weights)
    epsilon = math.log(4)
    return [ours, 2 * epsilon**2, 2 / epsilon**2]


VALUES = {
    "mean_squares": mean_squares,
    "x": lambda: [X_LEAST],
    "average_with": lambda: [1],
    "average_without": lambda: [Fraction(101, 2)],
    "told_apart": lambda: [Fraction(99, 100)],
    "lost": lambda: [2.0**-30 > 0, 2.0**-30 + 2.0**30 == 2.0**30],
    "search": search,
    "average_with_2": lambda: [1],
    "average_without_2": lambda: [float(np.arange(1000) @ second_law())],
    "half": lambda: [first_share()],
    "epsilon": lambda: [1, 2 * math.log(2)],
    "result": lambda: [as_far_from_zero(0.0625)],
    "ks_p_value": lambda: [ks_p_value(0.023)],
    "ks": ks_distance,
    "bounds": lambda: bounds(4.0),
    "errors": lambda: errors(4.0),
    "bounds_2": lambda: bounds(2.0),
    "errors_2": lambda: errors(2.0),
    "scale": lambda: [1 / (2 * math.log(2))],
}
CHANCES: dict[str, Callable[[float], float | Fraction]] = {
    "average_without": lambda theirs: chance_of_average(np.full(100, 0.01), 1, theirs),
    "average_without_2": lambda theirs: chance_of_average(second_law(), 0, theirs),
    "result": as_far_from_zero,
    "ks": ks_p_value,
}
