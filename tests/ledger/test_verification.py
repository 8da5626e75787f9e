"""What `verify` sees: the chain, the sums, the file; and how an older ledger becomes a newer one."""

import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from discreet.errors import DiscreetError, InvalidArgument, LedgerCorrupt, LedgerError, LedgerTooNew
from discreet.ledger import Event, Ledger, schema
from discreet.ledger.events import canonical_json, chain_hash, genesis
from discreet.privacy import BoundedRange

from ..ledgers import answering, bill, forgetting, undrawn, untouched

TRIGGERS = ("discreet_no_update", "discreet_no_delete", "discreet_in_order")

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


def written(path: Path, releases: int = 3) -> Ledger:
    """Return a ledger in that file with a little of everything."""
    ledger = Ledger(path)
    ledger.open("adult", epsilon=2)
    ledger.open("adult", analyst="a", epsilon="3/2")
    ledger.extend("adult", epsilon=3)
    for i in range(releases):
        guarantee = BoundedRange(Fraction(1, 10 + i), "add_remove")
        ledger.session("adult", "a").buy(
            bill(request=f"r{i}", guarantee=guarantee), answering([i, 2**70])
        )
    return ledger


def tampered(path: Path, statement: str, *values: Any) -> None:
    """Change the file as somebody with a text editor for SQLite would, triggers and all."""
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        made = dict(file.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"))
        for name in made:
            file.execute(f"DROP TRIGGER {name}")
        assert file.execute(statement, values).rowcount != 0
        for sql in made.values():
            file.execute(sql)


def test_what_was_written_verifies(where: str) -> None:
    ledger = written(Path(where)) if "://" not in where else Ledger(where)
    if "://" in where:
        ledger.open("adult", epsilon=1)
        ledger.session("adult").buy(bill("1/3"), answering(0))
    heads = [event.head for event in ledger.history()]
    assert ledger.verify().head == heads[-1]
    for head in heads:
        assert ledger.verify(head).events == len(heads)
    assert len(set(heads)) == len(heads)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE discreet_events SET body = replace(body, '1/11', '1/12') WHERE kind = 'charged'",
        "UPDATE discreet_events SET at = '2026-01-01T00:00:00.000000+00:00' WHERE number = 2",
        "UPDATE discreet_events SET kind = 'opened' WHERE number = 4",
        "UPDATE discreet_events SET dataset = 'census' WHERE number = 1",
        "UPDATE discreet_events SET analyst = 'b' WHERE number = 4",
        "UPDATE discreet_events SET request = 'r9' WHERE number = 9",
        "UPDATE discreet_events SET request = NULL WHERE number = 9",
        "UPDATE discreet_events SET number = 10 WHERE number = 9",
        "UPDATE discreet_events SET number = 0 WHERE number = 1",
        "UPDATE discreet_events SET head = upper(head) WHERE number = 5",
        "UPDATE discreet_events SET body = CAST(body AS BLOB) WHERE number = 5",
        "UPDATE discreet_events SET body = ' ' || body || ' junk' WHERE number = 5",
        "DELETE FROM discreet_events WHERE number = 5",
        "DELETE FROM discreet_events WHERE number = 9",
        "DELETE FROM discreet_events",
        "DELETE FROM discreet_budgets WHERE analyst = 'a'",
        "INSERT INTO discreet_budgets VALUES ('x', '', 'add_remove', '{\"epsilon\":\"1\"}', '{}', '', '', '')",
        "UPDATE discreet_budgets SET unit = 'person' WHERE analyst = 'a'",
        "UPDATE discreet_budgets SET unit = x'ff'",
        "UPDATE discreet_budgets SET shares = 'oversubscribed' WHERE analyst = ''",
        "UPDATE discreet_budgets SET shares = 'none' WHERE analyst = ''",
        "UPDATE discreet_budgets SET delta_for = 'questions'",
        "UPDATE discreet_budgets SET spent = '{\"epsilon\":\"0\"}' WHERE analyst = ''",
        "UPDATE discreet_budgets SET total = '{\"epsilon\":\"9\"}' WHERE analyst = ''",
        "UPDATE discreet_budgets SET neighbors = 'replace_one'",
        "UPDATE discreet_budgets SET neighbors = 'nobody'",
        "UPDATE discreet_budgets SET spent = '[]'",
        "UPDATE discreet_budgets SET spent = '{\"epsilon\":\"1/0\"}'",
        "UPDATE discreet_budgets SET spent = '{\"mu\":\"1\"}'",
        "UPDATE discreet_budgets SET spent = x'ff'",
        "UPDATE discreet_ledger SET id = 'other'",
        "UPDATE discreet_ledger SET born = 1",
        "UPDATE discreet_ledger SET version = 0",
        "UPDATE discreet_ledger SET version = 'one'",
        "UPDATE discreet_ledger SET events = 7",
        "UPDATE discreet_ledger SET events = 0",
        "UPDATE discreet_ledger SET head = ''",
        "DELETE FROM discreet_ledger",
        "INSERT INTO discreet_ledger SELECT 'two', born, version, events, head FROM discreet_ledger",
        "CREATE TRIGGER mine AFTER INSERT ON discreet_events BEGIN DELETE FROM discreet_budgets; END",
        "DROP TABLE discreet_budgets",
        "CREATE TABLE notes (text TEXT)",
    ],
)  # fmt: skip
@pytest.mark.one_in(5)
def test_what_was_changed_does_not(tmp_path: Path, statement: str) -> None:
    written(tmp_path / "budget.db")
    tampered(tmp_path / "budget.db", statement)
    with pytest.raises(LedgerCorrupt):
        Ledger(tmp_path / "budget.db").verify()


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_a_trigger_that_is_gone_is_missed(tmp_path: Path, trigger: str) -> None:
    ledger = written(tmp_path / "budget.db")
    with closing(sqlite3.connect(tmp_path / "budget.db")) as file:
        file.execute(f"DROP TRIGGER {trigger}")
    with pytest.raises(LedgerCorrupt, match="triggers"):
        ledger.verify()


def rechained(path: Path, change: Callable[[list[list[Any]]], None]) -> None:
    """Write the chain anew after a change, as somebody who knows how it is made would."""
    with closing(sqlite3.connect(path)) as file:
        events = [
            list(row) for row in file.execute("SELECT * FROM discreet_events ORDER BY number")
        ]
        [(identity, born)] = file.execute("SELECT id, born FROM discreet_ledger")
    change(events)
    head = genesis(identity, born)
    for event in events:
        head = event[-1] = chain_hash(head, event[:-1])
    tampered(path, "DELETE FROM discreet_events")
    with closing(sqlite3.connect(path)) as file:
        file.executemany("INSERT INTO discreet_events VALUES (?,?,?,?,?,?,?,?)", events)
        file.execute("UPDATE discreet_ledger SET events = ?, head = ?", (len(events), head))
        file.commit()
    forgetting()


def about_persons(event: list[Any]) -> None:
    """Let the event say that it protects persons."""
    event[6] = canonical_json({**json.loads(event[6]), "privacy_unit": "p"})


@pytest.mark.parametrize(
    "change",
    [
        lambda events: events[3].__setitem__(6, events[3][6].replace('"1/10"', '"1/9"')),
        lambda events: events[3].__setitem__(6, events[3][6].replace('"1/10"', '"3"')),
        lambda events: events[3].__setitem__(6, events[3][6].replace('"costs":[', '"costs":[{},')),
        lambda events: events[3].__setitem__(6, events[3][6].replace("bounded_range", "unbounded")),
        lambda events: events[3].__setitem__(6, "[]"),
        lambda events: events[4].__setitem__(6, '{"answer":"x"}'),
        lambda events: events[4].__setitem__(5, "r7"),
        lambda events: events[4].__setitem__(5, None),
        lambda events: events[4].__setitem__(2, "thanked"),
        lambda events: events[0].__setitem__(6, '{"neighbors":"nobody","total":{"epsilon":"1"}}'),
        lambda events: about_persons(events[0]),
        lambda events: about_persons(events[1]),
        lambda events: about_persons(events[3]),
        lambda events: events[0].__setitem__(4, "b"),
        lambda events: events[1].__setitem__(4, ""),
        lambda events: events[2].__setitem__(6, '{"total":{"epsilon":"1"}}'),
        lambda events: events[2].__setitem__(3, "census"),
        lambda events: events.pop(),
    ],
)  # fmt: skip
@pytest.mark.one_in(3)
def test_a_chain_that_was_made_anew_must_still_make_sense(
    tmp_path: Path, change: Callable[[list[list[Any]]], None]
) -> None:
    path = tmp_path / "budget.db"
    written(path)
    rechained(path, lambda _: None)
    noted = Ledger(path).verify().head
    rechained(path, change)
    ledger = Ledger(path)
    if ledger.history()[-1].number == 9:
        with pytest.raises(LedgerCorrupt):
            ledger.verify()
    with pytest.raises(LedgerCorrupt):
        ledger.verify(noted)


def test_an_older_copy_is_told_by_a_head_that_was_noted(tmp_path: Path) -> None:
    ledger = written(tmp_path / "budget.db")
    shutil.copy(tmp_path / "budget.db", tmp_path / "backup.db")
    early = ledger.verify().head
    ledger.session("adult").buy(bill("1/3"), answering(0))
    late = ledger.verify(early).head
    shutil.copy(tmp_path / "backup.db", tmp_path / "budget.db")
    forgetting()
    ledger = Ledger(tmp_path / "budget.db")
    assert ledger.verify(early).head == early  # without the later head it looks whole
    with pytest.raises(LedgerCorrupt, match="an older copy, or was written anew"):
        ledger.verify(late)


def test_no_answer_comes_out_of_a_broken_ledger(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    session = written(path).session("adult", "a")
    asked_again = bill("1/11", "r1", guarantee=BoundedRange(Fraction(1, 11), "add_remove"))
    for statement, asked in (
        ("UPDATE discreet_ledger SET head = ''", asked_again),
        ("UPDATE discreet_events SET body = '?' WHERE request = 'r1'", asked_again),
        ("UPDATE discreet_budgets SET spent = '?'", bill("1/10")),
        ("DROP TABLE discreet_budgets", bill("1/10")),
    ):
        shutil.copy(path, tmp_path / "kept.db")
        tampered(path, statement)
        with pytest.raises(LedgerCorrupt):
            session.buy(asked, untouched)
        shutil.copy(tmp_path / "kept.db", path)


def test_a_ledger_that_breaks_while_scores_are_computed_draws_nothing(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    session = written(path).session("adult", "a")

    def prepare() -> Any:
        tampered(path, "UPDATE discreet_ledger SET head = ''")
        return undrawn()

    with pytest.raises(LedgerCorrupt, match="event 9 is not the last one"):
        session.buy(bill("1/10"), prepare)


def readable(path: Path) -> tuple[list[Event], list[Any]] | None:
    """Return everything that can be read, or None if opening or `verify` reports damage."""
    try:
        ledger = Ledger(path)
        ledger.verify()
        return ledger.history(), ledger.budgets()
    except DiscreetError:
        return None


def flipped(path: Path, places: list[int], masks: Callable[[int], int]) -> int:
    """Flip bits at each place, one at a time; return how often it was reported."""
    whole, expected = path.read_bytes(), readable(path)
    assert expected is not None
    reported, broken = 0, path.with_name("broken.db")
    for place in places:
        broken.write_bytes(
            whole[:place] + bytes([whole[place] ^ masks(place)]) + whole[place + 1 :]
        )
        found = readable(broken)
        assert found in (None, expected), f"byte {place} changed what is read, and nobody noticed"
        reported += found is None
    return reported


def test_a_flipped_byte_anywhere_is_reported_or_changes_nothing(tmp_path: Path) -> None:
    """Some in every page: headers, trees, free space."""
    path = tmp_path / "budget.db"
    written(path, releases=20)
    dice, size = random.Random(1), path.stat().st_size
    pages = range(0, size, 4096)
    places = [page + dice.randrange(0, 128) for page in pages for _ in range(3)]
    places += [dice.randrange(size) for _ in range(40)]
    assert flipped(path, places, lambda _: 1 << dice.randrange(8)) > 20


@pytest.mark.proof
def test_every_flipped_byte_is_reported_or_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    written(path, releases=2)
    dice = random.Random(2)
    flipped(path, list(range(path.stat().st_size)), lambda _: dice.randrange(1, 256))


def test_each_byte_of_an_event_is_bound(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    ledger = written(path)
    event = ledger.history()[4]
    whole = path.read_bytes()
    places = []
    for text in (event.at, event.kind, str(event.request), canonical_json(event.body), event.head):
        start = whole.rindex(event.at.encode()) if text == event.at else whole.index(
            text.encode(), whole.index(event.at.encode()))  # fmt: skip
        places += list(range(start, start + len(text)))
    assert flipped(path, places, lambda place: 1 + place % 31) == len(places)


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
        assert list(file.execute("SELECT version, born FROM discreet_ledger")) == [(5, 1)]
        units = list(file.execute("SELECT dataset, unit FROM discreet_budgets ORDER BY dataset"))
    assert units == [("adult", ""), ("visits", "person")]


def _with_hashes(text: str) -> str:
    for name, value in HASHES.items():
        text = text.replace(f"'{name}'", f"'{value}'")
    return text


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
    for old in (lambda: Ledger(where), lambda: session.buy(bill("1/2"), untouched)):
        with pytest.raises(
            LedgerTooNew, match="has schema 6, and this version of discreet knows 5: upgrade"
        ):
            old()
