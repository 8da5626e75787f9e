"""An answer says how far off it may be, from public numbers alone."""

import json
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import discreet
from discreet import Grid
from discreet.mechanisms.accuracy import UNITS, ErrorBound
from discreet.service.asking.wire import read_release, write_release
from discreet.service.mcp.assistant_tools import release_as_data
from discreet.service.queue.lengths import _ERROR

AGES = list(range(1000))
BOUNDS: dict[str, Any] = {"minimum": 0, "maximum": 1000}
NUMBERS: dict[str, Callable[[], Any]] = {
    "count": lambda: discreet.count(AGES, epsilon=1),
    "counts": lambda: discreet.counts(["a", "b"] * 50, candidates=["a", "b"], epsilon=1),
    "sum": lambda: discreet.sum(AGES, **BOUNDS, epsilon=1),
    "mean": lambda: discreet.mean(AGES, **BOUNDS, epsilon=1),
    "mean between drawn bounds": lambda: discreet.mean(AGES, bounds_share="1/10", epsilon=1),
    "sum between drawn bounds": lambda: discreet.sum(AGES, bounds_share="1/10", epsilon=1),
}
UNKNOWN: dict[str, Callable[[], Any]] = {
    "keys": lambda: discreet.keys(["a"] * 99, epsilon=1, delta="1e-6"),
    "counts of keys": lambda: discreet.counts(["a"] * 99, epsilon=1, delta="1e-6"),
    "mode of keys": lambda: discreet.mode(
        ["a"] * 99, candidates="private", epsilon=1, delta="1e-6"
    ),
}
SELECTED: dict[str, Callable[[], Any]] = {
    "median": lambda: discreet.median(AGES, candidates=Grid(0, 1000), epsilon=1),
    "quantiles": lambda: discreet.quantiles(
        AGES, alphas=["1/4", "1/2"], candidates=Grid(0, 1000), epsilon=1
    ),
    "mode": lambda: discreet.mode(["a"] * 9, candidates=["a", "b"], epsilon=1),
    "select": lambda: discreet.select({"a": 0, "b": 99}, sensitivity=1, epsilon=1),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_prints_how_far_off_it_may_be(name: str) -> None:
    release = NUMBERS[name]()
    error: Any = release.error
    assert isinstance(error, ErrorBound)
    assert f"; {error.in_brief()}" in str(release)
    assert str(error.in_brief()).startswith("within ")
    assert str(error.in_brief()).endswith(", with probability 95 %")
    assert error.in_brief() in release._repr_html_()


@pytest.mark.parametrize("name", UNKNOWN)
def test_of_keys_no_error_is_known(name: str) -> None:
    release = UNKNOWN[name]()
    assert release.error is None
    assert "; no error is known" in str(release)
    assert "no error is known" in release._repr_html_()
    assert release.as_dict()["error"] is None


@pytest.mark.parametrize("name", SELECTED)
def test_a_selected_answer_has_the_bound_of_its_quote(name: str) -> None:
    release = SELECTED[name]()
    error: Any = release.error
    assert "within" not in str(release)
    assert error.in_words() in release._repr_html_()
    assert error == discreet.selection.verb_calls.bill_of(VERBS[name], **CALLS[name]).worst_error


VERBS: dict[str, Callable[..., discreet.Release[Any]]] = {
    "median": discreet.median,
    "quantiles": discreet.quantiles,
    "mode": discreet.mode,
    "select": discreet.select,
}
CALLS: dict[str, dict[str, Any]] = {
    "median": {"data": AGES, "candidates": Grid(0, 1000), "epsilon": 1},
    "quantiles": {
        "data": AGES,
        "alphas": ["1/4", "1/2"],
        "candidates": Grid(0, 1000),
        "epsilon": 1,
    },
    "mode": {"data": ["a"] * 9, "candidates": ["a", "b"], "epsilon": 1},
    "select": {"scores": {"a": 0, "b": 99}, "sensitivity": 1, "epsilon": 1},
}


@pytest.mark.parametrize("name", [*NUMBERS, *UNKNOWN, *SELECTED])
def test_the_error_travels_and_holds_no_data(name: str) -> None:
    release = {**NUMBERS, **UNKNOWN, **SELECTED}[name]()
    plain = json.loads(json.dumps(write_release(release)))
    assert read_release(plain).error == release.error
    stored = pickle.dumps(release)
    assert pickle.loads(stored).error == release.error
    assert len(stored) < 5_000  # a list of a thousand ages would be longer
    assert release_as_data(release)["how_far_off"]
    assert "error" not in release_as_data(release)  # it would be a refusal


def test_an_error_is_no_longer_than_a_reply_has_room_for() -> None:
    longest = ErrorBound(Fraction(10**300, 3), Fraction(95, 100), max(UNITS, key=len))
    assert len(json.dumps({"": longest.as_dict()})) <= _ERROR
    assert Fraction(longest.as_dict()["error"]) >= longest.error


def test_scores_without_names_have_no_public_number() -> None:
    release = discreet.select([0, 99], sensitivity=1, epsilon=1)
    assert release.error is None
    assert "error" not in str(release)


def test_a_mean_is_as_far_off_as_its_bound_at_most() -> None:
    truth, missed, times = Fraction(sum(AGES), len(AGES)), 0, 300
    for _ in range(times):
        release = discreet.mean(AGES, **BOUNDS, step=1, epsilon="1/10")
        value: Any = release.value
        missed += abs(Fraction(value) - truth) >= release.error.error  # type: ignore[union-attr]
    assert missed <= 0.05 * times + 4 * (0.05 * 0.95 * times) ** 0.5


def test_the_bound_of_a_mean_is_that_of_its_two_numbers() -> None:
    """Of n = 10 records between 0 and 10 the sum is within 5 from the middle each."""
    from discreet.tables.verbs.mean_noise import _error_of_mean
    from discreet.tables.verbs.sum_bounds import SumBounds

    bounds = SumBounds(0, 10, Fraction(1))
    for number in (7, 10, 13):
        for moved in (-3, 0, 3):  # the count is off by as much as 3
            for off in (-4, 4):  # and the sum by 4
                n = number - moved
                for mean in (-5, 0, 5):
                    answer = min(max(Fraction(n * mean + off, number), Fraction(-5)), Fraction(5))
                    assert abs(answer - mean) <= _error_of_mean(bounds, number, 3, 4)


def test_groups_have_one_bound_that_holds_for_all() -> None:
    table = {"city": ["north"] * 900 + ["south"] * 100, "age": list(range(1000))}
    import polars

    terms: dict[str, Any] = {"by": "city", "groups": ["north", "south"], "epsilon": 1}
    frame = polars.DataFrame(table)
    release = discreet.mean(frame, "age", **BOUNDS, **terms)
    error: Any = release.error
    few = discreet.mean(frame, "age", **BOUNDS, **{**terms, "groups": ["south"]}).error
    assert error.error > few.error / 2  # type: ignore[union-attr]
    assert "within" in str(release)


def test_a_statement_has_one_for_each_column() -> None:
    columns = {"age": {"type": "integer", "minimum": 0, "maximum": 120}}
    people = discreet.Dataset({"age": list(range(100))}, name="people", columns=columns)
    head = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 2)"
    release = discreet.sql(people, f"{head} COUNT(*) AS n, AVG(age) AS error FROM people")
    assert set(release.error) == {"n", "error"}  # type: ignore[arg-type]
    assert "n: within" in str(release)
    assert read_release(json.loads(json.dumps(write_release(release)))).error == release.error
    one = discreet.sql(people, f"{head} COUNT(*) AS n FROM people")
    assert "; within" in str(one)
