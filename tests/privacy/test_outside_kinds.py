"""Gaussian noise, Rényi curves, loss distributions and kinds of one's own, alone and beside selections."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet import compose, compose_parallel
from discreet.errors import InvalidArgument
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    DiscreteGaussianDP,
    GaussianDP,
    LaplaceDP,
    LossDistribution,
    LossDP,
    MixedRange,
    NoGuarantee,
    PureDP,
    RenyiDP,
    ReplacedSumsDP,
    SummedRange,
)
from discreet.privacy.adaptive import delta_adaptive
from discreet.privacy.guarantees import read_guarantee
from discreet.sampling.enclosures import ball, precision

from .test_gaussian_dp import normal

ADD: Any = "add_remove"


def test_what_is_beyond_the_top_of_a_curve_counts_as_infinite() -> None:
    noise = GaussianDP(Fraction(1))
    short = LossDistribution.of_curve(noise.delta_at, 1, "1/32")
    for target in ("1/2", "1", "3", "50"):
        assert short.delta(target) >= noise.delta_at(target)
    assert short.delta(50) >= noise.delta_at(1) > short.composed(1).delta(50) * Fraction(99, 100)


# Rényi curves.


def test_noise_in_doubles_is_no_fall() -> None:
    assert RenyiDP({2: 1.0, 3: 0.9999999999999999, 4: 1.0}).renyi_divergence(2) == 1.0


# Loss distributions.


def test_losses_of_your_own() -> None:
    losses = LossDistribution.laplace("1/2", "1/64")
    mine = LossDP(losses)
    found: tuple[Any, ...] = (mine.pure, mine.slack, mine.core)
    assert found == (Fraction(1, 2), 0, mine)
    assert mine.delta_at("1/4") <= LaplaceDP(Fraction(1, 2)).delta_at("1/4") * Fraction(101, 100)
    assert mine.approx("1/10").epsilon == losses.epsilon("1/10")
    with precision(128):
        for excess in (0.01, 1.0, 40.0):
            mine_, theirs = mine.renyi(arb(excess)), LaplaceDP(Fraction(1, 2)).renyi(arb(excess))
            assert mine_ is not None
            assert not mine_ < theirs
    twice = mine.under("replace_one")
    for target in ("0", "1/2", "7/8"):
        assert twice.delta_at(target) >= LaplaceDP(Fraction(1)).delta_at(target)
    loose = LossDP(LossDistribution(Fraction(1), 0, (2**127,), 2**127))
    assert (loose.pure, loose.slack, loose.renyi(arb(1))) == (None, Fraction(1, 2), None)
    assert loose.core == LossDP(LossDistribution(Fraction(1), 0, (2**128,), 0))
    with pytest.raises(InvalidArgument, match="mass at infinity"):
        loose.approx("1/4")
    written = json.loads(json.dumps(mine.as_dict()))
    assert read_guarantee(written) == mine
    del written["losses"]["step"]
    short = LossDistribution(Fraction(1), 0, (2**127,), 0)
    for bad in (short, LossDistribution(Fraction(1), 0, (2**129, -1), 0), 3, None):
        with pytest.raises(InvalidArgument):
            LossDP(bad)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        read_guarantee(written)


# Beside selections.


def gaussian_pair(mu: float, n: int) -> list[tuple[float, float]]:
    """Return Gaussian noise cut into n cells: what is computed from it, so no worse."""
    places = [-8 + k * (16 + mu) / n for k in range(n + 1)]
    cells = zip([-99.0, *places], [*places, 99.0], strict=True)
    return [(normal(b - mu) - normal(a - mu), normal(b) - normal(a)) for a, b in cells]


@pytest.mark.parametrize(
    "noisy",
    [GaussianDP(Fraction(1, 2)), ZCDP(Fraction(1, 8)), RenyiDP(lambda order: order / 8)],
    ids=["gaussian", "zcdp", "renyi"],
)
@pytest.mark.one_in(3)
def test_an_adaptive_analyst_with_gaussian_noise_stays_below(noisy: Any) -> None:
    """Two answers of range 1/2 around Gaussian noise, the best losses in each state, against every bound."""
    mu, e = 0.5, 0.5
    noise = gaussian_pair(mu, 70)

    def curve(left: int, ratio: float) -> float:
        if left < 0:
            return max(0.0, 1 - ratio)
        if left == 1:  # the noise comes in between
            return sum(p * curve(0, ratio * q / p) for p, q in noise if p > 0)
        best = 0.0
        for k in range(5):
            t = e * k / 4
            up = (1 - math.exp(t - e)) / (1 - math.exp(-e))
            nxt = left - 1
            best = max(
                best,
                up * curve(nxt, ratio * math.exp(-t))
                + (1 - up) * curve(nxt, ratio * math.exp(e - t)),
            )
        return best

    whole = compose(BoundedRange(Fraction(1, 2)).repeated(2), noisy)
    for target in (Fraction(1, 4), Fraction(1)):
        found, worst = whole.bounds(epsilon=target).values, curve(2, math.exp(target))
        assert min(found.values()) > worst * 0.9999
        if isinstance(noisy, GaussianDP):
            assert found["combined"] < worst * 1.15


def best_of_ranges(n: int, cells: int, step: float, curve: Any) -> Any:
    """Return the curve that an analyst reaches by n answers of range cells * step before what has this curve."""
    epsilon = cells * step
    for _ in range(n):
        options = []
        for high in range(cells + 1):
            chance = math.expm1(high * step - epsilon) / math.expm1(-epsilon)
            up = np.concatenate((np.full(high, curve[0]), curve))[: len(curve)]
            down = np.concatenate((curve, np.zeros(cells - high)))[cells - high :]
            options.append(chance * up + (1 - chance) * down)
        curve = np.max(options, axis=0)
    return curve


@pytest.mark.parametrize(
    ("noisy", "pair"),
    [
        (GaussianDP(Fraction(1, 2)), gaussian_pair(0.5, 2000)),
        (
            PureDP(Fraction(1, 2)),
            [(math.exp(k) / (1 + math.exp(k)), 1 / (1 + math.exp(k))) for k in (0.5, -0.5)],
        ),
    ],
    ids=["gaussian", "pure"],
)
def test_who_asks_for_the_noise_first_reaches_the_bound(noisy: Any, pair: Any) -> None:
    """Ten answers of range 1/10 after it, each the worst for the loss so far: no smaller bound holds."""
    step = 1 / 320
    losses = np.arange(-3200, 3201) * step
    after = best_of_ranges(10, 32, step, np.maximum(0, -np.expm1(losses)))
    for target in (Fraction(1, 4), Fraction(1, 2)):
        reached = sum(
            p * np.interp(float(target) - math.log(p / q), losses, after) if q else p
            for p, q in pair
            if p > 0
        )
        least = (
            compose(BoundedRange(Fraction(1, 10)).repeated(10), noisy).bounds(epsilon=target).least
        )
        assert reached * 0.9999 < least < reached * 1.002


def curve_of_pairs(rho: float, losses: Any) -> Any:
    """Return what one answer of rho-zCDP may cost: the pairs that nearly reach the bound, at many orders."""
    curve = np.maximum(0, -np.expm1(losses))
    for a, factor in product(np.linspace(1.5, 60, 400), (1.02, 1.1, 1.5, 2)):
        share = 1 - factor * math.exp(-a * (a - 1) * rho)
        loss, chance = (2 * a - 1) * rho, share * math.exp(-((a - 1) ** 2) * rho)
        if share <= 0:
            continue
        opposite = math.log1p(-chance * math.exp(-loss)) - math.log1p(-chance)
        b = np.linspace(1, 2 * a, 1000)
        moment = chance * np.exp((b - 1) * loss) + (1 - chance) * np.exp(-(b - 1) * opposite)
        back = chance * np.exp(-b * loss) + (1 - chance) * np.exp(b * opposite)
        if np.all(np.maximum(moment, back) <= np.exp(b * (b - 1) * rho) * (1 + 1e-12)):
            high, low = -np.expm1(losses - loss), -np.expm1(losses + opposite)
            pair = chance * np.maximum(0, high) + (1 - chance) * np.maximum(0, low)
            curve = np.maximum(curve, pair)
    return curve


@pytest.mark.parametrize(
    ("delta", "reached", "bound"), [("1e-3", 0.79, 0.823), ("1e-6", 1.353, 1.369)]
)
def test_zcdp_beside_selections_is_not_far_above_what_is_reached(
    delta: str, reached: float, bound: float
) -> None:
    """By who asks for the ranges first, and then for the pair that is worst for what is left."""
    step = 1 / 160
    losses = np.arange(-1600, 1601) * step
    whole = best_of_ranges(20, 16, step, curve_of_pairs(0.02, losses))
    assert np.interp(reached, losses, whole) > float(delta)
    ranges = BoundedRange(Fraction(1, 10)).repeated(20)
    assert reached < compose(ranges, ZCDP(Fraction(1, 50))).bounds(delta).least < bound


@pytest.mark.parametrize("kind", [GaussianDP, ZCDP, LossDP])
@pytest.mark.one_in(3)
def test_one_noisy_answer_does_not_switch_off_the_rest(kind: Any) -> None:
    ranges = BoundedRange(Fraction(1, 10)).repeated(50)
    alone = delta_adaptive([Fraction(1, 10)] * 50, Fraction(1, 2))
    assert alone is not None
    tiny: dict[Any, Any] = {
        GaussianDP: lambda: GaussianDP(Fraction(1, 1000)),
        ZCDP: lambda: ZCDP(Fraction(1, 10**7)),
        LossDP: lambda: LossDP(LossDistribution.gaussian("1/1000", "1/50000")),
    }
    found = compose(ranges, tiny[kind]()).bounds(epsilon="1/2")
    assert found.winner == "combined"
    assert alone < found.least < alone * Fraction(11, 10)
    assert found.least < found.values["renyi"] / 2


def test_slack_beside_noise() -> None:
    loose = ApproxDP(Fraction(1, 4), Fraction(1, 10**4), ADD)
    whole = compose(loose, GaussianDP(Fraction(1)))
    found = whole.bounds(epsilon=1).values
    assert found["combined"] > Fraction(1, 10**4) + GaussianDP(Fraction(1)).delta_at(1) * Fraction(
        999, 1000
    )
    assert whole.losses().delta(1) <= found["combined"] * Fraction(10001, 10000)
    only = compose(ApproxDP(Fraction(0), Fraction(1, 4))).losses().delta(0)
    assert Fraction(1, 4) <= only < Fraction(1, 4) + Fraction(1, 2**60)
    for none in (NoGuarantee("why"), PureDP(Fraction(10**9))):
        with pytest.raises(InvalidArgument, match="no distribution of losses"):
            compose(none).losses()


# dp-accounting.


def test_handed_over_to_dp_accounting() -> None:
    dpa = pytest.importorskip("dp_accounting")
    from dp_accounting import pld, rdp

    whole = compose(BoundedRange(Fraction(1, 10)).repeated(20), PureDP(Fraction(1, 5)).repeated(3),
                    GaussianDP(Fraction(1, 2)), LaplaceDP(Fraction(1, 7)), SummedRange(Fraction(1, 8)))  # fmt: skip
    theirs = whole.to_dp_accounting().get_epsilon_for_delta(1e-6)
    ours = float(whole.losses().epsilon("1e-6") or 0)
    assert math.isclose(theirs, ours, rel_tol=1e-6)
    event = whole.to_dp_event()
    for accountant in (pld.PLDAccountant, rdp.RdpAccountant):
        for relation in (
            dpa.NeighboringRelation.ADD_OR_REMOVE_ONE,
            dpa.NeighboringRelation.REPLACE_SPECIAL,
        ):
            counted = accountant(neighboring_relation=relation).compose(event).get_epsilon(1e-6)
            assert ours * (1 - 1e-6) < counted < 1.5 * ours
    noisy = compose(ZCDP(Fraction(1, 10)).repeated(2))
    counted = rdp.RdpAccountant().compose(noisy.to_dp_event()).get_epsilon(1e-6)
    assert math.isclose(counted, noisy.approx("1e-6").epsilon, rel_tol=1e-3)
    assert compose(NoGuarantee("why")).to_dp_event() == dpa.NonPrivateDpEvent()
    gauss = compose(GaussianDP(Fraction(1, 3)))
    assert gauss.to_dp_event() == dpa.GaussianDpEvent(3.0)
    for part in (RenyiDP({2: 1}), ApproxDP(Fraction(1), Fraction(1, 9))):
        with pytest.raises(InvalidArgument, match="no event for"):
            compose(part).to_dp_event()


@given(st.fractions(Fraction(1, 100), 20, max_denominator=100), st.integers(1, 40))
def test_randomised_response_is_no_worse_than_that_laplace_noise(epsilon: Fraction, k: int) -> None:
    from discreet.privacy.dp_events import _as_laplace

    wider = LaplaceDP(_as_laplace(epsilon))
    with precision(200):
        assert (
            not PureDP(epsilon).ceiling(arb(k) / 41) > wider.ceiling(arb(k) / 41) + arb(2) ** -150
        )


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5)])
def test_the_event_of_an_epsilon_promises_no_more_than_it(epsilon: Fraction) -> None:
    """Laplace noise of the same epsilon has a smaller delta than randomised response."""
    pytest.importorskip("dp_accounting")
    reached = math.tanh(epsilon / 2)  # delta at 0 of randomised response
    for part in (PureDP(epsilon), Mine(pure=epsilon)):
        laplace = 1 / compose(part).to_dp_event().noise_multiplier
        assert math.isclose(-math.expm1(-laplace / 2), reached, rel_tol=1e-12)
    for kind in (BoundedRange, SummedRange, LaplaceDP):
        multiplier = compose(kind(epsilon)).to_dp_event().noise_multiplier
        assert math.isclose(multiplier, 1 / epsilon, rel_tol=1e-12)


# Kinds of your own, and defaults.


@dataclass(frozen=True)
class Mine:
    """A guarantee by protocol: nothing of ours is inherited."""

    rho: Fraction | None = Fraction(1, 10)
    pure: Fraction | None = None
    neighbors: Any = ADD
    kind = "mine"
    slack = Fraction(0)

    @property
    def core(self) -> Any:
        return self

    def delta_at(self, epsilon: Any) -> Fraction:
        return ZCDP(Fraction(1, 10)).delta_at(epsilon)

    def approx(self, delta: Any) -> ApproxDP:
        return ZCDP(Fraction(1, 10)).approx(delta)

    def renyi(self, excess: arb) -> arb:
        return ball(Fraction(1, 10)) * (1 + excess)

    def ceiling(self, chance: arb) -> None: ...

    def repeated(self, n: int) -> Any:
        return compose([self] * n)

    def group(self, size: int) -> Any:
        return ZCDP(size**2 * Fraction(1, 10))

    def under(self, neighbors: str) -> Any:
        return self.group(2)

    def as_dict(self) -> dict[str, Any]:
        return {"kind": "mine"}


ONE = Fraction(1)
OURS: list[Callable[[], Any]] = [
    lambda: BoundedRange(ONE), lambda: MixedRange(ONE), lambda: PureDP(ONE), lambda: ZCDP(ONE),
    lambda: ApproxDP(ONE, Fraction(1, 9)), lambda: ApproxDP(ONE, Fraction(0)), lambda: NoGuarantee("why"),
    lambda: GaussianDP(ONE), lambda: DiscreteGaussianDP(ONE, 2),
    lambda: ReplacedSumsDP(ONE, 2, 0, 2, 3, "add_remove"),
    lambda: RenyiDP({2: 1, 9: 5}), lambda: LossDP(LossDistribution.laplace(1, "1/8")),
    lambda: LossDP(LossDistribution.gaussian(1, "1/2")), lambda: compose(PureDP(ONE), ZCDP(ONE)), Mine,
    lambda: Mine(None), lambda: Mine(ONE, Fraction(2)),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), list(product(range(len(OURS)), repeat=2)))
@pytest.mark.one_in(4)
def test_any_two_kinds_are_composed_and_put_in_parallel_or_refused_in_words(a: int, b: int) -> None:
    """Never an AttributeError; and what comes out is no stronger than either."""
    one, two = OURS[a](), OURS[b]()
    whole = compose(one, two)
    assert 0 <= whole.slack <= 1
    try:
        found = compose_parallel(one, two)
    except InvalidArgument:
        found = None
    if found is None:  # the one has a delta, the other no epsilon
        assert (one.slack > 0) != (two.slack > 0)
        return
    assert found == compose_parallel(two, one)
    for part in (one, two):
        for name in ("pure", "rho"):
            ours, theirs = getattr(found, name), getattr(part, name)
            assert ours is None or (theirs is not None and ours >= theirs)
        assert found.slack >= part.slack


def test_what_a_guarantee_must_have_is_said() -> None:
    class Half:
        kind, neighbors, pure = "half", ADD, None

    for verb in (compose, compose_parallel):
        with pytest.raises(
            InvalidArgument, match="lacks rho, slack, core, delta_at, approx, renyi"
        ):
            verb(Half())  # type: ignore[arg-type]
        with pytest.raises(InvalidArgument, match=r"what composes are guarantees, .* got 3"):
            verb(3)  # type: ignore[arg-type]
    assert compose_parallel(PureDP(Fraction(1, 2)), ApproxDP(Fraction(1), Fraction(0))) == PureDP(
        Fraction(1)
    )


def test_neighbors_are_add_remove_by_default() -> None:
    pure, zcdp, approx, one, half = PureDP, ZCDP, ApproxDP, Fraction(1), Fraction(1, 2)
    defaults: list[Any] = [
        pure(one), BoundedRange(one), MixedRange(one), zcdp(one), approx(one, half), GaussianDP(one),
        RenyiDP({2: 1}), NoGuarantee("why"), LossDP(LossDistribution.laplace(1, 1)),
    ]  # fmt: skip
    assert {guarantee.neighbors for guarantee in defaults} == {"add_remove"}
    assert pure(half).renyi_divergence(2) < pure(half).renyi_divergence(5) < 0.5
    assert zcdp(half).renyi_divergence("3/2") == 0.75
    assert compose(zcdp(half), zcdp(half / 2)).renyi_divergence(2) == 1.5
    assert (
        approx(one, half).renyi_divergence(2) == NoGuarantee("why").renyi_divergence(2) == math.inf
    )
