"""Several quantiles at once: the joint law, its promise by brute force, and what is refused."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet
from discreet import ApproxDP, BoundedRange, Grid, MixedRange, SummedRange
from discreet.errors import InvalidArgument, InvalidNumber, UnknownName
from discreet.sampling.bits import Bits
from discreet.sampling.enclosures import precision
from discreet.scores.rank import Rank
from discreet.selection import ask
from discreet.tables.column import ArrayColumn
from discreet.testing import bit_tree
from discreet.verbs import quantiles as module
from discreet.verbs.quantiles import _Levels

from ..test_payment import Purse

GRID = Grid(0, 3)


def law(
    levels: _Levels, data: tuple[int, ...], first: int, end: int, lo: int, hi: int
) -> dict[Any, float]:
    """Return the joint law, multiplied out from the laws of its parts."""
    if lo == hi:
        return {(): 1.0}
    middle = (lo + hi) // 2
    below = levels.alphas[lo - 1] if lo else Fraction(0)
    above = levels.alphas[hi] if hi < len(levels.alphas) else Fraction(1)
    share = (levels.alphas[middle] - below) / (above - below)
    values = np.array([x - first for x in data], dtype=np.int64)
    score = Rank(ArrayColumn(values), Grid(0, end - first - 1), share)
    asked = ask(score, {"epsilon": levels.epsilon, "neighbors": "add_remove"})
    runs: Any = score.compute(Fraction(10**6))
    with precision(128):
        chances = [float(p) for p in asked.calibrated.law(runs).probabilities()]
    joint = {}
    for c, chance in enumerate(chances):
        for k in range(int(runs.sizes[c])):
            value = first + int(runs.starts[c]) + k
            left = law(levels, tuple(x for x in data if x <= value), first, value + 1, lo, middle)
            right = law(levels, tuple(x for x in data if x > value), value, end, middle + 1, hi)
            for (a, p), (b, q) in product(left.items(), right.items()):
                joint[(*a, value, *b)] = chance / int(runs.sizes[c]) * p * q
    return joint


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("alphas", [["1/3", "2/3"], [0, "1/2", 1]])
def test_the_promise_holds_for_all_small_databases(neighbors: Any, alphas: list[Any]) -> None:
    levels = _Levels.read(alphas, GRID, {"epsilon": 2, "neighbors": neighbors})
    laws = {
        data: law(levels, data, 0, 4, 0, len(alphas))
        for n in range(4)
        for data in product(range(4), repeat=n)
        if list(data) == sorted(data)
    }
    worst = 0.0
    for data, before in laws.items():
        assert math.isclose(sum(before.values()), 1)
        assert all(list(answer) == sorted(answer) for answer in before)
        for i in range(len(data)):
            others = [data[:i] + data[i + 1 :]]
            if neighbors == "replace_one":
                others = [tuple(sorted((*others[0], x))) for x in range(4)]
            for other in others:
                after = laws[other]
                worst = max(worst, *(abs(math.log(before[a] / after[a])) for a in before))
    assert 0.3 < worst <= 2 + 1e-9


def test_the_draw_follows_the_joint_law(monkeypatch: pytest.MonkeyPatch) -> None:
    levels = _Levels.read(["1/3", "2/3"], Grid(0, 2), {"epsilon": 8})
    data = np.array([0, 1, 1, 2])

    def draw(bits: Bits) -> tuple[int, ...]:
        monkeypatch.setattr(module, "SystemBits", lambda: bits)
        return tuple(levels.release((data, None), 0, 3, 0, 2))

    tree = bit_tree(draw, 15)
    for answer, chance in law(levels, (0, 1, 1, 2), 0, 3, 0, 2).items():
        mass = tree.masses.get(answer, Fraction(0))
        assert mass <= chance * (1 + 1e-12)
        assert chance * (1 - 1e-12) <= mass + tree.undecided
    assert tree.undecided < Fraction(1, 8)


def test_quartiles_of_many_records() -> None:
    data = np.random.default_rng(2).normal(size=10**5)
    release = discreet.quantiles(
        data, alphas=[0.25, 0.5, 0.75], candidates=Grid(-10, 10, "0.0001"), epsilon=1
    )
    assert [round(float(v), 1) for v in release.value] == [-0.7, 0.0, 0.7]
    assert release.guarantee == MixedRange(Fraction(1, 2), "add_remove").repeated(2)
    assert discreet.quantiles([], alphas=["1/2"], candidates=GRID, epsilon=1).value[0] in range(4)


@pytest.mark.parametrize("method", ["recursive", "joint", "independent"])
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_every_method_finds_the_quartiles(method: Any, neighbors: Any) -> None:
    data = list(range(1000))
    release = discreet.quantiles(
        data,
        alphas=[0.25, 0.5, 0.75],
        candidates=Grid(0, 999),
        method=method,
        epsilon=4,
        neighbors=neighbors,
    )
    assert all(abs(v - t) < 60 for v, t in zip(release.value, (250, 500, 750), strict=True))
    guarantee: Any = release.guarantee
    assert (guarantee.pure, guarantee.neighbors) == (4, neighbors)
    assert release.mechanism == ("joint_quantiles" if method == "joint" else "exponential")


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(UnknownName, match="method must be one of recursive, joint, independent"):
        discreet.quantiles(object(), alphas=[0.5], candidates=GRID, method="magic", epsilon=1)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("alphas", "candidates", "terms", "error"),
    [
        ([], GRID, {}, InvalidNumber),
        ([0.5, 0.5], GRID, {}, InvalidNumber),
        ([0.5, 0.2], GRID, {}, InvalidNumber),
        ([0.5, 1.2], GRID, {}, InvalidNumber),
        ([0.5], [1, 2], {}, InvalidArgument),
        ([0.5], GRID, {"mechanism": "permute_and_flip"}, InvalidArgument),
        ([0.5], GRID, {"size": 3}, InvalidArgument),
        ([0.5], GRID, {"epsilon": None, "rho": 1}, InvalidArgument),
        ([0.5], GRID, {"epsilon": 0}, InvalidNumber),
    ],
)
def test_public_arguments_are_checked_first(
    alphas: Any, candidates: Any, terms: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        discreet.quantiles(
            object(), alphas=alphas, candidates=candidates, **{"epsilon": 1, **terms}
        )


# --- (epsilon, delta)

SMALL = Fraction(1, 10**6)


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("method", ["recursive", "independent"])
def test_with_a_delta_levels_and_values_have_more(method: Any, neighbors: Any) -> None:
    alphas = [Fraction(i, 17) for i in range(1, 17)]
    levels = _Levels.read(alphas, GRID, {"epsilon": 1, "neighbors": neighbors})
    more = levels.allowing(SMALL, method)
    assert more.share is not None
    if method == "recursive":
        assert more.share > Fraction(1, 5)
        kind = MixedRange if neighbors == "add_remove" else SummedRange
        assert kind(more.share, neighbors).repeated(5).delta_at(1) <= SMALL
        assert more.epsilon == more.share / (1 if neighbors == "add_remove" else 2)
        assert more.epsilon > levels.epsilon
    else:
        assert more.share > Fraction(1, 16)
        together: Any = BoundedRange(more.share, neighbors).repeated(16)
        assert together.bounds(epsilon=1, adaptive=False).least <= SMALL
    assert more.guarantee == more.guarantee_of_each == ApproxDP(1, SMALL, neighbors)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["recursive", "independent"])
def test_quantiles_take_a_delta(method: Any) -> None:
    purse = Purse()
    ask: Any = {"alphas": ["1/4", "1/2"], "candidates": Grid(0, 9), "epsilon": 1, "method": method}
    release = discreet.quantiles([1, 2, 3], **ask, delta="1e-6", ledger=purse)
    assert release.guarantee == ApproxDP(1, SMALL, "add_remove")  # type: ignore[arg-type]
    discreet.quantiles([1, 2, 3], **ask, ledger=purse)
    discreet.quantiles([1, 2, 3], **ask, delta="1e-7", ledger=purse)
    assert len({bill.digest for bill in purse.bills}) == 3
    assert purse.bills[0].guarantee == release.guarantee


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"method": "joint"}, "delta gains nothing"),
        ({"delta": 1}, "delta must be below 1"),
        ({"privacy_unit": "who"}, "delta is for records"),
        ({"by": "who", "groups": ["a"]}, "delta is for records"),
    ],
)
def test_where_a_delta_is_refused(terms: dict[str, Any], words: str) -> None:
    table = pl.DataFrame({"n": [1], "who": ["a"]})
    ask: Any = {"alphas": ["1/2"], "candidates": Grid(0, 9), "epsilon": 1, "delta": "1e-6", **terms}
    with pytest.raises(InvalidArgument, match=words):
        discreet.quantiles(table, "n", **ask)
