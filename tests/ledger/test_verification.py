"""What `verify` sees: the chain, the sums, the file; and how an older ledger becomes a newer one."""

import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import DiscreetError, LedgerCorrupt
from discreet.ledger import Event, Ledger
from discreet.ledger.events import canonical_json, chain_hash, genesis
from discreet.privacy import BoundedRange

from ..ledgers import answering, bill, forgetting, undrawn, untouched

TRIGGERS = ("discreet_no_update", "discreet_no_delete", "discreet_in_order")


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
        "UPDATE discreet_account SET id = 'other'",
        "UPDATE discreet_account SET born = 1",
        "UPDATE discreet_account SET version = 0",
        "UPDATE discreet_account SET version = 'one'",
        "UPDATE discreet_account SET events = 7",
        "UPDATE discreet_account SET events = 0",
        "UPDATE discreet_account SET head = ''",
        "DELETE FROM discreet_account",
        "INSERT INTO discreet_account SELECT 'two', born, version, events, head FROM discreet_account",
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
        [(identity, born)] = file.execute("SELECT id, born FROM discreet_account")
    change(events)
    head = genesis(identity, born)
    for event in events:
        head = event[-1] = chain_hash(head, *event[:-1])
    tampered(path, "DELETE FROM discreet_events")
    with closing(sqlite3.connect(path)) as file:
        file.executemany("INSERT INTO discreet_events VALUES (?,?,?,?,?,?,?,?)", events)
        file.execute("UPDATE discreet_account SET events = ?, head = ?", (len(events), head))
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
    with pytest.raises(LedgerCorrupt, match="an older copy, or was rewritten"):
        ledger.verify(late)


def test_no_answer_comes_out_of_a_broken_ledger(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    session = written(path).session("adult", "a")
    asked_again = bill("1/11", "r1", guarantee=BoundedRange(Fraction(1, 11), "add_remove"))
    for statement, asked in (
        ("UPDATE discreet_account SET head = ''", asked_again),
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
        tampered(path, "UPDATE discreet_account SET head = ''")
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


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.proof)])
def test_each_byte_of_an_event_is_bound(step: int, tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    ledger = written(path)
    event = ledger.history()[4]
    whole = path.read_bytes()
    places = []
    for text in (event.at, event.kind, str(event.request), canonical_json(event.body), event.head):
        start = whole.rindex(event.at.encode()) if text == event.at else whole.index(
            text.encode(), whole.index(event.at.encode()))  # fmt: skip
        places += list(range(start, start + len(text), step))
    assert flipped(path, places, lambda place: 1 + place % 31) == len(places)
