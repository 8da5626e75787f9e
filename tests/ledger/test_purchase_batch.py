"""A batch is charged before the first of its bits is read, and answered as one."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from discreet.errors import (
    Exhausted,
    InvalidArgument,
    LedgerCorrupt,
    RequestConflict,
    Unanswerable,
    UnreadableArgument,
)
from discreet.ledger import Ledger
from discreet.ledger.failed_questions import QuestionFailed
from discreet.ledger.session import Session
from discreet.selection.payment import Indices

from ..ledger_child import COST
from ..ledgers import answering, bill, undrawn, untouched
from .test_crashes import child
from .test_verification import rechained


def session_of(where: str | Path | None, epsilon: int = 1) -> tuple[Ledger, Session]:
    """Return a ledger with one budget, and its session."""
    ledger = Ledger(where)
    ledger.open("adult", epsilon=epsilon)
    return ledger, ledger.session("adult")


def kinds(ledger: Ledger) -> list[tuple[str, str | None]]:
    """Return the kinds and requests of all events but the first."""
    return [(event.kind, event.request) for event in ledger.history()[1:]]


def test_all_charges_come_before_the_first_draw_and_all_answers_after_the_last(where: str) -> None:
    ledger, session = session_of(where)
    seen: list[list[tuple[str, str | None]]] = []

    def prepare_answer(answer: int) -> Callable[[], Callable[[], Indices]]:
        def draw() -> Indices:
            seen.append(kinds(Ledger(where)))
            return answer

        return lambda: draw

    orders = [(bill("1/4", name), prepare_answer(i)) for i, name in enumerate("abc")]
    answers = session.buy_batch(orders)
    charges = [("charged", name) for name in "abc"]
    assert seen == [charges] * 3
    assert kinds(ledger) == [*charges, *(("answered", name) for name in "abc")]
    assert [(answer.indices, answer.charged) for answer in answers] == [
        (0, True),
        (1, True),
        (2, True),
    ]
    places = [event.body["batch"] for event in ledger.history() if event.kind == "charged"]
    assert places == [{"place": i, "of": 3} for i in (1, 2, 3)]
    assert ledger.budgets()[0].spent.epsilon == Fraction(3, 4)
    assert ledger.verify().events == 7
    again = session.buy_batch([(order, untouched) for order, _ in orders])
    assert [(answer.indices, answer.charged) for answer in again] == [
        (0, False),
        (1, False),
        (2, False),
    ]


def test_the_end_of_the_chain_is_stored_once_in_a_transaction() -> None:
    """And not for every event in it: before its commit it is that of the last one."""
    ledger, session = session_of(None)
    driver = ledger._store._driver
    assert driver is not None
    texts: list[str] = []
    driver.set_trace_callback(texts.append)
    session.buy_batch([(bill("1/4", name), answering(0)) for name in "abc"])
    driver.set_trace_callback(None)
    steps = [text.split()[0] for text in texts if "discreet_account" in text or text == "COMMIT"]
    assert steps[-4:] == ["UPDATE", "COMMIT", "UPDATE", "COMMIT"]
    assert steps.count("UPDATE") == 2
    assert ledger.verify().events == 7


def test_only_what_was_not_charged_is_charged_and_only_what_was_not_answered_is_drawn() -> None:
    ledger, session = session_of(None)
    session.buy(bill("1/8", "a"), answering(5))
    with pytest.raises(RuntimeError):
        session.buy(bill("1/8", "b"), failing(RuntimeError()))
    orders = [
        (bill("1/8", "a"), untouched),
        *((bill("1/8", name), answering(i)) for i, name in enumerate("bcd")),
    ]
    answers = session.buy_batch(orders)
    assert [(answer.indices, answer.charged) for answer in answers] == [
        (5, False),
        (0, False),
        (1, True),
        (2, True),
    ]
    batches = [event.body.get("batch") for event in ledger.history() if event.kind == "charged"]
    assert batches == [None, None, {"place": 1, "of": 2}, {"place": 2, "of": 2}]
    session.buy_batch([(bill("1/8", "e"), answering(1))])
    assert "batch" not in ledger.history()[-2].body  # alone it is a purchase like any other
    assert ledger.verify().events == 1 + 2 * 5


def failing(error: Exception) -> Callable[[], Callable[[], Indices]]:
    """Return a `prepare` whose draw raises."""

    def draw() -> Indices:
        raise error

    return lambda: draw


def test_a_batch_that_cannot_be_paid_as_a_whole_reads_nothing() -> None:
    ledger, session = session_of(None)
    with pytest.raises(Exhausted):
        session.buy_batch([(bill("2/3", "a"), untouched), (bill("2/3", "b"), untouched)])
    session.buy(bill("1/2", "c"), answering(1))
    with pytest.raises(RequestConflict):
        session.buy_batch(
            [(bill("1/8", "a"), untouched), (bill("1/8", "c", digest="2:ef"), untouched)]
        )
    assert kinds(ledger) == [("charged", "c"), ("answered", "c")]


def test_what_is_spent_while_scores_are_computed_is_not_spent_twice() -> None:
    ledger, session = session_of(None)

    def spend() -> Callable[[], Indices]:
        session.buy(bill("1/2", "meanwhile"), answering(1))
        return undrawn()

    with pytest.raises(Exhausted) as refused:
        session.buy_batch([(bill("1/2", "a"), spend), (bill("1/2", "b"), undrawn)])
    assert not getattr(refused.value, "__notes__", [])
    assert kinds(ledger) == [("charged", "meanwhile"), ("answered", "meanwhile")]


def test_scores_that_cannot_be_computed_cost_nothing() -> None:
    ledger, session = session_of(None)
    with pytest.raises(UnreadableArgument, match="AssertionError"):
        session.buy_batch([(bill("1/8", "a"), undrawn), (bill("1/8", "b"), untouched)])
    assert kinds(ledger) == []


def test_a_draw_that_fails_leaves_charges_and_says_how_to_ask_again() -> None:
    ledger, session = session_of(None)
    orders = [(bill("1/8", "a"), answering(271828)), (bill("1/8", "b"), failing(RuntimeError()))]
    with pytest.raises(RuntimeError) as failed:
        session.buy_batch(orders)
    assert "this is paid: retry the requests 'a', 'b' at no cost" in failed.value.__notes__
    assert kinds(ledger) == [("charged", "a"), ("charged", "b")]
    answers = session.buy_batch([(order, answering(3)) for order, _ in orders])
    assert [(answer.indices, answer.charged) for answer in answers] == [(3, False), (3, False)]
    assert ledger.verify().events == 5


def test_a_failure_is_stored_with_the_answers_beside_it_and_raised_again() -> None:
    ledger, session = session_of(None)
    failure = failing(QuestionFailed(Unanswerable("because of the data")))
    orders = [(bill("1/8", "a"), failure), (bill("1/8", "b"), answering(4))]
    for prepares in ([prepare for _, prepare in orders], [untouched, untouched]):
        with pytest.raises(Unanswerable) as failed:
            session.buy_batch([(one, p) for (one, _), p in zip(orders, prepares, strict=True)])
        assert failed.value.charged
    assert kinds(ledger)[2:] == [("failed", "a"), ("answered", "b")]
    assert session.buy(bill("1/8", "b"), untouched) == 4
    ledger.verify()


def test_one_request_is_bought_once_in_a_batch() -> None:
    ledger, session = session_of(None)
    answers = session.buy_batch([(bill("1/8", "a"), answering(2)), (bill("1/8", "a"), untouched)])
    assert [(answer.indices, answer.charged) for answer in answers] == [(2, True), (2, False)]
    with pytest.raises(RequestConflict, match="another question of this batch"):
        session.buy_batch(
            [(bill("1/8", "b"), untouched), (bill("1/4", "b", digest="2:ef"), untouched)]
        )
    assert kinds(ledger) == [("charged", "a"), ("answered", "a")]


def check_batches(ledger: Ledger, told: list[dict[str, Any]]) -> None:
    """No answer is without its charge, all are charged or none, and what was given stays."""
    ledger.verify()
    assert len(kinds(ledger)) == len(set(kinds(ledger))) == 4 * len(told)
    assert ledger.budgets()[0].spent.epsilon == COST * 2 * len(told)
    for one in told:
        again = one["again"]
        assert again["left"] in ([], ["charged"] * 2, ["charged"] * 2 + ["answered"] * 2)
        is_stored = len(again["left"]) == 4
        assert again["answers"] == (one["drawn"] if is_stored else again["drawn"])
        assert len(again["drawn"]) == (0 if is_stored else 2)
        assert one["given"] == again["answers"][: len(one["given"])]
        assert again["left"] or not one["drawn"], "a bit was read before all charges"


@pytest.mark.proof_in("postgresql")
def test_a_batch_is_killed_at_every_step(where: str) -> None:
    ledger, _ = session_of(where)
    told: list[dict[str, Any]] = child("batches_at_steps", where, "1")
    check_batches(ledger, told)
    assert [one["code"] for one in told[:-1]] == [-9] * (len(told) - 1)
    assert len(told) > 40
    ends = {(len(one["again"]["left"]), len(one["drawn"]), len(one["given"])) for one in told}
    assert ends == {(0, 0, 0), (2, 0, 0), (2, 1, 0), (2, 2, 0), (4, 2, 0), (4, 2, 1), (4, 2, 2)}


@pytest.mark.proof
def test_batches_are_killed_hundreds_of_times(where: str) -> None:
    ledger, _ = session_of(where)
    check_batches(ledger, child("batches_at_steps", where, "10"))


def _in_the_middle(events: list[list[Any]]) -> None:
    events[2], events[3] = events[3], events[2]
    for number in (2, 3):
        events[number][0] = number + 1


def _place(text: str, other: str) -> Callable[[list[list[Any]]], None]:
    def change(events: list[list[Any]]) -> None:
        events[2][6] = events[2][6].replace(text, other)

    return change


@pytest.mark.parametrize(
    "edit",
    [
        _in_the_middle,
        _place('"place":2', '"place":3'),
        _place('"place":2', '"place":1'),
        _place('"of":2', '"of":3'),
        _place('"batch":{"of":2,"place":2},', ""),
        _place('"batch":{"of":2,"place":2}', '"batch":[2,2]'),
        _place('"place":2', '"place":2,"x":1'),
    ],
)
def test_a_chain_with_another_batch_does_not_verify(
    tmp_path: Path, edit: Callable[[list[list[Any]]], None]
) -> None:
    path = tmp_path / "budget.db"
    ledger, session = session_of(path)
    session.buy_batch([(bill("1/8", name), answering(1)) for name in "ab"])
    session.buy(bill("1/8", "c"), answering(1))
    ledger.verify()
    rechained(path, edit)
    with pytest.raises(LedgerCorrupt):
        Ledger(path).verify()


def test_a_chain_that_ends_in_the_middle_of_a_batch_does_not_verify(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    ledger, session = session_of(path)
    session.buy(bill("1/8", "a"), answering(1))
    ledger.verify()

    def begin_batch(events: list[list[Any]]) -> None:
        events.pop()
        events[1][6] = '{"after"' + events[1][6].removeprefix('{"after"').replace(
            '"costs"', '"batch":{"of":2,"place":1},"costs"', 1
        )

    rechained(path, begin_batch)
    with pytest.raises(LedgerCorrupt, match="the batch of event 2 is not complete"):
        Ledger(path).verify()
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("SELECT events FROM discreet_account").fetchone() == (2,)


def test_the_names_of_a_batch_are_random_and_follow_one_another() -> None:
    """So their rows lie on few pages of an index; no two batches have a name in common."""
    ledger, session = session_of(None)
    for _ in range(2):
        session.buy_batch([(bill("1/64"), answering(n)) for n in range(20)])
    names = [UUID(str(request)) for kind, request in kinds(ledger) if kind == "charged"]
    assert len({str(name)[:20] for name in names}) == 2
    assert [name.version for name in names] == [4] * 40
    for batch in (names[:20], names[20:]):
        assert [name.int ^ batch[0].int for name in batch] == list(range(20))


@pytest.mark.parametrize("wrong", [["a"], [("a",)], ["ab"], [None], 5])
def test_orders_that_are_no_pairs_are_refused(wrong: Any) -> None:
    ledger, session = session_of(None)
    with pytest.raises(InvalidArgument, match="orders must be"):
        session.buy_batch(wrong)
    assert kinds(ledger) == []
