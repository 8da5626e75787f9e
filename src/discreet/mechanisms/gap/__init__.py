"""A mechanism that also releases its gap: by how much the noisy score of the winner is ahead of the next one."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from ...errors import InvalidArgument
from ...privacy.sensitivity import Sensitivity
from ..contract import Calibrated, Mechanism, PrivacyParameter, identity_of, spread_of
from ..worst_case import WorstCase
from .winner import ONE_CANDIDATE


@dataclass(frozen=True, slots=True)
class WithGap:
    """A mechanism that answers [index, steps]: the winner, and its gap in steps of a public grid.

    Args:
        mechanism: one with a proof for its gap: the exponential mechanism, permute-and-flip, or report noisy max.

    Guarantee: that of its proof: `LaplaceDP` stays for permute-and-flip and Laplace noise; the bounded range of the
    exponential mechanism becomes `LogisticDP`.

    Side channels: those of the mechanism, and of `WinnerGap` or `FirstTwo`.

    Source: Ding et al. 2021, https://arxiv.org/abs/2105.07260. Proof: docs/reference/mechanisms/exponential.md#gap.
    """

    mechanism: Mechanism
    takes_runs: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check that there is a proof.

        Raises:
            InvalidArgument: if there is none for this mechanism, or it can answer one candidate only.
        """
        if not hasattr(self.mechanism, "calibrate_with_gap"):
            raise InvalidArgument(
                f"a gap of {self.mechanism.name} has no proof. Take the exponential mechanism, "
                "permute_and_flip or noisy_max, or leave out gap"
            )
        possible = getattr(self.mechanism, "possible", None)
        if possible is not None and sum(possible) < 2:
            raise InvalidArgument(ONE_CANDIDATE)

    @property
    def name(self) -> str:
        """That of the mechanism."""
        return self.mechanism.name

    @property
    def uniform(self) -> bool:
        """Whether all candidates weigh the same."""
        return bool(getattr(self.mechanism, "uniform", True))

    @property
    def parameters(self) -> Mapping[str, object]:
        """The mechanism, and that its gap is released."""
        return {"mechanism": identity_of(self.mechanism), "gap": True}

    @property
    def worst_case(self) -> WorstCase | None:
        """That of the winner, which the gap does not change."""
        return getattr(self.mechanism, "worst_case", None)

    def spread(self, sensitivity: Sensitivity) -> Fraction:
        """Return the spread that a scale divides: that of the mechanism."""
        return spread_of(self.mechanism, sensitivity)

    def calibrate(self, sensitivity: Sensitivity, parameter: PrivacyParameter | None) -> Calibrated:
        """Return the mechanism at the largest eta that keeps the wanted guarantee."""
        # *Guarantee* in exponential.md: the proof is by the spread; of balanced scores nothing better is proved.
        general = replace(sensitivity, balanced=False)
        return self.mechanism.calibrate_with_gap(general, parameter)  # type: ignore[attr-defined,no-any-return]
