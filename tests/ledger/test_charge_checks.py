"""Two budgets whose sources come to name one file: its people would pay twice. Each question compares them."""

import os
import re
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.errors import DiscreetError, Exhausted, LedgerError
from discreet.ledger import charge_checks
from discreet.ledger.toml_budgets import configuration, open_described
from discreet.privacy import PureDP
from discreet.tables.datasets.sources import list_files, place_of
from discreet.tables.formats.file_paths import files_of

COLUMNS: Any = {"n": {"type": "integer", "minimum": 0, "maximum": 9}}


def write(path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("n\n" + "3\n" * 5)
    return path


def link(path: Path, target: Path) -> None:
    path.symlink_to(target)


def replace_by_link(path: Path, target: Path) -> None:
    path.unlink()
    os.link(target, path)


def arrives(folder: Path) -> None:
    write(folder / "b1.csv")


Source = Callable[[Path], Any]
WORLDS: dict[str, tuple[Source, Source, Callable[[Path], object]]] = {
    "patterns": (lambda f: f"{f}/b*.csv", lambda f: f"{f}/*1.csv", arrives),
    "deep patterns": (
        lambda f: f"{f}/**/b*.csv",
        lambda f: f"{f}/*/*.csv",
        lambda f: arrives(f / "sub"),
    ),
    "folders": (
        lambda f: f / "one",
        lambda f: f / "two",
        lambda f: link(f / "two" / "x.csv", f / "one" / "p.csv"),
    ),
    "hard links": (
        lambda f: f / "one",
        lambda f: f / "two",
        lambda f: os.link(f / "one" / "p.csv", f / "two" / "x.csv"),
    ),
    "a folder and a pattern": (
        lambda f: f / "one",
        lambda f: f"{f}/*/q*.csv",
        lambda f: write(f / "one" / "q2.csv"),
    ),
    "lists": (
        lambda f: [f / "c.csv", f"{f}/b*.csv"],
        lambda f: [f / "one/p.csv", f"{f}/*1.csv"],
        arrives,
    ),
    "a file that a link replaces": (
        lambda f: f / "b2.csv",
        lambda f: f / "c.csv",
        lambda f: replace_by_link(f / "c.csv", f / "b2.csv"),
    ),
    "a form": (
        lambda f: discreet.scan_csv(f / "b2.csv"),
        lambda f: f"{f}/c*.csv",
        lambda f: link(f / "c9.csv", f / "b2.csv"),
    ),
    "another name": (
        lambda f: f"{f}/b*.csv",
        lambda f: f"{f}/c*.csv",
        lambda f: os.link(f / "b2.csv", f / "c2.csv"),
    ),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b2.csv", "c.csv", "x1.csv", "one/p.csv", "two/q.csv", "sub/c.csv"):
        write(tmp_path / name)
    return tmp_path


def opened(world: str, folder: Path) -> tuple[discreet.Ledger, list[discreet.Dataset]]:
    sources = [source(folder) for source in WORLDS[world][:2]]
    datasets = [
        discreet.Dataset(source, COLUMNS, name=name)
        for source, name in zip(sources, ("one", "other"), strict=True)
    ]
    ledger = discreet.Ledger()
    for dataset in datasets:
        ledger.open(dataset, epsilon=1)
    return ledger, datasets


def spent(ledger: discreet.Ledger) -> list[str]:
    return [str(budget.spent) for budget in ledger.budgets()]


@pytest.mark.parametrize("world", WORLDS)
def test_a_file_that_two_budgets_come_to_share_refuses_the_question(
    world: str, folder: Path
) -> None:
    ledger, datasets = opened(world, folder)
    for dataset in datasets:  # the other world: no file is shared
        ledger.session(dataset).median(dataset, "n", epsilon="1/10")
    assert spent(ledger) == ["ε = 0.1", "ε = 0.1"]
    WORLDS[world][2](folder)
    for dataset in datasets:
        session = ledger.session(dataset)
        asks: list[Callable[[], object]] = [
            partial(session.median, dataset, "n", epsilon="1/10"),
            partial(session.counts, dataset, "n", candidates=[3], epsilon="1/10", request="a"),
            partial(
                session.charge, PureDP(Fraction(1, 10), "add_remove"), description="x", request="b"
            ),
        ]
        for ask in asks:
            with pytest.raises(Exhausted, match=r"is a file of two budgets: o\w+ names it by"):
                ask()
        assert "another budget" in str(
            session.quote(discreet.median, dataset, "n", epsilon="1/10").closed
        )
    assert spent(ledger) == ["ε = 0.1", "ε = 0.1"]
    [note] = [note for note in ledger.verify().notes if "is a file of both" in note]
    assert re.match(r"one and other|other and one", note)
    ledger.describe(datasets[0], separate=True)
    for dataset in datasets:
        ledger.session(dataset).median(dataset, "n", epsilon="1/10")
    assert not [note for note in ledger.verify().notes if "is a file of both" in note]


def test_the_message_names_the_file_and_both_sources(folder: Path) -> None:
    ledger, [one, _] = opened("patterns", folder)
    arrives(folder)
    with pytest.raises(Exhausted) as refused:
        ledger.session(one).median(one, "n", epsilon="1/10")
    assert str(refused.value) == (
        f"{folder}/b1.csv is a file of two budgets: one names it by {folder}/b*.csv, and other by {folder}/*1.csv. "
        "Nothing was charged. Describe one with a narrower source, or say that they hold other people's data: "
        "discreet ledger describe one --separate"
    )


def test_a_narrower_source_goes_on_and_what_the_other_had_stays_its_own(folder: Path) -> None:
    ledger, [one, other] = opened("patterns", folder)
    arrives(folder)
    narrow = discreet.Dataset(folder / "x1.csv", COLUMNS, name="other")
    ledger.describe(narrow)
    assert ledger.session(narrow).median(narrow, "n", epsilon="1/10").value is not None
    with pytest.raises(Exhausted, match="two budgets"):  # the other one may have answered about it
        ledger.session(one).median(one, "n", epsilon="1/10")
    ledger.describe(one, separate=True)
    assert ledger.session(one).median(one, "n", epsilon="1/10").value is not None
    assert other.name == narrow.name


def test_an_answer_that_was_paid_is_given_again(folder: Path) -> None:
    ledger, [one, _] = opened("patterns", folder)
    answer = ledger.session(one).median(one, "n", epsilon="1/10", request="a").value
    arrives(folder)
    assert ledger.session(one).median(one, "n", epsilon="1/10", request="a").value == answer


TOML = """\
ledger = "budget.db"
[datasets.one]
source = "b*.csv"
[datasets.zebra]
source = "*1.csv"
[datasets.NAME]
budget = { epsilon = "1" }
columns.n = { type = "integer", minimum = 0, maximum = 9 }
questions.typical-NAME = { verb = "median", column = "n", epsilon = "1/10" }
[analysts.anna]
datasets = ["one", "zebra"]
share = { epsilon = "1/2" }
verbs = ["median"]
"""


def test_an_analyst_sees_no_names(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    terms = TOML.split("[datasets.NAME]\n")[1].split("[analysts")[0]
    text = TOML.replace(f"[datasets.NAME]\n{terms}", "")
    for name, source in (("one", "b*.csv"), ("zebra", "*1.csv")):
        text = text.replace(f'"{source}"\n', f'"{source}"\n{terms.replace("NAME", name)}')
    Path("discreet.toml").write_text(text)
    for name in ("one", "zebra"):
        open_described(configuration(), name)
        open_described(configuration(), name, "anna")
    arrives(folder)
    owner, anna = discreet.connect("discreet.toml"), discreet.connect(analyst="anna")
    with pytest.raises(Exhausted, match=r"b1\.csv is a file of two budgets"):
        owner.ask("typical-one")
    asks: list[Callable[[], object]] = [
        lambda: anna.ask("typical-one", request="a"),
        lambda: anna.median("one", "n", epsilon="1/10"),
        lambda: anna.quote("typical-one") and anna.ask("typical-one", request="b"),
    ]
    for ask in asks:
        with pytest.raises(DiscreetError) as refused:
            ask()
        told = str(refused.value) + repr(vars(refused.value))
        assert not [name for name in (str(folder), "b1", "zebra", "b*") if name in told]
    assert {str(budget.spent) for budget in anna.budgets()} == {"ε = 0"}


def test_files_are_compared_once_in_a_transaction_and_bounded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, [one, _] = opened("patterns", folder)
    monkeypatch.setattr(charge_checks, "MOST_FILES", 0)
    with pytest.raises(LedgerError, match="more than 0 files"):
        ledger.session(one).median(one, "n", epsilon="1/10")
    assert spent(ledger) == ["ε = 0", "ε = 0"]


def test_a_file_that_was_replaced_keeps_its_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that runs on looks files up again: it once remembered the file of before."""
    monkeypatch.chdir(tmp_path)
    for name in ("people", "other"):
        write(Path(f"{name}.csv"))
    ledger = discreet.Ledger()
    for name in ("people", "other"):
        ledger.open(discreet.Dataset(f"{name}.csv", COLUMNS, name=name), epsilon=1)
    assert ledger.session(discreet.Dataset("people.csv", COLUMNS)).dataset == "people"
    write(Path("new.csv")).replace("people.csv")
    again = discreet.Dataset("people.csv", COLUMNS, name="again")
    assert ledger.open(again, epsilon=1).dataset == "people"


def test_listed_files_are_those_that_are_read(folder: Path) -> None:
    (folder / "sub" / ".hidden").touch()
    for source in (folder, f"{folder}/**/*.csv", [folder / "one", folder / "c.csv"]):
        listed = {path for _, path in list_files(place_of(source))}
        assert {str(file) for file in files_of(source)} <= listed
        assert len({file for file, _ in list_files(place_of(source))}) == len(listed)
