"""Cells of several columns and of bins, in every engine: a column of texts in place of theirs.

The text of a cell depends on its own row and on the types of the columns. It is that of its bin, or the texts of
its values put together so that no two tuples are alike. Cells are compared with edges as conditions are.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import takewhile
from typing import TYPE_CHECKING, Any, TypeAlias

from ...errors import InvalidArgument
from ...selection.bins import Bins, CellColumns, WithMissing, part_name
from ..conditions.conditions import kind_of_constant, nearest_constant, readable
from ..values.key_values import check_part, part_word, word_of_text
from ..values.kinds import ColumnType
from .filters import compares_with, least_behind
from .native import Native, null_name

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

Real: TypeAlias = int | float | Fraction


def with_cells(native: Native, cells: Mapping[str, CellColumns]) -> Native:
    """Return the columns with cells in place of their parts, which `column_aliases` named."""
    for alias, several in cells.items():
        types = dict[str, ColumnType]()
        for place, part in enumerate(several.parts):
            native, name, of = with_part(native, f"{alias}{place}", part)
            types[name] = of
        native = native.with_cells(alias, types, type_of_cells(several, [*types.values()]))
    return native


def with_part(native: Native, alias: str, part: Any) -> tuple[Native, str, ColumnType]:
    """Return the columns with a key in one of them, or the text of its bin, with its name and its type."""
    import narwhals.stable.v2 as nw

    if isinstance(part, Bins):
        return (*_in_bins(native, alias, part), type_of_bins(part))
    has_null = isinstance(part, WithMissing)
    of = replace(native.type(alias, part_name(part)), has_null=has_null)
    check_part(of)
    if has_null:
        cell = nw.col(alias)
        is_null = (cell == "") if of.name == "CSV" else cell.is_null()
        rows = native.readable({}).with_columns(is_null.alias(null_name(alias)))
        native = native.with_rows(rows)
    native, _ = native.with_keys(alias, of)
    return native, alias, of


def type_of_cells(cells: CellColumns, parts: list[ColumnType]) -> ColumnType:
    """Return the type of cells of columns of some types; of one column in bins they are the bins."""
    is_alone = len(parts) == 1 and not parts[0].has_null
    return ColumnType(str(cells), "text", "cells", parts=() if is_alone else tuple(parts))


def type_of_bins(bins: Bins) -> ColumnType:
    """Return the type of the texts of bins."""
    return ColumnType(bins.column, "text", "bins")


def type_of_objects(part: Any) -> ColumnType:
    """Return the type of a column of Python objects in cells."""
    if isinstance(part, Bins):
        return type_of_bins(part)
    has_null = isinstance(part, WithMissing)
    return ColumnType(part_name(part), "anything", "object", has_null=has_null)


def words_of_objects(cells: Iterable[object], part: Any) -> list[str | None]:
    """Return the words of Python objects in cells: of their bins, or their own; None for one that is in none."""
    if not isinstance(part, Bins):
        of = type_of_objects(part)
        return [part_word(cell, of) for cell in cells]
    kind = kind_of_constant(part.edges[0])
    edges = [readable(edge, kind) for edge in part.edges]
    nearest = [nearest_constant(edge) for edge in edges]  # doubles are compared with doubles
    numbers = (readable(cell, kind) for cell in cells)
    return [
        word_of_text(
            part.missing_label
            if number is None
            else _region(number, nearest if isinstance(number, float) else edges, part)
        )
        for number in numbers
    ]


def _region(number: Real, edges: Sequence[Real], bins: Bins) -> str | None:
    """Return the text of the bin of a number; None for one in none."""
    region = bisect_right(edges, number)
    is_last = bins.closed and region == len(edges) and number == edges[-1]
    return bins.regions[region - is_last]


def _in_bins(native: Native, alias: str, bins: Bins) -> tuple[Native, str]:
    """Return the columns with the text of its bin in place of a column, and the name of that."""
    import narwhals.stable.v2 as nw

    of, kind = native.type(alias, bins.column), kind_of_constant(bins.edges[0])
    if not compares_with(of, kind):
        raise InvalidArgument(
            f"{bins} are bins of {kind}s, and cannot hold {of.words}. Give edges of its type"
        )
    name, rows, cell = f"{alias}_bin", native.readable({alias: kind}), nw.col(alias)
    edges = _edges_in_type(bins, of)
    texts = bins.regions[: len(edges) + 1]
    with_texts = native.search_regions(rows, alias, name, edges, texts) if edges else None
    if with_texts is None:
        text = nw.when(~cell.is_null()).then(_by_halves(cell, edges, texts))
        with_texts = rows.with_columns(text.alias(name))
    if bins.missing:
        missing = nw.when(cell.is_null()).then(nw.lit(bins.missing_label))
        with_texts = with_texts.with_columns(missing.otherwise(nw.col(name)).alias(name))
    return native.with_rows(with_texts.drop(alias)), name


def _edges_in_type(bins: Bins, of: ColumnType) -> list[object]:
    """Return for every edge the least cell of a type that is behind it, up to the first edge with none."""
    if of.kind == "nothing":
        return []
    last = len(bins.edges) - 1
    edges = (
        least_behind(edge, of, above=bins.closed and place == last)
        for place, edge in enumerate(bins.edges)
    )
    return [*takewhile(lambda edge: edge is not None, edges)]


def _by_halves(cell: "nw.Expr", edges: Sequence[object], texts: Sequence[str | None]) -> "nw.Expr":
    """Return the text of the region of a cell, by a comparison with the edge in the middle."""
    import narwhals.stable.v2 as nw

    if not edges:
        return nw.lit(texts[0], dtype=nw.String)
    middle = len(edges) // 2
    before = _by_halves(cell, edges[:middle], texts[: middle + 1])
    behind = _by_halves(cell, edges[middle + 1 :], texts[middle + 1 :])
    return nw.when(cell < edges[middle]).then(before).otherwise(behind)
