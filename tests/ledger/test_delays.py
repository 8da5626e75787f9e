"""Delays double, stay until a reset, and are folded from the chain; readings and what is given up are counted."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from discreet.errors import DiscreetError, Exhausted, LedgerCorrupt, Unanswerable
from discreet.ledger import Ledger
from discreet.ledger.delays import MOST_GIVEN_UP, Delay, GivenUp, Timing, read_delay, reset_before
from discreet.ledger.failed_questions import Allowance
from discreet.ledger.ledger import delays_by_share, session_of
from discreet.ledger.purchase import ChargeTerms
from discreet.ledger.verification import Replay
from discreet.selection.payment import Indices

from ..ledgers import bill

DAY, NEXT = "2026-03-01T00:00:00.000000+00:00", "2026-03-02T00:00:00.000000+00:00"


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    found = Ledger(str(tmp_path / "budget.db"))
    found.open("adult", epsilon=100)
    found.open("adult", analyst="a", epsilon=50)
    return found


def delay(ledger: Ledger) -> Delay:
    """Return the delay of the analyst, as it was recorded last."""
    return delays_by_share(ledger, [b for b in ledger.budgets() if b.analyst])[0]


def ask(
    ledger: Ledger, request: str, factor: int, since: str = DAY, fails: Exception | None = None
) -> int:
    """Ask as a service does; return the delay that the reader was told. An answer needs so many units."""
    (share,) = [one for one in ledger.budgets() if one.analyst]
    timing = Timing(since)
    allowance = Allowance("adult", "a", since=since)
    terms = ChargeTerms(
        "2026-03-01T10:00:00+00:00", timing, allowance=allowance, charges_first=True
    )
    told: list[int] = []

    def prepare() -> Callable[[], Indices]:
        def draw() -> Indices:
            told.append(timing.factor)
            timing.factor, timing.stored_at = (
                max(timing.factor, factor),
                "2026-03-01T10:00:09+00:00",
            )
            if fails is not None:
                raise fails
            return 0

        return draw

    session_of(ledger, share, terms).buy(bill("1/4", request), prepare)
    return told[0]


def test_a_delay_stays_until_the_next_reset(ledger: Ledger, tmp_path: Path) -> None:
    assert ask(ledger, "a", 1) == 1
    assert ask(ledger, "b", 4) == 1
    assert [ask(ledger, request, 1) for request in "cd"] == [4, 4]
    assert ask(ledger, "e", 8) == 4
    assert delay(ledger) == Delay(8, 0, DAY)
    assert ask(Ledger(str(tmp_path / "budget.db")), "f", 1) == 8  # a restart forgets nothing
    assert ask(ledger, "g", 1, since=NEXT) == 1
    assert ask(ledger, "h", 2, since=NEXT) == 1
    assert ask(ledger, "i", 1, since=DAY) == 2  # nor does a clock that goes back
    assert delay(ledger) == Delay(2, 0, NEXT)
    kinds = [event.kind for event in ledger.history()]
    assert kinds.count("delayed") == 3
    assert ledger.verify().events == len(kinds)


def test_delays_are_stored_with_the_outcome_and_have_its_time(ledger: Ledger) -> None:
    ask(ledger, "a", 4)
    charged, delayed, answered = ledger.history()[-3:]
    assert [one.kind for one in (charged, delayed, answered)] == ["charged", "delayed", "answered"]
    assert delayed.at == answered.at == "2026-03-01T10:00:09+00:00"
    assert delayed.body == {"delay": 4, "given_up": 0, "since": DAY, "request": "a"}


def test_what_is_given_up_is_read_three_times_and_closes_nothing(ledger: Ledger) -> None:
    for _ in range(3):
        with pytest.raises(Unanswerable, match="given up") as caught:
            ask(ledger, "a", 2, fails=GivenUp("a lock"))
        assert caught.value.charged is True
    with pytest.raises(Unanswerable, match="given up 3 times, so it is not read again"):
        ask(ledger, "a", 1)
    assert ask(ledger, "b", 1) == 2  # nothing is closed
    kinds = [e.kind for e in ledger.history() if e.kind not in ("opened", "described")]
    assert kinds == [
        "charged", "given_up", "second_reading", "given_up", "third_reading", "given_up", "charged",
        "answered",
    ]  # fmt: skip
    assert ledger.budgets()[-1].spent.epsilon == 1 / 2  # each is charged once
    assert [e.body["reason"] for e in ledger.history() if e.kind == "given_up"] == ["a lock"] * 3
    ledger.verify()


def test_what_was_read_three_times_is_not_read_by_another_program(ledger: Ledger) -> None:
    """One that asks without delays, and so reads the data before it charges."""
    for _ in range(3):
        with pytest.raises(Unanswerable, match="given up"):
            ask(ledger, "a", 1, fails=GivenUp("a lock"))

    def prepare() -> Callable[[], Indices]:
        pytest.fail("the data are read")

    (share,) = [one for one in ledger.budgets() if one.analyst]
    with pytest.raises(Unanswerable, match="given up 3 times, so it is not read again"):
        session_of(ledger, share, ChargeTerms()).buy(bill("1/4", "a"), prepare)


def test_after_five_questions_were_given_up_others_wait_for_the_reset(ledger: Ledger) -> None:
    for number in range(MOST_GIVEN_UP):
        with pytest.raises(Unanswerable):
            ask(ledger, str(number), 1, fails=GivenUp("a lock"))
    before = len(ledger.history())
    with pytest.raises(Exhausted, match="5 questions were given up"):
        ask(ledger, "new", 1)
    with pytest.raises(Exhausted, match="5 questions were given up"):
        ask(ledger, "0", 1)  # nor one that was paid
    assert len(ledger.history()) == before
    assert ask(ledger, "0", 1, since=NEXT) == 1
    ledger.verify()


def test_the_owner_resets(ledger: Ledger) -> None:
    assert ledger.reset_delays("adult") == []
    ask(ledger, "a", 8)
    assert [one.analyst for one in ledger.reset_delays("adult", analyst="a")] == ["a"]
    assert ledger.reset_delays("adult") == []
    assert ask(ledger, "b", 1) == 1
    assert delay(ledger)[:2] == (1, 0)
    ledger.verify()


def test_resets_are_public_times() -> None:
    time = datetime(2026, 3, 1, 23, 59, 59, tzinfo=UTC)
    assert reset_before(time, "day") == DAY
    assert reset_before(time, "renewal") == ""


@pytest.mark.parametrize(
    "wrong", [{"delay": 3}, {"delay": 0}, {"delay": True}, {"given_up": -1}, {"since": 1}]
)
def test_a_delay_that_is_none_is_corrupt(wrong: dict[str, object]) -> None:
    body = {"delay": 2, "given_up": 0, "since": DAY}
    assert read_delay(body, 1) == Delay(2, 0, DAY)
    with pytest.raises(LedgerCorrupt, match="event 1 cannot be read"):
        read_delay({**body, **wrong}, 1)


def test_verification_follows_every_delay(ledger: Ledger) -> None:
    """Each event about delays follows from those before: one that is edited is found."""
    ask(ledger, "a", 2)
    with pytest.raises(Unanswerable):
        ask(ledger, "b", 4, fails=GivenUp("a lock"))
    ask(ledger, "b", 1)
    ledger.reset_delays("adult")
    events = ledger.history()
    edits = {
        "delayed": ({"delay": 1}, {"given_up": 1}, {"request": "none"}),
        "given_up": (
            {"delay": 1},
            {"given_up": 2},
            {"given_up": 0},
            {"since": ""},
            {"request": "a"},
        ),
        "reset": ({"delay": 2}, {"given_up": 1}, {"since": DAY[:4]}),
        "second_reading": ({"more": 1},),
    }
    for place, event in enumerate(events):
        for edit in edits.get(event.kind, ()):
            replay = Replay()
            for one in events[:place]:
                replay.follow(one)
            changed = type(event)(**{**event.as_dict(), "body": {**event.body, **edit}})  # type: ignore[arg-type]
            with pytest.raises(DiscreetError, match="cannot follow"):
                replay.follow(changed)
