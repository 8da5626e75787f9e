"""All public names: those of `discreet`, and those of modules below it."""

from importlib import import_module
from typing import Any

import discreet

MODULES: dict[str, str] = {
    "AllowedQuestion": "service.asking",
    "ApproxDP": "privacy",
    "ApproxRange": "privacy",
    "Base2": "mechanisms",
    "Base2Eta": "mechanisms",
    "BoundedRange": "privacy",
    "Charge": "ledger",
    "Comparison": "study.planning.compare",
    "Composition": "privacy",
    "Distribution": "study.planning.distribution",
    "Enclosure": "study.planning.enclosure",
    "ErrorBound": "mechanisms.accuracy",
    "Exponential": "mechanisms",
    "DiscreteGaussianDP": "privacy",
    "ReplacedSumsDP": "privacy",
    "GaussianDP": "privacy",
    "GeometricDP": "privacy",
    "ResponseDP": "privacy",
    "SeveralDP": "privacy",
    "LaplaceDP": "privacy",
    "LogisticDP": "privacy",
    "LossDP": "privacy",
    "LossDistribution": "privacy",
    "MECHANISMS": "mechanisms",
    "MixedRange": "privacy",
    "NoGuarantee": "privacy",
    "NoisyMax": "mechanisms",
    "Odometer": "privacy",
    "PastRelease": "service",
    "PermuteAndFlip": "mechanisms",
    "PureDP": "privacy",
    "Quote": "ledger",
    "RenyiDP": "privacy",
    "SCORES": "tables.scores",
    "Selector": "selection.selector",
    "Simulation": "study.planning.simulations",
    "Speed": "sampling.speed",
    "SummedRange": "privacy",
    "Terms": "selection.terms",
    "ZCDP": "privacy",
    "best_eta": "mechanisms",
    "speed": "sampling.speed",
    "to_opendp": "study.opendp",
}
"""The modules of the public names below `discreet`."""

PATHS = {name: f"discreet.{name}" for name in discreet.__all__} | {
    name: f"discreet.{module}.{name}" for name, module in MODULES.items()
}
"""The path of each public name."""


def public(name: str) -> Any:
    """Return what a public name stands for."""
    module = MODULES.get(name)
    return getattr(discreet if module is None else import_module(f"discreet.{module}"), name)
