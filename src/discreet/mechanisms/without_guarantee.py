"""A mechanism without a guarantee, for releases at one's own risk."""

from dataclasses import dataclass
from typing import Literal

from ..privacy.guarantees import NoGuarantee
from ..privacy.sensitivity import Sensitivity
from .contract import Calibrated, Mechanism, PrivacyParameter, calibrate, identity_of


@dataclass(frozen=True, slots=True)
class WithoutGuarantee:
    """The distribution of a mechanism without its guarantee, where its input breaks the proof.

    It stands in place of the mechanism before anything private is read, so a quote says so too.

    Args:
        mechanism: the mechanism that draws.
        reason: why nothing is promised.
    """

    mechanism: Mechanism
    reason: str

    @property
    def name(self) -> str:
        """The name of the mechanism."""
        return self.mechanism.name

    @property
    def parameters(self) -> dict[str, object]:
        """The mechanism, and the reason for no promise."""
        return {"mechanism": identity_of(self.mechanism), "reason": self.reason}

    @property
    def takes_runs(self) -> bool | Literal["flat"]:
        """As the mechanism does."""
        return self.mechanism.takes_runs

    def calibrate(self, sensitivity: Sensitivity, parameter: PrivacyParameter | None) -> Calibrated:
        """Return the mechanism at that much noise, without a promise."""
        calibrated = calibrate(self.mechanism, sensitivity, parameter)
        return calibrated._replace(guarantee=NoGuarantee(self.reason, sensitivity.neighbors))
