"""What one record is: a row, or all rows of one person; and the groups that answer one by one.

Rows beyond a bound are left out by a rule that looks at one person at a time, so that whoever comes or goes
changes nothing about the rows of others. Proofs: docs/persons.md, docs/groups.md.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import UnreadableData
from .candidate_table import Classes, Ranking
from .kinds import ColumnType

PERSON, PART, OFFSET = "person", "part", "start"
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
    groups: tuple[Any, ...] = ()
    most_groups: int = 1

    @property
    def bounds_groups(self) -> bool:
        """Whether a person may have rows in more groups than may count."""
        return self.unit is not None and self.by is not None and self.most_groups < len(self.groups)


class Recorded(Protocol):
    """The rows of a table with the columns that a question needs, whatever engine holds them."""

    def tally(self, candidates: Any) -> list[list[int]]:
        """Return, for each group, the records per candidate."""
        ...

    def classes(self, ranking: Ranking) -> Sequence[Classes]:
        """Return, for each group, the candidates of a public table in classes of equal counts."""
        ...

    def parts(self) -> list[tuple[Any, str | None]]:
        """Return, for each group, a table and its column of numbers (None: an array).

        The tables last as long as this object.
        """
        ...


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


def offset(person: str) -> int:
    """Return where the rule begins to count for a person: 32 bits of a hash, the same in every engine."""
    salted = f"{SALT}{person}".encode("utf-8", "surrogatepass")
    return int(hashlib.sha256(salted).hexdigest()[:8], 16)


def chosen(blocks: NDArray[np.int64], offsets: NDArray[np.int64], most: int) -> NDArray[np.bool_]:
    """Return which rows stay, of rows that are sorted by block: `most` of each block, evenly spread.

    Of m rows the one at rank j stays if (j * most + offset) % m < most: all if m <= most, else exactly
    `most` of them, as the sum of `most` steps round a circle of m passes 0 that often.
    """
    n = len(blocks)
    starts = np.flatnonzero(np.append(True, blocks[1:] != blocks[:-1])[:n])
    sizes = np.diff(np.append(starts, n))
    m, j = np.repeat(sizes, sizes), np.arange(n) - np.repeat(starts, sizes)
    return (j * most + offsets % m) % m < most  # type: ignore[no-any-return]


def sums(counted: Any, groups: int, places: dict[Any, int], exact: list[Any]) -> list[list[int]]:
    """Return triples of group, position and number of records as a list for each group.

    `places` has the position of each value, and `exact` the value of each candidate.
    """
    found = {(int(part), int(position)): int(rows) for part, position, rows in counted}
    return [[found.get((g, places.get(value, -1)), 0) for value in exact] for g in range(groups)]
