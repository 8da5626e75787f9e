"""Guarantees in one line."""

from fractions import Fraction
from typing import Any

import pytest

from discreet.privacy.guarantees import ZCDP, ApproxDP, BoundedRange, NoGuarantee
from discreet.privacy.sensitivity import Neighbors
from discreet.privacy.wording import by_mechanism, in_brief, in_full, relation

ONE = Fraction(1)


@pytest.mark.parametrize(
    ("neighbors", "unit", "words"),
    [
        ("add_remove", None, "add/remove one record"),
        ("add_remove", "user_id", "add/remove one user_id"),
        ("replace_one", None, "replace one record"),
        ("replace_one", "record", "replace one record"),
    ],
)
def test_the_unit_stands_in_place_of_a_record(
    neighbors: Neighbors, unit: str | None, words: str
) -> None:
    guarantee = BoundedRange(ONE, neighbors)
    assert relation(neighbors, unit) == words
    assert in_full(guarantee, unit) == f"ε = 1, bounded range ({words})"
    assert in_brief(guarantee, unit) == f"ε = 1 ({words})"


def test_what_has_no_epsilon_of_its_own_is_said_in_full() -> None:
    assert in_brief(ZCDP(ONE, "add_remove"), "person") == "ρ = 1, zCDP (add/remove one person)"
    small = Fraction(1, 10**6)
    said = in_brief(ApproxDP(ONE, small, "replace_one"))
    assert said == "ε = 1, δ = 0.000001 (replace one record)"
    three = BoundedRange(ONE).repeated(3)
    assert in_brief(three) == "ε = 3 (add/remove one record)"
    assert in_full(three, "person").endswith("(add/remove one person)")


def test_no_guarantee_stays_none() -> None:
    nothing = NoGuarantee("the candidates were taken from the data")
    assert in_brief(nothing) == str(nothing)
    assert in_brief(nothing, "person").startswith(str(nothing))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("permute_and_flip", "permute-and-flip mechanism"),
        ("noisy_max(gumbel)", "noisy-max mechanism (gumbel)"),
    ],
)
def test_the_name_of_a_mechanism(name: str, words: str) -> None:
    assert by_mechanism(name) == words


class OfOnesOwn:
    """A kind that says all of itself as it likes."""

    kind, neighbors, pure = "own", "add_remove", None

    def __str__(self) -> str:
        return "at most a little (add/remove one record)"


def test_no_text_of_a_guarantee_is_taken_apart() -> None:
    """Words that stand at the end of somebody's own text are that text's, and stay."""
    own: Any = OfOnesOwn()
    assert in_full(own) == str(own)
    assert in_full(own, "user") == f"{own} (one record is all rows of one user)"
    stated: Any = type("Stated", (OfOnesOwn,), {"statement": "at most a little"})()
    assert in_full(stated, ("a", "b")) == "at most a little (add/remove one (a, b))"
