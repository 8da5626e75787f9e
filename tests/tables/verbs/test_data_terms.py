"""Verbs over data: names of other libraries are refused with the word that there is, before data are looked at."""

from typing import Any

import pytest

import discreet


class Untouched:
    """Data that must not be looked at."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)


@pytest.mark.parametrize(
    ("verb", "terms", "hint"),
    [
        ("median", {"lower": 0}, r"give both bounds as candidates=Grid\(lo, hi\)"),
        ("sum", {"lower": 0}, "give both bounds as minimum and maximum"),
        ("quantile", {"q": 0.9}, "the part of the records below the answer is alpha"),
        ("quantiles", {"q": [0.9]}, "the parts of the records below the answers are alphas"),
        ("mode", {"size": 3}, "a verb over data gives one answer"),
        ("keys", {"user_id": "u"}, "name the column of users as privacy_unit"),
        ("count", {"epsilonn": 1}, "Did you mean 'epsilon'"),
    ],
)
def test_names_of_other_libraries_are_refused(verb: str, terms: dict[str, Any], hint: str) -> None:
    with pytest.raises(TypeError, match=f"unexpected argument '{next(iter(terms))}'.*{hint}"):
        getattr(discreet, verb)(Untouched(), **terms)


def test_scores_take_no_names_of_verbs_over_data() -> None:
    with pytest.raises(TypeError, match=r"unexpected argument 'lower'\. The terms are"):
        discreet.select([1, 2], sensitivity=1, epsilon=1, lower=0)  # type: ignore[call-overload]
