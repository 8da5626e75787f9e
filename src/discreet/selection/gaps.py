"""The argument `gap` of verbs over candidates: how far ahead the winner was, released along with it."""

from collections.abc import Sized
from typing import Any, TypeVar

from ..base.numbers import flag
from ..errors import InvalidArgument
from ..mechanisms.mechanism_names import read_mechanism
from .question import Query

_Terms = TypeVar("_Terms", bound=Any)


def with_gap(terms: _Terms, gap: object) -> _Terms:
    """Return the terms with a mechanism that also releases its gap, if it is asked for.

    Raises:
        InvalidArgument: if the mechanism has no proof for its gap.
    """
    if not flag(gap, "gap"):
        return terms
    from ..mechanisms.gap import WithGap

    mechanism = WithGap(read_mechanism(terms.get("mechanism") or "exponential"))
    return {**terms, "mechanism": mechanism}  # type: ignore[return-value]


def with_gap_in(query: Query, gap: bool) -> Query:
    """Return a query by noisy counts, of which one more tells the gap."""
    return query.about({"gap": True}, gap=True) if gap else query


def check_gap(gap: bool, candidates: Sized | None, k: int = 1) -> None:
    """Raise if there is no candidate besides the answers of the gaps.

    Args:
        gap: whether it is asked for.
        candidates: the candidates, or the scores, which tell how many there are; None where neither does.
        k: how many answers there are.

    Raises:
        InvalidArgument: if there are too few.
    """
    if not gap or candidates is None:
        return
    from ..mechanisms.gap import ONE_CANDIDATE
    from ..mechanisms.peeling.rounds import refused_length

    if len(candidates) <= k:
        raise InvalidArgument(ONE_CANDIDATE if k == 1 else refused_length(k))
