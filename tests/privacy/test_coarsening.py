"""Many different guarantees: the bounds end, and are never below those of the exact list."""

import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import compose
from discreet.privacy import ZCDP, BoundedRange, GaussianDP, LaplaceDP, MixedRange, PureDP, RenyiDP
from discreet.privacy import bounds as bounds_module
from discreet.privacy import coarsening as gathering
from discreet.privacy import convolution as combined
from discreet.privacy import rho as concentrated
from discreet.privacy.coarsening import coarsen

ADD: Any = "add_remove"
KINDS: list[Any] = [BoundedRange, MixedRange, LaplaceDP, PureDP]
sizes = st.fractions(Fraction(1, 10**6), 40, max_denominator=10**6)


@given(
    st.lists(st.tuples(sizes, st.sampled_from(KINDS), st.integers(1, 50)), min_size=1, max_size=30)
)
def test_every_epsilon_is_rounded_up_a_little(kinds: list[tuple[Fraction, Any, int]]) -> None:
    core = compose([kind(epsilon).repeated(n) for epsilon, kind, n in kinds])
    few = coarsen(core.parts, 0)
    assert sum(n for _, n in few) == sum(n for _, n in core.parts)
    for kind in KINDS:
        ours, theirs = (
            sorted(part.pure or 0 for part, n in c for _ in range(n) if type(part) is kind)
            for c in (core.parts, few)
        )
        assert len(ours) == len(theirs)
        for exact, rounded in zip(ours, theirs, strict=True):
            assert exact <= rounded <= exact * Fraction(9, 8) * (1 + Fraction(1, 2**50))


def test_few_sizes_are_left_as_they_are() -> None:
    core = compose([PureDP(Fraction(1, k)) for k in range(1, 60)])
    assert coarsen(core.parts, 59) is core.parts
    assert len(coarsen(core.parts, 58)) < 59
    noise = compose([GaussianDP(3), GaussianDP(4)], ZCDP("1/2"), ZCDP("1/3"), RenyiDP({2: 1}))  # type: ignore[arg-type]
    assert coarsen(noise.parts, 9) == compose(GaussianDP(5), ZCDP("5/6"), RenyiDP({2: 1})).parts  # type: ignore[arg-type]


def test_extreme_epsilons_stay() -> None:
    parts = [PureDP(Fraction(10) ** k) for k in (-320, -301, 0, 301, 320)]
    few = coarsen(compose(parts).parts, 0)
    assert {part.pure for part, _ in few} == {part.epsilon for part in parts}


@settings(max_examples=5)
@given(
    st.lists(st.fractions(Fraction(1, 50), 1, max_denominator=500), min_size=10, max_size=20),
    st.integers(0, 3),
)
def test_what_is_rounded_is_above_what_is_exact(epsilons: list[Fraction], target: int) -> None:
    core = compose([BoundedRange(epsilon) for epsilon in epsilons])
    few = coarsen(core.parts, 0)
    for name in ("zcdp", "renyi"):
        make: Any = bounds_module._ACCOUNTANTS[name]
        exact, rounded = (make(c).delta(Fraction(target), None) for c in (core.parts, few))
        assert exact <= rounded
        exact, rounded = (make(c).epsilon(Fraction(1, 10**6), None) for c in (core.parts, few))
        assert exact <= rounded * (1 + Fraction(1, 2**20)) <= exact * Fraction(9, 8)


@pytest.mark.parametrize("many", [10**4, pytest.param(10**5, marks=pytest.mark.proof)])
def test_many_different_epsilons(monkeypatch: pytest.MonkeyPatch, many: int) -> None:
    """What takes long is done some hundreds of times, not a hundred thousand: counted, as times vary."""
    counts = {"rho": 0, "renyi": 0, "losses": 0}

    def counted(name: str, plain: Any) -> Any:
        def call(*args: Any) -> Any:
            counts[name] += 1
            return plain(*args)

        return call

    monkeypatch.setattr(BoundedRange, "renyi", counted("renyi", BoundedRange.renyi))
    monkeypatch.setattr(BoundedRange, "rho", property(counted("rho", BoundedRange.rho.fget)))  # type: ignore[attr-defined]
    monkeypatch.setattr(bounds_module, "convolve", counted("losses", combined.convolve))
    rng = random.Random(1)
    draws = [Fraction(rng.randint(1, 10**6), 10**7) for _ in range(many)]
    whole = compose([BoundedRange(e) for e in draws])
    found = whole.bounds("1e-6")
    assert set(found.values) == {"basic", "zcdp", "renyi"}
    assert found.values["basic"] == sum(draws)
    assert max(counts["rho"], counts["renyi"] / 45) < 300
    assert counts["losses"] == 0
    # The sum of all rhos is at least that of the series e**2/8 - e**4/192, whose terms beyond alternate.
    low = sum(float(e) ** 2 / 8 - float(e) ** 4 / 192 for e in draws)
    exact = ZCDP(Fraction(low)).approx("1e-6").epsilon
    assert exact * Fraction(999, 1000) < found.values["zcdp"] < exact * Fraction(103, 100)


def test_engines_that_cannot_win_are_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def noted(core: Any) -> Any:
        asked.append(len(core))
        return combined.convolve(core)

    monkeypatch.setattr(bounds_module, "convolve", noted)
    many: Any = BoundedRange(Fraction(1, 100)).repeated(10**6)
    assert set(many.bounds("1e-6").values) == {"basic", "kov", "zcdp", "renyi"}
    assert not asked
    few: Any = LaplaceDP(Fraction(1, 10)).repeated(300)
    assert "logistic" in few.bounds(epsilon=4).values
    assert asked == [1]
    assert gathering._EVEN == 128
    assert concentrated.range_rho(Fraction(1)) == BoundedRange(Fraction(1)).rho
