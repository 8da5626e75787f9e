"""What peers' own tests ask of this library: the checks that once differed, and what they meet today.

The table in docs/explanation/compared_with.md counts them. Here each of its rows is tried.
"""

import math
import re
from fractions import Fraction
from typing import Any

import pytest

import discreet
from discreet import Bins, Grid
from discreet.errors import InvalidArgument
from discreet.mechanisms.repetitions import RepetitionKind, Repetitions
from discreet.privacy import ZCDP, RenyiDP

from .pages import ROOT

VOTES = {"tea": 1, "milk": 2}
ROW = re.compile(r"^\| (\d+) \| ", re.MULTILINE)


def test_the_table_counts_every_check() -> None:
    page = (ROOT / "docs" / "explanation" / "compared_with.md").read_text(encoding="utf-8")
    _, _, part = page.partition("\n## What the tests of other libraries find here\n")
    groups = part.partition("\n## ")[0].split("\n### ")[1:]
    counts = [sum(map(int, ROW.findall(group))) for group in groups]
    assert counts == [11, 53, 3]
    titles = [re.findall(r"\d+", group.partition("\n")[0]) for group in groups]
    assert titles == [[str(count)] for count in counts]
    assert sum(counts) == 67


# Those that hold now.


@pytest.mark.parametrize("keys", [1, 2, 10])
def test_a_key_of_no_records_has_probability_zero(keys: int) -> None:
    chance = discreet.plan_keys(1, "1e-6", max_groups=keys).probability(0)
    assert chance.lower == chance.upper == 0


def test_a_histogram_has_bins_and_distinct_values_are_counted() -> None:
    people = {"age": [5, 15, 15, 99, 120]}
    answer = discreet.counts(people, Bins("age", 0, 120, 40, closed=True), epsilon=200)
    assert answer.value == {"[0, 40)": 3, "[40, 80)": 0, "[80, 120]": 2}
    assert discreet.count_distinct(people["age"], epsilon=200).value == 4


def test_null_is_a_group() -> None:
    drinks = {"drink": ["tea", None, None]}
    answer = discreet.counts(drinks, "drink", candidates=["tea", None], epsilon=200)
    assert answer.value == {"tea": 1, None: 2}


@pytest.mark.parametrize(("rho", "gamma"), [(1.0, 0.1), (0.01, 0.01)])
@pytest.mark.parametrize(("kind", "slope"), [("logarithmic", 1), ("geometric", 2)])
@pytest.mark.parametrize("order", [2, 3, 5, 10, 100])
def test_the_best_of_gaussian_attempts_costs_what_the_theorem_says(
    rho: float, gamma: float, kind: RepetitionKind, slope: int, order: int
) -> None:
    """Papernot and Steinke's theorem 2 at its best second order, as dp_accounting evaluates it."""
    ours = Repetitions(kind, str(gamma)).best_of(ZCDP(Fraction(str(rho))))
    assert isinstance(ours, RenyiDP)
    far = -math.log(gamma)
    mean = 1 / gamma if slope == 2 else (1 - gamma) / (gamma * far)
    second = max(1.0, math.sqrt(far / rho))
    ratio = slope * (rho * (second - 1) + far / second)
    assert (
        float(ours.renyi_divergence(order))
        <= (rho * order + ratio + math.log(mean) / (order - 1)) * 1.0002
    )


# Those that differ by design.


@pytest.mark.parametrize(("scale", "threshold"), [(1, 5), (2, 28)])
def test_opendp_shows_no_key_more_often_at_the_true_delta(scale: int, threshold: int) -> None:
    step = math.exp(-1 / scale)
    claimed, true = (step ** (threshold - off) / (1 + step) for off in (0, 1))
    plan = discreet.plan_keys(Fraction(1, scale), Fraction(true))
    for records in range(1, 3 * threshold):
        gap = threshold - records
        theirs = step**gap / (1 + step) if gap > 0 else 1 - step ** (1 - gap) / (1 + step)
        assert float(plan.probability(records)) >= theirs * (1 - 1e-12)
    assert float(plan.probability(1)) > 1.6 * claimed


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"monotonic": "Hello"}, "True or False"),
        ({"monotonic": []}, "True or False"),
        ({"monotonic": (1, 2, 3)}, "True or False"),
        ({"epsilon": math.inf}, "finite number"),
        ({"sensitivity": 0}, "greater than zero"),
        ({"epsilon": None, "scale": 0}, "greater than zero"),
        ({"epsilon": None}, "give epsilon"),
    ],
)
def test_what_others_read_leniently_is_rejected(terms: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        discreet.select(VOTES, **{"sensitivity": 1, "epsilon": 1, **terms})


def test_numbers_may_be_exact_text_and_a_draw_has_no_seed() -> None:
    assert discreet.select(VOTES, sensitivity="1", epsilon="1/2").guarantee.pure == Fraction(1, 2)
    seeded: dict[str, Any] = {"random_state": 42}
    with pytest.raises(TypeError, match="use a ledger and request="):
        discreet.select(VOTES, sensitivity=1, epsilon=1, **seeded)


def test_without_bounds_the_answer_is_a_decimal_and_a_warning_says_so() -> None:
    with pytest.warns(UserWarning, match="needs about 42 records"):
        discreet.median([1] * 10, epsilon=1)


def test_one_nan_does_not_decide_the_median() -> None:
    law = discreet.distribution(
        discreet.median, [1.0] * 50 + [math.nan], candidates=Grid(0, 3), epsilon=1
    )
    assert float(law.probability(1)) > 0.99


def test_candidates_are_sorted_and_a_list_is_never_longer_than_they_are() -> None:
    rows = [1, 2, 2, 3]
    laws = [
        discreet.distribution(discreet.median, rows, candidates=candidates, epsilon=1)
        for candidates in ([3, 1, 2], [1, 2, 3])
    ]
    assert float(laws[0].probability(2)) == float(laws[1].probability(2)) > 0.3
    with pytest.raises(InvalidArgument, match="from 1 to 4"):
        discreet.select_top_k([1, 2, 3, 4], k=5, sensitivity=1, epsilon=1)


def test_a_candidate_that_equals_records_gets_a_better_score() -> None:
    """OpenDP's score is half the difference of the records below and above, and 2.5 gets the best one."""
    rows, candidates = [2] * 6 + [3] * 7, [2, 2.5, 3]
    law = discreet.distribution(discreet.median, rows, candidates=candidates, epsilon=1)
    _, between, best = (float(law.probability(candidate)) for candidate in candidates)
    apart = [3.5, 0.5, 3]
    assert best > between
    assert best > 4 * math.exp(-apart[2]) / sum(math.exp(-score) for score in apart)


@pytest.mark.parametrize(("epsilon", "delta"), [(1, "1e-200"), ("1.8e308", "1e-6"), (1, 0), (1, 1)])
def test_extreme_promises_are_rejected(epsilon: Any, delta: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"at least 1e-100|between 1e-300"):
        discreet.plan_keys(epsilon, delta)


def test_a_laplace_threshold_shows_less_from_two_records_on() -> None:
    """Google's test: threshold 50, ten keys a unit, which is 1/10 of ln 3 for each."""
    plan = discreet.plan_keys("1.0986", "0.0227", max_groups=10)
    theirs = [math.exp(-(50 - n) * 0.10986) / 2 for n in range(51)]
    assert all(float(plan.probability(n)) > theirs[n] for n in range(2, 51))
    assert float(plan.probability(1)) < theirs[1] < float(plan.probability(1, keys=1))
    with pytest.raises(InvalidArgument, match="at least 1"):
        discreet.counts(["a"], epsilon=1, delta="1e-6", minimum_count=0)


# Those where others offer more, and what to do here.


def test_what_others_have_is_rejected_with_a_way_out() -> None:
    axis: dict[str, Any] = {"axis": 0}
    with pytest.raises(TypeError, match="unexpected argument 'axis'"):
        discreet.median([[1, 2], [3, 4]], candidates=Grid(0, 3), epsilon=1, **axis)
    with pytest.raises(InvalidArgument, match="one of logarithmic, geometric"):
        Repetitions("poisson", "0.1")  # type: ignore[arg-type]
