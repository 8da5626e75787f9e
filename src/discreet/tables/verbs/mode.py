"""mode: the most common value of a column."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeVar, Unpack, get_args, overload

from ...base.arguments import choice
from ...base.doors import spelling
from ...base.numbers import flag
from ...base.warning import warn
from ...errors import InvalidArgument, InvalidCandidates, preview
from ...mechanisms import read_mechanism
from ...mechanisms.without_guarantee import WithoutGuarantee
from ...selection.any_column import AnyColumn
from ...selection.bins import (
    CellColumns,
    WithMissing,
    column_facts,
    plain_column,
    read_cell_labels,
    read_columns,
)
from ...selection.candidates import Labels, LabelsFromData, table_library
from ...selection.gaps import check_gap, with_gap
from ...selection.payment import is_paid, is_quoted
from ...selection.question import Query, ask, draw
from ...selection.releases import Release
from ...selection.terms import AnswerTerms, PersonTerms
from .. import engines as tables
from ..datasets.look_alikes import look_alikes
from ..engines.candidate_table import CandidateTable, names_file, refuse_gap
from ..engines.column import Source
from ..engines.records import is_private
from ..scores.counts import Counts
from .data_terms import takes_data_terms
from .list_methods import ListQuestion, count_scores, naming_counted_values, refuse_bound
from .private_values import release_private_values
from .units import UnitQuery, naming, read_unit_query

_T = TypeVar("_T")

ModeMethod = Literal["counts"]
"""A method for the most common value in place of a mechanism that selects it."""

_MOST_COMPARED = 10_000
"""Longer lists of candidates were not typed by a person."""


@overload
def mode(
    data: object,
    column: AnyColumn = None,
    *,
    candidates: Iterable[_T],
    gap: bool = False,
    method: ModeMethod | None = None,
    max_candidates: int | None = None,
    **terms: Unpack[AnswerTerms],
) -> Release[_T]: ...


@overload
def mode(
    data: object,
    column: AnyColumn = None,
    *,
    candidates: Iterable[object] | CandidateTable | Literal["private"] | None = None,
    unsafe_candidates_from_data: bool = False,
    gap: bool = False,
    method: ModeMethod | None = None,
    max_candidates: int | None = None,
    **terms: Unpack[PersonTerms],
) -> Release: ...


@takes_data_terms
def mode(  # noqa: PLR0913  # the data, what may be answered, and how
    data: object,
    column: AnyColumn = None,
    *,
    candidates: Iterable[object] | CandidateTable | Literal["private"] | None = None,
    unsafe_candidates_from_data: bool = False,
    gap: bool = False,
    method: ModeMethod | None = None,
    max_candidates: int | None = None,
    **terms: Unpack[PersonTerms],
) -> Release:
    """Release the most common value of a column.

    One row is one record. With `privacy_unit`, all rows of a unit are one record, which counts once per value. Rows
    with other values than the candidates are ignored, and so are nulls unless None is a candidate. Candidates
    without any row have a count of zero.

    Args:
        data: a pandas, Polars, PyArrow, DuckDB, Dask or Spark table, a path or several, a folder, or
            `discreet.scan_query(...)` (docs/reference/tables.md lists all), or values in a list or a series,
            without `column`.
        column: the name of the column, or a list of several, or of `Bins`. Without it, the data are the values
            themselves.
        candidates: the possible answers. They are public, so choose them without looking at the data. Use a
            `CandidateTable` if they are too many to list. Not needed for a `Dataset` that declares the values of
            the column, or for a Polars `Enum`, which declares its categories. Use "private" if you may not list
            them. Then any value that enough records share may be the answer, or None, and you need `delta`. See
            docs/reference/mechanisms/top_k.md#limited_domain.
        unsafe_candidates_from_data: use the values found in the data as candidates. The answer may then be a value
            of a single row, and nothing is guaranteed.
        gap: whether to release how far ahead the winner was, in `Release.gap`, as for `select`.
        method: "counts" adds noise to the count of every candidate, and returns the largest with its noisy count in
            `counts`. By default the mechanism selects the answer, which at the same cost is never worse but reveals
            no count.
        max_candidates: for "counts" or candidates="private", with a `privacy_unit`, the most candidates that one
            unit counts for, as for `top_k`.
        **terms: the shared arguments, described in `PersonTerms`.

    Raises:
        InvalidArgument: if a public argument is invalid. No private data were read.
        UnreadableData: if the file or the column is missing or cannot be read.

    Side channels: those of the mechanism, and the time the engine takes to count.
    """
    column = read_columns(column)
    if is_private(candidates):
        _refuse_no_value(column)
        more: dict[str, Any] = {"gap": gap, "method": method}
        more["unsafe_candidates_from_data"] = unsafe_candidates_from_data
        query = Query("mode", column_facts(column), {"column": plain_column(column)})
        return release_private_values(query, (data, column), 1, max_candidates, {**terms, **more})
    _refuse_payment(unsafe_candidates_from_data, terms)
    unit_query = read_unit_query(terms if method is not None else with_gap(terms, gap))
    if flag(gap, "gap") and unsafe_candidates_from_data:
        raise InvalidArgument("a gap of candidates from the data has no proof: leave out gap")
    by_counts = method is not None and bool(choice(method, "method", get_args(ModeMethod)))
    if not by_counts:
        refuse_bound(max_candidates)
    if unsafe_candidates_from_data:
        unit_query = _without_guarantee(unit_query)
    # What is public is wrong before the data are opened, or not at all.
    ask(Counts(Source(None, None).groups[0], (), unit_query.per_person), unit_query.terms)
    place = data, column, candidates
    labels = _candidates_at(place, terms, unsafe_candidates_from_data, gap)
    facts = {**column_facts(column), **labels.facts}
    query = Query("mode", facts, {"column": plain_column(column)})
    if by_counts:
        question = ListQuestion(unit_query, data, column, labels, query, 1, gap=gap)
        return question.answer_by_counts(max_candidates, naming_counted_values(labels))
    scores = count_scores(unit_query, data, column, labels)
    return unit_query.answer(scores, labels, query, draw, naming(labels))


def _refuse_no_value(column: AnyColumn) -> None:
    """Raise for a column with no value as a value: None is the answer if no value stands out."""
    parts = column.parts if isinstance(column, CellColumns) else ()
    if len(parts) == 1 and isinstance(parts[0], WithMissing):
        raise InvalidArgument(
            "mode answers None if no value stands out, so it cannot answer that most have none: ask "
            f"{spelling(k=1)} of top_k, or list the candidates, None among them"
        )


def _refuse_payment(is_unsafe: bool, terms: AnswerTerms) -> None:
    """Raise for candidates from the data that a ledger pays for."""
    if flag(is_unsafe, "unsafe_candidates_from_data") and is_paid(terms):
        raise InvalidArgument(
            "a ledger cannot pay for candidates from the data: nothing is guaranteed about them"
        )


def _candidates_at(
    place: tuple[object, AnyColumn, Any], terms: AnswerTerms, is_unsafe: bool, gap: bool
) -> Labels | CandidateTable | LabelsFromData:
    """The candidates."""
    if is_unsafe:
        if isinstance(place[1], CellColumns):
            raise InvalidCandidates("unsafe_candidates_from_data is for one column: list the cells")
        return _values_in_data(*place)
    labels = labels_of_column(*place, terms)
    refuse_gap(labels, gap)
    check_gap(gap, labels)
    return labels


_UNLISTED: Mapping[str, str] = {"candidates": "private", "delta": "1e-8"}
"""The terms by which a verb draws its candidates."""


def labels_of_column(
    data: object,
    column: AnyColumn,
    candidates: Any,
    terms: AnswerTerms,
    unlisted: Mapping[str, str] = _UNLISTED,
) -> Labels | CandidateTable:
    """Return the candidates of a call, or those that the column's type declares.

    Args:
        data: the data.
        column: the column, or None.
        candidates: the candidates that were given, or None.
        terms: the terms of the call.
        unlisted: the arguments of the verb that do without a list, for the message.
    """
    if isinstance(column, CellColumns):
        return read_cell_labels(column, candidates)
    if candidates is None:
        return read_labels(categories_of_column(data, column, terms, unlisted))
    return read_labels(candidates)


def _without_guarantee(unit_query: UnitQuery) -> UnitQuery:
    """Return the query with a mechanism without a guarantee."""
    mechanism = read_mechanism(unit_query.terms.get("mechanism", "exponential"))
    replacement = WithoutGuarantee(mechanism, "the candidates were taken from the data")
    return replace(unit_query, terms={**unit_query.terms, "mechanism": replacement})


def read_labels(candidates: Any) -> Labels | CandidateTable:
    """Return the candidates that were given: a list is checked, a table has been.

    Raises:
        InvalidCandidates: if they are neither.
    """
    if isinstance(candidates, CandidateTable):
        return candidates
    if names_file(candidates) or hasattr(type(candidates), "columns"):
        raise InvalidCandidates(
            f"candidates must be a list, got {preview(candidates)}. Of a file, a DuckDB relation, "
            "a Polars frame or a Spark DataFrame give CandidateTable(data, column), of other "
            "tables table[column]"
        )
    labels = Labels.read(candidates, null=True)
    doubt = look_alikes(labels) if len(labels) <= _MOST_COMPARED else None
    if not labels.is_declared:
        _warn_of_one(labels)
    is_quoted = not labels.is_declared and table_library(candidates) is None
    if doubt is not None and is_quoted:
        warn(f"candidates: {doubt}")
    return labels


def _warn_of_one(labels: Labels) -> None:
    """Warn of a single candidate that looks like several: it is the answer whatever the data are."""
    if len(labels) != 1 or not isinstance(labels[0], str):
        return
    one = labels[0].strip()
    if "," in one or ";" in one or any(map(str.isspace, one)):
        warn(
            f"there is one candidate only, {preview(one)}, so the answer says nothing else. If these are several, "
            f"separate them: {spelling(candidates=['tea', 'coffee'])}"
        )


def categories_of_column(
    data: object,
    column: AnyColumn,
    terms: AnswerTerms,
    unlisted: Mapping[str, str] = _UNLISTED,
) -> Sequence[Any]:
    """Return the categories that the column's type declares; a quote opens no data to see them."""
    if is_quoted(terms) and not tables.shows_types(data):
        raise InvalidCandidates(
            "candidates are missing: a quote opens no data, so it cannot see which categories the "
            f"type of {_in_words(column)} declares. Name what may be answered"
        )
    categories = tables.declared_categories(data, column)
    if categories is None:
        raise InvalidCandidates(
            f"candidates are missing: the type of {_in_words(column)} declares none. Give the "
            "possible answers, from what you know and not from the data, such as "
            f"{spelling(candidates=['tea', 'coffee'])}. Without a list: {spelling(**unlisted)}"
        )
    return categories


def _in_words(column: AnyColumn) -> str:
    """Return the column for a message; data of one dimension have none."""
    return "the data" if column is None else f"column {preview(column)}"


def _values_in_data(data: object, column: AnyColumn, candidates: object) -> LabelsFromData:
    """Return the values in the column, not read yet."""
    if candidates is not None:
        raise InvalidCandidates("give either candidates or unsafe_candidates_from_data, not both")
    return LabelsFromData(partial(tables.distinct, data, column))
