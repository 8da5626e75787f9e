"""The verb select_by."""

import math
import traceback
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.errors import InvalidArgument, InvalidCandidates, InvalidNumber, InvalidScores
from discreet.selection.scores.custom import Custom, per_candidate
from discreet.tables.verbs.select_by import select_by
from tests.selection.scores.test_custom import SECRET, numbers, revenue


def test_the_first_seeds_function_runs_as_it_is() -> None:
    prices = np.arange(350) / 100
    release = select_by(
        revenue,
        [1, 1, 1, 3.01] * 1000,
        prices,
        sensitivity=3.5,
        monotonic=True,
        granularity=0.01,
        epsilon=5,
    )
    assert release.value == 1.0  # but for a chance of e^-57
    score = Custom(revenue, [1, 1, 1, 3.01], prices, change=3.5, granularity=0.01)
    assert numbers(score)[301] == Fraction(301, 100)
    assert numbers(score)[300] == 3
    assert max(numbers(score)) == 4


def test_a_function_of_one_candidate() -> None:
    count: Callable[[list[str], str], int] = list.count
    rows = ["tea"] * 90 + ["coffee"] * 9
    release = select_by(
        per_candidate(count), rows, ["coffee", "tea"], sensitivity=1, monotonic=True, epsilon=1
    )
    assert release.value == "tea"  # but for a chance of e^-81
    assert release.guarantee == discreet.privacy.BoundedRange(Fraction(1), "add_remove")
    assert (
        select_by(per_candidate(count), rows, ["tea"], spread=1, epsilon=1, size=2).value
        == ["tea"] * 2
    )


def test_candidates_come_as_they_were_given() -> None:
    seen: list[Any] = []

    def look(data: Any, candidates: Any) -> Any:
        seen.append((data, candidates))
        return [0] * len(candidates)

    array, data = np.array([1.5, 2.5]), object()
    for given_as in (array, (1, 2), [1, 2]):
        select_by(look, data, given_as, sensitivity=1, epsilon=1)
    with pytest.raises(InvalidArgument, match="only once"):
        select_by(look, data, iter([1, 2]), sensitivity=1, epsilon=1)
    assert seen[0][0] is data
    assert seen[0][1] is array
    assert [candidates for _, candidates in seen[1:]] == [[1, 2], [1, 2]]


def failing(error: BaseException) -> Callable[[Any, Any], Any]:
    def u(data: Any, candidates: Any) -> Any:
        raise error

    return u


def late(data: Any, candidates: Sequence[Any]) -> Any:
    return (int(f"no number: {data}") for _ in candidates)


class Hostile(list[int]):
    def __array__(self, *_: Any, **__: Any) -> Any:
        raise ValueError(SECRET)


class HostileError(InvalidScores):
    """One of ours, with private words."""


@pytest.mark.parametrize(
    ("u", "name"),
    [
        (failing(ValueError(SECRET)), "ValueError"),
        (failing(KeyError(SECRET)), "KeyError"),
        (failing(HostileError(SECRET)), "HostileError"),
        (failing(BaseException(SECRET)), "BaseException"),
        (late, "ValueError"),
        (lambda data, candidates: Hostile(), "ValueError"),
        (lambda data: [0], "TypeError"),
    ],
)
def test_errors_never_quote_the_data(u: Any, name: str) -> None:
    with pytest.raises(InvalidScores, match=f"failed with {name}") as caught:
        select_by(u, SECRET, ["a"], sensitivity=1, epsilon=1)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    assert str(SECRET) not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_a_wish_to_stop_is_heard(error: type[BaseException]) -> None:
    with pytest.raises(error):
        select_by(failing(error()), None, ["a"], sensitivity=1, epsilon=1)


@pytest.mark.parametrize(
    "returned",
    [5, "ab", None, [1], [1, 2, 3], [], [[1, 2]], {1, 2}, [True, False], [1, None], [1, "x"],
     pd.DataFrame({"a": [1, 2]}), np.array([True, False])],
)  # fmt: skip
def test_what_is_no_row_of_scores_is_refused(returned: Any) -> None:
    with pytest.raises(InvalidScores):
        select_by(lambda *_: returned, None, ["a", "b"], sensitivity=1, epsilon=1)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_refused(bad: float) -> None:
    for declared in ({"error": 0}, {"granularity": 1}):
        with pytest.raises(InvalidScores, match="NaN or an infinity") as caught:
            select_by(  # type: ignore[call-overload]
                lambda *_: [SECRET, bad],
                None,
                ["a", "b"],
                sensitivity=1,
                epsilon=1,
                **declared,
            )
        assert str(SECRET) not in str(caught.value)


def test_public_arguments_are_checked_before_the_function_is_called() -> None:
    def never(data: Any, candidates: Any) -> Any:
        raise AssertionError("called")

    for error, arguments in [
        (InvalidNumber, {"sensitivity": 0}),
        (InvalidArgument, {}),
        (InvalidArgument, {"sensitivity": 1, "error": 1, "granularity": 1}),
        (InvalidNumber, {"sensitivity": 1, "error": -1}),
        (InvalidNumber, {"sensitivity": 1, "granularity": 0}),
        (InvalidNumber, {"sensitivity": 1, "epsilon": 0}),
        (InvalidArgument, {"spread": 1, "monotonic": True}),
    ]:
        with pytest.raises(error):
            select_by(never, None, ["a"], **{"epsilon": 1, **arguments})  # type: ignore[call-overload]
    with pytest.raises(InvalidArgument, match=r"u must be a function u\(data, candidates\), got 3"):
        select_by(3, None, ["a"], sensitivity=1, epsilon=1)  # type: ignore[call-overload]
    for candidates in ([], ["a", "a"], "ab"):
        with pytest.raises(InvalidCandidates):
            select_by(never, None, candidates, sensitivity=1, epsilon=1)


def test_scores_that_are_accepted_have_an_answer_however_long_their_multiples_are() -> None:
    """Else a refusal, which costs nothing, would tell that a score is next to the longest that there may be."""
    scores = [Fraction(10**2_999, 3), Fraction(0)]
    terms: dict[str, Any] = {
        "granularity": Fraction(1, 10**1_400 + 1),
        "sensitivity": 1,
        "epsilon": 1,
    }
    assert discreet.select_by(lambda *_: scores, [], ["a", "b"], **terms).value == "a"


def test_the_order_of_other_libraries_meets_ours() -> None:
    turned: Any = [1, 2], ["tea"], per_candidate(list.count)
    with pytest.raises(InvalidArgument, match=r"The order is select_by\(u, data, candidates\)$"):
        select_by(*turned, sensitivity=1, epsilon=1)
