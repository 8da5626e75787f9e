"""Failures: events that stand for answers, close a dataset for its analyst, and are read by nobody else."""

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet import Dataset
from discreet.errors import (
    Exhausted,
    InvalidArgument,
    LedgerCorrupt,
    LedgerError,
    RequestConflict,
    Unanswerable,
    UnknownBudget,
)
from discreet.ledger import Amount, Ledger, Session
from discreet.ledger.budget import new_budget
from discreet.ledger.delays import Timing
from discreet.ledger.failed_questions import Allowance, QuestionFailed, least_cost
from discreet.ledger.ledger import session_of
from discreet.ledger.purchase import ChargeTerms
from discreet.selection.payment import Indices

from ..ledgers import answering, bill, undrawn, untouched

SECRET = "SECRET-VALUE"
AT = "2026-01-01T00:00:0{}.000000+00:00"


def failing() -> Callable[[], Indices]:
    """A `prepare` whose draw fails because of the data."""

    def draw() -> Indices:
        raise QuestionFailed(Unanswerable("the owner may see why"))

    return draw


def opened(where: Any = None) -> Ledger:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=9)
    for analyst in ("a", "b"):
        ledger.open("adult", analyst=analyst, epsilon=3)
    return ledger


def session(ledger: Ledger, analyst: str | None = "a", most: int = 1, **terms: Any) -> Session:
    """Return the session of an analyst of a service."""
    (budget,) = [b for b in ledger.budgets() if b.is_current and b.analyst == analyst]
    allowance = None if analyst is None else Allowance("adult", analyst, most, **terms)
    return session_of(ledger, budget, ChargeTerms(allowance=allowance))


def fail(asker: Session, request: str) -> None:
    with pytest.raises(Unanswerable) as caught:
        asker.buy(bill("1/4", request), failing)
    assert caught.value.charged is True


def test_a_failure_stands_for_the_answer(where: str) -> None:
    ledger = opened(where)
    fail(session(ledger), "r")
    assert [e.kind for e in ledger.history()[-2:]] == ["charged", "failed"]
    for asker in (session(ledger), ledger.session("adult", "a"), session(Ledger(where))):
        with pytest.raises(Unanswerable, match="failed before") as again:
            asker.buy(bill("1/4", "r"), untouched)
        assert again.value.charged is True
        with pytest.raises(RequestConflict, match="was another question"):
            asker.buy(bill("1/2", "r", digest="2:" + "cd" * 32), untouched)
    assert ledger.verify().events == 5
    assert ledger.history()[-1].body == {"failures": 1, "reason": "the data"}
    assert ledger.history()[-1].request == "r"
    assert str(ledger.spent("adult", "a").epsilon) == "1/4"


def test_it_is_charged_once_and_tells_no_reason(tmp_path: Path) -> None:
    def draw() -> Indices:
        raise QuestionFailed(ValueError(SECRET))

    ledger = opened(tmp_path / "budget.db")
    with pytest.raises(ValueError, match=SECRET) as caught:
        session(ledger).buy(bill("1/4", "r"), lambda: draw)
    frames = [f.name for f in __import__("traceback").extract_tb(caught.value.__traceback__)]
    assert "draw" not in frames
    assert (caught.value.__context__, caught.value.__cause__) == (None, None)
    assert SECRET not in str([e.as_dict() for e in ledger.history()])


def test_a_dataset_is_closed_for_its_analyst_alone(where: str) -> None:
    ledger = opened(where)
    fail(session(ledger), "r")
    for asker in (session(ledger), session(Ledger(where))):
        with pytest.raises(
            Exhausted, match=r"closed after 1 failure\. The owner opens .* reopen adult --analyst a"
        ):
            asker.buy(bill("1/4", "new"), untouched)
        quote = asker.quoted([bill("1/4")])
        assert not quote.fits
        assert "closed after 1 failure" in str(quote.closed)
    assert session(ledger, "b").buy(bill("1/4", "r"), answering(1)) == 1
    assert session(ledger, None).buy(bill("1/4", "r"), answering(1)) == 1
    with pytest.raises(Unanswerable):  # a stored failure leaves as before
        session(ledger).buy(bill("1/4", "r"), untouched)


def test_a_stored_answer_is_given_though_it_is_closed() -> None:
    ledger = opened()
    session(ledger).buy(bill("1/4", "before"), answering(7))
    fail(session(ledger), "r")
    assert session(ledger).buy(bill("1/4", "before"), untouched) == 7


def test_the_owner_never_closes() -> None:
    ledger = opened()
    for i in range(3):
        fail(session(ledger, None), f"{i}")
    assert session(ledger, None).buy(bill("1/4"), answering(1)) == 1
    assert ledger.reopen("adult") == []
    assert ledger.verify().events == 3 + 3 * 2 + 2


def test_what_was_paid_is_not_read_while_it_is_closed(where: str) -> None:
    """Its repetition could fail too: nothing is read for an analyst for whom a dataset is closed."""
    ledger = opened(where)
    asker = session(ledger)

    def stopped() -> Callable[[], Indices]:
        def draw() -> Indices:
            raise KeyboardInterrupt

        return draw

    with suppress(KeyboardInterrupt):
        asker.buy(bill("1/4", "paid"), stopped)
    assert ledger.history()[-1].kind == "charged"  # a stop is no failure
    fail(asker, "r")
    with pytest.raises(Exhausted, match="closed"):
        asker.buy(bill("1/4", "paid"), untouched)
    ledger.reopen("adult", analyst="a")
    before = ledger.budgets()
    assert asker.buy(bill("1/4", "paid"), answering(4)) == 4
    assert ledger.budgets() == before


def test_so_many_failures_as_the_owner_allows() -> None:
    ledger = opened()
    for i in range(3):
        fail(session(ledger, most=3), f"{i}")
    with pytest.raises(Exhausted):
        session(ledger, most=3).buy(bill("1/4"), untouched)
    assert session(ledger, most=4).buy(bill("1/4"), answering(0)) == 0
    assert [e.body["failures"] for e in ledger.history() if e.kind == "failed"] == [1, 2, 3]


def test_the_owner_opens_again_for_one_or_for_all(where: str) -> None:
    ledger = opened(where)
    for analyst in ("a", "b"):
        fail(session(ledger, analyst), "r")
    assert [s.analyst for s in ledger.reopen("adult", analyst="a")] == ["a"]
    assert session(ledger).buy(bill("1/4", "x"), answering(0)) == 0
    with pytest.raises(Exhausted):
        session(ledger, "b").buy(bill("1/4", "x"), untouched)
    fail(session(ledger), "y")
    assert [s.analyst for s in ledger.reopen("adult")] == ["a", "b"]
    assert ledger.reopen("adult") == []
    for analyst in ("a", "b"):
        assert session(ledger, analyst).buy(bill("1/4", "z"), answering(0)) == 0
    with pytest.raises(UnknownBudget):
        ledger.reopen("nothing")
    with pytest.raises(UnknownBudget):
        ledger.reopen("adult", analyst="nobody")
    assert Ledger(where).verify().events == ledger.history()[-1].number


def test_a_renewal_opens_nothing() -> None:
    ledger = Ledger()
    people = Dataset([{"n": 1}], {"n": {"type": "integer"}}, name="adult")
    ledger.open(people, epsilon=9)
    ledger.open(people, analyst="a", epsilon=3)
    fail(session(ledger), "r")
    ledger.renew(people, "2027", shares={"a": {"epsilon": 2}})
    with pytest.raises(Exhausted, match="closed after 1 failure"):
        session(ledger).buy(bill("1/4"), untouched)
    assert [share.name for share in ledger.reopen(people)] == ["adult 2027 / a"]
    assert session(ledger).buy(bill("1/4"), answering(0)) == 0
    fail(session(ledger), "s")
    assert [e.body["failures"] for e in ledger.history() if e.kind in ("failed", "reopened")] == [
        1,
        0,
        1,
    ]
    ledger.verify()


def test_times_are_those_that_are_given() -> None:
    ledger = opened()
    (budget,) = [b for b in ledger.budgets() if b.analyst == "a"]
    asker = session_of(
        ledger, budget, ChargeTerms(AT.format(1), Timing("", stored_at=AT.format(2)))
    )
    asker.buy(bill("1/4", "x"), answering(0))
    fail(asker, "y")
    assert [e.at for e in ledger.history()[3:]] == [AT.format(1), AT.format(2)] * 2
    alone = session_of(ledger, budget, ChargeTerms(AT.format(3)))
    alone.buy(bill("1/4", "z"), answering(0))
    assert {e.at for e in ledger.history()[-2:]} == {AT.format(3)}


def test_whoever_stores_first_is_right(where: str) -> None:
    """Two processes ask the same: one fails, one answers; both say what was stored first."""
    ledger = opened(where)

    def answered_meanwhile() -> Callable[[], Indices]:
        def draw() -> Indices:
            ledger.session("adult", "a").buy(bill("1/4", "r"), answering(5))
            raise QuestionFailed(Unanswerable("too late"))

        return draw

    assert session(ledger).buy(bill("1/4", "r"), answered_meanwhile) == 5

    def failed_meanwhile() -> Callable[[], Indices]:
        def draw() -> Indices:
            fail(session(Ledger(where)), "s")
            return 6

        return draw

    with pytest.raises(Unanswerable, match="failed before") as caught:
        session(ledger).buy(bill("1/4", "s"), failed_meanwhile)
    assert caught.value.charged is True
    assert [e.kind for e in ledger.history()[3:]] == ["charged", "answered", "charged", "failed"]
    ledger.verify()


def test_a_failure_that_cannot_be_stored_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = opened()
    asker = session(ledger)

    def unwritable() -> Callable[[], Indices]:
        def draw() -> Indices:
            monkeypatch.setattr("discreet.ledger.purchase.new_failure", broken)
            raise QuestionFailed(Unanswerable("because of the data"))

        return draw

    def broken(*_: object) -> Any:
        raise LedgerError("a full disk")

    with pytest.raises(LedgerError) as caught:
        asker.buy(bill("1/4", "r"), unwritable)
    assert caught.value.charged is True
    monkeypatch.undo()
    assert asker.buy(bill("1/4", "r"), answering(3)) == 3


def test_a_question_that_costs_less_than_the_least_is_refused_before_anything_is_read() -> None:
    ledger = opened()
    asker = session(ledger, least=Amount(Fraction(1, 8)))
    with pytest.raises(
        InvalidArgument,
        match=r"this costs ε = 1/9.* at least ε = 0\.125: ask with a larger epsilon",
    ) as caught:
        asker.buy(bill("1/9", "r"), untouched)
    assert caught.value.is_public
    assert caught.value.charged is False
    assert len(ledger.history()) == 3
    assert asker.buy(bill("1/8", "r"), answering(2)) == 2
    ledger.session("adult", "a").buy(bill("1/9", "cheap"), answering(2))
    assert asker.buy(bill("1/9", "cheap"), untouched) == 2  # what is stored is given


@pytest.mark.parametrize(
    ("declared", "named", "least", "questions"),
    [
        (None, None, Fraction(3, 1000), 1000),
        (Fraction(1, 2), None, Fraction(1, 2), 6),
        (Fraction(2), Fraction(1, 4), Fraction(1, 4), 12),
        (None, Fraction(1, 2000), Fraction(1, 2000), 6000),
        (None, Fraction(1), Fraction(3, 1000), 1000),
        (Fraction(2, 7), None, Fraction(2, 7), 10),
    ],
)
def test_the_least_is_declared_or_a_thousandth_or_the_cheapest_named_question(
    declared: Fraction | None, named: Fraction | None, least: Fraction, questions: int
) -> None:
    in_epsilon: Callable[[Any], Amount] = Amount
    for of in (in_epsilon, lambda number: Amount(rho=number)):
        share = new_budget("adult", "a", "add_remove", of(Fraction(3)))
        amount = least_cost(share, of(declared), of(named))
        assert amount == of(least)
        assert Allowance("adult", "a", 1, amount).questions(share) == questions


def test_no_share_pays_for_more_questions_than_are_counted() -> None:
    """Whatever counts, ε and ρ or one of them: N questions at the least, and not one more."""
    ledger = Ledger()
    ledger.open("adult", epsilon=9, delta="1e-6", delta_for="composition")
    ledger.open("adult", analyst="a", epsilon=1, delta="1e-7", delta_for="composition")
    (share,) = [b for b in ledger.budgets() if b.analyst == "a"]
    assert share.total.rho is not None
    least = least_cost(share, Amount(rho=share.total.rho / 4), Amount())
    allowance = Allowance("adult", "a", 1, least)
    assert allowance.questions(share) == 4
    asker = session_of(ledger, share, ChargeTerms(allowance=allowance))
    with pytest.raises(InvalidArgument, match="a larger rho"):
        asker.buy(bill("1/100"), untouched)
    bought = 0
    with suppress(Exhausted):
        while bought < 10:
            asker.buy(bill("1/9"), answering(0))
            bought += 1
    assert 0 < bought <= 4


def test_a_failure_that_was_edited_is_found(tmp_path: Path) -> None:
    where = tmp_path / "budget.db"
    ledger = opened(where)
    fail(session(ledger), "r")
    with closing(sqlite3.connect(where, isolation_level=None)) as file:
        [(trigger,)] = file.execute(
            "SELECT sql FROM sqlite_master WHERE name = 'discreet_no_update'"
        )
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            file.execute("UPDATE discreet_events SET body = '{}' WHERE kind = 'failed'")
        file.execute("DROP TRIGGER discreet_no_update")
        file.execute("UPDATE discreet_events SET body = '{\"failures\":0}' WHERE kind = 'failed'")
        file.execute(trigger)
    with pytest.raises(LedgerCorrupt):
        session(Ledger(where)).buy(bill("1/4", "new"), undrawn)
    with pytest.raises(LedgerCorrupt):
        Ledger(where).verify()
