"""Mechanisms: one file each, and one line in `mechanism_names`."""

from typing import TYPE_CHECKING

from ..base.lazy_names import import_on_use

if TYPE_CHECKING:
    from .base2 import Base2, Base2Eta, best_eta
    from .bounded import BOUNDED
    from .contract import Mechanism
    from .exponential import Exponential
    from .mechanism_names import MECHANISMS, read_mechanism, read_options, serving_runs
    from .noisy_max import NoisyMax
    from .permute_and_flip import PermuteAndFlip

__all__ = [
    "BOUNDED",
    "MECHANISMS",
    "Base2",
    "Base2Eta",
    "Exponential",
    "Mechanism",
    "NoisyMax",
    "PermuteAndFlip",
    "best_eta",
    "read_mechanism",
    "read_options",
    "serving_runs",
]

import_on_use(
    __name__,
    {
        "BOUNDED": "bounded",
        "Base2": "base2",
        "Base2Eta": "base2",
        "Exponential": "exponential",
        "MECHANISMS": "mechanism_names",
        "Mechanism": "contract",
        "NoisyMax": "noisy_max",
        "PermuteAndFlip": "permute_and_flip",
        "best_eta": "base2",
        "read_mechanism": "mechanism_names",
        "read_options": "mechanism_names",
        "serving_runs": "mechanism_names",
    },
)
