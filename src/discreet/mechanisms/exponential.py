"""The exponential mechanism (McSherry and Talwar 2007)."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from ..categorical import Categorical
from ..enclosures import NaturalRate
from ..numbers import root_below
from ..privacy.guarantees import BoundedRange
from ..privacy.sensitivity import Sensitivity
from .contract import Dial, Tuned, need_dial


@dataclass(frozen=True, slots=True)
class Exponential:
    """Answer i with probability proportional to exp(-eta * gap[i]), eta = epsilon / spread.

    Guarantee: epsilon-bounded range, hence epsilon-DP and (epsilon**2 / 8)-zCDP.

    Side channels: the time depends on the number of candidates and, with probability below 2**-20 a
    draw, on the scores (a doubt that is settled in balls).

    Source: McSherry and Talwar, FOCS 2007; Durfee and Rogers, NeurIPS 2019. Proof:
    docs/mechanisms/exponential.md.
    """

    name: ClassVar[str] = "exponential"
    takes_runs: ClassVar[bool] = True

    def tune(self, sensitivity: Sensitivity, dial: Dial | None) -> Tuned:
        """Return the mechanism at the largest eta that keeps the wanted guarantee."""
        epsilon = self._epsilon(sensitivity.spread, need_dial(dial))
        rate = NaturalRate(epsilon / sensitivity.spread)
        return Tuned(
            BoundedRange(epsilon, sensitivity.neighbors), lambda scores: Categorical(scores, rate)
        )

    @staticmethod
    def _epsilon(spread: Fraction, dial: Dial) -> Fraction:
        if dial.kind == "rho":
            return root_below(8 * dial.value)
        return spread / dial.value if dial.kind == "scale" else dial.value
