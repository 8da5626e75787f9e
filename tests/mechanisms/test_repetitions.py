"""The number of repetitions: its distribution and its constant."""

import math
from fractions import Fraction
from itertools import islice, pairwise, product
from typing import Any

import numpy as np
import pytest
from flint import arb

import discreet
from discreet.errors import InvalidArgument
from discreet.mechanisms.repetitions import RepetitionKind, Repetitions
from discreet.mechanisms.testing import bit_tree
from discreet.privacy import ZCDP, ApproxDP, PureDP, RenyiDP
from discreet.sampling.enclosures import ball, precision, upper
from discreet.tables.verbs import private_candidates as module

KINDS: list[RepetitionKind] = ["logarithmic", "geometric"]


def generated(kind: str, gamma: Fraction, s: Fraction) -> arb:
    """Return E[s**K] in closed form."""
    q = 1 - gamma
    if kind == "geometric":
        return ball(gamma * s / (1 - q * s))
    return ball(1 - q * s).log() / ball(gamma).log()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gamma", ["1/2", "1/10", 0.9])
def test_the_law_of_the_number_of_tries(kind: RepetitionKind, gamma: Any) -> None:
    tries = Repetitions(kind, gamma)
    exact = Fraction(str(gamma))
    with precision(128):
        law = list(islice(tries.probabilities(), 2000))
        assert sum(law, arb(0)) <= 1 + arb(2) ** -100
        assert sum(law, arb(0)) > 1 - arb(10) ** -20
        for s in (Fraction(1, 3), Fraction(9, 10)):
            series = sum((p * ball(s) ** k for k, p in enumerate(law, start=1)), arb(0))
            assert abs(series - generated(kind, exact, s)) < arb(10) ** -20
        mean = sum((k * p for k, p in enumerate(law, start=1)), arb(0))
        wanted = 1 / exact if kind == "geometric" else (1 - exact) / exact
        scale = 1.0 if kind == "geometric" else math.log(1 / exact)
        assert abs(float(mean) - float(wanted) / scale) < 1e-9
    tree = bit_tree(tries.draw, 11)
    with precision(128):
        assert all(tree.admits(k, p) for k, p in enumerate(law[:40], start=1))
    assert tree.undecided < Fraction(1, 10)
    assert len(tree.masses) >= 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gamma", [Fraction(1, 2), Fraction(1, 50)])
def test_the_constant_for_all_small_tries(kind: RepetitionKind, gamma: Fraction) -> None:
    """Laws on three ordered outcomes, with tries that differ by a factor of at most two."""
    with precision(200):
        for weights in product(range(1, 7), repeat=3):
            for factors in product((1, 2), repeat=3):
                q = [Fraction(w, sum(weights)) for w in weights]
                other = [w * f for w, f in zip(weights, factors, strict=True)]
                p = [Fraction(w, sum(other)) for w in other]
                ratios = [a / b for a, b in zip(p, q, strict=True)]
                if max(ratios) > 2 or min(ratios) < Fraction(1, 2):
                    continue
                pairs = zip(best_of(kind, gamma, p), best_of(kind, gamma, q), strict=True)
                for a, b in pairs:
                    assert a / b <= arb(2) ** Repetitions(kind, gamma).price + arb(2) ** -100


def best_of(kind: str, gamma: Fraction, law: list[Fraction]) -> list[arb]:
    """Return the law of the best of K, the outcomes in ascending order."""
    bounds = [sum(law[:i], Fraction(0)) for i in range(len(law) + 1)]
    at = [generated(kind, gamma, bound) for bound in bounds]
    return [high - low for low, high in pairwise(at)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_constant_is_the_least(kind: RepetitionKind) -> None:
    """Above a rare outcome that doubles, one that is rarer by half: the bound is nearly reached."""
    gamma, best, rare = Fraction(1, 10**6), Fraction(1, 100), Fraction(1, 10**6)
    q = [1 - best - rare, rare, best]
    p = [1 - best / 2 - 2 * rare, 2 * rare, best / 2]
    assert max(a / b for a, b in zip(p, q, strict=True)) == 2
    with precision(200):
        ratio = best_of(kind, gamma, p)[1] / best_of(kind, gamma, q)[1]
        bound = 2 ** Repetitions(kind, gamma).price
        assert bound * arb(0.99) < ratio < bound


def test_the_best_try_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Repetitions, "draw", lambda *_: 60)
    seen: list[tuple[int, Fraction]] = []

    def run(data: list[int], candidate: int, share: Fraction) -> tuple[int, str]:
        seen.append((candidate, share))
        return data[candidate], f"{candidate} tried"

    release = discreet.private_candidates(run, [3, 9, 9, 1], range(4), epsilon=1)
    first = next(candidate for candidate, _ in seen if candidate in (1, 2))
    assert release.value == (first, 9, f"{first} tried")
    assert {share for _, share in seen} == {Fraction(1, 2)}
    assert len(seen) == 60
    assert str(release.guarantee) == "ε = 1 (add/remove one record)"


def test_scores_are_compared_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Repetitions, "draw", lambda *_: 2)
    picks = iter([0, 1])
    monkeypatch.setattr(module, "below", lambda *_: next(picks))
    scores = [np.float64(2**53), np.int64(2**53 + 1)]  # numpy calls them equal
    release = discreet.private_candidates(
        lambda data, candidate, share: (data[candidate], None), scores, [0, 1], epsilon=1
    )
    assert release.value == (1, 2**53 + 1, None)


def best_in_doubles(law: list[float], kind: str, gamma: float) -> list[float]:
    """Return the law of the best of K draws from a law over scores 0, 1, 2, ..."""

    def generating(s: float) -> float:
        if kind == "geometric":
            return gamma * s / (1 - (1 - gamma) * s)
        return math.log1p(-(1 - gamma) * s) / math.log(gamma)

    ends = np.minimum(np.concatenate(([0.0], np.cumsum(law))), 1.0)
    values = [generating(float(end)) for end in ends]
    return np.diff(values).tolist()


def renyi(p: list[float], q: list[float], order: float) -> float:
    logs = (order * math.log(a) + (1 - order) * math.log(b) for a, b in zip(p, q, strict=True))
    sum_ = sum(map(math.exp, logs))
    return math.log(sum_) / (order - 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gamma", ["1/2", "1/100"])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_best_keeps_its_renyi_divergences(kind: RepetitionKind, gamma: str, sign: int) -> None:
    """Attempts that answer a number with Gaussian noise, in cells: every order of the best is within its bound."""
    points = np.linspace(-4, 4, 200)
    weights = [np.exp(-((points - at) ** 2) / 2) for at in (0.0, sign * 0.4)]
    p, q = ((w / w.sum()).tolist() for w in weights)
    tries = Repetitions(kind, gamma)
    attempt = RenyiDP(
        {a: max(renyi(p, q, a), renyi(q, p, a)) * (1 + 1e-9) for a in (1.5, 2, 3, 5, 9, 20, 60)}
    )
    promise = tries.best_of(attempt)
    best, other = (best_in_doubles(law, kind, float(Fraction(gamma))) for law in (p, q))
    with precision(100):
        for order in (1.5, 2, 3, 5, 9, 20):
            bound = promise.renyi(arb(order) - 1)
            assert bound is not None
            assert max(renyi(best, other, order), renyi(other, best, order)) <= float(bound.upper())


def test_the_terms_of_the_bound() -> None:
    """One order alone: R + ln E[K] / (a - 1) + c ((1 - 1/a) R + ln(1/gamma) / a)."""
    for kind, c, mean in (("logarithmic", 1, 0.75 / (0.25 * math.log(4))), ("geometric", 2, 4.0)):
        promise: Any = Repetitions(kind, "1/4").best_of(RenyiDP({4: "1/2"}))  # type: ignore[arg-type]
        whole = 0.5 + math.log(mean) / 3 + c * (0.75 * 0.5 + math.log(4) / 4)
        (order, bound) = promise.curve[-1]
        assert order == 4
        assert math.isclose(float(bound), whole, rel_tol=1e-12)


def test_pure_attempts_cost_their_price() -> None:
    assert Repetitions("geometric", "1/4").best_of(PureDP(Fraction(1, 3))) == PureDP(Fraction(1))
    with pytest.raises(InvalidArgument, match="Rényi"):
        Repetitions("geometric", "1/4").best_of(ApproxDP(Fraction(1), Fraction(1, 9)))


@pytest.mark.parametrize(("rho", "gamma"), [("1", "1/10"), ("1/100", "1/100")])
@pytest.mark.parametrize("order", [33, 100, 700, 5000])
def test_divergences_between_orders_are_those_of_the_corollary(
    rho: str, gamma: str, order: int
) -> None:
    """Papernot and Steinke's corollary 4 with the best second order, in doubles: at most a thousandth below."""
    bound = Repetitions("logarithmic", gamma).best_of(ZCDP(Fraction(rho), "add_remove"))
    r, g = float(Fraction(rho)), float(Fraction(gamma))
    far, mean = -math.log(g), (1 - g) / (g * -math.log(g))
    second = max(1.0, math.sqrt(far / r))
    theirs = r * order + r * (second - 1) + far / second + math.log(mean) / (order - 1)
    with precision(128):
        divergence = bound.renyi(ball(Fraction(order - 1)))
    assert divergence is not None
    assert theirs * (1 - 1e-9) <= float(upper(divergence)) <= theirs * 1.001
