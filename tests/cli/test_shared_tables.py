"""Commands about budgets that share tables: open --separate, describe --separate, merge, verify."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from discreet.cli import run

TEXT = """\
ledger = "budget.db"
[datasets.swiss]
connection = "sqlite:///shop.db"
query = "SELECT age FROM people WHERE country = 'CH'"
budget = { epsilon = "2" }
columns.age = { type = "integer", minimum = 0, maximum = 120 }
[datasets.french]
connection = "sqlite:///shop.db"
query = "SELECT age FROM [people] WHERE country = 'FR'"
budget = { epsilon = "1" }
columns.age = { type = "integer", minimum = 0, maximum = 120 }
[datasets.all]
connection = "sqlite:///shop.db"
table = "everybody"
budget = { epsilon = "2" }
columns.age = { type = "integer", minimum = 0, maximum = 120 }
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection, connection:
        connection.execute("CREATE TABLE people (age INTEGER, country TEXT)")
        connection.execute("INSERT INTO people VALUES (41, 'CH'), (41, 'FR')")
        connection.execute("CREATE VIEW everybody AS SELECT age FROM people")
    connection.close()
    (tmp_path / "discreet.toml").write_text(TEXT)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run([*arguments])
    out, err = capsys.readouterr()
    return code, out, " ".join(err.split())


def test_budgets_about_one_table_are_told_apart_and_merged(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert said(capsys, "ledger", "open", "swiss")[0] == 0
    code, _, err = said(capsys, "ledger", "open", "french")
    assert (code, "the budget of swiss was opened as ε = 2" in err) == (2, True)
    assert "discreet ledger open french --separate" in err
    assert said(capsys, "ledger", "open", "french", "--separate")[0] == 0
    for name in ("swiss", "french"):
        code, _, err = said(capsys, "median", name, "age", "--epsilon", "1")
        assert (code, err.startswith("error")) == (0, False)
    code, _, err = said(capsys, "ledger", "open", "all")
    assert code == 2
    assert "discreet ledger merge swiss --into french" in err
    code, out, _ = said(capsys, "ledger", "merge", "french", "--into", "swiss", "--json")
    (merged,) = json.loads(out)
    assert (code, merged["dataset"], merged["spent"]) == (0, "swiss", {"epsilon": "2"})
    assert said(capsys, "ledger", "open", "all")[0] == 0
    code, out, _ = said(capsys, "ledger", "show", "all", "--json")
    assert {budget["dataset"] for budget in json.loads(out)} == {"swiss"}
    assert said(capsys, "median", "all", "age", "--epsilon", "1")[0] == 4
    code, out, _ = said(capsys, "ledger", "verify", "swiss", "--json")
    assert (code, json.loads(out)["notes"]) == (0, [])


def test_a_table_in_place_of_a_view_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "ledger", "open", "all")[0] == 0
    with closing(sqlite3.connect("shop.db")) as connection, connection:
        connection.executescript("DROP VIEW everybody; CREATE TABLE everybody (age INTEGER)")
    connection.close()
    code, _, err = said(capsys, "median", "all", "age", "--epsilon", "1")
    assert code == 2
    assert "discreet ledger describe all" in err
    assert "SELECT" not in err
    assert said(capsys, "ledger", "describe", "all")[0] == 0
    assert said(capsys, "median", "all", "age", "--epsilon", "1")[0] == 0
