"""The ledger: budgets that outlive the process, and requests that are answered once."""

import csv
import json
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import (
    Exhausted,
    InvalidArgument,
    InvalidNumber,
    LedgerUnwritable,
    UnknownBudget,
    UnknownName,
)
from discreet.ledger import Amount, Ledger, transaction
from discreet.privacy import ZCDP, BoundedRange, NoGuarantee, PureDP
from discreet.privacy.odometer import Odometer

from ..ledgers import answering, bill, untouched


def test_a_budget_outlives_the_process(where: str) -> None:
    Ledger(where).open("adult", epsilon=1)
    assert Ledger(where).session("adult").buy(bill("1/3"), answering(7)) == 7
    [budget] = Ledger(where).budgets()
    assert (budget.total, budget.spent, budget.remaining) == (
        Amount(Fraction(1)), Amount(Fraction(1, 3)), Amount(Fraction(2, 3)))  # fmt: skip


def test_three_thirds_fit_exactly_and_no_more(where: str) -> None:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")
    for answer in range(3):
        assert session.buy(bill("1/3"), answering(answer)) == answer
    with pytest.raises(
        Exhausted, match=r"cannot pay ε ≤ 1e-400: spent ε = 1 of ε = 1, remaining ε = 0"
    ) as refused:
        session.buy(bill(Fraction(1, 10**400)), untouched)
    assert refused.value.requested == Amount(Fraction(1, 10**400))
    assert (refused.value.spent, refused.value.remaining) == (
        Amount(Fraction(1)),
        Amount(Fraction(0)),
    )
    assert [event.kind for event in ledger.history()] == ["opened", *["charged", "answered"] * 3]


def test_what_is_very_small_counts(where: str) -> None:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    session, least = ledger.session("adult"), Fraction(1, 10**400)
    session.buy(bill(least), answering(0))
    assert ledger.budgets()[0].spent.epsilon == least
    with pytest.raises(Exhausted):
        session.buy(bill(1), untouched)
    session.buy(bill(1 - least), answering(0))
    assert ledger.budgets()[0].remaining.epsilon == 0


def test_where_a_budget_is_oversubscribed_a_release_must_fit_the_share_and_the_whole(
    where: str,
) -> None:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    ledger.open("adult", analyst="a", epsilon="1/2")
    ledger.open("adult", epsilon=1, oversubscribed=True)
    ledger.open("adult", analyst="b", epsilon=1)
    a, b = ledger.session("adult", "a"), ledger.session("adult", analyst="b")
    a.buy(bill("1/2"), answering(0))
    with pytest.raises(Exhausted, match="the budget of adult / a cannot pay"):
        a.buy(bill("1/4"), untouched)
    with pytest.raises(Exhausted, match="the budget of adult cannot pay"):
        b.buy(bill("3/4"), untouched)
    b.buy(bill("1/2"), answering(0))
    spent = {(budget.analyst, budget.spent.epsilon) for budget in ledger.budgets()}
    assert spent == {(None, Fraction(1)), ("a", Fraction(1, 2)), ("b", Fraction(1, 2))}
    half = PureDP(Fraction(1, 2), "add_remove")
    assert ledger.spent("adult") == Odometer("add_remove", ((half, 2),))
    assert ledger.spent("adult", "a") == Odometer("add_remove", ((half, 1),))


def test_a_quote_says_what_would_happen_and_pays_nothing() -> None:
    ledger = Ledger()
    ledger.open("adult", epsilon=1)
    ledger.open("adult", analyst="a", epsilon="1/2")
    session = ledger.session("adult", "a")
    quote = session.quoted([bill("1/3")])
    assert (quote.cost, quote.remaining, quote.fits) == (
        Amount(Fraction(1, 3)),
        Amount(Fraction(1, 2)),
        True,
    )
    assert (
        str(quote)
        == "costs ε = 1/3 of adult / a: spent ε = 0, remaining ε = 0.5; would leave ε = 1/6"
    )
    assert not session.quoted([bill("3/4")]).fits
    assert session.quoted([bill("3/4")]).remaining.epsilon == Fraction(1, 2)
    ledger.session("adult").buy(bill("1/2"), answering(0))
    quote = session.quoted([bill("1/3")])
    assert (quote.fits, quote.remaining.epsilon) == (True, Fraction(1, 2))
    assert len(ledger.history()) == 3 + 1


def test_opening_again_with_the_same_terms_changes_nothing() -> None:
    ledger = Ledger()
    first = ledger.open("adult", epsilon=1, delta="1e-6", delta_for="questions")
    ledger.session("adult").buy(bill("1/2"), answering(0))
    assert ledger.open("adult", epsilon="1", delta=1e-6).spent.epsilon == Fraction(1, 2)
    assert first.spent.epsilon == 0
    assert len(ledger.history()) == 3
    for terms in (
        {"epsilon": 2, "delta": "1e-6"},
        {"epsilon": 1},
        {"rho": 1},
        {"epsilon": 1, "delta": 0.1},
        {"epsilon": 1, "delta": "1e-6", "delta_for": "composition"},
    ):
        with pytest.raises(InvalidArgument, match="To give it more, extend it"):
            ledger.open("adult", **terms)
    with pytest.raises(InvalidArgument, match=r"\(replace one record\). To give it more"):
        ledger.open("adult", epsilon=1, delta="1e-6", neighbors="replace_one")


def test_a_budget_can_be_extended_and_never_cut(where: str) -> None:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    ledger.session("adult").buy(bill(1), answering(0))
    assert ledger.extend("adult", epsilon=3).remaining.epsilon == 2
    ledger.session("adult").buy(bill(2), answering(0))
    for terms in ({"epsilon": 3}, {"epsilon": 2}, {"rho": 4}, {"epsilon": 4, "delta": "1e-6"}):
        with pytest.raises(
            InvalidArgument, match=r"to more of the same|so its total is too|has no delta yet"
        ):
            ledger.extend("adult", **terms)
    with pytest.raises(UnknownBudget):
        ledger.extend("census", epsilon=4)
    assert ledger.verify().events == 6


@pytest.mark.parametrize(
    ("terms", "error", "message"),
    [
        ({}, InvalidArgument, "give a budget as epsilon, as rho, or as epsilon and delta"),
        ({"epsilon": 1, "rho": 1}, InvalidArgument, "give a budget as"),
        ({"rho": 1, "delta": 0.1}, InvalidArgument, "give a budget as"),
        ({"epsilon": 0}, InvalidNumber, "epsilon must be greater than zero"),
        ({"rho": -1}, InvalidNumber, "rho must be greater than zero"),
        ({"epsilon": 1, "delta": 1}, InvalidNumber, "delta must be below one"),
        ({"epsilon": "1e-301"}, InvalidNumber, "epsilon must be between"),
        ({"rho": "1e301"}, InvalidNumber, "rho must be between"),
        ({"epsilon": "0." + "1" * 2000}, InvalidNumber, "and short"),
        ({"epsilon": 1, "neighbors": "user"}, UnknownName, "neighbors must be one of"),
        ({"epsilon": 1, "analyst": ""}, InvalidArgument, "analyst must be a printable name"),
    ],
)  # fmt: skip
def test_terms_that_make_no_budget(terms: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Ledger().open("adult", **terms)


@pytest.mark.parametrize("name", ["", " adult", "a\nb", "a\0b", "\ud800", "x" * 201, None, 3])
def test_names_are_printable(name: Any) -> None:
    with pytest.raises(InvalidArgument, match="dataset must be a printable name"):
        Ledger().open(name, epsilon=1)
    with pytest.raises(InvalidArgument, match="dataset must be a printable name"):
        Ledger().session(name)


def test_who_is_not_known_is_not_served() -> None:
    ledger = Ledger()
    with pytest.raises(UnknownBudget, match=r"for the dataset 'adult'. There are none"):
        ledger.session("adult")
    ledger.open("survey", epsilon=1)
    with pytest.raises(UnknownBudget, match=r"for the dataset 'adult'. There are survey"):
        ledger.session("adult")
    with pytest.raises(UnknownBudget, match="open a budget for the dataset adult first"):
        ledger.open("adult", analyst="a", epsilon=1)
    ledger.open("adult", epsilon=1)
    with pytest.raises(UnknownBudget, match=r"'b' has no share of adult. These have one: none"):
        ledger.session("adult", "b")
    ledger.open("adult", analyst="a", epsilon=1)
    with pytest.raises(UnknownBudget, match="These have one: a"):
        ledger.session("adult", "b")
    with pytest.raises(UnknownBudget):
        ledger.spent("census")


def test_what_a_budget_cannot_count_is_refused_before_anything_is_looked_at() -> None:
    ledger = Ledger()
    ledger.open("pure", epsilon=1)
    ledger.open("replaced", epsilon=2, neighbors="replace_one")
    ledger.open("rho", rho=1)
    nothing = bill(guarantee=NoGuarantee("candidates were taken from the data", "add_remove"))
    for dataset in ("pure", "replaced", "rho"):
        with pytest.raises(InvalidArgument, match="candidates were taken from the data"):
            ledger.session(dataset).buy(nothing, untouched)
    with pytest.raises(InvalidArgument, match="counts epsilon, and this release"):
        ledger.session("pure").buy(bill(guarantee=ZCDP(Fraction(1, 8), "add_remove")), untouched)
    with pytest.raises(InvalidArgument, match="Ask the mechanism with neighbors='add_remove'"):
        ledger.session("pure").buy(bill(guarantee=PureDP(Fraction(1, 8), "replace_one")), untouched)
    ledger.session("replaced").buy(
        bill(1), answering(0)
    )  # one replaced is one removed and one added
    assert ledger.budgets()[1].spent.epsilon == 2
    ledger.session("rho").buy(bill(guarantee=ZCDP(Fraction(1, 8), "add_remove")), answering(0))
    ledger.session("rho").buy(bill(guarantee=BoundedRange(Fraction(1), "add_remove")), answering(0))
    rho = Fraction(1, 8) + BoundedRange(Fraction(1), "add_remove").rho
    assert ledger.budgets()[2].spent == Amount(rho=rho)


def test_history_and_exports(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("adult", epsilon=1)
    ledger.open("census", epsilon=1)
    ledger.session("adult").buy(bill("1/3", "monday"), answering([1, 2]))
    opened, _, charged, answered = ledger.history()
    assert [event.number for event in ledger.history("adult")] == [1, 3, 4]
    left: dict[str, object] = {
        "neighbors": "add_remove",
        "privacy_unit": None,
        "total": {"epsilon": "1"},
    }
    left["shares"] = "reserved"
    assert opened.body == {"neighbors": "add_remove", "total": {"epsilon": "1"}, "shares": "reserved",
                           "after": [{**left, "spent": {"epsilon": "0"}}]}  # fmt: skip
    assert charged.body["costs"] == [{"epsilon": "1/3"}]
    assert charged.body["after"] == [{**left, "spent": {"epsilon": "1/3"}}]
    assert charged.body["guarantee"] == PureDP(Fraction(1, 3), "add_remove").as_dict()
    assert (charged.request, answered.body) == ("monday", {"answer": [1, 2]})
    assert str(charged).endswith("charged adult most common value of drink, 3 candidates")
    ledger.export(tmp_path / "events.json")
    ledger.export(tmp_path / "events.csv")
    assert json.loads((tmp_path / "events.json").read_text()) == [
        e.as_dict() for e in ledger.history()
    ]
    with (tmp_path / "events.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["head"] for row in rows] == [event.head for event in ledger.history()]
    assert json.loads(rows[2]["body"]) == charged.body
    with pytest.raises(InvalidArgument, match=r"an export ends in \.json or \.csv"):
        ledger.export(tmp_path / "events.txt")
    with pytest.raises(LedgerUnwritable, match="cannot write"):
        ledger.export(tmp_path / "nowhere" / "events.json")


def test_in_words() -> None:
    ledger = Ledger()
    assert (
        str(ledger.open("adult", epsilon=1))
        == "adult: ε: 0 of 1 spent, 1 left (add/remove one record)"
    )
    assert str(ledger.open("adult", analyst="a", epsilon="1/8")) == (
        "adult / a: ε: 0 of 0.125 spent, 0.125 left (add/remove one record)"
    )
    terms: Any = {"epsilon": 1, "delta": "1e-6", "neighbors": "replace_one"}
    both = ledger.open("census", **terms, delta_for="composition")
    assert str(both).startswith("census: ρ: 0 of ≤ 0.0")
    assert str(both).endswith("(ε = 1 and δ = 0.000001 by composition, replace one record)")
    assert [each.kind for each in ledger.budgets()] == ["epsilon", "epsilon", "epsilon and delta"]
    session = ledger.session("census")
    session.buy(bill(guarantee=ZCDP(Fraction(1, 1000), "add_remove")), answering(0))
    each_has_one = ledger.open("each", **terms, delta_for="questions")
    assert str(each_has_one) == (
        "each: ε: 0 of 1 spent, 1 left and δ: 0 of 0.000001 spent, 0.000001 left (replace one record)"
    )
    assert repr(Ledger()) == "Ledger(in memory: no budgets)"
    assert repr(ledger).startswith(
        "Ledger(in memory: adult: ε: 0.125 of 1 spent, 0.875 left (add/remove one record); adult / a: ε"
    )
    assert repr(ledger.session("adult")) == "Session('adult': ε = 0.875 of ε = 1 left)"
    assert repr(ledger.session("adult", "a")) == (
        "Session('adult', analyst='a': ε = 0.125 of ε = 0.125 left)"
    )
    assert repr(session).startswith("Session('census': ρ ≥ 0.0")
    assert ledger.history()[2].as_dict()["dataset"] == "census"
    assert str(ledger.verify()).startswith("6 events, head ")


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "1970-01-01T00:00:00.000000+00:00"),
        (1_999, "1970-01-01T00:00:00.000001+00:00"),
        (1_780_000_000_000_042_000, "2026-05-28T20:26:40.000042+00:00"),
        (1_780_000_000_999_999_999, "2026-05-28T20:26:40.999999+00:00"),
        (1_780_000_001_000_000_000, "2026-05-28T20:26:41.000000+00:00"),
    ],
)
def test_events_have_the_time_of_the_clock_in_microseconds(
    nanoseconds: int, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time_ns", lambda: nanoseconds)
    assert transaction._now() == text
    assert transaction.time_text(datetime.fromisoformat(text)) == text
