"""What is shown, written and read of a ledger: files for owners, inert cells, names as they are, and no waiting."""

import csv
import json
import os
import re
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import Connection

import discreet
from discreet.cli import run
from discreet.errors import InvalidArgument, LedgerCorrupt
from discreet.ledger import Ledger, queries, verification

from ..ledgers import answering, bill

EVIL = ["=HYPERLINK(1)", "+1", "-1", "@SUM(A1)", "＝1"]
SEPARATORS = (",", ";", "|", " ", ":", "/", '"')


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX's")
def test_exports_and_reports_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    ledger = Ledger()
    ledger.open("adult", epsilon=1)
    old = tmp_path / "old.csv"
    old.write_text("")
    old.chmod(0o640)
    with umask(0):
        for name in ("events.json", "events.csv"):
            ledger.export(tmp_path / name)
            assert mode_of(tmp_path / name) == 0o600
        ledger.export(old)
        assert mode_of(discreet.report(ledger, tmp_path / "r.html", dataset="adult")) == 0o600
    assert mode_of(old) == 0o640  # the owner has said who reads that one


@pytest.mark.skipif(os.name != "posix", reason="limits of files are POSIX's")
@pytest.mark.parametrize("name", ["e.csv", "e.json", "r.html"])
def test_a_full_disk_leaves_the_file_that_was_there_and_no_half_of_another(
    tmp_path: Path, name: str
) -> None:
    import resource

    ledger, place = Ledger(), tmp_path / name
    ledger.open("adult", epsilon=1)

    def write() -> None:
        ledger.export(place) if place.suffix != ".html" else discreet.report(
            ledger, place, dataset="adult"
        )

    def write_on_a_full_disk(size: int) -> None:
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            with pytest.raises(OSError, match="File too large"):
                write()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    write_on_a_full_disk(100)
    assert list(tmp_path.iterdir()) == []
    write()
    old = place.read_bytes()
    write_on_a_full_disk(len(old) - 1)
    assert list(tmp_path.iterdir()) == [place]
    assert place.read_bytes() == old


@pytest.mark.skipif(os.name != "posix", reason="pipes and links are POSIX's")
def test_an_export_goes_where_a_link_leads_and_into_a_pipe(tmp_path: Path) -> None:
    ledger = Ledger()
    ledger.open("adult", epsilon=1)
    link, there, pipe = tmp_path / "link.csv", tmp_path / "there.csv", tmp_path / "pipe.csv"
    link.symlink_to(there)
    ledger.export(link)
    assert link.is_symlink()
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    ledger.export(pipe)
    assert os.read(reader, 1 << 16) == there.read_bytes()
    os.close(reader)
    assert pipe.is_fifo()


@pytest.mark.parametrize("name", EVIL)
def test_a_spreadsheet_computes_nothing_of_an_export(tmp_path: Path, name: str) -> None:
    ledger = Ledger()
    ledger.open(name, epsilon=1)
    ledger.open(name, analyst=name, epsilon=1)
    ledger.session(name, name).buy(bill("1/2", name), answering(1))
    ledger.export(tmp_path / "events.csv")
    with (tmp_path / "events.csv").open(newline="", encoding="utf-8") as file:
        told = list(csv.DictReader(file))
    cells = [cell for row in told for cell in row.values()]
    assert f"'{name}" in cells
    assert not any(cell.startswith(tuple("=+-@\t\r＝＋－＠")) for cell in cells)
    assert [row["number"] for row in told] == ["1", "2", "3", "4"]


@pytest.mark.parametrize("formula", ["=1+1", "-1+cmd", "-cmd", "+1", "@x", "－1"])
def test_no_separator_of_a_spreadsheet_makes_a_formula(tmp_path: Path, formula: str) -> None:
    """Analysts choose the names of requests. As JSON the events are read as they were."""
    ledger = Ledger()
    ledger.open("adult", epsilon=1)
    for i, separator in enumerate((*SEPARATORS, ";;", "; ")):
        name = f"a{separator}{formula}"
        paid = bill("1/100", f"{name} {i}")
        ledger.session("adult").buy(replace(paid, query=f"q {name}"), answering(1))
    ledger.export(tmp_path / "events.csv")
    text = (tmp_path / "events.csv").read_text(encoding="utf-8")
    for separator in (*SEPARATORS, "\t", "\r", "\n", '",', '"'):
        for cell in text.split(separator):
            is_number = re.fullmatch(r"-?[0-9./e]*[\]}]*", cell)
            assert not cell.startswith(tuple("=+@＝＋－＠")), (separator, cell)
            assert not cell.startswith("-") or is_number, (separator, cell)
    with (tmp_path / "events.csv").open(newline="", encoding="utf-8") as file:
        bodies = [json.loads(row["body"]) for row in csv.DictReader(file)]
    assert bodies == [event.body for event in ledger.history("adult")]


@pytest.mark.parametrize("name", ["[/x]", "[red]boo", "[link=http://x]y[/link]", "[", ":smile:"])
@pytest.mark.one_in(3)
def test_names_are_no_markup(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    assert run(["ledger", "open", "budget.db", "--dataset", name, "--epsilon", "1"]) == 0
    assert name in capsys.readouterr().out
    charge = ["ledger", "charge", "budget.db", "--dataset", name, "--epsilon", "1/2"]
    assert run([*charge, "--description", name, "--request", name]) == 0
    for command in ("show", "history"):
        capsys.readouterr()
        assert run(["ledger", command, "budget.db"]) == 0
        assert name in capsys.readouterr().out


def test_nothing_in_a_table_moves_the_cursor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ledger = Ledger("budget.db")
    ledger.open("adult", epsilon=1)
    evil = bill("1/2")
    object.__setattr__(evil, "query", "mode of \x1b[2J\x9b31m\x07, 2 candidates")
    ledger.session("adult").buy(evil, answering(0))
    assert run(["ledger", "history", "budget.db"]) == 0
    out = capsys.readouterr().out
    assert "\\x1b" in out
    assert not {"\x1b", "\x9b", "\x07"} & set(out)


def written(path: Path) -> Ledger:
    ledger = Ledger(path)
    ledger.open("adult", epsilon=1)
    ledger.session("adult").buy(bill("1/4"), answering(1))
    return ledger


def test_who_reads_for_long_blocks_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a ledger is verified, told, or summed up, another one pays and draws; what is seen is one view."""
    path = tmp_path / "budget.db"
    ledger, events = written(path), 3
    heads = [ledger.verify().head]

    def paying(at: str, module: Any, name: str) -> None:
        """Let somebody else pay in the middle of `name`."""
        known = getattr(module, name)

        def slow(connection: Connection, *others: Any) -> Any:
            monkeypatch.setattr(module, name, known)
            monkeypatch.setattr("discreet.ledger.store.LOCK_TIMEOUT", 0.5)
            Ledger(path).session("adult").buy(bill("1/16", at), answering(2))
            return known(connection, *others)

        monkeypatch.setattr(module, name, slow)

    paying("verify", verification, "stored_budgets")
    assert ledger.verify().events == events
    paying("history", queries, "all_events")
    assert len(ledger.history()) == events + 2
    paying("spent", queries, "all_events")
    assert ledger.spent("adult").answers == 3
    paying("export", queries, "all_events")
    ledger.export(tmp_path / "events.json")
    assert ledger.verify(heads[0]).events == events + 8


def test_a_file_in_write_ahead_mode_is_not_taken_for_whole(tmp_path: Path) -> None:
    """Its newest events are in another file."""
    ledger = written(tmp_path / "budget.db")
    with closing(sqlite3.connect(tmp_path / "budget.db")) as file:
        file.execute("PRAGMA journal_mode = WAL")
        for look in (ledger.verify, ledger.history, lambda: ledger.spent("adult")):
            with pytest.raises(LedgerCorrupt, match="Set it back: PRAGMA journal_mode = DELETE"):
                look()
        file.execute("PRAGMA journal_mode = DELETE")
    assert ledger.verify().events == 3


@pytest.mark.parametrize(
    "head", ["", "0" * 63, "0" * 65, "g" * 64, 7, b"0" * 64, np.array(["a"]), pd.Series(["a", "b"])]
)
def test_what_can_be_no_head_is_refused_as_such(head: Any) -> None:
    ledger = Ledger()
    ledger.open("adult", epsilon=1)
    with pytest.raises(InvalidArgument, match="a head is the 64 digits that verify returned"):
        ledger.verify(head)
    with pytest.raises(LedgerCorrupt, match="is not in this ledger"):
        ledger.verify("0" * 64)


@pytest.mark.parametrize("dataset", [10**30, 7, b"adult", "a\0b", "\ud800", pd.Series(["adult"])])
def test_histories_are_of_names(dataset: Any) -> None:
    with pytest.raises(InvalidArgument, match="dataset must be a printable name"):
        Ledger().history(dataset)


def test_a_copy_is_checked_as_the_file_would_be(tmp_path: Path) -> None:
    """Pages that are damaged are copied as they are."""
    ledger = written(tmp_path / "budget.db")
    whole = (tmp_path / "budget.db").read_bytes()
    found = 0
    for page in range(4096, len(whole), 4096):
        (tmp_path / "budget.db").write_bytes(whole[:page] + bytes(64) + whole[page + 64 :])
        try:
            ledger.verify()
        except LedgerCorrupt:
            found += 1
    (tmp_path / "budget.db").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(LedgerCorrupt):
        ledger.verify()
    (tmp_path / "budget.db").write_bytes(whole)
    assert ledger.verify().events == 3
    assert found == len(whole) // 4096 - 1
