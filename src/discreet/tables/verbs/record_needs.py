"""How many records a quantile among all decimals needs, from public numbers: said before anything is paid."""

from fractions import Fraction
from math import ceil, log

from ...base.doors import fix
from ...base.numbers import spell
from ...base.warning import warn
from ...errors import InvalidCandidates
from ...mechanisms.worst_case import EXPONENTIAL_ERROR

_CONFIDENCE = Fraction(999, 1000)
"""With so many records, this is at least the probability of an answer among the records."""


def needed_records(size: int, epsilon: Fraction, change: Fraction, share: Fraction) -> int:
    """Return how many records keep an answer of the exponential mechanism among them, with probability 0.999.

    An answer beyond all of n records is `share * n` ranks from the wanted one, and is drawn with a probability of
    at most 0.001 where that is an error which is not reached with 0.999.

    Args:
        size: The number of candidates.
        epsilon: the privacy parameter of the answer.
        change: how many ranks a difference of two scores changes between neighbours.
        share: the share of the records on the shorter side of the wanted rank.
    """
    ranks = EXPONENTIAL_ERROR.below(size, _CONFIDENCE) * change / epsilon
    return -(-ranks.numerator * share.denominator // (ranks.denominator * share.numerator))


def say_needs(records: int, column: str | None, by: object) -> None:
    """Warn of how many records are needed, whatever the data are."""
    of = "numbers" if column is None else f"column {column!r}"
    groups = "" if by is None else " in each group"
    missing = "" if column is None else " Cells that are not numbers count as missing."
    warn(
        f"no bounds of {of} are given: an answer needs about {records:,} records{groups}. With "
        f"fewer the answer may be any decimal.{missing} If you know the smallest and the largest "
        "possible answer, give them, such as " + fix("a grid", lo=0, hi=120)
    )


def records_of_ends(size: int, share: Fraction, rates: tuple[Fraction, Fraction]) -> int | None:
    """Return about how many records keep both ends of `bounds` near all of them, with probability 0.999.

    An end is beyond the first threshold past all n records only if the noise of the level is above (1 - q) n, which
    has probability exp(-e1 (1 - q) n). It is before all records only if one of the thresholds there passes a level
    that is q n records away: at most size * exp(-e2 q n). Each of the four has a quarter of 0.001. At q = 1 no
    number of records is enough, and the answer is None. For the proof, see
    docs/reference/mechanisms/above_threshold.md.

    Args:
        size: how many thresholds there are.
        share: q, the share of the records below the high end.
        rates: e1 of the level and e2 of the thresholds, of one end.
    """
    level, noise = rates
    if share == 1:
        return None
    chances = 4 / (1 - float(_CONFIDENCE))
    # Divided as fractions: the shares and the rates may be too small for a float.
    far = Fraction(log(chances)) / (level * (1 - share))
    early = Fraction(log(chances * size)) / (noise * share)
    return ceil(max(far, early))


def say_needs_of_ends(records: int | None, column: str | None, by: object) -> None:
    """Warn of how many records bounds need that are drawn, whatever the data are."""
    of = "numbers" if column is None else f"column {column!r}"
    groups = "" if by is None else " in each group"
    if records is None:
        what = (
            "with q = 1 they may lie far beyond all records, however many there are. Give q below 1"
        )
    else:
        what = (
            f"to draw them takes about {records:,} records{groups}. With fewer they may lie far "
            "beyond all"
        )
    warn(f"no bounds of {of} are given: {what}")


def refuse_ends(share: Fraction) -> None:
    """Raise for the minimum and the maximum: every decimal beyond the records is as good as the best."""
    if share in (0, 1):
        raise InvalidCandidates(
            f"the quantile {spell(share)} needs candidates: beyond the records all decimals are "
            "equally good. Give the smallest and the largest possible answer, such as "
            f"{fix('a grid', lo=0, hi=120)}, or ask for {fix('bounds')}"
        )
