"""Guarantees in sentences for readers without a background in differential privacy."""

from fractions import Fraction

from ..numbers import spell
from ..privacy.guarantees import Guarantee
from ..privacy.sensitivity import Neighbors
from ..sampling.enclosures import ball, precision, upper
from .page import Section, paragraph

_DELTA = Fraction(1, 10**6)
"""The delta for guarantees that hold at any delta: one in a million."""

_HUGE = 12
"""Above this epsilon a factor is written as a power: e**12 is more than 100,000."""

_NEIGHBORS: dict[Neighbors, tuple[str, str]] = {
    "add_remove": ("with one record added or removed", "that record is in the data"),
    "replace_one": ("with one record replaced by another", "it is the one record or the other"),
}


def guarantee_in_words(guarantee: Guarantee) -> list[str]:
    """Return the guarantee in plain sentences; all numbers are rounded up."""
    if guarantee.slack == 1:
        return [f"Nothing is promised. {str(guarantee).capitalize()}."]
    changed, whether = _NEIGHBORS[guarantee.neighbors]
    epsilon = guarantee.pure
    if epsilon is None:
        least = guarantee.approx(guarantee.slack or _DELTA)
        return [
            f"Think of the same data {changed}. Whatever one may look for in what comes out, its chance on the "
            f"one is at most {_factor(least.epsilon)} its chance on the other, plus {spell(least.delta)}."
        ]
    odds = f"whoever thought it even odds whether {whether}"
    return [
        f"Think of the same data {changed}. Whatever comes out here, its chance on the one is at most "
        f"{_factor(epsilon)} its chance on the other.",
        f"So {odds} may be practically sure after seeing the answer: an ε this large protects nobody."
        if epsilon > _HUGE
        else f"So {odds} can be at most {_sure(epsilon)} sure after seeing the answer, whatever else they "
        "know, and however much they compute.",
    ]


def _factor(epsilon: Fraction) -> str:
    if epsilon > _HUGE:
        return f"e^{spell(epsilon).removeprefix('≤ ')} times"
    with precision(128):
        return f"{_up(upper(ball(epsilon).exp()))} times"


def _sure(epsilon: Fraction) -> str:
    with precision(128):
        return f"{_up(upper(100 / (1 + (-ball(epsilon)).exp())))} %"


def _up(value: Fraction) -> str:
    """Return a number with two decimals, rounded up."""
    cents = -(-value * 100 // 1)
    return f"{float(cents / 100):,.2f}"


def neighbors_in_words(relation: Neighbors, unit: str | None = None) -> str:
    """Return the neighboring relation in words."""
    record = f"One record is all rows of one {unit}." if unit else "One record is one row."
    size = {
        "add_remove": "how many records there are is protected too",
        "replace_one": "how many records there are is taken as public",
    }[relation]
    return f"{_NEIGHBORS[relation][0].removeprefix('with ').capitalize()}; {size}. {record}"


def exactness_section() -> Section:
    """Return how the draw is certified, in a few sentences."""
    return Section(
        "How exact it is",
        (
            paragraph(
                "Privacy parameters are fractions. The weight of each candidate lies in an interval of exact "
                "numbers that is proved to hold it; none is rounded to a floating-point number. A draw reads "
                "random bits until every real number that begins with them, and every weight in its interval, "
                "lead to one and the same answer; while they do not, more bits are read and the intervals "
                "shrink. So the distribution of the answer is the one in the proof, to the last bit."
            ),
            paragraph(
                "What is left to trust are the random bits of the operating system, and that the declared "
                "sensitivity is true. The proof and its error analysis are in the library's documentation: "
                "“The draw, and why it is exact”, and for the mechanism “Mechanisms”."
            ),
        ),
    )
