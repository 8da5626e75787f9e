"""One answer from every row: the joint distribution, what it costs, and what is not looked at."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import log, prod
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from flint import arb

import discreet
from discreet import Ledger
from discreet.errors import Exhausted, InvalidArgument, InvalidNumber, InvalidScores
from discreet.mechanisms import read_mechanism
from discreet.mechanisms.contract import PrivacyParameter
from discreet.mechanisms.testing import BitTree, ScriptedBits, SeededBits, bit_tree
from discreet.privacy import BoundedRange, PureDP
from discreet.privacy.sensitivity import Sensitivity
from discreet.sampling.bits import Bits
from discreet.sampling.enclosures import precision
from discreet.sampling.vectors import read_vector
from discreet.selection.payment import Bill, Indices
from discreet.selection.verb_calls import bill_of

from .test_payment import Purse

INF = float("inf")
ROWS = [[0, 1], [2, 0], [0, 0]]


def drawn(bits: Any, scores: Any, **terms: Any) -> tuple[int, ...]:
    """Answer with these bits."""
    with patch("discreet.selection.select_rows.SystemBits", lambda: bits):
        return tuple(discreet.select_rows(scores, **terms).value.tolist())


class Enumerator:
    """An account that asks for the answers to every string of bits."""

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self.tree = BitTree({}, Fraction(1))

    def buy(self, bill: Bill, prepare: Callable[[], Callable[[], Indices]]) -> Indices:
        draw = prepare()

        def answer(bits: Bits) -> tuple[Any, ...]:
            with patch("discreet.selection.select_rows.SystemBits", lambda: bits):
                return tuple(draw())  # type: ignore[arg-type]

        self.tree = bit_tree(answer, self._depth)
        return draw()


def enumerated(depth: int, scores: Any, **terms: Any) -> BitTree:
    """Return the answers to every string of bits."""
    account = Enumerator(depth)
    discreet.select_rows(scores, **terms, ledger=account)
    return account.tree


def probabilities(
    scores: Sequence[Any], epsilon: Any, mechanism: str = "exponential", spread: int = 2
) -> list[arb]:
    """Return the distribution of one answer."""
    calibrated = read_mechanism(mechanism).calibrate(
        Sensitivity(Fraction(spread), "add_remove", Fraction(1)),
        PrivacyParameter("epsilon", Fraction(epsilon)),
    )
    with precision(300):
        return list(calibrated.law(read_vector(scores)).probabilities())


# --- the distribution


@pytest.mark.parametrize(
    ("mechanism", "epsilon", "each", "disjoint"),
    [
        ("exponential", 3, 1, False),
        ("exponential", 2, 2, True),
        ("exponential", "1/3", "1/9", False),
        ("permute_and_flip", 2, 2, True),
    ],
)
def test_every_bit_string_is_accounted_for(
    mechanism: str, epsilon: Any, each: Any, disjoint: bool
) -> None:
    """The answers are independent, each with the distribution of its own row."""
    terms: Any = {"sensitivity": 1, "epsilon": epsilon, "mechanism": mechanism}
    few = mechanism == "permute_and_flip"  # it reads several words for an answer
    depth, table = (9, ROWS[:2]) if few else (11, ROWS)
    tree = enumerated(depth, table, disjoint=disjoint, **terms)
    rows = [probabilities(row, each, mechanism) for row in table]
    assert tree.undecided < (Fraction(2, 3) if few else Fraction(1, 8))
    for answer in product(range(2), repeat=len(table)):
        joint = prod((row[i] for row, i in zip(rows, answer, strict=True)), start=arb(1))
        assert tree.admits(answer, joint), (answer, tree, joint)


@pytest.mark.parametrize("make", [list, np.array, lambda rows: np.array(rows, dtype=np.float32)])
def test_rows_are_the_same_in_every_container(make: Any) -> None:
    bits = [SeededBits(3) for _ in range(2)]
    terms: Any = {"sensitivity": 1, "epsilon": 1}
    assert drawn(bits[0], make(ROWS), **terms) == drawn(bits[1], ROWS, **terms)


class Tensor:
    """What a tensor of another library offers, and nothing else."""

    def __init__(self, rows: Any, *, gradients: bool = False) -> None:
        self._array, self._gradients = np.array(rows, dtype=float), gradients
        self.shape = self._array.shape

    def __dlpack__(self, **terms: Any) -> Any:
        if self._gradients:
            raise BufferError("tensors that track gradients: [[123456.5]]")
        return self._array.__dlpack__(**terms)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


class ByArray(Tensor):
    """A tensor that offers `__array__`, too."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self._array


def test_arrays_of_other_libraries_are_read_by_dlpack_or_array() -> None:
    terms: Any = {"sensitivity": 1, "epsilon": 1000}
    rows = [[0, 9, 0], [9, 0, 0]]
    for tensor in (Tensor(rows), ByArray(rows), ByArray(rows, gradients=True)):
        assert discreet.select_rows(tensor, **terms).value.tolist() == [1, 0]
    with pytest.raises(InvalidScores, match=r"detach\(\)\.cpu\(\)") as caught:
        discreet.select_rows(Tensor(rows, gradients=True), **terms)
    assert "123456" not in str(caught.value)


# --- what it costs


CASES: list[tuple[dict[str, Any], int]] = [
    ({"disjoint": False}, 2),
    ({"disjoint": True}, 1),
    ({"disjoint": True, "neighbors": "replace_one"}, 2),
    ({"disjoint": False, "neighbors": "replace_one"}, 2),
]


@pytest.mark.parametrize(("terms", "moved"), CASES)
def test_the_guarantee_holds_for_all_neighbours_and_is_reached(
    terms: dict[str, Any], moved: int
) -> None:
    """All pairs of tables of 2 rows x 3 scores from 0 to 1 in which that many rows move."""
    scores = list(product(range(2), repeat=3))
    release = discreet.select_rows([[0, 0, 0]] * 2, sensitivity=1, epsilon=1, **terms)
    assert release.guarantee.pure == 1
    each = Fraction(1, moved)
    assert release.guarantee == BoundedRange(each, terms.get("neighbors", "add_remove")).repeated(
        moved
    )
    laws = {row: [float(p) for p in probabilities(row, each)] for row in scores}
    ranges, worst = {}, 0.0
    for one, other in product(scores, repeat=2):
        losses = [log(p / q) for p, q in zip(laws[one], laws[other], strict=True)]
        ranges[one, other] = (min(losses), max(losses))
    for first, second in product(ranges.values(), repeat=2):
        second = second if moved == 2 else (0.0, 0.0)
        low, high = first[0] + second[0], first[1] + second[1]
        assert high - low <= 1 + 1e-12
        assert max(-low, high) <= 1 + 1e-12
        worst = max(worst, high - low)
    assert worst > 1 - 1e-12


class OfEpsilonAlone:
    """A mechanism that promises its epsilon and no more."""

    name, takes_runs, parameters = "of epsilon alone", False, dict[str, object]()

    def calibrate(self, sensitivity: Any, parameter: Any) -> Any:
        calibrated = read_mechanism("exponential").calibrate(sensitivity, parameter)
        return calibrated._replace(guarantee=PureDP(parameter.value, sensitivity.neighbors))


@pytest.mark.parametrize("mechanism", ["exponential", "permute_and_flip", OfEpsilonAlone()])
def test_records_that_change_other_rows(mechanism: Any) -> None:
    """Each of three replaced records changes two of three rows, and together they may move every row twice."""
    terms: Any = {"sensitivity": 1, "neighbors": "replace_one", "mechanism": mechanism}
    one_row: Any = discreet.select_rows([[0, 1]], epsilon=1, **terms).guarantee
    three: Any = discreet.select_rows([[0, 1]] * 3, epsilon=2, disjoint=True, **terms).guarantee
    assert (three.pure, three.rho) == (2, 2 * one_row.rho)
    assert three.group(3).delta_at(0) >= one_row.group(2).repeated(3).delta_at(0)
    assert three.group(3).pure == 6
    assert three.group(3).rho <= 9 * three.rho


def test_how_the_parameters_are_shared() -> None:
    def guarantee(**terms: Any) -> discreet.privacy.Composition | Any:
        return discreet.select_rows([[0, 1]] * 4, sensitivity=1, **terms).guarantee

    assert guarantee(epsilon_per_row="1/3").pure == Fraction(4, 3)
    assert guarantee(epsilon_per_row="1/3", disjoint=True) == BoundedRange(Fraction(1, 3))
    assert guarantee(scale=2) == guarantee(epsilon_per_row=1)
    shared = guarantee(rho="1/2").rho
    assert shared is not None
    assert Fraction(49, 100) < shared <= Fraction(1, 2)
    assert guarantee(epsilon=1) == BoundedRange(Fraction(1, 4)).repeated(4)
    # All rows at epsilon / 4 are much better than epsilon-DP where many answers are counted together.
    together = guarantee(epsilon=1).rho
    assert together is not None
    assert together < BoundedRange(Fraction(1)).rho / 3
    assert guarantee(epsilon=1, monotonic=True, mechanism="permute_and_flip").pure == 1


def test_one_row_is_select() -> None:
    release = discreet.select_rows([[0, 1]], sensitivity=1, epsilon=1, neighbors="replace_one")
    alone = discreet.select([0, 1], sensitivity=1, epsilon=1, neighbors="replace_one")
    assert release.guarantee == alone.guarantee
    both = discreet.select_rows(
        [[0, 1]], sensitivity=1, epsilon=1, neighbors="replace_one", disjoint=True
    )
    assert both.guarantee == alone.guarantee


def test_how_much_is_read_does_not_depend_on_the_scores() -> None:
    read = set()
    for gap in (0, 1, 20, 100, 10**6):
        bits = SeededBits(1)
        drawn(bits, np.array([[0, gap], [gap, 0]] * 8), sensitivity=1, epsilon=1, disjoint=True)
        read.add(bits.read)
    assert read == {16 * 64}


# --- masks and base measures


def test_what_is_masked_is_never_answered_and_never_looked_at() -> None:
    mask = [[True, False], [False, True]]
    for scores in (
        [[0, float("nan")], [None, 0]],
        [[0, "private"], [10**6, 0]],
        np.array([[0, np.nan], [np.inf, 0]]),
        np.array([[0, -np.inf], [-np.inf, 0]], dtype=np.float32),
    ):
        release = discreet.select_rows(scores, sensitivity=1, epsilon=1, mask=mask)
        assert release.value.tolist() == [0, 1]
    for mechanism in ("permute_and_flip", "noisy_max", "base2"):
        terms: Any = {"sensitivity": 1, "epsilon": 1, "mechanism": mechanism}
        found = discreet.select_rows([[0, 99, 0]] * 9, mask=np.array([1, 0, 1], bool), **terms)
        assert 1 not in found.value


def test_a_mask_leaves_the_distribution_among_the_others() -> None:
    terms: Any = {"sensitivity": 1, "epsilon": 1, "mask": [True, False, True]}
    tree = enumerated(30, [[0, 50, 1]], **terms)
    first, second = probabilities([0, 1], 1)
    assert tree.admits((0,), first)
    assert tree.admits((2,), second)
    assert tree.undecided < Fraction(1, 2**20)


@pytest.mark.parametrize(
    "measure",
    [
        {"base_measure": [["1/3", 0, 2], [1, 1, 0]]},
        {
            "base_measure": [["1/3", 1, 2], [1, 1, 5]],
            "mask": [[True, False, True], [True, True, False]],
        },
    ],
)
def test_base_measures_multiply_row_by_row(measure: Any) -> None:
    terms: Any = {"sensitivity": 1, "epsilon": 2, **measure}
    tree = enumerated(10, [[0, 9, 0], [0, 0, 9]], **terms)
    for i, p in enumerate([1, 0, 6]):
        for j, q in enumerate([1, 1, 0]):
            assert tree.admits((i, j), arb(p * q) / 14)


def test_logarithms_are_a_base_measure_and_may_be_minus_infinity() -> None:
    logs = np.array([[0.0, -INF, 0.0], [-INF, 5.0, 5.0]])
    for mask in (None, [True, True, True]):
        terms: Any = {"sensitivity": 1, "epsilon": 2, "log_base_measure": logs, "mask": mask}
        tree = enumerated(8, [[0, 9, 0], [9, 0, 0]], **terms)
        assert set(tree.masses) == set(product((0, 2), (1, 2)))
        assert all(tree.admits(answer, arb(1) / 4) for answer in tree.masses)
    one = discreet.select_rows(
        [[0, 0]] * 3, sensitivity=1, epsilon=1, log_base_measure=[0, -INF], disjoint=True
    )
    assert one.value.tolist() == [0, 0, 0]
    assert one.guarantee == BoundedRange(Fraction(1))


# --- what is refused


@pytest.mark.parametrize(
    ("terms", "error", "words"),
    [
        ({"mask": [True]}, InvalidScores, "1 candidates but 2 columns"),
        ({"mask": [True], "candidates": "ab"}, InvalidArgument, "must be a list"),
        ({"mask": [True], "candidates": ["a", "b"]}, InvalidArgument, "2 candidates, but the mask"),
        ({"mask": [1, 0]}, InvalidArgument, "True or False"),
        ({"mask": [False, False]}, InvalidArgument, "leave at least one"),
        ({"mask": "yes"}, InvalidArgument, "mask must be a list or an array"),
        ({"mask": [[True, True]]}, InvalidArgument, "1 rows, but there are 2"),
        ({"base_measure": [0, 0]}, InvalidArgument, "weight above zero"),
        ({"base_measure": [-1, 1]}, InvalidNumber, "at least zero"),
        ({"base_measure": [1, 1], "log_base_measure": [0, 0]}, InvalidArgument, "not both"),
        ({"base_measure": [1, 1], "mechanism": "noisy_max"}, InvalidArgument, "exponential"),
        ({"log_base_measure": [INF, 0]}, InvalidArgument, "finite numbers"),
        ({"log_base_measure": [-INF, -INF]}, InvalidArgument, "finite numbers"),
        ({"log_base_measure": [0, -INF], "mask": [False, True]}, InvalidArgument, "no candidate"),
        ({"base_measure": [0, 1], "mask": [True, False]}, InvalidArgument, "no candidate"),
        ({"base_measure": [1, 1], "mask": [True]}, InvalidArgument, "2 candidates and the mask for 1"),
        ({"epsilon_per_row": 1}, InvalidArgument, "give one of epsilon, epsilon_per_row"),
        ({"disjoint": "no"}, InvalidArgument, "True or False"),
        ({"rows": 3}, InvalidScores, "there are 2 rows of scores, and rows is 3"),
        ({"rows": 0}, InvalidNumber, "rows must be a whole number"),
        ({"candidates": ["a"]}, InvalidScores, "1 candidates but 2 columns"),
        ({"size": 3}, TypeError, "size"),
        ({"spread": 1}, InvalidArgument, "give either sensitivity"),
    ],
)  # fmt: skip
def test_public_arguments_are_refused_with_words(terms: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        discreet.select_rows([[0, 1], [1, 0]], **{"sensitivity": 1, "epsilon": 1, **terms})


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ([[0, 1], [0]], "several lengths"),
        ([], "at least one row"),
        ([[], []], "at least one candidate"),
        ([0, 1], "a row that is of type int"),
        (np.zeros((2, 2, 2)), "3 dimensions"),
        (np.zeros(2), "1 dimensions. For one answer use select"),
        (np.array([["a", "b"]] * 2), "array of type"),
        (pd.DataFrame([[0, 1], [0, 1]]), r"frame\.to_numpy\(\)"),
        (np.ma.masked_array([[0, 1], [0, 1]]), "table of numbers"),
        ([[0, -INF], [0, 1]], "public mask"),
        (np.array([[0, -np.inf], [0, 1]]), "public mask"),
        ([[0, 1], "ab"], "a row that is of type str"),
        ("ab", "table of numbers"),
    ],
)
def test_scores_are_refused_with_words(scores: Any, words: str) -> None:
    rows = max(len(scores), 1)
    with pytest.raises(InvalidScores, match=words) as caught:
        discreet.select_rows(scores, rows=rows, sensitivity=1, epsilon=1)
    assert "inf," not in str(caught.value)


def test_scores_without_a_shape_need_the_number_of_rows() -> None:
    with pytest.raises(InvalidArgument, match="give rows"):
        discreet.select_rows(np.zeros(3), sensitivity=1, epsilon=1)
    with pytest.raises(InvalidArgument, match="only once"):
        bill_of(discreet.select_rows, iter([[0, 1]]), rows=1, sensitivity=1, epsilon=1)


# --- payment


def test_a_session_pays_once_for_all_rows_and_keeps_the_answers() -> None:
    ledger = Ledger()
    ledger.open("people", epsilon=2)
    session = ledger.session("people")
    ask: Any = {"sensitivity": 1, "epsilon": "3/2", "request": "monday", "candidates": ["a", "b"]}
    assert session.quote(discreet.select_rows, [[0, 1]] * 3, sensitivity=1, epsilon=2).fits
    first = session.select_rows([[0, 1]] * 20, **ask)
    again = session.select_rows([[1, 0]] * 20, **ask)
    assert (first.charged, again.charged, first.value) == (True, False, again.value)
    assert len(first.value) == 20
    assert [e.kind for e in ledger.history()] == ["opened", "charged", "answered"]
    with pytest.raises(Exhausted):
        session.select_rows([[0, 1]] * 2, sensitivity=1, epsilon=1)


def test_the_digest_tells_questions_apart_and_sees_no_scores() -> None:
    purse = Purse(left=99)
    ask: Any = {"sensitivity": 1, "epsilon": 1, "ledger": purse}
    discreet.select_rows([[0, 1]] * 2, **ask)
    discreet.select_rows([[5, 1]] * 2, **ask)
    assert purse.bills[0] == purse.bills[1]
    questions: list[tuple[Any, dict[str, Any]]] = [
        ([[0, 1]] * 3, {}), ([[0, 1]] * 2, {"disjoint": True}), ([[0, 1]] * 2, {"mask": [True, False]}),
        ([[0, 1]] * 2, {"mask": [[True, False]] * 2}), ([[0, 1]] * 2, {"base_measure": [1, 2]}),
        ([[0, 1]] * 2, {"log_base_measure": [1, 2]}), ([[0, 1]] * 2, {"candidates": ["a", "b"]}),
    ]  # fmt: skip
    for scores, terms in questions:
        discreet.select_rows(scores, **ask, **terms)
    digests = [bill.digest for bill in purse.bills[1:]]
    assert len(set(digests)) == len(digests)


def test_a_batch_shares_its_budget_with_rows() -> None:
    batch = discreet.Batch().add("splits", discreet.select_rows, [[0, 1]] * 4, sensitivity=1)
    assert batch.split(epsilon=2).cost().pure == 2
    assert len(batch.split(epsilon=2).run()["splits"].value) == 4


def test_bits_are_read_row_by_row() -> None:
    """A bit string that settles the first row leaves the rest of its bits to the second."""
    bits = ScriptedBits("00" + "11", width=2)
    assert drawn(bits, [[0, 0], [0, 0]], sensitivity=1, epsilon=1) == (0, 1)


# --- (epsilon, delta)


def test_with_a_delta_every_row_has_more() -> None:
    ask: Any = {"sensitivity": 1, "epsilon": 1, "delta": "1e-6"}
    release = discreet.select_rows([[0, 1]] * 20, **ask)
    assert release.guarantee == discreet.privacy.ApproxDP(1, "1e-6")  # type: ignore[arg-type]
    assert str(release).endswith(
        "[ε = 1, δ = 0.000001 (add/remove one record), exponential mechanism]"
    )
    purse = Purse()
    discreet.select_rows([[0, 1]] * 20, **ask, ledger=purse)
    discreet.select_rows([[0, 1]] * 20, sensitivity=1, epsilon=1, ledger=purse)
    assert purse.bills[0].guarantee == release.guarantee
    assert purse.bills[0].digest != purse.bills[1].digest


def test_the_share_of_a_row_keeps_the_delta() -> None:
    laws: list[Any] = []

    class Kept:
        """A mechanism that tells what it was calibrated to."""

        name, takes_runs, parameters = "kept", False, dict[str, object]()

        def calibrate(self, sensitivity: Any, parameter: Any) -> Any:
            laws.append(parameter.value)
            return read_mechanism("exponential").calibrate(sensitivity, parameter)

    for disjoint, moved, neighbors in ((False, 20, "add_remove"), (True, 2, "replace_one")):
        ask: Any = {"sensitivity": 1, "epsilon": 1, "delta": "1e-6", "mechanism": Kept()}
        ask |= {"disjoint": disjoint, "neighbors": neighbors}
        release: Any = discreet.select_rows([[0, 1]] * 20, **ask)
        together: Any = BoundedRange(laws[-1]).repeated(moved)
        assert together.bounds(epsilon=1, adaptive=False).least <= Fraction(1, 10**6)
        assert laws[-1] > Fraction(1, moved)
        assert release.guarantee.delta == Fraction(1, 10**6)
    assert laws[-1] < Fraction(51, 100)


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"epsilon": None, "rho": 1}, "delta goes with epsilon"),
        ({"epsilon": None, "epsilon_per_row": 1}, "delta goes with epsilon"),
        ({"disjoint": True}, "delta gains nothing"),
        ({"delta": 0}, "delta must be greater than zero"),
        ({"delta": 1}, "delta must be below 1"),
    ],
)
def test_where_a_delta_is_refused(terms: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        discreet.select_rows(
            [[0, 1]] * 2, **{"sensitivity": 1, "epsilon": 1, "delta": "1e-6", **terms}
        )
