"""The questions about declared columns that an owner names: their verbs, and the arguments of every verb."""

from collections.abc import Mapping
from typing import Any

from .declarations import read_text
from .keys import (
    ABOVE_ZERO_AS_GIVEN,
    ANY_TEXT,
    Key,
    KeyContent,
    KeyTable,
    Kind,
    Variants,
    anything,
    choice_of,
)

_OF_KEYS = ("minimum_count", "most", "other")

VERBS: Mapping[str, tuple[str, ...]] = {
    "mode": ("gap", "method", "max_candidates"),
    "top_k": ("k", "gap", "method", "max_candidates"),
    "median": ("score",),
    "minimum": (),
    "maximum": (),
    "quantile": ("alpha",),
    "quantiles": ("alphas", "method"),
    "best_price": ("supply", "units", "continuous"),
    "check": (),
    "count": (),
    "counts": ("max_candidates", *_OF_KEYS),
    "keys": ("delta", *_OF_KEYS),
    "bounds": ("q",),
    "sum": ("minimum", "maximum", "step", "bounds_share"),
    "mean": ("minimum", "maximum", "step", "bounds_share"),
    "sql": ("statement",),
}
"""The verbs of questions about declared columns, and their arguments besides the terms of all."""

_USES: Mapping[str, str] = {
    "mode": "values", "top_k": "values", "counts": "values", "keys": "keys", "count": "records",
    "sum": "sums", "mean": "sums", "sql": "statement",
}  # fmt: skip

WITHOUT_COLUMN = ("count", "sql")
"""Verbs that may be asked without a column."""

NUMBERS_ONLY = ("best_price", "sum", "mean", "bounds")
"""Verbs over numbers that take no dates."""

NEVER_BOUNDED = ("bounds",)
"""Verbs over numbers that ask for bounds, whether or not some are declared."""

WITHOUT_BOUNDS = ("median", "quantile", "quantiles")
"""Verbs over numbers that need neither candidates nor declared bounds."""

VERB = choice_of(VERBS)
"""A verb in discreet.toml."""

_OF_GROUPS = ("by", "groups", "max_groups", "groups_share", "most_drawn", "delta")

SHARED_TERMS = (
    "candidates", "epsilon", "rho", "scale", "mechanism", *_OF_GROUPS, "max_contributions", "where",
)  # fmt: skip
"""The terms of all verbs but those of `FEWER`."""

_NOISY = ("epsilon", "rho", "scale", *_OF_GROUPS, "where")

FEWER: Mapping[str, tuple[str, ...]] = {
    "check": ("epsilon", "max_contributions"),
    "count": _NOISY,
    "counts": ("candidates", *_NOISY),
    "bounds": ("candidates", "epsilon", *_OF_GROUPS, "max_contributions", "where"),
    "keys": ("epsilon", "max_groups", "where"),
    "sum": (*_NOISY, "max_contributions"),
    "mean": (*(term for term in _NOISY if term != "scale"), "max_contributions"),
    "sql": (),
}
"""The verbs that take fewer terms, and those that they take."""


def use_of(verb: str) -> Any:
    """Return the use that a verb makes of its column: see `dataset_terms.Asks`."""
    return _USES.get(verb, "numbers")


def terms_of(verb: str) -> tuple[str, ...]:
    """Return the terms of a question with a verb."""
    return (*FEWER.get(verb, SHARED_TERMS), *VERBS[verb])


def keys_of(verb: str) -> tuple[str, ...]:
    """Return the keys of a named question with a verb."""
    return ("verb", "column", *terms_of(verb), "description")


_ARGUMENT = anything("as the verb takes it")
_PARTS: Mapping[str, KeyContent] = {
    "column": ANY_TEXT,
    **dict.fromkeys(("epsilon", "rho", "scale"), ABOVE_ZERO_AS_GIVEN),
}
_DESCRIPTIONS = {"column": "A declared column.", "description": "For people."}


def _question_with(verb: str) -> KeyTable:
    """Return the table of a question with a verb."""
    keys = {
        name: Key(_PARTS.get(name, _ARGUMENT), _DESCRIPTIONS.get(name, ""))
        for name in keys_of(verb)
    }
    kind = Kind(f'"{verb}"', {"const": verb}, read_text)
    keys["verb"] = Key(kind, missing="")
    needed = None if verb in WITHOUT_COLUMN else "the column is missing; name a declared one"
    keys["column"] = Key(ANY_TEXT, _DESCRIPTIONS["column"], needed)
    return KeyTable(keys)


QUESTION = Variants("verb", VERB, {verb: _question_with(verb) for verb in VERBS})
"""A named question. What its verb and the column refuse is not known here."""
