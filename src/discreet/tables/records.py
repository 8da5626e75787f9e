"""Records: a row, or all rows of a privacy unit; and the groups of a query.

Rows beyond a bound are left out by a rule that looks at one unit at a time, so that a unit that comes or goes
changes nothing about the rows of others. Proofs: docs/how-to/user_level_privacy.md, docs/how-to/groups.md.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import UnreadableData
from .kinds import ColumnType

PERSON, PART, START = "person", "part", "start"
"""What the columns beside CELL are called once they have been opened."""

SALT = "discreet:"
"""The key of the rule, public and fixed: docs/how-to/user_level_privacy.md says why it is no secret."""


@dataclass(frozen=True, slots=True)
class Records:
    """The privacy unit, the contribution bounds and the groups of a query. Public.

    Attributes:
        unit: the column of the privacy unit; None if a row is a record.
        rows: the most rows of one unit that count (per group); for counts of units no bound is
            needed, and None stands for it.
        by: the column of groups, or None.
        groups: the groups that answer.
        most_groups: the most groups in which one unit counts.
    """

    unit: str | None = None
    rows: int | None = None
    by: str | None = None
    groups: Sequence[object] = ()
    most_groups: int = 1

    @property
    def bounds_groups(self) -> bool:
        """Whether a unit may have rows in more groups than may count."""
        return self.unit is not None and self.by is not None and self.most_groups < len(self.groups)


def check_unit(of: ColumnType) -> None:
    """Raise unless values of this type identify privacy units beyond doubt."""
    if of.kind not in ("text", "integer", "uuid", "anything", "nothing"):
        raise UnreadableData(
            f"{of.words}, cannot be the privacy_unit. Accepted: text, integers and UUIDs. Cast what is "
            "neither: decimals to an integer type, and integers that pandas keeps as floats because some "
            "are missing to Int64"
        )


def check_numbers(of: ColumnType) -> None:
    """Raise unless the column holds numbers."""
    if of.kind not in ("integer", "float", "decimal"):
        raise UnreadableData(
            f"{of.words}, is no column of numbers. Accepted: integers, floats and decimals; cast "
            "what pandas keeps as objects"
        )


def offset(person: object) -> int:
    """Return where the rule begins to count for a unit: 32 bits of a hash, the same in every engine.

    Args:
        person: the id, or its text in bytes.
    """
    text = person if isinstance(person, bytes) else str(person).encode("utf-8", "surrogatepass")
    return int(hashlib.sha256(SALT.encode() + text).hexdigest()[:8], 16)
