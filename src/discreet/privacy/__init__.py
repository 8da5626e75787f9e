"""Privacy guarantees: sensitivities, the guarantees that follow from them, and their composition."""

from typing import TYPE_CHECKING

from ..base.lazy_names import import_on_use

if TYPE_CHECKING:
    from .composition import Composition, compose
    from .guarantees import (
        ZCDP,
        ApproxDP,
        ApproxRange,
        BoundedRange,
        DiscreteGaussianDP,
        GaussianDP,
        GeometricDP,
        LaplaceDP,
        LogisticDP,
        LossDP,
        MixedRange,
        NoGuarantee,
        PureDP,
        RenyiDP,
        ReplacedSumsDP,
        ResponseDP,
        SeveralDP,
        SummedRange,
    )
    from .odometer import Odometer
    from .parallel import compose_parallel
    from .pld import LossDistribution

__all__ = [
    "ZCDP",
    "ApproxDP",
    "ApproxRange",
    "BoundedRange",
    "Composition",
    "DiscreteGaussianDP",
    "GaussianDP",
    "GeometricDP",
    "LaplaceDP",
    "LogisticDP",
    "LossDP",
    "LossDistribution",
    "MixedRange",
    "NoGuarantee",
    "Odometer",
    "PureDP",
    "RenyiDP",
    "ReplacedSumsDP",
    "ResponseDP",
    "SeveralDP",
    "SummedRange",
    "compose",
    "compose_parallel",
]

import_on_use(
    __name__,
    {
        "ApproxDP": "approx_dp",
        "ApproxRange": "approx_range",
        "BoundedRange": "epsilon_dp",
        "Composition": "composition",
        "DiscreteGaussianDP": "gaussian_dp",
        "GaussianDP": "gaussian_dp",
        "GeometricDP": "response_dp",
        "LaplaceDP": "epsilon_dp",
        "LogisticDP": "epsilon_dp",
        "LossDP": "loss_dp",
        "LossDistribution": "pld",
        "MixedRange": "epsilon_dp",
        "NoGuarantee": "approx_dp",
        "Odometer": "odometer",
        "PureDP": "epsilon_dp",
        "RenyiDP": "renyi_dp",
        "ReplacedSumsDP": "gaussian_dp",
        "ResponseDP": "response_dp",
        "SeveralDP": "several_dp",
        "SummedRange": "epsilon_dp",
        "ZCDP": "renyi_dp",
        "compose": "composition",
        "compose_parallel": "parallel",
    },
)
