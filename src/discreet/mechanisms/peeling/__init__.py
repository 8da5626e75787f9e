"""Peeling: one answer after another, without replacement."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from ...base.numbers import count
from ...errors import InvalidArgument
from ...privacy.epsilon_dp import mix_range
from ...privacy.guarantees import ApproxDP, Guarantee
from ...privacy.sensitivity import Sensitivity
from ...sampling.enclosures import has_fast_pass
from ...sampling.runs import Runs
from ...sampling.vectors import Vector
from ..contract import Calibrated, Mechanism, PrivacyParameter, calibrate, identity_of, spread_of
from ..epsilon_shares import share_of
from ..lists import Lists
from .arrivals import FirstArrivals, FlipRounds
from .rounds import BLOCK_SIZE, BlockRounds, GapRounds, Rounds, RunRounds

_SINGLE_DRAWS = 3
"""Up to so many answers are drawn one after another: that takes less than noise for every candidate."""


@dataclass(frozen=True, slots=True)
class Peeling:
    """Answer k times with a mechanism, always from the candidates that are left: an ordered list.

    A round gets a k-th of epsilon or rho; a scale is that of every round.

    Args:
        mechanism: the mechanism of the rounds.
        k: how many.
        delta: the δ of all rounds together, or None. With it a round gets the epsilon with which the composition of
            k rounds is (epsilon, delta)-DP.

    Guarantee: the k-fold composition of the guarantee of a round, which is that of its mechanism: epsilons add up,
    and so do rhos. With a delta, (epsilon, delta)-DP.

    Side channels: those of the mechanism, k times. Besides, the time depends on the answer.

    Source: Durfee and Rogers, NeurIPS 2019, https://arxiv.org/abs/1905.04273. Proof:
    docs/reference/mechanisms/top_k.md#peeling.
    """

    mechanism: Mechanism
    k: int
    delta: Fraction | None = None

    @property
    def name(self) -> str:
        """The name, with that of the mechanism in brackets."""
        return f"peeling({self.mechanism.name})"

    @property
    def parameters(self) -> dict[str, object]:
        """The mechanism of the rounds, and their number."""
        slack = {} if self.delta is None else {"delta": self.delta}
        return {"mechanism": identity_of(self.mechanism), "k": self.k, **slack}

    @property
    def takes_runs(self) -> bool | Literal["flat"]:
        """Whether the mechanism does, and then flat ones: any one of a run may be gone."""
        return "flat" if self.mechanism.takes_runs else False

    def spread(self, sensitivity: Sensitivity) -> Fraction:
        """Return the spread that a scale divides: that of one round, for all of them."""
        return self.k * spread_of(self.mechanism, sensitivity)

    def calibrate(self, sensitivity: Sensitivity, parameter: PrivacyParameter | None) -> Calibrated:
        """Return the rounds at the largest eta that keeps the wanted guarantee for all together.

        Raises:
            InvalidArgument: if a round promises nothing that is known to add up, or has a base measure.
        """
        k = count(self.k, "k")
        if not getattr(self.mechanism, "uniform", True):
            raise InvalidArgument(
                "peeling takes no base_measure: its weights are for all candidates"
            )
        # Who has been taken is missing from the normaliser, so no round but the first is balanced.
        # *Proof* in top_k.md: a round is the mechanism on a public part of the candidates, of the same spread.
        general = replace(sensitivity, balanced=False)
        each = self._share(general, parameter, k)
        calibrated = calibrate(self.mechanism, general, each)
        if calibrated.guarantee.pure is None:
            raise InvalidArgument(
                f"peeling needs a mechanism that promises epsilon-DP, not {calibrated.guarantee}"
            )

        def law(scores: Vector | Runs) -> Any:
            if isinstance(scores, Runs):
                return RunRounds(scores, k, calibrated.law)
            count(k, "k", most=len(scores))
            return _rounds(scores, k, calibrated)

        # *Guarantee*: the composition of k rounds, each of which may depend on the answers before.
        single = mix_range(calibrated.guarantee) if k > 1 else calibrated.guarantee
        together: Guarantee = single.repeated(k)
        if self.delta is not None and parameter is not None:
            together = ApproxDP(parameter.value, self.delta, sensitivity.neighbors)
        return Calibrated(together, law, list_length=k, gap_grid=calibrated.gap_grid)

    def error_below(
        self,
        candidates: int,
        sensitivity: Sensitivity,
        parameter: PrivacyParameter,
        probability: Fraction,
    ) -> Fraction | None:
        """Return how far a place of the list is behind by less than, with at least that probability.

        Behind the candidate that should be there: the best that is left in a round is no worse. So every round may
        miss its bound with a k-th of the rest of the probability. None if the mechanism states no worst case.
        """
        worst = getattr(self.mechanism, "worst_case", None)
        general = replace(sensitivity, balanced=False)
        each = calibrate(self.mechanism, general, self._share(general, parameter, self.k))
        epsilon = each.guarantee.pure
        if worst is None or epsilon is None:
            return None
        confidence = 1 - (1 - probability) / self.k
        behind: Fraction = worst.below(candidates, confidence) * general.spread / epsilon
        return behind

    def _share(
        self, sensitivity: Sensitivity, parameter: PrivacyParameter | None, k: int
    ) -> PrivacyParameter | None:
        """Return the privacy parameter of a round.

        Raises:
            InvalidArgument: if there is a delta, and the parameter is none of epsilon.
        """
        if self.delta is None:
            is_share = parameter is not None and parameter.kind != "scale"
            return (
                parameter._replace(value=parameter.value / k)
                if parameter and is_share
                else parameter
            )
        if parameter is None or parameter.kind != "epsilon":
            raise InvalidArgument("delta goes with epsilon: all answers are (epsilon, delta)-DP")
        together = ApproxDP(parameter.value, self.delta, sensitivity.neighbors)
        share = share_of(self.mechanism, sensitivity, k, together, adaptive=True)
        return PrivacyParameter("epsilon", share)


def _rounds(scores: Vector, k: int, calibrated: Calibrated) -> Lists | GapRounds:
    """Return the distribution of the rounds from one score per candidate; all choices are by public numbers."""
    if calibrated.gap_grid is not None:
        return GapRounds(scores, k, calibrated.law)
    rate, flip_rate, n = calibrated.rate, calibrated.flip_rate, len(scores)
    if flip_rate is not None and k > _SINGLE_DRAWS and has_fast_pass(flip_rate):
        return FlipRounds(scores, k, flip_rate)
    if rate is None:
        return Rounds(scores, k, calibrated.law)
    if k > _SINGLE_DRAWS and has_fast_pass(rate) and n <= k * BLOCK_SIZE:
        return FirstArrivals(scores, k, rate)
    return Rounds(scores, k, calibrated.law) if n <= BLOCK_SIZE else BlockRounds(scores, k, rate)
