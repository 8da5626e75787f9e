"""GROUP BY of a statement: columns, WIDTH_BUCKET, RANGE_BUCKET, DATE_TRUNC and CASE, as the cells of a question.

A bucket is answered as its number and a case as its value. Rows of NULL in one of the columns are in no group, but
for COALESCE of it, where they are in the group of its constant.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...base.numbers import count
from ...errors import InvalidArgument, preview
from ...selection.any_column import AnyColumn
from ...selection.bins import MOST_BINS, Bins, WithMissing, part_name, read_columns
from .case_bins import Case, CaseBins, bins_of_cases
from .condition_readers import constant_of_tree
from .conditional_aggregates import read_condition_of
from .sql_trees import (
    Tree,
    column_of_tree,
    has_only,
    number_of_tree,
    signed_number_of_tree,
    sqlglot_package,
    tree_in_words,
)

_SEVERAL = (
    "GROUP BY takes columns, COALESCE(x, 'none'), WIDTH_BUCKET(x, 0, 120, 12), DATE_TRUNC(x, MONTH) and "
    "CASE WHEN x < 18 ..."
)


@dataclass(frozen=True, slots=True)
class GroupPart:
    """A column of groups, or a function of one that has public bins.

    Attributes:
        part: the name of the column, or its bins, or the column with NULL as a value.
        values: the answers for the labels of bins, or for NULL; None for values as they are.
        is_whole: whether the bins are right of whole numbers and dates alone.
        unit: the unit to which dates are truncated, of which the description has the first and the last; or None.
    """

    part: str | Bins | WithMissing
    values: Mapping[Any, object] | None = None
    is_whole: bool = False
    unit: str | None = None

    @property
    def column(self) -> str:
        """The name of the column."""
        return str(part_name(self.part))

    def value(self, group: Any) -> object:
        """Return the answer for the value of a group, or for the label of its bin."""
        return group if self.values is None else self.values.get(group, group)


@dataclass(frozen=True, slots=True)
class GroupClause:
    """The groups of a statement.

    Attributes:
        parts: its columns; none without GROUP BY.
        aliases: names of the select list by which GROUP BY names a column.
    """

    parts: tuple[GroupPart, ...] = ()
    aliases: tuple[str, ...] = ()

    @property
    def by(self) -> AnyColumn:
        """The column, or the cells of several or of bins, as `by` of a verb; None without groups."""
        parts = [one.part for one in self.parts]
        if not parts:
            return None
        return parts[0] if len(parts) == 1 and isinstance(parts[0], str) else read_columns(parts)

    def place(self, tree: Tree) -> int:
        """Return the place of an expression of the select list among the columns.

        Raises:
            InvalidArgument: if it is none of them.
        """
        part = part_of_tree(tree)
        if part not in self.parts:
            raise InvalidArgument(
                f"{preview(tree_in_words(tree))} is neither an aggregate nor a column of GROUP BY. "
                "Rows are not released: write MODE of it, or add it to GROUP BY"
            )
        return self.parts.index(part)

    def values(self, group: Any) -> tuple[object, ...]:
        """Return the answer for a group, column by column."""
        cells = group if len(self.parts) > 1 else (group,)
        return tuple(part.value(cell) for part, cell in zip(self.parts, cells, strict=True))


def read_groups(tree: Tree) -> GroupClause:
    """Return the groups of a statement.

    Raises:
        InvalidArgument: if GROUP BY has something else, or a column twice.
    """
    group = tree.args.get("group")
    if group is None:
        return GroupClause()
    if not has_only(group, "expressions") or not group.expressions:
        raise InvalidArgument(f"{_SEVERAL}. Name each of them")
    names = _by_name(tree.expressions)
    trees, aliases = list[Tree](), list[str]()
    for one in group.expressions:
        expression, alias = _in_full(one, names, tree.expressions)
        trees.append(expression)
        aliases += [] if alias is None else [alias]
    groups = GroupClause(tuple(map(part_of_tree, trees)), tuple(aliases))
    columns = [part.column for part in groups.parts]
    for column in columns:
        if columns.count(column) > 1:
            raise InvalidArgument(
                f"GROUP BY names column {preview(column)} twice: a column is there once, as it is or in bins"
            )
    return groups


def _by_name(items: Sequence[Tree]) -> dict[str, Tree]:
    """Return the expressions of the select list by their names."""
    exp = sqlglot_package().exp
    return {one.alias: one.this for one in items if type(one) is exp.Alias}


def _in_full(
    tree: Tree, names: Mapping[str, Tree], items: Sequence[Tree]
) -> tuple[Tree, str | None]:
    """Return an expression of GROUP BY in place of its name or its number, and the name."""
    exp = sqlglot_package().exp
    if type(tree) is exp.Literal and not tree.is_string:
        place = int(tree.this) if tree.this.isdecimal() else 0
        if not 1 <= place <= len(items):
            raise InvalidArgument(
                f"GROUP BY {tree.this}: the select list has columns 1 to {len(items)}"
            )
        of_place = items[place - 1]
        return (of_place.this if type(of_place) is exp.Alias else of_place), None
    is_name = type(tree) is exp.Column and has_only(tree, "this")
    if is_name and tree.name in names and not _is_column(names[tree.name], tree.name):
        return names[tree.name], tree.name
    return tree, None


def _is_column(tree: Tree, name: str) -> bool:
    """Return whether an expression is the column of a name."""
    return type(tree) is sqlglot_package().exp.Column and bool(tree.name == name)


def is_grouped(tree: Tree) -> bool:
    """Return whether an expression of the select list is a column, or a function by which rows are grouped."""
    exp = sqlglot_package().exp
    while type(tree) is exp.Paren:
        tree = tree.this
    if type(tree) in (exp.Column, exp.Case, exp.If, exp.Coalesce) or truncates(tree):
        return True
    return _bucket_name(tree) is not None


def part_of_tree(tree: Tree) -> GroupPart:
    """Return the column of groups that an expression is.

    Raises:
        InvalidArgument: for other expressions, with what would do.
    """
    exp = sqlglot_package().exp
    if type(tree) is exp.Paren:
        return part_of_tree(tree.this)
    if type(tree) in (exp.Case, exp.If):
        return _of_cases(bins_of_cases(*_read_cases(tree), words=tree_in_words(tree)))
    if type(tree) is exp.Coalesce and len(tree.expressions) == 1:
        column = column_of_tree(tree.this)
        return GroupPart(WithMissing(column), {None: _case_value(tree.expressions[0])})
    bucket = _bucket_name(tree)
    if bucket is not None:
        return _bucket(tree, bucket)
    if truncates(tree):
        column, unit = truncation(tree)
        return GroupPart(column, unit=unit)
    if type(tree) is exp.Tuple:
        raise InvalidArgument(f"{_SEVERAL}. Write them without brackets: GROUP BY city, drink")
    if type(tree) is not exp.Column:
        raise InvalidArgument(
            f"{_SEVERAL}, and each by itself, got {preview(tree_in_words(tree))}. Or have it as a column in the "
            "query of the description"
        )
    return GroupPart(column_of_tree(tree))


def _of_cases(cases: CaseBins) -> GroupPart:
    """Return the column of groups of cases."""
    return GroupPart(cases.bins, cases.values, cases.is_whole)


def _read_cases(tree: Tree) -> tuple[list[Case], object]:
    """Return the cases of CASE or IF with their values, and that of ELSE; None for NULL and without ELSE."""
    exp = sqlglot_package().exp
    some = [tree] if type(tree) is exp.If else tree.args["ifs"]
    if type(tree) is exp.Case and tree.this is not None:
        raise InvalidArgument(
            f"{preview(tree_in_words(tree))}: write CASE WHEN x = 1 THEN ..., with the comparison in WHEN"
        )
    otherwise = tree.args.get("false" if type(tree) is exp.If else "default")
    cases = [
        (read_condition_of(one.this, "CASE WHEN"), _case_value(one.args["true"])) for one in some
    ]
    return cases, None if otherwise is None else _case_value(otherwise)


def _case_value(tree: Tree) -> object:
    """Return the value of a case: a text, a number, or None for NULL."""
    exp = sqlglot_package().exp
    if type(tree) is exp.Null:
        return None
    if type(tree) is exp.Literal and tree.is_string:
        return str(tree.this)
    if type(tree) in (exp.Literal, exp.Neg):
        return signed_number_of_tree(tree, "the value of a case")
    raise InvalidArgument(
        f"THEN, ELSE and COALESCE take a text or a number, got {preview(tree_in_words(tree))}"
    )


_BUCKETS = {
    "WidthBucket": "WIDTH_BUCKET", "WIDTH_BUCKET": "WIDTH_BUCKET",
    "RangeBucket": "RANGE_BUCKET", "RANGE_BUCKET": "RANGE_BUCKET",
}  # fmt: skip


def _bucket_name(tree: Tree) -> str | None:
    """Return the name of a function that numbers buckets, which versions of sqlglot have as one or as any other."""
    exp = sqlglot_package().exp
    name = tree.name.upper() if type(tree) is exp.Anonymous else type(tree).__name__
    return _BUCKETS.get(name)


def _bucket(tree: Tree, name: str) -> GroupPart:
    """Return WIDTH_BUCKET(x, lo, hi, n), or either function of a list of edges, as numbers from 0 to n + 1."""
    exp = sqlglot_package().exp
    parts = (
        tree.expressions
        if type(tree) is exp.Anonymous
        else [one for one in tree.args.values() if one is not None]
    )
    if len(parts) == 2 and type(parts[1]) is exp.Array:
        edges: list[Any] = [constant_of_tree(one) for one in parts[1].expressions]
    elif len(parts) == 4 and name == "WIDTH_BUCKET":
        edges = _equal_edges(*parts[1:])
    else:
        raise InvalidArgument(
            f"{preview(tree_in_words(tree))}: write WIDTH_BUCKET(x, 0, 120, 12), with the ends and how many "
            "buckets, or RANGE_BUCKET(x, [0, 18, 65])"
        )
    bins = Bins(column_of_tree(parts[0]), edges=edges, below=True, above=True)
    return GroupPart(bins, {label: number for number, label in enumerate(bins.labels)})


def _equal_edges(low: Tree, high: Tree, size: Tree) -> list[Fraction]:
    """Return the edges of so many buckets of one width."""
    exp = sqlglot_package().exp
    if exp.Cast in (type(low), type(high)):
        raise InvalidArgument(
            "WIDTH_BUCKET takes numbers. Of dates write RANGE_BUCKET(day, [DATE '2024-01-01', DATE '2025-01-01'])"
        )
    first, last = (signed_number_of_tree(end, "an end of WIDTH_BUCKET") for end in (low, high))
    number = number_of_tree(size, "the number of buckets")
    many = count(
        int(number) if number.denominator == 1 else 0, "the number of buckets", most=MOST_BINS
    )
    if not first < last:
        raise InvalidArgument("WIDTH_BUCKET: the first end must be below the second")
    return [first + (last - first) * place / many for place in range(many + 1)]


_UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY")
_EXAMPLE = "RANGE_BUCKET(x, [DATE '2024-01-01', DATE '2024-02-01'])"
_LONGEST_UNIT = dt.timedelta(days=370)
_LAST_DAY = dt.date.max - _LONGEST_UNIT


def truncates(tree: Tree) -> bool:
    """Return whether an expression truncates dates or times."""
    exp = sqlglot_package().exp
    return type(tree) in (exp.DateTrunc, exp.DatetimeTrunc, exp.TimestampTrunc)


def truncation(tree: Tree) -> tuple[str, str]:
    """Return the column that an expression truncates, and the unit: one of year, quarter, month, week and day.

    Raises:
        InvalidArgument: if it has a time zone or another unit, or weeks that begin on Sundays.
    """
    is_quoted = type(tree) is sqlglot_package().exp.DateTrunc
    words, unit = tree_in_words(tree), str(tree.args["unit"].name).upper()
    if unit == "WEEK" and not is_quoted:
        raise InvalidArgument(
            f"{words}: WEEK begins on Sundays here. Write ISOWEEK, which begins on Mondays"
        )
    unit = "WEEK" if unit == "ISOWEEK" and not is_quoted else unit
    if unit not in _UNITS:
        raise InvalidArgument(
            f"{words}: there are YEAR, QUARTER, MONTH, ISOWEEK and DAY, such as DATE_TRUNC(x, MONTH). For others "
            f"write {_EXAMPLE}"
        )
    if not has_only(tree, "this", "unit"):
        raise InvalidArgument(f"{words}: leave out the time zone, or write {_EXAMPLE}")
    return column_of_tree(tree.this), unit.lower()


def bins_of_dates(
    column: str, ends: tuple[Any, Any], unit: str
) -> tuple[Bins, Mapping[str, object]]:
    """Return the bins of a column from the unit of its least to that of its largest date, and their first moments.

    Args:
        column: the name of the column.
        ends: its declared minimum and maximum: dates, times without an offset, or None.
        unit: the unit.

    Raises:
        InvalidArgument: if the ends are not declared, have an offset or are too far apart.
    """
    low, high = ends
    what = f"DATE_TRUNC({column}, {unit.upper()})"
    if low is None or high is None:
        raise InvalidArgument(
            f"{what}: the description has no minimum and maximum of the column. Declare both, or write {_EXAMPLE}"
        )
    if getattr(low, "tzinfo", None) is not None:
        raise InvalidArgument(
            f"{what}: the column holds times with an offset, and a {unit} begins at another instant in every time "
            "zone. Write RANGE_BUCKET(x, [TIMESTAMPTZ '2024-01-01 00:00:00+01:00'])"
        )
    last, starts = _day(high), [_start(_day(low), unit)]
    while starts[-1] <= min(last, _LAST_DAY) and len(starts) <= MOST_BINS:
        starts.append(_start(starts[-1] + dt.timedelta(days=_DAYS_TO_NEXT[unit]), unit))
    if starts[-1] <= last:
        raise InvalidArgument(
            f"{what}: between the declared ends are more than {MOST_BINS:,} groups, or the last days of the "
            f"calendar. Declare nearer ends, take a longer unit, or write {_EXAMPLE}"
        )
    edges = [_as(low, start) for start in starts]
    bins = Bins(column, edges=edges)
    return bins, dict(zip(bins.labels, edges, strict=False))


_DAYS_TO_NEXT = {"year": 366, "quarter": 92, "month": 31, "week": 7, "day": 1}
"""So many days after the first day of a unit lies the next one, and never the one behind it."""

_MONTHS = {"year": 12, "quarter": 3, "month": 1}
"""So many months the longer units have."""


def _start(day: dt.date, unit: str) -> dt.date:
    """Return the first day of the unit in which a day is."""
    if unit in _MONTHS:
        return day.replace(month=day.month - (day.month - 1) % _MONTHS[unit], day=1)
    return day - dt.timedelta(days=day.weekday() if unit == "week" else 0)


def _day(moment: Any) -> dt.date:
    """Return the day of a moment."""
    return moment.date() if isinstance(moment, dt.datetime) else moment


def _as(end: Any, day: dt.date) -> dt.date:
    """Return a day as the column has it: as a date, or as the time at midnight."""
    return dt.datetime.combine(day, dt.time()) if isinstance(end, dt.datetime) else day
