"""Promises that protect nobody are warned of or refused, whatever asked for them."""

import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import discreet
from discreet import Batch, Grid
from discreet.errors import InvalidNumber
from discreet.mechanisms import Exponential
from discreet.mechanisms.without_guarantee import WithoutGuarantee
from discreet.privacy import ApproxDP, GaussianDP, NoGuarantee, PureDP, compose
from discreet.privacy.weak_promises import (
    LARGEST_DELTA,
    LARGEST_QUIET_DELTA,
    epsilon_of_promise,
    weaknesses,
)

pytestmark = pytest.mark.filterwarnings("default:ε . .* is above 10", "default:δ . .* may show")

PEOPLE = pd.DataFrame(
    {"who": range(40), "city": ["Bern", "Basel"] * 20, "age": [30, 31, 40, 50] * 10}
)
TOWNS = ["Bern", "Basel"]
AGES = Grid(0, 120)
DECLARED = discreet.Dataset(
    PEOPLE,
    {"city": {"type": "string", "enum": TOWNS}, "age": {"type": "integer", "minimum": 0, "maximum": 120}},
    name="people",
)  # fmt: skip
SCORES = [1, 2, 3]

ASKED: dict[str, Any] = {
    "select": partial(discreet.select, SCORES, sensitivity=1),
    "select named": partial(discreet.select, {"a": 1, "b": 2}, sensitivity=1),
    "select_top_k": partial(discreet.select_top_k, SCORES, k=2, sensitivity=1),
    "select_rows": partial(discreet.select_rows, [SCORES, SCORES], sensitivity=1),
    "select_generalized": partial(discreet.select_generalized, SCORES, [1, 1, 1]),
    "selector": lambda **terms: discreet.selector(TOWNS, sensitivity=1, **terms)([1, 2]),
    "mode": partial(discreet.mode, PEOPLE, "city", candidates=TOWNS),
    "top_k": partial(discreet.top_k, PEOPLE, "city", k=1, candidates=TOWNS),
    "median": partial(discreet.median, PEOPLE, "age", candidates=AGES),
    "quantile": partial(discreet.quantile, PEOPLE, "age", alpha=0.9, candidates=AGES),
    "best_price": partial(discreet.best_price, PEOPLE, "age", candidates=Grid(1, 120)),
    "counts": partial(discreet.counts, PEOPLE, "city", candidates=TOWNS),
    "count": partial(discreet.count, PEOPLE),
    "sum": partial(discreet.sum, PEOPLE, "age", minimum=0, maximum=120),
    "by groups": partial(discreet.mode, PEOPLE, "age", candidates=[30], by="city", groups=TOWNS),
    "laplace": partial(discreet.laplace, 3, sensitivity=1, step=1),
    "randomized_response": partial(discreet.randomized_response, "yes", ["yes", "no"]),
}
BY_EPSILON: dict[str, Any] = {
    **ASKED,
    "quantiles": partial(discreet.quantiles, PEOPLE, "age", alphas=[0.1, 0.5], candidates=AGES),
    "bounds": partial(discreet.bounds, PEOPLE, "age"),
    "mean": partial(discreet.mean, PEOPLE, "age", minimum=0, maximum=120),
    "check": partial(discreet.check, DECLARED, "age"),
    "sql": lambda epsilon: discreet.sql(
        DECLARED, f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = {epsilon}) COUNT(*) FROM people"
    ),
}  # fmt: skip
AT_SCALE = [name for name in ASKED if name not in ("randomized_response", "select_rows")]


def warned(ask: Callable[[], Any]) -> list[str]:
    """Return the warnings about a promise that a call gives."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        ask()
    texts = [str(one.message) for one in seen]
    return [text for text in texts if "is above 10" in text or "may show about one in" in text]


@pytest.mark.parametrize("name", BY_EPSILON)
def test_an_epsilon_above_ten_is_warned_of_once_for_every_call(name: str) -> None:
    for _ in range(2):  # the second time the calibration is in a cache
        found = warned(partial(BY_EPSILON[name], epsilon=11))
        assert len(found) == 1, found
        assert re.match(r"ε = 11 is above 10 and protects no one: .* 73.2 %$", found[0])
    assert warned(partial(BY_EPSILON[name], epsilon=9)) == []


@pytest.mark.parametrize("name", ASKED)
def test_a_rho_is_warned_of_by_the_epsilon_that_it_promises(name: str) -> None:
    assert len(warned(partial(ASKED[name], rho=100))) == 1
    assert warned(partial(ASKED[name], rho="1/2")) == []


@pytest.mark.parametrize("name", AT_SCALE)
def test_a_scale_is_warned_of_by_the_epsilon_that_it_promises(name: str) -> None:
    assert len(warned(partial(ASKED[name], scale="0.001"))) == 1
    assert warned(partial(ASKED[name], scale=1000)) == []


@pytest.mark.parametrize("name", ["select", "select named", "select_generalized"])
def test_many_answers_are_warned_of_by_their_total(name: str) -> None:
    (found,) = warned(partial(ASKED[name], epsilon=1, size=300))
    assert found.startswith("ε = 300 is above 10")
    assert warned(partial(ASKED[name], epsilon="1/100", size=300)) == []


def test_a_batch_is_warned_of_by_its_total(tmp_path: Path) -> None:
    batch = Batch()
    for name in "abcdef":
        batch = batch.add(name, discreet.mode, PEOPLE, "city", candidates=TOWNS, epsilon=2)
    ledger = discreet.Ledger(str(tmp_path / "budget.db"))
    ledger.open("people", epsilon=100)
    for account in ({}, {"ledger": ledger.session("people")}):
        (found,) = warned(partial(batch.run, **account))
        assert found.startswith("ε = 12 is above 10")
    alone = Batch().add("a", discreet.mode, PEOPLE, "city", candidates=TOWNS, epsilon=11)
    assert len(warned(alone.run)) == 1
    session = ledger.session("people")
    assert len(warned(partial(session.mode, PEOPLE, "city", candidates=TOWNS, epsilon=11))) == 1


BY_DELTA: dict[str, Any] = {
    "keys": partial(discreet.keys, column="city", epsilon=1),
    "counts": partial(discreet.counts, column="city", epsilon=1),
    "mode": partial(discreet.mode, column="city", candidates="private", epsilon=1),
    "top_k": partial(discreet.top_k, column="city", k=1, candidates="private", epsilon=1),
    "top_k of listed": partial(
        discreet.top_k, column="city", k=2, candidates=TOWNS, method="peeling", epsilon=1
    ),
    "median by groups": partial(
        discreet.median, column="age", candidates=AGES, by="city", groups="private", epsilon=1
    ),
    "quantiles": partial(
        discreet.quantiles, column="age", alphas=[0.1, 0.5], candidates=AGES, epsilon=1, method="independent"
    ),
    "sum by groups": partial(
        discreet.sum, column="age", minimum=0, maximum=120, by="city", groups="private", epsilon=1
    ),
    "profile": partial(discreet.profile, epsilon=1),
}  # fmt: skip


class Untouched(Exception):
    """Rows were looked at."""


class Rows(pd.DataFrame):  # type: ignore[misc]
    """A table whose rows nobody may look at."""

    def __getitem__(self, key: object) -> Any:
        raise Untouched


@pytest.mark.parametrize("name", BY_DELTA)
def test_a_large_delta_is_warned_of_and_a_larger_one_is_refused_before_the_data(name: str) -> None:
    ask = BY_DELTA[name]
    (found,) = warned(partial(ask, PEOPLE, delta="1/1000"))
    assert found.startswith("δ = 0.001 may show about one in 1,000 values that one person alone ")
    assert warned(partial(ask, PEOPLE, delta="1/100000")) == []
    assert len(warned(partial(ask, PEOPLE, delta="1/99999"))) == 1
    with pytest.raises(
        discreet.errors.InvalidNumber, match=r"δ = 0\.1 is above 0\.01: .* one in 10 "
    ):
        ask(PEOPLE if name == "profile" else Rows(PEOPLE), delta=0.1)  # a profile asks for types
    assert len(warned(partial(ask, PEOPLE, delta=LARGEST_DELTA))) == 1


class _Failing(Exponential):
    """A mechanism of another's own, which may fail every second time."""

    name = "failing"

    def calibrate(self, *terms: Any) -> Any:
        guarantee = ApproxDP(Fraction(1, 2), Fraction(1, 2), terms[0].neighbors)
        return super().calibrate(*terms)._replace(guarantee=guarantee)


@pytest.mark.parametrize("ask", ["select", "selector"])
def test_a_large_delta_of_a_mechanism_is_refused(ask: str) -> None:
    with pytest.raises(InvalidNumber, match=r"is above 0\.01"):
        ASKED[ask](mechanism=_Failing(), epsilon=1)


def test_a_batch_of_deltas_is_refused_by_their_sum() -> None:
    batch = Batch()
    for name in "abc":
        batch = batch.add(name, discreet.keys, PEOPLE, "city", epsilon=1, delta="1/200")
    with pytest.raises(discreet.errors.InvalidNumber, match=r"δ . 0\.01\d* is above 0\.01"):
        batch.run()


def test_what_releases_nothing_takes_any_delta() -> None:
    assert discreet.plan_keys(epsilon=1, delta=0.1).probability(1)
    law = discreet.distribution(discreet.keys, PEOPLE, "city", epsilon=1, delta=0.1)
    assert law is not None


def test_no_promise_is_none_to_warn_of() -> None:
    assert weaknesses(NoGuarantee("x")) == ()
    assert weaknesses(NoGuarantee("x").repeated(3)) == ()
    free = WithoutGuarantee(discreet.mechanisms.Exponential(), "to see")
    assert warned(partial(discreet.select, SCORES, sensitivity=1, mechanism=free, epsilon=1)) == []


def test_promises_of_every_kind_have_an_epsilon() -> None:
    delta = Fraction(1, 10**6)
    pure, approx = PureDP(Fraction(3)), ApproxDP(Fraction(4), delta)
    assert epsilon_of_promise(pure) == 3
    assert epsilon_of_promise(approx) == 4
    assert epsilon_of_promise(ApproxDP(Fraction(0), delta)) is None
    assert epsilon_of_promise(compose(pure, approx)) == 7
    wide = GaussianDP(Fraction(4))
    assert epsilon_of_promise(wide) == wide.approx(LARGEST_QUIET_DELTA).epsilon
    assert len(weaknesses(wide)) == 1
    assert weaknesses(GaussianDP(Fraction(1))) == ()


def test_a_quantile_costs_the_same_however_alpha_is_spelled() -> None:
    ask = partial(discreet.quantile, [1, 2, 3], candidates=AGES, scale=1)
    costs = [ask(alpha=alpha).guarantee.pure for alpha in ("1/3", 1 / 3, 0.3333)]
    assert costs[0] == Fraction(4, 3)
    assert [round(float(cost or 0), 3) for cost in costs] == [1.333] * 3
    ends = [ask(alpha=alpha).guarantee.pure for alpha in (0, "1/2", 1)]
    assert ends == [1, 1, 1]
    assert ask(alpha="9/10").guarantee.pure == Fraction(9, 5)


def command(folder: Path, delta: str, language: str) -> subprocess.CompletedProcess[str]:
    """Return what a command did that asks for keys at ε = 11."""
    PEOPLE.to_csv(folder / "people.csv", index=False)
    program = [sys.executable, "-m", "discreet", "--language", language]
    asked = ["keys", "people.csv", "city", "--epsilon", "11", "--delta", delta]
    return subprocess.run(
        [*program, *asked], cwd=folder, capture_output=True, text=True, check=False, timeout=100
    )


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_command_warns_once_on_stderr_in_english(tmp_path: Path, language: str) -> None:
    found = command(tmp_path, "0.001", language)
    assert (found.returncode, set(found.stdout.split()) <= {*TOWNS}) == (0, True)
    assert (found.stderr.count("at most 73.2 %"), found.stderr.count("1,000")) == (1, 1)


def test_a_command_refuses_a_large_delta(tmp_path: Path) -> None:
    found = command(tmp_path, "0.1", "en")
    assert (found.returncode, found.stdout) == (2, "")
    assert "is above 0.01" in found.stderr
