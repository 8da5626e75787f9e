"""discreet: exact private selection.

The exponential mechanism of differential privacy and its family, drawn so that the law of the answer is
the law in the proof, to the last bit. Start with `select` (scores in an array) or `mode` (a table).
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import attacks, audit, errors, plots, testing
    from .batches import Batch
    from .candidates import Grid
    from .errors import DiscreetError
    from .ledger import Budget, Charge, Ledger, Quote, Session
    from .mechanisms import MECHANISMS
    from .mechanisms.above_threshold import AboveThreshold
    from .mechanisms.base2 import Base2, Base2Eta, best_eta
    from .mechanisms.exponential import Exponential
    from .mechanisms.noisy_max import NoisyMax
    from .mechanisms.permute_and_flip import PermuteAndFlip
    from .node import AllowedQuestion, Analyst, DataNode
    from .opendp import to_opendp
    from .planning.compare import Comparison, compare
    from .planning.distribution import Distribution
    from .planning.enclosure import Enclosure
    from .planning.simulate import distribution, simulate
    from .planning.worst_case import epsilon_for, worst_error
    from .privacy.composition import Composition, compose
    from .privacy.guarantees import (
        ZCDP,
        ApproxDP,
        BoundedRange,
        GaussianDP,
        LaplaceDP,
        LogisticDP,
        LossDP,
        MixedRange,
        NoGuarantee,
        PureDP,
        RenyiDP,
        SummedRange,
    )
    from .privacy.odometer import Odometer
    from .privacy.parallel import parallel
    from .privacy.pld import LossDistribution
    from .releases import Release, Simulation
    from .reports import report
    from .scores import SCORES
    from .scores.custom import each
    from .tables.candidate_table import CandidateTable as CandidateTable
    from .tables.csv_files import csv
    from .tables.queries import sql
    from .terms import Terms
    from .verbs.generalized import generalized
    from .verbs.mode import mode
    from .verbs.noise import geometric, laplace, randomized_response
    from .verbs.price import price
    from .verbs.private_candidates import private_candidates
    from .verbs.quantile import maximum, median, minimum, quantile
    from .verbs.quantiles import quantiles
    from .verbs.select import select
    from .verbs.select_by import select_by
    from .verbs.top_k import top_k

__version__ = "0.1.0"

# Where each public name lives. It is imported when it is first used, so that `import discreet` is quick.
_HOMES = {
    "AboveThreshold": "mechanisms.above_threshold",
    "AllowedQuestion": "node",
    "Analyst": "node",
    "ApproxDP": "privacy.guarantees",
    "Base2": "mechanisms.base2",
    "Base2Eta": "mechanisms.base2",
    "Batch": "batches",
    "BoundedRange": "privacy.guarantees",
    "Budget": "ledger",
    "CandidateTable": "tables.candidate_table",
    "Charge": "ledger",
    "Comparison": "planning.compare",
    "Composition": "privacy.composition",
    "DataNode": "node",
    "DiscreetError": "errors",
    "Distribution": "planning.distribution",
    "Enclosure": "planning.enclosure",
    "Exponential": "mechanisms.exponential",
    "GaussianDP": "privacy.guarantees",
    "Grid": "candidates",
    "LaplaceDP": "privacy.guarantees",
    "Ledger": "ledger",
    "LogisticDP": "privacy.guarantees",
    "LossDP": "privacy.guarantees",
    "LossDistribution": "privacy.pld",
    "MECHANISMS": "mechanisms",
    "MixedRange": "privacy.guarantees",
    "NoGuarantee": "privacy.guarantees",
    "NoisyMax": "mechanisms.noisy_max",
    "Odometer": "privacy.odometer",
    "PermuteAndFlip": "mechanisms.permute_and_flip",
    "PureDP": "privacy.guarantees",
    "Quote": "ledger",
    "Release": "releases",
    "RenyiDP": "privacy.guarantees",
    "SCORES": "scores",
    "Session": "ledger",
    "Simulation": "releases",
    "SummedRange": "privacy.guarantees",
    "Terms": "terms",
    "ZCDP": "privacy.guarantees",
    "best_eta": "mechanisms.base2",
    "compare": "planning.compare",
    "compose": "privacy.composition",
    "csv": "tables.csv_files",
    "distribution": "planning.simulate",
    "each": "scores.custom",
    "epsilon_for": "planning.worst_case",
    "generalized": "verbs.generalized",
    "geometric": "verbs.noise",
    "laplace": "verbs.noise",
    "maximum": "verbs.quantile",
    "median": "verbs.quantile",
    "minimum": "verbs.quantile",
    "mode": "verbs.mode",
    "parallel": "privacy.parallel",
    "price": "verbs.price",
    "private_candidates": "verbs.private_candidates",
    "quantile": "verbs.quantile",
    "quantiles": "verbs.quantiles",
    "randomized_response": "verbs.noise",
    "report": "reports",
    "select": "verbs.select",
    "select_by": "verbs.select_by",
    "simulate": "planning.simulate",
    "sql": "tables.queries",
    "to_opendp": "opendp",
    "top_k": "verbs.top_k",
    "worst_error": "planning.worst_case",
}
_MODULES = ("attacks", "audit", "errors", "plots", "testing")

__all__ = [
    "MECHANISMS",
    "SCORES",
    "ZCDP",
    "AboveThreshold",
    "AllowedQuestion",
    "Analyst",
    "ApproxDP",
    "Base2",
    "Base2Eta",
    "Batch",
    "BoundedRange",
    "Budget",
    "CandidateTable",
    "Charge",
    "Comparison",
    "Composition",
    "DataNode",
    "DiscreetError",
    "Distribution",
    "Enclosure",
    "Exponential",
    "GaussianDP",
    "Grid",
    "LaplaceDP",
    "Ledger",
    "LogisticDP",
    "LossDP",
    "LossDistribution",
    "MixedRange",
    "NoGuarantee",
    "NoisyMax",
    "Odometer",
    "PermuteAndFlip",
    "PureDP",
    "Quote",
    "Release",
    "RenyiDP",
    "Session",
    "Simulation",
    "SummedRange",
    "Terms",
    "attacks",
    "audit",
    "best_eta",
    "compare",
    "compose",
    "csv",
    "distribution",
    "each",
    "epsilon_for",
    "errors",
    "generalized",
    "geometric",
    "laplace",
    "maximum",
    "median",
    "minimum",
    "mode",
    "parallel",
    "plots",
    "price",
    "private_candidates",
    "quantile",
    "quantiles",
    "randomized_response",
    "report",
    "select",
    "select_by",
    "simulate",
    "sql",
    "testing",
    "to_opendp",
    "top_k",
    "worst_error",
]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return __all__
