"""Budgets per year, quarter or month: a release opens none, and the owner one per period and no more."""

import datetime as dt
from collections import defaultdict
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet import Ledger
from discreet.errors import Exhausted, InvalidArgument
from discreet.ledger import periods
from discreet.ledger.periods import Period, this_period
from discreet.tables.datasets.model import PERIODS as PER

from .test_bindings import people


class Clock:
    """The clock of this machine, as a test sets it."""

    def __init__(self, patch: pytest.MonkeyPatch, day: str) -> None:
        self.set(day)
        patch.setattr(periods, "today", lambda: self.day)

    def set(self, day: str) -> None:
        self.day = dt.date.fromisoformat(day)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch, "2026-11-22")


@pytest.mark.parametrize("per", PER)
def test_periods_of_one_kind_are_in_the_order_of_their_names(clock: Clock, per: str) -> None:
    """All days of nine years: a later day is of the same period, or of one whose name is greater."""
    found, first = [], dt.date(1999, 1, 1)
    for i in range(9 * 366):
        clock.day = first + dt.timedelta(i)
        found.append(this_period(per).name)
    assert found == sorted(found)
    begins = {"year": [(1, 1)], "quarter": [(m, 1) for m in (1, 4, 7, 10)]}
    for i, name in enumerate(found[1:], 1):
        day = first + dt.timedelta(i)
        is_first = (day.month, day.day) in begins.get(per, [(day.month, 1)])
        assert (name != found[i - 1]) == is_first


def test_an_ended_period_says_who_renews_and_a_release_opens_nothing(clock: Clock) -> None:
    ledger = Ledger()
    assert ledger.open(people(), epsilon=3, per="year").period == "2026"
    first = ledger.session(people()).median(people(), "age", epsilon=1, request="a")
    clock.set("2027-01-01")
    session = ledger.session(people())
    before = len(ledger.history())
    for charge in (
        lambda: session.median(people(), "age", epsilon=1),
        lambda: session.select([1, 2], sensitivity=1, epsilon=1, privacy_unit="user"),
        lambda: session.charge(
            discreet.privacy.PureDP(Fraction(1), "add_remove"), description="x", request="x", privacy_unit="user"
        ),
        lambda: session.quote(discreet.median, people(), "age", epsilon=1).check(),
    ):  # fmt: skip
        with pytest.raises(
            Exhausted, match=r"its year 2026 has ended.*: discreet ledger renew people"
        ):
            charge()
    with pytest.raises(InvalidArgument, match="cannot be extended: its year 2026 has ended"):
        ledger.extend(people(), epsilon=9)
    assert len(ledger.history()) == before
    quote = session.quote(discreet.median, people(), "age", epsilon=1)
    assert (quote.fits, quote.after) == (False, None)
    assert "cannot be charged: its year 2026 has ended" in str(quote)
    again = session.median(people(), "age", epsilon=1, request="a")
    assert (again.value, again.charged) == (first.value, False)


def test_it_is_renewed_when_the_period_has_ended_and_not_before(clock: Clock) -> None:
    ledger = Ledger()
    ledger.open(people(), epsilon=3, per="year")
    for day in ("2026-12-31", "2025-01-01"):  # a clock that goes back ends nothing
        clock.set(day)
        with pytest.raises(
            InvalidArgument, match="the year 2026 of the budget of people has not ended"
        ):
            ledger.renew(people())
    with pytest.raises(InvalidArgument, match="is per year: leave out the period"):
        ledger.renew(people(), "2027")
    clock.set("2028-06-01")
    new = ledger.renew(people())
    assert (new.dataset, new.period, str(new.total)) == ("people 2028", "2028", "ε = 3")
    with pytest.raises(InvalidArgument, match="the year 2028 of the budget of people 2028 has not"):
        ledger.renew(people())
    ledger.session(people()).median(people(), "age", epsilon=3)
    with pytest.raises(Exhausted, match="it was renewed, and releases are charged to people 2028"):
        ledger.session("people").median(people(), "age", epsilon=1)
    assert [(b.name, b.period, b.is_current) for b in ledger.budgets()] == [
        ("people", "2026", False), ("people 2028", "2028", True),
    ]  # fmt: skip
    ledger.extend(people(), epsilon=4)
    with pytest.raises(InvalidArgument, match="it was renewed"):
        ledger.extend("people", epsilon=4)
    clock.set("2029-01-01")
    assert ledger.renew(people(), per="month", epsilon=1).name == "people 2029-01"
    clock.set("2029-02-01")
    assert ledger.renew(people()).name == "people 2029-02"
    ledger.verify()


def test_a_period_is_declared_later_and_not_changed_meanwhile(clock: Clock) -> None:
    ledger = Ledger()
    ledger.open(people(), epsilon=3)
    with pytest.raises(InvalidArgument, match="has no calendar period"):
        ledger.renew(people())
    for _ in range(2):
        assert ledger.open(people(), epsilon=3, per="quarter").period == "2026-Q4"
    assert [event.kind for event in ledger.history()] == ["opened", "described", "described"]
    with pytest.raises(InvalidArgument, match="was opened per quarter, not per year"):
        ledger.open(people(), epsilon=3, per="year")
    wider = people(columns={"age": {"type": "integer", "minimum": 0, "maximum": 130}})
    ledger.session(wider).median(wider, "age", epsilon=1)  # an edited column is an event
    clock.set("2027-01-01")
    with pytest.raises(Exhausted, match="2026-Q4 has ended"):
        ledger.session(wider).median(wider, "age", epsilon=1)
    ledger.renew(wider)
    assert [b.standing for b in ledger.budgets()] == ["2026-Q4, renewed", "2027-Q1"]
    for wrong in ("day", "", 1):
        with pytest.raises(InvalidArgument, match="per must be one of year, quarter, month"):
            ledger.open(people(), epsilon=3, per=wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="go with a described dataset"):
        ledger.open("other", epsilon=3, per="year")


steps = st.lists(
    st.one_of(st.integers(-40, 400), st.sampled_from(["renew", "ask", "old", "open"])), max_size=12
)


@given(steps)
def test_whatever_the_clock_says_the_sum_of_the_periods_bounds_all_releases(script: Any) -> None:
    """Any sequence of clocks, questions and renewals: each period pays at most its total, and has one budget."""
    with pytest.MonkeyPatch.context() as patch:
        clock, ledger = Clock(patch, "2026-11-22"), Ledger()
        ledger.open(people(), epsilon=2, per="year")
        paid: dict[str, int] = defaultdict(int)
        for step in script:
            try:
                if isinstance(step, int):
                    clock.day += dt.timedelta(step)
                elif step == "renew":
                    ledger.renew(people())
                elif step == "open":
                    ledger.open(people(), epsilon=2, per="year")
                else:
                    whose = people() if step == "ask" else "people"
                    ledger.session(whose).select([1], sensitivity=1, epsilon=1, privacy_unit="user")
                    paid[this_period("year").name] += 1
            except (Exhausted, InvalidArgument):
                pass
        found = ledger.budgets()
        names = [one.period for one in found]
        assert len(set(names)) == len(names)
        assert max(paid.values(), default=0) <= 2 or clock_went_back(script)
        assert ledger.spent(people()).epsilon == sum(paid.values()) <= 2 * len(names)
        assert [one.is_current for one in found] == [False] * (len(found) - 1) + [True]


def clock_went_back(script: Any) -> bool:
    return any(isinstance(step, int) and step < 0 for step in script)


def test_a_period_is_compared_by_its_kind(clock: Clock) -> None:
    assert Period("year", "2025").has_ended
    assert not Period("month", "2026-11").has_ended
    assert not Period("quarter", "2026-Q4").has_ended
    assert Period("quarter", "2026-Q3").has_ended
