"""The registry of mechanisms: one file each, one line each."""

from ..errors import UnknownName, shown
from .base2 import Base2
from .contract import Mechanism
from .exponential import Exponential
from .noisy_max import NoisyMax
from .permute_and_flip import PermuteAndFlip

__all__ = [
    "MECHANISMS",
    "Base2",
    "Exponential",
    "Mechanism",
    "NoisyMax",
    "PermuteAndFlip",
    "read_mechanism",
]

MECHANISMS: dict[str, type[Mechanism]] = {
    "exponential": Exponential,
    "base2": Base2,
    "permute_and_flip": PermuteAndFlip,
    "noisy_max": NoisyMax,
}
"""Each mechanism under its name; calling it without arguments gives it with its defaults."""


def read_mechanism(mechanism: str | Mechanism) -> Mechanism:
    """Return the mechanism of that name, or the one given."""
    if isinstance(mechanism, str) and mechanism in MECHANISMS:
        return MECHANISMS[mechanism]()
    if isinstance(mechanism, type) and hasattr(mechanism, "tune"):
        raise UnknownName(f"mechanism must be {mechanism.__name__}(), with brackets")
    if isinstance(mechanism, str) or not hasattr(mechanism, "tune"):
        raise UnknownName(
            f"mechanism must be one of {', '.join(MECHANISMS)}, or a mechanism, got {shown(mechanism)}"
        )
    return mechanism
