"""select: any row of numbers, public arguments before private data, and how a release looks."""

import inspect
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import discreet
from discreet.errors import (
    DiscreetError,
    InvalidArgument,
    InvalidCandidates,
    InvalidNumber,
    InvalidScores,
    UnknownName,
)
from discreet.mechanisms import MECHANISMS, Base2, Base2Eta, NoisyMax
from discreet.mechanisms.testing import counted_work
from discreet.privacy import BoundedRange, LaplaceDP
from discreet.selection.candidates import Labels
from discreet.selection.payment import Bill, Indices

from ..scripted_words import on_words


@pytest.mark.parametrize(
    "scores",
    [[0, 0, 90], (0.0, 0.0, 90.5), np.array([0, 0, 90]), pd.Series([0, 0, 90.0]), pl.Series([0, 0, 90]),
     [Fraction(1, 3), 0, 90], [Decimal("0.5"), 1, 90.0], [10**30, 0, 10**30 + 90], range(0, 180, 90)],
)  # fmt: skip
def test_select_takes_any_row_of_numbers(scores: Any) -> None:
    assert discreet.select(scores, sensitivity=1, epsilon=4).value == len(scores) - 1


def test_select_names_its_candidates() -> None:
    release = discreet.select([0, 99], sensitivity=1, epsilon=1, candidates=["tea", "coffee"])
    assert release.value == "coffee"
    assert discreet.select({"tea": 0, "coffee": 99}, sensitivity=1, epsilon=1).value == "coffee"
    assert (
        discreet.select([0, 99], sensitivity=1, epsilon=1, candidates=np.array([7, 8])).value == 8
    )


def test_many_draws_cost_many_times() -> None:
    release = discreet.select([0, 99], sensitivity=1, epsilon="1/3", size=3)
    assert release.guarantee == BoundedRange(Fraction(1, 3), "add_remove").repeated(3)
    assert release.guarantee.pure == 1
    assert isinstance(release.value, np.ndarray)
    assert release.value.tolist() == [1, 1, 1]
    named = discreet.select({"a": 0, "b": 99}, spread=1, epsilon=1, size=2, neighbors="replace_one")
    assert named.value == ["b", "b"]
    assert named.guarantee == BoundedRange(Fraction(1), "replace_one").repeated(2)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("size", [1, np.int64(3), 300])
def test_samples_from_plain_scores_are_those_from_any(mechanism: str, size: int) -> None:
    """Arguments of such a call are settled once: the release is the same, by the same words."""
    terms: Any = {"sensitivity": 1, "mechanism": mechanism, "size": size, "epsilon": "1/3"}
    words = np.random.default_rng(3).integers(0, 2**64, 2000, dtype=np.uint64).tolist()
    settled, other, array = (
        on_words(words, partial(discreet.select, scores, **terms))
        for scores in ([3, 1, 2], (3, 1, 2), np.array([3, 1, 2]))
    )
    assert settled.value.tolist() == other.value.tolist() == array.value.tolist()
    assert settled.value.dtype == other.value.dtype
    for field in ("guarantee", "mechanism", "unit", "query", "candidates", "charged"):
        assert getattr(settled, field) == getattr(other, field) == getattr(array, field)


def test_samples_from_plain_scores_are_refused_alike() -> None:
    wrong: list[Any] = [{"size": 0}, {"size": 10**10}, {"size": 2.5}, {"size": 2, "epsilon": 0}]
    for terms in wrong:
        errors = list[Any]()
        several: list[Any] = [[3, math.nan], (3, math.nan)]
        for scores in several:
            with pytest.raises(DiscreetError) as caught:
                discreet.select(scores, **{"sensitivity": 1, "epsilon": 1, **terms})
            errors.append((type(caught.value), str(caught.value)))
        assert errors[0] == errors[1]
        assert errors[0][0] is not InvalidScores
    with pytest.raises(InvalidScores):
        discreet.select([3, math.nan], sensitivity=1, epsilon=1, size=2)


@pytest.mark.parametrize(
    ("mechanism", "guarantee"),
    [
        ("exponential", BoundedRange(Fraction(1), "add_remove")),
        ("permute_and_flip", LaplaceDP(Fraction(1), "add_remove")),
        ("noisy_max", LaplaceDP(Fraction(1), "add_remove")),
        (NoisyMax("gumbel"), BoundedRange(Fraction(1), "add_remove")),
    ],
)
def test_the_guarantee_is_the_mechanisms(mechanism: Any, guarantee: Any) -> None:
    release = discreet.select([0, 99], sensitivity=1, epsilon=1, mechanism=mechanism)
    assert release.guarantee == guarantee
    assert release.value == 1


def test_base2_names_the_epsilon_it_reaches() -> None:
    release = discreet.select([0, 99], sensitivity=1, epsilon=1, mechanism="base2")
    guarantee: Any = release.guarantee
    assert Fraction(1) - Fraction(1, 2**28) < guarantee.epsilon <= 1
    own: Any = discreet.select([0, 99], sensitivity=1, mechanism=Base2(Base2Eta(1, 1))).guarantee
    assert math.isclose(own.epsilon, 2 * math.log(2))
    assert own.epsilon > 2 * Fraction(math.log(2) - 1e-16)


def test_a_simulation_says_that_it_is_not_private() -> None:
    drawn = discreet.simulate(
        {"a": 0, "b": 2}, sensitivity=1, monotonic=True, epsilon=1, size=20_000
    )
    assert repr(drawn) == "Simulation(20000 draws, exponential; not private, do not publish)"
    assert abs(drawn.frequencies()["b"] - 1 / (1 + math.exp(-2))) < 0.02
    assert len(discreet.simulate([0, 1], sensitivity=1, epsilon=1).values) == 1000


def test_a_distribution_is_certified_and_private() -> None:
    law = discreet.distribution({"a": 0, "b": 2}, sensitivity=1, monotonic=True, epsilon=1)
    assert repr(law) == "Distribution(over 2 candidates; private, do not publish)"
    assert math.isclose(law.pmf()["b"], 1 / (1 + math.exp(-2)), rel_tol=1e-15)
    assert all(
        0 < high - low < Fraction(1, 2**64) for low, high in zip(law.lower, law.upper, strict=True)
    )
    assert discreet.distribution([0], sensitivity=1, epsilon=1).pmf() == {0: 1.0}
    many = discreet.distribution(
        list(range(200)), sensitivity=1, epsilon=1, mechanism="permute_and_flip"
    )
    assert abs(sum(many.pmf().values()) - 1) < 1e-12


BAD_TERMS: list[tuple[dict[str, Any], type[DiscreetError], str]] = [
    ({}, InvalidArgument, "how much privacy"),
    ({"epsilon": 0}, InvalidNumber, "epsilon must be greater than zero, got 0"),
    ({"epsilon": -1}, InvalidNumber, "epsilon must be greater than zero, got -1"),
    ({"epsilon": math.nan}, InvalidNumber, "epsilon must be a finite number"),
    ({"epsilon": "plenty"}, InvalidNumber, "epsilon must be a finite number .* got 'plenty'"),
    ({"rho": 0}, InvalidNumber, "rho must be greater than zero"),
    ({"scale": math.inf}, InvalidNumber, "scale must be a finite number"),
    (
        {"epsilon": 1, "rho": 1},
        InvalidArgument,
        "one of epsilon, rho and scale, got epsilon and rho",
    ),
    ({"epsilon": 1, "mechanism": "magic"}, UnknownName, "mechanism must be one of exponential, "),
    (
        {"epsilon": 1, "neighbors": "next door"},
        UnknownName,
        "neighbors must be one of add_remove, ",
    ),
]


class Untouchable:
    """Private data that nobody may look at."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"private data were touched: {name}")

    def __iter__(self) -> Any:
        raise AssertionError("private data were read")


@pytest.mark.parametrize(("terms", "error", "message"), BAD_TERMS)
def test_public_arguments_are_checked_before_private_data(
    terms: dict[str, Any], error: type[DiscreetError], message: str
) -> None:
    for ask in (
        lambda: discreet.select(Untouchable(), sensitivity=1, **terms),
        lambda: discreet.simulate(Untouchable(), sensitivity=1, **terms),
        lambda: discreet.distribution(Untouchable(), sensitivity=1, **terms),
        lambda: discreet.mode(Untouchable(), "column", candidates=["a"], **terms),
        lambda: discreet.mode("no such file.csv", "column", candidates=["a"], **terms),
        lambda: discreet.mode(Untouchable(), "column", unsafe_candidates_from_data=True, **terms),
    ):
        with pytest.raises(error, match=message):
            ask()


@pytest.mark.parametrize("size", [0, 1.5])
def test_a_size_is_checked_before_private_data(size: Any) -> None:
    for ask in (discreet.select, discreet.simulate, discreet.distribution):
        with pytest.raises(InvalidNumber, match="size must be a whole number from 1 to"):
            ask(Untouchable(), sensitivity=1, epsilon=1, size=size)
    for data in (Untouchable(), "no such file.csv"):
        for terms in ({"candidates": ["a"]}, {"unsafe_candidates_from_data": True}):
            with pytest.raises(TypeError, match="a verb over data gives one answer"):
                discreet.mode(data, "column", epsilon=1, size=size, **terms)  # type: ignore[call-overload]


@pytest.mark.parametrize("sensitivity", [0, -1, math.nan, math.inf, "one", None])
def test_sensitivity_is_checked_before_private_data(sensitivity: Any) -> None:
    with pytest.raises(InvalidArgument, match="sensitivity"):
        discreet.select(Untouchable(), sensitivity=sensitivity, epsilon=1)


def test_candidates_are_checked_before_private_data() -> None:
    for candidates in ([], ["a", "a"], "abc", [None], [math.nan], [[1]], 5):
        with pytest.raises(InvalidCandidates, match="candidates must"):
            discreet.select(Untouchable(), sensitivity=1, epsilon=1, candidates=candidates)  # type: ignore[arg-type]
        if candidates in ([None], [math.nan]):
            continue  # of a column they are the records without a value
        with pytest.raises(InvalidCandidates, match="candidates must"):
            discreet.mode(Untouchable(), "c", candidates=candidates, epsilon=1)  # type: ignore[arg-type]


def test_lengths_must_agree() -> None:
    with counted_work() as work, pytest.raises(InvalidScores, match="3 candidates but 2 scores"):
        discreet.select([1, 2], sensitivity=1, epsilon=1, candidates=["a", "b", "c"])
    assert work.words == 0
    with pytest.raises(InvalidCandidates, match=r"[Ll]eave out candidates"):
        discreet.select({"a": 1}, sensitivity=1, epsilon=1, candidates=["a"])


def test_an_argument_that_does_not_exist_is_named() -> None:
    with pytest.raises(TypeError, match="unexpected argument 'epsilom'"):
        discreet.select([1], sensitivity=1, epsilom=1)  # type: ignore[call-overload]


@pytest.mark.parametrize("verb", [discreet.select, discreet.mode])
def test_help_spells_out_the_terms(verb: Any) -> None:
    parameters = inspect.signature(verb).parameters
    terms = list(parameters)[list(parameters).index("epsilon") :]
    of_scores = {"size"} if verb is discreet.select else set()
    of_tables = ("where", "by", "groups", "max_groups", "groups_share", "delta", "most_drawn")
    shared = [
        "epsilon",
        "rho",
        "scale",
        "mechanism",
        "neighbors",
        "privacy_unit",
        "ledger",
        "request",
    ]
    assert [name for name in terms if name not in {*of_tables, *of_scores}] == shared
    assert of_scores <= {*terms}
    assert "size" in of_scores or "size" not in terms
    assert parameters["mechanism"].default == "exponential"


@pytest.mark.parametrize(
    ("verb", "terms"),
    [
        (discreet.simulate, ["epsilon", "rho", "scale", "mechanism", "neighbors", "size"]),
        (discreet.distribution, ["epsilon", "rho", "scale", "mechanism", "neighbors"]),
        (discreet.compare, ["epsilons", "mechanisms", "neighbors"]),
    ],
)
def test_help_names_no_payer_where_nothing_is_released(verb: Any, terms: list[str]) -> None:
    assert list(inspect.signature(verb).parameters)[-len(terms) :] == terms


def test_labels_look_like_labels() -> None:
    assert repr(Labels(["a", "b"])) == "Labels(['a', 'b'], 2 in all)"
    assert repr(Labels(range(9))) == "Labels([0, 1, 2, 3, 4, ...], 9 in all)"
    assert Labels(np.array([1, 2]))[0] == 1


@pytest.mark.parametrize("monotonic", ["False", "yes", 1, None])
def test_flags_are_true_or_false(monotonic: Any) -> None:
    with pytest.raises(InvalidArgument, match="monotonic must be True or False"):
        discreet.select([1, 2], sensitivity=1, epsilon=1, monotonic=monotonic)
    with pytest.raises(InvalidArgument, match="unsafe_candidates_from_data must be True or False"):
        discreet.mode(
            pl.DataFrame({"status": ["a"]}),
            "status",
            unsafe_candidates_from_data=monotonic,
            epsilon=1,
        )


def test_what_has_no_order_is_refused() -> None:
    with pytest.raises(InvalidScores, match="in order, got a set"):
        discreet.select({1.0, 2.0}, sensitivity=1, epsilon=1)
    with pytest.raises(InvalidCandidates, match="in the order of their scores"):
        discreet.select([1, 2], sensitivity=1, epsilon=1, candidates={"a", "b"})
    with pytest.raises(InvalidScores, match="in order, got a numpy"):
        discreet.select(np.ma.masked_array([1, 2], [False, True]), sensitivity=1, epsilon=1)


def test_a_labelled_series_names_its_candidates() -> None:
    votes = pd.Series(["tea"] * 3 + ["coffee"] * 400).value_counts()
    assert discreet.select(votes, sensitivity=1, epsilon=1).value == "coffee"
    assert discreet.select(pd.Series([3, 400]), sensitivity=1, epsilon=1).value == 1


def test_arguments_in_the_wrong_place_are_not_shown() -> None:
    secret = pl.DataFrame({"name": ["Xylophagous"]})
    ask: Callable[[], Any]
    for ask in (
        lambda: discreet.mode(secret, "name", candidates=secret, epsilon=1),
        lambda: discreet.mode(secret, ["Xylophagous"], candidates=["a"], epsilon=1),
        lambda: discreet.mode(secret, "name", candidates=["a"], epsilon=secret["name"]),  # type: ignore[call-overload]
        lambda: discreet.mode(secret, "name", candidates=[["Xylophagous"]], epsilon=1),
        lambda: discreet.mode(  # type: ignore[call-overload]
            secret,
            "name",
            candidates=["a"],
            epsilon=1,
            neighbors=["Xylophagous"],
        ),
        lambda: discreet.mode(secret, "name", candidates=["a"], epsilon=1, mechanism=secret),  # type: ignore[call-overload]
        lambda: discreet.select(secret, sensitivity=1, epsilon=1),
    ):
        with pytest.raises(DiscreetError) as caught:
            ask()
        assert "Xylophagous" not in str(caught.value)


@pytest.mark.parametrize("epsilon", ["1e400", "1e-301", 10**301])
def test_absurd_amounts_of_privacy_are_refused(epsilon: Any) -> None:
    with pytest.raises(InvalidNumber, match="epsilon must be between 1e-300 and 1e300"):
        discreet.select([1, 2], sensitivity=1, epsilon=epsilon)
    assert str(discreet.select([1], sensitivity=1, epsilon="1e-300")).startswith("0 [ε ≤ 1")


def test_what_numpy_is_told_about_underflow_changes_nothing() -> None:
    with np.errstate(all="raise"):
        for mechanism in ("exponential", "permute_and_flip", "noisy_max", "base2"):
            scores = [0.0, 1e-310, 1e308, -1e308]
            assert discreet.select(scores, sensitivity=1, epsilon=1, mechanism=mechanism).value == 2


@pytest.mark.parametrize(
    "mechanism", [None, 1, object(), discreet.mechanisms.Exponential, "Exponential"]
)
def test_what_is_no_mechanism_is_refused(mechanism: Any) -> None:
    with pytest.raises(UnknownName, match="mechanism must be"):
        discreet.select([1, 2], sensitivity=1, epsilon=1, mechanism=mechanism)


@pytest.mark.parametrize("scores", [[3, 1, 2], [0.5, -0.25, 7.5]])
def test_names_change_nothing_about_the_draw(scores: list[Any]) -> None:
    """The same word is the same answer, with names or without, paid or not."""
    names = ["a", "b", "c"]
    mapping = dict(zip(names, scores, strict=True))
    ledger = discreet.Ledger()
    ledger.open("drinks", epsilon=1000)
    session, terms = ledger.session("drinks"), {"sensitivity": 1, "epsilon": 1}
    answers = set()
    for seed in range(200):
        word = int(np.random.default_rng(seed).integers(2**64, dtype=np.uint64))
        index = on_words([word], partial(discreet.select, scores, **terms)).value
        for labelled in (
            partial(discreet.select, mapping, **terms),
            partial(discreet.select, scores, candidates=names, **terms),
            partial(discreet.select, mapping, ledger=session, **terms),
        ):
            assert on_words([word], labelled).value == names[index]
        answers.add(index)
    assert len(answers) > 1


@pytest.mark.parametrize("unit", ["ns", "ps"])
@pytest.mark.parametrize("kind", ["m8", "M8"])
def test_times_are_no_scores_whatever_they_are(kind: str, unit: str) -> None:
    """Else a refusal, which costs nothing, would tell whether all of them are short."""
    for numbers in ([1, 2, 3], [1, 2**54, 3], list(range(101))):
        times = np.array(numbers, dtype=f"{kind}[{unit}]")
        with pytest.raises(InvalidScores, match="got an array of type"):
            discreet.select(times, sensitivity=1, epsilon=1)
        with pytest.raises(InvalidScores, match="got an array of type"):
            discreet.select(times, sensitivity=1, epsilon=1, candidates=list(map(str, numbers)))


@pytest.mark.parametrize("change", [list.clear, lambda scores: scores.append(1e9)])
@pytest.mark.parametrize("terms", [{}, {"candidates": ["a", "b", "c"]}])
def test_what_is_drawn_from_is_what_was_checked_before_the_charge(
    change: Callable[[list[int]], object], terms: dict[str, Any]
) -> None:
    scores = [1, 2, 300]
    ledger = discreet.Ledger(checkpoints=lambda end: change(scores) if end.number > 1 else None)
    ledger.open("drinks", epsilon=1)
    session = ledger.session("drinks")
    answer = discreet.select(scores, sensitivity=1, epsilon=1, ledger=session, **terms)
    assert answer.value == terms.get("candidates", [0, 1, 2])[2]


@pytest.mark.parametrize(
    "choose",
    [
        discreet.select,
        partial(discreet.select, gap=True),
        partial(discreet.select, mechanism="noisy_max", gap=True),
        partial(discreet.select, size=1),
        partial(discreet.select_top_k, k=1),
        lambda scores, **terms: discreet.selector(**terms)(scores),
        lambda scores, **terms: discreet.select_by(
            lambda *_: scores, [], range(70_000), error=0, **terms
        ),
        lambda scores, **terms: discreet.select_rows(scores[None], **terms),
        lambda scores, **terms: discreet.select_rows([scores], **terms),
    ],
)
def test_an_array_that_changes_after_the_charge_is_drawn_from_as_it_was_checked(
    choose: Callable[..., Any],
) -> None:
    scores = np.zeros(70_000)  # so many that an answer is looked up in the numbers themselves
    scores[12_345] = 1e6

    class Account:
        def buy(self, bill: Bill, prepare: Callable[[], Callable[[], Indices]]) -> Indices:
            draw = prepare()
            scores[:] = 0
            scores[-1] = np.inf
            return draw()

    answer = choose(scores, sensitivity=1, epsilon=1, ledger=Account()).value
    assert np.ravel(np.asarray(answer)).tolist() == [12_345]


@pytest.mark.parametrize(
    "as_given", [list, tuple, np.array, lambda scores: dict(enumerate(scores))]
)
def test_an_account_sees_no_scores_in_the_words_of_a_draw(as_given: Callable[[Any], Any]) -> None:
    words: list[str] = []

    class Account:
        def buy(self, bill: Bill, prepare: Callable[[], Callable[[], Indices]]) -> Indices:
            draw = prepare()
            words.extend(map(repr, (bill, prepare, draw)))
            return draw()

    choose = discreet.selector(3, sensitivity=1, epsilon=1)
    for numbers in ([123456, 2, 3], [123456.5, 2.5, 3.5]):
        discreet.select(as_given(numbers), sensitivity=1, epsilon=1, ledger=Account())
        choose(numbers, ledger=Account())
    assert len(words) == 12
    assert not any("123456" in text for text in words)
