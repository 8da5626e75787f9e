"""Groups without a public list: drawn by how many records are in them, and answered where they were drawn.

Guarantee and proof: docs/how-to/groups.md.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from ...base.doors import spelling
from ...base.numbers import Number, count, exact, positive
from ...errors import InvalidArgument
from ...mechanisms.private_keys import PrivateKeys
from ...privacy.calibration import read_share
from ...privacy.sensitivity import Neighbors
from ...sampling.bits import SystemBits
from ...sampling.key_probabilities import LONGEST_TABLE
from ...selection.question_sentences import Facts
from ...selection.released_values import ReleasedValue
from ..engines.column import Group
from ..engines.records import PRIVATE_GROUPS, Records, is_private

MOST_DRAWN = 1_000
"""The most groups that are answered, if no smaller number is given: of more those of the largest noisy counts."""

_SHARE = Fraction(1, 2)

Draw = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class PrivateGroups:
    """How groups without a public list are drawn.

    Attributes:
        mechanism: the mechanism that draws them, with its part of the privacy parameters.
        share: its part of epsilon.
        most: the most groups that are answered.
    """

    mechanism: PrivateKeys
    share: Fraction
    most: int = MOST_DRAWN

    @property
    def facts(self) -> Facts:
        """Why a group may be missing: below which count it is named with less than one half."""
        return {"half": self.mechanism.least_even}

    @property
    def arguments(self) -> dict[str, object]:
        """The terms that decide which groups are drawn, in plain values for a digest."""
        mechanism = self.mechanism
        return {
            "groups": PRIVATE_GROUPS,
            "delta": mechanism.delta,
            "groups_share": self.share,
            "most_drawn": self.most,
            **({} if mechanism.minimum_count == 1 else {"minimum_count": mechanism.minimum_count}),
        }

    def with_least(self, least: int) -> "PrivateGroups":
        """Return the same draw, which names no group of fewer records. Proof: private_keys.md, *A least count*."""
        whole = count(least, "minimum_count", most=LONGEST_TABLE)
        mechanism = replace(self.mechanism, minimum_count=whole)
        mechanism.compute_tables()  # which may differ: a least count goes without weights
        return replace(self, mechanism=mechanism)

    def prepare(self, template: Group, ready: Callable[[Group], Draw]) -> Draw:
        """Count the records of all groups, and return the function that draws groups and their answers.

        Before the draw nothing is known but how many groups have each count. After it the groups that were drawn
        are fetched, and they alone are read, in the order of their keys, before any answer is drawn.

        Args:
            template: the column of groups that were not drawn yet.
            ready: reads one group, and returns the function that draws its answer.
        """
        source = template.source
        classes = source.group_keys.classes(self.mechanism.sure, self.mechanism.weights)
        law = self.mechanism.law(classes.sizes, with_counts=True)
        ready(source.drawn_groups([])[0])  # what types refuse is refused before anything is paid

        def draw() -> list[Any]:
            # The counts cost nothing besides: of more groups than are answered they say which. So do sums of
            # weights, and neither is shown.
            keys = [key for key, _ in classes.fetch(law.draw(SystemBits()), self.most)]
            groups = source.drawn_groups(keys) if keys else []
            draws = [ready(group) for group in groups]
            return [[ReleasedValue.of(key) for key in keys], [one() for one in draws]]

        return draw


def read_private_groups(
    arguments: dict[str, Any], records: Records, neighbors: Neighbors
) -> tuple[PrivateGroups, Fraction]:
    """Return how the groups are drawn, and the epsilon that is left for their answers.

    Raises:
        InvalidArgument: if there is no epsilon or no delta to draw them with, or one of them cannot be accepted.
    """
    if arguments["rho"] is not None or arguments["scale"] is not None:
        raise InvalidArgument(
            f"{spelling(groups=PRIVATE_GROUPS)} divides epsilon between the groups and their "
            "answers: give epsilon and delta instead of rho or scale"
        )
    if arguments["delta"] is None:
        raise InvalidArgument(
            f"{spelling(groups=PRIVATE_GROUPS)} needs delta, the probability that a group reveals "
            f"one record, such as {spelling(delta='1e-8')}"
        )
    epsilon, delta = arguments["epsilon"], read_share(arguments["delta"])
    if epsilon is None:
        raise InvalidArgument(
            f"{spelling(groups=PRIVATE_GROUPS)} needs epsilon, for the groups and their answers"
        )
    whole, share = positive(epsilon, "epsilon"), _read_share_of_groups(arguments["groups_share"])
    most = arguments["most_drawn"]
    most = MOST_DRAWN if most is None else count(most, "most_drawn", most=MOST_DRAWN)
    keys = 1 if records.unit is None else records.most_groups
    mechanism = PrivateKeys(whole * share, delta, keys, neighbors)
    mechanism.compute_tables()  # which may be too long, by public numbers alone
    return PrivateGroups(mechanism, share, most), whole * (1 - share)


def _read_share_of_groups(share: Number | None) -> Fraction:
    """Return the part of epsilon that draws the groups.

    Raises:
        InvalidArgument: if it is not between 0 and 1.
    """
    if share is None:
        return _SHARE
    part = exact(share, "groups_share")
    if not 0 < part < 1:
        raise InvalidArgument(f"groups_share must be above 0 and below 1, got {part}")
    return part


def delta_of_method(terms: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the terms of a verb, and the delta of its own method: that of groups that are drawn stays a term."""
    if is_private(terms.get("groups")):
        return terms, None
    return {name: term for name, term in terms.items() if name != "delta"}, terms.get("delta")


def values_of(keys: Sequence[ReleasedValue]) -> list[Any]:
    """Return the groups that were drawn as Python has them."""
    return [key.value for key in keys]
