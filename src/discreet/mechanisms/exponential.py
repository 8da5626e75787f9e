"""The exponential mechanism (McSherry and Talwar 2007).

Most first answers need its rate alone, so the rest is imported when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..base.error_boundary import error_boundaries
from ..errors import InvalidArgument
from ..privacy.contract import Guarantee
from ..privacy.epsilon_dp import BoundedRange, LogisticDP, PureDP
from ..privacy.rho import logistic_rho, pure_rho, range_rho, response_rho
from ..privacy.sensitivity import Sensitivity
from ..sampling.enclosures import NaturalRate
from .contract import (
    NEGLIGIBLE_EXPONENT,
    Calibrated,
    Law,
    PrivacyParameter,
    epsilon_of,
    need_parameter,
    split_text,
)

if TYPE_CHECKING:
    from ..privacy.response_dp import ResponseDP
    from ..sampling.runs import Runs
    from ..sampling.vectors import Vector
    from .base_measure import BaseMeasure
    from .worst_case import WorstCase


@error_boundaries
@dataclass(frozen=True, slots=True)
class Exponential:
    """Answer i with probability proportional to exp(-eta * gap[i]), eta = epsilon / spread.

    Args:
        base_measure: public weights of the candidates, which multiply their probabilities. A candidate of weight
            zero is never returned. By default all weights are equal. See docs/reference/mechanisms/exponential.md.
        log_base_measure: instead, the exact natural logarithms of the weights, in a list or an array. A float means
            its binary value, as for scores. A weight of zero is -inf.

    Guarantee: epsilon-bounded range, so epsilon-DP, and rho-zCDP for rho = k - 1 - ln k with k = epsilon /
        (e**epsilon - 1), which is just below epsilon**2 / 8. For balanced scores, which have the same normaliser
        for all databases, epsilon-DP with eta = epsilon / change.

    Side channels: the time depends on the number of candidates and, with probability below 2**-20 a
    draw, on the scores, if a comparison must be settled with balls. The first such draw of a process imports their
    library.

    Source: McSherry and Talwar, FOCS 2007; Durfee and Rogers, NeurIPS 2019. Proof:
    docs/reference/mechanisms/exponential.md.
    """

    base_measure: Any = None
    log_base_measure: Any = None
    name: ClassVar[str] = "exponential"
    options: ClassVar[Mapping[str, Callable[[str], object]]] = {"base_measure": split_text}

    def __post_init__(self) -> None:
        if self.base_measure is not None:
            if self.log_base_measure is not None:
                raise InvalidArgument("give base_measure or log_base_measure, not both")
            from .base_measure import read_base_measure

            object.__setattr__(self, "base_measure", read_base_measure(self.base_measure))
        elif self.log_base_measure is not None:
            from .base_measure import read_log_base_measure

            logs = read_log_base_measure(self.log_base_measure)
            object.__setattr__(self, "log_base_measure", logs)

    @property
    def parameters(self) -> dict[str, object]:
        """The base measure."""
        if self.log_base_measure is not None:
            return {"log_base_measure": self.log_base_measure.values}
        return {} if self.base_measure is None else {"base_measure": self.base_measure}

    @property
    def uniform(self) -> bool:
        """Whether all candidates weigh the same."""
        return self.base_measure is None and self.log_base_measure is None

    @property
    def measure(self) -> BaseMeasure | None:
        """The base measure, by weights or by logarithms, or None if all candidates weigh the same."""
        if self.base_measure is not None:
            from .base_measure import WeightMeasure

            return WeightMeasure(self.base_measure)
        return self.log_base_measure  # type: ignore[no-any-return]

    @property
    def possible(self) -> list[bool] | None:
        """Whether a candidate can be returned, by candidate, or None if all can."""
        measure = self.measure
        return None if measure is None else np.isin(range(measure.size), measure.places).tolist()

    @property
    def worst_case(self) -> WorstCase | None:
        """Known if all candidates weigh the same."""
        from .worst_case import EXPONENTIAL_ERROR

        return EXPONENTIAL_ERROR if self.uniform else None

    @property
    def takes_runs(self) -> bool:
        """Whether there is no base measure, which weighs candidates one by one."""
        return self.uniform

    def calibrate(self, sensitivity: Sensitivity, parameter: PrivacyParameter | None) -> Calibrated:
        """Return the mechanism at the largest eta that keeps the requested guarantee."""
        guarantee, eta = self._settle(sensitivity, need_parameter(parameter))
        rate, measure = NaturalRate(eta), self.measure

        def law(scores: Vector | Runs) -> Law:
            from ..sampling.runs import RunLaw, Runs

            if isinstance(scores, Runs):
                return RunLaw(scores, rate)
            return _law(scores, rate, measure)

        return Calibrated(guarantee, law, NEGLIGIBLE_EXPONENT / eta, rate if self.uniform else None)

    def calibrate_with_gap(
        self, sensitivity: Sensitivity, parameter: PrivacyParameter | None
    ) -> Calibrated:
        """Return the mechanism that returns [index, steps].

        Guarantee: `LogisticDP`, by the spread alone. For the proof, see
            docs/reference/mechanisms/exponential.md#gap.
        """
        from .gap import WinnerGap
        from .gap_grid import GapGrid

        epsilon = epsilon_of(need_parameter(parameter), sensitivity.spread, logistic_rho)
        rate, measure = NaturalRate(epsilon / sensitivity.spread), self.measure
        grid = GapGrid.of(rate.eta)

        def law(scores: Vector) -> Any:
            return WinnerGap(_law(scores, rate, measure), scores, rate, grid, measure)

        return Calibrated(LogisticDP(epsilon, sensitivity.neighbors), law, gap_grid=grid)

    def _settle(
        self, sensitivity: Sensitivity, parameter: PrivacyParameter
    ) -> tuple[Guarantee, Fraction]:
        """Return the guarantee and eta: by the spread, or by the change where the scores are balanced."""
        if self.uniform and sensitivity.balanced and sensitivity.change is not None:
            # Coq: Range.em_balanced
            guarantee = _balanced(sensitivity, parameter, sensitivity.change)
            return guarantee, guarantee.epsilon / sensitivity.change
        # Coq: Range.em_bounded_range, Range.em_private
        epsilon = epsilon_of(parameter, sensitivity.spread, range_rho)
        return BoundedRange(epsilon, sensitivity.neighbors), epsilon / sensitivity.spread


def _balanced(
    sensitivity: Sensitivity, parameter: PrivacyParameter, change: Fraction
) -> PureDP | ResponseDP:
    """Return the guarantee of balanced scores, at the largest epsilon that keeps the parameter."""
    if sensitivity.answers is None:
        return PureDP(epsilon_of(parameter, change, pure_rho), sensitivity.neighbors)
    from ..privacy.response_dp import ResponseDP

    answers = sensitivity.answers
    epsilon = epsilon_of(parameter, change, partial(response_rho, answers=answers))
    return ResponseDP(epsilon, answers, sensitivity.neighbors)


def _law(scores: Vector, rate: NaturalRate, measure: BaseMeasure | None) -> Law:
    """Return the distribution of the answer among candidates in a list."""
    if measure is None:
        from ..sampling.categorical import Categorical

        return Categorical(scores, rate)
    from .base_measure import weigh

    return weigh(scores, rate, measure)
