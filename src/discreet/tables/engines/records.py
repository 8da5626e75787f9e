"""Records: a row, or all rows of a privacy unit; and the groups of a query.

Rows beyond a bound are left out by a rule that looks at one unit at a time, so that a unit that comes or goes
changes nothing about the rows of others. Proofs: docs/how-to/user_level_privacy.md, docs/how-to/groups.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...base.doors import fix
from ...errors import UnreadableData
from ...privacy.sensitivity import Unit, columns_of_unit
from ...selection.any_column import AnyColumn
from ...selection.bins import CellColumns
from ..conditions.conditions import Condition
from ..values.kinds import ColumnType

PERSON, PART, START = "person", "part", "start"
"""What the columns beside CELL are called once they have been opened."""

SPANS = "spans"
"""What the column is called that says whether a record of a text file spans several lines; it has no name there."""

COMMENT = "comment"
"""What the column is called that says whether a row is a comment of a text file; it has no name there."""

UNREAD = "_unread"
"""How the alias ends of a column of JSON that says whether the cells of another one cannot be read."""


def unit_aliases(unit: Unit | None) -> list[str]:
    """Return the aliases of the columns of a privacy unit once they have been opened: PERSON if it is one."""
    columns = columns_of_unit(unit)
    return [PERSON] if len(columns) == 1 else [f"{PERSON}{i}" for i in range(len(columns))]


def column_aliases(names: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a question by their aliases, those of cells one by one."""
    columns: dict[str, Any] = {}
    for alias, name in names.items():
        if isinstance(name, CellColumns):
            columns |= {f"{alias}{place}": one for place, one in enumerate(name.columns)}
        elif name is not None:
            columns[alias] = name
    return columns


def is_of_unit(alias: str) -> bool:
    """Return whether a column that is called so identifies privacy units, alone or with others."""
    return alias.startswith(PERSON)


PRIVATE_GROUPS = "private"
"""What stands in place of a list of groups that nobody may list."""


def is_private(groups: object) -> bool:
    """Return whether groups are to be drawn, and are not listed."""
    return isinstance(groups, str) and groups == PRIVATE_GROUPS


@dataclass(frozen=True, slots=True)
class Records:
    """The privacy unit, the contribution bounds and the groups of a query. Public.

    Attributes:
        unit: the column of the privacy unit, or several; None if a row is a record.
        rows: the most rows of one unit that count (per group); for counts of units no bound is
            needed, and None stands for it.
        by: the column of groups, or the cells of several, or None.
        groups: the groups that answer.
        most_groups: the most groups in which one unit counts.
        most_candidates: the most candidates for which one unit counts, in every group; None if for all.
        where: the condition of which a row must be, before anything of its unit is bounded; None for all rows.
        draws_groups: whether the groups are drawn, by how many records are in them, and nobody lists them.
    """

    unit: Unit | None = None
    rows: int | None = None
    by: AnyColumn = None
    groups: Sequence[object] = ()
    most_groups: int = 1
    most_candidates: int | None = None
    where: Condition | None = None
    draws_groups: bool = False

    @property
    def public_groups(self) -> Sequence[object]:
        """The groups that are listed; none where they are drawn."""
        return () if self.draws_groups else self.groups

    @property
    def bounds_groups(self) -> bool:
        """Whether a unit may have rows in more listed groups than may count; the draw of groups bounds its own."""
        if self.unit is None or self.by is None or self.draws_groups:
            return False
        return self.most_groups < len(self.groups)


_TIMES = ("date", "timestamp", "timestamp with time zone")


def _cast(kind: str) -> str:
    """Return the way to make numbers of a column of another kind, in words."""
    if kind in _TIMES:
        return f"for dates and times give {fix('a grid of dates')}"
    if kind == "text":
        return f"if text spells numbers, {fix('numbers of a text')}"
    if kind == "boolean":
        return "for the share of True ask mean without bounds, for the most common value mode"
    return "cast what pandas keeps as objects"


def check_numbers(of: ColumnType) -> None:
    """Raise unless the column holds numbers."""
    if of.kind not in ("integer", "float", "decimal"):
        raise UnreadableData(
            f"{of.words}, is not a column of numbers. Accepted: integers, floats and decimals; "
            + _cast(of.kind)
        )
