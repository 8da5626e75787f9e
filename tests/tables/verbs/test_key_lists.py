"""Distributions and audits of values that nobody listed: the laws of their mechanisms, and δ of neighbours."""

from fractions import Fraction
from itertools import product
from typing import Any

import polars as pl
import pytest

import discreet
import discreet.study.audit
from discreet.errors import InvalidArgument
from discreet.mechanisms.private_keys import PrivateKeys
from discreet.sampling.enclosures import ball, precision

EPSILON, DELTA = Fraction(2), Fraction(1, 10)
TERMS: Any = {"epsilon": EPSILON, "delta": DELTA}
SMALL = {"epsilon": 9, "delta": Fraction(1, 10)}
"""Of which a table of probabilities has three steps, so that there are few answers."""


def table(**counts: int) -> pl.DataFrame:
    return pl.DataFrame(
        {"page": [key for key, n in counts.items() for _ in range(n)]}, schema={"page": pl.String}
    )


def chances(mechanism: PrivateKeys, count: int) -> float:
    with precision(128):
        return float(mechanism.chance(count).mid())


def test_keys_are_decided_one_by_one() -> None:
    mechanism = PrivateKeys(EPSILON, DELTA)
    counts = {"a": 1, "b": 2, "c": mechanism.sure}
    law = discreet.distribution(discreet.keys, table(**counts), "page", **TERMS).pmf()
    expected = {}
    for is_in in product([False, True], repeat=2):
        answer = tuple(key for key, there in zip("ab", is_in, strict=True) if there)
        expected[*answer, "c"] = 1.0
        for key, there in zip("ab", is_in, strict=True):
            own = chances(mechanism, counts[key])
            expected[*answer, "c"] *= own if there else 1 - own
    assert law == pytest.approx(expected, abs=1e-15)
    none = discreet.distribution(discreet.keys, table(), "page", **TERMS)
    assert none.pmf() == {(): 1.0}
    cut = discreet.distribution(discreet.keys, table(**counts), "page", most=1, **TERMS).pmf()
    assert cut == pytest.approx(
        {
            ("a",): expected["a", "c"] + expected["a", "b", "c"],
            ("b",): expected["b", "c"],
            ("c",): expected["c",],
        }
    )


def test_counts_are_the_noise_that_decides() -> None:
    mechanism = PrivateKeys(EPSILON, DELTA, minimum_count=2)
    law = discreet.distribution(
        discreet.counts, table(a=3, b=1), "page", minimum_count=2, **TERMS
    ).pmf()
    t = mechanism.probabilities.likeliest_step
    with precision(128):
        steps = {
            (("a", 3 + t - m),): float(mechanism.chance_of(3, 3 + t - m).mid()) for m in (1, 2)
        }
    assert law == pytest.approx({(): 1 - chances(mechanism, 3), **steps})
    assert sum(steps.values()) == pytest.approx(chances(mechanism, 3))


@pytest.mark.parametrize("verb", [discreet.keys, discreet.counts])
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_neighbours_need_delta_and_no_more(verb: Any, neighbors: Any) -> None:
    """A record that comes where nobody was needs exactly δ; no pair here needs more, in either direction."""
    terms: Any = {**TERMS, "neighbors": neighbors}
    pairs = [
        (table(), table(a=1)), (table(a=1), table(a=2)), (table(a=2, b=1), table(a=3, b=1)),
    ] if neighbors == "add_remove" else [(table(a=1), table(b=1)), (table(a=2), table(a=1, b=1))]  # fmt: skip
    needed = []
    for pair in pairs:
        audit = discreet.study.audit.exact(verb, *pair, "page", **terms)
        assert audit.holds
        needed.append(float(audit.hockey_stick(EPSILON)))
    if neighbors == "add_remove":
        assert max(needed) == pytest.approx(float(DELTA))
    else:  # of two keys that move, which are charged by twice as many parts
        assert float(DELTA) / 2 < max(needed) <= float(DELTA)
    if neighbors == "add_remove":  # the audit can fail: two records more are too many
        assert not discreet.study.audit.exact(verb, table(), table(a=2), "page", **terms).holds


def test_a_wrong_table_of_probabilities_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = PrivateKeys.chance
    monkeypatch.setattr(
        PrivateKeys, "chance", lambda self, count, **how: right(self, count + (count > 0), **how)
    )
    assert not discreet.study.audit.exact(discreet.keys, table(), table(a=1), "page", **TERMS).holds


@pytest.mark.parametrize("verb", [discreet.mode, discreet.top_k])
def test_the_most_common_by_keys(verb: Any) -> None:
    """Released counts decide, equal ones in the order of keys: by brute force over both keys."""
    mechanism, counts = PrivateKeys(Fraction(9), DELTA), {"a": 2, "b": 2}
    k: Any = {} if verb is discreet.mode else {"k": 2}
    law = discreet.distribution(
        verb, table(**counts), "page", candidates="private", **k, **SMALL
    ).pmf()
    with precision(128):
        options = [
            [(None, 1 - mechanism.chance(2)), *((y, mechanism.chance_of(2, y)) for y in range(9))]
            for _ in counts
        ]
        expected: dict[Any, float] = {}
        for (a, p), (b, q) in product(*options):
            drawn = sorted([(-y, key) for y, key in ((a, "a"), (b, "b")) if y is not None])
            answer: Any = tuple(key for _, key in drawn)
            if verb is discreet.mode:
                answer = answer[0] if answer else None
            chance = float((p * q).mid())
            if chance:
                expected[answer] = expected.get(answer, 0) + chance
    assert law == pytest.approx(expected, abs=1e-15)


def test_limited_domain() -> None:
    """The values of keys.md: a 9, b 7, c 7, d 2 (docs/reference/mechanisms/top_k.md#limited_domain)."""
    frame = pl.DataFrame(
        [
            (f"{key}{i}", key)
            for key, n in {"a": 9, "b": 7, "c": 7, "d": 2}.items()
            for i in range(n)
        ],
        schema=["who", "page"],
        orient="row",
    )
    terms: Any = {
        "k": 1,
        "candidates": "private",
        "privacy_unit": "who",
        "epsilon": 1,
        "delta": "1/100",
    }
    law = discreet.distribution(discreet.top_k, frame, "page", **terms).pmf()
    assert sum(law.values()) == pytest.approx(1)
    weights = {key: 2.718281828459045**n for key, n in {"a": 9, "b": 7, "c": 7, "d": 2}.items()}
    rows = 10  # of a unit with any number of keys
    nothing = 2.718281828459045 * rows * 99 + rows - 4
    total = sum(weights.values()) + nothing
    expected: Any = {(key,): weight / total for key, weight in weights.items()}
    assert law == pytest.approx({(): nothing / total, **expected})
    less = frame.filter(pl.col("who") != "b0")
    audit = discreet.study.audit.exact(discreet.top_k, frame, less, "page", **terms)
    assert audit.holds
    assert audit.delta == Fraction(1, 100)


def test_what_is_not_worked_out_is_refused() -> None:
    many = table(**{f"k{i}": 2 for i in range(15)})
    with pytest.raises(InvalidArgument, match=r"32,768 answers, and up to 20,000"):
        discreet.distribution(discreet.keys, many, "page", **TERMS)
    with pytest.raises(InvalidArgument, match="not computed"):
        discreet.distribution(discreet.keys, table(a=1), "page", other="1/10", **TERMS)


def test_balls_hold_the_whole() -> None:
    law = discreet.distribution(discreet.counts, table(a=2, b=1), "page", **TERMS)
    assert sum(law.lower) <= 1 <= sum(law.upper)
    assert sum(law.upper) - sum(law.lower) < Fraction(1, 2**60)
    assert float(ball(DELTA)) == pytest.approx(float(DELTA))
