"""The tables of a ledger."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection

from discreet.errors import Exhausted, LedgerError, LedgerTooNew, Unanswerable
from discreet.ledger import Ledger, schema
from discreet.ledger.failed_questions import Allowance, QuestionFailed
from discreet.ledger.ledger import session_of
from discreet.ledger.purchase import ChargeTerms
from discreet.selection.account import Indices
from tests.ledger.test_upgrade import _read_fixture

from ..ledgers import answering, bill, untouched


def add_notes(connection: Connection) -> None:
    connection.exec_driver_sql("CREATE TABLE discreet_notes (text TEXT)")


def fail(_: Connection) -> None:
    raise LedgerError("this step fails")


def test_an_older_schema_is_renewed_in_one_step(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    session, head = ledger.session("adult"), ledger.verify().head
    known = schema.MIGRATIONS
    with monkeypatch.context() as newer:
        newer.setattr(schema, "MIGRATIONS", [*known, add_notes, fail])
        newer.setattr("discreet.ledger.store.MIGRATIONS", schema.MIGRATIONS)
        with pytest.raises(LedgerError, match="this step fails"):
            Ledger(where)
    assert Ledger(where).verify(head).events == 1  # nothing of it is left
    with monkeypatch.context() as newer:
        newer.setattr(schema, "MIGRATIONS", [*known, add_notes])
        newer.setattr("discreet.ledger.store.MIGRATIONS", schema.MIGRATIONS)
        assert Ledger(where).verify(head).events == 1
        Ledger(where).session("adult").buy(bill("1/2"), answering(0))
    said = f"has schema {len(known) + 1}, and this version of discreet knows {len(known)}: upgrade"
    for old in (lambda: Ledger(where), lambda: session.buy(bill("1/2"), untouched)):
        with pytest.raises(LedgerTooNew, match=said):
            old()


@pytest.mark.parametrize("schema", [4, 5, 6])
def test_a_ledger_without_failures_counts_them_from_now_on(tmp_path: Path, schema: int) -> None:
    path = tmp_path / "budget.db"
    with closing(sqlite3.connect(path)) as file:
        file.executescript(_read_fixture(schema))
        [(head, events)] = file.execute("SELECT head, events FROM discreet_ledger")
    ledger = Ledger(path)
    assert ledger.verify(head).events == events + (8 if schema == 4 else 0)
    (share,) = [b for b in ledger.budgets() if b.name == "plain / a"]
    asker = session_of(ledger, share, ChargeTerms(allowance=Allowance("plain", "a", 1)))

    def fail() -> Callable[[], Indices]:
        def draw() -> Indices:
            raise QuestionFailed(Unanswerable("because of the data"))

        return draw

    with pytest.raises(Unanswerable):
        asker.buy(bill("1/16", "r"), fail)
    with pytest.raises(Exhausted, match="closed after 1 failure"):
        asker.buy(bill("1/16", "s"), untouched)
    assert ledger.reopen("plain")[0].analyst == "a"
    assert asker.buy(bill("1/16", "s"), answering(0)) == 0
    assert Ledger(path).verify(head).events == ledger.history()[-1].number
