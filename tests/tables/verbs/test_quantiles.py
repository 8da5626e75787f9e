"""Several quantiles at once: the joint law, its promise by brute force, and what is refused."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import polars as pl
import pytest
from flint import arb

import discreet
from discreet import Grid
from discreet.errors import InvalidArgument, InvalidNumber, UnknownName
from discreet.mechanisms.testing import bit_tree
from discreet.privacy import ApproxDP, BoundedRange, MixedRange, SummedRange
from discreet.sampling import kernel
from discreet.sampling.bits import Bits
from discreet.sampling.enclosures import precision
from discreet.tables.scores import sorted_records
from discreet.tables.scores.sorted_places import SortedPlaces
from discreet.tables.scores.sorted_records import Slice, SortedRecords
from discreet.tables.verbs import quantile_levels as levels_module
from discreet.tables.verbs.quantile_levels import Levels

from ...selection.test_payment import Purse

GRID = Grid(0, 3)


def whole(data: tuple[int, ...], size: int) -> Slice:
    """Return all records on a grid from 0."""
    return SortedRecords.of(*np.unique(np.array(data, dtype=np.int64), return_counts=True)).whole(
        size
    )


def chances(levels: Levels, scores: Any, lo: int, hi: int) -> Iterator[tuple[int, int, arb]]:
    """Yield the first index of each run, the one after its last, and the probability of each index."""
    value = levels.branches[(lo + hi) // 2]
    calibrated = value.calibrated
    runs = scores(value.share, Fraction(10**9))  # nothing in summaries
    for start, n, chance in zip(
        runs.starts, runs.sizes, calibrated.law(runs).probabilities(), strict=True
    ):
        yield int(start), int(start) + int(n), chance / int(n)


def law(levels: Levels, part: Slice, lo: int, hi: int, known: dict[Any, Any]) -> dict[Any, arb]:
    """Return the joint law of the values for alphas[lo:hi], multiplied out from the laws of the parts."""
    key = (tuple(records_of(part)), part.first, part.end, lo, hi)
    if lo == hi:
        return {(): arb(1)}
    if key not in known:
        joint = defaultdict[Any, arb](arb)
        for answer, chance in (leaf if hi - lo == 1 else branch)(levels, part, lo, hi, known):
            joint[answer] += chance
        known[key] = joint
    found: dict[Any, arb] = known[key]
    return found


def leaf(levels: Levels, part: Slice, lo: int, hi: int, _: Any) -> Iterator[tuple[Any, arb]]:
    """Yield the answers of the last alpha."""
    for start, end, chance in chances(levels, part.rank_scores, lo, hi):
        yield from (((part.first + i,), chance) for i in range(start, end))


def branch(levels: Levels, part: Slice, lo: int, hi: int, known: Any) -> Iterator[tuple[Any, arb]]:
    """Yield the answers of several alphas, by what the middle one cuts."""
    middle, parts = (lo + hi) // 2, sorted_records.PARTS
    for start, end, chance in chances(levels, part.cut_scores, lo, hi):
        for i in range(start // parts, (end - 1) // parts + 1):  # one cut, but several points
            first, last = max(start, i * parts), min(end, (i + 1) * parts) - 1
            before, after = part.cut(first)
            assert records_of(before) == records_of(part.cut(last)[0])
            left = law(levels, before, lo, middle, known)
            right = law(levels, after, middle + 1, hi, known)
            for (a, p), (b, q) in product(left.items(), right.items()):
                yield (*a, part.first + i, *b), (last - first + 1) * chance * p * q


def records_of(part: Slice) -> list[int]:
    """Return the points of the records in a slice."""
    counts = np.diff(np.clip(part.records.totals, part.low, part.high))
    return np.repeat(part.records.points, counts).tolist()


def neighbours(data: tuple[int, ...], values: range, neighbors: str) -> Iterator[tuple[int, ...]]:
    """Yield the data with one record less, or with one replaced."""
    for i in range(len(data)):
        rest = data[:i] + data[i + 1 :]
        if neighbors == "add_remove":
            yield rest
        else:
            yield from (tuple(sorted((*rest, x))) for x in values)


def worst_ratio(levels: Levels, size: int, most: int) -> arb:
    """Return the greatest ratio of an answer's probabilities among all neighbours of at most so many records."""
    known: dict[Any, Any] = {}
    values = range(size)
    laws = {
        data: law(levels, whole(data, size), 0, len(levels.alphas), known)
        for n in range(most + 1)
        for data in combinations_with_replacement(values, n)
    }
    worst = arb(1)
    for data, before in laws.items():
        total = sum(before.values(), arb(0))
        assert total.contains(1)
        assert all(list(answer) == sorted(answer) for answer in before)
        for other in neighbours(data, values, levels.neighbors):
            for answer, chance in before.items():
                ratio = chance / laws[other][answer]
                worst = arb.max(worst, arb.max(ratio, 1 / ratio))
    return worst


TWO = ["1/3", "2/3"]
PROMISES = [
    (neighbors, alphas, parts, 3, 4)
    for neighbors in ("add_remove", "replace_one")
    for alphas in (TWO, [0, "1/2", 1])
    for parts in (4, 7)
]


def check_promise(
    neighbors: Any, alphas: Any, parts: int, size: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compare the ratios of all neighbours with e**epsilon, in balls."""
    monkeypatch.setattr(sorted_records, "PARTS", parts)
    levels = Levels.read(alphas, Grid(0, size - 1), {"epsilon": 20, "neighbors": neighbors})
    with precision(200):
        worst = worst_ratio(levels, size, most)
        assert worst <= arb(20).exp() * (1 + arb(2) ** -150)
        # Without records all points are alike; between these and the others few bounds are tight.
        assert worst > arb(5).exp()


@pytest.mark.parametrize(("neighbors", "alphas", "parts", "size", "most"), PROMISES)
def test_the_promise_holds_for_all_small_databases(
    neighbors: Any, alphas: Any, parts: int, size: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a point has fewer parts than records may be there."""
    check_promise(neighbors, alphas, parts, size, most, monkeypatch)


@pytest.mark.proof
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize(
    "alphas", [TWO, [0, "1/2", 1], ["1/4", "1/2", "3/4"], ["1/10", "1/9", "2/3", 1]]
)
@pytest.mark.parametrize("parts", [3, 2**32])
def test_the_promise_holds_for_all_databases_of_five_records(
    neighbors: Any, alphas: Any, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_promise(neighbors, alphas, parts, 4, 5, monkeypatch)


def test_the_draw_follows_the_joint_law(monkeypatch: pytest.MonkeyPatch) -> None:
    levels = Levels.read(TWO, Grid(0, 2), {"epsilon": 8})
    monkeypatch.setattr(sorted_records, "PARTS", 4)
    part = whole((0, 1, 1, 1, 2), 3)

    def draw(bits: Bits) -> tuple[int, ...]:
        return tuple(levels_module._release(levels.branches, part, (0, 2), bits))

    tree = bit_tree(draw, 12)
    for answer, ball in law(levels, part, 0, 2, {}).items():
        chance, mass = float(ball), tree.masses.get(answer, Fraction(0))
        assert mass <= chance * (1 + 1e-12)
        assert chance * (1 - 1e-12) <= mass + tree.undecided
    assert tree.undecided < Fraction(1, 4)


@pytest.mark.parametrize("method", ["recursive", "independent"])
@pytest.mark.parametrize(
    "data", [{20: 200, 40: 600, 60: 200}, {20: 300, 40: 600, 60: 100}, {40: 1000}]
)
def test_tied_records_are_cut_where_the_quantiles_are(method: Any, data: Any) -> None:
    """At this epsilon any other answer has a probability below 10**-30."""
    records = np.repeat(list(data), list(data.values()))
    found = discreet.quantiles(
        records, alphas=[0.35, 0.5, 0.75], candidates=Grid(0, 100), epsilon=50, method=method
    )
    assert found.value == [40, 40, 40]


def test_quartiles_of_many_records() -> None:
    data = np.random.default_rng(2).normal(size=10**5)
    release = discreet.quantiles(
        data, alphas=[0.25, 0.5, 0.75], candidates=Grid(-10, 10, "0.0001"), epsilon=1
    )
    assert [round(float(v), 1) for v in release.value] == [-0.7, 0.0, 0.7]
    assert release.guarantee == MixedRange(Fraction(1, 2), "add_remove").repeated(2)
    assert discreet.quantiles([], alphas=["1/2"], candidates=GRID, epsilon=1).value[0] in range(4)


@pytest.mark.parametrize("method", ["recursive", "joint", "independent"])
def test_records_are_put_on_the_grid_once(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """And sorted once, however many quantiles are asked for."""
    calls: Counter[str] = Counter()

    def counted(name: str, function: Any) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            calls[name] += 1
            return function(*given, **named)

        return call

    monkeypatch.setattr(Grid, "nearest", counted("nearest", Grid.nearest))
    monkeypatch.setattr(SortedRecords, "at", counted("at", SortedRecords.at))
    monkeypatch.setattr(SortedPlaces, "on", counted("on", SortedPlaces.on))

    def ask() -> None:
        alphas = [Fraction(i, 10) for i in range(1, 10)]
        data = np.arange(50) * 1e5
        discreet.quantiles(data, alphas=alphas, candidates=Grid(0, 10**7), epsilon=1, method=method)

    ask()
    assert calls in ({"on": 1}, {"on": 1, "nearest": 1, "at": 1})
    calls.clear()
    monkeypatch.setattr(kernel, "active", lambda: None)
    ask()
    assert calls == {"on": 1, "nearest": 1, "at": 1}


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


def test_joint_quartiles_of_tied_records() -> None:
    data = [20] * 200 + [40] * 600 + [60] * 200
    release = discreet.quantiles(
        data, alphas=["1/4", "1/2", "3/4"], candidates=Grid(0, 100), method="joint", epsilon=5
    )
    assert release.value == [40, 40, 40]


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
        ([0.5], GRID, {"size": 3}, TypeError),
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
    levels = Levels.read(alphas, GRID, {"epsilon": 1, "neighbors": neighbors})
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


@pytest.mark.parametrize(
    ("alphas", "neighbors", "kind"),
    [
        (["0.5"], "add_remove", MixedRange),
        (["0.2", "0.5"], "add_remove", MixedRange),
        (["0.5"], "replace_one", MixedRange),  # one level of one part
        (["0.2", "0.5"], "replace_one", SummedRange),
        (["0.1", "0.2", "0.5", "0.7"], "replace_one", SummedRange),
    ],
)
def test_the_kind_of_a_level(alphas: list[str], neighbors: Any, kind: Any) -> None:
    """A record replaced may change two parts of a level, of which a range says nothing."""
    levels = Levels.read(alphas, GRID, {"epsilon": 1, "neighbors": neighbors})
    depth = len(alphas).bit_length()
    assert levels.guarantee == kind(Fraction(1, depth), neighbors).repeated(depth)
    release = discreet.quantiles(
        [1, 2], alphas=alphas, candidates=GRID, epsilon=1, neighbors=neighbors
    )
    assert release.guarantee == levels.guarantee
