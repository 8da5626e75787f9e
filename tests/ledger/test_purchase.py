"""Pay, commit, then draw: each request is paid and answered once."""

import enum
import traceback
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.errors import (
    DiscreetError,
    Exhausted,
    InvalidArgument,
    LedgerUnwritable,
    RequestConflict,
    Unanswerable,
    UnknownBudget,
)
from discreet.ledger import Ledger, Session
from discreet.ledger.failed_questions import Allowance, QuestionFailed
from discreet.ledger.ledger import session_of
from discreet.ledger.purchase import ChargeTerms
from discreet.ledger.store import Store
from discreet.ledger.transaction import Transaction

from ..ledgers import answering, bill, undrawn, untouched


def test_a_request_is_paid_and_drawn_once(where: str) -> None:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")
    assert session.buy(bill(1, "monday"), answering([3, 1])) == [3, 1]
    assert session.buy(bill(1, "monday"), untouched) == [3, 1]
    assert Ledger(where).session("adult").buy(bill(1, "monday"), untouched) == [3, 1]
    assert len(ledger.history()) == 3


def test_answers_come_back_as_they_were(where: str) -> None:
    answers: list[Any] = [0, -1, 10**18, -(2**64), 10**6000, [], [0], [[1, 2], [3, 10**20]]]
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")
    for i, answer in enumerate(answers):
        assert session.buy(bill("1/8", str(i)), answering(answer)) == answer
        assert session.buy(bill("1/8", str(i)), untouched) == answer
    ledger.verify()


def test_another_question_under_the_same_name_is_refused(where: str) -> None:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")
    session.buy(bill("1/4", "monday"), answering(1))
    with pytest.raises(RequestConflict, match="'monday' was another question"):
        session.buy(bill("1/4", "monday", digest="cd" * 32), untouched)
    assert ledger.budgets()[0].spent.epsilon == Fraction(1, 4)


def test_a_name_belongs_to_one_dataset_and_one_analyst() -> None:
    """Else an analyst could have an answer that another one's share has paid."""
    ledger = Ledger()
    for dataset in ("adult", "census"):
        ledger.open(dataset, epsilon=1)
    ledger.open("adult", analyst="a", epsilon="1/2")
    sessions = [ledger.session("adult"), ledger.session("adult", "a"), ledger.session("census")]
    answers = [s.buy(bill("1/4", "r"), answering(i)) for i, s in enumerate(sessions)]
    assert answers == [0, 1, 2]
    assert [s.buy(bill("1/4", "r"), untouched) for s in sessions] == answers
    assert [b.spent.epsilon for b in ledger.budgets()] == [
        Fraction(3, 4),
        Fraction(1, 4),
        Fraction(1, 4),
    ]


def test_nothing_is_paid_when_the_scores_fail() -> None:
    ledger = Ledger()
    ledger.open("adult", epsilon=1)

    def prepare() -> Any:
        raise InvalidArgument("no such scores")

    with pytest.raises(InvalidArgument, match="no such scores"):
        ledger.session("adult").buy(bill(1), prepare)
    assert len(ledger.history()) == 1


def test_a_draw_that_fails_is_paid_and_can_be_had_again() -> None:
    ledger = Ledger()
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")

    def prepare() -> Any:
        return lambda: 1 // 0

    with pytest.raises(ZeroDivisionError) as failed:
        session.buy(bill(1), prepare)
    where, note = failed.value.__notes__
    assert where.startswith("it came from test_purchase.py:")
    request = note.partition("request='")[2].partition("'")[0]
    assert session.buy(bill(1, request), answering(5)) == 5
    assert [event.kind for event in ledger.history()] == ["opened", "charged", "answered"]


def test_payment_is_committed_before_anything_is_drawn(where: str) -> None:
    """Another connection sees the charge while the draw is still to come."""
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    seen: list[list[str]] = []

    def prepare() -> Any:
        seen.append([event.kind for event in Ledger(where).history()])

        def draw() -> int:
            seen.append([event.kind for event in Ledger(where).history()])
            return 4

        return draw

    assert ledger.session("adult").buy(bill(1), prepare) == 4
    assert seen == [["opened"], ["opened", "charged"]]


def test_of_two_answers_to_one_request_the_first_stored_is_given(where: str) -> None:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)

    def prepare() -> Any:
        def draw() -> int:  # while we draw, another process asks the same
            assert Ledger(where).session("adult").buy(bill(1, "r"), answering(2)) == 2
            return 1

        return draw

    assert ledger.session("adult").buy(bill(1, "r"), prepare) == 2
    assert [event.kind for event in ledger.history()] == ["opened", "charged", "answered"]


def test_what_was_answered_while_we_prepared_is_not_drawn(where: str) -> None:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)

    def prepare() -> Any:
        Ledger(where).session("adult").buy(bill(1, "r"), answering(2))
        return undrawn()

    assert ledger.session("adult").buy(bill(1, "r"), prepare) == 2
    assert ledger.budgets()[0].spent.epsilon == 1


def test_what_was_spent_while_we_prepared_is_not_spent_again(where: str) -> None:
    """The second check: between the first one and the payment, others pay."""
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)

    def prepare() -> Any:
        Ledger(where).session("adult").buy(bill("2/3"), answering(2))
        return undrawn()

    with pytest.raises(Exhausted):
        ledger.session("adult").buy(bill("2/3"), prepare)
    assert ledger.budgets()[0].spent.epsilon == Fraction(2, 3)
    ledger.verify()


def test_requests_are_printable_too(where: str) -> None:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    for request in ("", "a\0b", "\ud800", "x" * 201):
        with pytest.raises(InvalidArgument, match="request must be a printable name"):
            ledger.session("adult").buy(bill(1, request), untouched)
    ledger.session("adult").buy(bill(1, "Größe ∑ 木 🍵 ' \" \\ %s"), answering(0))
    assert ledger.verify().events == 3


class Weekday(str, enum.Enum):  # noqa: UP042  # it is this one that people have
    """A text whose `str` is not what it holds: "Weekday.MONDAY"."""

    MONDAY = "monday"


def test_a_name_is_the_text_it_holds(where: str) -> None:
    """Else a request is looked up under one name and kept under another, and paid for one, answered for many."""
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")
    assert session.buy(bill(1, Weekday.MONDAY), answering(3)) == 3
    assert session.buy(bill(1, Weekday.MONDAY), untouched) == 3
    assert session.buy(bill(1, "monday"), untouched) == 3


def test_a_paid_request_is_answered_under_its_own_name_only() -> None:
    class Disguised(str):
        __slots__ = ()

        def __str__(self) -> str:
            return "paid"

    ledger = Ledger()
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")
    with pytest.raises(AssertionError, match="a bit was read"):
        session.buy(bill(1, "paid"), undrawn)
    with pytest.raises(Exhausted):
        session.buy(bill(1, Disguised("other")), untouched)
    assert type(ledger.session(Disguised("adult")).dataset) is str


TERMS: dict[str, Any] = {"sensitivity": 1, "monotonic": True, "epsilon": 1}


@pytest.mark.parametrize("named", [Counter, lambda rows: pd.Series(rows).value_counts()])
@pytest.mark.parametrize(
    "ask",
    [
        partial(discreet.select, **TERMS),
        partial(discreet.select_top_k, k=2, **TERMS),
        partial(discreet.select_generalized, sensitivities=[1, 1, 1], epsilon=1),
    ],
)
@pytest.mark.one_in(3)
def test_a_ledger_never_learns_the_order_of_the_scores(
    named: Callable[[list[str]], Any], ask: Callable[..., Any]
) -> None:
    """An index among candidates in the order of their counts would say how the answer ranks."""
    rows = ["tea"] * 3 + ["milk"] * 2 + ["water"]
    digests: set[str] = set()
    kept: dict[str, set[str]] = {}
    for order in permutations(["tea", "milk", "water"]):
        ledger = Ledger()
        ledger.open("drinks", epsilon=100)
        renamed = dict(zip(["tea", "milk", "water"], order, strict=True))
        for _ in range(20):
            released = ask(named([renamed[row] for row in rows]), ledger=ledger.session("drinks"))
            charged, answered = ledger.history()[-2:]
            digests.add(charged.body["digest"])
            kept.setdefault(str(released.value), set()).add(str(answered.body["answer"]))
    assert len(digests) == 1
    assert all(len(answers) == 1 for answers in kept.values())


def test_sensitivities_stay_with_their_scores_when_a_ledger_pays() -> None:
    """With all that epsilon the answer is certain: a sensitivity as large as its best one puts water off."""
    ledger = Ledger()
    ledger.open("drinks", epsilon=10**9)
    scores, terms = {"water": 10, "milk": 9, "beer": 0}, {"epsilon": 10**6, "beta": "1e-300"}
    for paid in ({}, {"ledger": ledger.session("drinks")}):
        asked: Any = {**terms, **paid}
        assert discreet.select_generalized(scores, [10**6, 1, 1], **asked).value == "milk"
        assert discreet.select_generalized(scores, [1, 1, 10**6], **asked).value == "water"


def test_an_answer_that_cannot_be_stored_is_in_no_frame_of_the_error() -> None:
    """A tool that shows the variables of a traceback would give away an answer that is then drawn again."""
    ledger = Ledger()
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")
    secret = object()  # no JSON
    with pytest.raises(InvalidArgument, match="must be an index") as failed:
        session.buy(bill(1, "r"), answering(secret))
    frames = [frame for frame, _ in traceback.walk_tb(failed.value.__traceback__)][1:]
    assert all(value is not secret for frame in frames for value in frame.f_locals.values())
    assert session.buy(bill(1, "r"), answering(5)) == 5


@pytest.mark.parametrize("drawn", [3.7, "secret", [1, "secret"], None, {"secret": 1}])
def test_what_is_no_index_is_not_stored(where: str, drawn: Any) -> None:
    """It would come back as another answer. It is paid, as it was drawn; asked rightly, it costs no more."""
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")
    with pytest.raises(InvalidArgument, match="must be an index") as raised:
        session.buy(bill("1/4", "monday"), answering(drawn))
    assert "secret" not in str(raised.value)
    assert any("at no cost" in note for note in raised.value.__notes__)
    assert [event.kind for event in ledger.history()] == ["opened", "charged"]
    assert session.buy(bill("1/4", "monday"), answering(3)) == 3
    assert ledger.verify()


def test_indices_of_numpy_are_returned_as_they_are_stored(where: str) -> None:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")
    answer: Any = (np.int64(3), [np.uint8(4)], True)
    found = session.buy(bill("1/4", "monday"), answering(answer))
    assert found == session.buy(bill("1/4", "monday"), untouched) == [3, [4], 1]
    assert type(found[0]) is int


def test_a_session_tells_whether_this_call_was_charged() -> None:
    """True for the call that commits the charge, whoever draws; False for every other call of the request."""
    ledger = Ledger()
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")
    told: list[bool | None] = []

    def prepare() -> Any:
        def draw() -> int:  # the charge is ours; while we draw, another process asks the same
            told.append(session.bought(bill(1, "r"), answering(2)).charged)
            return 1

        return draw

    assert session.bought(bill(1, "r"), prepare) == (2, True)
    assert told == [False]
    assert session.bought(bill(1, "r"), untouched) == (2, False)


def test_what_was_charged_and_never_answered_is_drawn_without_another_charge() -> None:
    ledger = Ledger()
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")
    with pytest.raises(ZeroDivisionError):
        session.bought(bill(1, "r"), lambda: lambda: 1 // 0)
    assert session.bought(bill(1, "r"), answering(3)) == (3, False)


def test_a_release_tells_whether_it_was_charged() -> None:
    ledger = Ledger()
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")
    ask = partial(session.select, [1, 2], sensitivity=1, epsilon=1, request="monday")
    assert [ask().charged for _ in range(3)] == [True, False, False]
    assert ask().as_dict()["charged"] is False
    assert discreet.select([1, 2], sensitivity=1, epsilon=1).charged is None


def test_a_dataset_that_was_closed_while_we_prepared_charges_nothing(where: str) -> None:
    """The second check: between the first one and the payment, another question of the analyst fails."""
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    ledger.open("adult", analyst="a", epsilon=1)
    terms = ChargeTerms(allowance=Allowance("adult", "a", 1))

    def asker() -> Session:
        return session_of(ledger, ledger.budgets()[-1], terms)

    def fail() -> Any:
        raise QuestionFailed(Unanswerable("the owner may see why"))

    def prepare() -> Any:
        with pytest.raises(Unanswerable):
            asker().buy(bill("1/4", "other"), lambda: fail)
        return undrawn()

    with pytest.raises(Exhausted, match="closed after 1 failure"):
        asker().buy(bill("1/4", "mine"), prepare)
    assert [event.request for event in ledger.history()[2:]] == ["other", "other"]


def test_who_has_no_share_reads_who_has() -> None:
    ledger = Ledger()
    ledger.open("adult", epsilon=1)
    with pytest.raises(UnknownBudget, match=r"'c' has no share of adult. These have one: none"):
        ledger.session("adult", "c").buy(bill("1/4"), untouched)
    for analyst in ("a", "b"):
        ledger.open("adult", analyst=analyst, epsilon="1/2")
    with pytest.raises(UnknownBudget, match=r"'c' has no share of adult. These have one: a, b"):
        ledger.session("adult", "c").buy(bill("1/4"), untouched)


@pytest.mark.parametrize(
    ("interrupt", "is_committed", "charged", "note"),
    [
        (LedgerUnwritable("the server is gone"), True, True, "this is paid"),
        (LedgerUnwritable("the server is gone"), False, False, None),
        (KeyboardInterrupt(), True, None, "if this was paid"),
        (InvalidArgument("refused"), False, False, None),
    ],
)
def test_an_error_says_whether_its_charge_was_committed(
    interrupt: BaseException,
    is_committed: bool,
    charged: bool | None,
    note: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A lost server is asked again; who interrupts the program is not kept waiting for it."""
    ledger = Ledger()
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")
    write = Store.write

    def interrupted(store: Store, change: Callable[[Transaction], Any]) -> Any:
        monkeypatch.undo()
        if is_committed:
            write(store, change)
        raise interrupt

    def prepare() -> Any:
        monkeypatch.setattr(Store, "write", interrupted)
        return undrawn()

    with pytest.raises(type(interrupt)) as failed:
        session.buy(bill(1, "r"), prepare)
    notes = [text.partition(":")[0] for text in getattr(failed.value, "__notes__", [])]
    assert notes == ([] if note is None else [note])
    if isinstance(failed.value, DiscreetError):
        assert failed.value.charged is charged
    assert session.bought(bill(1, "r"), answering(5)) == (5, not is_committed)


def test_what_is_read_after_the_charge_is_looked_up_and_charged_in_one_transaction(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all checks and refusals, and the events, of a purchase that looks first."""
    ledger = Ledger(where)
    budget = ledger.open("adult", epsilon=1)
    session = session_of(ledger, budget, ChargeTerms(charges_first=True))
    kinds: list[bool] = []
    run = Store._run_watched

    def note_and_run(self: Store, work: Any, course: Any) -> Any:
        kinds.append(course.writing)
        return run(self, work, course)

    with monkeypatch.context() as patched:
        patched.setattr(Store, "_run_watched", note_and_run)
        assert session.bought(bill("1/2", "r"), answering(3)) == (3, True)
    assert kinds == [True, True]
    assert session.bought(bill("1/2", "r"), undrawn) == (3, False)
    events = [event.kind for event in ledger.history()]
    assert events == ["opened", "charged", "answered"]
    with pytest.raises(RequestConflict) as conflict:
        session.buy(bill("1/2", "r", digest="another"), undrawn)
    with pytest.raises(Exhausted) as exhausted:
        session.buy(bill("2/3", "s"), undrawn)
    assert (conflict.value.charged, exhausted.value.charged) == (False, False)
    assert [event.kind for event in ledger.history()] == events
