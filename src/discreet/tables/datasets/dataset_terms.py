"""The arguments of a question that a description declares, and those that contradict it."""

import datetime as dt
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import isinf
from typing import Any

from ...base.doors import fix, spelling
from ...base.numbers import count, exact
from ...errors import InvalidArgument, InvalidCandidates, preview
from ...privacy.sensitivity import one_record, plain_unit, read_unit
from ...selection.bins import (
    Bins,
    CellColumns,
    CellLabels,
    is_of_cells,
    part_name,
    read_cell_labels,
    read_columns,
)
from ...selection.candidates import Grid, Labels
from ...selection.date_grid import DateGrid, DateStep, as_moment
from ...selection.decimals import Decimals
from ...selection.payment import describe_account
from ..conditions.conditions import kind_of_constant
from ..engines.candidate_table import CandidateTable
from ..engines.records import is_private
from ..verb_table import VERBS, Asks
from .columns import MOST_VALUES, Column
from .condition_terms import CONSTANTS, condition_terms
from .dataset import MOST_ROWS, Dataset, declared_unit

_OF_ROWS = ("numbers", "sums")
"""Where the rows of one privacy unit are bounded in number."""


def fill_terms(
    dataset: Dataset, arguments: dict[str, Any], asks: Asks, verb: str
) -> dict[str, Any]:
    """Return the arguments of a call about the dataset: those given, and those declared; the data come last."""
    if asks == "anything":
        _check_vouched(dataset, arguments, verb)
    else:
        arguments = {**arguments, **_unit_terms(dataset, arguments, asks)}
        arguments |= _column_terms(dataset, arguments, asks, verb)
        arguments |= _group_terms(dataset, arguments) | condition_terms(dataset, arguments)
    account = arguments.get("ledger")
    account = dataset.account() if account is None else account
    source, about = dataset.question()
    if account is not None:
        account = describe_account(account, about())
    return {**arguments, "ledger": account, "data": source}


def _column_terms(
    dataset: Dataset, arguments: dict[str, Any], asks: Asks, verb: str
) -> dict[str, Any]:
    """Return the column of a call, and its declaration for the verb."""
    if asks == "records" and arguments.get("column") is None:
        return {}
    is_drawn = asks == "keys" or _draws_values(arguments, verb)
    if asks in ("values", "keys") and is_of_cells(arguments.get("column")):
        return _cell_terms(dataset, arguments, "column", "candidates", is_drawn=is_drawn)
    column = dataset.column(arguments.get("column"))
    terms: dict[str, Any] = {"column": column.name}
    if asks == "sums":
        return terms | _sum_bounds(dataset, column, arguments, verb)
    if asks != "records" and not is_drawn:
        choose = _value_candidates if asks == "values" else _number_candidates
        terms["candidates"] = choose(dataset, column, arguments, verb)
    return terms


def _draws_values(arguments: Mapping[str, Any], verb: str) -> bool:
    """Return whether the values that are counted are drawn from the data, with a delta of their own."""
    has_delta = arguments.get("delta") is not None and not is_private(arguments.get("groups"))
    return verb == "counts" and has_delta and arguments.get("candidates") is None


def _cell_terms(
    dataset: Dataset, arguments: Mapping[str, Any], place: str, argument: str, *, is_drawn: bool
) -> dict[str, Any]:
    """Return the cells of several columns, and their values: those that were asked for, or those declared."""
    cells, labels = read_columns(arguments[place], place), arguments.get(argument)
    columns = {name: dataset.column(name, place) for name in cells.columns}
    for part in cells.parts:
        if isinstance(part, Bins):
            _check_edges(part, columns[part.column])
    if is_drawn or is_private(labels):
        return {place: cells, **({} if labels is None else {argument: labels})}
    if labels is None:
        labels = {name: _all_values(dataset, columns[name], argument) for name in cells.plain}
    elif isinstance(labels, Mapping):
        labels = {
            name: _check_candidates(dataset, some, columns[name]) if name in columns else some
            for name, some in labels.items()
        }
    else:
        labels = _check_tuples(dataset, cells, read_cell_labels(cells, labels, argument), columns)
    return {place: cells, argument: labels}


def _check_edges(bins: Bins, column: Column) -> None:
    """Raise if bins have edges of another type than their column is declared as."""
    kind = kind_of_constant(bins.edges[0])
    if kind not in CONSTANTS[column.type]:
        raise InvalidArgument(
            f"{bins} has a {kind} as an edge, and column {column.name!r} is declared as {column.type}. Bins are of "
            "numbers, dates or times, with edges of that type"
        )


def _check_tuples(
    dataset: Dataset, cells: CellColumns, labels: Labels, columns: Mapping[str, Column]
) -> Labels:
    """Return listed cells if the description contradicts none of their values; numbers mean declared ones."""
    if not isinstance(labels, CellLabels):  # the bins of one column
        return labels
    parts: list[Any] = [
        some
        if isinstance(part, Bins)
        else _check_candidates(dataset, some, columns[part_name(part)])
        for part, some in zip(cells.parts, labels.parts, strict=True)
    ]
    return CellLabels(labels, parts, labels.places)


def _sum_bounds(
    dataset: Dataset, column: Column, arguments: dict[str, Any], verb: str
) -> dict[str, Any]:
    """Return the bounds and the step of numbers that are added up: those given, or those declared."""
    if column.type == "boolean":
        return _truth_bounds(column, arguments)
    _check_ordered(dataset, column, verb)
    low, high, step = column.minimum, column.maximum, _even_step(column)
    if column.enum is not None:
        low, high = min(column.enum), max(column.enum)
    for name in ("minimum", "maximum"):
        if arguments.get(name) is not None:
            _check_bound(column, arguments[name], name)
    if not column.is_numeric and arguments.get("bounds_share") is not None:
        raise InvalidArgument(
            "bounds_share buys bounds of numbers: of dates give minimum and maximum"
        )
    if arguments.get("bounds_share") is not None and low is None and high is None:
        return {}  # they are drawn, and the step with them
    bounds = {"minimum": low, "maximum": high, "step": step}
    return {name: one for name, one in bounds.items() if arguments.get(name) is None}


def _even_step(column: Column) -> object:
    """Return the declared step of numbers, dates or times that are added up; months are not evenly long."""
    if column.type == "integer" and column.step is None:
        return Fraction(1)
    is_uneven = isinstance(column.step, DateStep) and column.step.unit == "month"
    return None if is_uneven else column.step


def _check_bound(column: Column, bound: Any, name: str) -> None:
    """Raise if a bound of numbers, dates or times is beyond the declared ones."""
    if column.is_numeric:
        column.check_bounds(exact(bound, name))
        return
    moment = as_moment(bound)
    if moment is None or isinstance(moment, dt.datetime) != (column.type == "datetime"):
        raise InvalidArgument(
            f"column {column.name!r} is declared as {column.type}, so {name} must be one, got {preview(bound)}"
        )
    column.check_bounds(moment)


def _truth_bounds(column: Column, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the bounds of truths that are added up, 0 and 1, as truths."""
    public = {"minimum": False, "maximum": True, "step": 1}
    for name in (*public, "bounds_share"):
        term = arguments.get(name)
        is_other = not isinstance(term, int) or term != public.get(name)
        if term is not None and is_other:
            raise InvalidArgument(
                f"column {column.name!r} is declared as boolean, whose bounds are 0 and 1, in steps of 1: "
                f"leave out {name}"
            )
    return public


def check_question(dataset: Dataset, verb: str, asks: Asks, question: Mapping[str, Any]) -> None:
    """Raise where the description refuses a question whatever else the verb says of it.

    Args:
        dataset: the described data.
        verb: the name of the verb.
        asks: the use of data by the verb.
        question: the arguments, the column among them.

    Raises:
        InvalidArgument: if the column is of another type, or a candidate, a group, a unit or a bound contradicts
            the description.
    """
    arguments = dict(question)
    _unit_terms(dataset, arguments, asks)
    if asks in ("records", "keys", "sums"):
        _column_terms(dataset, arguments, asks, verb)
    else:
        _check_candidates_of(dataset, arguments, asks, verb)
    if arguments.get("groups") is not None:
        _group_terms(dataset, arguments)
    condition_terms(dataset, arguments)


def _check_candidates_of(
    dataset: Dataset, arguments: dict[str, Any], asks: Asks, verb: str
) -> None:
    """Raise where a column is no one that the verb takes, or a candidate contradicts the description."""
    if VERBS[verb].takes_cells and is_of_cells(arguments.get("column")):
        _cell_terms(
            dataset, arguments, "column", "candidates", is_drawn=_draws_values(arguments, verb)
        )
        return
    column = dataset.column(arguments.get("column"))
    if asks == "numbers":
        _check_ordered(dataset, column, verb)
    if arguments.get("candidates") is not None:
        choose = _value_candidates if asks == "values" else _number_candidates
        choose(dataset, column, arguments, verb)


def _check_vouched(dataset: Dataset, arguments: dict[str, Any], verb: str) -> None:
    """Raise unless the caller says the privacy unit, for which their sensitivity must hold."""
    unit = read_unit(arguments.get("privacy_unit"))
    if unit is None and dataset.privacy_unit is not None:
        raise InvalidArgument(
            f"a record of {dataset.label} is declared as {one_record(dataset.privacy_unit)}, and "
            f"{verb} relies on what you promise about one record: if it holds for all those rows "
            f"together, say {spelling(privacy_unit=plain_unit(dataset.privacy_unit))}"
        )
    declared_unit(dataset, unit)


def _unit_terms(dataset: Dataset, arguments: dict[str, Any], asks: Asks) -> dict[str, Any]:
    """Return the privacy unit and its bound, if they are declared."""
    unit, most = read_unit(arguments.get("privacy_unit")), arguments.get("max_contributions")
    terms: dict[str, Any] = {}
    if declared_unit(dataset, unit) is not None:
        terms["privacy_unit"] = dataset.privacy_unit
    if dataset.max_contributions is None or asks not in _OF_ROWS:
        return terms
    return {**terms, "max_contributions": declared_bound(dataset, most)}


def declared_bound(dataset: Dataset, most: object) -> int | None:
    """Return the most rows of one privacy unit that count: as declared, or else as given.

    Raises:
        InvalidArgument: if it is no count, or another than is declared.
    """
    own_bound = dataset.max_contributions
    bound = None if most is None else count(most, "max_contributions", most=MOST_ROWS)
    if own_bound is not None and bound not in (None, own_bound):
        raise InvalidArgument(
            f"max_contributions of {dataset.label} is declared as {own_bound}, got "
            f"{preview(most)}. Leave it out"
        )
    return bound if own_bound is None else own_bound


def _value_candidates(
    dataset: Dataset, column: Column, arguments: dict[str, Any], verb: str
) -> object:
    """Return the candidates of a verb that counts values: those given, or those declared."""
    if arguments.get("unsafe_candidates_from_data", False) is not False:
        raise InvalidArgument(
            f"{dataset.label} has a description, and candidates from the data contradict it. Leave "
            "out unsafe_candidates_from_data, or ask about the data without their description"
        )
    candidates = arguments.get("candidates")
    if is_private(candidates):
        return candidates
    if candidates is not None:
        return _check_candidates(dataset, candidates, column)
    return _all_values(dataset, column, "candidates")


def _all_values(dataset: Dataset, column: Column, argument: str) -> object:
    """Return all values that the description declares."""
    if column.values is None:
        raise InvalidCandidates(
            f"{argument} are missing: the description of {dataset.label} does not declare the "
            f"values of column {column.name!r}. Declare them as enum, or a minimum and a maximum "
            f"if it holds integers or dates (up to {MOST_VALUES:,} of them), or give {argument}"
        )
    return column_values(dataset, column)


def column_values(dataset: Dataset, column: Column) -> Sequence[object] | None:
    """Return the declared values as candidates, or None where none are declared.

    Raises:
        InvalidCandidates: for times in text files.
    """
    if column.values is None:
        return None
    if column.type == "datetime" and dataset.is_text:
        raise InvalidCandidates(
            f"column {column.name!r} is declared as datetime, and a text file may write a time in "
            "many ways: declare it as string, with the times in enum as the file has them"
        )
    return _as_labels(dataset, column, column.values, are_all=True)


def _as_decimal(value: Any) -> object:
    """Return a float as the decimal that it prints as, and any other number as it is."""
    return Decimal(repr(value)) if isinstance(value, float) else value


def _as_double(value: Any) -> object:
    """Return a decimal as the double that prints as it, if one does, and any other number as it is."""
    if not isinstance(value, Decimal):
        return value
    double = float(value)
    return (
        double
        if not isinf(double) and exact(double, "a value") == exact(value, "a value")
        else value
    )


def _as_labels(
    dataset: Dataset, column: Column, values: Sequence[object], *, are_all: bool = False
) -> Sequence[object]:
    """Return values as candidates; numbers as declared ones, with the meaning of the column's type.

    As doubles they stand in answers and in digests of ledgers, where a double prints as the declared number.
    """
    if column.type != "number":
        return Labels(values, are_all=True) if are_all else values
    numbers = list(map(_as_decimal if dataset.is_text else _as_double, values))
    return Labels(numbers, is_declared=True, are_all=are_all)


def _check_candidates(dataset: Dataset, candidates: Any, column: Column) -> object:
    """Return candidates if the description does not contradict them; numbers mean the same as declared ones."""
    if isinstance(candidates, CandidateTable):
        if column.enum is None:
            return candidates
        raise InvalidCandidates(
            f"the values of column {column.name!r} are declared. Leave out the table of candidates"
        )
    labels = _read_labels(candidates)
    if labels is None:
        return candidates
    for one in labels:
        if one is not None:  # a cell without a value contradicts no type
            column.read(one)
    if column.type != "number":
        return candidates
    numbers = list(map(_as_decimal, labels)) if dataset.is_text else labels
    return Labels(numbers, is_declared=True, null=True)


def _read_labels(candidates: Any) -> Labels | None:
    """Return the values of a list; None for anything else, which the verb refuses."""
    try:
        return Labels.of(candidates, null=True)
    except InvalidArgument:
        return None


def _check_ordered(dataset: Dataset, column: Column, verb: str) -> None:
    """Raise unless a column is declared as one that the verb takes: of numbers, or of dates for quantiles."""
    of_dates = VERBS[verb].takes_dates
    if not (column.has_quantiles if of_dates else column.is_numeric):
        raise InvalidArgument(
            f"{verb} is of numbers{' or dates' if of_dates else ''}, and column {column.name!r} of "
            f"{dataset.label} is declared as {column.type}"
        )


def _number_candidates(
    dataset: Dataset, column: Column, arguments: dict[str, Any], verb: str
) -> object:
    """Return the candidates of a verb over numbers: those given, or the declared grid."""
    _check_ordered(dataset, column, verb)
    candidates = arguments.get("candidates")
    if candidates is None:
        bounds = VERBS[verb].bounds
        is_open = bounds == "never" or (bounds == "optional" and _has_no_bounds(column))
        return None if is_open else _declared_grid(dataset, column)
    if isinstance(candidates, DateGrid) or not column.is_numeric:
        return _dates_within(dataset, candidates, column)
    if isinstance(candidates, Grid):
        return _within(candidates, column)
    if isinstance(candidates, Decimals):
        return _unbounded(candidates, column)
    labels = _read_labels(candidates)
    if labels is None:
        return candidates
    for one in labels:
        if one is None:  # the verb refuses it
            return candidates
        _check_number(one, column)
    return Labels(labels, is_declared=True)


def _declared_grid(dataset: Dataset, column: Column) -> object:
    """Return the declared grid, or the declared numbers."""
    if column.grid is not None:
        return column.grid
    if column.enum is not None and column.is_numeric:
        return Labels(list(map(_as_double, sorted(column.enum))), is_declared=True)
    raise InvalidCandidates(
        f"candidates are missing: the description of {dataset.label} declares no grid of column "
        f"{column.name!r}. Declare a minimum and a maximum"
        + (", and a step," if column.type in ("number", "datetime") else "")
        + " or give "
        + (fix("a grid", lo=0, hi=100) if column.is_numeric else fix("a grid of dates"))
    )


def _dates_within(dataset: Dataset, grid: object, column: Column) -> DateGrid:
    """Return a grid of dates if it is one of the column's type, and within the declared bounds."""
    if not isinstance(grid, DateGrid):
        raise InvalidCandidates(
            f"column {column.name!r} of {dataset.label} is declared as {column.type}. Give no candidates, or "
            f"{fix('a grid of dates')}"
        )
    is_time = isinstance(grid.lo, dt.datetime)
    if column.type != ("datetime" if is_time else "date"):
        raise InvalidCandidates(
            f"the grid is of {'times' if is_time else 'dates'}, and column {column.name!r} of "
            f"{dataset.label} is declared as {column.type}"
        )
    column.check_bounds(grid.lo)
    column.check_bounds(grid.hi)
    return grid


def _has_no_bounds(column: Column) -> bool:
    """Return whether a column of numbers is declared without values, and without one of the bounds."""
    is_bounded = column.minimum is not None and column.maximum is not None
    return column.is_numeric and column.enum is None and not is_bounded


def _unbounded(decimals: Decimals, column: Column) -> Decimals:
    """Return decimals if the description declares neither values nor both bounds, which say more."""
    if _has_no_bounds(column):
        return decimals
    raise InvalidCandidates(
        f"the numbers of column {column.name!r} are declared, and most decimals are none of them: "
        "leave out candidates, or take a grid within the bounds"
    )


def _within(grid: Grid, column: Column) -> Grid:
    """Return a grid if it is within the declared bounds."""
    low, high = (f"lo={grid.lo}", column.minimum), (f"hi={grid.hi}", column.maximum)
    beyond = [low] if column.minimum is not None and grid.lo < column.minimum else []
    beyond += [high] if column.maximum is not None and grid.hi > column.maximum else []
    for end, bound in beyond:
        raise InvalidCandidates(
            f"the grid is beyond the bounds of column {column.name!r}: {end}, and the description "
            f"declares {bound}. Leave out candidates, or take a grid within"
        )
    return grid


def _check_number(value: Any, column: Column) -> None:
    """Raise if a candidate of a quantile is beyond the bounds, or not among the values."""
    number = exact(None if isinstance(value, str) else value, "a candidate")
    column.check_bounds(number)
    if column.enum is not None:
        column.read(value)


def _group_terms(dataset: Dataset, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the groups: those given, or those that the description declares for the column of groups."""
    if arguments.get("by") is None:
        return {}
    groups = arguments.get("groups")
    if is_of_cells(arguments["by"]):
        return _cell_terms(dataset, arguments, "by", "groups", is_drawn=is_private(groups))
    column = dataset.column(arguments["by"], "by")
    if is_private(groups):
        return {"by": column.name, "groups": groups}
    labels = (
        _all_values(dataset, column, "groups")
        if groups is None
        else _check_candidates(dataset, groups, column)
    )
    return {"by": column.name, "groups": labels}
