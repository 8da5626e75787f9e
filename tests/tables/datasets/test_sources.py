"""One source is one source, however it is spelled; and a path that is declared is no other data."""

import itertools
import os
import warnings
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet import Dataset, Grid, Ledger
from discreet.errors import InvalidArgument, InvalidDescription, UnknownBudget
from discreet.tables.datasets.sources import place_of

AGE: Any = {"age": {"type": "integer", "minimum": 0, "maximum": 120}}
TEXT = """\
[datasets.people]
source = "people"
columns.age = { type = "integer", minimum = 0, maximum = 120 }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    (tmp_path / "people").mkdir()
    for name in ("people/a.csv", "people/b.csv", "other.csv"):
        (tmp_path / name).write_text("age\n" + "30\n" * 9)
    (tmp_path / "linked").symlink_to(tmp_path / "people")
    (tmp_path / "linked.csv").symlink_to(tmp_path / "people" / "a.csv")
    os.link(tmp_path / "people" / "b.csv", tmp_path / "hard.csv")
    return tmp_path


PEOPLE: list[Any] = [
    "people", "./people/", Path("people"), "people/../people", "linked", "people/*.csv", "linked/?.csv",
    "**/[ab].csv",
    ["people/a.csv", "people/b.csv"], "people/a.csv", "linked.csv", "hard.csv", "people/b.csv", "people/later.csv",
    "people/2027/*.parquet", discreet.scan_csv("people/b.csv", delimiter=";"), ["other.csv", "people/a.csv"],
]  # fmt: skip
"""Spellings of a folder, of its files, and of files that will be in it."""


@pytest.mark.parametrize("spelled", PEOPLE, ids=str)
def test_spellings_of_a_source_have_one_budget(folder: Path, spelled: Any) -> None:
    one, two = Dataset("people", AGE, name="people"), Dataset(spelled, AGE, name="second")
    for first, second in itertools.permutations((one, two)):
        ledger = Ledger()
        ledger.open(first, epsilon=1)
        ledger.open(second, epsilon=1)
        assert [budget.dataset for budget in ledger.budgets()] == [first.name]


@pytest.mark.parametrize("other", ["other.csv", "other*", "people2", "/tmp", [{"age": 1}]], ids=str)
def test_other_sources_have_other_budgets(folder: Path, other: Any) -> None:
    if other == "/tmp":
        (folder / "empty").mkdir()
        other = "empty"
    ledger = Ledger()
    ledger.open(Dataset("people", AGE, name="people"), epsilon=1)
    ledger.open(Dataset(other, AGE, name="second"), epsilon=1)
    assert len(ledger.budgets()) == 2


def test_a_source_that_a_budget_once_had_is_still_its_own(folder: Path) -> None:
    ledger, people = Ledger(), Dataset("people", AGE, name="people")
    ledger.open(people, epsilon=1)
    ledger.session(people).median(people, "age", epsilon=1)
    ledger.describe(Dataset("other.csv", AGE, name="people"))  # by its owner's word
    fresh = Dataset("linked/*.csv", AGE, name="fresh")
    assert ledger.open(fresh, epsilon=1).dataset == "people"
    with pytest.raises(discreet.errors.Exhausted):
        ledger.session(fresh).median(fresh, "age", epsilon=1)


def test_data_in_memory_are_nowhere() -> None:
    assert place_of([1, 2]) is None


def test_a_path_that_is_declared_says_so(folder: Path) -> None:
    (folder / "discreet.toml").write_text(TEXT)
    asked: Any = {"candidates": Grid(0, 120), "epsilon": 1}
    for path in ("people", "linked/*.csv", Path("people"), ["people/a.csv", "hard.csv"]):
        with pytest.warns(
            UserWarning, match=r"is declared as people in .*read_dataset\('people'\)"
        ) as told:
            discreet.median(path, "age", **asked)
        assert told[0].filename == __file__
    with pytest.warns(UserWarning, match="people/a.csv has files of people"):
        discreet.mode("people/a.csv", "age", candidates=[30], epsilon=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        discreet.median("other.csv", "age", **asked)
        discreet.median([1, 2, 3], **asked)
        discreet.median(discreet.read_dataset("people"), "age", epsilon=1)


@pytest.mark.parametrize("path", ["people", "linked/*.csv", "hard.csv"])
def test_a_declared_path_is_charged_to_no_other_budget(folder: Path, path: str) -> None:
    (folder / "discreet.toml").write_text(TEXT)
    ledger = Ledger()
    ledger.open("mine", epsilon=9)
    with pytest.raises(InvalidArgument, match=r"ask about discreet.read_dataset\('people'\)"):
        ledger.session("mine").median(path, "age", candidates=Grid(0, 120), epsilon=1)
    node = discreet.connect(datasets={"data": path}, ledger=ledger)
    node.open_budget("data", epsilon=9)
    with pytest.raises(InvalidArgument, match="read_dataset"):
        node.allow("data", "age", discreet.median, "age", candidates=Grid(0, 120), epsilon=1)
    assert len(ledger.history()) == 2
    ledger.session("mine").median("other.csv", "age", candidates=Grid(0, 120), epsilon=1)


def test_a_broken_description_is_not_passed_over(folder: Path) -> None:
    (folder / "discreet.toml").write_text(TEXT.replace("type", "typ"))
    with pytest.raises(InvalidDescription, match="line 3"):
        discreet.median("other.csv", "age", candidates=Grid(0, 120), epsilon=1)
    (folder / "discreet.toml").write_text(TEXT)  # read again, for it was written
    discreet.median("other.csv", "age", candidates=Grid(0, 120), epsilon=1)


def test_a_dataset_without_a_name_finds_the_budget_of_its_files(folder: Path) -> None:
    ledger = Ledger()
    ledger.open(Dataset("people", AGE, name="people"), epsilon=1)
    assert ledger.session(Dataset("linked.csv", AGE)).dataset == "people"
    with pytest.raises(UnknownBudget):
        ledger.session(Dataset("other.csv", AGE))
