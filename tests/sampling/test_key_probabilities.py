"""The optimal probabilities of keys: their values, their recursion, and what makes them private."""

from fractions import Fraction
from itertools import count, islice, pairwise

import numpy as np
import pytest
from flint import arb

from discreet.errors import InvalidArgument
from discreet.sampling.enclosures import ball, precision
from discreet.sampling.key_probabilities import (
    LONGEST_TABLE,
    OptimalProbabilities,
    in_doubles,
    rate_of,
)

from .given_probabilities import GivenProbabilities

VALUES = {
    ("1", "1e-5"): (11, 23, 12, {
        1: "1.00000000000000e-5", 2: "3.71828182845905e-5", 5: "0.000857910248837216", 10: "0.128183080505246",
        11: "0.348447738453313", 12: "0.760310996922627", 13: "0.911827022287368", 20: "0.999925411111903",
        22: "0.999994937638947",
    }),
    ("1", "1e-6"): (14, 28, 14, {
        10: "0.0128183080505246", 13: "0.257473706979533", 14: "0.699887098988454", 15: "0.889595001566973",
        20: "0.999256675027503", 27: "0.999999903621376",
    }),
    ("1/2", "1e-6"): (25, 51, 26, {
        10: "0.000227236512444677", 24: "0.250884006382823", 25: "0.413638797801827", 26: "0.644354559731509",
        27: "0.784290743020822", 40: "0.999677233425309", 50: "0.999999356323504",
    }),
    ("1/10", "1e-6"): (109, 218, 109, {
        50: "0.00140165324977524", 108: "0.466096541071579", 109: "0.515117342207960", 110: "0.561260932710455",
        150: "0.991973547857915", 217: "0.999999616772548",
    }),
    ("2", "1e-8"): (10, 20, 10, {
        9: "0.102769434358731", 10: "0.759369125732036", 11: "0.967434153828824", 19: "0.999999997900373",
    }),
    ("1/4", "1/100"): (11, 22, 11, {
        5: "0.0876802853245959", 10: "0.393714551715544", 11: "0.515539491322579", 12: "0.630489784305567",
        21: "0.992551118247660",
    }),
}  # fmt: skip
"""By epsilon and delta: the turn, the size, the likeliest step, and probabilities to 15 digits."""

ODD = [
    ("1", "1/2"),
    ("1", "3/5"),
    ("1/3", "99/100"),
    ("30", "1e-9"),
    ("1/1000", "1/4"),
    ("1", "1e-90"),
]
PAIRS = [*VALUES, *ODD]


def optimal(epsilon: str, delta: str) -> OptimalProbabilities:
    return OptimalProbabilities(Fraction(epsilon), Fraction(delta))


def recursion(epsilon: str, delta: str, length: int) -> list[arb]:
    """Return the probabilities by the recursion itself, in balls."""
    x, share = ball(Fraction(epsilon)).exp(), ball(Fraction(delta))
    values = [arb(0)]
    for _ in range(length):
        last = values[-1]
        values.append((x * last + share).min(1 - (1 - last - share) / x).min(arb(1)))
    return values


@pytest.mark.parametrize("pair", VALUES)
def test_values(pair: tuple[str, str]) -> None:
    turn, size, step, values = VALUES[pair]
    law = optimal(*pair)
    assert (law.turn, law.size, law.likeliest_step) == (turn, size, step)
    with precision(128):
        for n, text in values.items():
            digits = ball(Fraction(text))
            assert abs(law.probability(n) - digits) < abs(digits) * arb(10) ** -14
            assert law.probability(n).rad() < arb(10) ** -30


@pytest.mark.parametrize("pair", PAIRS)
def test_the_closed_form_is_the_recursion(pair: tuple[str, str]) -> None:
    law = optimal(*pair)
    with precision(4096):
        values = recursion(*pair, law.size + 2)
        for n, value in enumerate(values[: law.size]):
            assert law.probability(n).overlaps(value)
            assert law.complement(n).overlaps(1 - value)
            assert value.rad() < arb(10) ** -100
            assert value < 1
        assert all(value.overlaps(arb(1)) for value in values[law.size :])
        assert law.probability(law.size) == 1
        assert law.complement(law.size) == 0


@pytest.mark.parametrize("pair", PAIRS)
def test_the_likeliest_step_is_the_mode(pair: tuple[str, str]) -> None:
    law = optimal(*pair)
    with precision(1024):
        steps = [law.probability(n) - law.probability(n - 1) for n in range(1, law.size + 1)]
        assert not any(step > steps[law.likeliest_step - 1] for step in steps)


@pytest.mark.parametrize("pair", PAIRS)
def test_doubles_are_near(pair: tuple[str, str]) -> None:
    law = optimal(*pair)
    table = in_doubles(law)
    assert len(table.probabilities) == law.size + 1
    with precision(1024):
        for n in range(law.size):
            for double, exact in (
                (table.probabilities[n], law.probability(n)),
                (table.rates[n], rate_of(law, n)),
            ):
                assert abs(arb(float(double)) - exact) <= abs(exact) * arb(2) ** -52
    assert (table.probabilities[0], table.probabilities[-1]) == (0, 1)
    assert (table.borders == table.probabilities).all()


def test_a_small_epsilon_beside_delta() -> None:
    law = optimal("1e-9", "1/1000")
    assert (law.turn, law.size) == (500, 1000)
    assert np.allclose(in_doubles(law).probabilities, np.arange(1001) / 1000, atol=1e-6)


@pytest.mark.parametrize("pair", [("0", "1/2"), ("-1", "1/2"), ("1", "0"), ("1", "1"), ("1", "2")])
def test_no_epsilon_or_delta_is_refused(pair: tuple[str, str]) -> None:
    with pytest.raises(InvalidArgument, match="above 0"):
        optimal(*pair)


@pytest.mark.parametrize("epsilon", ["1e-6", "1e-300"])
def test_a_long_table_is_refused_before_it_is_made(epsilon: str) -> None:
    with pytest.raises(InvalidArgument, match=f"at most {LONGEST_TABLE:,} are served"):
        optimal(epsilon, "1e-9")


def exact_table(x: Fraction, delta: Fraction) -> GivenProbabilities:
    """Return the optimal probabilities for e**epsilon = x, in fractions."""
    values = [Fraction(0)]
    while values[-1] < 1:
        last = values[-1]
        values.append(min(x * last + delta, 1 - (1 - last - delta) / x, Fraction(1)))
    return GivenProbabilities(values)


def test_exact_values() -> None:
    values = exact_table(Fraction(2), Fraction(1, 20)).values
    assert [*map(str, values)] == ["0", "1/20", "3/20", "7/20", "7/10", "7/8", "77/80", "1"]


def excess(p: list[Fraction], q: list[Fraction], x: Fraction) -> Fraction:
    """Return the largest P(S) - x Q(S) over all events of two distributions on the same answers."""
    return sum((max(a - x * b, Fraction(0)) for a, b in zip(p, q, strict=True)), Fraction(0))


def with_counts(table: GivenProbabilities, n: int, most: int) -> list[Fraction]:
    """Return the probabilities of no answer, and of released counts t, t + 1, ..., t + most of a key of count n."""
    values, size = table.values, table.size
    chance = values[min(n, size)]
    steps = [
        values[m] - values[m - 1] if 1 <= m <= size else Fraction(0)
        for m in range(n, n - most - 1, -1)
    ]
    return [1 - chance, *steps]


XS = [Fraction(x) for x in ("11/10", "3/2", "2", "3", "10", "1000")]
DELTAS = [
    Fraction(d) for d in ("1/1000", "1/20", "1/10", "1/4", "1/3", "1/2", "3/5", "9/10", "99/100")
]


@pytest.mark.parametrize("x", XS)
@pytest.mark.parametrize("delta", DELTAS)
def test_the_count_is_free(x: Fraction, delta: Fraction) -> None:
    """With counts: delta exactly at every count upwards; downwards at most delta, and all of it up to one half."""
    table = exact_table(x, delta)
    most = table.size + 3
    laws = [with_counts(table, n, most) for n in range(most)]
    assert all(sum(law) == 1 for law in laws)
    upwards = [excess(more, less, x) for less, more in pairwise(laws)]
    downwards = [excess(less, more, x) for less, more in pairwise(laws)]
    assert set(upwards) == {delta}
    assert max(downwards) <= delta
    assert (max(downwards) == delta) == (delta <= Fraction(1, 2))


def test_the_tests_above_meet_equal_arguments() -> None:
    """Where both arguments of the recursion are equal it does not matter which is taken."""
    equal = 0
    for x in XS:
        for delta in DELTAS:
            middle = (1 - delta) / (1 + x)
            equal += middle in exact_table(x, delta).values
    cases = (Fraction(1, n) for n in count(2))
    for delta in islice(cases, 200):
        x = Fraction(2)
        equal += (1 - delta) / (1 + x) in exact_table(x, delta).values
    assert equal >= 1


@pytest.mark.parametrize("x", XS)
def test_no_rule_releases_more(x: Fraction) -> None:
    """Each value is the largest that both directions allow after the one before."""
    for delta in DELTAS:
        values = exact_table(x, delta).values
        more = Fraction(1, 10**9)
        for last, value in pairwise(values):
            raised = value + more
            assert value <= x * last + delta
            assert 1 - last <= x * (1 - value) + delta
            assert (
                raised > min(x * last + delta, Fraction(1)) or 1 - last > x * (1 - raised) + delta
            )


def test_given_probabilities() -> None:
    table = GivenProbabilities([Fraction(0), Fraction(1, 3), Fraction(2, 3), Fraction(1)])
    assert (table.size, table.likeliest_step) == (3, 1)
    with precision(64):
        assert table.complement(1).overlaps(ball(Fraction(2, 3)))
        assert table.probability(9) == 1
