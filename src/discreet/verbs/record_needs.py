"""How many records a quantile among all decimals needs, from public numbers: said before anything is paid."""

from fractions import Fraction

from ..errors import InvalidCandidates
from ..mechanisms.worst_case import EXPONENTIAL_ERROR
from ..numbers import spell
from ..warning import warn

_CONFIDENCE = Fraction(999, 1000)
"""With so many records, this is at least the probability of an answer among the records."""


def needed_records(size: int, epsilon: Fraction, change: Fraction, share: Fraction) -> int:
    """Return how many records keep an answer of the exponential mechanism among them, with probability 0.999.

    An answer beyond all of n records is `share * n` ranks from the wanted one, and is drawn with a probability of
    at most 0.001 where that is an error which is not reached with 0.999.

    Args:
        size: how many candidates there are.
        epsilon: the privacy parameter of the answer.
        change: how many ranks a difference of two scores changes between neighbours.
        share: the share of the records on the shorter side of the wanted rank.
    """
    ranks = EXPONENTIAL_ERROR.below(size, _CONFIDENCE) * change / epsilon
    return -(-ranks.numerator * share.denominator // (ranks.denominator * share.numerator))


def say_needs(needed: int, column: str | None, by: str | None) -> None:
    """Warn of how many records are needed, whatever the data are."""
    of = "numbers" if column is None else f"column {column!r}"
    groups = "" if by is None else " in each group"
    missing = "" if column is None else " Cells that are no numbers count as missing."
    warn(
        f"no bounds of {of} are given: an answer needs about {needed:,} records{groups}; with fewer the answer may "
        f"be any decimal.{missing} Where you know the least and the largest possible answer, give them, such as "
        "candidates=Grid(0, 120)"
    )


def refuse_ends(share: Fraction) -> None:
    """Raise for the minimum and the maximum: every decimal beyond the records is as good as the best."""
    if share in (0, 1):
        raise InvalidCandidates(
            "the quantile {spell} needs candidates: beyond the records all decimals are equally "
            "good; give the least and the largest possible answer, such as candidates=Grid(0, "
            "120), or ask for bounds()",
            spell=spell(share),
        )
