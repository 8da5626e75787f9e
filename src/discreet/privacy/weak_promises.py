"""Promises too weak to protect a person: they are warned of or refused, at every door.

A guarantee is public, so this is said before any data are touched, and costs nothing.
"""

from __future__ import annotations

from fractions import Fraction

from ..errors import InvalidArgument, InvalidNumber
from .contract import Guarantee, equals

LARGEST_EPSILON = Fraction(10)
"""Above it, even odds may become 1 / (1 + e**-10), which is above 99.99 %."""

LARGEST_QUIET_DELTA = Fraction(1, 10**5)

LARGEST_DELTA = Fraction(1, 100)
"""Above it no verb answers."""


def say_weakness(guarantee: Guarantee) -> None:
    """Warn of a promise with a large epsilon or delta."""
    from ..base.warning import warn  # a first answer does without

    for weakness in weaknesses(guarantee):
        warn(weakness)


def refuse_large_delta(guarantee: Guarantee) -> None:
    """Raise if a promise fails too often for any question about people.

    Raises:
        InvalidNumber: if the delta is above `LARGEST_DELTA`.
    """
    if guarantee.slack > LARGEST_DELTA and not _is_void(guarantee):
        raise InvalidNumber(
            f"{equals('δ', guarantee.slack)} is above 0.01: it may show about one in "
            f"{round(1 / guarantee.slack):,} values that one person alone holds. Give a δ far "
            "below 1 divided by the number of people, such as 1e-8"
        )


def weaknesses(guarantee: Guarantee) -> tuple[str, ...]:
    """Return the warnings about a promise, none for most."""
    epsilon, delta = epsilon_of_promise(guarantee), guarantee.slack
    texts = []
    if epsilon is not None and epsilon > LARGEST_EPSILON:
        texts.append(
            f"{equals('ε', epsilon)} is above 10 and protects no one: the answer can turn even odds that one "
            "person is in the data into more than 99.99 %. With ε = 1 it is at most 73.2 %"
        )
    if delta > LARGEST_QUIET_DELTA and not _is_void(guarantee):
        texts.append(
            f"{equals('δ', delta)} may show about one in {round(1 / delta):,} values that one person alone holds. "
            "Give a δ far below 1 divided by the number of people, such as 1e-8"
        )
    return tuple(texts)


def epsilon_of_promise(guarantee: Guarantee) -> Fraction | None:
    """Return the epsilon that holds, but for the delta of the promise where it has one.

    Of a promise that is no epsilon-DP, such as Gaussian noise, it is that at the largest delta without a warning.
    None if there is no promise at all.
    """
    core = guarantee.core if guarantee.slack else guarantee
    if core is None or core.pure is not None:
        return None if core is None else core.pure
    try:
        return guarantee.approx(max(LARGEST_QUIET_DELTA, guarantee.slack)).epsilon
    except InvalidArgument:
        return None


def _is_void(guarantee: Guarantee) -> bool:
    """Return whether there is no promise, as of a mechanism without a guarantee, which says so itself."""
    return guarantee.slack == 1 and guarantee.core is None
