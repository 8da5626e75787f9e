"""What a message says to do, for mistakes whose message named no fix, or a wrong one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import discreet
from discreet import Grid, Ledger
from discreet.cli import run
from discreet.errors import DiscreetError, Exhausted

library: Any = discreet
TABLE = pd.DataFrame({"age": [20, 30, 40, 50] * 5, "member": [True, False] * 10})
AGES = Grid(0, 120)
DESCRIBED = discreet.Dataset(TABLE, {"age": {"type": "integer", "minimum": 0, "maximum": 99}})
OLDER = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) ANON_SUM(age) FROM people"


def median(**terms: object) -> object:
    return library.median(TABLE, "age", epsilon=1, **{"candidates": AGES, **terms})


def tried(run: Callable[..., object], candidates: object = ("a", "b")) -> object:
    return library.private_candidates(run, TABLE, candidates, epsilon=3)


@pytest.mark.parametrize(
    ("call", "fix"),
    [
        (lambda: median(max_contribution=3), "Did you mean 'max_contributions'"),
        (lambda: median(group="city"), "Did you mean 'groups'"),
        (lambda: median(wher="age > 3"), "Did you mean 'where'"),
        (lambda: median(user="id"), "privacy_unit"),
        (lambda: median(alpha=0.9), "alpha goes with quantile"),
        (lambda: median(foo=1), "where, groups_share"),
        (lambda: median(candidates=["1", "2"]), "must be numbers, such as 1 or 0.5, got '1'"),
        (lambda: library.quantiles(TABLE, "age", alphas=[], candidates=AGES, epsilon=1), "got none"),
        (lambda: library.mean(TABLE, "member", minimum=0, maximum=1, epsilon=1), "ask mean without bounds"),
        (lambda: median(weights=[1, 2]), "Exponential(base_measure=[1, 2])"),
        (lambda: tried(lambda data, candidate: 1.0), "yours takes data, candidate"),
        (lambda: tried(lambda: 1.0), "yours takes no arguments"),
        (lambda: tried(lambda d, c, *, s="x": (1.0, 1)), "yours takes d, c, s="),
        (lambda: tried(lambda d, c, s: 1.0), "as in `return score, result`"),
        (lambda: tried(lambda d, c, s: (1.0, 1, 2)), "as in `return score, result`"),
        (lambda: tried(lambda d, c, s: (1.0, 1), {"C": [1, 2]}), "ParameterGrid"),
        (lambda: library.histogramm, "discreet.counts"),
        (lambda: library.quantil, "Did you mean 'quantile'"),
        (lambda: library.sql(DESCRIBED, OLDER), "write SUM(x)"),
    ],
)  # fmt: skip
def test_a_message_names_the_fix(call: Callable[[], object], fix: str) -> None:
    with pytest.raises((DiscreetError, TypeError, AttributeError)) as caught:
        call()
    assert fix in str(caught.value)


def test_a_run_that_can_be_called_is_called() -> None:
    """With three arguments, or any number; and a function of C, whose signature nobody knows."""
    for good in (lambda d, c, s: (1.0, None), lambda *all_of_them: (1.0, None)):
        release: Any = tried(good)
        assert release.value[1] == 1.0


def test_floats_of_a_fraction_say_to_give_the_fraction(tmp_path: Path) -> None:
    book = Ledger(tmp_path / "budget.db")
    book.open("people", epsilon=1)
    session: Any = book.session("people")

    def ask(epsilon: object) -> object:
        return session.mode(TABLE, "age", candidates=[20, 30], epsilon=epsilon)

    for _ in range(10):
        ask(1 / 11)
    with pytest.raises(Exhausted, match="a little above 1/11: give that from the first question"):
        ask(1 / 11)
    with pytest.raises(Exhausted) as caught:
        ask(1)
    assert "a little above" not in str(caught.value)


def test_the_port_of_a_service_is_part_of_where_it_listens(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["serve", "--port", "80"]) == 2
    assert "No such option: --port, here it is --listen" in capsys.readouterr().err
