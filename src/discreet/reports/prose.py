"""Guarantees in sentences for readers without a background in differential privacy."""

from fractions import Fraction

from ..numbers import spell
from ..privacy.guarantees import Guarantee
from ..privacy.sensitivity import Neighbors
from ..privacy.units import Unit, unit_in_words
from ..sampling.enclosures import ball, precision, upper
from .page import Section, paragraph
from .wording import Wording

_DELTA = Fraction(1, 10**6)
"""The delta for guarantees that hold at any delta: one in a million."""

_HUGE = 12
"""Above this epsilon a factor is written as a power: e**12 is more than 100,000."""


def guarantee_in_words(guarantee: Guarantee, words: Wording) -> list[str]:
    """Return the guarantee in plain sentences; all numbers are rounded up."""
    if guarantee.slack == 1:
        said = words.said(guarantee)
        return [words.nothing.format(said=said[0].upper() + said[1:])]
    think, epsilon = words.think[guarantee.neighbors], guarantee.pure
    if epsilon is None:
        least = guarantee.approx(guarantee.slack or _DELTA)
        factor, delta = _factor(least.epsilon), spell(least.delta)
        return [words.failing.format(think=think, factor=factor, delta=delta)]
    belief = words.no_protection if epsilon > _HUGE else words.belief
    return [
        words.chance.format(think=think, factor=_factor(epsilon)),
        belief.format(whether=words.whether[guarantee.neighbors], sure=_sure(epsilon)),
    ]


def _factor(epsilon: Fraction) -> str:
    if epsilon > _HUGE:
        return f"e^{spell(epsilon).removeprefix('≤ ')}"
    with precision(128):
        return _up(upper(ball(epsilon).exp()))


def _sure(epsilon: Fraction) -> str:
    with precision(128):
        return f"{_up(upper(100 / (1 + (-ball(epsilon)).exp())))} %"


def _up(value: Fraction) -> str:
    """Return a number with two decimals, rounded up."""
    cents = -(-value * 100 // 1)
    return f"{float(cents / 100):,.2f}"


def neighbors_in_words(relation: Neighbors, unit: Unit | None, words: Wording) -> str:
    """Return the neighboring relation in words."""
    record = words.one_unit.format(unit=unit_in_words(unit)) if unit else words.one_row
    return words.relation[relation].format(record=record)


def exactness_section(words: Wording) -> Section:
    """Return how the draw is certified, in a few sentences."""
    return Section(words.exactness_title, tuple(map(paragraph, words.exactness)))
