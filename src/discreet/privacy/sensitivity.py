"""The neighbouring relation, the privacy unit, and the sensitivity of scores.

For proofs, see docs/explanation/privacy.md.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Literal, TypeAlias, get_args

from ..base.arguments import choice, exact_text
from ..base.messages import Message
from ..base.numbers import flag, positive_up
from ..errors import InvalidArgument, preview

Neighbors = Literal["add_remove", "replace_one"]
"""The neighbouring relation: add or remove one record, or replace one record."""

_RELATIONS = get_args(Neighbors)


@dataclass(frozen=True, slots=True)
class ReplacedGroups:
    """How the sums of groups move where a record is replaced.

    Attributes:
        groups: in how many groups it is before, and after.
        common: in how many of these it is both times, at least.
        steps: the most that a sum moves where it comes or goes.
        shift: the most that one moves where it is there both times.
    """

    groups: int
    common: int
    steps: int
    shift: int


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How scores change between neighbours.

    Attributes:
        spread: largest change of a score difference, the only number that the guarantee depends on.
        neighbors: the relation under which it holds.
        change: largest change of one score, or None if only the spread is known.
        monotonic: whether all scores move in the same direction between any two neighbours.
        balanced: whether eta * change bounds every log-ratio of the exponential mechanism, so that the
            spread does not matter. This is the case if the sum of exp(eta * score) over the candidates is the same
            for all datasets.
        answers: the number of candidates, if one of them scores `change` and all others 0, or all score 0. None for
            other scores.
        replacement: for sums of groups under replacement of a record, the sums that move. Otherwise None.
    """

    spread: Fraction
    neighbors: Neighbors
    change: Fraction | None = None
    monotonic: bool = False
    balanced: bool = False
    answers: int | None = None
    replacement: ReplacedGroups | None = None

    def as_dict(self) -> dict[str, object]:
        """Return its attributes by their names, without the candidates, which are described beside it."""
        groups = {} if self.replacement is None else {"replacement": asdict(self.replacement)}
        names = (name for name in self.__slots__ if name not in ("answers", "replacement"))
        return {name: getattr(self, name) for name in names} | groups

    def rounded(self, granularity: Fraction) -> "Sensitivity":
        """Return the sensitivity of scores / granularity after rounding to integers.

        The rounding may be random if it is the same for both neighbours. See
        docs/reference/mechanisms/exponential.md.
        """
        if self.change is None:
            # Changes lie in some [t - spread, t]; rounded, in [floor(t - spread), ceil(t)].
            return Sensitivity(Fraction(math.ceil(self.spread / granularity) + 1), self.neighbors)
        return sensitivity_of(
            math.ceil(self.change / granularity), self.neighbors, monotonic=self.monotonic
        )


def sensitivity_of(change: object, neighbors: str, *, monotonic: bool = False) -> Sensitivity:
    """Return the sensitivity of scores that change by at most `change`. The spread is at most 2 * change."""
    exact = positive_up(change, "sensitivity")
    # Coq: Range.spread_of_monotonic, Range.spread_of_sensitivity
    spread = exact if monotonic else 2 * exact
    return Sensitivity(spread, read_neighbors(neighbors), exact, monotonic)


def read_sensitivity(
    sensitivity: object, spread: object, monotonic: bool, neighbors: str
) -> Sensitivity:
    """Return the declared sensitivity, given as either `sensitivity` (and perhaps `monotonic`) or `spread`.

    Raises:
        InvalidArgument: unless exactly one of the two is given, as a finite number above zero.
    """
    neighbors = read_neighbors(neighbors)
    if flag(monotonic, "monotonic") and neighbors == "replace_one":
        raise InvalidArgument(
            "monotonic speaks of records that come or go. Under replace_one give spread instead"
        )
    if (sensitivity is None) == (spread is None):
        raise InvalidArgument(
            "give either sensitivity (the most one score can change between neighbours) or spread "
            "(the most a difference of two scores can change)"
        )
    if spread is None:
        return sensitivity_of(sensitivity, neighbors, monotonic=monotonic)
    if monotonic:
        raise InvalidArgument(
            "monotonic goes with sensitivity. A spread already says what it would add"
        )
    return Sensitivity(positive_up(spread, "spread"), neighbors)


def read_neighbors(name: str) -> Neighbors:
    """Return the name of a neighbouring relation if it is one."""
    return choice(name, "neighbors", _RELATIONS)  # type: ignore[return-value]


Unit: TypeAlias = str | tuple[str, ...]
"""A column, whose rows of one value are one unit; or several, sorted, whose rows of equal values in all are."""

UnitNames: TypeAlias = str | Sequence[str]
"""A privacy unit as a caller names it: a column, or several in any order."""

_BETWEEN = "\x1f"
"""What separates the columns of a unit where it is stored as one text; no name of a column holds it."""


def read_unit(unit: object) -> Unit | None:
    """Return the column of the privacy unit, or its columns in alphabetical order. None if every row is a record.

    Raises:
        InvalidArgument: if it is not the name of a column, or distinct names of several.
    """
    if unit is None:
        return None
    names = [exact_text(name) for name in (unit if isinstance(unit, list | tuple) else [unit])]
    columns = sorted(name for name in names if name and _BETWEEN not in name)
    if columns and len({*columns}) == len(names):
        return columns[0] if len(columns) == 1 else tuple(columns)
    raise InvalidArgument(
        "privacy_unit must be the name of a column, or a list of distinct names, got "
        f"{preview(unit)}"
    )


def columns_of_unit(unit: Unit | None) -> tuple[str, ...]:
    """Return the columns of a privacy unit, or none if every row is a record."""
    if unit is None:
        return ()
    return (unit,) if isinstance(unit, str) else unit


def unit_in_words(unit: Unit) -> str:
    """Return a privacy unit as a noun: its column, or its columns in parentheses, as in (household, person)."""
    if isinstance(unit, str):
        return unit
    import json  # for units of several columns alone: it takes long to import

    # In quotes, where a comma in a name would make two names of it.
    names = (name if name.isidentifier() else json.dumps(name, ensure_ascii=False) for name in unit)
    return f"({', '.join(names)})"


def one_record(unit: Unit | None) -> Message:
    """Return in words the record that a guarantee about this privacy unit protects."""
    if unit is None:
        return Message("one row")
    return Message("all rows of one {unit}", unit=unit_in_words(unit))


def plain_unit(unit: Unit | None) -> str | list[str] | None:
    """Return a privacy unit as JSON has it, a text or a list of texts; `read_unit` reads both."""
    return [*unit] if isinstance(unit, tuple) else unit


def stored_unit(unit: Unit | None) -> str:
    """Return a privacy unit as one text, which tells it from all others; '' if every row is a record."""
    return _BETWEEN.join(columns_of_unit(unit))


def read_stored_unit(text: str) -> Unit | None:
    """Return the privacy unit that `stored_unit` wrote."""
    return read_unit(text.split(_BETWEEN)) if text else None
