"""First above: the first of public thresholds that a share of the records is below (sparse vector technique)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from ..base.float_environment import in_default_environment
from ..errors import InvalidArgument
from ..privacy.guarantees import PureDP
from ..privacy.sensitivity import Neighbors
from ..sampling.first_lead import FirstAbove
from ..sampling.vectors import Integers
from .contract import Calibrated, Law, PrivacyParameter, need_parameter

_FINEST_SPLIT = 2**20


@dataclass(frozen=True, slots=True)
class FirstThreshold:
    """Answer the first rising threshold that, with noise, at least a share alpha of the records is below.

    Of n records, b[i] of them below threshold i, the answer is the first i with b[i] - alpha * n + X[i] >= Z, and
    the last threshold if there is none. Z is drawn once and X[i] anew for each threshold, both exponential, with
    the rates `rates`.

    Args:
        alpha: a share of the records, from 0 to 1.
        rows: the most rows of one privacy unit.

    Guarantee: epsilon-DP, however many thresholds there are.

    Side channels: the number of words read and compared is that of the thresholds and one; with probability below
    2**-20 a draw, one of them leaves a doubt, and more are read.

    Source: Dwork and Roth 2014, section 3.6, with one-sided noise and records that move all counts one way. Proof:
    docs/reference/mechanisms/above_threshold.md#first_above.
    """

    alpha: Fraction
    rows: int = 1
    name: ClassVar[str] = "first_above"

    @property
    def parameters(self) -> Mapping[str, object]:
        """The share and the rows of a privacy unit."""
        return {"alpha": self.alpha, "rows": self.rows}

    def rates(self, epsilon: Fraction, neighbors: Neighbors) -> tuple[Fraction, Fraction]:
        """Return the rates of the noise of the level and of the thresholds, in records, at that epsilon.

        Any two are private that keep `cost` at most epsilon. These have nearly the least variance together.
        """
        one = epsilon / self.rows
        if neighbors == "replace_one":
            return one / 2, one / 2
        share = Fraction(round(_FINEST_SPLIT / (1 + float(self.alpha) ** (2 / 3))), _FINEST_SPLIT)
        level = one if self.alpha == 0 else (1 - share) * one / self.alpha
        if level * (1 - self.alpha) > one:
            level = one / (1 - self.alpha)
        return level, one - level * self.alpha

    def cost(self, level: Fraction, noise: Fraction, neighbors: Neighbors) -> Fraction:
        """Return the epsilon of two rates. Proof: docs/reference/mechanisms/above_threshold.md#first_above."""
        # Coq: FirstAbove.first_above_add_remove, FirstAbove.first_above_replace_one
        if neighbors == "replace_one":
            return self.rows * (level + noise)
        return self.rows * max(level * (1 - self.alpha), level * self.alpha + noise)

    def calibrate(self, neighbors: Neighbors, parameter: PrivacyParameter | None) -> Calibrated:
        """Return the mechanism at an epsilon.

        The distribution is made from the numbers of records below the thresholds, and from that of all records.

        Raises:
            InvalidArgument: if there is no epsilon: no guarantee is known for rho or scale.
        """
        budget = need_parameter(parameter)
        if budget.kind != "epsilon":
            raise InvalidArgument(f"first_above takes epsilon, not {budget.kind}")
        level, noise = self.rates(budget.value, neighbors)
        guarantee = PureDP(self.cost(level, noise, neighbors), neighbors)
        if guarantee.epsilon > budget.value:
            raise ArithmeticError("the noise of first_above costs more than its epsilon")
        part, whole = self.alpha.as_integer_ratio()

        def law(below: Integers, total: int) -> FirstAbove:
            # Times the denominator of alpha, so that leads are integers; the rates are divided by it.
            is_long = (total + 1) * whole >= 2**62
            counts = below.astype(object) if is_long else below
            return FirstAbove(whole * counts - part * total, level / whole, noise / whole)

        of_counts: Callable[..., Law] = law  # of two arguments
        return Calibrated(guarantee, in_default_environment(of_counts))
