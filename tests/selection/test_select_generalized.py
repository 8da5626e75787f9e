"""Scores with a sensitivity each: the definition, its sensitivity, and what it finds."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.errors import InvalidArgument
from discreet.ledger import Ledger
from discreet.selection.scores.generalized import Generalized
from discreet.selection.select_generalized import select_generalized


def by_definition(q: Any, changes: Any, t: Fraction) -> list[Fraction]:
    a = [Fraction(s) - t * d for s, d in zip(q, changes, strict=True)]
    n = range(len(a))
    return [min((a[i] - a[j]) / (changes[i] + changes[j]) for j in n) for i in n]


def computed(q: Any, changes: Any, t: Any) -> list[Fraction]:
    scores = Generalized(q, tuple(map(Fraction, changes)), Fraction(t)).compute(Fraction(0))
    return [scores.exact(i) for i in range(len(scores))]


@given(
    st.lists(
        st.tuples(
            st.fractions(-9, 9, max_denominator=6), st.fractions("1/4", 5, max_denominator=4)
        ),
        min_size=1,
        max_size=12,
    ),
    st.fractions(0, 20, max_denominator=3),
)
def test_the_hull_gives_the_definition(rows: list[tuple[Fraction, Fraction]], t: Fraction) -> None:
    q, changes = zip(*rows, strict=True)
    assert computed(q, changes, t) == by_definition(q, changes, t)


def test_ties_and_lines_give_the_definition() -> None:
    for q in product(range(3), repeat=4):
        for changes in ((1, 1, 1, 1), (1, 2, 3, 4), (1, 1, 2, 3)):
            for t in (0, 1, Fraction(5, 2)):
                assert computed(q, changes, t) == by_definition(q, changes, Fraction(t))


def test_a_spread_of_2_occurs() -> None:
    """The steady candidate falls below the wild one and the middle one gains on the steady one."""
    changes = [Fraction(1000), Fraction(1), Fraction(1, 1000)]
    before = by_definition([1000, -10, 0], changes, Fraction(0))
    after = by_definition([2000, -9, -changes[2]], changes, Fraction(0))
    moved = [b - a for a, b in zip(before, after, strict=True)]
    assert moved[1] - moved[2] == 2


def test_equal_sensitivities_are_the_ordinary_gaps() -> None:
    assert computed([5, 2, 4], [2, 2, 2], 7) == [0, Fraction(-3, 4), Fraction(-1, 4)]


def test_the_bound_on_the_score_holds() -> None:
    """With S >= -t, which has probability 1 - beta, q[i] >= q[j] - 2 t D[j] for all j."""
    for q in product(range(0, 40, 13), repeat=3):
        changes, t = (Fraction(1), Fraction(4), Fraction(9)), Fraction(3)
        for i, s in enumerate(computed(q, changes, t)):
            if s >= -t:
                assert all(q[i] >= q[j] - 2 * t * changes[j] for j in range(3))


def test_a_wild_candidate_does_not_hide_a_steady_one() -> None:
    release = select_generalized(
        {"wild": 0, "steady": 200, "other": 0},
        [10**6, 1, 1],
        beta="1e-20",
        epsilon=2,
        neighbors="replace_one",
    )
    assert release.value == "steady"  # but for a chance of 1e-20
    assert release.guarantee == discreet.privacy.BoundedRange(Fraction(2), "replace_one")
    for terms in ({"scale": 1}, {"rho": 2}, {"epsilon": 2, "mechanism": "permute_and_flip"}):
        assert select_generalized([0, 200], [9, "1/2"], **terms).value == 1
    named = select_generalized(
        np.array([200.0, 0]), [1, 9], epsilon=2, candidates=["a", "b"], size=2
    )
    assert named.value == ["a", "a"]


def test_t_follows_epsilon_and_beta() -> None:
    from discreet.selection.select_generalized import _lowering

    assert math.isclose(
        _lowering(Fraction(1, 2), 10, Fraction(1, 20)), 4 * math.log(200), rel_tol=1e-3
    )
    assert _lowering(Fraction(1), 1, Fraction(1, 10**400)) > 1800


@pytest.mark.parametrize(
    "bad", [[], [0, 1], [-1, 1], ["x", 1], 3, "12", {1: 2}, {1, 2}, [math.inf, 1]]
)
def test_what_is_no_sensitivity_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidArgument):
        select_generalized([1, 2], bad, epsilon=1)


@pytest.mark.parametrize(
    "scores",
    [[10**2_999, 2, 3], [Fraction(1, 10**1_600 + 1), Fraction(1, 10**1_700 + 3), Fraction(3)]],
)
def test_scores_that_are_accepted_have_an_answer_however_long_their_slopes_are(
    scores: list[Any],
) -> None:
    """Else a refusal, which costs nothing, would tell which candidates decide."""
    assert select_generalized(scores, sensitivities=[1, 2, 3], epsilon=1).value in {0, 1, 2}


def test_sensitivities_by_name_are_those_in_order() -> None:
    """Whatever the order of the two mappings is, and whether a ledger orders the scores by name or not."""
    scores = {"b": 900, "a": 200, "c": 1000}
    ledger = Ledger()
    ledger.open("people", epsilon=100)
    session = ledger.session("people")
    winners: dict[str, dict[str, Any]] = {
        "b": {"c": 10**6, "a": "1/2", "b": 1},
        "c": {"c": 1, "a": "1/2", "b": 10**6},
    }
    for account in (None, session):
        for winner, by_name in winners.items():
            for way in (by_name, [by_name[name] for name in scores]):
                answer = select_generalized(scores, way, epsilon=1, beta="1e-9", ledger=account)
                assert answer.value == winner


@pytest.mark.parametrize(
    ("scores", "bad", "words"),
    [
        ([1, 2], {0: 1, 1: 1}, "the scores have no names"),
        ({"a": 1, "b": 2}, {"a": 1}, "[Ii]t has 1, and 1 candidates have none"),
        ({"a": 1, "b": 2}, {"a": 1, "B": 1}, "[Ii]t has 2, and 1 candidates have none"),
        ({"a": 1, "b": 2}, {"a": 1, "b": 1, "c": 1}, "[Ii]t has 3, and 0 candidates have none"),
    ],
)
def test_sensitivities_of_other_names_are_refused(scores: Any, bad: Any, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        select_generalized(scores, bad, epsilon=1)
