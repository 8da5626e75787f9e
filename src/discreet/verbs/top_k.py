"""top_k: several of the best candidates, in order."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal, TypeVar, Unpack, get_args, overload

from ..arguments import choice, column_name
from ..candidates import Labels
from ..errors import InvalidArgument, InvalidCandidates
from ..mechanisms import Mechanism, read_mechanism
from ..mechanisms.joint.joint_top_k import JointTopK
from ..mechanisms.peeling import Peeling
from ..numbers import Number, count
from ..privacy.calibration import read_share
from ..releases import Release
from ..sampling.bits import SystemBits
from ..scores import Given, Score
from ..selection import Query, named
from ..tables.candidate_table import CandidateTable
from ..terms import PersonTerms, SelectAnswerTerms, takes_terms
from .mode import counted, read_labels
from .select import unfold
from .units import Name, read_unit_query

TopKMethod = Literal["peeling", "joint"]


_T = TypeVar("_T")


@overload
def top_k(
    data: object,
    column: str | None = None,
    *,
    k: int,
    candidates: Iterable[_T],
    method: TopKMethod = "peeling",
    delta: Number | None = None,
    **terms: Unpack[SelectAnswerTerms],
) -> Release[list[_T]]: ...


@overload
def top_k(
    data: object,
    column: str | None = None,
    *,
    k: int,
    sensitivity: Number | None = None,
    spread: Number | None = None,
    monotonic: bool = False,
    candidates: Iterable[object] | CandidateTable | None = None,
    method: TopKMethod = "peeling",
    delta: Number | None = None,
    **terms: Unpack[PersonTerms],
) -> Release: ...


@takes_terms
def top_k(  # noqa: PLR0913  # what select takes, and three more
    data: object,
    column: str | None = None,
    *,
    k: int,
    sensitivity: Number | None = None,
    spread: Number | None = None,
    monotonic: bool = False,
    candidates: Iterable[object] | CandidateTable | None = None,
    method: TopKMethod = "peeling",
    delta: Number | None = None,
    **terms: Unpack[PersonTerms],
) -> Release:
    """Release k different candidates in order, the better its score the likelier a candidate to be early.

    Args:
        data: scores, as for `select`; or a table or the path of a file, with `column`, and then a candidate's
            score is the number of rows that hold it.
        column: the column of the table, one row being one record; with `privacy_unit` all rows of a unit are
            one, and count once per value.
        k: how many, at most as many as there are candidates.
        sensitivity: the most that one score can change between neighbours, in units of the score; known, and
            left out, where rows are counted.
        monotonic: whether all scores move the same way whenever one record comes or goes, False by default.
        candidates: the possible answers; without them the answers are indices. A table needs them, as a list
            or as a `CandidateTable`, but for a `Dataset` that declares the values of the column.
        method: "peeling" draws one after another, with any mechanism, and divides epsilon (or rho) by k;
            `scale` is that of every round. "joint" draws the whole list at once: its score is how
            far, at worst, a place of the list is behind the candidate that should be there. It is refused
            where it might need more than 2 GiB: for 10,000 candidates that is a k above 200.
        delta: the δ of all answers together, a probability below 1 such as "1e-6". The list is then (ε, δ)-DP, and
            each round of "peeling" has as much as the library's bound on adaptive composition allows: with
            ε = 1 and k = 50 more than three times as much as a k-th. Finding it takes up to a few seconds the
            first time. Without it the list is ε-DP.
        **terms: the shared arguments, described in `PersonTerms`.

    Returns:
        A list of k candidates, with the guarantee of all of them together.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        InvalidScores: if the scores are no finite numbers, or not as many as the candidates.
        UnreadableData: if the file or the column is not there or cannot be read.

    Side channels: those of the method, and where rows are counted the time that takes.

    Source and proof: docs/reference/mechanisms/peeling.md, docs/reference/mechanisms/joint_top_k.md.
    """
    column = None if column is None else column_name(column)
    unit_query = read_unit_query(terms)
    counts: Sequence[Score]
    labels: Labels | CandidateTable | None
    if column is None:
        if unit_query.records.by is not None:
            raise InvalidArgument("groups need a table: name its column")
        listed, labels, _ = unfold(data, candidates, unit_query.terms)
        counts = [Given(listed, sensitivity, spread, monotonic)]
    else:
        labels = _labels(candidates, sensitivity, spread, monotonic)
        counts = counted(unit_query, data, column, labels)
    most = None if labels is None else labels.size
    # A unit may hold several values, so its rows are not the rows that JointTopK knows more about.
    rows = column is not None and unit_query.records.unit is None
    wanted = read_mechanism(unit_query.terms.get("mechanism", "exponential"))
    if delta is not None and unit_query.records.by is not None:
        raise InvalidArgument("delta is for one list: leave out by and groups, or delta")
    share = None if delta is None else read_share(delta)
    mechanism = _over_lists(method, wanted, count(k, "k", most), rows, share)
    lists = replace(unit_query, terms={**unit_query.terms, "mechanism": mechanism})
    query = Query("top_k", f"top {k} of {column or 'scores'}", {"column": column})
    return lists.answer(counts, labels, query, _draw, _naming(labels))


def _labels(
    candidates: object, sensitivity: object, spread: object, monotonic: object
) -> Labels | CandidateTable:
    """Return the candidates whose rows are counted."""
    if candidates is None:
        raise InvalidCandidates("candidates are missing: name what may be counted; it is public")
    if sensitivity is not None or spread is not None or monotonic is not False:
        raise InvalidArgument(
            "where rows are counted the sensitivity is known; leave out sensitivity, spread and monotonic"
        )
    return read_labels(candidates)


def _over_lists(
    method: str, mechanism: Mechanism, k: int, counts: bool, delta: Fraction | None
) -> Mechanism:
    """Return the mechanism that answers lists by that method."""
    if choice(method, "method", get_args(TopKMethod)) == "peeling":
        return Peeling(mechanism, k, delta)
    if delta is not None:
        raise InvalidArgument(
            'method="joint" draws the list at once, so delta gains nothing: leave it out'
        )
    return JointTopK(mechanism, k, counts)


def _draw(law: Any, size: int | None) -> Any:
    """Return a list of indices, or that many lists."""
    drawn = law.draws(1 if size is None else size, SystemBits())
    return drawn[0] if size is None else drawn


def _naming(labels: Labels | CandidateTable | None) -> Name:
    """Return the function that names the candidates of a list, or of several."""

    def name(drawn: Any, size: int | None) -> Any:
        if labels is None:
            return drawn
        return named(drawn, labels) if size is None else [named(one, labels) for one in drawn]

    return name
