"""Data that are locked, or whose server is gone, are given up: charged, no failure, nothing is closed."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
pytest.importorskip("httpx", reason="the extra server is not installed")

from sqlalchemy import create_engine, text

from discreet import Connection
from discreet.errors import DataUnavailable, Unanswerable, UnreadableData
from discreet.ledger import Ledger
from discreet.ledger.toml_budgets import configuration, open_described
from discreet.service.asking.tokens import tokens_beside
from discreet.service.http.app import make_app
from discreet.service.http.http_client import HttpClient
from discreet.service.queue.dispatcher_client import DispatcherClient
from discreet.service.queue.dispatcher_process import DispatcherProcess
from discreet.tables.engines.engine_errors import quietly

from .http.test_http_client import LATER, InTheProcess
from .killing import wait_for

PATIENCE = 120.0

TEXT = """
ledger = "budget.db"
[datasets.locked]
connection = "{url}"
query = "SELECT age FROM people"
answers_after = "500ms"
longest = "600ms"
budget = {{ epsilon = "90" }}
columns.age = {{ type = "integer", minimum = 0, maximum = 120 }}
questions.age = {{ verb = "median", column = "age", epsilon = 1 }}
[datasets.file]
source = "file.csv"
answers_after = "500ms"
budget = {{ epsilon = "90" }}
columns.age = {{ type = "integer", minimum = 0, maximum = 120 }}
questions.file = {{ verb = "median", column = "age", epsilon = 1 }}
[analysts.ann]
datasets = ["locked", "file"]
share = {{ epsilon = "40" }}
[analysts.bob]
datasets = ["locked", "file"]
share = {{ epsilon = "40" }}
"""


@pytest.fixture
def callers(
    postgresql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, Connection]]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    Path("discreet.toml").write_text(TEXT.format(url=postgresql))
    Path("file.csv").write_text("age\n" + "30\n" * 50)
    with transaction(postgresql) as connection:
        connection.execute(
            text("CREATE TABLE people AS SELECT 30 AS age FROM generate_series(1, 50)")
        )
    declared = configuration()
    for dataset in ("locked", "file"):
        for who in (None, "ann", "bob"):
            open_described(declared, dataset, who)
    process = DispatcherProcess(declared, 1)
    app: Any = make_app(declared, ["testserver"], dispatcher=DispatcherClient(process.path))
    known = tokens_beside(Path("discreet.toml"))
    yield {
        who: Connection(
            HttpClient(InTheProcess(app, known.create("analyst", who, LATER)[0])), "a service"
        )
        for who in ("ann", "bob")
    }
    process.end()


@contextmanager
def transaction(url: str) -> Iterator[Any]:
    """Yield a connection in a transaction."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


def test_a_locked_table_is_given_up_and_keeps_nobody_out(
    callers: dict[str, Connection], postgresql: str
) -> None:
    ann, bob = callers["ann"], callers["bob"]
    assert ann.ask("age", dataset="locked").value == 30
    with transaction(postgresql) as holder:
        holder.execute(text("LOCK TABLE people IN ACCESS EXCLUSIVE MODE"))
        errors: list[Unanswerable] = []

        def ask() -> None:
            with pytest.raises(Unanswerable) as caught:
                ann.ask("age", dataset="locked", request="locked")
            errors.append(caught.value)

        asking = threading.Thread(target=ask)
        asking.start()
        wait_for(lambda: any(e.request == "locked" for e in Ledger("budget.db").history()))
        assert (
            bob.ask("file", dataset="file").value == 30
        )  # it waits for the clock, and is answered
        asking.join(PATIENCE)
        assert not asking.is_alive()
    (error,) = errors
    assert "given up" in str(error)
    assert error.charged is True
    assert error.__notes__ == ["this is paid: retry with request='locked' at no cost"]
    assert ann.ask("age", dataset="locked", request="locked").value == 30
    assert ann.ask("age", dataset="locked").value == 30  # nothing is closed
    kinds = [event.kind for event in Ledger("budget.db").history() if event.analyst == "ann"]
    assert "failed" not in kinds
    assert kinds.count("given_up") == 1
    assert kinds.count("second_reading") == 1


class _WithState(Exception):
    def __init__(self, sqlstate: str) -> None:
        super().__init__("SECRET")
        self.sqlstate = sqlstate


class _SqliteError(Exception):
    def __init__(self, code: int) -> None:
        super().__init__("SECRET")
        self.sqlite_errorcode = code


class IOException(Exception):  # as DuckDB calls it
    """An error with the name of one of DuckDB's."""


@pytest.mark.parametrize(
    ("error", "is_unavailable"),
    [
        (_WithState("55P03"), True), (_WithState("57014"), True), (_WithState("57P01"), True),
        (_WithState("53100"), True), (_WithState("53300"), True), (_WithState("40P01"), True),
        (_WithState("08006"), True), (_WithState("58030"), True), (_WithState("22P02"), False),
        (_WithState("42P01"), False), (_WithState("22012"), False),
        (_SqliteError(5), True), (_SqliteError(261), True), (_SqliteError(13), True),
        (_SqliteError(1), False), (_SqliteError(11), False),
        (OSError(28, "No space left on device"), True), (ConnectionResetError(), True),
        (TimeoutError(), True), (FileNotFoundError(2, "none"), False), (ValueError("x"), False),
        (IOException("Could not set lock on file"), True), (IOException("No files found"), False),
        (MemoryError(), False),
    ],
)  # fmt: skip
def test_which_errors_of_engines_are_no_fault_of_the_data(
    error: Exception, is_unavailable: bool
) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(UnreadableData) as caught:
        quietly(fail, UnreadableData("the data cannot be read"))
    assert isinstance(caught.value, DataUnavailable) == is_unavailable
    assert "SECRET" not in str(caught.value)
