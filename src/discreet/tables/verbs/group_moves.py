"""The groups whose answers a replaced record may change: those it keeps, and those it leaves or enters.

For the proof, see docs/how-to/groups.md.
"""

from dataclasses import dataclass
from fractions import Fraction

from ...mechanisms.contract import Calibrated, Mechanism, PrivacyParameter, calibrate
from ...privacy.composition import Composition, of_any_parts
from ...privacy.guarantees import Guarantee
from ...privacy.sensitivity import Sensitivity


@dataclass(frozen=True, slots=True)
class GroupMoves:
    """The groups of a record before and after it is replaced, of which each has an answer of its own.

    Attributes:
        groups: the most groups that it is in, before as after.
        common: how many of them it keeps at least, if it is in so many before and after.
    """

    groups: int
    common: int

    @classmethod
    def among(cls, size: int, groups: int) -> "GroupMoves":
        """Return the moves of a record that is in up to so many `groups`, of `size` in all."""
        few = min(groups, size)
        return cls(few, max(0, 2 * few - size))

    def share(self, parameter: PrivacyParameter, ratio: Fraction) -> PrivacyParameter:
        """Return the part of a privacy parameter for one group, as a record that comes or goes changes it.

        Args:
            parameter: that of all groups together.
            ratio: how much farther a score moves where a record is replaced than where one comes: from 1 to 2.
        """
        apart = 2 * (self.groups - self.common)
        parts = {
            "epsilon": self.common * ratio + apart,
            "rho": max(self.common * ratio**2 + apart, self.groups * ratio**2),
            "scale": Fraction(1),
        }
        return PrivacyParameter(parameter.kind, parameter.value / parts[parameter.kind])

    def together(self, step: Guarantee, swap: Guarantee) -> Guarantee:
        """Return the guarantee of all groups' answers together, where a record is replaced.

        Args:
            step: the guarantee of one answer where a record comes or goes.
            swap: the guarantee of one answer where a record is replaced.
        """
        # One group that is left and one that is entered are two steps, as is any record replaced.
        pair = step.under(swap.neighbors)
        parts = ((swap, self.common), (pair, self.groups - self.common))
        several = [(part, n) for part, n in parts if n]
        [(first, n), *others] = several
        whole = Composition(tuple(several)) if others else first.repeated(n)
        if self.common == self.groups:
            return whole
        if step.rho is None or swap.rho is None:
            return of_any_parts(whole)
        return of_any_parts(whole, self.sum_of_rho(step.rho, swap.rho))

    def sum_of_rho(self, step: Fraction, swap: Fraction) -> Fraction:
        """Return the larger sum of rho: with as few groups in common as there may be, or with all of them."""
        fewest = self.common * swap + 2 * (self.groups - self.common) * step
        return max(fewest, self.groups * swap)


def guarantee_of_swap(
    mechanism: Mechanism, calibrated: Calibrated, sensitivity: Sensitivity
) -> Guarantee | None:
    """Return the guarantee of an answer for another sensitivity, with the distribution that it has.

    None where its distribution is not told by a rate.
    """
    eta = _eta(calibrated)
    if eta is None:
        return None
    other = calibrate(mechanism, sensitivity, PrivacyParameter("scale", 1 / eta))
    return other.guarantee if _eta(other) == eta else None


def _eta(calibrated: Calibrated) -> Fraction | None:
    """Return the factor of scores in a distribution; None where it is told otherwise."""
    rate = calibrated.rate or calibrated.flip_rate
    return getattr(rate, "eta", None)
