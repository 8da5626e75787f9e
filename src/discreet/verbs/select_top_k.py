"""select_top_k: several of the best candidates, in order."""

from collections.abc import Iterable
from typing import TypeVar, Unpack, overload

from ..numbers import Number, count
from ..releases import Release
from ..scores import Given
from ..selection import Query
from ..terms import SelectAnswerTerms, SelectTerms, Terms, check_names, takes_terms
from .select import unfold
from .top_k import TopKMethod, draw_list, naming_lists, query_of_lists
from .units import read_unit_query

_T = TypeVar("_T")


@overload
def select_top_k(
    scores: object,
    *,
    k: int,
    candidates: Iterable[_T],
    method: TopKMethod = "peeling",
    delta: Number | None = None,
    **terms: Unpack[SelectAnswerTerms],
) -> Release[list[_T]]: ...


@overload
def select_top_k(
    scores: object,
    *,
    k: int,
    candidates: Iterable[object] | None = None,
    method: TopKMethod = "peeling",
    delta: Number | None = None,
    **terms: Unpack[SelectTerms],
) -> Release: ...


@takes_terms
def select_top_k(  # noqa: PLR0913  # what select takes, and three more
    scores: object,
    *,
    k: int,
    sensitivity: Number | None = None,
    spread: Number | None = None,
    monotonic: bool = False,
    candidates: Iterable[object] | None = None,
    method: TopKMethod = "peeling",
    delta: Number | None = None,
    **terms: Unpack[Terms],
) -> Release:
    """Release k different candidates in order, the better its score the likelier a candidate to be early.

    Args:
        scores: scores, as for `select`. Of records in a table or a list, take `top_k`.
        k: how many, at most as many as there are scores.
        candidates: the possible answers, public; without them the answers are indices.
        method: "peeling" or "joint", as for `top_k`.
        delta: the δ of all answers together, as for `top_k`.
        **terms: the shared arguments, described in `Terms`.

    Returns:
        A list of k candidates, with the guarantee of all of them together.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        InvalidScores: if the scores are no finite numbers, or not as many as the candidates.

    Side channels: those of the method.

    Source and proof: docs/reference/mechanisms/peeling.md, docs/reference/mechanisms/joint_top_k.md.
    """
    check_names(terms)
    unit_query = read_unit_query(terms)
    scores, labels, _ = unfold(scores, candidates, unit_query.terms)
    most = None if labels is None else labels.size
    lists = query_of_lists(unit_query, method, delta, count(k, "k", most), counts=False)
    query = Query("top_k", f"top {k} of scores", {"column": None})
    score = Given(scores, sensitivity, spread, monotonic)
    return lists.answer([score], labels, query, draw_list, naming_lists(labels))
