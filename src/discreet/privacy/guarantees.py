"""All kinds of guarantees, as immutable values in exact rationals.

For proofs, see docs/explanation/privacy.md, docs/explanation/composition.md.
"""

from collections.abc import Mapping
from typing import Any

from ..errors import InvalidArgument, preview
from .approx_dp import ApproxDP, NoGuarantee
from .approx_range import ApproxRange
from .composition import Composition
from .contract import Guarantee
from .epsilon_dp import CHAIN, BoundedRange, LaplaceDP, LogisticDP, MixedRange, PureDP, SummedRange
from .gaussian_dp import DiscreteGaussianDP, GaussianDP, ReplacedSumsDP
from .loss_dp import LossDP
from .renyi_dp import ZCDP, RenyiDP
from .response_dp import GeometricDP, ResponseDP
from .sensitivity import read_neighbors
from .several_dp import SeveralDP

__all__ = [
    "ZCDP",
    "ApproxDP",
    "ApproxRange",
    "BoundedRange",
    "DiscreteGaussianDP",
    "GaussianDP",
    "GeometricDP",
    "Guarantee",
    "LaplaceDP",
    "LogisticDP",
    "LossDP",
    "MixedRange",
    "NoGuarantee",
    "PureDP",
    "RenyiDP",
    "ReplacedSumsDP",
    "ResponseDP",
    "SeveralDP",
    "SummedRange",
    "read_guarantee",
]


def read_guarantee(plain_values: Mapping[str, Any]) -> Guarantee:
    """Return the guarantee of which `plain_values` is the `as_dict` form.

    Raises:
        InvalidArgument: if it is none.
    """
    try:
        kind, neighbors = plain_values["kind"], read_neighbors(plain_values["neighbors"])
        if kind == Composition.kind:
            parts = [(read_guarantee(p["guarantee"]), p["count"]) for p in plain_values["parts"]]
            return Composition(tuple(parts))
        if kind == SeveralDP.kind:
            return SeveralDP(tuple(map(read_guarantee, plain_values["promises"])))
        make = _GUARANTEE_KINDS[kind]
        guarantee: Guarantee = make(*(plain_values[n] for n in make.__match_args__[:-1]), neighbors)
    except (KeyError, TypeError) as error:
        raise InvalidArgument(
            f"a guarantee must be what as_dict() returns, got {preview(plain_values)}"
        ) from error
    return guarantee


_GUARANTEE_KINDS: dict[str, Any] = {
    make.kind: make
    for make in (
        *CHAIN,
        ZCDP,
        ApproxDP,
        ApproxRange,
        DiscreteGaussianDP,
        GaussianDP,
        GeometricDP,
        RenyiDP,
        ReplacedSumsDP,
        ResponseDP,
        LossDP,
        NoGuarantee,
    )
}
