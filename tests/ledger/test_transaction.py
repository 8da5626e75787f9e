"""Rows that a release has read are relied on until the database changes, and are read again then."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet import Dataset
from discreet.errors import Exhausted, LedgerCorrupt, RequestConflict
from discreet.ledger import Ledger, Session
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import budgets_of_payer
from discreet.ledger.schema import driver_of
from discreet.ledger.store import FollowUp
from discreet.ledger.transaction import KnownState, NeedsDatabase, Transaction, Version
from discreet.selection.payment import Indices

from ..ledgers import DIGEST, answering, bill, undrawn


def unasked() -> Any:
    raise AssertionError("what is known was read again")


def test_an_answer_is_read_once() -> None:
    state = KnownState()
    assert state.recall("budgets", ("adult", None), lambda: [1]) == [1]
    assert state.recall("budgets", ("adult", None), unasked) == [1]
    assert state.recall("budgets", ("adult", "a"), lambda: None) is None
    assert state.recall("budgets", ("adult", "a"), unasked) is None
    state.forget("budgets")
    assert state.find("budgets", ("adult", None)) is None
    assert state.recall("budgets", ("adult", None), lambda: [2]) == [2]


def test_a_copy_is_one_of_its_own() -> None:
    state = KnownState()
    state.learn("failures", "a", 1)
    copy = state.copy()
    copy.learn("failures", "a", 2)
    copy.learn("failures", "b", 3)
    assert state.find("failures", "a") == 1
    assert state.find("failures", "b") is None


def test_so_many_answers_are_remembered_and_no_more() -> None:
    state = KnownState()
    for number in range(1000):
        state.learn("requests", number, {})
        assert state.find("requests", number) == {}
    assert len(state._answers["requests"]) <= 256


def test_a_version_is_current_until_its_connection_changes_a_row() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as driver:
        driver.execute("CREATE TABLE t (x INTEGER)")
        before = Version(driver, 0, driver.total_changes)
        state = KnownState(before)
        was_current = before.is_current
        driver.execute("INSERT INTO t VALUES (1)")
        assert (was_current, before.is_current) == (True, False)
        state.settle()
        after = state.version
        assert after is not None
        assert after.is_current


def test_a_transaction_without_a_database_asks_for_one() -> None:
    with pytest.raises(NeedsDatabase):
        Transaction(None)
    ledger = Ledger()
    ledger.open("adult", epsilon=1)
    known = Transaction(None, state=ledger._store._state.copy())
    assert known.end == ledger.checkpoint()
    with pytest.raises(NeedsDatabase):
        known.connection  # noqa: B018


def statements(ledger: Ledger, work: Callable[[], object]) -> list[str]:
    """Return the statements that work runs, without those of triggers."""
    texts = list[str]()
    driver = ledger._store._driver
    assert driver is not None
    driver.set_trace_callback(texts.append)
    work()
    driver.set_trace_callback(None)
    return [text.split("(")[0].split(" SET ")[0].strip() for text in texts if text[0] != "-"]


APPENDING = ["INSERT INTO discreet_events", "INSERT INTO discreet_events"]
"""The second time for the trigger before it."""

ENDING = ["UPDATE discreet_account", "COMMIT"]


def test_in_memory_a_release_reads_nothing() -> None:
    ledger = Ledger()
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")
    session.buy(bill("1/8"), answering(1))
    assert statements(ledger, lambda: session.buy(bill("1/8"), answering(2))) == [
        "BEGIN IMMEDIATE", *APPENDING, "UPDATE discreet_budgets", *ENDING,
        "BEGIN IMMEDIATE", *APPENDING, *ENDING,
    ]  # fmt: skip
    assert ledger.verify().events == 5


def test_in_a_file_the_charge_and_the_answer_read_whether_anything_has_changed(
    tmp_path: Path,
) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")
    session.buy(bill("1/8"), answering(1))
    ran = statements(ledger, lambda: session.buy(bill("1/8"), answering(2)))
    assert ran[ran.index("BEGIN IMMEDIATE") :] == [
        "BEGIN IMMEDIATE", "PRAGMA data_version", *APPENDING, "UPDATE discreet_budgets", *ENDING,
        "BEGIN IMMEDIATE", "PRAGMA data_version", *APPENDING, *ENDING,
    ]  # fmt: skip
    assert "PRAGMA shrink_memory" in ran[: ran.index("BEGIN IMMEDIATE")]


def reading(work: Callable[[], object]) -> Callable[[], Callable[[], Indices]]:
    """Return a `prepare` that does something else, between the look and the charge."""

    def prepare() -> Callable[[], Indices]:
        work()
        return undrawn()

    return prepare


def test_what_another_ledger_spends_meanwhile_is_not_spent_twice(where: str) -> None:
    ledger, other = Ledger(where), Ledger(where)
    ledger.open("adult", epsilon=1)
    session, theirs = ledger.session("adult"), other.session("adult")
    session.buy(bill("1/4"), answering(1))
    meanwhile = reading(lambda: theirs.buy(bill("1/2"), answering(2)))
    with pytest.raises(Exhausted, match=r"spent ε = 0\.75"):
        session.buy(bill("1/2"), meanwhile)
    assert ledger.budgets()[0].spent.epsilon == Fraction(3, 4)
    ledger.verify()


def test_what_another_session_in_memory_spends_meanwhile_is_not_spent_twice() -> None:
    ledger = Ledger()
    ledger.open("adult", epsilon=1)
    ledger.open("adult", analyst="a", epsilon="1/4")
    session, theirs = ledger.session("adult"), ledger.session("adult")
    meanwhile = reading(lambda: theirs.buy(bill("1/2"), answering(2)))
    with pytest.raises(Exhausted):
        session.buy(bill("1/2"), meanwhile)
    share = ledger.session("adult", "a")
    assert share.buy(bill("1/4"), answering(3)) == 3
    with pytest.raises(Exhausted):
        share.buy(bill("1/9"), undrawn)
    assert [one.spent.epsilon for one in ledger.budgets()] == [Fraction(3, 4), Fraction(1, 4)]


def test_a_request_that_another_ledger_answers_meanwhile_has_one_answer(where: str) -> None:
    ledger, other = Ledger(where), Ledger(where)
    ledger.open("adult", epsilon=1)
    session, theirs = ledger.session("adult"), other.session("adult")
    meanwhile = reading(lambda: theirs.buy(bill("1/2", "monday"), answering(2)))
    assert session.buy(bill("1/2", "monday"), meanwhile) == 2

    def draw() -> Indices:
        return theirs.buy(bill("1/4", "tuesday"), answering(3)) * 0  # type: ignore[operator]

    assert session.buy(bill("1/4", "tuesday"), lambda: draw) == 3
    different = bill("1/4", "friday", digest=DIGEST[:-1] + "0")
    meanwhile = reading(lambda: theirs.buy(different, answering(2)))
    with pytest.raises(RequestConflict):
        session.buy(bill("1/4", "friday"), meanwhile)
    assert ledger.verify().events == 7


@pytest.mark.parametrize(
    "change",
    [
        'UPDATE discreet_budgets SET spent = \'{"epsilon":"0"}\'',
        "UPDATE discreet_account SET head = 'ab'",
        "DROP TRIGGER discreet_no_update",
    ],
)
def test_what_is_edited_between_look_and_charge_is_noticed(tmp_path: Path, change: str) -> None:
    path = tmp_path / "budget.db"
    ledger = Ledger(path)
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")
    session.buy(bill("1/4"), answering(1))

    def edit() -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as file:
            file.execute(change)

    with pytest.raises(LedgerCorrupt):
        session.buy(bill("1/4"), reading(edit))


def test_what_a_failed_transaction_has_learnt_is_forgotten() -> None:
    ledger = Ledger()
    ledger.open("adult", epsilon=1)
    session: Session = ledger.session("adult")
    before = ledger.checkpoint()

    def failing(transaction: Transaction) -> None:
        transaction.state.learn("budgets", ("adult", None), "nonsense")
        driver_of(transaction.connection).execute("UPDATE discreet_budgets SET spent = 'x'")
        raise KeyError

    with pytest.raises(KeyError):
        ledger._store.write(FollowUp(failing))
    assert ledger.checkpoint() == before
    assert session.buy(bill(1), answering(5)) == 5
    with pytest.raises(Exhausted):
        session.buy(bill("1/9"), undrawn)


def test_what_is_known_in_memory_is_not_changed_where_other_threads_read_it() -> None:
    ledger = Ledger()
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")
    session.buy(bill("1/8"), answering(1))
    store = ledger._store
    known, chain = store._state, store._state.chain
    answers = {subject: answers.copy() for subject, answers in known._answers.items()}

    def read_meanwhile(transaction: Transaction) -> None:
        assert transaction.state is not known

    store.write(FollowUp(read_meanwhile))
    session.buy(bill("1/8"), answering(2))
    assert (known.chain, known._answers) == (chain, answers)


def test_budgets_of_a_payer_are_read_alone() -> None:
    """However many datasets and analysts there are, so that the time of a request does not grow with them."""
    ledger = Ledger()
    for number in range(9):
        ledger.open(f"data {number}", epsilon=1)
        ledger.open(f"data {number}", analyst="a", epsilon="1/4")
        ledger.open(f"data {number}", analyst="b", epsilon="1/2")
    ledger._store._state = KnownState()
    budgets = list[list[Budget]]()
    ran = statements(ledger, lambda: budgets.extend(budgets_of_payer(ledger, "a", ["data 3"])))
    assert [(one.dataset, one.analyst) for [one] in budgets] == [("data 3", "a")]
    assert sum("FROM discreet_budgets" in text for text in ran) == 1
    assert sum("FROM discreet_events" in text for text in ran) == 3  # its end, descriptions, states
    assert budgets_of_payer(ledger, None, ["data 0"])[0][0].spent.epsilon == Fraction(3, 4)
    assert budgets_of_payer(ledger, "c", ["data 0", "data 1"]) == [[], []]


def test_an_added_description_is_known_to_all_ledgers(where: str) -> None:
    """Descriptions are remembered from release to release, until another one is written."""
    ledger, other = Ledger(where), Ledger(where)
    people = Dataset("people.csv", name="people", columns={"age": {"type": "integer"}})
    ledger.open(people, epsilon=1)
    session = ledger.session(people)
    session.buy(replace(bill("1/4"), about=people.whereabouts), answering(1))
    other.renew(people, "2027")
    with pytest.raises(Exhausted, match="renewed"):
        session.buy(replace(bill("1/4"), about=people.whereabouts), undrawn)
