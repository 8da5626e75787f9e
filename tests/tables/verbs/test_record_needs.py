"""Quantiles without bounds: the answers, what is said before, and what is refused."""

import itertools
import json
import math
import warnings
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet import Decimals, Grid
from discreet.errors import InvalidCandidates, UnreadableData
from discreet.mechanisms.contract import PrivacyParameter
from discreet.mechanisms.first_above import FirstThreshold
from discreet.mechanisms.testing import SeededBits
from discreet.sampling.enclosures import ball
from discreet.study.planning.support import DecimalSupport, WeightedRun
from discreet.tables.engines.column import ArrayColumn
from discreet.tables.scores.rank import Rank
from discreet.tables.verbs.record_needs import needed_records, records_of_ends

from ...engines import ENGINES, crossed

INCOMES = [800.0, 1200.0, 1200.0, 1999.5, 2503.0, 2611.0, 3000.0, 4e4, -3.0, 0.0]


def said(verb: Callable[..., Any], *arguments: Any, **terms: Any) -> str:
    """What a verb warns of, and nothing else."""
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        verb(*arguments, **terms)
    return " ".join(str(note.message) for note in notes)


@pytest.mark.parametrize(
    ("alpha", "terms", "records"),
    [
        ("1/2", {"epsilon": 1}, "42"),
        ("1/2", {"epsilon": "1/10"}, "417"),
        ("1/4", {"epsilon": 1}, "125"),
        ("3/4", {"epsilon": 1}, "125"),
        ("0.99", {"epsilon": 1}, "4,124"),
        ("1/2", {"epsilon": 1, "neighbors": "replace_one"}, "84"),
        ("1/2", {"scale": 1}, "42"),
    ],
)
def test_how_many_records_are_needed_is_said_from_public_numbers(
    alpha: str, terms: dict[str, Any], records: str
) -> None:
    texts = {said(discreet.quantile, data, alpha=alpha, **terms) for data in ([], [1], INCOMES)}
    assert len(texts) == 1
    assert f"needs about {records} records. With fewer the answer may be any decimal" in texts.pop()


def test_fewer_records_are_needed_where_there_are_fewer_digits() -> None:
    half = Fraction(1, 2)
    needs = [needed_records(Decimals(d).size, Fraction(1), Fraction(1), half) for d in (1, 2, 3, 4)]
    assert needs == [33, 38, 42, 47]


def test_with_so_many_records_the_answer_is_among_them_but_one_time_in_a_thousand() -> None:
    for alpha, n in (("1/2", 42), ("1/4", 125)):
        for records, is_enough in ((n, True), (n // 2, False)):
            data = np.arange(100, 100 + records)
            law = discreet.distribution(discreet.quantile, data, alpha=alpha, epsilon=1)
            inside = law.cdf(99 + records).lower - law.cdf(99).upper
            assert (inside >= Fraction(999, 1000)) is is_enough


def test_quantiles_say_what_the_hardest_of_them_needs() -> None:
    needs = {
        method: said(discreet.quantiles, INCOMES, alphas=["1/4", "1/2", "3/4"], epsilon=1, method=method)
        for method in ("recursive", "independent", "joint")
    }  # fmt: skip
    assert "about 167 records" in needs["recursive"]
    assert "about 375 records" in needs["independent"]
    assert "about 563 records" in needs["joint"]


def test_users_and_groups_need_more() -> None:
    table = pa.table({"x": [1.0, 2.0], "u": ["a", "b"], "g": ["s", "t"]})
    of_users = said(discreet.median, table, "x", epsilon=1, privacy_unit="u", max_contributions=3)
    assert "about 125 records. With" in of_users
    assert "Cells that are not numbers count as missing." in of_users
    by = {"by": "g", "groups": ["s", "t"]}
    assert "about 42 records in each group" in said(discreet.median, table, "x", epsilon=1, **by)
    assert "count as missing" not in said(discreet.median, [1.0], epsilon=1)


def test_nothing_is_said_where_candidates_are_given_or_bounds_declared(tmp_path: Path) -> None:
    assert said(discreet.median, INCOMES, candidates=Decimals(), epsilon=1) == ""
    (tmp_path / "t.csv").write_text("x,y\n1,2\n3,4\n")
    columns: Any = {"x": {"type": "integer", "minimum": 0, "maximum": 9}, "y": {"type": "number"}}
    described = discreet.Dataset(tmp_path / "t.csv", columns)
    assert said(discreet.median, described, "x", epsilon=1) == ""
    assert "needs about 42 records" in said(discreet.median, described, "y", epsilon=1)
    assert 0 <= discreet.median(described, "x", epsilon=1).value <= 9
    with pytest.raises(InvalidCandidates, match="are declared"):
        discreet.median(described, "x", candidates=Decimals(), epsilon=1)


def test_the_warning_comes_before_anything_is_paid_or_read() -> None:
    class Untouchable:
        def __iter__(self) -> Any:
            raise AssertionError("private data were read")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="no bounds of numbers are given"):
            discreet.median(Untouchable(), epsilon=1)


@pytest.mark.parametrize("verb", [discreet.minimum, discreet.maximum])
def test_the_ends_are_refused_without_candidates(verb: Any) -> None:
    with pytest.raises(InvalidCandidates, match=r"ask for bounds\(\)"):
        verb(INCOMES, epsilon=1)
    with pytest.raises(InvalidCandidates, match="needs candidates"):
        discreet.quantiles(INCOMES, alphas=[0, 0.5], epsilon=1)
    assert verb(INCOMES, candidates=Grid(0, 9), epsilon=1).value in range(10)


def test_columns_of_dates_and_of_text_are_refused_by_their_type() -> None:
    table = pa.table({"day": pa.array([1], pa.date32()), "text": ["1"]})
    with pytest.raises(UnreadableData, match="DateGrid"):
        discreet.median(table, "day", epsilon=1)
    with pytest.raises(UnreadableData, match="is not a column of numbers"):
        discreet.median(table, "text", epsilon=1)


@pytest.mark.parametrize("alpha", [Fraction(1, 2), Fraction(1, 4), Fraction(9, 10)])
def test_the_scores_are_those_of_the_definition(alpha: Fraction) -> None:
    decimals = Decimals(1)
    runs: Any = Rank(ArrayColumn(np.array(INCOMES)), decimals, alpha).compute(Fraction(10**6))
    runs = runs if runs.whole is None else runs.whole()
    scores = np.repeat(runs.tops.values, runs.sizes)
    indices = decimals.nearest(np.array(INCOMES))
    p, q = alpha.as_integer_ratio()
    below = np.searchsorted(np.sort(indices), np.arange(decimals.size), side="left")
    up_to = np.searchsorted(np.sort(indices), np.arange(decimals.size), side="right")
    expected = np.minimum(p * len(INCOMES) - q * below, q * up_to - p * len(INCOMES))
    assert scores.tolist() == expected.tolist()


@pytest.mark.parametrize("alpha", [Fraction(1, 2), Fraction(1, 5)])
def test_scores_of_neighbours_differ_by_at_most_the_spread_and_reach_it(alpha: Fraction) -> None:
    values = [-1.0, 0.0, 0.4, 3.0]
    widest = {"add_remove": Fraction(0), "replace_one": Fraction(0)}
    for n in range(4):
        for data in itertools.combinations_with_replacement(values, n):
            for other in values:
                pairs = {"add_remove": (data, (*data, other))}
                if n:
                    pairs["replace_one"] = (data, (*data[1:], other))
                for relation, (one, two) in pairs.items():
                    change = _scores(one, alpha) - _scores(two, alpha)
                    spread = Fraction(int(change.max() - change.min()))
                    widest[relation] = max(widest[relation], spread)
    for relation, spread in widest.items():
        score = Rank(ArrayColumn(np.zeros(0)), Decimals(1), alpha)
        assert spread == score.sensitivity(relation).spread  # type: ignore[arg-type]


def _scores(data: tuple[float, ...], alpha: Fraction) -> Any:
    runs: Any = Rank(ArrayColumn(np.array(data)), Decimals(1), alpha).compute(Fraction(10**6))
    runs = runs if runs.whole is None else runs.whole()
    return np.repeat(runs.tops.values, runs.sizes)


@pytest.mark.parametrize(("engine", "digits"), crossed(ENGINES, ["1", "3"], "3"))
def test_the_distribution_is_the_same_in_every_engine(
    engine: str, digits: str, tmp_path: Path
) -> None:
    table = pa.table({"x": INCOMES, "u": [f"u{i}" for i in range(len(INCOMES))]})
    data = ENGINES[engine](table, tmp_path)
    question = {"candidates": Decimals(int(digits)), "epsilon": 1}
    expected = discreet.distribution(discreet.median, INCOMES, **question)
    for terms in ({}, {"privacy_unit": "u"}):
        law = discreet.distribution(discreet.median, data, "x", **question, **terms)
        for point in (-3, 0, 1200, 2000, 2500, 2610, "1e5", "-9e307"):
            assert law.probability(point) == expected.probability(point)
        assert law.cdf(2200) == expected.cdf(2200)


def test_an_answer_is_a_decimal_and_travels() -> None:
    from discreet.service.asking.wire import read_value, write_value

    release = discreet.median([31_415.9] * 500, epsilon=1)
    assert str(release.value) == "31400"
    assert read_value(json.loads(json.dumps(write_value(release.value)))) == release.value
    sent: Any = read_value(json.loads(json.dumps(write_value(Decimals(2)))))
    assert (type(sent), sent.digits) == (Decimals, 2)


def test_a_distribution_among_decimals_has_quantiles_and_a_mean() -> None:
    law = discreet.distribution(discreet.median, [1.0] * 50, candidates=Decimals(1), epsilon=2)
    assert law.quantile("1/2") == 1
    assert law.cdf("0.99").upper < Fraction(1, 1000)
    assert law.probability("1.5").upper == 0
    support = DecimalSupport(Decimals(1))
    zero = Decimals(1).zero
    for first, size in ((zero - 3, 7), (zero - 40, 12), (zero + 1, 30), (5, 1)):
        points = [Decimals(1).point(i) for i in range(first, first + size)]
        mean = support.mean(WeightedRun(first, size, Fraction(0)))
        assert mean.overlaps(ball(sum(points, Fraction(0)) / size))
        assert mean.rel_accuracy_bits() > 40 or not sum(points)


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize(("q", "epsilon"), [("99/100", "1/2"), ("9/10", "1"), ("3/4", "2")])
def test_so_many_records_keep_both_ends_of_bounds_near_them(
    q: str, epsilon: str, neighbors: Any
) -> None:
    """By the exact law of each end, for all records at one place: the worst case of what is before and after it."""
    share, thresholds = Fraction(q), 40
    mechanism = FirstThreshold(share)
    rates = mechanism.rates(Fraction(epsilon), neighbors)
    needed = records_of_ends(thresholds, share, rates)
    assert needed is not None
    level, noise = map(float, rates)
    # All below threshold 20: those before it have the lead -q n, it and the later ones (1 - q) n.
    far = math.exp(-level * (1 - float(share)) * needed)
    early = 19 * level / (level + noise) * math.exp(-noise * float(share) * needed)
    assert far + early <= 1 / 2000
    law: Any = mechanism.calibrate(neighbors, PrivacyParameter("epsilon", Fraction(epsilon))).law
    below = np.array([0] * 19 + [needed] * 21)
    drawn = [law(below, needed).draw(SeededBits(seed)) for seed in range(300)]
    assert {*drawn} == {19}


def test_no_number_of_records_is_enough_for_all_of_them() -> None:
    assert records_of_ends(40, Fraction(1), (Fraction(1), Fraction(1))) is None


@pytest.mark.filterwarnings("ignore:no bounds of", "ignore:ε . .* is above 10")
@pytest.mark.parametrize("epsilon", ["1e-300", "1", "1e300"])
@pytest.mark.parametrize("q", ["99/100", f"0.{'9' * 18}"])
def test_needs_too_large_for_a_float_are_whole_numbers(q: str, epsilon: str) -> None:
    share, rate = Fraction(q), Fraction(epsilon) / 4
    needed = records_of_ends(40, share, (rate, rate))
    assert needed is not None
    assert needed >= 1 / (rate * (1 - share))
    assert discreet.bounds([1.0] * 50, q=q, epsilon=epsilon).guarantee.pure == Fraction(epsilon)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: discreet.bounds([1.0] * 50, epsilon=1), r"about 3,2\d\d records"),
        (
            lambda: discreet.mean([1.0] * 50, bounds_share="1/10", epsilon=1),
            r"about 32,\d{3} records",
        ),
        (lambda: discreet.sum([1.0] * 50, bounds_share="1/2", epsilon=1), r"about 6,\d{3} records"),
        (lambda: discreet.bounds([1.0] * 50, q=1, epsilon=1), "however many there are"),
    ],
)
def test_bounds_say_how_many_records_they_need(ask: Any, said: str) -> None:
    """A mean of 5,000 numbers with a tenth of epsilon for its bounds was off by 10**61, without a word."""
    with pytest.warns(UserWarning, match=f"^no bounds of numbers are given: .*{said}"):
        ask()
