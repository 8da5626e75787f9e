"""The sensitivity of scores under a neighbouring relation. For proofs, see docs/explanation/privacy.md."""

import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Literal, get_args

from ..base.arguments import choice
from ..base.numbers import flag, positive_up
from ..errors import InvalidArgument

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
