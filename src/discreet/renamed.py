"""Names that `discreet` had in other releases, and the names in their place."""

import sys

NAMES: dict[str, str] = {
    "Analyst": "Connection",
    "DataNode": "connect",
    "csv": "scan_csv",
    "each": "per_candidate",
    "generalized": "select_generalized",
    "parallel": "compose_parallel",
    "price": "best_price",
}
"""The names of `discreet` that are called otherwise now."""

MODULES: dict[str, str] = {
    "AboveThreshold": "mechanisms",
    "AllowedQuestion": "node",
    "ApproxDP": "privacy",
    "ApproxRange": "privacy",
    "Base2": "mechanisms",
    "Base2Eta": "mechanisms",
    "BoundedRange": "privacy",
    "Charge": "ledger",
    "Comparison": "planning.compare",
    "Composition": "privacy",
    "Distribution": "planning.distribution",
    "Enclosure": "planning.enclosure",
    "ErrorBound": "accuracy",
    "Exponential": "mechanisms",
    "GaussianDP": "privacy",
    "GeometricDP": "privacy",
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
    "SCORES": "scores",
    "Selector": "verbs.selector",
    "Simulation": "simulations",
    "Speed": "sampling.speed",
    "SummedRange": "privacy",
    "Terms": "terms",
    "ZCDP": "privacy",
    "best_eta": "mechanisms",
    "speed": "sampling.speed",
    "to_opendp": "opendp",
}
"""The names of `discreet` that moved to a module below it."""

ELSEWHERE: dict[str, str] = {
    **dict.fromkeys(
        ("std", "var", "variance"),
        "discreet has sums, means and quantiles: docs/how-to/which_function.md has what there is for numbers",
    ),
    "average": "discreet.mean(data, column, minimum=..., maximum=..., epsilon=...) is the mean",
    **dict.fromkeys(
        ("histogram", "hist", "value_counts"),
        "discreet.counts(data, column, candidates=..., epsilon=...) is a histogram",
    ),
    "plan": "discreet.worst_error tells the error of an epsilon, and discreet.epsilon_for the epsilon for an error",
    **dict.fromkeys(
        ("max", "argmax"),
        "discreet.maximum is the largest number, and discreet.mode the most common",
    ),
    "min": "discreet.minimum is the least number",
    "percentile": "discreet.quantile(data, column, alpha=0.9, ...) is the 90th percentile",
    **dict.fromkeys(
        ("choice", "softmax", "exponential", "exponential_mechanism"),
        "discreet.select(scores, sensitivity=..., epsilon=...) is the exponential mechanism",
    ),
    **dict.fromkeys(
        ("report_noisy_max", "noisy_max"), 'discreet.select(..., mechanism="noisy_max")'
    ),
}
"""Names that people look for, and what there is."""

NEW_METHODS: dict[str, dict[str, str]] = {
    "Session": {"generalized": "select_generalized", "price": "best_price"},
    "Connection": {"ask_verb": "ask_free", "price": "best_price", "quote_verb": "quote_free"},
}
"""The methods of classes that are called otherwise now."""

COMMANDS: dict[tuple[str, ...], str] = {
    ("laplace",): "noise laplace",
    ("ledger", "checkpoint"): "ledger verify --write-checkpoint FILE",
    ("ledger", "export"): "ledger history --export FILE",
    ("maximum",): "quantile --alpha 1",
    ("minimum",): "quantile --alpha 0",
    ("price",): "best-price",
    ("randomized-response",): "noise randomized-response",
    ("report", "audit"): "audit exact --report FILE",
    ("report", "ledger"): "ledger show --report FILE",
    ("schema",): "describe --schema",
    **dict.fromkeys((("hist",), ("histogram",), ("value-counts",)), "counts"),
    **dict.fromkeys((("average",), ("avg",)), "mean"),
    **dict.fromkeys((("percentile",),), "quantile"),
}
"""The commands that are called otherwise, here or now."""

OPTIONS: dict[str, str] = {
    "--noise": "give --mechanism-option noise=NAME",
    "--unsafe-candidates-from-data": "nothing is guaranteed of such an answer; Python has it, for tests",
}
"""The options that are called otherwise now, or are gone."""


def missing_name(name: str) -> AttributeError | ImportError:
    """Return the error for a name that `discreet` does not have; of one that it had, it names the new one.

    `from discreet import NAME` would replace an AttributeError by an ImportError of its own words.
    """
    if name in NAMES:
        message = f"discreet.{name} is now discreet.{NAMES[name]}"
    elif name in MODULES:
        message = f"discreet.{name} is now in discreet.{MODULES[name]}: from discreet.{MODULES[name]} import {name}"
    else:
        hint = f": {ELSEWHERE[name]}" if name in ELSEWHERE else _nearest(name)
        return AttributeError(f"module 'discreet' has no attribute {name!r}{hint}")
    caller = sys._getframe(2).f_code
    return (ImportError if caller.co_name == "_handle_fromlist" else AttributeError)(message)


def _nearest(name: str) -> str:
    """Return the question whether a public name was meant, "" if none is near."""
    from difflib import get_close_matches

    names = [*dir(sys.modules["discreet"]), *ELSEWHERE]
    for close in get_close_matches(name, names, n=1, cutoff=0.75):
        return f": {ELSEWHERE[close]}" if close in ELSEWHERE else f"; did you mean {close!r}?"
    return ""


def missing_method(kind: type, name: str) -> AttributeError:
    """Return the error for an attribute that an object does not have; of one that it had, it names the new one."""
    new = NEW_METHODS.get(kind.__name__, {}).get(name)
    if new is None:
        return AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")
    return AttributeError(f"{kind.__name__}.{name} is now {kind.__name__}.{new}")
