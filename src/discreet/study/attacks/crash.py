"""A crash that depends on the data: no answer is an answer, too."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np

from ...selection.candidates import Labels
from ...tables.engines.column import ArrayColumn
from ...tables.scores.rank import Rank
from .. import audit
from .result import AttackResult

_EPSILON = 1
ROWS, NEIGHBOR = [2, 5, 7], [2, 5, 5]
"""One record of three is replaced, and two are equal."""

CANDIDATES = range(11)


def unsafe_median(rows: Sequence[float], lo: float, hi: float, uniform: float) -> float:
    """Return a point of one of the intervals between neighbouring records, likelier near the middle.

    Smith's quantile as it is often written: the log of an interval's width is taken, and ties have none.
    """
    points = sorted([lo, *rows, hi])
    middle = len(rows) / 2
    logs = [
        math.log(b - a) - _EPSILON / 2 * abs(i - middle)
        for i, (a, b) in enumerate(pairwise(points))
    ]
    ends = np.cumsum(np.exp(np.array(logs) - max(logs))).tolist()
    i = bisect_right(ends, uniform * ends[-1])
    return (points[i] + points[i + 1]) / 2


def crashes(rows: Sequence[float]) -> Fraction:
    """Return the probability that the naive median crashes: it does before it looks at the uniform, or never."""
    try:
        unsafe_median(rows, 0, 10, 0.5)
    except ValueError:
        return Fraction(1)
    return Fraction(0)


def crash_attack() -> AttackResult:
    """Run the attack and return its result."""
    labels, half = Labels(CANDIDATES), Fraction(1, 2)
    scores = [Rank(ArrayColumn(np.array(rows)), labels, half) for rows in (ROWS, NEIGHBOR)]
    ours = [score.compute(Fraction(0)) for score in scores]
    spread = scores[0].sensitivity("replace_one").spread
    laws = [[1 - crashes(rows), crashes(rows)] for rows in (ROWS, NEIGHBOR)]
    return AttackResult(
        name="crash",
        claim="A median by the exponential mechanism over the intervals between records.",
        naive=f"It answers for {ROWS} and raises a math domain error for {NEIGHBOR}, always.",
        ours="Ties, empty and constant data have answers like all others.",
        naive_audit=audit.laws(*laws, epsilon=_EPSILON),
        our_audit=audit.exact(*ours, spread=spread, epsilon=_EPSILON, neighbors="replace_one"),
        source="diffprivlib issues 43 and 107",
    )
