"""A mechanism of ours inside OpenDP: the map it states, and the law it draws from."""

import math
from fractions import Fraction
from typing import Any

import pytest

import discreet
from discreet.base.float_environment import is_default
from discreet.base.numbers import float_up
from discreet.errors import InvalidArgument
from discreet.mechanisms.contract import PrivacyParameter
from discreet.mechanisms.testing import ScriptedBits, bit_tree
from discreet.privacy import BoundedRange, LaplaceDP
from discreet.privacy.sensitivity import sensitivity_of
from discreet.sampling.bits import SystemBits
from discreet.sampling.enclosures import precision
from discreet.sampling.vectors import read_vector
from discreet.study import opendp as bridge
from discreet.study.opendp import to_opendp

from ..float_modes import mode, why_not
from ..scripted_words import on_words

dp = pytest.importorskip("opendp.prelude")
dp.enable_features("contrib", "honest-but-curious")

PURE, ZCDP = dp.max_divergence(), dp.zero_concentrated_divergence()
GRID = [float(point) for point in range(-5, 6)]


def space(T: Any = float, monotonic: bool = False) -> Any:  # noqa: N803  # OpenDP's name
    """Return the domain of vectors of numbers, with the largest change as their distance."""
    domain = dp.atom_domain(T=T, nan=False) if T is float else dp.atom_domain(T=T)
    return dp.vector_domain(domain), dp.linf_distance(T=T, monotonic=monotonic)


def scores_of(alpha: float) -> Any:
    """Return OpenDP's transformation from records to a score for each point of the grid."""
    records = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    return dp.t.make_quantile_score_candidates(*records, GRID, alpha=alpha)


def test_the_numbers_of_opendps_own_notebook() -> None:
    median = scores_of(0.5)
    assert median.map(1) == 1
    least = float_up(BoundedRange(Fraction(2), "add_remove").rho)
    assert 0.4744 < least < 0.4745  # OpenDP's 0.5 is epsilon**2 / 8
    for measure, published, cost in ((PURE, 2.0, 2.0), (ZCDP, 0.5, least)):
        ours = to_opendp(median.output_space, measure, scale=1, negate=True)
        theirs = dp.m.make_noisy_max(*median.output_space, measure, scale=1.0, negate=True)
        assert theirs.map(1) == published
        assert ours.map(1) == (median >> ours).map(1) == cost
    fine = scores_of(1 / math.sqrt(2))
    assert fine.map(1) == 7071
    assert (fine >> to_opendp(fine.output_space, PURE, scale=7071)).map(1) == 2


@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("scale", [1.0, 0.3, 7.0, 1 / 3])
@pytest.mark.parametrize("d_in", [0.0, 0.1, 1.0, 3.0])
def test_the_map_is_never_below_the_exact_one(monotonic: bool, scale: float, d_in: float) -> None:
    over = Fraction(d_in) * (1 if monotonic else 2) / Fraction(str(scale))
    rho = BoundedRange(over, "add_remove").rho if over else over
    for measure, exact in ((PURE, over), (ZCDP, rho)):
        stated = to_opendp(space(monotonic=monotonic), measure, scale=scale).map(d_in)
        assert exact <= Fraction(stated) <= exact * (1 + Fraction(1, 2**51))


def test_exponential_noise_is_charged_as_such() -> None:
    flips = to_opendp(space(int), ZCDP, scale=1, mechanism="permute_and_flip")
    assert flips.map(1) == float_up(LaplaceDP(Fraction(2), "add_remove").rho)


@pytest.mark.parametrize("d_in", [-1.0, math.inf, math.nan])
def test_a_distance_that_is_none_has_no_cost(d_in: float) -> None:
    with pytest.raises(dp.OpenDPException, match="sensitivity must be"):
        to_opendp(space(), PURE, scale=1).map(d_in)


@pytest.mark.parametrize("name", discreet.mechanisms.MECHANISMS)
def test_a_scale_settles_the_law_whatever_the_distance(name: str) -> None:
    mechanism, scores = discreet.mechanisms.MECHANISMS[name](), read_vector([3, 1, 2])
    with precision(128):
        laws = [
            mechanism.calibrate(
                sensitivity_of(change, "add_remove"), PrivacyParameter("scale", Fraction(2))
            )
            .law(scores)
            .probabilities()
            for change in (1, 3, "1/7")
        ]
    assert all(
        p.overlaps(q) and p.rad() < 1e-20 for law in laws for p, q in zip(law, laws[0], strict=True)
    )


@pytest.mark.parametrize(("negate", "best"), [(False, 1), (True, 2)])
def test_it_draws_our_law(negate: bool, best: int, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = [1, 2, 0]
    measurement = to_opendp(space(int), PURE, scale=2, negate=negate)

    def draw(bits: ScriptedBits) -> int:
        # What our draw raises, OpenDP would wrap: learn beforehand whether the bits are enough.
        monkeypatch.setattr(bridge, "SystemBits", lambda: bits)
        before = ScriptedBits(bits._script)
        wanted = law.draw(before)
        answer = measurement(scores)
        assert answer == wanted
        return int(answer)

    signed = [-score for score in scores] if negate else scores
    calibrated = discreet.mechanisms.Exponential().calibrate(
        sensitivity_of(1, "add_remove"), PrivacyParameter("scale", Fraction(2))
    )
    law = calibrated.law(read_vector(signed))
    tree = bit_tree(draw, 10)  # type: ignore[arg-type]
    with precision(128):
        assert all(tree.admits(i, p) for i, p in enumerate(law.probabilities()))
    assert tree.undecided < Fraction(1, 50)
    assert max(tree.masses, key=lambda i: tree.masses[i]) == best


def test_it_chains_from_records_to_an_answer() -> None:
    scores = scores_of(0.5)
    select = to_opendp(scores.output_space, PURE, scale="1/100", negate=True)
    median = scores >> select >> (lambda index: GRID[index])
    assert median([1.0, 2.0, 2.0, 2.0, 3.0] * 20) == 2.0
    assert median.map(1) == 200.0


def test_long_integers_stay_exact() -> None:
    select = to_opendp(space("u64"), PURE, scale="1/1000", negate=True)
    assert select([2**64 - 1, 2**64 - 2]) == 1


def test_what_it_refuses() -> None:
    with pytest.raises(InvalidArgument, match="measure must be"):
        to_opendp(space(), "max_divergence", scale=1)
    with pytest.raises(InvalidArgument, match="scale must be greater than zero"):
        to_opendp(space(), PURE, scale=0)
    with pytest.raises(InvalidArgument, match="negate must be True or False"):
        to_opendp(space(), PURE, scale=1, negate="no")  # type: ignore[arg-type]
    nan = dp.vector_domain(dp.atom_domain(T=float)), dp.linf_distance(T=float)
    with pytest.raises(dp.OpenDPException, match="non-nan"):
        to_opendp(nan, PURE, scale=1)
    with pytest.raises(dp.OpenDPException, match="LInfDistance"):
        to_opendp((nan[0], dp.symmetric_distance()), PURE, scale=1)


def test_no_private_score_is_in_an_error() -> None:
    with pytest.raises(dp.OpenDPException, match="NaN or an infinity") as caught:
        to_opendp(space(), PURE, scale=1)([12345.0, math.inf])
    assert "12345" not in str(caught.value)


@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
@pytest.mark.parametrize("name", ["up", "zero"])
def test_what_opendp_calls_computes_in_the_default_environment(name: str) -> None:
    ours = to_opendp(space(), PURE, scale=0.3)
    scores = [0.0, -0.6911371237458194, 0.25]
    words = [2**62 + 5, 3 * 2**62]

    def answers() -> list[Any]:
        return [ours.map(0.1), *(on_words([word], lambda: ours(scores)) for word in words)]

    plain, seen = answers(), []

    class Noting(SystemBits):
        def __init__(self) -> None:
            seen.append(is_default())

    with mode(name), pytest.MonkeyPatch.context() as patch:
        patch.setattr(bridge, "SystemBits", Noting)
        other = answers()
    assert other == plain
    assert seen == [True, True]
