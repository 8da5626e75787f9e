"""The privacy unit: which rows of a table together are one record."""

from ..arguments import exact_text
from ..errors import InvalidArgument, shown


def read_unit(unit: object) -> str | None:
    """Return the column of the privacy unit, or None if every row is a record.

    Raises:
        InvalidArgument: if it is not the name of a column.
    """
    text = exact_text(unit)
    if unit is None or text:
        return text
    raise InvalidArgument(f"privacy_unit must be the name of a column, got {shown(unit)}")


def one_record(unit: str | None) -> str:
    """Return in words which record a guarantee about this privacy unit protects."""
    return "one row" if unit is None else f"all rows of one {unit}"
