"""Datasets of discreet.toml: whose ledger is charged, and that nobody but the owner makes one."""

from pathlib import Path

import pytest

import discreet
from discreet.cli import run
from discreet.errors import InvalidArgument, InvalidDescription, UnknownBudget, UnreadableFile
from discreet.ledger.toml_budgets import configuration, open_described

from .test_periods import Clock

TEXT = """\
ledger = "budget.db"
[datasets.people]
source = "people.csv"
privacy_unit = "user"
budget = { epsilon = "3", neighbors = "replace_one" }
columns.age = { type = "integer", minimum = 0, maximum = 120 }
[analysts.ann]
datasets = ["people"]
share = { epsilon = "1" }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISCREET_CONFIG", str(tmp_path / "discreet.toml"))
    (tmp_path / "discreet.toml").write_text(TEXT)
    (tmp_path / "people.csv").write_text(
        "user,age\n" + "\n".join(f"u{i},{i % 90}" for i in range(99))
    )
    return tmp_path


def test_a_release_is_charged_to_the_declared_ledger(folder: Path) -> None:
    opened = open_described(configuration(), "people")
    assert (opened.neighbors, opened.unit, str(opened.total)) == ("replace_one", "user", "ε = 3")
    people = discreet.read_dataset("people")
    discreet.median(people, "age", epsilon="1/2", neighbors="replace_one", request="a")
    again = discreet.median(people, "age", epsilon="1/2", neighbors="replace_one", request="a")
    assert again.unit == "user"
    (left,) = discreet.Ledger(folder / "budget.db").budgets()
    assert str(left.spent) == "ε = 0.5"


def test_a_missing_ledger_is_refused_and_never_made_by_a_release(folder: Path) -> None:
    people = discreet.read_dataset("people")
    # What is refused before the data are opened does not miss them.
    (folder / "people.csv").unlink()
    for _ in range(2):
        with pytest.raises(UnknownBudget, match=r"only the owner .* discreet ledger open people"):
            discreet.median(people, "age", epsilon=1)
        assert not (folder / "budget.db").exists()
    discreet.Ledger(folder / "budget.db")
    with pytest.raises(UnknownBudget, match=r"belongs to the described dataset people"):
        discreet.median(people, "age", epsilon=1)
    open_described(configuration(), "people")
    with pytest.raises(UnreadableFile):
        discreet.median(people, "age", epsilon=1)


def test_shares_are_those_declared_or_given(folder: Path) -> None:
    open_described(configuration(), "people")
    share = open_described(configuration(), "people", "ann")
    assert (str(share.total), share.neighbors, share.unit) == ("ε = 1", "replace_one", "user")
    with pytest.raises(InvalidDescription, match="declares no share for bob"):
        open_described(configuration(), "people", "bob")
    assert str(open_described(configuration(), "people", "bob", epsilon=2).total) == "ε = 2"
    with pytest.raises(InvalidArgument, match="Change them there"):
        open_described(configuration(), "people", epsilon=9)


def test_a_declared_period_is_renewed_when_it_has_ended(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock(monkeypatch, "2026-11-22")
    declares = TEXT.replace('epsilon = "3",', 'epsilon = "3", period = "quarter",')
    (folder / "discreet.toml").write_text(declares)
    assert run(["ledger", "open", "people"]) == 0
    assert run(["ledger", "open", "people", "--analyst", "ann"]) == 0
    assert "2026-Q4" in capsys.readouterr().out
    assert run(["ledger", "renew", "people"]) == 2
    assert "the quarter 2026-Q4 of the budget of people has not ended" in capsys.readouterr().err
    clock.set("2027-02-01")
    asked = ["median", "people", "age", "--epsilon", "1", "--neighbors", "replace_one"]
    assert run(asked) == 4
    assert "its quarter 2026-Q4 has ended" in capsys.readouterr().err
    assert run(["ledger", "renew", "people"]) == 0
    out, err = capsys.readouterr()
    assert ("2027-Q1" in out, "renewed" in out) == (True, False)
    assert err == ""
    assert run(asked) == 0
    ledger = discreet.Ledger(folder / "budget.db")
    assert [(one.name, str(one.spent)) for one in ledger.budgets()] == [
        ("people", "ε = 1"), ("people / ann", "ε = 0"),
        ("people 2027-Q1", "ε = 2"), ("people 2027-Q1 / ann", "ε = 0"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("found", "put", "message"),
    [
        ('epsilon = "3",', 'epsilon = "3", period = "day",', "line 5: datasets.people.budget.period: it must be"),
        ('{ epsilon = "1" }', '{ epsilon = 1, period = "year" }', "ann.share.period: there is no such key"),
    ],
)  # fmt: skip
def test_other_periods_are_refused(folder: Path, found: str, put: str, message: str) -> None:
    (folder / "discreet.toml").write_text(TEXT.replace(found, put))
    with pytest.raises(InvalidDescription, match=message):
        configuration()


def test_what_is_not_declared_is_asked_for(folder: Path) -> None:
    (folder / "discreet.toml").write_text(TEXT.replace('ledger = "budget.db"', ""))
    assert discreet.median(discreet.read_dataset("people"), "age", epsilon=1).unit == "user"
    with pytest.raises(InvalidDescription, match="declares no ledger"):
        open_described(configuration(), "people")
    (folder / "discreet.toml").write_text(TEXT.replace("budget = {", "title = 'x' # {"))
    with pytest.raises(InvalidDescription, match="declares no budget for people"):
        open_described(configuration(), "people")


def test_without_a_file_it_says_what_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.ledger.toml_budgets.find_configuration", lambda: None)
    with pytest.raises(InvalidDescription, match=r"there is no discreet\.toml"):
        discreet.read_dataset("people")


def test_checkpoints_of_the_environment_are_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISCREET_CHECKPOINTS", str(folder / "heads.jsonl"))
    open_described(configuration(), "people")
    discreet.median(discreet.read_dataset("people"), "age", epsilon="1/2")
    assert len((folder / "heads.jsonl").read_text().splitlines()) == 3


def test_what_the_owner_says_of_shares_and_of_delta_holds_for_a_described_dataset(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both options were dropped where the amounts are declared."""
    assert run(["ledger", "open", "people", "--oversubscribed"]) == 0
    ledger = discreet.Ledger(folder / "budget.db")
    assert ledger.budgets()[0].shares == "oversubscribed"
    assert run(["ledger", "open", "people", "--no-oversubscribed"]) == 0
    assert ledger.budgets()[0].shares != "oversubscribed"
    assert run(["ledger", "open", "people", "--epsilon", "3", "--no-oversubscribed"]) == 2
    assert "declares the amounts" in capsys.readouterr().err

    declared = TEXT.replace(
        'epsilon = "3"', 'epsilon = "3", delta = "1e-6", delta_for = "questions"'
    )
    (folder / "discreet.toml").write_text(declared)
    (folder / "budget.db").unlink()
    assert run(["ledger", "open", "people", "--delta-for", "composition"]) == 0
    assert discreet.Ledger(folder / "budget.db").budgets()[0].delta_for == "composition"


@pytest.mark.parametrize("option", [["--privacy-unit", "user"], ["--neighbors", "replace_one"]])
@pytest.mark.usefixtures("folder")
def test_what_is_declared_of_the_budget_is_not_said_again(
    option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["ledger", "open", "people", *option]) == 2
    message = " ".join(capsys.readouterr().err.split())
    assert "declares the privacy unit and the neighbors of people. Leave them out here" in message
