"""A mechanism among some of the candidates: the others have probability zero. Which, is public."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..privacy.sensitivity import Sensitivity
from ..sampling.bits import Bits
from ..sampling.vectors import Vector
from .contract import (
    Calibrated,
    Law,
    Mechanism,
    PrivacyParameter,
    calibrate,
    identity_of,
    spread_of,
)

CandidatePlaces = NDArray[np.int64]
"""The indices of the candidates that may be answered, in order."""


class MaskedLaw:
    """A distribution over some of the candidates, as one over all of them."""

    __slots__ = ("_law", "_places", "_size")

    def __init__(self, law: Law, places: CandidatePlaces, size: int) -> None:
        self._law, self._places, self._size = law, places, size

    def draw(self, bits: Bits) -> int:
        """Return one index, an exact sample."""
        return int(self._places[self._law.draw(bits)])

    def draws(self, size: int, bits: Bits) -> NDArray[np.int64]:
        """Return `size` independent indices."""
        indices: CandidatePlaces = self._places[np.asarray(self._law.draws(size, bits))]
        return indices

    def probabilities(self) -> list[arb]:
        """Return balls around the probabilities of all candidates. Those of the others are zero."""
        balls = [arb(0)] * self._size
        for place, probability in zip(
            self._places.tolist(), self._law.probabilities(), strict=True
        ):
            balls[place] = probability
        return balls


@dataclass(frozen=True, slots=True)
class MaskedMechanism:
    """The mechanism among the candidates that a mask leaves.

    The mask is public and the same for neighbours, so scores of the others are never looked at, and the
    guarantee is that of the mechanism for fewer candidates.

    Args:
        mechanism: the mechanism.
        mask: True for every candidate that may be answered, in their order; one of them at least.
    """

    mechanism: Mechanism
    mask: tuple[bool, ...]
    takes_runs: ClassVar[bool] = False

    @property
    def possible(self) -> tuple[bool, ...]:
        """The mask."""
        return self.mask

    @property
    def name(self) -> str:
        """That of the mechanism."""
        return self.mechanism.name

    @property
    def parameters(self) -> Mapping[str, object]:
        """The mechanism and the mask."""
        return {"mechanism": identity_of(self.mechanism), "mask": self.mask}

    def spread(self, sensitivity: Sensitivity) -> Fraction:
        """Return the spread that a scale divides: that of the mechanism."""
        return spread_of(self.mechanism, sensitivity)

    def calibrate(self, sensitivity: Sensitivity, parameter: PrivacyParameter | None) -> Calibrated:
        """Return the calibrated mechanism among fewer candidates."""
        calibrated = calibrate(self.mechanism, sensitivity, parameter)
        places, size = np.flatnonzero(self.mask), len(self.mask)

        def law(scores: Vector) -> Law:
            return MaskedLaw(calibrated.law(scores.take(places)), places, size)

        return Calibrated(calibrated.guarantee, law)
