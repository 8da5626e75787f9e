"""Probabilities of the answers of a distribution, as balls that are narrow together."""

from collections.abc import Callable, Sequence
from typing import Any

from flint import arb

from ...sampling.enclosures import precision
from ...selection.answers import AnswerLists

_CLOSE = arb(2) ** -66

ANYTHING_ELSE = "anything else"
"""The name of all answers that are not worked out, together."""


def certified_masses(probabilities: Callable[[], list[arb]]) -> list[arb]:
    """Return balls around probabilities, together less than 2**-64 wide.

    Args:
        probabilities: returns them at the precision in force.
    """
    digits = 192
    while True:
        with precision(digits):
            balls = probabilities()
            if sum((ball.rad() for ball in balls), arb(0)) < _CLOSE:
                return balls
        digits *= 2


def chances_with_rest(lists: AnswerLists, answers: Sequence[Any]) -> list[arb]:
    """Return the probabilities of some answers, and last that of all others if there are any."""
    chances = lists.chances(answers)
    return chances if lists.is_complete else [*chances, 1 - sum(chances, arb(0))]
