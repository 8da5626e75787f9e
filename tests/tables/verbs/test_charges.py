"""What the page of charges says an answer costs, by plain rules and as it is charged."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pytest

import discreet
from discreet import Grid, compose
from discreet.mechanisms.noisy_counts import calibrate_counts
from discreet.mechanisms.private_keys import PrivateKeys
from discreet.privacy import ApproxDP, BoundedRange
from discreet.selection.verb_calls import bill_of
from discreet.tables.engines.column import NOTHING
from discreet.tables.scores.rank import Rank
from discreet.tables.verbs.group_moves import GroupMoves
from discreet.tables.verbs.mean_noise import ReplacedMean, ReplacedMeanByRho
from discreet.tables.verbs.sum_bounds import SumBounds
from discreet.tables.verbs.units import per_person, read_unit_query

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "charges.md"
SMALL, MILLIONTH = Fraction(1, 10**8), Fraction(1, 10**6)
INTEGERS = pl.DataFrame({f"number {i}": [1, 2, 3] for i in range(12)})
WITH_TEXTS = INTEGERS.with_columns(text=pl.lit("a"))

Numbers = tuple[Fraction | None, Fraction | None]
"""What a question costs by plain rules, and what it is charged."""


def ten(guarantee: Any) -> Numbers:
    """Ten answers with a guarantee, as what was asked for alone, and with all that is promised."""
    several = [compose([one] * 10).approx(MILLIONTH) for one in (guarantee.promises[0], guarantee)]
    return several[0].epsilon, several[1].epsilon


def keys(most: int, *, shows_counts: bool = True) -> Numbers:
    return ten(PrivateKeys(Fraction(1), SMALL, most, shows_counts=shows_counts).guarantee)


def medians(**terms: Any) -> Numbers:
    data = pl.DataFrame({"town": ["a"], "value": [1]})
    terms |= {"by": "town", "groups": "private", "epsilon": 1, "delta": SMALL}
    return ten(bill_of(discreet.median, data, "value", candidates=Grid(0, 9), **terms).guarantee)


def profile_of(table: pl.DataFrame) -> Any:
    return bill_of(discreet.profile, table, epsilon=1, delta=MILLIONTH).guarantee


def numbers_alone() -> Numbers:
    promise = profile_of(INTEGERS)
    assert promise.slack == 0
    return ApproxDP(Fraction(1), MILLIONTH).approx(MILLIONTH).epsilon, promise.approx(
        MILLIONTH
    ).epsilon


def rho_of_numbers() -> Numbers:
    return ApproxDP(Fraction(1), MILLIONTH).rho, profile_of(INTEGERS).rho


def two_with_texts() -> Numbers:
    promise = profile_of(WITH_TEXTS)
    assert promise.promises[0] == ApproxDP(Fraction(1), MILLIONTH)
    twice = [compose(one, one).approx(2 * MILLIONTH) for one in (promise.promises[0], promise)]
    return twice[0].epsilon, twice[1].epsilon


def outside() -> Numbers:
    """Two numbers would move if a record left one and entered another; one does."""
    with patch("discreet.tables.verbs.keys.calibrate_counts", wraps=calibrate_counts) as made:
        discreet.keys(["a"] * 99, epsilon=2, delta=MILLIONTH, other="1/2", neighbors="replace_one")
    [call] = made.call_args_list
    moved, _, parameter = call.args
    return 2 * parameter.value, moved * parameter.value


def drawn_groups(most_groups: int, most_drawn: int, **terms: Any) -> Numbers:
    """What the answers of all groups cost at noise of one step each: by the groups of a person, and of the list."""
    terms |= {
        "by": "town",
        "groups": "private",
        "epsilon": 2,
        "delta": SMALL,
        "privacy_unit": "who",
    }
    terms |= {"max_groups": most_groups, "most_drawn": most_drawn}
    query = read_unit_query(terms, bounded=True)
    steps = 1 if query.neighbors == "add_remove" else 2
    return Fraction(most_groups * steps), Fraction(query.moved_groups())


def quantile_in_groups(alpha: str, listed: int, groups: int) -> Numbers:
    """What noise of rate one costs, in ranks: as two steps of each group, and as it is charged."""
    score = Rank(NOTHING, Grid(0, 9), Fraction(alpha))
    terms: Any = {"by": "town", "groups": [f"town {i}" for i in range(listed)], "epsilon": 1}
    terms |= {"privacy_unit": "who", "max_groups": groups, "neighbors": "replace_one"}
    query = read_unit_query(terms, bounded=True)
    shared: Any
    shared, _ = query._shares_of_groups(per_person(query, [score])[0], None)
    one = score.sensitivity("add_remove").spread / score.alpha.denominator
    return 2 * groups * one, one / shared["epsilon"]


def rho_of_maxima(listed: int, groups: int) -> Numbers:
    """The same in rho, for scores that move by one where a record comes, goes or is replaced."""
    one, replaced = BoundedRange(Fraction(1)), BoundedRange(Fraction(1), "replace_one")
    whole = GroupMoves.among(listed, groups).together(one, replaced)
    plain = one.under("replace_one").repeated(groups)
    return plain.rho, whole.rho


def mean_of_hundred() -> Numbers:
    """What both numbers of a mean cost one by one, and what is charged for both."""
    query = read_unit_query({"neighbors": "replace_one", "epsilon": 1}, bounded=True)
    mean = ReplacedMean(SumBounds(0, 100, Fraction(1)).from_middle(), query, Fraction(1))
    assert [one.scale for one in mean.noises] == [2, 100]
    return sum((one.parameter.value for one in mean.noises), Fraction(0)), mean.promise.pure


def mean_by_rho() -> Numbers:
    """The same with Gaussian noise, as two answers one by one and as it is charged."""
    query = read_unit_query({"neighbors": "replace_one", "rho": 1}, bounded=True)
    mean = ReplacedMeanByRho(SumBounds(0, 100, Fraction(1)).from_middle(), query, Fraction(1))
    assert [one.noise.sigma_squared for one in mean.noises] == [Fraction(2, 3), 5000]
    return sum(mean.shares, Fraction(0)), mean.promise.rho


ROWS: dict[str, Callable[[], Numbers]] = {
    "ten releases of keys with counts, five keys a person, at (1, 10⁻⁸) each: ε at δ = 10⁻⁶": lambda: (
        keys(5)
    ),
    "ten releases of keys with counts, six keys a person, likewise": lambda: keys(6),
    "ten releases of medians in private groups, at (1, 10⁻⁸) each: ε at δ = 10⁻⁶": medians,
    "the same under `replace_one`": lambda: medians(neighbors="replace_one"),
    "ten releases of keys by weights, ten keys a person, likewise": lambda: keys(
        10, shows_counts=False
    ),
    "a profile of twelve columns of integers at (1, 10⁻⁶): ε at δ = 10⁻⁶": numbers_alone,
    "the same: ρ": rho_of_numbers,
    "two profiles with a text column too, at (1, 10⁻⁶) each: ε at δ = 2·10⁻⁶": two_with_texts,
    "`other` under `replace_one`: ε for noise of η = 1": outside,
    '`groups="private"` with `max_groups=10` and `most_drawn=1`: ε for an answer of noise η = 1': lambda: (
        drawn_groups(10, 1)
    ),
    "the same with `max_groups=2` and `most_drawn=3` under `replace_one`, a count in each": lambda: (
        drawn_groups(2, 3, neighbors="replace_one")
    ),
    "a maximum in one listed group under `replace_one`: ε for noise of η = 1": lambda: (
        quantile_in_groups("1", 1, 1)
    ),
    "the quantile 3/4 in one listed group, likewise, in ranks": lambda: quantile_in_groups(
        "3/4", 1, 1
    ),
    "the quantile 3/4 in three listed groups, two a person, likewise": lambda: quantile_in_groups(
        "3/4", 3, 2
    ),
    "a median in one listed group, likewise": lambda: quantile_in_groups("1/2", 1, 1),
    "a maximum in nine listed groups, two a person, under `replace_one`: ρ for noise of η = 1": lambda: (
        rho_of_maxima(9, 2)
    ),
    "a mean of numbers from 0 to 100 under `replace_one`: ε for 1/η = 100 in the sum and 2 in the count": (
        mean_of_hundred
    ),
    "the same by ρ: ρ for σ² = 5000 in the sum and 2/3 in the count": mean_by_rho,
}


def spelled(number: Fraction | None) -> str:
    return "none" if number is None else f"{float(number):.4f}"


@pytest.mark.parametrize("question", ROWS)
def test_the_page_says_what_is_charged(question: str) -> None:
    plain, charged = ROWS[question]()
    assert f"| {question} | {spelled(plain)} | {spelled(charged)} |" in PAGE.read_text("utf-8")


def test_no_row_of_the_page_is_without_a_test() -> None:
    table = PAGE.read_text("utf-8").split("| question |")[1].split("\n\n")[0]
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    assert [line.split(" | ")[0].removeprefix("| ") for line in lines] == [*ROWS]
