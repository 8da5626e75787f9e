"""Privacy guarantees: sensitivities, the guarantees that follow from them, and their composition."""

from .composition import Composition, compose
from .guarantees import (
    ZCDP,
    ApproxDP,
    ApproxRange,
    BoundedRange,
    GaussianDP,
    GeometricDP,
    LaplaceDP,
    LogisticDP,
    LossDP,
    MixedRange,
    NoGuarantee,
    PureDP,
    RenyiDP,
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
    "SummedRange",
    "compose",
    "compose_parallel",
]
