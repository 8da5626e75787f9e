"""Ledgers of older versions are still good, and are renewed in one step."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.errors import InvalidArgument, LedgerCorrupt
from discreet.ledger import Ledger
from discreet.selection.released_values import ReleasedValue

from ..ledgers import answering, bill, untouched
from .test_verification import rechained

# A ledger of schema 1 as the first version of this library wrote it. Never change this text.
VERSION_1 = """
CREATE TABLE discreet_ledger (id TEXT NOT NULL PRIMARY KEY, born INTEGER NOT NULL,
    version INTEGER NOT NULL, events BIGINT NOT NULL, head TEXT NOT NULL);
CREATE TABLE discreet_events (number INTEGER NOT NULL PRIMARY KEY, at TEXT NOT NULL,
    kind TEXT NOT NULL, dataset TEXT NOT NULL, analyst TEXT NOT NULL, request TEXT, body TEXT NOT NULL,
    head TEXT NOT NULL, UNIQUE (dataset, analyst, request, kind));
CREATE TABLE discreet_budgets (dataset TEXT NOT NULL, analyst TEXT NOT NULL,
    neighbors TEXT NOT NULL, total TEXT NOT NULL, spent TEXT NOT NULL, PRIMARY KEY (dataset, analyst));
CREATE TRIGGER discreet_no_update BEFORE UPDATE ON discreet_events
        BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER discreet_no_delete BEFORE DELETE ON discreet_events
        BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER discreet_in_order BEFORE INSERT ON discreet_events
        WHEN NEW.number <> 1 + coalesce((SELECT max(number) FROM discreet_events), 0)
        BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
INSERT INTO discreet_ledger VALUES ('6f1c', 1, 1, 3, 'HEAD');
INSERT INTO discreet_events VALUES (1, '2026-01-01T00:00:00.000000+00:00', 'opened', 'adult', '', NULL,
    '{"neighbors":"add_remove","total":{"epsilon":"1"}}', 'HASH1');
INSERT INTO discreet_events VALUES (2, '2026-01-01T00:00:01.000000+00:00', 'charged', 'adult', '', 'r',
    '{"costs":[{"epsilon":"1/3"}],"digest":"abababababababababababababababababababababababababababababababab","guarantee":{"epsilon":"1/3","kind":"pure_dp","neighbors":"add_remove"},"mechanism":"exponential","query":"mode of drink, 3 candidates"}',
    'HASH2');
INSERT INTO discreet_events VALUES (3, '2026-01-01T00:00:02.000000+00:00', 'answered', 'adult', '', 'r',
    '{"answer":[1,"0x20000000000000"]}', 'HEAD');
INSERT INTO discreet_budgets VALUES ('adult', '', 'add_remove', '{"epsilon":"1"}', '{"epsilon":"1/3"}');
"""  # noqa: E501


HASHES = {
    "HASH1": "75b35e3ffd1c67c53104e3d0c2c141139fb21088175b23c9423595472877ee4e",
    "HASH2": "beebc7febf46f885b51d15264b23c0ae0f4ca8901a1fa5ea89b1455261d20d64",
    "HEAD": "27cb79d9080bcc79f05a7ef3b2eb1168de0aa3fad9ee35aa573be648e9fb7765",
}


def test_a_ledger_of_the_first_version_is_still_good(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with closing(sqlite3.connect(path)) as file:
        file.executescript(_with_hashes(VERSION_1))
    ledger = Ledger(path)
    assert ledger.verify().events == 5
    assert [event.kind for event in ledger.history()[-2:]] == ["carried", "recounted"]
    asked = bill("1/3", "r", digest="ab" * 32)
    assert ledger.session("adult").buy(asked, untouched) == [1, 2**53]
    ledger.session("adult").buy(bill("2/3"), answering(0))
    assert ledger.budgets()[0].remaining.epsilon == 0


def test_budgets_of_the_first_version_protect_rows_as_they_promised(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with closing(sqlite3.connect(path)) as file:
        file.executescript(_with_hashes(VERSION_1))
    ledger = Ledger(path)
    assert [budget.unit for budget in ledger.budgets()] == [None]
    with pytest.raises(InvalidArgument, match="the budget of adult protects one row"):
        ledger.session("adult").buy(replace(bill("1/3"), unit="person"), untouched)
    ledger.open("visits", epsilon=1, privacy_unit="person")
    ledger.session("visits").buy(replace(bill("1/3"), unit="person"), answering(3))
    assert ledger.verify(HASHES["HEAD"]).events == 8
    with closing(sqlite3.connect(path)) as file:
        assert list(file.execute("SELECT version, born FROM discreet_ledger")) == [(9, 1)]
        units = list(file.execute("SELECT dataset, unit FROM discreet_budgets ORDER BY dataset"))
    assert units == [("adult", ""), ("visits", "person")]


def _with_hashes(text: str) -> str:
    for name, value in HASHES.items():
        text = text.replace(f"'{name}'", f"'{value}'")
    return text


def test_a_ledger_of_schema_5_is_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with closing(sqlite3.connect(path)) as file:
        file.executescript(_read_fixture(5))
    ledger = Ledger(path)
    spent = {b.name: str(b.spent) for b in ledger.budgets()}
    assert spent["plain / a"] == "ε = 0.5"
    assert spent["people / a"] == "ε = 0.5"
    again = discreet.select(
        [3, 1], sensitivity=1, epsilon="1/8", ledger=ledger.session("plain", "a"), request="monday"
    )
    assert not again.charged
    assert ledger.session("plain", "a").buy(bill("1/4", "paid"), answering(3)) == 3
    assert ledger.verify().events == 25


def test_a_ledger_of_schema_5_that_was_edited_is_not_upgraded(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with closing(sqlite3.connect(path)) as file:
        file.executescript(_read_fixture(5).replace('{"epsilon":"5/4"}', '{"epsilon":"1/4"}', 1))
    with pytest.raises(LedgerCorrupt):
        Ledger(path)
    with closing(sqlite3.connect(path)) as file:
        assert list(file.execute("SELECT version FROM discreet_ledger")) == [(5,)]


def test_a_ledger_of_schema_6_is_as_it_was_and_takes_values(tmp_path: Path) -> None:
    path = _with_fixture(tmp_path, 6)
    with closing(sqlite3.connect(path)) as file:
        [(head, events)] = file.execute("SELECT head, events FROM discreet_ledger")
    ledger = Ledger(path)
    assert ledger.verify(head).head == head
    assert ledger.verify(head).events == events
    session = ledger.session("plain", "a")
    assert session.buy(bill("1/4", "paid"), untouched) == [5, [2**70, 0]]
    key = ReleasedValue.of("Zürich")
    assert session.buy(bill("1/64", "keys"), answering([key, 3])) == [key, 3]
    assert Ledger(path).session("plain", "a").buy(bill("1/64", "keys"), untouched) == [key, 3]
    assert Ledger(path).verify(head).events == events + 2
    with closing(sqlite3.connect(path)) as file:
        assert list(file.execute("SELECT version, born FROM discreet_ledger")) == [(9, 6)]


def test_a_ledger_of_schema_6_with_a_value_was_not_written_by_schema_6(tmp_path: Path) -> None:
    path = _with_fixture(tmp_path, 6)

    def answer_a_value(events: list[list[Any]]) -> None:
        (answered,) = [event for event in events if event[5] == "paid" and event[2] == "answered"]
        answered[6] = '{"answer":{"text":"Bern"}}'

    rechained(path, answer_a_value)
    with pytest.raises(LedgerCorrupt, match="cannot follow those before it"):
        Ledger(path)
    with closing(sqlite3.connect(path)) as file:
        assert list(file.execute("SELECT version FROM discreet_ledger")) == [(6,)]


def test_a_ledger_of_schema_7_is_as_it_was_and_takes_batches(tmp_path: Path) -> None:
    path = _with_fixture(tmp_path, 7)
    with closing(sqlite3.connect(path)) as file:
        [(head, events)] = file.execute("SELECT head, events FROM discreet_ledger")
    ledger = Ledger(path)
    assert ledger.verify(head).head == head
    session = ledger.session("plain", "a")
    assert session.buy(bill("1/8", "keys"), untouched) == [ReleasedValue.of("Zürich"), 3]
    assert session.buy(bill("1/16", "charged"), answering(1)) == 1
    answers = session.buy_batch([(bill("1/64", name), answering(2)) for name in "xy"])
    assert [answer.indices for answer in answers] == [2, 2]
    assert Ledger(path).verify(head).events == events + 5
    with closing(sqlite3.connect(path)) as file:
        assert list(file.execute("SELECT version, born FROM discreet_ledger")) == [(9, 7)]


def test_a_ledger_of_schema_7_with_a_batch_was_not_written_by_schema_7(tmp_path: Path) -> None:
    path = _with_fixture(tmp_path, 7)

    def charge_a_batch(events: list[list[Any]]) -> None:
        charges = [event for event in events if event[2] == "charged"]
        answer = next(event for event in events if event[2] == "answered")
        events.remove(answer)
        events.insert(events.index(charges[1]) + 1, answer)
        for place, event in enumerate(charges[:2], 1):
            event[6] = event[6].replace('"costs"', f'"batch":{{"of":2,"place":{place}}},"costs"')
        for number, event in enumerate(events, 1):
            event[0] = number

    with closing(sqlite3.connect(path)) as file:
        file.execute("UPDATE discreet_ledger SET version = 8")
        file.commit()
    rechained(path, charge_a_batch)
    older = Path(shutil.copy(path, tmp_path / "older.db"))
    Ledger(path).verify()  # a ledger of schema 8 may hold it
    with closing(sqlite3.connect(older)) as file:
        file.execute("UPDATE discreet_ledger SET version = 7")
        file.commit()
    with pytest.raises(LedgerCorrupt, match="cannot follow those before it"):
        Ledger(older)


def _with_fixture(tmp_path: Path, schema: int) -> Path:
    """Return a file with a ledger of an older schema."""
    path = tmp_path / "budget.db"
    with closing(sqlite3.connect(path)) as file:
        file.executescript(_read_fixture(schema))
    return path


def _read_fixture(schema: int) -> str:
    """Return a ledger of an older schema, as SQL."""
    return Path(__file__).with_name(f"ledger_schema_{schema}.sql").read_text("utf-8")
