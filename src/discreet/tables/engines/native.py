"""The contract of an engine: one class with these methods, and a line in `engine`.

All counting, bounding and grouping is written once, in `expressions`, by Narwhals' lazy expressions. Here is the
rest. A new engine passes when it is added to `tests/engines.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeAlias

from ...sampling.vectors import ExactArray
from ..conditions.conditions import ConstantKind
from ..values.key_values import KeyColumn
from ..values.kinds import CELL, CellKey, ColumnType
from ..values.numeric import StandIn, from_series

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

Frame: TypeAlias = "nw.LazyFrame[Any]"
"""A lazy frame of Narwhals, over an engine of any kind."""

UNIT, POSITION, SIZE = "unit", "position", "size"


class Native(Protocol):
    """Some columns of a table, in an engine, called CELL, PERSON and PART as far as they are there.

    Where several columns identify privacy units, `records.unit_aliases` says what they are called, and `rows` have
    PERSON in place of them. `rows` are lazy Narwhals frames. Nothing is read before `keep` and `fetch`.
    """

    @property
    def codes(self) -> Mapping[str, Mapping[CellKey, int]]:
        """For columns of Python objects: the integers that stand for objects in the rows, by `kinds.key`."""
        ...

    @property
    def code_values(self) -> ExactArray | None:
        """The numbers that integers in CELL stand for, where they do."""
        ...

    @property
    def starts(self) -> tuple[str, ...]:
        """START, if the rows come with it."""
        ...

    @property
    def wide(self) -> bool:
        """Whether integers of more than 64 bits can be compared with constants."""
        ...

    @property
    def divides(self) -> bool:
        """Whether a quotient of integers is exact, cut to a whole number."""
        ...

    def type(self, alias: str, column: str) -> ColumnType:
        """Return the type of a column, from the schema alone; `column` is its name in the table."""
        ...

    def numeric(self, stand_in: StandIn | None = None) -> "Native":
        """Return the same with numbers in CELL: fields of files parsed, Python objects numbered in order.

        With a stand-in CELL has times of a clock or truths, for which integers stand: see `numeric`.
        """
        ...

    def rows(self) -> Frame:
        """Return the columns as they are compared: text as bytes, lest a collation make words equal.

        PERSON of several columns is the `ids.unit_bytes` of them, null where one of them is.
        """
        ...

    def readable(self, kinds: "Mapping[str, ConstantKind | None]") -> Frame:
        """Return the columns, some of them as constants of a kind are compared with them: see `filters`.

        Text is bytes, and times are integers, as those of a clock are; fields of files are parsed. Cells that are
        NaN, or cannot be read so, are null. Other columns are as they were. Of no kind: null and NaN are null.
        """
        ...

    def with_rows(self, rows: Frame) -> "Native":
        """Return the same with other rows of the same columns, none of which were compared or parsed."""
        ...

    def present(self, rows: Frame, of: ColumnType) -> Frame:
        """Return the rows in which CELL is neither null nor NaN."""
        ...

    def absent(self, rows: Frame, alias: str, of: ColumnType) -> Frame:
        """Return the rows in which a column is null or NaN."""
        ...

    def join_positions(
        self, rows: Frame, alias: str, of: ColumnType, places: Mapping[object, int]
    ) -> Frame:
        """Return the rows with one of those values in `alias`, and its POSITION besides.

        The values have the column's own type: an engine finds a type of its own for Python's values, and rounds
        or moves them.
        """
        ...

    def tally_places(
        self, of: ColumnType, places: Mapping[object, int], *, has_others: bool
    ) -> tuple[list[int], list[int]] | None:
        """Return positions of values in CELL, and the numbers of rows with them; None where rows are joined first.

        The values have the column's own type, as in `join_positions`. Unless it may have other values, by its
        declaration, rows may be counted by value first.
        """
        ...

    def few_groups(
        self,
        rows: Frame,
        of: ColumnType,
        places: Mapping[object, int],
        unit: ColumnType,
        most: tuple[int, int | None],
    ) -> "Frame | None":
        """Return PART and POSITION of values in CELL, once for a unit: of few groups, and of few values in one.

        None where that is done by ranks of rows, from `units`.

        Args:
            rows: with PERSON, PART and CELL.
            of: the type of CELL.
            places: the values, as in `join_positions`.
            unit: the type of PERSON.
            most: the most groups of a unit, by docs/how-to/groups.md, and the most values in one of them, by
                docs/how-to/user_level_privacy.md, or None for all.
        """
        ...

    def units(self, rows: Frame, of: ColumnType) -> Frame:
        """Return the privacy units of rows: PERSON, of the type `of`, a UNIT that tells them apart, START and SIZE.

        SIZE is the number of rows of a unit. START, where the rule of
        docs/how-to/user_level_privacy.md starts, is `ids.start_of_rule`: the first 32 bits
        of SHA-256 of `ids.SALT` and the id as text.
        """
        ...

    def with_units(self, rows: Frame, of: ColumnType, most: int) -> "Frame | None":
        """Return the rows with UNIT, START and SIZE of their unit; None where they are joined with `units`.

        Of a unit of at most `most` rows all stay, by docs/how-to/user_level_privacy.md, wherever the rule starts,
        so START may be any number there.
        """
        ...

    def keep(self, rows: Frame, *, shared: bool = False) -> Frame:
        """Return the rows after they have been computed, once; they last as long as this object.

        With `shared` they are for other tables of the engine too.
        """
        ...

    def fetch(self, rows: Frame, of: ColumnType) -> list[ExactArray]:
        """Return the columns, none of them rounded: integers, and numbers of the type `of`, none null."""
        ...

    def values(self, of: ColumnType) -> list[object]:
        """Return the distinct values of CELL, which is not private."""
        ...

    # For cells of several columns:

    def search_regions(
        self,
        rows: Frame,
        alias: str,
        name: str,
        edges: Sequence[object],
        texts: Sequence[str | None],
    ) -> "Frame | None":
        """Return the rows with the text of the region of a cell: that after the last edge not above it.

        None where a choice by halves of the edges is quick, as an engine is that compares no cell with all edges.

        Args:
            rows: the columns, as `readable` returns them.
            alias: the column of the cells, of which null is in no region.
            name: the name of the column of texts.
            edges: values of the type of the cells that never fall, of which there is one.
            texts: the texts of the regions, one more than there are edges; null for one without.
        """
        ...

    def with_cells(self, alias: str, parts: "Mapping[str, ColumnType]", of: ColumnType) -> "Native":
        """Return the same with the texts of columns in place of them, put together in a column of the type `of`.

        Every text comes after its length in bytes, as in `key_values.cell_text`; without `of.parts` it is alone. It
        is null where one of them is, unless that is a value, as `has_null` says: then the column `null_name` says
        where it is null. The columns hold keys: see `with_keys`.
        """
        ...

    # For keys that nobody lists:

    def cells(self, rows: Frame) -> list[tuple[Any, ...]]:
        """Return the rows with their values as Python has them."""
        ...

    def with_keys(self, alias: str, of: ColumnType) -> "tuple[Native, KeyColumn]":
        """Return the same with a key or null in a column of the type `of`, and its keys as Python has them.

        Whether a cell is a key, and which, is decided by the cell alone: see `key_values`. Text comes as text, and
        an instant as microseconds from 1970.
        """
        ...

    def with_places(self, rows: Frame, block: str) -> Frame:
        """Return the rows after they have been computed, once, with their places in their block as POSITION.

        Places are from 0, in any order that stays the same.
        """
        ...


class CandidateEngine(Native, Protocol):
    """An engine that also holds candidates too many to list: of the packages in `engine.keeps_candidates`."""

    def in_order(self, rows: Frame) -> Frame:
        """Return CELL with its rank as POSITION, from 0, in an order of values that stays the same.

        Equal values have one rank.
        """
        ...

    def unanswerable(self, rows: Frame, of: ColumnType) -> Frame:
        """Return the rows with a CELL that Python cannot hold."""
        ...

    def fingerprint(self, rows: Frame, of: ColumnType) -> str:
        """Return a digest of CELL that stays the same while its values do."""
        ...

    def seen_by(self, data: "Native", rows: Frame) -> "Frame | None":
        """Return rows that were kept last as the engine of the data sees them; None if it does not."""
        ...


@dataclass(frozen=True)
class FrameEngine:
    """The parts of `Native` that are alike in engines whose columns are one lazy frame.

    Attributes:
        frame: the columns, as the engine has them.
        types: the types that are known otherwise than from the frame.
    """

    frame: Any
    types: Mapping[str, ColumnType] = field(default_factory=dict)
    codes: ClassVar[Mapping[str, Mapping[CellKey, int]]] = {}
    code_values: ClassVar[None] = None
    starts: ClassVar[tuple[str, ...]] = ()
    wide: ClassVar[bool] = False
    divides: ClassVar[bool] = False

    def with_rows(self, rows: Frame) -> Self:
        """Return the same with other rows."""
        return replace(self, frame=rows.to_native())

    def present(self, rows: Frame, of: ColumnType) -> Frame:
        """Return the rows in which CELL is neither null nor NaN."""
        return without_missing(rows, CELL, floating=of.kind == "float")

    def absent(self, rows: Frame, alias: str, of: ColumnType) -> Frame:
        """Return the rows in which a column is null or NaN."""
        return only_null(rows, alias, floating=of.kind == "float")

    def tally_places(
        self, of: ColumnType, places: Mapping[object, int], *, has_others: bool
    ) -> tuple[list[int], list[int]] | None:
        """Return None: rows are joined with the values, and then counted."""
        return None

    def few_groups(
        self,
        rows: Frame,
        of: ColumnType,
        places: Mapping[object, int],
        unit: ColumnType,
        most: tuple[int, int | None],
    ) -> "Frame | None":
        """Return None: groups of a unit are bounded by ranks."""
        return None

    def with_units(self, rows: Frame, of: ColumnType, most: int) -> "Frame | None":
        """Return None: rows are joined with their units."""
        return None

    def fetch(self, rows: Frame, of: ColumnType) -> list[ExactArray]:
        """Return the columns, none of them rounded."""
        frame = rows.collect()
        return [from_series(frame.get_column(name)) for name in frame.columns]


def lazy(native: Any) -> Frame:
    """Return a lazy frame of an engine as one of Narwhals."""
    import narwhals.stable.v2 as nw

    frame: Frame = nw.from_native(native)
    return frame


def null_name(name: str) -> str:
    """Return the name of the column that says where another one has no value."""
    return f"{name}_null"


def names_of_parts(parts: Mapping[str, ColumnType]) -> set[str]:
    """Return the columns that cells are put together from."""
    return {*parts, *(null_name(name) for name, of in parts.items() if of.has_null)}


def only_null(rows: Frame, alias: str, *, floating: bool) -> Frame:
    """Return the rows without a value in a column, for engines with filters that do as they say."""
    import narwhals.stable.v2 as nw

    cell = nw.col(alias)
    return rows.filter(cell.is_null() | cell.is_nan() if floating else cell.is_null())


def without_missing(rows: Frame, alias: str, *, floating: bool) -> Frame:
    """Return the rows with a value in a column, for engines with filters that do as they say."""
    import narwhals.stable.v2 as nw

    rows = rows.filter(~nw.col(alias).is_null())
    return rows.filter(~nw.col(alias).is_nan()) if floating else rows
