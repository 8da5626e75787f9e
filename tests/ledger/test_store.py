"""Where a ledger is kept, and by whom it is shared."""

import pickle
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import Exhausted, InvalidArgument, LedgerError, LedgerUnwritable
from discreet.ledger import Ledger

from ..ledgers import answering, bill


@pytest.mark.parametrize("where", ["", 3, b"budget.db", "mysql://a/b", "sqlite:///a.db?mode=ro",
                                   "postgresql+psycopg2://a/b"])  # fmt: skip
def test_places_where_no_ledger_is_kept(where: Any) -> None:
    with pytest.raises(InvalidArgument, match="a ledger is"):
        Ledger(where)


def test_a_password_is_never_told() -> None:
    with pytest.raises(InvalidArgument) as refused:
        Ledger("postgresql://me:secret@host:door/db")
    assert "secret" not in str(refused.value)
    with pytest.raises(LedgerUnwritable) as failed:
        Ledger("postgresql://me:secret@/db?host=/nowhere")
    assert "secret" not in str(failed.value)
    assert "me:***@" in str(failed.value)
    assert failed.value.__cause__ is None
    assert failed.value.__context__ is None


def test_urls_of_sqlite(tmp_path: Path) -> None:
    Ledger(tmp_path / "budget.db").open("adult", epsilon=1)
    assert len(Ledger(f"sqlite:///{tmp_path}/budget.db").budgets()) == 1
    assert Ledger("sqlite://").budgets() == Ledger("sqlite:///:memory:").budgets() == []


def test_a_pickle_reopens_a_file_by_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ledger = Ledger("budget.db")
    ledger.open("adult", epsilon=1)
    packed = pickle.dumps(ledger)
    monkeypatch.chdir("/")
    assert pickle.loads(packed).budgets() == ledger.budgets()
    with pytest.raises(LedgerError, match="only a ledger in a file can be pickled"):
        pickle.dumps(Ledger())


@pytest.mark.parametrize("in_memory", [True, False])
def test_threads_share_a_ledger(tmp_path: Path, in_memory: bool) -> None:
    ledger = Ledger() if in_memory else Ledger(tmp_path / "budget.db")
    ledger.open("adult", epsilon=1)
    session = ledger.session("adult")

    def spend(_: int) -> int:
        try:
            return int(bool(session.buy(bill("1/10"), answering(1))))
        except Exhausted:
            return 0

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(spend, range(16))) == 10
    assert ledger.budgets()[0].remaining.epsilon == 0
    assert ledger.verify().events == 21


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("CREATE TABLE people (name TEXT)")
    other.close()
    with pytest.raises(LedgerError, match="holds other tables and no ledger"):
        Ledger(path)
