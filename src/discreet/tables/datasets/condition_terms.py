"""The condition of a question about a described dataset: read as declared, and refused if it contradicts that.

What a description excludes as a candidate it excludes as a constant: the answer would be noise, and paid for.
"""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from ...errors import InvalidArgument, InvalidCandidates
from ..conditions.condition_readers import read_condition
from ..conditions.conditions import (
    CellComparison,
    Condition,
    ConstantKind,
    Membership,
    kinds_of_columns,
    read_as,
    tests_of,
)
from .columns import Column
from .dataset import Dataset

CONSTANTS: Mapping[str, tuple[ConstantKind, ...]] = {
    "integer": ("number",), "number": ("number",), "string": ("text",), "boolean": ("truth",),
    "date": ("time",), "datetime": ("time", "instant"),
}  # fmt: skip
"""The constants with which columns of a declared type are compared."""


def condition_terms(dataset: Dataset, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the condition with its columns read as they are declared; empty if there is none.

    Raises:
        InvalidArgument: if a column is not declared, or compared with what no cell of it can be.
    """
    condition = read_condition(arguments.get("where"))
    if condition is None:
        return {}
    kinds = {}
    for name, kind in kinds_of_columns(condition).items():
        column = dataset.column(name, "where")
        constants = CONSTANTS[column.type]
        if kind not in (None, *constants):
            raise InvalidArgument(
                f"where compares column {name!r} of {dataset.label}, declared as {column.type}, "
                f"with a {kind}. It needs a {' or an '.join(constants)}"
            )
        kinds[name] = kind or (constants[0] if dataset.is_text or len(constants) == 1 else None)
    _check_constants(dataset, condition)
    return {"where": read_as(condition, kinds)}


def _check_constants(dataset: Dataset, condition: Condition) -> None:
    """Raise if a description excludes a constant.

    Raises:
        InvalidArgument: with the declaration.
    """
    for test in tests_of(condition):
        if isinstance(test, Membership):
            constants, is_ordered = test.constants, False
        elif isinstance(test, CellComparison):
            constants, is_ordered = (test.constant,), test.operator not in ("=", "<>")
        else:
            continue
        column = dataset.column(test.column, "where")
        for constant in constants:
            try:
                _check_constant(column, constant, is_ordered=is_ordered)
            except InvalidCandidates as error:
                raise InvalidArgument(f"where: {error}") from None


def _check_constant(column: Column, constant: Any, *, is_ordered: bool) -> None:
    """Raise if no cell equals a constant; or, where it is compared by order, if it is beyond the bounds."""
    value = _as_declared(column, constant)
    if is_ordered:
        column.check_bounds(value)
    else:
        column.read(value)


def _as_declared(column: Column, constant: Any) -> Any:
    """Return a constant as the column has it: a date is its midnight, and a midnight a date."""
    if type(constant) is dt.date and column.type == "datetime":
        return dt.datetime.combine(constant, dt.time())
    if isinstance(constant, dt.datetime) and column.type == "date":
        return constant.date() if constant.time() == dt.time() else constant
    return constant
