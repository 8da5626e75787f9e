"""Private keys: brute force over all small tables, their neighbours and answers; counts and their noise."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from flint import arb

from discreet.mechanisms.key_shares import KeyShare
from discreet.mechanisms.private_keys import PrivateKeys
from discreet.mechanisms.testing import SeededBits
from discreet.privacy import ApproxDP, compose
from discreet.privacy.gaussian_keys import GaussianThreshold
from discreet.privacy.sensitivity import Neighbors
from discreet.sampling.enclosures import ball, precision
from tests.sampling.test_key_probabilities import exact_table, excess, with_counts

Counts = tuple[int, ...]

UNITS, KEYS = 4, 3


def tables(keys: int, units: int = UNITS) -> Iterator[Counts]:
    """Yield the counts of all tables of so many units at most, each in at most so many keys."""
    of_one = changes(keys)
    reached = {(0,) * KEYS}
    for _ in range(units):
        reached |= {added(counts, one) for counts in reached for one in of_one}
    return iter(sorted(reached))


def changes(keys: int) -> list[Counts]:
    """Return the counts that one unit may add."""
    places = [c for size in range(1, keys + 1) for c in combinations(range(KEYS), size)]
    return [tuple(int(i in some) for i in range(KEYS)) for some in places]


def added(counts: Counts, one: Counts, sign: int = 1) -> Counts:
    return tuple(a + sign * b for a, b in zip(counts, one, strict=True))


def neighbours(keys: int, relation: Neighbors) -> set[tuple[Counts, Counts]]:
    """Return all pairs of neighbouring tables, in both orders."""
    pairs = set()
    for counts in tables(keys, UNITS - 1):
        more = [added(counts, one) for one in changes(keys)]
        if relation == "add_remove":
            pairs |= {(counts, one) for one in more} | {(one, counts) for one in more}
        else:  # a unit of no keys, as all of its rows are null, is one too
            pairs |= {
                (one, other) for one in [counts, *more] for other in [counts, *more] if one != other
            }
    # keys are alike: only what pairs of counts there are matters
    return {tuple(zip(*sorted(zip(*pair, strict=True)), strict=True)) for pair in pairs}  # type: ignore[misc]


def joint(laws: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    """Return the probabilities of all answers of independent keys."""
    total = [Fraction(1)]
    for law in laws:
        total = [a * b for a in total for b in law]
    return total


MOVED = [(1, "add_remove", 1), (2, "add_remove", 2), (1, "replace_one", 2)]


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("delta", [Fraction(1, 20), Fraction(1, 2), Fraction(3, 5)])
@pytest.mark.parametrize(("keys", "relation", "moved"), MOVED)
def test_all_small_tables_in_fractions(
    keys: int, relation: Neighbors, moved: int, delta: Fraction, counted: bool
) -> None:
    """With e**epsilon_0 = 2 and delta_0 each, at 2**moved: exactly 1 - (1 - delta_0)**moved.

    Of a unit that is replaced, the key that it leaves takes all of delta_0 only near the count from which keys are
    sure, which so few units reach if delta_0 is large, and if it is not more than one half.
    """
    table = exact_table(Fraction(2), delta)

    def law(n: int) -> list[Fraction]:
        every = with_counts(table, n, UNITS)
        return every if counted else [every[0], sum(every[1:], Fraction(0))]

    laws = [law(n) for n in range(UNITS + 1)]
    assert all(sum(one) == 1 for one in laws)
    worst = max(
        excess(joint([laws[n] for n in p]), joint([laws[n] for n in q]), Fraction(2**moved))
        for p, q in neighbours(keys, relation)
    )
    whole = 1 - (1 - delta) ** moved
    assert worst == whole if relation == "add_remove" or delta == Fraction(1, 2) else worst <= whole


@cache
def law_of(mechanism: PrivateKeys, count: int, counted: bool) -> list[arb]:
    """Return balls around the probabilities of no answer and of all released counts, or of an answer."""
    chance = mechanism.chance(count)
    if not counted:
        return [1 - chance, chance]
    top = mechanism.probabilities.likeliest_step
    released = [
        mechanism.chance_of(count, top + i) for i in range(-1, UNITS + mechanism.minimum_count)
    ]
    return [1 - chance, *released]


def worst_excess(mechanism: PrivateKeys, keys: int, relation: Neighbors, counted: bool) -> arb:
    """Return a ball around the largest P(S) - e**epsilon Q(S) over all small neighbours."""
    x, worst = ball(mechanism.epsilon).exp(), arb(-1)
    zero = arb(0)
    for p, q in sorted(neighbours(keys, relation)):
        total = arb(0)
        for outcome in product(range(len(law_of(mechanism, 0, counted))), repeat=KEYS):
            first = second = arb(1)
            for i, a, b in zip(outcome, p, q, strict=True):
                first *= law_of(mechanism, a, counted)[i]
                second *= law_of(mechanism, b, counted)[i]
            total += zero.max(first - x * second)
        worst = worst.max(total)
    return worst


BRUTE = [
    (1, "add_remove", "1", "1/10", 1), (2, "add_remove", "1", "1/10", 1), (1, "replace_one", "1", "1/10", 1),
    (1, "add_remove", "2", "1/3", 1), (1, "add_remove", "1/2", "3/5", 1), (1, "add_remove", "1", "1/10", 2),
]  # fmt: skip


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize(("keys", "relation", "epsilon", "delta", "least"), BRUTE)
def test_all_small_tables(
    keys: int, relation: Neighbors, epsilon: str, delta: str, least: int, counted: bool
) -> None:
    mechanism = PrivateKeys(Fraction(epsilon), Fraction(delta), keys, relation, least)
    with precision(128):
        law_of.cache_clear()
        worst = worst_excess(mechanism, keys, relation, counted)
        assert not worst > ball(mechanism.delta) + arb(2) ** -60
        if relation == "add_remove":  # and all of it is used
            assert worst > ball(mechanism.delta) * (1 - arb(2) ** -50)
        law_of.cache_clear()


WRONG: dict[str, tuple[Neighbors, str, Any]] = {
    "a replaced record moves as many keys as one that comes": (
        "replace_one", "changes", property(lambda own: own.keys),
    ),
    "a unit of two keys has the share of one": ("add_remove", "changes", property(lambda _: 1)),
    "the share has twice its delta": (
        "add_remove", "share", property(lambda own: KeyShare(own.epsilon / 2, own.delta)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_numbers_are_found_by_the_same_checks(
    wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    relation, name, mutant = WRONG[wrong]
    monkeypatch.setattr(PrivateKeys, name, mutant)
    mechanism = PrivateKeys(Fraction(1, 2), Fraction(3, 5), 2, relation)
    with precision(128):
        law_of.cache_clear()
        worst = worst_excess(mechanism, 2, relation, counted=True)
        law_of.cache_clear()
    assert worst > ball(mechanism.delta) + arb(2) ** -20


def test_a_split_by_k_for_replaced_units_would_not_do() -> None:
    """The counts of 2 k keys move where a unit is replaced."""
    mechanism = PrivateKeys(Fraction(1), Fraction(1, 10), 1, "add_remove")
    with precision(128):
        law_of.cache_clear()
        assert worst_excess(mechanism, 1, "replace_one", False) > ball(mechanism.delta) * 1.5
        law_of.cache_clear()
    replaced = PrivateKeys(Fraction(1), Fraction(1, 10), 1, "replace_one")
    assert replaced.changes == 2
    assert replaced.share.epsilon == Fraction(1, 2)
    assert 1 - (1 - replaced.share.delta) ** 2 <= Fraction(1, 10)


@pytest.mark.parametrize("least", [1, 2, 7])
def test_released_counts(least: int) -> None:
    """Their probabilities add up to that of the key; the least is t where M is all of the count."""
    mechanism = PrivateKeys(Fraction(1), Fraction(1, 10**5), minimum_count=least)
    top = mechanism.probabilities.likeliest_step
    assert (top, mechanism.sure, mechanism.even) == (12, 22 + least, 11 + least)
    with precision(128):
        for count in (0, 1, least - 1, least, least + 1, least + 11, least + 22, least + 40):
            answers = range(count + top - 23 - 1, count + top + 2)
            chances = [mechanism.chance_of(count, y) for y in answers]
            assert abs(sum(chances, arb(0)) - mechanism.chance(count)) < arb(10) ** -30
            assert count >= least or mechanism.chance(count) == 0
            least_answer = min(
                (y for y, p in zip(answers, chances, strict=True) if p > 0), default=None
            )
            if count >= least:
                assert least_answer == max(top + least - 1, count + top - 23)


@pytest.mark.parametrize("least", [1, 4])
@pytest.mark.parametrize("with_counts", [False, True])
def test_a_draw_is_of_the_classes_of_the_table(least: int, with_counts: bool) -> None:
    mechanism = PrivateKeys(Fraction(1), Fraction(1, 10**5), minimum_count=least)
    mechanism.compute_tables()
    sizes = [100] * (mechanism.sure - 1) + [7]
    drawn = mechanism.law(sizes, with_counts=with_counts).draw(SeededBits(3))
    assert (mechanism.sure, min(drawn.classes) >= least) == (22 + least, True)
    assert set(drawn.classes[-7:]) == {mechanism.sure}
    assert drawn.places[-7:].tolist() == [*range(7)]
    assert len({*zip(drawn.classes, drawn.places, strict=True)}) == len(drawn.places)
    for count in (least + 11, least + 12, least + 20):
        chance = float(mechanism.chance(count))
        slack = 5 * (100 * chance * (1 - chance)) ** 0.5 + 1
        assert abs((drawn.classes == count).sum() - 100 * chance) < slack
    if drawn.shifts is None:
        assert not with_counts
        return
    released = drawn.classes + drawn.shifts
    assert min(released) >= 12 + least - 1
    assert max(drawn.shifts) <= 11
    assert min(drawn.shifts) >= -11


@pytest.mark.parametrize("least", [1, 4])
def test_a_draw_is_of_keys_that_there_are(least: int) -> None:
    """Of classes below the minimum count nothing is drawn, and each class is its own."""
    mechanism = PrivateKeys(Fraction(1), Fraction(1, 10**5), minimum_count=least)
    for count in range(1, mechanism.sure + 1):
        sizes = [0] * mechanism.sure
        sizes[count - 1] = 500
        drawn = mechanism.law(sizes, with_counts=True).draw(SeededBits(count))
        assert {*drawn.classes} <= {count}
        expected = 500 * float(mechanism.chance(count))
        assert abs(len(drawn.places) - expected) <= 5 * expected**0.5 + 1e-9 + (expected > 0)


def test_the_mean_and_the_deviation_of_the_noise() -> None:
    values = {
        ("1", "1e-5"): ("11.8279490876", "1.4078484"), ("1", "1e-6"): ("14.0674541557", "1.3798562"),
        ("1/2", "1e-6"): ("25.8526107743", "2.8211284"), ("1/10", "1e-6"): ("109.197407107", "14.132438"),
        ("2", "1e-8"): ("10.1594391872", "0.70430734"), ("1/4", "1/100"): ("11.3840192710", "4.1930920"),
    }  # fmt: skip
    for pair, (mean, deviation) in values.items():
        mechanism = PrivateKeys(Fraction(pair[0]), Fraction(pair[1]))
        size, top = mechanism.probabilities.size, mechanism.probabilities.likeliest_step
        with precision(128):
            steps = {m: mechanism.chance_of(size, size + top - m) for m in range(1, size + 1)}
            first = sum((m * p for m, p in steps.items()), arb(0))
            second = sum((m * m * p for m, p in steps.items()), arb(0))
        assert abs(float(first) - float(mean)) < 1e-9 * float(mean)
        assert abs(float((second - first * first).sqrt()) - float(deviation)) < 1e-7 * float(
            deviation
        )


TEN = PrivateKeys(Fraction(1), Fraction(1, 10**6), 10, shows_counts=True)


@pytest.mark.parametrize("least", [1, 4])
def test_the_gaussian_rule(least: int) -> None:
    """Its parameters are public; counts of shown keys are at least the threshold, and add up to the probability."""
    mechanism = PrivateKeys(
        Fraction(1), Fraction(1, 10**6), 10, minimum_count=least, shows_counts=True
    )
    assert mechanism.parameters == {
        "epsilon": 1, "delta": Fraction(1, 10**6), "keys": 10, "minimum_count": least,
        "sigma_squared": Fraction(357, 2), "threshold": 71,
    }  # fmt: skip
    assert (mechanism.even, mechanism.sure) == (70 + least, 197 + least)
    assert mechanism.guarantee.promises[0] == ApproxDP(Fraction(1), Fraction(1, 10**6))  # type: ignore[union-attr]
    with precision(128):
        for count in (0, 1, least - 1, least, 60, 70 + least, 150, 197 + least, 400):
            answers = range(max(0, count - 200), count + 300)
            chances = [mechanism.chance_of(count, y) for y in answers]
            whole = mechanism.chance(count, with_counts=True)
            assert abs(sum(chances, arb(0)) - whole) < arb(10) ** -30
            assert count >= least or whole == 0
            assert abs(mechanism.chance(count) - whole) < arb(2) ** -64
            shown = [y for y, p in zip(answers, chances, strict=True) if p > 0]
            assert not shown or min(shown) == max(70 + least, count - 200)


@pytest.mark.parametrize("with_counts", [False, True])
def test_a_draw_by_the_gaussian_rule(with_counts: bool) -> None:
    sizes = [100] * (TEN.sure - 1) + [7]
    drawn = TEN.law(sizes, with_counts=with_counts).draw(SeededBits(3))
    assert drawn.least == 71
    assert drawn.places[-7:].tolist() == [*range(7)]
    for count in (60, 71, 90):
        chance = float(TEN.chance(count))
        slack = 5 * (100 * chance * (1 - chance)) ** 0.5 + 1
        assert abs((drawn.classes == count).sum() - 100 * chance) < slack
    if drawn.shifts is None:
        assert not with_counts
        return
    few = drawn.classes < TEN.sure
    assert min((drawn.classes + drawn.shifts)[few]) == 71
    assert abs(float(np.std(drawn.shifts)) - 13) < 1


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize(
    ("keys", "relation"), [(1, "add_remove"), (2, "add_remove"), (1, "replace_one")]
)
def test_all_small_tables_by_the_gaussian_rule(
    keys: int, relation: Neighbors, counted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through the probabilities of the mechanism itself, with a threshold that so few units reach."""
    threshold = GaussianThreshold(Fraction(1), 3, keys, relation)
    monkeypatch.setattr(PrivateKeys, "threshold", threshold)
    mechanism = PrivateKeys(Fraction(1), Fraction(1, 2), keys, relation)
    with precision(128):
        law_of.cache_clear()
        worst = worst_excess(mechanism, keys, relation, counted)
        law_of.cache_clear()
        promise = ball(threshold.delta_at(Fraction(1)))
        assert promise / 10 < worst
        assert not worst > promise + arb(2) ** -60


@pytest.mark.parametrize(("keys", "optimal"), [(10, "4.7877238")])
def test_many_releases_are_charged_by_the_parts_of_the_rule(keys: int, optimal: str) -> None:
    """Ten of (1, 1e-8) at a delta of 1e-6: less than by the optimal rule, and far less than ten times one."""
    mechanism = PrivateKeys(Fraction(1), Fraction(1, 10**8), keys, shows_counts=True)
    assert mechanism.rule == "gaussian"
    assert mechanism.guarantee.delta_at(1) <= Fraction(1, 10**8)
    ten = compose(*[mechanism.guarantee] * 10).approx("1e-6").epsilon
    assert 2.86 < ten < 2.87
    weighted = PrivateKeys(Fraction(1), Fraction(1, 10**8), keys)
    assert weighted.rule == "weights"
    assert ten < compose(*[weighted.guarantee] * 10).approx("1e-6").epsilon < 3.08
    of_each = ApproxDP(*mechanism.share).repeated(10 * keys)
    assert float(compose(of_each).approx("1e-6").epsilon) == pytest.approx(float(optimal), abs=1e-4)
