"""What a type checker knows of an answer, and that it is so: mypy reads `assert_type`, and pytest runs the rest."""

import pickle
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, assert_type

import numpy as np
from matplotlib.figure import Figure

import discreet
from discreet import Grid, Release
from discreet.selection.candidate_types import T

TERMS: dict[str, Any] = {"epsilon": 1}
AGES = [31, 42, 57]
DRINKS = ["tea", "coffee"]


def test_an_answer_has_the_type_of_the_candidates() -> None:
    by_name = discreet.select([1, 2], candidates=DRINKS, sensitivity=1, epsilon=1)
    assert_type(by_name.value, str)
    of_mapping = discreet.select({"tea": 1, "coffee": 2}, sensitivity=1, epsilon=1)
    assert_type(of_mapping.value, str)
    drink = discreet.mode(["tea", "tea"], candidates=DRINKS, epsilon=1)
    assert_type(drink, Release[str])
    told = discreet.randomized_response("tea", DRINKS, epsilon=1)
    assert_type(told.value, str)
    chosen = discreet.select_by(
        lambda _, names: [len(name) for name in names], None, DRINKS, sensitivity=1, epsilon=1
    )
    assert_type(chosen.value, str)
    weighed = discreet.select_generalized({"tea": 1, "coffee": 2}, [1, 1], epsilon=1)
    assert_type(weighed.value, str)
    for release in (by_name, of_mapping, drink, told, chosen, weighed):
        assert type(release.value) is str


def test_an_answer_without_candidates_is_an_index() -> None:
    for scores in ([1, 2], np.array([1.0, 2.0])):
        assert type(discreet.select(scores, sensitivity=1, epsilon=1).value) is int
    assert_type(discreet.select([1, 2], sensitivity=1, epsilon=1).value, int)
    assert_type(discreet.geometric(3, sensitivity=1, epsilon=1).value, int)
    assert type(discreet.geometric(3, sensitivity=1, epsilon=1).value) is int


def test_a_grid_of_integers_answers_with_integers() -> None:
    ages: Grid[int] = Grid(0, 120)
    assert_type(Grid(0, 120), Grid[int])
    assert_type(Grid(0, 1, "0.1"), Grid[Any])
    assert_type(discreet.median(AGES, candidates=ages, epsilon=1).value, int)
    assert_type(discreet.best_price(AGES, candidates=ages, epsilon=1).value, int)
    several = discreet.quantiles(AGES, alphas=["0.1", "0.9"], candidates=ages, epsilon=1)
    assert_type(several.value, list[int])
    assert [type(one) for one in several.value] == [int, int]
    assert type(discreet.median(AGES, candidates=Grid(0, 1, "0.1"), epsilon=1).value) is Decimal
    listed = discreet.maximum(AGES, candidates=[Decimal(1), Decimal(2)], epsilon=1)
    assert_type(listed.value, Decimal)
    assert type(listed.value) is Decimal


def test_several_answers_have_any_type() -> None:
    """A list, an array or a dict: what it is depends on values, which no overload sees."""
    several = discreet.select([1, 2], candidates=DRINKS, sensitivity=1, epsilon=1, size=2)
    assert_type(several, Release[Any])
    assert_type(discreet.mode(["tea"], candidates=DRINKS, **TERMS), Release[Any])
    best = discreet.select_top_k([1, 2], k=1, candidates=DRINKS, sensitivity=1, epsilon=1)
    assert_type(best.value, list[str])
    assert [type(one) for one in best.value] == [str]


def test_a_session_answers_with_the_same_types() -> None:
    ledger = discreet.Ledger()
    ledger.open("people", epsilon=3)
    session = ledger.session("people")
    assert_type(session.mode(["tea"], candidates=DRINKS, epsilon=1).value, str)
    assert_type(session.median(AGES, candidates=Grid(0, 120), epsilon=1).value, int)
    many = session.select([1, 2], candidates=DRINKS, sensitivity=1, epsilon="1/4", size=2)
    assert_type(many, Release[Any])
    assert len(many.value) == 2


def test_a_release_of_any_type_is_a_release() -> None:
    def spent(releases: Sequence[Release]) -> int:
        return len(releases)

    release = discreet.mode(["tea"], candidates=DRINKS, epsilon=1)
    assert spent([release]) == 1
    assert isinstance(release, Release)
    assert Release[str] is Release[str]
    assert Release.__parameters__ == (T,)  # type: ignore[attr-defined]
    again = pickle.loads(pickle.dumps(release))
    assert (again.value, again.guarantee) == (release.value, release.guarantee)
    assert pickle.loads(pickle.dumps(Grid(0, 3)))[3] == 3


def test_pictures_are_figures_of_matplotlib() -> None:
    figure = discreet.distribution({"tea": 1}, sensitivity=1, epsilon=1).plot()
    shown: Figure = figure
    assert shown is figure
    assert_type(figure.to_svg(), str)
