"""top_k: several of the best candidates, in order."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Literal, Unpack

from .. import tables
from ..bits import SystemBits
from ..candidates import Labels
from ..errors import InvalidArgument, InvalidCandidates, UnknownName, shown
from ..mechanisms import Mechanism, read_mechanism
from ..mechanisms.joint_top_k import JointTopK
from ..mechanisms.peeling import Peeling
from ..numbers import Number, count
from ..releases import Release
from ..scores import Counts, Given, Score
from ..selection import Asked, Terms, ask, law_of, named, takes_terms
from .select import unfold

Method = Literal["peeling", "joint"]


@takes_terms
def top_k(  # noqa: PLR0913  # what select takes, and three more
    scores: Any,
    k: int,
    column: str | None = None,
    *,
    sensitivity: Number | None = None,
    spread: Number | None = None,
    monotonic: bool = False,
    candidates: Iterable[Any] | None = None,
    method: Method = "peeling",
    **terms: Unpack[Terms],
) -> Release:
    """Release k different candidates in order, the better its score the likelier a candidate to be early.

    Args:
        scores: as for `select`; or a table or the path of a file, with `column`, and then a candidate's
            score is the number of rows that hold it.
        k: how many, at most as many as there are candidates.
        column: the column of the table, one row being one record.
        sensitivity: the most one score can change between neighbours; known where rows are counted.
        spread: instead of `sensitivity`, the most a difference of two scores can change.
        monotonic: whether all scores move the same way whenever one record comes or goes.
        candidates: what may be answered; without them the answers are indices. A table needs them.
        method: "peeling" draws one after another, with any mechanism, and divides epsilon (or rho) by k;
            `scale` is that of every round. "joint" draws the whole list at once: its score is how
            far, at worst, a place of the list is behind the candidate that should be there. It takes
            up to 1,000,000 candidates times k.
        **terms: epsilon (or rho, or scale), mechanism, neighbors, size: see `Terms`.

    Returns:
        A list of k candidates, with the guarantee of all of them together.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        InvalidScores: if the scores are no finite numbers, or not as many as the candidates.
        UnreadableData: if the file or the column is not there or cannot be read.

    Side channels: those of the method, and where rows are counted the time that takes.

    Source and proof: docs/mechanisms/peeling.md, docs/mechanisms/joint_top_k.md.
    """
    score: Score
    if column is None:
        listed, labels = unfold(scores, candidates)
        score = Given(listed, sensitivity, spread, monotonic)
    else:
        labels = _labels(candidates, sensitivity, spread, monotonic)
        score = Counts(partial(tables.count, scores, column, labels))
    most = None if labels is None else labels.size
    mechanism = _over_lists(
        method,
        read_mechanism(terms.get("mechanism", "exponential")),
        count(k, "k", most),
        column is not None,
    )
    query = f"top {k} of {column or 'scores'}"
    return _release(ask(score, {**terms, "mechanism": mechanism}), labels, query)


def _labels(candidates: Any, sensitivity: Any, spread: Any, monotonic: Any) -> Labels:
    """Return the candidates whose rows are counted."""
    if candidates is None:
        raise InvalidCandidates("candidates are missing: name what may be counted; it is public")
    if sensitivity is not None or spread is not None or monotonic is not False:
        raise InvalidArgument(
            "where rows are counted the sensitivity is known; leave out sensitivity, spread and monotonic"
        )
    return Labels(candidates)


def _over_lists(method: str, mechanism: Mechanism, k: int, counts: bool) -> Mechanism:
    """Return the mechanism that answers lists by that method."""
    if method == "peeling":
        return Peeling(mechanism, k)
    if method == "joint":
        return JointTopK(mechanism, k, counts)
    raise UnknownName(f"method must be peeling or joint, got {shown(method)}")


def _release(asked: Asked, labels: Labels | None, query: str) -> Release:
    """Draw a list, or several, and name what is in them."""

    def prepare() -> Callable[[], Any]:
        law: Any = law_of(asked, labels)
        return lambda: law.draws(1 if asked.size is None else asked.size, SystemBits())

    def name(drawn: Any) -> Any:
        lists = drawn if labels is None else [named(one, labels) for one in drawn]
        return lists[0] if asked.size is None else lists

    return asked.order(query, labels).deliver(prepare, name)
