"""The deltas of many exponential mechanisms are above every adversary's, and close to the best."""

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import permutations, product

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidNumber
from discreet.privacy import adaptive
from discreet.privacy.adaptive import delta_adaptive, delta_nonadaptive, epsilon_adaptive
from discreet.sampling.enclosures import ball, lower, precision, upper

F = Fraction
TABLE = [
    (1, F(1), F(1, 2), 0.0774047, 0.0774047),
    (10, F(1, 10), F(3, 10), 0.0023110, 0.00218517),
    (50, F(1, 10), F(1, 2), 0.0164138, 0.0162063),
]  # answers, epsilon, target; the limits of the adaptive recursion and of the formula
sizes = st.fractions(F(1, 8), 2, max_denominator=24)


def high_chance(epsilon: arb, t: arb) -> arb:
    """Return P(loss t) of the pair with losses t and t - epsilon, straight from its two equations.

    p + (1 - p) = 1 and p exp(-t) + (1 - p) exp(epsilon - t) = 1.
    """
    return ((epsilon - t).exp() - 1) / ((epsilon - t).exp() - (-t).exp())


def best_adversary(epsilons: Sequence[Fraction], target: Fraction, step: Fraction) -> Fraction:
    """Return a lower bound: the best adversary who may choose among the losses 0, step, 2 step, ...

    Every epsilon must be a multiple of the step. All in balls, by recursion over (answers given, loss so far).
    """
    cells = [int(epsilon / step) for epsilon in epsilons]
    assert [c * step for c in cells] == list(epsilons)

    @cache
    def chances(size: int) -> list[tuple[arb, arb]]:
        rows = [high_chance(ball(size * step), ball(j * step)) for j in range(size + 1)]
        return [(p, 1 - p) for p in rows]

    @cache
    def value(given: int, loss: int) -> Fraction:
        if given == len(cells):
            return max(F(0), lower(1 - ball(target - loss * step).exp()))
        size = cells[given]
        return max(
            lower(
                p * ball(value(given + 1, loss + j)) + q * ball(value(given + 1, loss + j - size))
            )
            for j, (p, q) in enumerate(chances(size))
        )

    with precision(96):
        return value(0, 0)


def hockey_stick(pairs: Sequence[tuple[arb, arb]], target: Fraction) -> Fraction:
    """Return a lower bound on sum (P - exp(target) Q)+ over outcomes with probabilities (P, Q)."""
    gamma = ball(target).exp()
    return sum((max(F(0), lower(p - gamma * q)) for p, q in pairs), F(0))


@pytest.mark.parametrize(("n", "epsilon", "target", "limit", "_"), TABLE)
def test_the_adaptive_column_of_the_table(
    n: int, epsilon: Fraction, target: Fraction, limit: float, _: float
) -> None:
    found = delta_adaptive([epsilon] * n, target)
    assert found is not None
    assert limit * (1 - 1e-5) <= found <= limit * 1.002


@pytest.mark.parametrize(("n", "epsilon", "target", "_", "limit"), TABLE)
def test_the_column_of_the_formula(
    n: int, epsilon: Fraction, target: Fraction, _: float, limit: float
) -> None:
    assert float(delta_nonadaptive(epsilon, n, target)) == pytest.approx(limit, rel=3e-6)


@given(sizes, st.integers(0, 32))
def test_one_answer_has_a_closed_form(epsilon: Fraction, share: int) -> None:
    target = epsilon * share / 32
    with precision(200):
        exact = (1 - ((ball(target - epsilon)) / 2).exp()) ** 2 / (1 - (-ball(epsilon)).exp())
        for found in (delta_adaptive([epsilon], target), delta_nonadaptive(epsilon, 1, target)):
            assert found is not None
            assert lower(exact) <= found <= upper(exact) + F(1, 2**100)


@pytest.mark.parametrize(
    ("epsilons", "target", "step"),
    [
        ([F(1)] * 2, F(1, 2), F(1, 40)),
        ([F(1)] * 3, F(0), F(1, 30)),
        pytest.param([F(1, 10)] * 6, F(1, 7), F(1, 300), marks=pytest.mark.proof),
        pytest.param([F(3)] * 4, F(5), F(1, 20), marks=pytest.mark.proof),
        ([F(1), F(1, 2), F(1, 4)], F(1, 3), F(1, 40)),
        ([F(1, 4), F(1, 2), F(1)], F(1, 3), F(1, 40)),
        pytest.param([F(1, 3), F(1, 2)] * 2, F(2, 3), F(1, 90), marks=pytest.mark.proof),
        ([F(1, 20), F(2)], F(1), F(1, 40)),
    ],
)
@pytest.mark.one_in(3)
def test_it_is_above_the_best_adversary_and_close(
    epsilons: list[Fraction], target: Fraction, step: Fraction
) -> None:
    """Whatever the order of the answers."""
    found = delta_adaptive(epsilons, target)
    attacks = {best_adversary(order, target, step) for order in set(permutations(epsilons))}
    assert found is not None
    assert max(attacks) <= found <= max(attacks) * F(1005, 1000)


def test_the_order_of_the_answers_matters() -> None:
    """A large epsilon that comes last can be spent on what the small ones left, and more is lost.

    So a bound for one order would not do for another; ours is one for all.
    """
    falling = [F(1), F(1, 2), F(1, 4), F(1, 4)]
    found = {delta_adaptive(list(order), F(1)) for order in permutations(falling)}
    assert len(found) == 1
    first, last = (best_adversary(order, F(1), F(1, 40)) for order in (falling, falling[::-1]))
    assert first * F(103, 100) < last


@given(st.lists(sizes, min_size=1, max_size=3), st.integers(0, 15), st.integers(0, 2**32))
def test_no_adaptive_sequence_of_exponential_mechanisms_loses_more(
    epsilons: list[Fraction], share: int, seed: int
) -> None:
    """Three candidates a round, new scores after every answer: all answers enumerated, in balls."""
    chance = random.Random(seed)
    target = sum(epsilons) * F(share, 16)

    def laws(epsilon: Fraction) -> list[tuple[arb, arb]]:
        scores = [F(chance.randrange(-8, 9), 4) for _ in range(3)]
        corners = chance.random() < 0.7  # changes at the ends of the range do the most harm
        moved = [F(chance.choice([0, 8]) if corners else chance.randrange(9), 8) for _ in range(3)]
        weights = [
            [(ball(s) + ball(epsilon * d) * both).exp() for s, d in zip(scores, moved, strict=True)]
            for both in (1, 0)
        ]
        return list(zip(*([w / sum(row, arb(0)) for w in row] for row in weights), strict=True))

    def outcomes(rest: list[Fraction]) -> list[tuple[arb, arb]]:
        if not rest:
            return [(arb(1), arb(1))]
        taken = chance.randrange(len(rest))
        first, others = rest[taken], rest[:taken] + rest[taken + 1 :]
        return [
            (p * p2, q * q2) for p, q in laws(first) for p2, q2 in outcomes(others)
        ]  # new laws for each answer

    found = delta_adaptive(epsilons, target)
    assert found is not None
    with precision(128):
        pairs = outcomes(epsilons)
        assert hockey_stick(pairs, target) <= found
        assert hockey_stick([(q, p) for p, q in pairs], target) <= found


def test_an_adversary_may_be_built_from_two_candidates() -> None:
    """The bound is tight: pairs with losses t and t - epsilon are exponential mechanisms."""
    with precision(128):
        epsilon, t = arb(1), arb(3) / 8
        p = high_chance(epsilon, t)
        q = p * (-t).exp()
        assert (p / (1 - p) / (q / (1 - q))).log().overlaps(epsilon)


@pytest.mark.proof
def test_answers_in_advance_lose_less_than_adaptive_ones() -> None:
    for n, epsilon, target in [(3, F(1), F(1)), (7, F(1, 3), F(1)), (12, F(1, 10), F(1, 5))]:
        fixed, chosen = delta_nonadaptive(epsilon, n, target), delta_adaptive([epsilon] * n, target)
        assert chosen is not None
        assert fixed < chosen
        assert fixed < best_adversary([epsilon] * n, target, epsilon / 24)


def test_its_error_is_of_second_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of the step costs a sixteenth, or nearly: with an error of first order, a quarter."""
    excess = []
    for cells in (6, 24, 96):
        monkeypatch.setattr(adaptive, "_FINEST", cells)
        found = delta_adaptive([F(1, 20)] * 30, F(1, 2))
        assert found is not None
        excess.append(found)
    assert excess[0] - excess[1] > 10 * (excess[1] - excess[2]) > 0


def test_one_step_is_above_every_loss_in_between() -> None:
    """For random bounds at the points: the joined bounds at any loss, from the definition, in balls."""
    chance = random.Random(7)
    for cells, step in [(1, F(1, 2)), (2, F(1, 8)), (5, F(1, 64)), (3, F(2))]:
        for power in (0.5, 1, 8):
            after = np.sort([chance.random() ** power for _ in range(2 * cells + 3)])[::-1].copy()
            bounds = adaptive._one_more(after, adaptive.LossGrid(step, (cells,), (1,), 0, 1), 0)
            with precision(160):
                for m, bound in enumerate(bounds, cells):
                    worst = max(
                        value_between(after, m, cells, step, F(k, 8)) for k in range(8 * cells + 1)
                    )
                    assert worst <= F(bound)


def value_between(after: np.ndarray, m: int, cells: int, step: Fraction, j: Fraction) -> Fraction:
    """Return a lower bound on the value of the loss j * step at the point m, `after` joined by chords."""

    def joined(at: Fraction) -> arb:
        index = min(math.floor(at), len(after) - 2)
        share = (ball((at - index) * step).exp() - 1) / (ball(step).exp() - 1)
        return arb(float(after[index])) * (1 - share) + arb(float(after[index + 1])) * share

    p = high_chance(ball(cells * step), ball(j * step))
    return lower(p * joined(m - j) + (1 - p) * joined(m - j + cells))


def test_every_double_is_rounded_up() -> None:
    """At the points themselves nothing is above the exact value but rounding: none may be below."""
    chance = random.Random(3)
    for cells, step in [(1, F(1, 3)), (2, F(1, 7)), (4, F(1, 30))]:
        odds, grid = (
            adaptive._Odds.of(step, cells),
            adaptive.LossGrid(step, (cells,), (1,), 0, 1),
        )
        with precision(200):
            for j in range(cells + 1):
                p = high_chance(ball(cells * step), ball(j * step))
                lift = (
                    ball(j * step).exp() * (ball(step) / 4).tanh() / (ball(cells * step).exp() - 1)
                )
                for exact, double in [(p, odds.high), (1 - p, odds.low), (lift, odds.lift)]:
                    assert (
                        lower(exact)
                        <= F(double[j])
                        <= upper(exact) * (1 + F(1, 2**51)) + F(1, 2**190)
                    )
            for _ in range(300):
                flat = np.full(2 * cells + 1, chance.random())  # no bulge: the value is this number
                assert F(adaptive._one_more(flat, grid, 0)[0]) >= F(flat[0])
                after = flat * np.concatenate([np.ones(2 * cells), [chance.random()]])
                p = high_chance(ball(cells * step), ball(step))
                end = arb(float(after[cells - 1])) * p + arb(float(after[-2])) * (1 - p)
                assert F(adaptive._one_more(after, grid, 0)[0]) >= lower(end)


def test_what_is_known_is_rounded_up() -> None:
    grid = adaptive.LossGrid(F(1, 37), (3, 5), (1, 1), 2, 3)
    bounds = adaptive._closed_form_points(grid, -500, 0)
    with precision(128):
        for m, bound in zip(range(-500, 1), bounds, strict=True):
            exact = 1 - ball(m * grid.step).exp()
            assert lower(exact) <= F(bound) <= upper(exact) * (1 + F(1, 2**41)) + F(1, 2**100)


@pytest.mark.parametrize(
    ("epsilons", "target"),
    [([F(1, 10)] * 400, F(1)), ([F(1)] * 2, F(0)), ([F(1, 3)] * 30 + [F(1, 7)] * 30, F(2)),
     ([F(1, 100)] * 2000, F(3, 2)), ([F(1, 10**6), F(10)], F(9)), ([F(60)] * 3, F(100))],
)  # fmt: skip
def test_the_work_stays_in_its_budget(epsilons: list[Fraction], target: Fraction) -> None:
    grid = adaptive.choose_grid(epsilons, target, target)
    assert grid is not None
    assert grid.work() <= adaptive.LONGEST_WORK
    rounded = sorted(
        size for size, n in zip(grid.cells, grid.counts, strict=True) for _ in range(n)
    )
    assert len(rounded) == len(epsilons)
    assert all(c * grid.step >= e for c, e in zip(rounded, sorted(epsilons), strict=True))
    assert grid.low * grid.step <= target < (grid.low + 1) * grid.step
    assert sum(c**2 for c in rounded) * grid.step**2 <= sum(e * e for e in epsilons) * F(9, 8)


def test_no_grid_no_answer() -> None:
    assert delta_adaptive([F(1, 100)] * 15_000, F(1)) is None
    assert delta_adaptive([F(1, 100)] * 9_000, F(1)) is None
    assert delta_adaptive([F(100)] * 2, F(1)) is None
    assert delta_adaptive([F(1, 2**70)] * 2, F(0)) is None
    assert delta_nonadaptive(F(1, 100), 5000, F(1)) == 1


def test_the_ends() -> None:
    assert delta_adaptive([], F(0)) == 0
    assert delta_adaptive([F(0), F(1), F(1)], F(2)) == delta_nonadaptive(F(1), 2, F(2)) == 0
    assert delta_adaptive([F(0), F(1)], F(1, 2)) == delta_adaptive([F(1)], F(1, 2))
    just_below = F(2) - F(1, 10**6)
    for found in (delta_adaptive([F(1)] * 2, just_below), delta_nonadaptive(F(1), 2, just_below)):
        assert found is not None
        assert 0 < found < F(1, 10**6)
    for epsilon, target in [(F(-1), F(0)), (F(1), F(-1))]:
        with pytest.raises(InvalidNumber, match="must be zero or more"):
            delta_adaptive([epsilon], target)
        with pytest.raises(InvalidNumber, match="must be zero or more"):
            delta_nonadaptive(epsilon, 2, target)


@pytest.mark.parametrize(
    "epsilons", [[F(1)], [F(1, 2)] * 2, [F(1, 10)] * 30, [F(1), F(1, 4), F(1, 4)], [F(8)] * 3]
)
def test_epsilon_is_the_inverse_of_delta(epsilons: list[Fraction]) -> None:
    for power in (1, 4, 10, 20, 60):
        delta = F(1, 2**power)
        found = epsilon_adaptive(epsilons, delta)
        assert found is not None
        assert 0 <= found <= sum(epsilons)
        there, before = (
            delta_adaptive(epsilons, found),
            delta_adaptive(epsilons, found * F(98, 100)),
        )
        assert there is not None
        assert before is not None
        assert there <= delta * F(1002, 1000)  # the grids differ
        if found > 0:
            assert before > delta


@pytest.mark.parametrize("epsilons", [[F(1)] * 2, [F(1), F(1, 2), F(1, 4)], [F(1, 2)] * 4])
@pytest.mark.one_in(3)
def test_no_adversary_breaks_the_epsilon(epsilons: list[Fraction]) -> None:
    for delta in (F(1, 20), F(1, 1000), F(1, 10**9)):
        found = epsilon_adaptive(epsilons, delta)
        assert found is not None
        for order in set(permutations(epsilons)):
            assert best_adversary(order, found, F(1, 40)) <= delta


def test_the_ends_of_epsilon() -> None:
    assert epsilon_adaptive([], F(1, 2)) == epsilon_adaptive([F(3)], F(1)) == 0
    assert epsilon_adaptive([F(3), F(0), F(1)], F(0)) == 4
    assert epsilon_adaptive([F(1, 100)] * 9_000, F(1, 100)) is None
    assert epsilon_adaptive([F(1, 100)] * 2, F(1, 2)) == 0
    for epsilon, delta in [(F(-1), F(0)), (F(1), F(-1))]:
        with pytest.raises(InvalidNumber, match="must be zero or more"):
            epsilon_adaptive([epsilon], delta)


def test_where_a_chord_falls_to_a_level() -> None:
    for left, right, level, step in [
        (F(1), F(0), F(1, 3), F(1)),
        (F(3), F(2), F(2), F(1, 7)),
        (F(1, 9), F(0), F(1, 10), F(5)),
    ]:
        found = adaptive.crossing(left, right, level, step)
        with precision(300):
            gamma = 1 + ball((left - level) / (left - right)) * (ball(step).exp() - 1)
            assert lower(gamma.log()) <= found <= min(step, upper(gamma.log()) + F(1, 2**63))


def fixed_answers(losses: Sequence[Fraction], epsilon: Fraction) -> list[tuple[arb, arb]]:
    """Return the probabilities of all outcomes of independent pairs with losses t and t - epsilon."""
    e, rows = ball(epsilon), []
    for loss in losses:
        t = ball(loss)
        p = high_chance(e, t)
        rows.append([(p, p * (-t).exp()), (1 - p, (1 - p) * (e - t).exp())])
    return [
        (
            math.prod((p for p, _ in path), start=arb(1)),
            math.prod((q for _, q in path), start=arb(1)),
        )
        for path in product(*rows)
    ]


@given(sizes, st.integers(1, 5), st.integers(0, 31), st.data())
def test_the_formula_is_above_all_fixed_answers(
    epsilon: Fraction, n: int, share: int, data: st.DataObject
) -> None:
    """Unequal losses as well, and both orders of the pair: everything enumerated."""
    target = n * epsilon * F(share, 32)
    parts = data.draw(st.lists(st.integers(0, 24), min_size=n, max_size=n))
    found = delta_nonadaptive(epsilon, n, target)
    with precision(128):
        pairs = fixed_answers([epsilon * F(part, 24) for part in parts], epsilon)
        assert hockey_stick(pairs, target) <= found
        assert hockey_stick([(q, p) for p, q in pairs], target) <= found


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("share", [0, F(1, 5), F(1, 2), F(9, 10)])
@pytest.mark.one_in(5)
def test_the_formula_is_attained(n: int, share: Fraction) -> None:
    epsilon = F(3, 2)
    target = n * epsilon * share
    with precision(128):
        best = max(
            hockey_stick(fixed_answers([epsilon * F(j, 500)] * n, epsilon), target)
            for j in range(501)
        )
    assert best <= delta_nonadaptive(epsilon, n, target) <= best * F(1003, 1000)


def test_longer_formulas_agree_with_plain_sums() -> None:
    for n, epsilon, target in [(40, F(1, 10), F(1, 2)), (200, F(1, 20), F(1, 3))]:
        e, goal = float(epsilon), float(target)

        def plain(t: float, n: int = n, e: float = e, goal: float = goal) -> float:
            p = (math.exp(-t) - math.exp(-e)) / (1 - math.exp(-e))
            return sum(
                math.comb(n, i)
                * p ** (n - i)
                * (1 - p) ** i
                * max(0, math.exp(n * t - i * e) - math.exp(goal))
                for i in range(n + 1)
            )

        best = max(plain(e * j / 2000) for j in range(1, 2000))
        assert best <= float(delta_nonadaptive(epsilon, n, target)) * (1 + 1e-9)
        assert float(delta_nonadaptive(epsilon, n, target)) <= best * 1.001


def test_bounds_never_exceed_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adaptive, "_FINEST", 3)
    for epsilon in (F(8), F(40), F(64)):
        found = delta_adaptive([epsilon] * 9, F(0))
        assert found is not None
        assert F(9, 10) < found <= 1


@pytest.mark.parametrize("cells", [(3,), (2, 5), (1, 2, 4)])
@pytest.mark.parametrize(("low", "high"), [(0, 1), (2, 9), (0, 40)])
def test_the_work_is_the_points_of_all_states_by_the_cells_of_a_step(
    cells: tuple[int, ...], low: int, high: int
) -> None:
    counts = (4, 3, 2)[: len(cells)]
    grid = adaptive.LossGrid(F(1, 37), cells, counts, low, high)
    work = 0
    for to_come in product(*(range(n + 1) for n in counts)):
        first, last = grid.window(sum(c * n for c, n in zip(cells, to_come, strict=True)))
        for cell, n in zip(cells, to_come, strict=True):
            work += cell * (last - first + 1 + adaptive._CALL) if n else 0
    assert grid.work() == work


@pytest.mark.parametrize("epsilon", [F(1), F(1, 10), F(3, 7)])
def test_a_grid_is_no_finer_than_need_be(epsilon: Fraction) -> None:
    grid = adaptive.choose_grid([epsilon] * 2, epsilon, epsilon)
    assert grid is not None
    assert grid.cells == (adaptive._FINEST,)
    assert grid.step == epsilon / adaptive._FINEST


@pytest.mark.parametrize(
    ("delta", "least", "most"),
    [(F(1, 2), F(0), F(0)), (F(1, 4), F(1, 4), F(1, 4)), (F(1, 8), F(1, 2), F(3, 4))],
)
def test_epsilon_is_the_first_place_where_delta_is_reached(
    delta: Fraction, least: Fraction, most: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bounds may stay the same for a while, as rounding only raises them."""
    curve = [F(1, 2), F(1, 4), F(1, 4), F(0)]
    monkeypatch.setattr(adaptive, "curve_adaptive", lambda *_: (F(1, 4), curve))
    found = epsilon_adaptive([F(1)] * 2, delta)
    assert found is not None
    assert least <= found <= most
