"""discreet: exact private selection.

The exponential mechanism of differential privacy and its family, sampled exactly: the distribution of
an answer is the one in the privacy proof, to the last bit. Start with `select` (scores in an array) or
`mode` (a table).
"""

__version__ = "0.2.0"

_MODULES = {
    "attacks": ".",
    "audit": ".",
    "errors": ".",
    "mechanisms": ".",
    "plots": ".",
    "privacy": ".",
    "testing": ".",
    "Batch": ".batches",
    "Grid": ".candidates",
    "Decimals": ".decimals",
    "DateGrid": ".date_grid",
    "Dataset": ".datasets",
    "DiscreetError": ".errors",
    "Budget": ".ledger",
    "Ledger": ".ledger",
    "Session": ".ledger",
    "read_dataset": ".ledger.toml_budgets",
    "compare": ".planning.compare",
    "distribution": ".planning.simulate",
    "simulate": ".planning.simulate",
    "plan_keys": ".planning.key_plan",
    "epsilon_for": ".planning.worst_errors",
    "worst_error": ".planning.worst_errors",
    "compose": ".privacy.composition",
    "compose_parallel": ".privacy.parallel",
    "Release": ".releases",
    "report": ".reports",
    "per_candidate": ".scores.custom",
    "Connection": ".service",
    "connect": ".service",
    "CandidateTable": ".tables.candidate_table",
    "scan_csv": ".tables.csv_files",
    "scan_query": ".tables.sql_queries",
    "best_price": ".verbs.best_price",
    "bounds": ".verbs.bounds",
    "check": ".verbs.check",
    "count": ".verbs.count",
    "counts": ".verbs.count",
    "keys": ".verbs.keys",
    "mode": ".verbs.mode",
    "mean": ".verbs.sum",
    "sum": ".verbs.sum",
    "geometric": ".verbs.noise",
    "laplace": ".verbs.noise",
    "randomized_response": ".verbs.noise",
    "private_candidates": ".verbs.private_candidates",
    "profile": ".verbs.profile",
    "maximum": ".verbs.quantile",
    "median": ".verbs.quantile",
    "minimum": ".verbs.quantile",
    "quantile": ".verbs.quantile",
    "quantiles": ".verbs.quantiles",
    "select": ".verbs.select",
    "select_by": ".verbs.select_by",
    "select_generalized": ".verbs.select_generalized",
    "select_rows": ".verbs.select_rows",
    "selector": ".verbs.selector",
    "select_top_k": ".verbs.select_top_k",
    "sql": ".verbs.sql",
    "top_k": ".verbs.top_k",
}
"""The modules of the public names, which are imported when they are first used; "." for a module itself."""

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that `import discreet` is quick."""
    from importlib import import_module

    if name not in _MODULES:
        from .renamed import missing_name

        raise missing_name(name)
    if _MODULES[name] == ".":
        return import_module(f".{name}", __name__)
    value = globals()[name] = getattr(import_module(_MODULES[name], __name__), name)
    return value


def __dir__() -> list[str]:
    return __all__
