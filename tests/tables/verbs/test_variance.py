"""variance and standard_deviation: sensitivities by enumeration, exact sums of squares, and errors that hold."""

import itertools
import json
import math
import statistics
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

import discreet
from discreet.cli.application import run_command
from discreet.errors import InvalidArgument
from discreet.mechanisms.accuracy import NUMBERS_FOR_A_TENTH
from discreet.selection.verb_calls import bill_of
from discreet.tables.verbs import variance as module
from discreet.tables.verbs.sum_bounds import SumBounds, default_step, size_noise, sum_noise
from discreet.tables.verbs.variance import Spread, squares_of

from ...engines import ENGINES, crossed
from ...noisy import farthest, numbers_behind
from .test_sum import BOUNDS, GROUPS, VALUES, cells, row_pairs, unit_pairs

RELATIONS = ["add_remove", "replace_one"]


def spread_of(data: Any, **terms: Any) -> discreet.Release:
    return discreet.variance(data, "v", **{"epsilon": 1, **terms})


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("width", range(1, 9))
def test_all_rows_between_two_ends(width: int, neighbors: Any) -> None:
    """A row is a number from one end to the other or none: the sensitivities are reached and not passed."""
    for low in range(-width - 1, 2):
        bounds = SumBounds(low, low + width, Fraction(1))
        squares, middle = squares_of(bounds), bounds.middle
        rows = [(0, 0, 0)]
        rows += [
            (1, x - middle, (x - middle) ** 2 + squares.low) for x in range(low, low + width + 1)
        ]
        before = rows[:1] if neighbors == "add_remove" else rows
        moves = [
            [abs(a - b) for a, b in zip(one, other, strict=True)]
            for one, other in itertools.product(before, rows)
        ]
        query = _query(neighbors)
        promised: list[Any] = [
            1,
            bounds.from_middle().sensitivity(query).spread,
            squares.sensitivity(query).spread,
        ]
        reached = [max(move[i] for move in moves) for i in range(3)]
        assert reached[0] == 1
        assert all(most <= limit for most, limit in zip(reached, promised, strict=True))
        assert reached[1] == promised[1]
        reach = max(bounds.high - middle, 1)
        assert promised[2] == (-(-(reach**2) // 2) if neighbors == "add_remove" else reach**2)
        losses = [
            sum(Fraction(n, 3) / limit for n, limit in zip(move, promised, strict=True))
            for move in moves
        ]
        assert max(losses) <= 1
        if neighbors == "add_remove":
            assert max(losses) == 1


def _query(neighbors: Any) -> Any:
    from discreet.tables.verbs.units import read_unit_query

    return read_unit_query({"neighbors": neighbors, "epsilon": 1}, bounded=True)


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("name", ["0 to 1 by 2/5", "-3 to 1"])
def test_a_row_moves_three_numbers_as_far_as_promised(
    name: str, grouped: bool, neighbors: str
) -> None:
    bounds = BOUNDS[name]
    terms = {**bounds, "neighbors": neighbors, **(GROUPS if grouped else {})}
    shares = farthest(row_pairs(neighbors, cells(bounds)[1:6:2]), spread_of, **terms)
    assert shares[0] == 1
    assert max(shares) <= 1
    assert len(shares) == 3


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("most", [{}, {"max_contributions": 2}, {**GROUPS, "max_groups": 2}])
@pytest.mark.one_in(3)
def test_a_unit_moves_three_numbers_as_far_as_promised(
    most: dict[str, Any], neighbors: str
) -> None:
    bounds = BOUNDS["-3 to 1"]
    terms = {**bounds, **most, "neighbors": neighbors, "privacy_unit": "u"}
    pairs = itertools.islice(unit_pairs(neighbors, cells(bounds)), 5, None, 7)
    shares = farthest(pairs, spread_of, **terms)
    assert shares[0] == 1
    assert max(shares) <= 1


def test_squares_measured_from_another_middle_are_seen() -> None:
    """With an odd reach its squares may be rounded to the wrong side."""

    def mutant(bounds: SumBounds) -> SumBounds:
        reach = (bounds.high - bounds.middle) ** 2
        return SumBounds(-(reach // 2), reach // 2, bounds.step**2)

    bounds = BOUNDS["0 to 1 by 2/5"] | {"maximum": "6/5"}
    with patch.object(module, "squares_of", mutant):
        pairs = row_pairs("add_remove", cells(bounds))
        shares = farthest(pairs, spread_of, **bounds)
    assert shares[2] <= 1  # a reach of 2 hides it
    bounds = BOUNDS["0 to 1 by 2/5"] | {"maximum": 2}
    with patch.object(module, "squares_of", mutant):
        shares = farthest(row_pairs("add_remove", cells(bounds)), spread_of, **bounds)
    assert shares[2] > 1


@pytest.mark.parametrize(("engine", "plan"), crossed(ENGINES, ["rows", "units", "groups"], "rows"))
@pytest.mark.one_in(13)
@pytest.mark.proof_in("spark")
def test_every_engine_adds_the_same(engine: str, plan: str, tmp_path: Path) -> None:
    persons = [f"p{i}" if i % 3 else "ann" for i in range(len(VALUES))]
    groups = ["x" if i % 2 else "y" for i in range(len(VALUES))]
    arrow = pa.table({"u": persons, "g": groups, "v": pa.array(VALUES, pa.float64())})
    data = ENGINES[engine](arrow, tmp_path)
    terms: dict[str, Any] = {"minimum": "-1", "maximum": 3, "step": "1/10"}
    if plan == "units":
        terms |= {"privacy_unit": "u", "max_contributions": 9}
    if plan == "groups":
        terms |= GROUPS
    behind = numbers_behind(spread_of, data, **terms)

    def steps(value: float) -> int:
        clipped = min(max(Fraction(value), Fraction(-1)), Fraction(3))
        return int((clipped * 10 + Fraction(1, 2)) // 1)

    kept = [
        (g, steps(min(v, 1e9)) - 10)
        for g, v in zip(groups, VALUES, strict=True)
        if v is not None and v == v
    ]
    for i, part in enumerate(["x", "y"] if plan == "groups" else [None]):
        own = [x for g, x in kept if part in (None, g)]
        expected = (len(own), sum(own), sum(x * x - 200 for x in own))
        assert tuple(one.numbers[i] for one in behind) == expected


def test_without_noise_it_is_the_variance_of_all_numbers() -> None:
    numbers = [3, 4, 4, 9, 15, 15]

    def silent(*_: Any) -> list[int]:
        return list(_[1])

    with patch("discreet.tables.verbs.noisy_numbers.ListNoise.draw", silent):
        exact = discreet.variance(numbers, minimum=0, maximum=20, step=1, epsilon=10**6).value
        root = discreet.standard_deviation(
            numbers, minimum=0, maximum=20, step=1, epsilon=10**6
        ).value
    assert abs(float(exact) - statistics.pvariance(numbers)) <= 0.0005
    assert abs(float(root) - statistics.pstdev(numbers)) <= 0.0005


@pytest.mark.parametrize("is_root", [False, True])
def test_the_error_holds_for_all_noise_that_is_within_its_own(is_root: bool) -> None:
    """Whatever the numbers and the noise are, the answer is off by less than is said with it."""
    query = _query("add_remove")
    bounds = SumBounds(0, 4, Fraction(1, 2))
    spread = _spread(bounds, query, is_root=is_root)
    offs = [noise.error(1, module._EACH) for noise in spread.noises]
    assert all(offs)
    for numbers in itertools.chain(
        itertools.combinations_with_replacement(range(5), 3), [[0] * 30 + [4] * 30, [1] * 50 + [2]]
    ):
        steps = [x - bounds.middle for x in numbers]
        exact = len(steps), sum(steps), sum(x * x + squares_of(bounds).low for x in steps)
        true = statistics.pvariance([Fraction(x, 2) for x in numbers])
        for signs in itertools.product((-1, 0, 1), repeat=3):
            answer = spread.name([n + s * t for n, s, t in zip(exact, signs, offs, strict=True)])
            if answer.value is None:
                continue
            wanted = math.sqrt(true) if is_root else true
            assert abs(float(answer.value) - float(wanted)) < float(answer.error.error)


def _spread(bounds: SumBounds, query: Any, *, is_root: bool) -> Spread:
    from discreet.mechanisms.contract import PrivacyParameter
    from discreet.tables.verbs.noisy_numbers import NoisePrice

    price = NoisePrice(PrivacyParameter("epsilon", Fraction(2)), query.neighbors)
    noises = (
        size_noise(query, price),
        sum_noise(bounds.from_middle(), query, price),
        sum_noise(squares_of(bounds), query, price),
    )
    return Spread(bounds, noises, 1, is_root=is_root)


def test_how_many_numbers_it_takes_is_said_before() -> None:
    terms: dict[str, Any] = {"minimum": 0, "maximum": 120, "step": 1, "epsilon": 1}
    bound = bill_of(discreet.variance, [1], **terms).worst_error
    assert bound is not None
    assert bound.unit == NUMBERS_FOR_A_TENTH
    assert 300 < bound.error < 500
    assert f"from {int(bound.error)} or more numbers" in str(bound)
    # So many numbers, spread evenly, have that error, and one less has a larger one.
    query = _query("add_remove")
    spread = _spread(SumBounds(0, 120, Fraction(1)), query, is_root=False)
    least, tenth = int(spread.needs().error), Fraction(120**2, 120)
    for number, holds in ((least, True), (least - 1, False)):
        slope, tilt = spread._offs
        error = slope / number + (tilt / number) ** 2
        assert (error <= tenth) == holds
    assert discreet.variance([5] * 900, **terms).error.unit != NUMBERS_FOR_A_TENTH  # type: ignore[union-attr]


def test_too_few_have_none_and_cost() -> None:
    release = discreet.variance([None], minimum=0, maximum=1, epsilon="1/1000")
    while release.value is not None:
        release = discreet.variance([None], minimum=0, maximum=1, epsilon="1/1000")
    assert release.counts <= 0
    assert "no answer: 0 numbers were found" in str(release)
    assert release.guarantee.pure == Fraction(1, 1000)


def test_squares_beyond_a_word_are_exact() -> None:
    far = 2**62
    behind = numbers_behind(
        discreet.variance, [-far, far, far], minimum=-far, maximum=far, step=1, epsilon=1
    )
    assert [one.numbers for one in behind] == [(3,), (far,), (3 * (far**2 - far**2 // 2),)]


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        (
            {"minimum": 0, "maximum": 9, "delta": "1e-8"},
            "delta is that of groups that nobody lists",
        ),
        ({"maximum": 9}, "minimum and maximum are missing"),
        ({"minimum": 0, "maximum": 9, "step": f"1/{3**200}"}, "step"),
    ],
)
def test_public_arguments_are_checked_before_data_are_opened(
    terms: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidArgument, match=words):
        discreet.variance("nowhere.csv", "age", epsilon=1, **terms)


def test_rho_takes_gaussian_noise_for_units_of_many_groups() -> None:
    groups = {"by": "g", "groups": [*"abcdefghij"], "max_groups": 10, "privacy_unit": "u"}
    terms: dict[str, Any] = {"minimum": 0, "maximum": 9, "step": 1, "rho": "1/8", **groups}
    bill = bill_of(discreet.variance, "nowhere.csv", "v", **terms)
    assert bill.mechanism == "gaussian"
    assert bill.guarantee.rho == Fraction(1, 8)


def test_of_groups_that_nobody_listed() -> None:
    table = pa.table({"g": ["x"] * 900 + ["y"] * 2, "v": [1, 3, 5] * 300 + [1, 1]})
    private: dict[str, Any] = {"by": "g", "groups": "private", "delta": "1e-8"}
    release = spread_of(table, minimum=0, maximum=6, step=1, epsilon=20, **private)
    assert [*release.value] == ["x"]
    assert abs(float(release.value["x"]) - 8 / 3) < 0.5


def test_a_description_declares_its_bounds_and_sql_asks_it() -> None:
    table = pa.table({"age": [20, 40] * 5_000})
    described = discreet.Dataset(
        table, columns={"age": {"type": "integer", "minimum": 0, "maximum": 100}}
    )
    assert abs(float(discreet.variance(described, "age", epsilon=1).value) - 100) < 20
    clause = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 2)"
    spellings = ["VAR_POP", "VARIANCE", "VAR_SAMP", "STDDEV", "STDDEV_POP", "STDDEV_SAMP"]
    for name in spellings:
        [row] = discreet.sql(described, f"{clause} {name}(age) AS x FROM data").value
        answer, wanted = float(row["x"]), 100 if name.startswith("VAR") else 10
        assert abs(answer - wanted) < wanted / 5


def test_on_the_command_line_its_needs_are_said_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age\n" + "30\n50\n" * 2_000, encoding="utf-8")
    bounds = ["--minimum", "0", "--maximum", "100", "--epsilon", "10"]
    assert run_command(["variance", str(path), "age", *bounds, "--json"]) == 0
    out, err = capsys.readouterr()
    assert abs(float(json.loads(out)["value"]) - 100) < 10
    assert "or more numbers, spread evenly between the bounds" in err
    assert run_command(["standard-deviation", str(path), "age", *bounds, "--dry-run"]) == 0
    assert "or more numbers, spread evenly" in capsys.readouterr().out


def test_the_default_step_is_that_of_sums() -> None:
    release = discreet.variance([1.25] * 99, minimum=0, maximum=4, epsilon=1)
    assert f"by {default_step(Fraction(4))!s}" in release.query or "0.00001" in release.query
