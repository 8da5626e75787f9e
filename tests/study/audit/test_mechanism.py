"""The audit of a mechanism of somebody's own, by exact probabilities and by draws."""

import math
import sys
from fractions import Fraction
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from discreet import audit
from discreet.errors import DiscreetError, InvalidArgument
from discreet.mechanisms.testing import SeededBits


def response(records: list[int]) -> dict[str, Fraction]:
    """Answer whether the sum is odd, truly in three cases of four."""
    odd = Fraction(3 if sum(records) % 2 else 1, 4)
    return {"odd": odd, "even": 1 - odd}


def honest(records: list[int]) -> dict[int, int]:
    return {sum(records): 1}


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_the_largest_loss_of_all_pairs_is_that_of_the_mechanism(neighbors: Any) -> None:
    result = audit.mechanism(response, [0, 1], range(4), epsilon="1.0987", neighbors=neighbors)
    assert result.holds
    assert math.isclose(float(result.largest), math.log(3))
    assert (
        str(result.verdict) == f"no counterexample among {result.pairs} pairs, which is not a proof"
    )
    assert sum(result.pair[0]) % 2 != sum(result.pair[1]) % 2
    wrong = audit.mechanism(response, [0, 1], range(4), epsilon="1.0986", neighbors=neighbors)
    assert not wrong.holds
    assert "the claim is false" in str(wrong)


def test_an_answer_of_one_dataset_alone_is_an_infinite_loss() -> None:
    result = audit.mechanism(honest, [0, 1], range(2), epsilon=5)
    assert (result.holds, result.largest) == (False, math.inf)
    assert result.pair == ([], [1])


def test_a_delta_is_the_least_that_makes_the_claim_true() -> None:
    assert audit.mechanism(honest, [0, 1], range(2), epsilon=5, delta="0.999").largest == 1
    result = audit.mechanism(response, [0, 1], range(2), epsilon="0.1", delta="0.5")
    assert result.holds
    assert math.isclose(float(result.largest), 0.75 - 0.25 * math.exp(0.1))


def test_lists_are_probabilities_by_place() -> None:
    def listed(records: list[int]) -> list[Fraction]:
        return [*response(records).values()]

    assert audit.mechanism(listed, [0, 1], range(3), epsilon="1.1").holds


def test_draws_refute_at_a_share_of_the_risk() -> None:
    bits = SeededBits()

    def drawn(records: list[int]) -> bool:
        return bits.word() < (3 if sum(records) % 2 else 1) << 62

    result = audit.mechanism(drawn, [0, 1], range(2), epsilon="0.5", draws=1500)
    assert (result.holds, result.claim.draws) == (False, 1500)
    assert 0.5 < float(result.largest) < math.log(3)
    assert audit.mechanism(drawn, [0, 1], range(2), epsilon="1.1", draws=1500).holds


def test_the_risk_is_shared_by_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def samples(*_: object, confidence: Fraction, delta: object) -> Any:
        seen.append(confidence)
        return audit.samples([1, 1], [1, 1])

    monkeypatch.setattr(sys.modules["discreet.study.audit.mechanism"], "samples", samples)
    result = audit.mechanism(sum, [0, 1], range(3), epsilon=1, draws=2, confidence="0.9")
    assert seen == [1 - Fraction(1, 10) / result.pairs] * result.pairs


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"delta": 1}, "delta must be"),
        ({"confidence": 1}, "confidence must be"),
        ({"draws": 0}, "draws"),
        ({"neighbors": "all"}, "neighbors"),
        ({"universe": "abc"}, "universe must be a list"),
        ({"universe": []}, "universe must not be empty"),
        ({"universe": range(200)}, "pairs of neighbours"),
        ({"function": 3}, "function must be a function"),
    ],
)
def test_public_arguments_are_checked_before_anything_is_asked(change: Any, words: str) -> None:
    def never(_: object) -> Any:
        raise AssertionError

    terms = {"function": never, "universe": [0, 1], "sizes": range(4), "epsilon": 1, **change}
    with pytest.raises(InvalidArgument, match=words):
        audit.mechanism(**terms)


def test_what_is_no_distribution_is_refused_without_being_quoted() -> None:
    def secret(_: object) -> Any:
        return 12345.5

    with pytest.raises(InvalidArgument, match="exact probabilities") as refusal:
        audit.mechanism(secret, [0], range(2), epsilon=1)
    assert "12345" not in str(refusal.value)

    def fails(records: list[int]) -> Any:
        raise ValueError(f"secret {records}")

    with pytest.raises(DiscreetError, match="may quote data") as failure:
        audit.mechanism(fails, [0], range(2), epsilon=1)
    assert "secret" not in str(failure.value)
    with pytest.raises(DiscreetError, match="can be counted"):
        audit.mechanism(list, [0], range(2), epsilon=1, draws=3)


def test_an_answer_that_is_not_equal_to_itself_is_refused() -> None:
    """Else NaN on one dataset were another answer than NaN on its neighbour, and every claim false."""

    def undefined(_: list[int]) -> dict[float, Fraction]:
        return {float("nan"): Fraction(1, 2), 0.0: Fraction(1, 2)}

    with pytest.raises(InvalidArgument, match="NaN"):
        audit.mechanism(undefined, [0, 1], range(2), epsilon=1)


def test_answers_by_name_and_by_place_are_not_compared() -> None:
    def mixed(records: list[int]) -> Any:
        return {"a": 1} if records else [1]

    with pytest.raises(InvalidArgument, match="a dictionary for every dataset, or for none"):
        audit.mechanism(mixed, [0, 1], range(2), epsilon=1)


def test_a_mechanism_that_changes_its_records_changes_nothing_else() -> None:
    universe = [[0], [1]]

    def growing(records: list[list[int]]) -> dict[str, Fraction]:
        for record in records:
            record.append(1)
        assert all(len(record) == 2 for record in records)
        return response([record[0] for record in records])

    result = audit.mechanism(growing, universe, range(3), epsilon="1.0987")
    assert result.holds
    assert universe == [[0], [1]]
    assert result.pair == ([], [[1]])


def test_what_would_take_too_long_is_refused_before_the_mechanism_is_called() -> None:
    def uncalled(_: list[int]) -> Any:
        raise AssertionError("the mechanism was called")

    with pytest.raises(InvalidArgument, match="at most 1,000 records here"):
        audit.mechanism(uncalled, [0], [10**9, 10**9 + 1], epsilon=1)
    with pytest.raises(InvalidArgument, match="draws must be at least 2"):
        audit.mechanism(uncalled, [0], range(2), epsilon=1, draws=1)


class Scaled:
    """A mechanism with terms of its own."""

    def __call__(self, records: list[int]) -> dict[str, Fraction]:
        return response(records)


@pytest.mark.parametrize("program", [partial(response), Scaled()])
def test_the_file_of_a_program_is_known_whatever_it_is(program: Any) -> None:
    found = audit.mechanism(program, [0], range(2), epsilon=2).program
    assert found.digest == sha256(Path(__file__).read_bytes()).hexdigest()
    assert found.name.startswith("test_mechanism.py:")
