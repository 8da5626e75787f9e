"""Bins as a form has them: a column and its edges in a line, such as "age: 0 to 120 by 10" or "age: 0, 18, 65".

The word "missing" in place of edges is the column `WithMissing`.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from ...base.error_boundary import public_errors
from ...errors import InvalidArgument, preview
from ...selection.bins import Bins, WithMissing


@public_errors()
def read_bins(
    text: str, columns: Iterable[str], options: Mapping[str, Any]
) -> dict[str, Bins | WithMissing]:
    """Return the bins in the lines of a text, by their columns.

    Args:
        text: the lines.
        columns: the columns of the question.
        options: the arguments of all bins that are yes or no.

    Raises:
        InvalidArgument: if a line does not begin with a column of the question, or its edges cannot be read.
    """
    names, bins = sorted(columns, key=len, reverse=True), dict[str, Bins | WithMissing]()
    for line in filter(None, map(str.strip, text.splitlines())):
        name = next((one for one in names if line.startswith(f"{one}:")), None)
        if name is None or name in bins:
            raise InvalidArgument(
                "bins: begin a line with a column of the question and a colon, once for a column, as in "
                f"age: 0 to 120 by 10, got {preview(line)}"
            )
        bins[name] = _bins(name, line[len(name) + 1 :], options)
    return bins


def _bins(column: str, edges: str, options: Mapping[str, Any]) -> Bins | WithMissing:
    """Return the bins of one line, or the column with no value as a value."""
    if edges.strip() == "missing":
        return WithMissing(column)
    lo, is_range, rest = edges.partition(" to ")
    if not is_range:
        return Bins(column, edges=[one.strip() for one in edges.split(",")], **options)
    hi, _, step = rest.partition(" by ")
    return Bins(column, lo.strip(), hi.strip(), step.strip(), **options)
