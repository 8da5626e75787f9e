"""Public arguments are read once, and never taken for others that are equal to them."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.errors import DiscreetError, InvalidScores
from discreet.mechanisms import Base2, Exponential, NoisyMax, PermuteAndFlip
from discreet.mechanisms.calibration_cache import check_number, find_calibration
from discreet.mechanisms.joint.joint_top_k import JointTopK
from discreet.mechanisms.peeling import Peeling
from discreet.sampling.bits import SystemBits
from discreet.sampling.vectors import read_vector

from ..scripted_words import PATHS, on_words, take_path

USUAL: dict[str, Any] = {
    "mechanism": "exponential", "neighbors": "add_remove", "epsilon": 1, "rho": None, "scale": None,
    "change": 1, "spread": None, "monotonic": False,
}  # fmt: skip


def find(arguments: dict[str, Any]) -> Any:
    """Return the calibration for these arguments."""
    declared = [arguments[name] for name in ("change", "spread", "monotonic")]
    return find_calibration(arguments, *declared)


def test_the_same_arguments_are_settled_once() -> None:
    assert find(USUAL) is find(USUAL)
    other = find({**USUAL, "epsilon": 2})
    assert other is not find(USUAL)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("epsilon", [1, 1.0, "1", Fraction(1), Decimal(1), Decimal("1.0")]),
        ("change", [1, 1.0, "1", Fraction(1), Decimal(1)]),
    ],
)
def test_equal_numbers_of_all_types_are_the_same_number(name: str, values: list[Any]) -> None:
    found = [find({**USUAL, name: value}) for value in values]
    assert all(one is not None for one in found)
    assert len({(one.sensitivity, one.parameter) for one in found if one is not None}) == 1


def test_a_float_is_not_taken_for_an_integer_that_is_equal_to_it() -> None:
    """A sensitivity of 0.1 is read upwards: it is a little more than one tenth."""
    tenth = find({**USUAL, "change": Fraction(0.1)})
    rounded = find({**USUAL, "change": 0.1})
    decimal = find({**USUAL, "change": "0.1"})
    assert tenth is not None
    assert rounded is not None
    assert decimal is not None
    assert tenth.sensitivity == rounded.sensitivity != decimal.sensitivity


@pytest.mark.parametrize(
    ("terms", "wrong"),
    [
        ({"sensitivity": 1}, {"sensitivity": True}),
        ({"epsilon": 1}, {"epsilon": True}),
        ({"monotonic": True}, {"monotonic": 1}),
        ({"monotonic": False}, {"monotonic": 0}),
        ({"epsilon": 1}, {"epsilon": float("nan")}),
        ({"mechanism": "exponential"}, {"mechanism": "Exponential"}),
    ],
)
def test_what_is_refused_stays_refused_after_its_equal_was_accepted(
    terms: dict[str, Any], wrong: dict[str, Any]
) -> None:
    usual: Any = {"sensitivity": 1, "epsilon": 1}
    for _ in range(2):
        discreet.select([0, 1], **{**usual, **terms})
        with pytest.raises(DiscreetError):
            discreet.select([0, 1], **{**usual, **wrong})


class Liar(str):
    """A text that is equal to every other."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


@pytest.mark.parametrize("other", [Liar("replace_one"), np.float64(1), np.str_("x"), [1], discreet])
def test_values_of_other_types_are_read_each_time(other: Any) -> None:
    for name in USUAL:
        assert find({**USUAL, name: other}) is None


def test_the_release_is_that_of_its_own_arguments() -> None:
    asked: list[Any] = [{"epsilon": 1}, {"epsilon": 2}, {"rho": 1}, {"scale": 5}, {"epsilon": 1}]
    seen = [
        discreet.select([0, 1], sensitivity=1, **terms).guarantee
        for terms in asked
        for _ in range(2)
    ]
    assert seen[0] == seen[1] == seen[8]
    assert len(set(seen)) == 4


def test_several_answers_of_a_mechanism_are_settled_once() -> None:
    def settled(mechanism: Any) -> Any:
        return find({**USUAL, "mechanism": mechanism})

    several = settled(Peeling(Exponential(), 5))
    assert several is settled(Peeling(Exponential(), 5))
    others = [Peeling(Exponential(), 6), Peeling(PermuteAndFlip(), 5), JointTopK(Exponential(), 5),
              JointTopK(Exponential(), 5, counts=True), Peeling(Exponential(), 5, Fraction(1, 10**6))]  # fmt: skip
    assert len({id(settled(other)) for other in [*others, Peeling(Exponential(), 5)]}) == 6
    own: Any = type("Own", (Exponential,), {})
    true: Any = True
    assert settled(Peeling(own(), 5)) is None
    with pytest.raises(DiscreetError, match="k must be"):
        settled(Peeling(Exponential(), true))


def test_a_mechanism_is_looked_up_by_its_fields_and_their_types() -> None:
    def settled(mechanism: Any) -> Any:
        return find({**USUAL, "mechanism": mechanism})

    assert settled(NoisyMax("gumbel")) is settled(NoisyMax("gumbel"))
    assert settled(NoisyMax("gumbel")) is not settled(NoisyMax())
    assert settled(Base2(granularity=1)) is not settled(Base2(granularity=1.0))
    assert settled(Exponential([1, 2])) is None  # a tuple, which may hold anything


NUMBERS: list[Any] = [
    [3, 1, 2],
    [0.5, -0.25, 7.5, 7.5],
    (0.5, 0.25),
    np.array([1.5, 2.5, 0.5]),
    np.array([4, 5], dtype=np.uint8),
    [2**60, 2**60 + 1],
    [Fraction(1, 3), Decimal("0.5")],
    list(range(150)),
]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("scores", NUMBERS)
def test_a_draw_is_that_of_the_distribution_on_the_same_words(
    scores: Any, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_path(path, monkeypatch)
    calibration = find(USUAL)
    law = calibration.calibrated.law(read_vector(scores))
    draw = calibration.prepare_draw(scores, len(scores))
    answers = set()
    for seed in range(200):
        word = int(np.random.default_rng(seed).integers(2**64, dtype=np.uint64))
        index = on_words([word], draw)
        assert type(index) is int
        assert index == on_words([word], lambda: law.draw(SystemBits()))
        answers.add(index)
    assert len(answers) > 1


@pytest.mark.parametrize("scores", [[1, 2], [0.5, 1.5], np.arange(2), [Fraction(1, 2), 1]])
def test_there_must_be_one_score_for_each_candidate(scores: Any) -> None:
    calibration = find(USUAL)
    assert callable(calibration.prepare_draw(scores))
    assert callable(calibration.prepare_draw(scores, 2))
    for size in (1, 3):
        with pytest.raises(InvalidScores, match=f"{size} candidates but 2 scores"):
            calibration.prepare_draw(scores, size)


@pytest.mark.parametrize("scores", [[1.0, float("nan")], [1.0, float("inf")], ["x", 1], []])
def test_scores_that_are_no_finite_numbers_are_refused_before_a_draw(scores: Any) -> None:
    with pytest.raises(DiscreetError):
        find(USUAL).prepare_draw(scores)


def test_the_number_of_scores_is_compared_with_that_of_candidates() -> None:
    check_number([1, 2], 2)
    check_number([1, 2], None)
    with pytest.raises(InvalidScores):
        check_number([], 1)
