"""Names of other libraries, and the names for the same things here."""

import sys

ELSEWHERE: dict[str, str] = {
    "var": "discreet.variance(data, column, minimum=..., maximum=..., epsilon=...) is the variance",
    **dict.fromkeys(
        ("std", "stddev", "stdev"),
        "discreet.standard_deviation(data, column, minimum=..., maximum=..., epsilon=...) is the "
        "standard deviation",
    ),
    "average": "discreet.mean(data, column, minimum=..., maximum=..., epsilon=...) is the mean",
    **dict.fromkeys(
        ("histogram", "hist", "value_counts"),
        "discreet.counts(data, column, candidates=..., epsilon=...) is a histogram",
    ),
    "plan": "discreet.worst_error returns the error of an epsilon, and discreet.epsilon_for the "
    "epsilon for an error",
    **dict.fromkeys(
        ("max", "argmax"),
        "discreet.maximum is the largest number, and discreet.mode the most common",
    ),
    **dict.fromkeys(
        ("distinct", "nunique", "n_unique", "approx_count_distinct"),
        "discreet.count_distinct(data, column, epsilon=...) is the number of distinct values",
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

COMMANDS: dict[str, str] = {
    "laplace": "noise laplace",
    "maximum": "quantile --alpha 1",
    "minimum": "quantile --alpha 0",
    "randomized-response": "noise randomized-response",
    **dict.fromkeys(("hist", "histogram", "value-counts"), "counts"),
    **dict.fromkeys(("average", "avg"), "mean"),
    "var": "variance",
    **dict.fromkeys(("distinct", "nunique"), "count-distinct"),
    **dict.fromkeys(("std", "stddev"), "standard-deviation"),
    "percentile": "quantile",
}
"""The commands that are called otherwise elsewhere, or are part of another command here."""


def missing_name(name: str) -> AttributeError:
    """Return the error for a name that `discreet` does not have, with the name that was meant."""
    hint = f": {ELSEWHERE[name]}" if name in ELSEWHERE else _nearest(name)
    return AttributeError(f"module 'discreet' has no attribute {name!r}{hint}")


def _nearest(name: str) -> str:
    """Return the question whether a public name was meant, "" if none is near."""
    from difflib import get_close_matches

    names = [*dir(sys.modules["discreet"]), *ELSEWHERE]
    for close in get_close_matches(name, names, n=1, cutoff=0.76):
        return f": {ELSEWHERE[close]}" if close in ELSEWHERE else f". Did you mean {close!r}?"
    return ""
