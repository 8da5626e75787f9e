"""discreet: exact private selection.

The exponential mechanism of differential privacy and its family, sampled exactly: the distribution of
an answer is the one in the privacy proof, to the last bit. Start with `select` (scores in an array) or
`mode` (a table).
"""

__version__ = "0.2.0"

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
    "scan_csv": ".tables.engines.csv_files",
    "scan_query": ".tables.engines.sql_queries",
    "best_price": ".tables.verbs.best_price",
    "bounds": ".tables.verbs.bounds",
    "check": ".tables.verbs.check",
    "count": ".tables.verbs.count",
    "counts": ".tables.verbs.count",
    "keys": ".tables.verbs.keys",
    "mode": ".tables.verbs.mode",
    "mean": ".tables.verbs.sum",
    "sum": ".tables.verbs.sum",
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


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that `import discreet` is quick."""
    from importlib import import_module

    if name not in _MODULES:
        from .base.renamed import missing_name

        raise missing_name(name)
    if _MODULES[name].endswith("."):
        return import_module(_MODULES[name] + name, __name__)
    value = globals()[name] = getattr(import_module(_MODULES[name], __name__), name)
    return value


def __dir__() -> list[str]:
    return __all__
