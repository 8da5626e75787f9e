"""discreet: exact private selection.

The exponential mechanism of differential privacy and its family, sampled exactly: the distribution of
an answer is the one in the privacy proof, to the last bit. Start with `select` (scores in an array) or
`mode` (a table).
"""

TYPE_CHECKING = False
# For checkers of types in a checkout. A wheel has `__init__.pyi` too, with the shared arguments spelled out.
if TYPE_CHECKING:
    from . import errors as errors
    from . import mechanisms as mechanisms
    from . import privacy as privacy
    from .errors import DiscreetError as DiscreetError
    from .ledger import Budget as Budget
    from .ledger import Ledger as Ledger
    from .ledger import Session as Session
    from .ledger.batches import Batch as Batch
    from .ledger.toml_budgets import read_dataset as read_dataset
    from .mechanisms import testing as testing
    from .privacy.composition import compose as compose
    from .privacy.parallel import compose_parallel as compose_parallel
    from .selection.above_threshold import AboveThreshold as AboveThreshold
    from .selection.bins import Bins as Bins
    from .selection.bins import WithMissing as WithMissing
    from .selection.candidates import Grid as Grid
    from .selection.date_grid import DateGrid as DateGrid
    from .selection.decimals import Decimals as Decimals
    from .selection.noise import geometric as geometric
    from .selection.noise import laplace as laplace
    from .selection.noise import randomized_response as randomized_response
    from .selection.releases import Release as Release
    from .selection.scores.custom import per_candidate as per_candidate
    from .selection.select import select as select
    from .selection.select_generalized import select_generalized as select_generalized
    from .selection.select_rows import select_rows as select_rows
    from .selection.select_top_k import select_top_k as select_top_k
    from .selection.selector import selector as selector
    from .selection.verb_calls import quote as quote
    from .service import Connection as Connection
    from .service import connect as connect
    from .study import attacks as attacks
    from .study import audit as audit
    from .study import plots as plots
    from .study.planning.compare import compare as compare
    from .study.planning.key_plan import plan_keys as plan_keys
    from .study.planning.simulate import distribution as distribution
    from .study.planning.simulate import simulate as simulate
    from .study.planning.worst_errors import epsilon_for as epsilon_for
    from .study.planning.worst_errors import worst_error as worst_error
    from .study.reports import report as report
    from .tables.datasets import Dataset as Dataset
    from .tables.engines.candidate_table import CandidateTable as CandidateTable
    from .tables.engines.sql_queries import scan_query as scan_query
    from .tables.formats.text_form import scan_csv as scan_csv
    from .tables.verbs.best_price import best_price as best_price
    from .tables.verbs.bounds import bounds as bounds
    from .tables.verbs.check import check as check
    from .tables.verbs.count import count as count
    from .tables.verbs.count import count_distinct as count_distinct
    from .tables.verbs.count import counts as counts
    from .tables.verbs.keys import keys as keys
    from .tables.verbs.mode import mode as mode
    from .tables.verbs.private_candidates import private_candidates as private_candidates
    from .tables.verbs.profile import profile as profile
    from .tables.verbs.quantile import maximum as maximum
    from .tables.verbs.quantile import median as median
    from .tables.verbs.quantile import minimum as minimum
    from .tables.verbs.quantile import quantile as quantile
    from .tables.verbs.quantiles import quantiles as quantiles
    from .tables.verbs.select_by import select_by as select_by
    from .tables.verbs.sql import sql as sql
    from .tables.verbs.sum import mean as mean
    from .tables.verbs.sum import sum as sum
    from .tables.verbs.top_k import top_k as top_k
    from .tables.verbs.variance import standard_deviation as standard_deviation
    from .tables.verbs.variance import variance as variance

__version__ = "1.0.0rc1"

_MODULES = {
    "attacks": ".study.",
    "audit": ".study.",
    "errors": ".",
    "mechanisms": ".",
    "plots": ".study.",
    "privacy": ".",
    "testing": ".mechanisms.",
    "AboveThreshold": ".selection.above_threshold",
    "Batch": ".ledger.batches",
    "Bins": ".selection.bins",
    "WithMissing": ".selection.bins",
    "Grid": ".selection.candidates",
    "Decimals": ".selection.decimals",
    "DateGrid": ".selection.date_grid",
    "Dataset": ".tables.datasets",
    "DiscreetError": ".errors",
    "Budget": ".ledger",
    "Ledger": ".ledger",
    "Session": ".ledger",
    "read_dataset": ".ledger.toml_budgets",
    "compare": ".study.planning.compare",
    "distribution": ".study.planning.simulate",
    "simulate": ".study.planning.simulate",
    "plan_keys": ".study.planning.key_plan",
    "quote": ".selection.verb_calls",
    "epsilon_for": ".study.planning.worst_errors",
    "worst_error": ".study.planning.worst_errors",
    "compose": ".privacy.composition",
    "compose_parallel": ".privacy.parallel",
    "Release": ".selection.releases",
    "report": ".study.reports",
    "per_candidate": ".selection.scores.custom",
    "Connection": ".service",
    "connect": ".service",
    "CandidateTable": ".tables.engines.candidate_table",
    "scan_csv": ".tables.formats.text_form",
    "scan_query": ".tables.engines.sql_queries",
    "best_price": ".tables.verbs.best_price",
    "bounds": ".tables.verbs.bounds",
    "check": ".tables.verbs.check",
    "count": ".tables.verbs.count",
    "counts": ".tables.verbs.count",
    "keys": ".tables.verbs.keys",
    "mode": ".tables.verbs.mode",
    "count_distinct": ".tables.verbs.count",
    "mean": ".tables.verbs.sum",
    "sum": ".tables.verbs.sum",
    "variance": ".tables.verbs.variance",
    "standard_deviation": ".tables.verbs.variance",
    "geometric": ".selection.noise",
    "laplace": ".selection.noise",
    "randomized_response": ".selection.noise",
    "private_candidates": ".tables.verbs.private_candidates",
    "profile": ".tables.verbs.profile",
    "maximum": ".tables.verbs.quantile",
    "median": ".tables.verbs.quantile",
    "minimum": ".tables.verbs.quantile",
    "quantile": ".tables.verbs.quantile",
    "quantiles": ".tables.verbs.quantiles",
    "select": ".selection.select",
    "select_by": ".tables.verbs.select_by",
    "select_generalized": ".selection.select_generalized",
    "select_rows": ".selection.select_rows",
    "selector": ".selection.selector",
    "select_top_k": ".selection.select_top_k",
    "sql": ".tables.verbs.sql",
    "top_k": ".tables.verbs.top_k",
}
"""The modules of the public names, which are imported when they are first used; those ending in "." are modules."""

__all__ = sorted(_MODULES)


if not TYPE_CHECKING:  # or a name that does not exist would be none of its mistakes

    def __getattr__(name: str) -> object:
        """Import a public name when it is first used, so that `import discreet` is quick."""
        from importlib import import_module

        if name not in _MODULES:
            from .base.names_elsewhere import missing_name

            raise missing_name(name)
        if _MODULES[name].endswith("."):
            return import_module(_MODULES[name] + name, __name__)
        value = globals()[name] = getattr(import_module(_MODULES[name], __name__), name)
        return value


def __dir__() -> list[str]:
    return __all__
