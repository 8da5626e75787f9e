"""CellColumns: the tuples of several columns, and the bins of a column by public edges.

A record has at most one cell, which is a function of its own row. So groups, keys and counts of several columns
move as those of one column do. For the proof, see docs/explanation/cells.md.
"""

import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product
from typing import Any, TypeAlias

from ..base.arguments import column_name, exact_text, read_sequence
from ..base.doors import spelling
from ..base.error_boundary import error_boundaries
from ..base.numbers import exact, flag
from ..errors import InvalidArgument, InvalidCandidates, preview
from .candidates import Grid, Labels, is_missing, plain_text
from .date_grid import DateGrid, as_moment, clock_of, microseconds

MOST_BINS = 1_000
"""The most bins of a column: its engine has a text for each of them in its query."""

MOST_CELLS = 1_000_000
"""The most cells of a product of columns."""

BIN_OPTIONS = ("closed", "below", "above", "missing")
"""The arguments of `Bins` that are yes or no."""

MOST_TOGETHER = 10
"""The most columns of a cell."""

Edge: TypeAlias = "Fraction | dt.date | dt.datetime"


@error_boundaries
@dataclass(frozen=True, init=False, repr=False)
class Bins:
    """The bins of a column of numbers or dates, from one public edge up to the next, which is not included.

    Answers name a bin by a text such as "[10, 20)". Comparisons with the edges are exact. Records outside all bins
    are left out, unless you ask for those below, above or missing.

    Args:
        column: the name of the column.
        lo: the first edge: a number, a date or a time, or the text of one, such as "2020-01-01".
        hi: the last edge, a whole number of steps above the first.
        step: the width of a bin: a number, or for dates a text such as "1 month".
        edges: the edges in rising order, used in place of lo, hi and step.
        closed: whether the last bin includes the last edge, False by default.
        below: whether records below the first edge get a cell, such as "below 0".
        above: whether records above the bins get a cell, such as "120 or above".
        missing: whether records without a number or a date get a cell, "missing".
        labels: texts for all these cells in place of their edges, in this order: below, the bins, above, missing.
            Cells with the same text become one cell.
    """

    column: str
    edges: tuple[Edge, ...]
    closed: bool
    below: bool
    above: bool
    missing: bool
    names: tuple[str, ...] | None

    def __init__(  # noqa: PLR0913  # three numbers or a list, and the cells outside, each by its name
        self,
        column: str,
        lo: object = None,
        hi: object = None,
        step: object = None,
        *,
        edges: Iterable[object] | None = None,
        closed: bool = False,
        below: bool = False,
        above: bool = False,
        missing: bool = False,
        labels: Iterable[str] | None = None,
    ) -> None:
        """Read the edges, exactly.

        Raises:
            InvalidCandidates: if they do not rise, are of several kinds, or are too few or too many; or if the
                labels are no texts, or not as many as the cells.
        """
        if (edges is None) == (lo is None and hi is None and step is None):
            raise InvalidCandidates(
                f"Bins need edges: give the first, the last and the width, as in Bins({column!r}, 0, 120, 10), "
                "or all of them as edges=[0, 18, 65, 120]"
            )
        some = _edges_of_steps(lo, hi, step) if edges is None else _in_order(edges, "edges")
        options = {"closed": closed, "below": below, "above": above, "missing": missing}
        members: dict[str, Any] = {"column": column_name(column), "names": None}
        members |= {name: flag(option, name) for name, option in options.items()}
        is_open = (members["below"] or members["above"]) and not members["closed"]
        members["edges"] = _read_edges(some, 1 if is_open else 2)
        for name, member in members.items():
            object.__setattr__(self, name, member)
        if labels is not None:
            number = sum(text is not None for text in self._texts_of_edges)
            object.__setattr__(self, "names", _read_labels(labels, number))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The cells as they are answered, in order."""
        return tuple(dict.fromkeys(label for label in self._texts if label is not None))

    @cached_property
    def regions(self) -> tuple[str | None, ...]:
        """The cell below the first edge, the bins, and the one above them; None for one that is not asked for."""
        return self._texts[:-1]

    @property
    def missing_label(self) -> str | None:
        """The cell of records without a number or a date. None if you did not ask for it."""
        return self._texts[-1]

    @cached_property
    def _texts(self) -> tuple[str | None, ...]:
        """The regions and the cell of missing ones, by their labels or else by their edges."""
        if self.names is None:
            return self._texts_of_edges
        names = iter(self.names)
        return tuple(None if cell is None else next(names) for cell in self._texts_of_edges)

    @property
    def _texts_of_edges(self) -> tuple[str | None, ...]:
        """The regions and the cell of missing ones by their edges, whether they have labels or not."""
        texts = [edge_text(edge) for edge in self.edges]
        bins = [f"[{low}, {high})" for low, high in pairwise(texts)]
        if self.closed:
            bins[-1] = f"{bins[-1][:-1]}]"
        below = f"below {texts[0]}" if self.below else None
        over = f"above {texts[-1]}" if self.closed else f"{texts[-1]} or above"
        return (below, *bins, over if self.above else None, "missing" if self.missing else None)

    @property
    def description(self) -> dict[str, object]:
        """The bins in plain values, for a digest."""
        options = {name: True for name in BIN_OPTIONS if getattr(self, name)}
        labels = {} if self.names is None else {"labels": list(self.names)}
        return {"column": self.column, "edges": list(self.edges), **options, **labels}

    def __str__(self) -> str:
        texts = [edge_text(edge) for edge in self.edges]
        if len(texts) == 1:
            return f"{self.column} […, {texts[0]}, …)"
        few = texts if len(texts) < 4 else [*texts[:2], "…", texts[-1]]
        return f"{self.column} [{', '.join(few)}{']' if self.closed else ')'}"

    def __repr__(self) -> str:
        return f"Bins({self})"


def _edges_of_steps(lo: object, hi: object, step: object) -> Sequence[object]:
    """Return the edges from the first to the last, so far apart."""
    if lo is None or hi is None or step is None:
        raise InvalidCandidates(
            "Bins need the first edge, the last and the width, such as 0, 120, 10, or edges=[0, 18, 65, 120]"
        )
    grid: Any = DateGrid(lo, hi, step) if as_moment(lo) is not None else Grid(lo, hi, step)  # type: ignore[call-overload]
    if grid.size > MOST_BINS + 1:
        raise InvalidCandidates(
            f"there are {grid.size - 1:,} bins, and at most {MOST_BINS:,} may be asked for"
        )
    points = [grid[place] for place in range(grid.size)]
    end = as_moment(hi)
    if end is not None and microseconds(points[-1]) != microseconds(end):
        raise InvalidCandidates(
            f"the last edge {preview(hi)} is not a whole number of steps after {preview(lo)}"
        )
    return points


def _in_order(choices: Iterable[object], name: str) -> Sequence[object]:
    """Return the values of a list. A set has no order, and a mapping would be read as its keys."""
    if isinstance(choices, Set | Mapping):
        raise InvalidCandidates(f"{name} must be a list, got a {type(choices).__name__}")
    return read_sequence(choices, name)


def _read_labels(labels: Iterable[object], size: int) -> tuple[str, ...]:
    """Return the labels of so many cells."""
    texts = tuple(map(exact_text, _in_order(labels, "labels")))
    if len(texts) != size or None in texts:
        raise InvalidCandidates(
            f"labels must be texts, one for each of the {size:,} cells: below, the bins, above and missing, as far "
            f"as they are asked for. There are {len(texts):,}"
        )
    return tuple(text for text in texts if text is not None)


def _read_edges(edges: Sequence[object], least: int) -> tuple[Edge, ...]:
    """Return the edges: numbers, or dates, or times, in rising order."""
    if not least <= len(edges) <= MOST_BINS + 1:
        raise InvalidCandidates(
            f"Bins need from {least} to {MOST_BINS + 1:,} edges, got {len(edges):,}. One goes with below or above"
        )
    moments = [as_moment(edge) for edge in edges]
    one: tuple[Edge, ...] = tuple(moment for moment in moments if moment is not None)
    if len(one) < len(edges):
        one = tuple(exact(edge, "an edge") for edge in edges)
    kinds = {(type(edge), clock_of(edge) if isinstance(edge, dt.date) else None) for edge in one}
    if len(kinds) > 1:
        raise InvalidCandidates(
            "edges must be of one kind: all dates, or all times with an offset, or without one"
        )
    places = [microseconds(edge) if isinstance(edge, dt.date) else edge for edge in one]
    for (low, high), pair in zip(pairwise(places), pairwise(one), strict=True):
        if not low < high:
            raise InvalidCandidates(
                f"edges must rise, but {edge_text(pair[1])} comes after {edge_text(pair[0])}"
            )
    return one


def edge_text(edge: Edge) -> str:
    """Return an edge as it is answered."""
    return edge.isoformat() if isinstance(edge, dt.date) else plain_text(edge)


@error_boundaries
@dataclass(frozen=True, repr=False)
class WithMissing:
    """A column with None as one of its values, for null, NaN and similar cells.

    Where values are listed, None in the list says the same.

    Args:
        column: the name of the column.
    """

    column: str

    def __post_init__(self) -> None:
        """Read the name.

        Raises:
            InvalidArgument: if it is none.
        """
        object.__setattr__(self, "column", column_name(self.column))

    @property
    def description(self) -> dict[str, object]:
        """The column in plain values, for a digest."""
        return {"column": self.column, "missing": True}

    def __str__(self) -> str:
        return f"{self.column} (or null)"

    def __repr__(self) -> str:
        return f"WithMissing({self.column!r})"


def part_name(part: Any) -> Any:
    """Return the name of a column of a cell."""
    return part.column if isinstance(part, Bins | WithMissing) else part


@dataclass(frozen=True, slots=True)
class CellColumns:
    """The columns of a cell: several, or bins of one.

    Attributes:
        parts: the columns: by name, in bins, or with no value as a value.
    """

    parts: tuple[Any, ...]

    @property
    def columns(self) -> list[Any]:
        """The names of the columns."""
        return [part_name(part) for part in self.parts]

    @property
    def plain(self) -> list[Any]:
        """The names of the columns that are not in bins."""
        return [part_name(part) for part in self.parts if not isinstance(part, Bins)]

    @property
    def description(self) -> list[object]:
        """The columns in plain values, for a digest."""
        return [getattr(part, "description", part) for part in self.parts]

    def for_labels(self, labels: Sequence[object]) -> "CellColumns":
        """Return the columns with no value as a value, where None is among the values of one."""
        if not isinstance(labels, CellLabels):
            return self
        parts = zip(self.parts, labels.parts, strict=True)
        return CellColumns(
            tuple(
                WithMissing(part) if isinstance(part, str) and None in own.description else part
                for part, own in parts
            )
        )

    def __str__(self) -> str:
        return " × ".join(map(str, self.parts))


def is_of_cells(column: object) -> bool:
    """Return whether an argument names several columns, or bins of one."""
    return isinstance(column, list | tuple | Bins | WithMissing | CellColumns)


def read_columns(column: object, name: str = "column") -> Any:
    """Return the name of a column, the cells of several or of bins, or None.

    Raises:
        InvalidArgument: if it is none of them, or a column is there twice.
    """
    if column is None:
        return None
    if isinstance(column, CellColumns):
        return column
    kinds = Bins | WithMissing
    if not isinstance(column, kinds | list | tuple):
        return column_name(column, name)
    several = list(column) if isinstance(column, list | tuple) else [column]
    parts = tuple(part if isinstance(part, kinds) else column_name(part, name) for part in several)
    cells = CellColumns(parts)
    is_one = len(parts) == 1 and not isinstance(parts[0], kinds)
    twice = next((one for one in cells.columns if cells.columns.count(one) > 1), None)
    if is_one or twice is not None or not 1 <= len(parts) <= MOST_TOGETHER:
        problem = (
            f"got {preview(column)}" if twice is None else f"and {preview(twice)} is there twice"
        )
        raise InvalidArgument(
            f"{name} must be one column, or a list of 2 to {MOST_TOGETHER} columns that differ, {problem}"
        )
    return cells


def plain_column(column: Any) -> Any:
    """Return a column or cells in plain values, for a digest."""
    return column.description if isinstance(column, CellColumns) else column


def column_facts(column: Any, name: str = "column") -> dict[str, object]:
    """Return a column or cells as facts of a question: in words, and of cells the names of the columns."""
    names = {f"{name}_names": tuple(column.columns)} if isinstance(column, CellColumns) else {}
    return {name: column_words(column), **names}


def column_words(column: Any) -> Any:
    """Return a column or cells as a question names them."""
    return str(column) if isinstance(column, CellColumns) else column


class CellLabels(Labels):
    """A list of distinct cells: tuples of values, one for a column.

    Args:
        cells: the tuples; of one column its values.
        parts: the distinct values of the columns.
        places: the places of the values of a tuple in these.
    """

    __slots__ = ("parts", "places")

    def __init__(
        self, cells: Sequence[object], parts: Sequence[Labels], places: Sequence[tuple[int, ...]]
    ) -> None:
        """Keep the cells."""
        super().__init__(cells, null=True)
        self.parts, self.places = tuple(parts), places

    @property
    def have_null(self) -> bool:
        """Whether no value is one of the values of a column."""
        return any(None in part.description for part in self.parts)


def read_cell_labels(cells: CellColumns, candidates: Any, name: str = "candidates") -> Labels:
    """Return the cells that may be answers.

    Args:
        cells: the columns.
        candidates: a mapping from the columns without bins to their values, of which all tuples are meant; or a
            list of tuples; None if all columns are in bins.
        name: the name of the argument.

    Raises:
        InvalidCandidates: if they are neither, or there are more than a million.
    """
    if isinstance(candidates, CellLabels):
        return candidates
    if candidates is None and not cells.plain:
        candidates = {}
    if candidates is None:
        values = {column: ["A", "B"] for column in cells.plain}
        raise InvalidCandidates(
            f"{name} are missing: give the values that each column may have, as {spelling(**{name: values})}. Take "
            "them from what you know and not from the data"
        )
    if isinstance(candidates, Mapping):
        return _product_labels(cells, candidates, name)
    if len(cells.parts) > 1:
        return _listed_labels(cells, candidates, name)
    part = cells.parts[0]
    if isinstance(part, WithMissing):
        return _labels_of_one(_values_of_part(part, candidates, name))
    labels = Labels.read(candidates, name)
    _check_bins(part, labels, name)
    return labels


def _labels_of_one(values: Labels) -> CellLabels:
    """Return the values of one column as cells."""
    return CellLabels(values, [values], [(place,) for place in range(values.size)])


def _product_labels(cells: CellColumns, candidates: Mapping[Any, Any], name: str) -> Labels:
    """Return all tuples of the values of columns."""
    if {*candidates} != {*cells.plain}:
        raise InvalidCandidates(
            f"{name} must have the values of {', '.join(map(repr, cells.plain)) or 'no column'}, and of no "
            f"other, got {preview([*candidates])}"
        )
    parts = [
        Labels(part.labels)
        if isinstance(part, Bins)
        else _values_of_part(part, candidates[part_name(part)], name)
        for part in cells.parts
    ]
    sizes = [part.size for part in parts]
    if math.prod(sizes) > MOST_CELLS:
        raise InvalidCandidates(
            f"{name} have {' × '.join(f'{size:,}' for size in sizes)} = {math.prod(sizes):,} cells, and at most "
            f"{MOST_CELLS:,} are answered. Take fewer values, wider bins, or list the cells as tuples"
        )
    if len(parts) == 1:
        return parts[0] if cells.plain == [] else _labels_of_one(parts[0])
    return CellLabels([*product(*parts)], parts, [*product(*map(range, sizes))])


def _values_of_part(part: object, candidates: Any, name: str) -> Labels:
    """Return the values of a column of a cell, with None where no value is one of them."""
    labels = Labels.read(candidates, name, null=True)
    if not isinstance(part, WithMissing) or None in labels.description:
        return labels
    return Labels(
        [*labels, None],
        is_declared=labels.is_declared,
        are_all=labels.are_all,
        null=True,
        argument=name,
    )


def _listed_labels(cells: CellColumns, candidates: Any, name: str) -> CellLabels:
    """Return cells that were listed as tuples."""
    tuples = [
        tuple(None if is_missing(cell) else cell for cell in one)
        if isinstance(one, list | tuple)
        else one
        for one in read_sequence(candidates, name)
    ]
    for one in tuples:
        if not isinstance(one, tuple) or len(one) != len(cells.parts):
            raise InvalidCandidates(
                f"{name} of {cells} must be tuples of {len(cells.parts)} values, got {preview(one)}"
            )
    parts, columns = list[Labels](), list[list[int]]()
    for place, part in enumerate(cells.parts):
        first: dict[object, int] = {}
        column = [one[place] for one in tuples]
        columns.append([first.setdefault(_told_apart(one), len(first)) for one in column])
        distinct = dict(zip(columns[-1], column, strict=True))
        in_order = [distinct[number] for number in range(len(first))]
        parts.append(Labels(in_order, null=True, argument=name))
        if isinstance(part, Bins):
            _check_bins(part, parts[-1], name)
    return CellLabels(tuples, parts, [*zip(*columns, strict=True)])


def _told_apart(one: object) -> object:
    """Return a value with its kind: for Python, True equals 1."""
    return isinstance(one, bool), one


def _check_bins(bins: Bins, labels: Labels, name: str) -> None:
    """Raise if a candidate is none of the bins."""
    for one in labels:
        if one not in bins.labels:
            raise InvalidCandidates(
                f"{name}: {preview(one)} is none of the cells of {bins}, which are {preview(list(bins.labels))}"
            )
