"""The auditor's pages: what happened, whether it is what was written, and what can be taken along."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import discreet
from discreet.ledger.verification import Verified

from .person import Person, Read, Served


def plain(text: str) -> str:
    return " ".join(Read(text).text.split())


@pytest.fixture
def auditor(served: Served) -> Person:
    return served.person("auditor")


def verified() -> Verified:
    return discreet.Ledger("budget.db").verify()


def test_history_shows_every_event_page_by_page(
    served: Served, auditor: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.service.pages.ledger_pages._ROWS", 5)
    ledger = discreet.Ledger("budget.db")
    owner = discreet.connect("discreet.toml", token=served.tokens["owner"])
    for _ in range(3):
        owner.mode("people", "city", epsilon="1/1000")
    count, address = len(ledger.history()), "/history"
    seen: set[int] = set()
    while address:
        read = auditor.read(address)
        cells = " ".join(read.text.split())
        seen |= {n for n in range(1, count + 1) if f" {n} 20" in cells}
        links = [attrs.get("href", "") for tag, attrs in read.elements if tag == "a"]
        older = [
            link
            for link in links
            if link.startswith("/history?from=") and _start(link) > _start(address)
        ]
        address = older[0] if older else ""
    assert seen == {*range(1, count + 1)}
    assert auditor.get("/history?from=x").status_code == 200
    assert auditor.get("/history?from=99999999").status_code == 200


def _start(address: str) -> int:
    return int(address.partition("from=")[2].partition("&")[0] or 0)


def test_verify_says_what_holds_and_compares_a_head(auditor: Person) -> None:
    form, found = auditor.read("/history").form("/history"), verified()
    told = plain(auditor.submit(form).text)
    assert f"The ledger holds: {found.events:,} events" in told
    assert found.head in told
    assert "No head was compared" in told
    assert "is on its chain" in plain(auditor.submit(form, head=found.head).text)
    assert "The ledger does not hold" in plain(auditor.submit(form, head="0" * 64).text)
    assert auditor.submit(form, head="<b>").status_code == 422


def test_checkpoint_and_events_are_those_of_the_ledger(auditor: Person) -> None:
    end = json.loads(auditor.get("/history/checkpoint").text)
    assert end == discreet.Ledger("budget.db").checkpoint().as_dict()
    lines = auditor.get("/history/events").text.rstrip(" ").splitlines()
    assert [json.loads(line)["head"] for line in lines][-1] == end["head"]
    assert len(lines) == end["number"]


@pytest.mark.parametrize(
    ("lang", "word"), [("en", "The privacy budget of people"), ("zh", "people 的隐私预算")]
)
def test_a_report_is_a_file_in_the_language_of_the_visitor(
    served: Served, lang: str, word: str
) -> None:
    reply = served.person("auditor", lang).get("/history/report?dataset=people")
    assert reply.headers["content-disposition"] == 'attachment; filename="privacy-budget.html"'
    assert word in reply.text
    assert served.person("auditor").get("/history/report?dataset=none").status_code in (403, 404)


def test_a_ledger_that_was_changed_does_not_hold(served: Served, auditor: Person) -> None:
    form, path = auditor.read("/history").form("/history"), Path("budget.db")
    kept = path.read_bytes()
    try:
        with closing(sqlite3.connect(path)) as file, file:
            for (name,) in file.execute(
                "SELECT name FROM sqlite_master WHERE type = 'trigger'"
            ).fetchall():
                file.execute(f'DROP TRIGGER "{name}"')
        file.close()
        told = plain(auditor.submit(form).text)
        assert "The ledger does not hold" in told
        assert "events are what was written" not in told
    finally:
        path.write_bytes(kept)
