"""bounds: between which two numbers nearly all records are, without known bounds."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ...base.numbers import Number, exact
from ...errors import InvalidCandidates, InvalidNumber, preview
from ...mechanisms.contract import Calibrated, PrivacyParameter, need_parameter, read_parameter
from ...mechanisms.first_above import FirstThreshold
from ...privacy.guarantees import Guarantee
from ...privacy.sensitivity import Neighbors
from ...sampling.bits import Bits, SystemBits
from ...sampling.vectors import Integers
from ...selection.decimals import Decimals, PointCells, RoundNumbers
from ...selection.payment import is_quoted
from ...selection.question import Query
from ...selection.releases import Release
from ...selection.terms import RecordTerms, check_names
from ..engines.column import Numeric
from .data_terms import takes_data_terms_without
from .record_needs import records_of_ends, say_needs_of_ends
from .units import UnitQuery, column_or_none, columns_of, naming, read_unit_query

_OWN_TERMS = ("epsilon", "neighbors", "privacy_unit", "ledger", "request")
"""The terms of one group's answer that there are here."""

_ENDS = 2

_FINEST = 10**18
"""The largest denominator of q. Times the number of records, it is that of the leads, which must be far below the
largest float: otherwise the draw would fail for some numbers of records and not for others."""


Thresholds = Decimals | RoundNumbers
"""Rising numbers, the same for all data."""


@dataclass(frozen=True, slots=True, repr=False)
class ThresholdCounts:
    """The numbers of records below and above all thresholds, and that of all records. Private."""

    below: Integers
    above: Integers
    total: int

    @classmethod
    def of(cls, column: Numeric, thresholds: Thresholds) -> "ThresholdCounts":
        """Return the counts of the numbers in a column."""
        cells = thresholds.cells
        up_to = np.cumsum(_count_cells(column, cells))
        # Cell 2 * i holds what is between threshold i - 1 and threshold i, cell 2 * i + 1 what equals the latter.
        places = 2 * thresholds.places
        total = int(up_to[-1])
        return cls(up_to[places], total - up_to[places + 1], total)


def _count_cells(column: Numeric, cells: PointCells) -> NDArray[np.int64]:
    """Return how many records are in the cells."""
    source = column.on_grid(cells)
    if source is not None:
        indices, counts = source.occupancy(cells.nearest)
    else:
        values, multiplicities = column.numbers()
        indices = cells.nearest(values)
        if multiplicities is None:
            return np.bincount(indices.astype(np.int64, copy=False), minlength=cells.size)
        counts = multiplicities
    sums: NDArray[np.int64] = np.zeros(cells.size, dtype=counts.dtype)
    np.add.at(sums, indices.astype(np.int64, copy=False), counts)
    return sums


@dataclass(frozen=True)
class BothEnds:
    """The two ends of the numbers in a column, by first above: the high end, and the low one as its mirror image.

    Args:
        thresholds: the numbers among which the ends are.
        q: the share of the records that are below the high end, and above the low one.
        epsilon: the privacy parameter of both ends together.
        neighbors: the neighbouring relation.
        rows: the most rows of one privacy unit.
    """

    thresholds: Thresholds
    q: Fraction
    epsilon: Fraction
    neighbors: Neighbors
    rows: int = 1

    @cached_property
    def _one_end(self) -> Calibrated:
        parameter = PrivacyParameter("epsilon", self.epsilon / 2)
        return FirstThreshold(self.q, self.rows).calibrate(self.neighbors, parameter)

    @property
    def guarantee(self) -> Guarantee:
        """That of two answers about the same records."""
        return self._one_end.guarantee.repeated(2)

    def say_needs(self, column: str | None, by: object = None) -> None:
        """Warn of how many records both ends need, whatever the data are."""
        rates = FirstThreshold(self.q, self.rows).rates(self.epsilon / 2, self.neighbors)
        say_needs_of_ends(records_of_ends(self.thresholds.size, self.q, rates), column, by)

    def prepare(self, column: Numeric, bits: Bits | None = None) -> Callable[[], list[int]]:
        """Count the records, and return the function that draws the indices of the low and of the high end.

        The lower of the two answers comes first: they are drawn one by one, and may be the other way round.
        """
        counts = ThresholdCounts.of(column, self.thresholds)
        law: Any = self._one_end.law  # of two arguments
        high = law(counts.below, counts.total)
        low = law(counts.above[::-1], counts.total)
        last = self.thresholds.size - 1

        def draw() -> list[int]:
            source = SystemBits() if bits is None else bits
            return sorted((last - low.draw(source), high.draw(source)))

        return draw


@takes_data_terms_without("rho", "scale", "mechanism")
def bounds(
    data: object,
    column: str | None = None,
    *,
    q: Number = "0.99",
    candidates: Decimals | None = None,
    **terms: Unpack[RecordTerms],
) -> Release:
    """Release two numbers between which nearly all records lie, without any bounds to start with.

    The high end is the first of rising numbers that about a share q of the records is below, and the low end the
    first of falling numbers that about a share q is above. Each costs half of epsilon. They are drawn one by one,
    and sorted afterwards. The noise is one-sided and mostly leads too far out, so with enough records less than the
    share 1 - q is cut off.

    Args:
        q: the share of the records below the high end and above the low one, above 1/2 and at most 1. It is read
            exactly, with at most 18 decimals. The nearer it is to 1, the more records you need, about 10 / epsilon
            beyond either end.
        candidates: the possible ends: `Decimals(digits)`, or by default 0 and ±1, 2 and 5 times all powers of ten,
            which are 3,691 numbers.
        epsilon: the privacy parameter ε of both ends together, a positive number without a unit. It is read
            exactly, so 0.1 is one tenth. It has no default.
        **terms: the shared arguments, described in `RecordTerms`.

    Returns:
        A list of the two ends, the lower one first. They may be equal. The guarantee is epsilon-DP for both.

    Raises:
        InvalidArgument: if a public argument is invalid. No private data were read.
        UnreadableData: if the data contain no numbers.

    Side channels: for all data, the number of random words is twice that of the candidates plus two. With
    probability below 2**-20, more are read. The records are counted in one pass, in a time that depends on their
    number, and in files and lazy frames on how many of the candidates have records between them.

    Source: Dwork and Roth 2014, section 3.6. Proof: docs/reference/mechanisms/above_threshold.md#first_above.
    """
    share, thresholds = _read_share(q), _read_thresholds(candidates)
    column = column_or_none(column)
    unit_query = read_unit_query(terms, bounded=True)
    ends = _both_ends(unit_query, share, thresholds)
    if not is_quoted(terms):  # a profile says what its columns need
        ends.say_needs(column, unit_query.records.by)
    columns = columns_of(unit_query, data, column)
    has_groups = unit_query.records.by is not None

    facts = {"column": column, **thresholds.facts}
    query = Query("bounds", facts, {"column": column, "q": share})
    guarantee = unit_query.together(ends.guarantee) if has_groups else ends.guarantee
    details = partial(_details, thresholds, ends)
    order = unit_query.order(query, guarantee, FirstThreshold.name, details)
    if isinstance(thresholds, Decimals):
        order = replace(order, digits=thresholds.digits)
    prepare = partial(unit_query.prepare, columns, ends.prepare)
    return order.deliver(prepare, unit_query.label(naming(thresholds), _ENDS))


def _both_ends(unit_query: UnitQuery, share: Fraction, thresholds: Thresholds) -> BothEnds:
    """Return both ends in one group, at its part of epsilon."""
    terms = unit_query.terms
    check_names(terms, _OWN_TERMS)
    epsilon = need_parameter(read_parameter(terms.get("epsilon"), None, None)).value
    neighbors: Neighbors = "add_remove" if unit_query.records.by else unit_query.neighbors
    return BothEnds(thresholds, share, epsilon, neighbors, unit_query.records.rows or 1)


def _details(thresholds: Thresholds, ends: BothEnds) -> dict[str, object]:
    """Return the rest of the description that decides the distribution, for a digest."""
    return {
        "candidates": thresholds.description,
        "privacy_parameter": {"epsilon": ends.epsilon},
        "relation": ends.neighbors,
    }


def _read_share(q: Number) -> Fraction:
    share = exact(q, "q")
    if not Fraction(1, 2) < share <= 1:
        raise InvalidNumber(
            "q must be above 1/2 and at most 1, such as 0.99 for all but one per cent at each "
            f"end, got {preview(q)}"
        )
    if share.denominator > _FINEST:
        raise InvalidNumber(f"q must have at most 18 decimals, got {preview(q)}")
    return share


def _read_thresholds(candidates: object) -> Thresholds:
    if candidates is None:
        return RoundNumbers()
    if isinstance(candidates, Decimals):
        return candidates
    raise InvalidCandidates(
        f"candidates of bounds must be Decimals(digits), or left out, got {preview(candidates)}. "
        "If you know the bounds, use them and pay nothing"
    )
