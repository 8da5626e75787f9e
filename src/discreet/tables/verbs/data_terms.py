"""The terms of verbs over data: a `Dataset` in place of data, and names of other libraries refused."""

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from ...selection import terms
from ...selection.terms import DEFAULTS, Verb, check_names
from ..datasets.calls import takes_dataset
from ..verb_table import use_of


def takes_data_terms(verb: Verb) -> Verb:
    """Return a verb over data with its terms spelled out, as `terms.takes_terms` does."""
    return takes_data_terms_without()(verb)


def takes_data_terms_without(*names: str) -> Callable[[Verb], Verb]:
    """Return the decorator that spells out the terms of a verb over data, but for some.

    Args:
        *names: the terms that it does not take.
    """

    def wrap(verb: Any, arguments: Collection[str]) -> Any:
        check = partial(_check_keywords, names=arguments)
        return takes_dataset(verb, use_of(verb.__name__), check)

    return terms.takes_terms_without(*names, wrap=wrap)


_BOUNDS = {
    "minimum": "give both bounds as minimum and maximum, such as minimum=0, maximum=120",
    "candidates": "give both bounds as candidates=Grid(lo, hi), such as candidates=Grid(0, 120)",
}
"""How a verb with a certain argument takes bounds, which other libraries call otherwise."""
_ONE_ANSWER = (
    "a verb over data gives one answer. For n answers ask n times, each at its price, or draw many by "
    "discreet.simulate, which releases nothing"
)
_OF_SCORES = {"sensitivity", "spread", "monotonic"}
"""Terms of verbs over scores."""
_BOUND_NAMES = {"lo", "hi", "lower", "upper", "bounds", "range", "minimum", "maximum", "min", "max"}
_LEVELS = {
    "alpha": "the part of the records below the answer is alpha, such as alpha=0.9 for the 90th percentile",
    "alphas": "the parts of the records below the answers are alphas, such as alphas=[0.25, 0.5, 0.75]",
}
_LEVEL_NAMES = {"q", "p", "percentile", "percentiles", "quantile", "quantiles", "level", "levels"}


def _check_keywords(terms: Mapping[str, object], names: Collection[str]) -> None:
    """Raise unless every name is one of the verb, first for those of other libraries."""
    if "size" in terms and "size" not in names:
        raise TypeError(f"unexpected argument 'size': {_ONE_ANSWER}")
    for name in terms.keys() - names:
        for others, advice in ((_BOUND_NAMES, _BOUNDS), (_LEVEL_NAMES, _LEVELS)):
            hint = next((text for own, text in advice.items() if own in names), None)
            if name in others and hint is not None:
                raise TypeError(f"unexpected argument {name!r}: {hint}")
    # Of a term that other verbs take, the verb says why it does not.
    own = DEFAULTS.keys() | _OF_SCORES
    check_names({name: term for name, term in terms.items() if name not in own}, names)
