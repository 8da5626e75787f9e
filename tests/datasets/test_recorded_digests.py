"""A discreet.toml of 3d1894d, with all its keys: it is read, and has the digests of then, as does its upgrade."""

import json
import os
from pathlib import Path

import pytest

import discreet
from discreet.datasets.model import ANALYST, BUDGET, DATASET, DOCUMENT
from discreet.datasets.questions import RENAMED as RENAMED_VERBS
from discreet.errors import InvalidDescription
from discreet.ledger.toml_budgets import configuration, open_described

from .made_by_3d1894d.record import HERE, OLD_TEXT, read, recorded

RECORDED = json.loads((HERE / "recorded.json").read_text(encoding="utf-8"))

CSV_NAMES = '["user_id", "age", "city", "paid", "day", "at", "is_new"]'

RENAMED = [
    ("datasets.people.delimiter", "csv.delimiter", 'delimiter = ";"', 'csv.delimiter = ";"'),
    ("datasets.people.names", "csv.names", f"names = {CSV_NAMES}", f"csv.names = {CSV_NAMES}"),
    ("datasets.bare.delimiter", "csv.delimiter", 'delimiter = "|"', 'csv = { delimiter = "|" }'),
    ("datasets.named.names", "csv.names", 'names = ["n", "m"]', 'csv = { names = ["n", "m"] }'),
    ("datasets.people.budget.per", "period", 'per = "year"', 'period = "year"'),
    ("datasets.bare.budget.per", "period", 'per = "month"', 'period = "month"'),
    ("datasets.lake.budget.per", "period", 'per = "quarter"', 'period = "quarter"'),
    ('datasets.people.questions.fee.verb = "price"', '"best_price"', 'verb = "price"', 'verb = "best_price"'),
    ('analysts.team-a.verbs = "price"', '"best_price"', '"top_k", "price"]', '"top_k", "best_price"]'),
    ("analysts.team-a.largest_epsilon", "max_epsilon", "largest_epsilon =", "max_epsilon ="),
]  # fmt: skip
"""The place of a key of an older version, its name now, and the two spellings."""

SLOT = 'slot = "250ms"\n'
"""A line of the older version that is refused now."""

pytestmark = pytest.mark.filterwarnings("ignore:.*it can never be paid")


def made_of(text: str) -> object:
    found = json.loads(json.dumps(recorded(read(text))))
    found["analysts"] = found["analysts"].replace("max_epsilon", "largest_epsilon")
    found["server"] = RECORDED["server"]  # of which one word is refused now
    return found


def without_slot(text: str) -> str:
    assert SLOT in text
    return text.replace(SLOT, "")


def test_a_word_that_is_gone_is_refused_with_what_is_written_now() -> None:
    with (
        pytest.warns(UserWarning, match="the old name is still read"),
        pytest.raises(InvalidDescription, match=r'server.slot: it is answers_after = "1s" under'),
    ):
        read(OLD_TEXT)


def upgraded(text: str) -> str:
    text = without_slot(text)
    for _, _, old, new in RENAMED:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


def test_a_file_of_an_older_version_and_its_upgrade_have_the_old_digests() -> None:
    with pytest.warns(UserWarning, match="the old name is still read") as warned:
        assert made_of(without_slot(OLD_TEXT)) == RECORDED
    assert len(warned) == len(RENAMED)
    assert made_of(upgraded(OLD_TEXT)) == RECORDED
    assert len(RECORDED["questions"]) == 9


@pytest.mark.parametrize(("place", "now", "old", "new"), RENAMED)
def test_each_renamed_key_is_read_with_one_warning(
    place: str, now: str, old: str, new: str
) -> None:
    text = upgraded(OLD_TEXT).replace(new, old)
    with pytest.warns(UserWarning, match="the old name is still read") as warned:
        assert made_of(text) == RECORDED
    assert [str(one.message) for one in warned] == [
        f"discreet.toml: {place} is {now} now; the old name is still read"
    ]


@pytest.mark.parametrize(
    ("place", "now", "old", "new"), [one for one in RENAMED if "=" not in one[0]]
)
def test_an_old_name_beside_that_of_now_is_refused(
    place: str, now: str, old: str, new: str
) -> None:
    both = f"{old}, {new}" if old.startswith("per") else f"{old}\n{new}"
    if old.startswith("largest"):
        both = "largest_epsilon = 1\nmax_epsilon ="
    with pytest.raises(InvalidDescription) as refused:
        read(upgraded(OLD_TEXT).replace(new, both))
    assert str(refused.value) == f"{place}: it is {now} now, which is given too: keep {now}"


def test_every_renamed_key_is_tried() -> None:
    tables = {"datasets": DATASET, "budget": BUDGET, "analysts": ANALYST, "": DOCUMENT}
    names = {name for table in tables.values() for name in table.old_names}
    tried = {place.rpartition(".")[2] for place, *_ in RENAMED}
    assert tried == names | {
        f'{key} = "{name}"' for key in ("verb", "verbs") for name in RENAMED_VERBS
    }


OLD_FILE = """\
ledger = "budget.db"
[datasets.people]
source = "people.txt"
delimiter = ";"
names = ["user", "age"]
privacy_unit = "user"
budget = { epsilon = 3, per = "year" }
columns.age = { type = "integer", minimum = 0, maximum = 120 }
[analysts.ann]
datasets = ["people"]
share = { epsilon = 1 }
largest_epsilon = "1/4"
"""
NEW_FILE = (
    OLD_FILE.replace('delimiter = ";"', 'csv.delimiter = ";"')
    .replace("names =", "csv.names =")
    .replace("per =", "period =")
    .replace("largest_epsilon", "max_epsilon")
)


def test_an_old_request_gets_its_stored_answer_after_the_upgrade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The budget goes on too: nothing has to be described again, and the repetition costs nothing."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISCREET_CONFIG", str(tmp_path / "discreet.toml"))
    Path("people.txt").write_text("\n".join(f"u{i};{i % 90}" for i in range(99)))
    Path("discreet.toml").write_text(OLD_FILE)
    with pytest.warns(UserWarning, match="the old name is still read"):
        old = configuration()
    open_described(old, "people")
    with pytest.warns(UserWarning, match="the old name is still read"):
        people = discreet.read_dataset("people")
    first = discreet.median(people, "age", epsilon=1, request="a")
    spent = [str(budget) for budget in discreet.Ledger("budget.db").budgets()]
    Path("people.txt").write_text("u;1\n")  # the answer comes from the ledger
    Path("discreet.toml").write_text(NEW_FILE)
    os.utime("discreet.toml", (1, 1))
    again = discreet.median(discreet.read_dataset("people"), "age", epsilon=1, request="a")
    assert again.as_dict() == {**first.as_dict(), "charged": False}
    assert [str(budget) for budget in discreet.Ledger("budget.db").budgets()] == spent
    assert [e.kind for e in discreet.Ledger("budget.db").history()].count("described") == 1
    assert open_described(configuration(), "people").spent.epsilon == 1
