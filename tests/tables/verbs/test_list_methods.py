"""The choice among the methods of a list: by public numbers alone, at the same charge, and obeying the caller."""

from fractions import Fraction
from typing import Any

import pytest

import discreet
from discreet.cli import run
from discreet.ledger import Ledger
from discreet.mechanisms import Exponential
from discreet.mechanisms.accuracy import LISTED_RECORDS, LISTED_SCORE
from discreet.mechanisms.contract import PrivacyParameter
from discreet.mechanisms.peeling import Peeling
from discreet.mechanisms.top_counts import TopCounts
from discreet.privacy.sensitivity import Neighbors, sensitivity_of
from discreet.selection.verb_calls import bill_of
from discreet.tables.verbs.list_methods import (
    CountsOffer,
    MethodChoice,
    PublicNumbers,
    choose_method,
)
from discreet.tables.verbs.noisy_numbers import NoisePrice

DRINKS = [f"drink {i}" for i in range(50)]
ROWS = {"drink": ["drink 1"] * 9, "user": ["u", "v", "w"] * 3}


def choose(
    n: int, k: int, moved: int | None, *, neighbors: Neighbors = "add_remove", **more: Any
) -> MethodChoice:
    parameter = PrivacyParameter(more.pop("kind", "epsilon"), Fraction(more.pop("value", "1/10")))
    sensitivity = sensitivity_of(1, neighbors, monotonic=neighbors == "add_remove")
    price = NoisePrice(parameter, neighbors, more.get("delta"), more.get("currency"))
    counts = None if moved is None else CountsOffer(moved, n, price)
    public = PublicNumbers(n, k, counts, sensitivity, parameter, moved == 1, **more)
    return choose_method(public)


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_counts_are_best_where_a_record_counts_for_fewer_than_about_k(neighbors: Neighbors) -> None:
    steps = 1 if neighbors == "add_remove" else 2
    for n, k in ((50, 5), (50, 20), (200, 20), (1000, 10)):
        assert choose(n, k, steps, neighbors=neighbors).method == "counts"
        assert choose(n, k, steps * (k // 3), neighbors=neighbors).method == "counts"
        assert choose(n, k, 2 * steps * k, neighbors=neighbors).method != "counts"


def test_by_rho_they_are_best_from_two_on() -> None:
    for value in ("1/100", "1"):
        by_k = {k: choose(50, k, 1, kind="rho", value=value).method for k in range(1, 12)}
        assert by_k.pop(1) == "peeling"
        assert set(by_k.values()) == {"counts"}
    best = choose(50, 20, 1, kind="rho", value="1/50")
    assert best.errors == {"peeling": 111, "joint": 384, "counts": 28}


@pytest.mark.parametrize("kind", ["epsilon", "rho"])
def test_for_one_value_they_are_never_better(kind: Any) -> None:
    """So `mode` adds noise to counts only where it is asked to."""
    for neighbors in ("add_remove", "replace_one"):
        sensitivity = sensitivity_of(1, neighbors, monotonic=neighbors == "add_remove")
        moved = 1 if neighbors == "add_remove" else 2
        for n in (2, 3, 50, 10**4):
            for value in ("1/100", "1/10", "1", "4"):
                parameter = PrivacyParameter(kind, Fraction(value))
                selected, counted = (
                    mechanism.error_below(n, sensitivity, parameter, Fraction(19, 20))
                    for mechanism in (Peeling(Exponential(), 1), TopCounts(1, moved))
                )
                assert selected is not None
                assert counted is not None
                assert selected <= counted


def test_the_sentence_has_the_bounds_of_all() -> None:
    best = choose(50, 20, 1)
    assert best.errors == {"peeling": 1977, "joint": 1536, "counts": 109}
    assert best.reason == (
        "counts: in 95 of 100 answers every place of the list is less than 109 records behind what should be "
        "there, whatever the data are (peeling 1,977, joint 1,536)"
    )
    assert choose(50, 2, None, delta=Fraction(1, 10**6)).reason == (
        "peeling: no other method serves here"
    )


def test_a_joint_draw_that_may_fill_the_memory_is_never_chosen() -> None:
    assert "joint" not in choose(10**5, 40, 10**5).errors
    assert choose(10**5, 40, 10**5).method == "peeling"


def test_nothing_is_preferred_where_the_charges_are_unlike() -> None:
    unlike: list[dict[str, Any]] = [
        {"currency": "rho"}, {"currency": "undecided"}, {"currency": "several"}, {"kind": "scale"},
        {"currency": "epsilon", "kind": "rho"},
    ]  # fmt: skip
    for terms in unlike:
        assert choose(50, 20, 1, **terms).method == "peeling"
        assert "charged unlike amounts" in choose(50, 20, 1, **terms).reason
    assert choose(50, 20, 1, currency="epsilon").method == "counts"
    assert choose(50, 20, 1, currency="rho", kind="rho").method == "counts"


def mechanism_of(**terms: Any) -> str:
    return bill_of(discreet.top_k, ROWS, "drink", candidates=DRINKS, k=10, **terms).mechanism


def test_a_call_takes_the_best_and_obeys() -> None:
    assert mechanism_of(epsilon=1) == "geometric"
    assert mechanism_of(epsilon=1, by="user", groups=["u"]) == "geometric"
    assert mechanism_of(epsilon=1, neighbors="replace_one") == "geometric"
    assert mechanism_of(epsilon=1, delta="1e-6") == "geometric"
    assert mechanism_of(rho=1) == "gaussian"
    assert mechanism_of(rho=3, method="counts") == "geometric"
    assert mechanism_of(epsilon=1, privacy_unit="user", max_candidates=3) == "geometric"
    assert mechanism_of(epsilon=1, privacy_unit="user") in (
        "peeling(exponential)", "joint_top_k(exponential)",
    )  # fmt: skip
    assert mechanism_of(epsilon=1, mechanism="exponential") == "peeling(exponential)"
    assert mechanism_of(epsilon=1, mechanism="permute_and_flip") == "peeling(permute_and_flip)"
    assert mechanism_of(epsilon=1, method="peeling") == "peeling(exponential)"
    assert mechanism_of(epsilon=1, method="joint") == "joint_top_k(exponential)"
    assert mechanism_of(scale=1) == "peeling(exponential)"
    assert mechanism_of(scale=1, method="counts") == "geometric"


def test_a_ledger_of_epsilon_pays_for_geometric_counts_by_rho() -> None:
    ledger = Ledger()
    ledger.open("d", epsilon=9)
    asked: dict[str, Any] = {"candidates": DRINKS, "k": 5, "rho": "1/9", "method": "counts"}
    assert ledger.session("d").top_k(ROWS, "drink", **asked).mechanism == "geometric"
    release = discreet.top_k(ROWS, "drink", **asked)
    assert (release.mechanism, release.guarantee.rho) == ("gaussian", Fraction(1, 9))
    assert release.counts == sorted(release.counts, reverse=True)


@pytest.mark.parametrize(
    ("budget", "terms", "mechanism"),
    [
        ({"epsilon": 9}, {"epsilon": 1}, "geometric"),
        ({"rho": 9}, {"epsilon": 1}, "peeling(exponential)"),
        ({"rho": 9}, {"rho": 1}, "gaussian"),
        ({"epsilon": 9, "delta": "1e-6", "delta_for": "questions"}, {"epsilon": 1}, "geometric"),
        ({"epsilon": 9, "delta": "1e-6", "delta_for": "composition"}, {"rho": "1/9"}, "gaussian"),
        (
            {"epsilon": 9, "delta": "1e-6", "delta_for": "composition"},
            {"epsilon": 1},
            "peeling(exponential)",
        ),
    ],
)
def test_what_is_quoted_is_asked_and_charged(
    budget: dict[str, Any], terms: dict[str, Any], mechanism: str
) -> None:
    ledger = Ledger()
    ledger.open("d", **budget)
    session = ledger.session("d")
    question = (discreet.top_k, ROWS, "drink")
    shared: dict[str, Any] = {"candidates": DRINKS, "k": 10, **terms}
    quote = session.quote(*question, **shared)
    batch = discreet.Batch().add("q", *question, **shared)
    releases = [session.top_k(ROWS, "drink", **shared), batch.run(session)["q"]]
    assert {release.mechanism for release in releases} == {mechanism}
    assert all((release.counts is None) == mechanism.startswith("peeling") for release in releases)
    spent = ledger.budgets()[0].spent
    assert (spent.epsilon, spent.rho) == tuple(
        None if one is None else 2 * one for one in (quote.cost.epsilon, quote.cost.rho)
    )


def test_a_named_question_has_the_method_that_it_says() -> None:
    node = discreet.connect(datasets={"people": ROWS})
    shared: dict[str, Any] = {"candidates": DRINKS, "k": 10, "epsilon": 1}
    node.allow("people", "old", discreet.top_k, "drink", **shared, method="peeling")
    node.allow("people", "new", discreet.top_k, "drink", **shared)
    by_name = {question.access: question.mechanism for question in node.questions()}
    assert by_name == {"old": "peeling(exponential)", "new": "geometric"}


def test_a_quote_tells_the_error_of_a_list() -> None:
    def worst(**terms: Any) -> Any:
        return bill_of(
            discreet.top_k, ROWS, "drink", candidates=DRINKS, epsilon="1/10", **terms
        ).worst_error

    assert (worst(k=20).error, worst(k=20).unit) == (109, LISTED_RECORDS)
    assert 1976 < worst(k=20, method="peeling").error <= 1977
    assert 1535 < worst(k=20, method="joint").error <= 1536
    assert "109 records at any place of the list" in str(worst(k=20))
    scores = bill_of(
        discreet.select_top_k, [1, 2, 3], k=2, sensitivity=1, epsilon=1, candidates=[1, 2, 3]
    )
    assert scores.worst_error is not None
    assert scores.worst_error.unit == LISTED_SCORE
    assert (
        bill_of(
            discreet.top_k, ROWS, "drink", candidates=DRINKS, k=3, epsilon=1, mechanism="base2"
        ).worst_error
        is None
    )


def test_the_command_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["plan", "--candidates", "50", "--epsilon", "0.1"]
    assert run([*words, "--k", "20"]) == 0
    assert capsys.readouterr().out.startswith("counts: in 95 of 100 answers")
    assert run([*words, "--k", "5", "--max-candidates", "9"]) == 0
    assert capsys.readouterr().out.startswith("peeling: ")
    assert run(["plan", "--candidates", "50", "--error", "3", "--k", "5"]) == 2
    assert "--epsilon" in capsys.readouterr().err
