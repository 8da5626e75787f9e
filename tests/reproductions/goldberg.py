"""The numbers of Goldberg's notes, by enumeration."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from itertools import combinations_with_replacement as multisets
from statistics import median

Data = Sequence[int]
NICE = [1, 100, 102, 104, 105, 200, 365]


def differ(a: Data, b: Data) -> int:
    return sum(abs(list(a).count(value) - list(b).count(value)) for value in {*a, *b})


def steps_to_median(x: int, data: Data) -> int:
    """Return how many records must come or go until x is the median of an odd number of them.

    Records below, at and above x are all alike but for their number, so only these three numbers are searched.
    """
    below, at, above = (sum(a < x for a in data), list(data).count(x), sum(a > x for a in data))
    sizes = product(range(below + 4), range(at + 8), range(above + 4))
    return min(
        abs(b - below) + abs(i - at) + abs(a - above)
        for b, i, a in sizes
        if (b + i + a) % 2 and b <= (b + i + a) // 2 < b + i
    )


def counted_pairs(a: int) -> Iterator[tuple[list[int], list[int]]]:
    """Return the counts of all pairs of datasets of up to four records of three kinds, a records apart."""
    every = [data for n in range(5) for data in multisets(range(3), n)]
    for x, z in combinations(every, 2):
        if differ(x, z) == a:
            yield [x.count(v) for v in range(3)], [z.count(v) for v in range(3)]


def moved(a: int) -> int:
    return max(abs(s - t) for x, z in counted_pairs(a) for s, t in zip(x, z, strict=True))


def true_epsilon(x: Sequence[float], z: Sequence[float], eta: float) -> float:
    totals = [sum(math.exp(eta * score) for score in scores) for scores in (x, z)]
    shift = math.log(totals[1] / totals[0])
    return max(abs(eta * (s - t) + shift) for s, t in zip(x, z, strict=True))


def sensitivity() -> int:
    """The largest change of the score by one record, through the closed form of the page."""

    def score(x: int, data: Data) -> int:
        below, above = sum(a < x for a in data), sum(a > x for a in data)
        return -max(0, abs(below - above) - list(data).count(x) + 1)

    every = [data for n in range(6) for data in multisets(range(4), n)]
    changes = (
        abs(score(x, (*data, more)) - score(x, data))
        for data in every
        for more, x in product(range(4), repeat=2)
    )
    return max(changes)


def near(x: int) -> list[int]:
    """Return the notes' dataset near the nice one that has the median x."""
    return {
        102: [1, 100, 102, 102, 105, 200, 365],
        103: [1, 100, 102, 103, 105, 200, 365],
        105: [1, 100, 102, 105, 105, 200, 365],
        101: [1, 100, 100, 101, 105, 200, 365],
    }[x]


def worst(x: int) -> int:
    return -steps_to_median(x, [0] * 4 + [10**6] * 3)


def same_as_two() -> list[int]:
    """The candidates of score -2: those between are all alike, and so is the end."""
    assert {worst(x) for x in (1, 2, 999_999, 10**6)} == {-2}
    return [10**6]


def laplace() -> float:
    places = range(-40, 125)
    scores = [[-2.0 * abs(q - r) for r in places] for q in (42, 43)]
    return true_epsilon(scores[0], scores[1], 0.5)


VALUES = {
    "moved": lambda: [moved(a) for a in (1, 2, 3, 4)],
    "group": lambda: [
        max(true_epsilon(x, z, 0.5) for x, z in counted_pairs(a)) for a in (1, 2, 3, 4)
    ],
    "laplace_sensitivity": lambda: [max(2 * abs(abs(42 - r) - abs(43 - r)) for r in range(100))],
    "laplace": lambda: [laplace()],
    "median": lambda: [median([1, 2, 4, 60, 71]), -steps_to_median(4, [1, 2, 4, 60, 71])],
    "sensitivity": lambda: [sensitivity()],
    "nice_median": lambda: [median(NICE)],
    "distances": lambda: [differ(NICE, near(x)) for x in (102, 103, 105, 101)],
    "nice": lambda: [-steps_to_median(x, NICE) for x in (104, 102, 103, 105, 100, 101)],
    "odds": lambda: [math.exp(-1), math.exp(-2)],
    "worst": lambda: [worst(1)],
    "last": lambda: [10**6 - 1],
    "how_many": same_as_two,
    "found": lambda: [1 / (1 + 10**6 * math.exp(-epsilon)) for epsilon in (1, 10, 20)],
}
CHANCES: dict[str, object] = {}
