"""Changes of a question that change nothing of its answer: for every verb, on every path, in every engine.

The same bits must give the same answer after scores are shifted, scores and epsilon are rescaled, rows are put in
another order, or rows are doubled at half of epsilon. Where candidates are permuted or split into ties, the share
of [0, 1) that each has must be the exact one.
"""

import json
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from flint import arb

import discreet
from discreet import Grid
from discreet.mechanisms import Exponential
from discreet.sampling.categorical import FLAT
from discreet.sampling.enclosures import ball, precision

from . import golden_answers
from .engines import ENGINES
from .golden_answers import LISTED, RECORDED, ScriptedBits, answered, from_tables
from .scripted_words import PATHS, on_words, take_path

GOLDEN: dict[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))
SHIFTS = [10**6, -(10**6), 10**15, -(10**15)]
FACTORS = [Fraction(2), Fraction(1, 4), Fraction(2**60), Fraction(3)]
EVEN = [(2 * i + 1) * 2**64 // 998 for i in range(499)]
"""Words that part [0, 1) in equal shares: each candidate has as many as its probability says, give or take one."""

FEW = [Fraction(x, 4) for x in (0, -3, 5, 2, 2, -11)]
MANY = [Fraction(i * 37 % 101, 4) - 12 for i in range(300)]


@pytest.fixture(params=PATHS)
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Take one of the three ways to compute weights."""
    take_path(str(request.param), monkeypatch)
    return str(request.param)


def floats(scores: list[Fraction]) -> Any:
    """Return the scores as doubles, exactly."""
    array = np.array(list(map(float, scores)))
    assert list(map(Fraction, array.tolist())) == scores
    return array


def quarters(scores: list[Fraction]) -> Any:
    """Return four times the scores as integers."""
    whole = [int(4 * x) for x in scores]
    assert whole == [4 * x for x in scores]
    return np.array(whole) if max(map(abs, whole)) < 2**63 else whole


Ask = Callable[..., list[Any]]


def in_a_batch(scores: Any, terms: dict[str, Any]) -> list[Any]:
    """Return the answers of one call, each on one of the words."""
    return list(
        on_words(EVEN, partial(discreet.select, scores, size=len(EVEN), **terms)).value.tolist()
    )


def one_by_one(scores: Any, terms: dict[str, Any]) -> list[Any]:
    """Return the answers of many calls, each on one of the words."""
    ask = partial(discreet.select, scores, **terms)
    return [on_words([word], ask).value for word in EVEN]


def by_a_selector(scores: Any, terms: dict[str, Any]) -> list[Any]:
    """Return the answers of a selector."""
    choose = discreet.selector(**terms)
    return [on_words([word], partial(choose, scores)).value for word in EVEN]


def in_rows(scores: Any, terms: dict[str, Any]) -> list[Any]:
    """Return the answers of as many rows as words."""
    each = {**terms, "epsilon_per_row": terms["epsilon"]}
    del each["epsilon"]
    rows: Any = [scores] * len(EVEN)
    rows = np.array(rows) if isinstance(scores, np.ndarray) else rows
    return list(on_words(EVEN, partial(discreet.select_rows, rows, **each)).value.tolist())


def weighed(scores: Any, terms: dict[str, Any]) -> list[Any]:
    """Return the answers where all candidates have the same weight, which is not 1."""
    even = Exponential(base_measure=["2/3"] * len(scores))
    return in_a_batch(scores, {**terms, "mechanism": even})


def log_weighed(scores: Any, terms: dict[str, Any]) -> list[Any]:
    """Return the answers where all candidates have the same weight, by its logarithm."""
    even = Exponential(log_base_measure=[-5] * len(scores))
    return in_a_batch(scores, {**terms, "mechanism": even})


SINGLE: dict[str, Callable[[list[Fraction], dict[str, Any]], list[Any]]] = {
    "a batch of doubles": lambda scores, terms: in_a_batch(floats(scores), terms),
    "a batch of integers": lambda scores, terms: in_a_batch(quarters(scores), in_quarters(terms)),
    "doubles": lambda scores, terms: one_by_one(floats(scores), terms),
    "a list": lambda scores, terms: one_by_one(floats(scores).tolist(), terms),
    "integers": lambda scores, terms: one_by_one(list(quarters(scores)), in_quarters(terms)),
    "fractions": lambda scores, terms: in_a_batch(list(scores), terms),
    "a selector": lambda scores, terms: by_a_selector(floats(scores).tolist(), terms),
    "rows": lambda scores, terms: in_rows(floats(scores), terms),
    "rows of integers": lambda scores, terms: in_rows(quarters(scores), in_quarters(terms)),
    "rows in lists": lambda scores, terms: in_rows(list(scores), terms),
    "a base measure": lambda scores, terms: weighed(floats(scores), terms),
    "a log base measure": lambda scores, terms: log_weighed(floats(scores), terms),
}
"""All ways to ask for one of a few candidates that read one word for it."""

TERMS: dict[str, Any] = {"sensitivity": Fraction(1, 2), "epsilon": Fraction(1, 3)}


def in_quarters(terms: dict[str, Any]) -> dict[str, Any]:
    """Return the terms for scores in units of a quarter."""
    return {**terms, "sensitivity": 4 * terms["sensitivity"]}


def assert_shares(found: list[Any], scores: list[Fraction]) -> None:
    """Assert that each candidate has the words of its probability, in a stretch that begins where it must."""
    with precision(128):
        rate = TERMS["epsilon"] / (2 * TERMS["sensitivity"])
        weights = [ball(rate * (x - max(scores))).exp() for x in scores]
        total = sum(weights, arb(0))
        shares = [float((w / total).mid()) for w in weights]
    assert found == sorted(found)  # an index grows with the word
    counts = Counter(found)
    for i, share in enumerate(shares):
        assert abs(counts[i] - share * len(found)) <= 1, i


@pytest.mark.parametrize("way", SINGLE)
@pytest.mark.parametrize("scores", [FEW, MANY], ids=["few", "many"])
@pytest.mark.one_in(7)
def test_shifted_scores(way: str, scores: list[Fraction], path: str) -> None:
    scores = (
        scores[:40] if way == "rows in lists" else scores
    )  # a distribution for each row takes long
    plain = SINGLE[way](scores, TERMS)
    assert_shares(plain, scores)
    for shift in SHIFTS:
        assert SINGLE[way]([x + shift for x in scores], TERMS) == plain, shift


@pytest.mark.parametrize("way", SINGLE)
@pytest.mark.one_in(5)
def test_rescaled_scores(way: str, path: str) -> None:
    plain = SINGLE[way](FEW, TERMS)
    for factor in FACTORS:
        scaled = [4 * x * factor for x in FEW]  # four times, so that a quarter of them are whole
        wide = {**TERMS, "sensitivity": 4 * factor * TERMS["sensitivity"]}
        assert SINGLE[way](scaled, wide) == plain, factor
        less = {**TERMS, "epsilon": TERMS["epsilon"] / (4 * factor)}
        assert SINGLE[way](scaled, less) == plain, factor


@pytest.mark.parametrize("way", SINGLE)
@pytest.mark.one_in(5)
def test_permuted_candidates(way: str, path: str) -> None:
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(FEW)).tolist()
        permuted = [FEW[i] for i in order]
        assert_shares(SINGLE[way](permuted, TERMS), permuted)
        assert_shares(SINGLE[way]([x - 10**6 for x in permuted], TERMS), permuted)


@pytest.mark.parametrize("way", [w for w in SINGLE if "measure" not in w])
def test_a_candidate_that_is_split_into_ties(way: str, path: str) -> None:
    """Copies of one candidate, side by side, have together the share that its weight times their number has."""
    times = [1, 3, 1, 2, 40, 1]
    copies = [x for x, n in zip(FEW, times, strict=True) for _ in range(n)]
    of = [i for i, n in enumerate(times) for _ in range(n)]
    together = [of[i] for i in SINGLE[way](copies, TERMS)]
    many = {**TERMS, "mechanism": Exponential(base_measure=times)}
    assert together == in_a_batch(floats(FEW), many)
    assert_shares(SINGLE[way](copies, TERMS), copies)


BLOCKS = 5 * np.sin(np.arange(FLAT + 77.0)).round(2) // 0.25 * 0.25


@pytest.mark.parametrize("kind", ["doubles", "integers"])
def test_shifted_blocks(kind: str, path: str) -> None:
    def answers(shift: int) -> list[int]:
        scores: Any = BLOCKS + shift
        terms = TERMS
        if kind == "integers":
            scores, terms = (4 * scores).astype(np.int64), in_quarters(TERMS)
        return in_a_batch(scores, terms)

    plain = answers(0)
    assert len(set(plain)) > 300
    for shift in SHIFTS:
        assert answers(shift) == plain, shift


@pytest.mark.parametrize("best", [-900.0, 900.0, 0.0])
def test_one_that_is_far_ahead_of_a_long_list_is_found(best: float, path: str) -> None:
    scores = np.full(FLAT + 4_464, best - 100)
    scores[65_000] = best
    assert set(in_a_batch(scores, {"sensitivity": "1/2", "epsilon": 1})) == {65_000}
    rows = np.array([[best - 100, best]] * 50)
    found = on_words(
        EVEN, partial(discreet.select_rows, rows, sensitivity="1/2", epsilon_per_row=1)
    )
    assert set(found.value.tolist()) == {1}


def _top(method: str, k: int, scores: Any, terms: dict[str, Any]) -> Any:
    return discreet.select_top_k(scores, k=k, method=method, **terms)  # type: ignore[call-overload]


def _selected(mechanism: Any, scores: Any, terms: dict[str, Any]) -> Any:
    return discreet.select(scores, mechanism=mechanism, **terms)


OTHERS: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    **{name: partial(_selected, mechanism) for name, mechanism in LISTED.items()},
    "peeling": partial(_top, "peeling", 3),
    "joint": partial(_top, "joint", 3),
    "permute_and_flip twice": lambda scores, terms: discreet.select_top_k(
        scores, k=2, mechanism="permute_and_flip", **terms
    ),
    "select_generalized": lambda scores, terms: discreet.select_generalized(
        scores, [terms["sensitivity"]] * len(scores), epsilon=terms["epsilon"]
    ),
    "select_by": lambda scores, terms: discreet.select_by(
        lambda _, options: [scores[i] for i in options], [], range(len(scores)), error=0, **terms
    ),
}
"""Mechanisms and verbs that read more than a word."""


@pytest.mark.parametrize("way", OTHERS)
@pytest.mark.parametrize("kind", ["doubles", "integers"])
@pytest.mark.one_in(7)
def test_other_mechanisms_on_shifted_and_rescaled_scores(way: str, kind: str, path: str) -> None:
    exact = MANY[:130] if way == "joint" else MANY
    made, terms = (floats, TERMS) if kind == "doubles" else (quarters, in_quarters(TERMS))

    def answers(scores: list[Fraction], said: dict[str, Any]) -> list[Any]:
        given = made(scores)
        given = given.tolist() if way == "select_by" else given
        ask = partial(OTHERS[way], given, said)
        return [np.array(ScriptedBits(f"{seed}").ask(ask).value).tolist() for seed in range(6)]

    plain = answers(exact, terms)
    for shift in SHIFTS:
        assert answers([x + shift for x in exact], terms) == plain, shift
    if way == "base2":
        return  # which rounds scores to whole units
    for factor in (Fraction(4), Fraction(3)):
        wide = {**terms, "sensitivity": factor * terms["sensitivity"]}
        assert answers([x * factor for x in exact], wide) == plain, factor


@pytest.mark.parametrize("name", LISTED)
def test_a_distribution_does_not_depend_on_the_order(name: str) -> None:
    scores = [Fraction(x) for x in (0, -3, 5, 2, 2)]
    order = [3, 0, 4, 1, 2]
    ask = partial(discreet.distribution, mechanism=LISTED[name], sensitivity=1, epsilon=1)
    plain, other = ask(scores), ask([scores[i] for i in order])
    for place, i in enumerate(order):
        one, two = (plain.lower[i], plain.upper[i]), (other.lower[place], other.upper[place])
        assert one[0] <= two[1]
        assert two[0] <= one[1]
        assert one[1] - one[0] < Fraction(1, 2**60)


REORDERED: dict[str, Callable[[int], Any]] = {
    "backwards": lambda n: np.arange(n)[::-1],
    "shuffled": lambda n: np.random.default_rng(7).permutation(n),
}
SLOW = {"spark": [pytest.mark.proof]}
BY_ENGINE = [pytest.param(e, marks=SLOW.get(e, [])) for e in ENGINES]


@pytest.mark.parametrize("order", REORDERED)
@pytest.mark.parametrize("engine", BY_ENGINE)
@pytest.mark.one_in(5)
def test_reordered_rows(
    engine: str, order: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = golden_answers.table()
    monkeypatch.setattr(
        golden_answers, "table", lambda: plain.take(pa.array(REORDERED[order](len(plain))))
    )
    assert answered(from_tables(engine, tmp_path)) == GOLDEN["table"]


def counting(epsilon: Fraction) -> dict[str, Callable[[Any], Any]]:
    """Return questions whose scores double with the rows."""
    cities, ages = ["Basel", "Bern", "Zürich", "Genf"], Grid(18, 70)
    asked: dict[str, Any] = {"epsilon": epsilon}
    found: dict[str, Callable[[Any], Any]] = {
        "mode": lambda data: discreet.mode(data, "city", candidates=cities, **asked),
        "quantile": lambda data: discreet.quantile(
            data, "pay", alpha=Fraction(1, 3), candidates=Grid(-2, 10, "0.001"), **asked
        ),
        "best_price": lambda data: discreet.best_price(
            data, "pay", candidates=Grid(0, 8, "0.01"), **asked
        ),
    }
    for name in ("median", "minimum", "maximum"):
        verb = getattr(discreet, name)
        found[name] = partial(_of_ages, verb, {"candidates": ages, **asked})
    for method in ("recursive", "joint", "independent"):
        # Several at once cut tied records in E + 1 ways, or by halves: twice as many in other shares.
        alphas = ["0.25", "0.5", "0.8"] if method == "independent" else ["0.25"]
        said = {"candidates": ages, "alphas": alphas, "method": method, **asked}
        found[method] = partial(_of_ages, discreet.quantiles, said)
    for method in ("peeling", "joint"):
        said = {"k": 2, "candidates": cities, "method": method, **asked}
        found[f"top_k {method}"] = partial(_of_cities, discreet.top_k, said)
    return found


def _of_cities(verb: Callable[..., Any], said: dict[str, Any], data: Any) -> Any:
    return verb(data, "city", **said)


def _of_ages(verb: Callable[..., Any], said: dict[str, Any], data: Any) -> Any:
    return verb(data, "age", **said)


@pytest.mark.parametrize("engine", BY_ENGINE)
@pytest.mark.one_in(3)
def test_rows_that_are_doubled_at_half_of_epsilon(engine: str, tmp_path: Path) -> None:
    table = golden_answers.table()
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    once = ENGINES[engine](table, tmp_path / "one")
    twice = ENGINES[engine](pa.concat_tables([table, table]), tmp_path / "two")
    for name, ask in counting(Fraction(2)).items():
        half = counting(Fraction(1))[name]
        for seed in range(3):
            bits = f"{name}/{seed}"
            plain = ScriptedBits(bits).ask(partial(ask, once)).value
            assert ScriptedBits(bits).ask(partial(half, twice)).value == plain, bits


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("verb", ["median", "minimum", "recursive", "joint", "independent"])
def test_records_and_candidates_shifted_together(verb: str, shift: int) -> None:
    ages = [20 + i * 13 % 41 for i in range(60)]
    alphas: dict[str, Any] = {"alphas": ["0.1", "0.5", "0.6"], "method": verb}
    said = alphas if verb not in ("median", "minimum") else {}
    ask: Any = discreet.quantiles if said else getattr(discreet, verb)

    def answers(by: int) -> list[Any]:
        grid, moved = Grid(18 + by, 70 + by), [age + by for age in ages]
        call = partial(ask, moved, candidates=grid, epsilon=1, **said)
        return [np.array(ScriptedBits(f"{s}").ask(call).value).tolist() for s in range(8)]

    assert answers(shift) == [(np.array(plain) + shift).tolist() for plain in answers(0)]


@pytest.mark.parametrize("method", ["recursive", "joint", "independent"])
def test_several_quantiles_of_counts_are_those_of_the_rows(method: str) -> None:
    counts = {20: 3, 31: 12, 44: 1, 52: 7}
    rows = [age for age, n in counts.items() for _ in range(n)]
    terms: dict[str, Any] = {
        "alphas": ["0.2", "0.5", "0.9"], "candidates": Grid(18, 70), "method": method, "epsilon": 2,
    }  # fmt: skip
    for seed in range(9):
        of_counts, of_rows = (
            ScriptedBits(f"{seed}").ask(partial(discreet.quantiles, data, **terms)).value
            for data in (counts, rows)
        )
        assert of_counts == of_rows
