"""What a release relies on is checked when it is relied on: rows against hashed events, answers, guards."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy.dialects.sqlite import dialect

from discreet.errors import DiscreetError, LedgerCorrupt
from discreet.ledger import Ledger, Session, queries
from discreet.ledger.schema import driver_of
from discreet.ledger.transaction import KnownState, Transaction
from discreet.privacy import ZCDP

from ..ledgers import answering, bill, untouched
from .test_verification import rechained, tampered


def written(where: str) -> Session:
    """Return a session of an analyst who has asked twice; others have asked in between and after."""
    ledger = Ledger(where)
    ledger.open("adult", epsilon=4)
    ledger.open("adult", analyst="a", epsilon=2)
    ledger.open("census", epsilon=4)
    session = ledger.session("adult", "a")
    session.buy(bill("1/3", "r0"), answering(3))
    ledger.session("adult").buy(bill("1/5", "other"), answering(0))
    session.buy(bill("1/4", "r1"), answering([5, 2**70]))
    ledger.session("census").buy(bill("1/7", "far"), answering(1))
    return session


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of `written`, which costs many commits."""
    path = tmp_path_factory.mktemp("once") / "budget.db"
    written(str(path))
    return path


@pytest.fixture
def path(once: Path, tmp_path: Path) -> Path:
    """A copy of that file."""
    return Path(shutil.copy(once, tmp_path / "budget.db"))


def reopened(path: Path) -> Session:
    return Ledger(path).session("adult", "a")


# What is edited, and what must notice it: the next release, or the retry of "r1".
SPENDING = [
    "UPDATE discreet_budgets SET spent = '{\"epsilon\":\"0\"}' WHERE analyst = ''",
    "UPDATE discreet_budgets SET spent = '{\"epsilon\":\"0\"}' WHERE analyst = 'a'",
    "UPDATE discreet_budgets SET spent = '{\"epsilon\":\"1/3\"}' WHERE analyst = 'a'",
    "UPDATE discreet_budgets SET total = '{\"epsilon\":\"9\"}' WHERE analyst = ''",
    "UPDATE discreet_budgets SET total = '{\"epsilon\":\"9\"}' WHERE analyst = 'a'",
    "UPDATE discreet_budgets SET neighbors = 'replace_one'",
    "UPDATE discreet_budgets SET unit = 'person'",
    "DELETE FROM discreet_events WHERE number >= 10",
    "UPDATE discreet_events SET body = replace(body, '\"1/4\"', '\"1/5\"') WHERE number = 8",
    "UPDATE discreet_events SET body = replace(body, '11/5', '1/3') WHERE number = 8",
    "UPDATE discreet_events SET kind = 'answered', request = 'x' WHERE number = 8",
    "UPDATE discreet_events SET body = x'7b7d' WHERE number = 8",
    "UPDATE discreet_events SET body = '{}' WHERE number = 8",
    "UPDATE discreet_events SET dataset = 'census', request = 'x' WHERE number = 8",
    "UPDATE discreet_events SET analyst = '', request = 'x' WHERE number = 8",
    "DELETE FROM discreet_events WHERE number = 8",
    "UPDATE discreet_account SET version = 0",
    "UPDATE discreet_account SET version = 'three'",
]  # fmt: skip

SERVING = [
    *[f"UPDATE discreet_events SET body = '{{\"answer\":{answer}}}' WHERE number = 9"
      for answer in ("7", "[999,50]", "-1", "[]", "[[5]]", '"0x7"', "1" * 400)],
    "UPDATE discreet_events SET body = replace(body, 'abab', 'cdcd') WHERE number = 8",
    "UPDATE discreet_events SET body = replace(body, '\"1/4\"', '\"1/5\"') WHERE number = 8",
    "UPDATE discreet_events SET at = '1990' WHERE number = 9",
]  # fmt: skip


def refused(path: Path, session: Session, asked: Any) -> None:
    """Both a session that is open and a new one refuse, and nothing is looked at."""
    for again in (session, None):
        with pytest.raises(LedgerCorrupt):
            (again or Ledger(path).session("adult", "a")).buy(asked, untouched)
    with pytest.raises(LedgerCorrupt):
        Ledger(path).verify()


@pytest.mark.parametrize("statement", SPENDING)
def test_nothing_is_paid_from_a_ledger_that_was_edited(path: Path, statement: str) -> None:
    session = reopened(path)
    tampered(path, statement)
    refused(path, session, bill("1/9"))


@pytest.mark.parametrize("statement", SERVING)
def test_no_stored_answer_is_served_that_was_edited(path: Path, statement: str) -> None:
    session = reopened(path)
    tampered(path, statement)
    refused(path, session, bill("1/4", "r1"))


def swapped(path: Path) -> None:
    """Exchange the bodies of two answers."""
    tampered(
        path,
        "UPDATE discreet_events SET body = CASE number WHEN 5 THEN '{\"answer\":[5,0]}' "
        "ELSE '{\"answer\":3}' END WHERE number IN (5, 9)",
    )


def in_wal(path: Path) -> None:
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)


def without_triggers(path: Path) -> None:
    with closing(sqlite3.connect(path)) as file:
        file.execute("DROP TRIGGER discreet_no_update")


def with_another_trigger(path: Path) -> None:
    with closing(sqlite3.connect(path)) as file:
        file.execute("DROP TRIGGER discreet_no_update")
        file.execute(
            "CREATE TRIGGER discreet_no_update BEFORE UPDATE ON discreet_events BEGIN SELECT 1; END"
        )


@pytest.mark.parametrize("change", [in_wal, without_triggers, with_another_trigger])
def test_nothing_is_paid_where_events_can_be_changed(
    path: Path, change: Callable[[Path], None]
) -> None:
    session = reopened(path)
    change(path)
    for again in (session, Ledger(path).session("adult", "a")):
        with pytest.raises(LedgerCorrupt):
            again.buy(bill("1/9"), answering(0))
    with pytest.raises(LedgerCorrupt):
        Ledger(path).verify()
    assert session.buy(bill("1/4", "r1"), untouched) == [5, 2**70]  # that event is as it was


def test_answers_that_were_exchanged_are_not_served(path: Path) -> None:
    session = reopened(path)
    swapped(path)
    refused(path, session, bill("1/4", "r1"))


@pytest.mark.parametrize(
    "change",
    [
        lambda events: events[7].__setitem__(6, events[7][6].replace("7/12", "1/2")),
        lambda events: events[7].__setitem__(6, events[7][6].replace('"after"', '"again"')),
        lambda events: events[0].__setitem__(6, events[0][6].replace('"spent"', '"spend"')),
    ],
)  # fmt: skip
def test_what_events_say_of_budgets_is_verified(
    path: Path, change: Callable[[list[list[Any]]], None]
) -> None:
    """By whoever knows how the chain is made too: a sum that does not follow is found."""
    rechained(path, change)
    with pytest.raises(LedgerCorrupt, match="cannot follow those before it"):
        Ledger(path).verify()


def edited(where: str, statement: str) -> None:
    with psycopg.connect(where, autocommit=True) as connection:
        connection.execute(statement)


SERVER = [
    "ALTER TABLE discreet_events DISABLE TRIGGER discreet_append_only",
    "DROP TRIGGER discreet_append_only ON discreet_events",
    "CREATE OR REPLACE FUNCTION discreet_append_only() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RETURN NULL; END $$",
    "CREATE TRIGGER mine AFTER INSERT ON discreet_events FOR EACH STATEMENT "
    "EXECUTE FUNCTION discreet_append_only()",
    "UPDATE discreet_budgets SET spent = '{\"epsilon\":\"0\"}' WHERE analyst = 'a'",
    "UPDATE discreet_account SET version = 0",
    "DROP TRIGGER discreet_append_only ON discreet_events; CREATE TRIGGER discreet_append_only "
    "BEFORE DELETE ON discreet_events FOR EACH STATEMENT EXECUTE FUNCTION discreet_append_only()",
]  # fmt: skip


@pytest.mark.parametrize("statement", SERVER)
@pytest.mark.parametrize("where", ["postgresql"], indirect=True)
@pytest.mark.one_in(3)
def test_a_server_is_guarded_too(where: str, statement: str) -> None:
    session = written(where)
    Ledger(where).verify()
    edited(where, statement)
    with pytest.raises(LedgerCorrupt):
        session.buy(bill("1/9"), answering(0))
    with pytest.raises(LedgerCorrupt):
        Ledger(where).verify()


def test_the_latest_event_is_found_by_an_index(path: Path) -> None:
    """So a release costs the same after many."""
    session = reopened(path)
    spelled = queries._LATEST.params(of="adult", share="a").compile(
        dialect=dialect(), compile_kwargs={"literal_binds": True}
    )
    plan = session._payer.store.read(
        lambda held: held.connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {spelled}").all()
    )
    steps = " ".join(row[-1] for row in plan)
    assert "discreet_latest_whole" in steps
    assert "discreet_latest_share" in steps
    assert "SCAN discreet_events" not in steps


def test_reading_relies_on_events_too(path: Path) -> None:
    session = reopened(path)
    tampered(path, SPENDING[1])
    ledger = Ledger(path)
    asked: list[Callable[[], Any]] = [
        ledger.budgets,
        lambda: session.quoted([bill(1)]),
        lambda: ledger.session("adult", "a"),
        lambda: ledger.extend("adult", analyst="a", epsilon=3),
        lambda: ledger.open("adult", analyst="b", epsilon=3),
        lambda: ledger.spent("adult", "a"),
    ]
    for ask in asked:
        with pytest.raises(DiscreetError, match="is not what the latest event about it left it as"):
            ask()


def test_a_release_goes_through_no_table() -> None:
    """Each of its statements finds its rows by an index, so its time does not grow with the events."""
    ledger = Ledger()
    ledger.open("adult", epsilon=1)
    session, statements = ledger.session("adult"), list[str]()

    def watch(transaction: Any) -> None:
        driver_of(transaction.connection).set_trace_callback(statements.append)

    ledger._store.write(watch)
    ledger._store._state = KnownState()  # else it knows all of it
    session.buy(bill("1/2", "monday"), answering(5))
    read = [text for text in statements if text.startswith("SELECT") and "discreet_events" in text]
    assert len(read) >= 4

    def plans(transaction: Any) -> list[str]:
        driver = driver_of(transaction.connection)
        driver.set_trace_callback(None)
        rows = [row for text in read for row in driver.execute(f"EXPLAIN QUERY PLAN {text}")]
        return [detail for *_, detail in rows]

    scans = [plan for plan in ledger._store.read(plans) if plan.startswith("SCAN")]
    assert scans
    assert all("USING INDEX discreet_described" in plan for plan in scans)


@pytest.mark.parametrize("analyst", [None, "a"])
def test_budgets_that_are_remembered_are_those_that_would_be_read(
    tmp_path: Path, analyst: str | None
) -> None:
    """Whoever charges says what the next release will read; it finds that, and need not parse it."""
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("adult", rho=4, privacy_unit="user_id")
    ledger.open("adult", analyst="a", rho=2, privacy_unit="user_id")
    session = ledger.session("adult", analyst)
    cost = replace(bill(guarantee=ZCDP(Fraction(1, 8), "add_remove")), unit="user_id")
    queries._BUDGETS_IN.clear()
    for number in range(3):
        session.buy(cost, answering(number))
    assert len(queries._BUDGETS_IN) == 4  # as they were opened, and three charges
    ledger._store.read(_check_remembered)
    last = list(queries._BUDGETS_IN.values())[-1]
    assert last[-1].spent.rho == Fraction(3, 8) + (2 if analyst is None else 0)


def _check_remembered(transaction: Transaction) -> None:
    chain = transaction.chain
    for (*_, rows, latest), budgets in queries._BUDGETS_IN.items():
        again = queries._read_budgets(rows)
        queries._check_states(again, queries._checked_events(latest, chain))
        assert again == budgets


def test_rows_of_budgets_are_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")
    session.buy(bill("1/8"), answering(1))
    monkeypatch.setattr(queries, "_read_budgets", untouched)
    assert session.buy(bill("1/8"), answering(2)) == 2


@pytest.mark.parametrize(
    ("start", "before", "after"),
    [
        (b"adultadd_remove", b'{"epsilon":"1/8"}', b'{"epsilon":"1/9"}'),  # its row
        (b"charged", b'"spent":{"epsilon":"1/8"}', b'"spent":{"epsilon":"1/9"}'),  # the last event
        (b"charged", b'"exponential"', b'"exponentiaI"'),
    ],
)
def test_bytes_of_one_row_changed_behind_its_back(
    tmp_path: Path, start: bytes, before: bytes, after: bytes
) -> None:
    """Each of the two rows that are remembered together, at the next release of the same session."""
    path = tmp_path / "budget.db"
    ledger = Ledger(path)
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")
    session.buy(bill("1/8"), answering(1))
    pages = path.read_bytes()
    place = pages.index(before, pages.index(start))
    path.write_bytes(pages[:place] + after + pages[place + len(before) :])
    with pytest.raises(LedgerCorrupt):
        session.buy(bill("1/8"), untouched)
