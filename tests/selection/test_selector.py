"""A selector: what select does, with everything public settled once."""

from decimal import Decimal
from fractions import Fraction
from typing import Any, assert_type

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet import Ledger
from discreet.errors import Exhausted, InvalidArgument, InvalidScores, UnreadableArgument
from discreet.mechanisms.testing import SeededBits, bit_tree
from discreet.privacy import BoundedRange
from discreet.sampling.bits import SystemBits
from discreet.selection.selector import Selector

from .test_payment import Purse

ASK: Any = {"sensitivity": 1, "epsilon": 1}


def with_bits(monkeypatch: pytest.MonkeyPatch, bits: Any) -> None:
    for name in ("word", "words", "width"):
        value = getattr(bits, name)
        known = value if name == "width" else (lambda _, *a, value=value: value(*a))
        monkeypatch.setattr(SystemBits, name, known)


SCORES: list[Any] = [
    [0.5, 1.5, 0.25],
    [1, 2, 0],
    [1, 2.5, Fraction(1, 3)],
    np.array([0.5, 1.5, 0.25]),
    np.array([3, 1, 2], dtype=np.int8),
    np.linspace(0, 3, 500),
    pd.Series([0.5, 1.5, 0.25]),
    (1, 2, 3),
]


@pytest.mark.parametrize("scores", SCORES, ids=lambda scores: type(scores).__name__)
@pytest.mark.parametrize("mechanism", ["exponential", "permute_and_flip", "noisy_max"])
def test_the_same_bits_give_the_answer_of_select(
    scores: Any, mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose = discreet.selector(sensitivity=1, epsilon=2, mechanism=mechanism)
    for seed in range(20):
        with_bits(monkeypatch, SeededBits(seed))
        mine = choose(scores)
        with_bits(monkeypatch, SeededBits(seed))
        release = discreet.select(scores, sensitivity=1, epsilon=2, mechanism=mechanism)
        assert mine.value == release.value
        assert type(mine.value) is int
        assert (mine.guarantee, mine.mechanism, mine.query) == (
            release.guarantee,
            release.mechanism,
            release.query,
        )


def test_every_bit_string_is_accounted_for(monkeypatch: pytest.MonkeyPatch) -> None:
    choose = discreet.selector(["a", "b", "c"], **ASK)

    def answer(bits: Any) -> str:
        with_bits(monkeypatch, bits)
        return choose([0, 1, 2]).value

    tree = bit_tree(answer, 12)
    law = discreet.distribution([0, 1, 2], **ASK)
    for name, probability in zip("abc", law.pmf().values(), strict=True):
        assert tree.masses[name] - 1e-9 <= probability <= tree.masses[name] + tree.undecided + 1e-9


def test_candidates_are_names_or_their_number() -> None:
    assert discreet.selector(2, **ASK)([0, 999]).value == 1
    named = discreet.selector(["tea", "milk"], **ASK)
    assert named([0, 999]).value == "milk"
    assert named({"milk": 0, "tea": 999}).value == "tea"
    assert named([0, 999]).candidates == 2
    assert named([0, 999]).query == "select, 2 candidates"
    for scores in ([0], [0, 1, 2], np.zeros(3), np.zeros(200), {"tea": 1}, {"tea": 1, "beer": 2}):
        with pytest.raises(InvalidScores, match=r"2 candidates but \d|one for each of the candid"):
            named(scores)
    with pytest.raises(InvalidScores, match="a mapping of scores"):
        discreet.selector(2, **ASK)({"a": 1, "b": 2})
    assert_type(discreet.selector(2, sensitivity=1, epsilon=1), Selector[int])
    assert_type(discreet.selector(["a"], sensitivity=1, epsilon=1)([1]).value, str)


def test_what_is_public_is_refused_before_any_scores() -> None:
    settle: Any = discreet.selector
    refused: list[tuple[Any, str]] = [
        ({"sensitivity": 0}, "sensitivity must be greater"), ({"epsilon": -1}, "epsilon must be greater"),
        ({"spread": 1}, "give either"), ({"neighbors": "x"}, "neighbors must be"), ({"epsilon": None}, "how much"),
        ({"mechanism": "x"}, "mechanism must be"), ({"candidates": []}, "must not be empty"),
        ({"candidates": 0}, "whole number"), ({"ledger": 3}, "ledger must be a session"),
    ]  # fmt: skip
    for terms, words in refused:
        with pytest.raises(InvalidArgument, match=words):
            settle(**{**ASK, **terms})
    for name in ("size", "request"):
        with pytest.raises(TypeError, match="leave out size"):
            settle(**ASK, **{name: "1"})
    with pytest.raises(TypeError, match="epsilom"):
        settle(**ASK, epsilom=1)
    with pytest.raises(InvalidArgument, match="Give ledger too"):
        settle(**ASK)([1, 2], request="monday")


@pytest.mark.parametrize(
    "scores", [[1.0, float("nan")], [float("inf"), 1.0], np.array([1, np.nan]), "ab", [], [None], 7]
)
def test_scores_are_refused_without_being_shown(scores: Any) -> None:
    with pytest.raises((InvalidScores, UnreadableArgument)) as caught:
        discreet.selector(**ASK)(scores)
    assert caught.value.__context__ is None
    assert "nan" not in str(caught.value)


def test_every_call_is_charged() -> None:
    ledger = Ledger()
    ledger.open("people", epsilon=2)
    session = ledger.session("people")
    choose = session.selector(["a", "b"], sensitivity=1, epsilon="1/2")
    assert choose.guarantee == BoundedRange(Fraction(1, 2))
    assert "Selector(exponential among 2 candidates" in repr(choose)
    first = choose([0, 9999], request="monday")
    again = choose([9999, 0], request="monday")
    assert (first.value, again.value, again.charged) == ("b", "b", False)
    assert session.quote(choose, [0, 1]).cost.epsilon == Fraction(1, 2)
    assert [choose([0, 9999]).value for _ in range(3)] == ["b"] * 3
    with pytest.raises(Exhausted):
        choose([0, 1])
    with pytest.raises(InvalidArgument, match="only once"):
        choose(iter([0, 1]))


def test_another_account_may_pay_for_a_call() -> None:
    purse, other = Purse(), Purse()
    choose = discreet.selector(sensitivity=1, epsilon=1, ledger=purse)
    choose([0, 1])
    choose([0, 1], ledger=other)
    discreet.select([0, 1], sensitivity=1, epsilon=1, ledger=other)
    assert (purse.left, other.left) == (9, 8)
    assert purse.bills[0] == other.bills[0] == other.bills[1]


def test_nothing_is_drawn_that_is_not_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SystemBits, "word", lambda _: pytest.fail("a bit was read"))
    choose = discreet.selector(sensitivity=1, epsilon=1, ledger=Purse(left=0))
    with pytest.raises(Exception, match=r"^$"):
        choose([0, 1])


def test_select_keeps_what_is_public_by_exact_types() -> None:
    """True, 1 and 1.0 are three arguments, and what is refused is refused again."""
    scores = [0.0, 50.0]
    for _ in range(2):
        assert discreet.select(scores, sensitivity=1, epsilon=1, size=None).value in (0, 1)
        assert discreet.select(scores, sensitivity=1.0, epsilon=1).guarantee.pure == 1
        with pytest.raises(InvalidArgument, match="epsilon"):
            discreet.select(scores, sensitivity=1, epsilon=True)
        with pytest.raises(InvalidArgument, match="epsilon"):
            discreet.select(scores, sensitivity=1)
        with pytest.raises(TypeError, match="Did you mean 'epsilon'"):
            discreet.select(scores, sensitivity=1, epsilon=1, epsilom=None)  # type: ignore[call-overload]


def test_select_with_an_account_is_not_kept() -> None:
    purse = Purse()
    for number in (1, 2):
        discreet.select([0.0, 1.0], sensitivity=1, epsilon=1, ledger=purse)
        assert len(purse.bills) == number


@pytest.mark.parametrize("wrong", ["epsilon", "neighbors", "sensitivity", "monotonic"])
def test_what_has_no_hash_is_refused_in_words(wrong: str) -> None:
    given: dict[str, Any] = {"sensitivity": 1, "epsilon": 1, wrong: Decimal("sNaN")}
    with pytest.raises(InvalidArgument, match=wrong):
        discreet.select([0.0, 1.0], **given)
    with pytest.raises(InvalidArgument, match=wrong):
        discreet.select_top_k([0.0, 1.0], k=1, **given)
