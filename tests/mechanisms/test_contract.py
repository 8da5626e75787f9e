"""No mechanism promises less privacy than it is asked for: whoever takes one, in every kind and relation."""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import discreet
from discreet import privacy
from discreet.errors import InvalidArgument
from discreet.mechanisms import (
    MECHANISMS,
    Base2,
    Base2Eta,
    Exponential,
    Mechanism,
    NoisyMax,
    PermuteAndFlip,
)
from discreet.mechanisms.base_measure import MaskedMechanism
from discreet.mechanisms.contract import (
    Calibrated,
    PrivacyParameter,
    calibrate,
    epsilon_of,
    need_parameter,
)
from discreet.mechanisms.joint.joint_top_k import JointTopK
from discreet.mechanisms.peeling import Peeling
from discreet.mechanisms.testing import check_mechanism
from discreet.mechanisms.without_guarantee import WithoutGuarantee
from discreet.privacy import PureDP
from discreet.privacy.guarantees import Guarantee
from discreet.privacy.rho import RhoOf, laplace_rho, pure_rho, range_rho
from discreet.privacy.sensitivity import Neighbors, Sensitivity, sensitivity_of
from discreet.sampling.categorical import Categorical
from discreet.sampling.enclosures import NaturalRate
from discreet.sampling.vectors import Vector, read_vector

SENSITIVITIES = [
    sensitivity_of(1, "add_remove"),
    sensitivity_of("1/3", "add_remove", monotonic=True),
    sensitivity_of(7, "replace_one"),
    Sensitivity(Fraction(5, 2), "add_remove"),
    Sensitivity(Fraction(1, 9), "replace_one"),
    replace(sensitivity_of(2, "replace_one"), balanced=True),
]
PARAMETERS = [
    PrivacyParameter(kind, Fraction(value))
    for kind in ("epsilon", "rho", "scale")
    for value in ("1/1000", "1/3", "1/2", 1, 5)
]
ALL: list[Mechanism] = [
    *(kind() for kind in MECHANISMS.values()),
    *(NoisyMax(noise) for noise in ("laplace", "gumbel", "exponential")),
    Base2(granularity="1/4"),
    Base2(granularity=3),
    MaskedMechanism(PermuteAndFlip(), (True, False, True)),
    *(Peeling(kind(), k) for kind in MECHANISMS.values() for k in (1, 3)),
    JointTopK(Exponential(), 1),
    JointTopK(Exponential(), 3),
    JointTopK(PermuteAndFlip(), 2, counts=True),
]


@dataclass(frozen=True)
class ArgmaxResponse:
    """A k-ary response on the place of the best score: the best with weight 1, all others with exp(-epsilon)."""

    rho_of: RhoOf = pure_rho
    name: ClassVar[str] = "argmax_response"
    takes_runs: ClassVar[bool] = False
    parameters: ClassVar[Mapping[str, object]] = {}
    options: ClassVar[Mapping[str, Callable[[str], object]]] = {}
    worst_case: ClassVar[None] = None

    def calibrate(self, sensitivity: Sensitivity, parameter: PrivacyParameter | None) -> Calibrated:
        epsilon = epsilon_of(need_parameter(parameter), sensitivity.spread, self.rho_of)

        def law(scores: Vector) -> Categorical:
            best = int(np.flatnonzero(scores.values == scores.best())[0])
            ahead = [int(i == best) for i in range(len(scores))]
            return Categorical(read_vector(ahead), NaturalRate(epsilon))

        return Calibrated(PureDP(epsilon, sensitivity.neighbors), law)


@dataclass(frozen=True)
class Promising:
    """A mechanism that promises what a function of the sensitivity and the parameter says."""

    promise: Callable[[Sensitivity, PrivacyParameter | None], Guarantee]
    name: ClassVar[str] = "promising"
    takes_runs: ClassVar[bool] = False
    parameters: ClassVar[Mapping[str, object]] = {}
    worst_case: ClassVar[None] = None

    def calibrate(self, sensitivity: Sensitivity, parameter: PrivacyParameter | None) -> Calibrated:
        plain = Exponential().calibrate(sensitivity, PrivacyParameter("epsilon", Fraction(1)))
        return plain._replace(guarantee=self.promise(sensitivity, parameter))


def fixed(guarantee: Guarantee) -> Promising:
    return Promising(lambda *_: guarantee)


WRONG = ArgmaxResponse(range_rho)
QUESTIONS: dict[str, Callable[..., object]] = {
    "select": partial(discreet.select, [1, 5, 3], sensitivity=1),
    "selector": partial(discreet.selector, sensitivity=1),
    "rows": partial(discreet.select_rows, [[1, 5, 3]], sensitivity=1),
    "top_k": partial(discreet.select_top_k, [1, 5, 3], k=2, sensitivity=1),
    "mode": partial(discreet.mode, [1, 2, 2], candidates=[1, 2, 3]),
    "generalized": partial(discreet.select_generalized, [1, 5, 3], [1, 2, 3]),
    "one of a sample": partial(discreet.select, [1, 5, 3], sensitivity=1, size=2),
    "distribution": partial(discreet.distribution, [1, 5, 3], sensitivity=1),
}


@pytest.mark.parametrize("verb", QUESTIONS)
def test_a_response_calibrated_as_a_bounded_range_is_refused(verb: str) -> None:
    with pytest.raises(InvalidArgument, match=r"wrongly: for rho = 0\.\d+ .*`pure_rho`"):
        QUESTIONS[verb](rho="1/2", mechanism=WRONG)


def test_the_same_response_calibrated_rightly_answers() -> None:
    right = discreet.select([1, 5, 3], sensitivity=1, rho="1/2", mechanism=ArgmaxResponse())
    assert right.guarantee.rho is not None
    assert right.guarantee.rho <= Fraction(1, 2)
    wrong = WRONG.calibrate(SENSITIVITIES[0], PrivacyParameter("rho", Fraction(1, 2))).guarantee
    assert wrong.rho is not None
    assert wrong.rho > Fraction(3, 2)  # what was spent before, silently


@pytest.mark.parametrize("named", [{}, {"rho": "1/2"}, {"epsilon": None, "rho": 1}])
def test_the_check_of_mechanisms_finds_it_too(named: Mapping[str, object]) -> None:
    with pytest.raises(AssertionError, match="is not what was asked for"):
        check_mechanism(WRONG, depth=6, **named)


def test_the_check_of_mechanisms_finds_a_wrong_scale() -> None:
    def by_twice_the_spread(sensitivity: Sensitivity, parameter: Any) -> Guarantee:
        return PureDP(
            epsilon_of(parameter, 2 * sensitivity.spread, pure_rho), sensitivity.neighbors
        )

    wrong = Promising(by_twice_the_spread)
    for named in ({"epsilon": None, "scale": 3}, {"epsilon": None, "scale": "1/3"}):
        with pytest.raises(AssertionError, match="is not what was asked for"):
            check_mechanism(wrong, depth=6, **named)
    with pytest.raises(InvalidArgument, match="for scale = 2 it promises"):
        discreet.select([1, 5, 3], sensitivity=1, scale=2, mechanism=wrong)


def test_a_mechanism_of_epsilon_alone_is_checked_for_epsilon_alone() -> None:
    asked = []

    @dataclass(frozen=True)
    class OfEpsilon(ArgmaxResponse):
        def calibrate(self, sensitivity: Sensitivity, parameter: Any) -> Calibrated:
            asked.append(parameter.kind)
            if parameter.kind != "epsilon":
                raise InvalidArgument("give epsilon")
            return ArgmaxResponse.calibrate(self, sensitivity, parameter)

    check_mechanism(OfEpsilon(), depth=6)
    assert set(asked) == {"epsilon", "rho", "scale"}
    with pytest.raises(InvalidArgument, match="give epsilon"):
        check_mechanism(OfEpsilon(), rho=1, depth=6)


@pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda p: f"{p.kind}={p.value}")
@pytest.mark.parametrize("mechanism", ALL, ids=str)
@pytest.mark.one_in(5)
def test_every_mechanism_promises_at_most_what_is_asked(
    mechanism: Mechanism, parameter: PrivacyParameter
) -> None:
    if "Base2" in str(mechanism) and parameter.value != Fraction(1, 2):
        parameter = parameter._replace(value=Fraction(2, 3))  # others take long to find an eta for
    asked = 0
    for sensitivity in SENSITIVITIES:
        if isinstance(mechanism, JointTopK) and mechanism.counts and sensitivity.spread != 7 * 2:
            continue
        guarantee = calibrate(mechanism, sensitivity, parameter).guarantee
        assert guarantee.neighbors == sensitivity.neighbors
        for size in (1, 2, 5):
            _assert_within(guarantee.group(size), parameter, size)
        if sensitivity.neighbors == "add_remove":
            _assert_within(guarantee.under("replace_one"), parameter, 2)
        asked += 1
    assert asked


def _assert_within(guarantee: Guarantee, parameter: PrivacyParameter, steps: int) -> None:
    """Assert that a guarantee for datasets so many steps apart is what group privacy makes of what was asked."""
    assert guarantee.pure is not None
    assert guarantee.rho is not None
    if parameter.kind == "epsilon":
        assert guarantee.pure <= steps * parameter.value
    if parameter.kind == "rho":
        assert guarantee.rho <= steps**2 * parameter.value


@pytest.mark.parametrize("mechanism", ALL, ids=str)
@pytest.mark.parametrize("scale", ["1/7", 3])
def test_a_scale_is_that_of_every_answer(mechanism: Mechanism, scale: Any) -> None:
    scale = Fraction(2) if "Base2" in str(mechanism) else Fraction(scale)
    sensitivity = sensitivity_of(1, "add_remove")
    guarantee = calibrate(mechanism, sensitivity, PrivacyParameter("scale", scale)).guarantee
    inner = getattr(mechanism, "mechanism", mechanism)
    units = Fraction(getattr(inner, "granularity", 1))
    spread = units * sensitivity.rounded(units).spread if "Base2" in str(mechanism) else Fraction(2)
    answers = getattr(mechanism, "k", 1)
    if isinstance(mechanism, JointTopK):
        answers = 2 if answers > 1 else 1  # a list is further from another than a candidate
    assert guarantee.pure is not None
    assert 0.999 < guarantee.pure * scale / (answers * spread) <= 1


KINDS: Any = privacy
"""Whose guarantees take numbers of all types."""

REFUSED: dict[str, tuple[Guarantee, str]] = {
    "the other relation": (KINDS.PureDP(1, "replace_one"), "epsilon"),
    "more": (KINDS.PureDP("1.0000000001"), "epsilon"),
    "more, with a delta": (KINDS.ApproxDP(2, "1e-9"), "epsilon"),
    "nothing of epsilon": (KINDS.ZCDP("1/100"), "epsilon"),
    "nothing of rho": (KINDS.ApproxDP(2, "1e-9"), "rho"),
    "more of rho": (KINDS.ZCDP("1.01"), "rho"),
    "a large mu": (KINDS.GaussianDP(2), "rho"),
    "less noise": (KINDS.PureDP("2.01"), "scale"),
    "less noise, in rho": (KINDS.ZCDP("2.01"), "scale"),
}
ACCEPTED: dict[str, tuple[Guarantee, str]] = {
    "all": (KINDS.PureDP(1), "epsilon"),
    "less": (KINDS.PureDP("1/2"), "epsilon"),
    "a delta": (KINDS.ApproxDP(1, "1e-9"), "epsilon"),
    "nothing but a delta": (KINDS.ApproxDP(0, "1e-9"), "epsilon"),
    "rho": (KINDS.ZCDP(1), "rho"),
    "mu": (KINDS.GaussianDP(1), "rho"),
    "a delta and rho": (KINDS.ApproxDP(1, "1e-9"), "rho"),
    "noise": (KINDS.PureDP(2), "scale"),
    "noise, in rho": (KINDS.ZCDP(2), "scale"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_promise_that_is_not_within_the_parameter_is_refused(case: str) -> None:
    guarantee, kind = REFUSED[case]
    asked: Mapping[str, Any] = {kind: 1}
    with pytest.raises(InvalidArgument, match="promising is calibrated wrongly"):
        discreet.select([1, 5], sensitivity=1, mechanism=fixed(guarantee), **asked)


@pytest.mark.parametrize("case", ACCEPTED)
def test_a_promise_within_the_parameter_is_taken(case: str) -> None:
    guarantee, kind = ACCEPTED[case]
    asked: Mapping[str, Any] = {kind: 1}
    taken = discreet.select([1, 5], sensitivity=1, mechanism=fixed(guarantee), **asked)
    assert taken.guarantee == guarantee


def test_what_is_no_guarantee_is_refused_in_words() -> None:
    for wrong in (1.0, None, "epsilon = 1"):
        with pytest.raises(InvalidArgument, match="guarantees, such as PureDP"):
            discreet.select([1, 5], sensitivity=1, epsilon=1, mechanism=fixed(wrong))  # type: ignore[arg-type]


def test_a_number_that_is_no_number_is_not_within_anything() -> None:
    @dataclass(frozen=True)
    class Odd(PureDP):
        @property
        def pure(self) -> Any:
            return float("nan")

        @property
        def rho(self) -> Any:
            return float("inf")

    for kind in ("epsilon", "rho", "scale"):
        asked: Mapping[str, Any] = {kind: 1}
        with pytest.raises(InvalidArgument, match="calibrated wrongly"):
            discreet.select([1, 5], sensitivity=1, mechanism=fixed(Odd(Fraction(1))), **asked)


def test_a_field_that_is_called_spread_is_no_method() -> None:
    @dataclass(frozen=True)
    class WithSpread(ArgmaxResponse):
        spread: float = 7.0

    release = discreet.select([1, 5], sensitivity=1, scale=2, mechanism=WithSpread())
    assert release.guarantee.pure == 1


def test_who_promises_nothing_exceeds_nothing() -> None:
    unpromised = WithoutGuarantee(Exponential(), "a test")
    assert (
        discreet.select([1, 5], sensitivity=1, epsilon=1, mechanism=unpromised).guarantee.pure
        is None
    )
    own = Base2(Base2Eta(1, 4))
    assert discreet.select([1, 5], sensitivity=1, mechanism=own).guarantee.pure
    with pytest.raises(InvalidArgument, match="calibrated wrongly"):
        discreet.select([1, 5], sensitivity=1, rho=1, mechanism=WithoutGuarantee(WRONG, "a test"))


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("kind", ["epsilon", "rho"])
def test_the_rounds_of_a_wrong_mechanism_are_refused(neighbors: Neighbors, kind: str) -> None:
    def twice(sensitivity: Sensitivity, parameter: Any) -> Guarantee:
        return PureDP(
            2 * epsilon_of(parameter, sensitivity.spread, laplace_rho), sensitivity.neighbors
        )

    sensitivity = sensitivity_of(1, neighbors)
    parameter = PrivacyParameter(kind, Fraction(1))  # type: ignore[arg-type]
    for around in (Peeling(Promising(twice), 2), MaskedMechanism(Promising(twice), (True, True))):
        with pytest.raises(InvalidArgument, match="promising is calibrated wrongly"):
            calibrate(around, sensitivity, parameter)


def test_nobody_takes_a_mechanism_in_another_way() -> None:
    source = Path(discreet.__file__).parent
    allowed = {
        "mechanisms/contract.py",  # here it is checked
        "mechanisms/testing.py",  # which reports what it finds as a failure
        "tables/verbs/bounds.py",  # of `FirstThreshold`, by its own rates: test_first_above.py
        "tables/verbs/quantiles.py",  # of `JointQuantiles`, which takes its guarantee from a checked mechanism
    }
    places = set()
    for path in source.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr == "calibrate":
                places.add(path.relative_to(source).as_posix())
    assert places == allowed
