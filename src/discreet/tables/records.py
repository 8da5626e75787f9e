"""What one record is: a row, or all rows of one person; and the groups that answer one by one.

Rows beyond a bound are left out by a rule that looks at one person at a time, so that whoever comes or goes
changes nothing about the rows of others. Proofs: docs/persons.md, docs/groups.md.
"""

import hashlib
from dataclasses import dataclass

from ..errors import UnreadableData
from .kinds import ColumnType

PERSON, PART, START = "person", "part", "start"
"""What the columns beside CELL are called once they have been opened."""

SALT = "discreet:"
"""The key of the rule, public and fixed: docs/persons.md says why it is no secret."""


@dataclass(frozen=True, slots=True)
class Records:
    """What one record is, and which groups answer. Public.

    Attributes:
        unit: the column that says whose a row is; None if each row is a record of its own.
        rows: the most rows of one person that count (in each group); for counts of persons no bound is
            needed, and None stands for it.
        by: the column of groups, or None.
        groups: the groups that answer.
        most_groups: the most groups in which one person counts.
    """

    unit: str | None = None
    rows: int | None = None
    by: str | None = None
    groups: tuple[object, ...] = ()
    most_groups: int = 1

    @property
    def bounds_groups(self) -> bool:
        """Whether a person may have rows in more groups than may count."""
        return self.unit is not None and self.by is not None and self.most_groups < len(self.groups)


def check_unit(of: ColumnType) -> None:
    """Raise unless values of this type tell persons apart beyond doubt."""
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
    """Return where the rule begins to count for a person: 32 bits of a hash, the same in every engine.

    Args:
        person: the id, or its text in bytes.
    """
    text = person if isinstance(person, bytes) else str(person).encode("utf-8", "surrogatepass")
    return int(hashlib.sha256(SALT.encode() + text).hexdigest()[:8], 16)
