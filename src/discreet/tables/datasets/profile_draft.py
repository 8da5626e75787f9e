"""A draft of discreet.toml from a profile: released numbers and values, for the owner of the data to check.

A released value is data, and whoever supplied it chose its letters. So the library quotes it, and values with
characters that cannot be seen are left out: they could hide or reorder the lines that an owner reads.
"""

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ...privacy.sensitivity import Unit, plain_unit
from ...selection.decimals import next_to_zero
from .columns import MOST_VALUES
from .declarations import LARGEST, LEAST, STEP, TO_FILL_IN, key_lines, quote_value, table_head

if TYPE_CHECKING:
    from .column_profile import ColumnProfile

_HEAD = (
    "# Drafted from a profile: released numbers with noise, which may be published.",
    "# Compare them with the form, the codebook or the law, and do not look at the rows.",
)
_BUDGET = f"{TO_FILL_IN}: the most that all answers may cost together"
_FLOATS = 15  # from this power of ten on
_STEPS = 1000
"""About so many answers lie between the ends of a column of numbers."""


def draft_of_columns(
    columns: Sequence["ColumnProfile"],
    *,
    name: str,
    where: Mapping[str, object] | None,
    unit: Unit | None,
    max_contributions: int,
) -> str:
    """Return a draft of discreet.toml.

    Args:
        columns: the columns of a profile.
        name: the name of the dataset.
        where: the words of a description that say where the data are; None for data that none can name.
        unit: the privacy unit.
        max_contributions: the most of its rows that count.
    """
    lines = [*_HEAD, "", *key_lines({"ledger": "budget.db"}), "", table_head("datasets", name)]
    lines += key_lines(where or {"source": f"{TO_FILL_IN}: where the data are"})
    if unit is not None:
        bound = {"privacy_unit": plain_unit(unit), "max_contributions": max_contributions}
        lines += key_lines(bound)
    lines.append(f"budget = {{ epsilon = {quote_value(_BUDGET)} }}")
    lines += [
        f"# {column.name!a} cannot be used as a name here: rename the column"
        for column in columns
        if not is_describable(column.name)
    ]
    for column in columns:
        if is_describable(column.name):
            head = table_head("datasets", name, "columns", column.name)
            lines += ["", head, *_column_lines(column)]
    return "\n".join(lines) + "\n"


def is_describable(name: str) -> bool:
    """Return whether a column of that name can be described."""
    return bool(name) and name.isprintable() and name == name.strip()


def _column_lines(column: "ColumnProfile") -> list[str]:
    """Return the lines of a column."""
    unprintable = [key for key in column.counts or () if not str(key).isprintable()]
    words = f"# left out, as they hold characters that cannot be seen: {len(unprintable):,}"
    return [*key_lines(_declaration(column)), *([words] if unprintable else [])]


def _declaration(column: "ColumnProfile") -> Mapping[str, Any]:
    """Return the declaration of a column in the words of a description."""
    if column.kind == "texts":
        return _of_values([*(column.counts or ())])
    if column.kind == "dates":
        low, high = map(_day, column.ends) if column.ends else (LEAST, LARGEST)
        return {"type": "date", "minimum": low, "maximum": high}
    bounds = {"minimum": LEAST, "maximum": LARGEST} if column.ends is None else _bounds(column)
    if column.is_integer:
        return {"type": "integer", **bounds}
    return {"type": "number", **bounds, "step": bounds.get("step", STEP)}


def _bounds(column: "ColumnProfile") -> dict[str, Any]:
    """Return the bounds of a column of numbers, and the step of one that is not of whole numbers."""
    low, high = (Fraction(next_to_zero(end)) for end in column.ends or ())
    if low == high == 0:
        return {"minimum": 0, "maximum": LARGEST}  # nearly all cells are 0
    if column.is_integer:
        return {
            "minimum": _number(Fraction(math.floor(low))),
            "maximum": _number(Fraction(math.ceil(high))),
        }
    return {"minimum": _number(low), "maximum": _number(high), "step": step_between(low, high)}


def _of_values(values: Sequence[Any]) -> Mapping[str, Any]:
    """Return the declaration of a column with some values: of the type that they have."""
    printable = [key for key in values if str(key).isprintable()][:MOST_VALUES]
    kinds = {type(key) for key in printable}
    if kinds == {bool}:
        return {"type": "boolean"}
    types = {int: "integer", dt.date: "date"}
    kind = types.get(kinds.pop(), "string") if len(kinds) == 1 else "string"
    texts = printable if kind != "string" else [*map(str, printable)]
    return {"type": kind, **({"enum": texts} if texts else {})}


def _day(moment: dt.date) -> dt.date:
    """Return the day of a date or a time."""
    return moment.date() if isinstance(moment, dt.datetime) else moment


def step_between(low: Fraction, high: Fraction) -> int | float:
    """Return the largest power of ten of which at least a thousand lie between two numbers; 1 if they are equal."""
    width = high - low
    if width <= 0:
        return 1
    power = math.floor(math.log10(width / _STEPS))
    return 10**power if 0 <= power < _FLOATS else float(f"1e{power}")


def _number(number: Fraction) -> int | float:
    """Return a number as TOML has it; of whole numbers those that its integers hold."""
    is_whole = number.denominator == 1 and abs(number) < 2**63
    return int(number) if is_whole else float(Decimal(number.numerator) / number.denominator)
