"""select_rows: one answer from every row of scores."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from ..base.float_environment import in_default_environment
from ..base.numbers import Number, count, flag, positive
from ..errors import InvalidArgument, InvalidScores
from ..mechanisms import Mechanism
from ..mechanisms.contract import Calibrated, Law, calibrate, identity_of, read_parameter
from ..mechanisms.epsilon_shares import share_of
from ..privacy.calibration import read_share
from ..privacy.composition import of_any_parts
from ..privacy.guarantees import ApproxDP, Guarantee
from ..privacy.sensitivity import read_neighbors
from ..sampling.bits import SystemBits
from ..sampling.categorical_rows import CategoricalRows, serves_rows
from ..sampling.rows import ScoreRows, count_rows, read_rows
from .candidates import Labels
from .measures import possible_among, with_measures
from .question import Order, Query, Question, answers_at, ask
from .releases import Release
from .scores.given import Given
from .terms import SelectAnswerTerms, Terms, takes_terms_without

_T = TypeVar("_T")

_MOST_ROWS_OF_SCORES = 10**7


class _RowTerms(SelectAnswerTerms, total=False):
    """The terms of answers from rows of scores, for overloads."""

    rows: int | None
    epsilon_per_row: Number | None
    delta: Number | None
    disjoint: bool
    mask: object
    base_measure: object
    log_base_measure: object


@overload
def select_rows(
    scores: object, *, candidates: Iterable[_T], **terms: Unpack[_RowTerms]
) -> Release[list[_T]]: ...


@overload
def select_rows(
    scores: object, *, candidates: None = None, **terms: Unpack[_RowTerms]
) -> Release[NDArray[np.int64]]: ...


@takes_terms_without("size")
def select_rows(  # noqa: PLR0913  # what select takes, and what rows need
    scores: object,
    *,
    rows: int | None = None,
    sensitivity: Number | None = None,
    spread: Number | None = None,
    monotonic: bool = False,
    candidates: Iterable[object] | None = None,
    epsilon_per_row: Number | None = None,
    delta: Number | None = None,
    disjoint: bool = False,
    mask: object = None,
    base_measure: object = None,
    log_base_measure: object = None,
    **terms: Unpack[Terms],
) -> Release:
    """Release one candidate for every row of scores. Better scores in the row are more likely.

    The epsilon (or rho) is for the whole call. By default one record may change the scores of all rows, so epsilon
    is divided by their number. `disjoint=True` states that a record changes only one row, and then every row gets
    all of it.

    Args:
        scores: finite numbers, one row per answer, one column per candidate, higher is better: a 2-D array of
            NumPy, PyTorch or JAX in main memory, or a list of lists.
        rows: the number of rows, public. By default it is read from the shape of the scores, which then counts as
            public.
        sensitivity: the most that one score can change between neighbours, a positive number in units of the
            score. The same for all rows. You must pass it or `spread`.
        spread: instead of `sensitivity`, the most that a difference of two scores of a row can change.
        monotonic: whether one record more or less moves all scores of a row in the same direction, False by
            default. This halves the cost.
        candidates: the possible answers, public, in the order of the columns. Without them, an answer is an index.
        epsilon_per_row: instead of `epsilon`, the ε of every row. The guarantee of the release contains the cost of
            all rows together.
        delta: the δ of all answers together, a probability below 1 such as "1e-6". They are then (ε, δ)-DP, and a
            row gets as much as the library's bound on composition allows, which for many rows is several times an
            equal share of ε. Computing it takes up to a few seconds. Use it with `epsilon`.
        disjoint: whether one record can change the scores of only one row, for any other records, False by default.
            Under "replace_one" it may then change two rows, and the cost includes this.
        mask: True for every allowed candidate, public, as one truth value per column or a table of them. Scores of
            the others are not read. By default all candidates are allowed.
        base_measure: public weights of the candidates, zero or more, which multiply their probabilities, as one per
            column or a table of them. Needs the exponential mechanism.
        log_base_measure: instead, the natural logarithms of such weights, with -inf as a weight of zero. A float
            means its binary value.
        **terms: the shared arguments, described in `Terms`.

    Returns:
        A list with one candidate per row, or an array of indices, with the guarantee of all of them together.

    Raises:
        InvalidArgument: if a public argument is invalid. No private data were read.
        InvalidScores: if the scores are not a table of finite numbers, or its shape is not as stated. A score can't
            be -inf, because the set of allowed candidates must not depend on the data.

    Side channels: those of the mechanism, row by row. Reading and computing depend on the shape, the mask and
    the base measure.

    For the proof, see docs/reference/scores/your_own.md#rows-of-scores.
    """
    if "size" in terms:
        raise TypeError("select_rows gives one answer per row and has no size. Repeat the rows")
    number = _number_of_rows(scores, rows)
    labels = None if candidates is None else Labels(candidates)
    changes = _changed_rows(number, flag(disjoint, "disjoint"), terms)
    score = Given(None, sensitivity, spread, monotonic)
    question = base = ask(score, _terms_of_a_row(terms, epsilon_per_row, changes), labels)
    together = _of_rows(question.guarantee, changes, number)
    if delta is not None:
        together = _read_total(terms, changes, delta, base)
        question = ask(score, _sharpen(terms, changes, together, base), labels)
    mechanisms = with_measures(question.mechanism, mask, base_measure, log_base_measure, number)
    possible = [possible_among(one, labels) for one in mechanisms]
    calibrated = [calibrate(one, question.sensitivity, question.parameter) for one in mechanisms]
    details = partial(_description_of_rows, base, mechanisms, changes, together)
    order = _order_of_rows(question, mechanisms, number, guarantee=together, details=details)

    def prepare() -> Callable[[], list[int]]:
        table = read_rows(scores) if question.account is None else read_rows(scores).copy()
        return drawing(_check_shape(table, number, labels, possible), calibrated, possible)

    return order.deliver(prepare, lambda indices: _name_answers(indices, labels))


def _of_rows(each: Guarantee, changes: int, number: int) -> Guarantee:
    """Return the guarantee of so many rows, of which one step changes some, and the next one perhaps others."""
    together = each.repeated(changes)
    return of_any_parts(together) if 1 < changes < number else together


def _order_of_rows(
    question: Question, mechanisms: Sequence[Mechanism], number: int, **parts: Any
) -> Order:
    """Return the order of so many rows, as it is told and stored, with these parts of it."""
    worst = replace(question.worst_error, answers=number)
    if mechanisms != [question.mechanism]:  # with a measure of its own a row may answer far worse
        worst = replace(worst, measure=None)
    query = Query("select_rows", {"lists": number}, {"rows": number}).per(question.unit)
    return replace(question.order(query), question=None, worst_error=worst, **parts)


def _number_of_rows(scores: object, rows: object) -> int:
    """Return the public number of rows.

    Raises:
        InvalidArgument: if it is not given, and the scores have no shape.
    """
    number = count_rows(scores) if rows is None else rows
    if number is None:
        raise InvalidArgument(
            "the number of rows is not known before the scores are read: give rows"
        )
    return count(number, "rows", most=_MOST_ROWS_OF_SCORES)


def _changed_rows(number: int, disjoint: bool, terms: Terms) -> int:
    """Return how many rows one step between neighbours may change."""
    if not disjoint:
        return number
    neighbors = read_neighbors(terms.get("neighbors", "add_remove"))
    return min(number, 1 if neighbors == "add_remove" else 2)


def _terms_of_a_row(terms: Terms, per_row: object, changes: int) -> Terms:
    """Return the terms of the answer of one row: the share of those that a record may change."""
    if per_row is not None:
        if any(terms.get(name) is not None for name in ("epsilon", "rho", "scale")):
            raise InvalidArgument("give one of epsilon, epsilon_per_row, rho and scale")
        return {**terms, "epsilon": positive(per_row, "epsilon_per_row")}
    parameter = read_parameter(terms.get("epsilon"), terms.get("rho"), terms.get("scale"))
    if parameter is None or parameter.kind == "scale":  # a scale is that of every answer
        return terms
    shared: dict[str, Any] = {**terms, parameter.kind: parameter.value / changes}
    return shared  # type: ignore[return-value]


def _read_total(terms: Terms, changes: int, delta: object, question: Question) -> ApproxDP:
    """Return the (epsilon, delta)-DP that is asked for.

    Raises:
        InvalidArgument: if it is not asked for by epsilon, or nothing is gained by delta.
    """
    if terms.get("epsilon") is None:
        raise InvalidArgument("delta goes with epsilon: all answers are (epsilon, delta)-DP")
    if changes == 1:
        raise InvalidArgument("a record changes one row only, so delta gains nothing: leave it out")
    whole = positive(terms["epsilon"], "epsilon")
    return ApproxDP(whole, read_share(delta), question.sensitivity.neighbors)


def _sharpen(terms: Terms, changes: int, together: ApproxDP, question: Question) -> Terms:
    """Return the terms of the answer of one row, with which all together are (epsilon, delta)-DP.

    The rows are all fixed before an answer is drawn.
    """
    mechanism, sensitivity = question.mechanism, question.sensitivity
    share = share_of(mechanism, sensitivity, changes, together, adaptive=False)
    return {**terms, "epsilon": share}


def _description_of_rows(
    base: Question, mechanisms: Sequence[Mechanism], changes: int, together: Guarantee
) -> Mapping[str, object]:
    """Return the public parts that decide the distribution of the answers, for a digest.

    With a delta that is the epsilon that was asked for, not the share that was found for a row.
    """
    slack = {"delta": together.delta} if isinstance(together, ApproxDP) else {}
    return {
        **base.order(Query("")).details(),
        "mechanism": [identity_of(mechanism) for mechanism in mechanisms],
        "changed_rows": changes,
        **slack,
    }


def _check_shape(
    table: ScoreRows,
    number: int,
    labels: Labels | None,
    possible: Sequence[Sequence[bool] | None],
) -> ScoreRows:
    """Return the rows of scores.

    Raises:
        InvalidScores: if they are not of the public shape.
    """
    if len(table) != number:
        raise InvalidScores(f"there are {len(table)} rows of scores, and rows is {number}")
    widths = [labels.size] if labels is not None else [len(p) for p in possible if p is not None]
    if any(size != table.width for size in widths):
        raise InvalidScores(
            f"there are {widths[0]} candidates but {table.width} columns of scores. Give one for "
            "each"
        )
    return table


@in_default_environment
def drawing(
    table: ScoreRows, calibrated: Sequence[Calibrated], possible: Sequence[Sequence[bool] | None]
) -> Callable[[], list[int]]:
    """Compute the private distributions of all answers, and return the function that draws from them."""
    rate = calibrated[0].rate if len(calibrated) == 1 else None
    array = table.as_table()
    with _advice():
        if rate is not None and array is not None and serves_rows(array, rate):
            return partial(_draw_rows, CategoricalRows(array, rate))
        return partial(draw_each, laws_of(table, [one.law for one in calibrated], possible))


@contextmanager
def _advice() -> Iterator[None]:
    """Add an advice to the error about a score that is not finite."""
    problem = None
    try:
        yield
    except InvalidScores as error:
        problem = f"{error}{'' if error.is_finite else _ADVICE}"
    if problem is not None:
        raise InvalidScores(problem)


_ADVICE = (
    ". If a candidate may not be answered, say so with a public mask, not with a score: it must not come and go "
    "with the data"
)


def _draw_rows(rows: CategoricalRows) -> list[int]:
    """Return one index per row."""
    return rows.draw(SystemBits())


def laws_of(
    table: ScoreRows,
    laws: Sequence[Callable[[Any], Law]],
    possible: Sequence[Sequence[bool] | None],
) -> list[Law]:
    """Compute the private distributions of all answers; no bit is read.

    Args:
        table: the rows of scores.
        laws: the functions from scores to a distribution, one a row or one for all.
        possible: which candidates can be answered, or None where all can; as many as `laws`.

    Raises:
        InvalidScores: if the scores are not finite numbers.
    """
    alike = len(table) if len(laws) == 1 else 1
    rows = table.read(list(possible) * alike)
    return [law(row) for law, row in zip(list(laws) * alike, rows, strict=True)]


def draw_each(laws: Sequence[Law]) -> list[int]:
    """Return one index per row."""
    bits = SystemBits()
    return [int(law.draw(bits)) for law in laws]


def _name_answers(indices: Any, labels: Labels | None) -> Any:
    """Return the candidates with these indices, or the indices."""
    return np.array(indices, dtype=np.int64) if labels is None else answers_at(indices, labels)
