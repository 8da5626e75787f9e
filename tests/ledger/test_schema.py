"""The tables of a ledger: events can only be appended, and the tables are those that are declared."""

import pytest
from sqlalchemy import Executable, inspect

from discreet.errors import LedgerCorrupt
from discreet.ledger import Ledger
from discreet.ledger.schema import BUDGET_ROWS, EVENTS, LEDGER
from discreet.ledger.transaction import Transaction


def test_the_tables_have_the_columns_that_statements_name(where: str) -> None:
    def columns(transaction: Transaction) -> dict[str, list[str]]:
        tables = inspect(transaction.connection)
        return {
            name: [str(column["name"]) for column in tables.get_columns(name)]
            for name in tables.get_table_names()
        }

    declared = {table.name: list(table.c.keys()) for table in (LEDGER, EVENTS, BUDGET_ROWS)}
    assert Ledger(where)._store.read(columns) == declared


def test_events_can_only_be_appended(where: str) -> None:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    row = {"number": 1, "at": "", "kind": "opened", "dataset": "x", "analyst": "", "request": None,
           "body": "{}", "head": ""}  # fmt: skip
    statements: list[Executable] = [
        EVENTS.update().values(kind="charged"),
        EVENTS.delete(),
        EVENTS.insert().values(row),
    ]

    def changing(held: Transaction, statement: Executable) -> None:
        held.connection.execute(statement)

    for statement in statements:
        with pytest.raises(LedgerCorrupt):
            ledger._store.write(changing, statement)
    assert ledger.verify().events == 1
