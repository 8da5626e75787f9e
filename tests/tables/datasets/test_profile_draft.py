"""Drafts from profiles: read by the library for TOML, accepted as descriptions, and no line is made by a value."""

import datetime as dt
import tomllib
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet.tables.datasets.column_profile import ColumnProfile
from discreet.tables.datasets.configuration import read_configuration
from discreet.tables.datasets.profile_draft import draft_of_columns, is_describable, step_between

HOSTILE = {
    'a"]\n[analysts.mallory]\nverbs = ["mode"]': 40,
    "\u202etxt.exe": 30,
    "\x1b[2J": 30,
    "nul\0": 20,
    "zero\u200bwidth": 20,
    "'''\"\"\"\\": 15,
    "# no comment": 14,
    "=cmd|' /C calc'!A0": 13,
    "x" * 300: 12,
    "Zürich": 11,
}


def column(name: str = "city", **known: Any) -> ColumnProfile:
    kind, filled = known.pop("kind", "texts"), known.pop("filled", 100)
    return ColumnProfile(name, kind, False, filled, 0, 5, **known)


def drafted(*columns: ColumnProfile, where: Any = None) -> str:
    return draft_of_columns(
        columns, name="people", where=where, unit="who", max_contributions=3
    )  # fmt: skip


def test_hostile_values_are_quoted_or_left_out() -> None:
    text = drafted(column(counts=HOSTILE))
    read = tomllib.loads(text)
    assert read.keys() == {"ledger", "datasets"}
    assert read["datasets"]["people"].keys() == {
        "source", "privacy_unit", "max_contributions", "budget", "columns",
    }  # fmt: skip
    assert read["datasets"]["people"]["columns"]["city"]["enum"] == [
        key for key in HOSTILE if key.isprintable()
    ]
    assert all(line.isprintable() for line in text.splitlines())
    assert "left out, as they hold characters that cannot be seen: 5" in text


@pytest.mark.parametrize("name", ["", " a", "a\nb", "\u202e", "a\0", "]\n[analysts.x]"])
def test_names_that_cannot_be_seen_are_left_out(name: str) -> None:
    assert not is_describable(name)
    text = drafted(column(name, counts={}), column("b", counts={}))
    assert [*tomllib.loads(text)["datasets"]["people"]["columns"]] == ["b"]
    assert all(line.isprintable() for line in text.splitlines())


@pytest.mark.parametrize("name", ["a.b", 'a"b', "a]b", "a#b", "日期", "a = 1", "'"])
def test_names_are_quoted(name: str) -> None:
    assert [*tomllib.loads(drafted(column(name)))["datasets"]["people"]["columns"]] == [name]


@pytest.mark.parametrize(
    ("known", "declaration"),
    [
        (
            {"kind": "numbers", "quartiles": (1, 2, 3), "ends": (Decimal("-0.5"), 7000)},
            {"type": "number", "minimum": -0.5, "maximum": 7000, "step": 1},
        ),
        (
            {"kind": "numbers", "quartiles": (1, 2, 3), "ends": (0, 100), "is_integer": True},
            {"type": "integer", "minimum": 0, "maximum": 100},
        ),
        (
            {"kind": "numbers", "quartiles": (5, 5, 5), "ends": (5, 5)},
            {"type": "number", "minimum": 5, "maximum": 5, "step": 1},
        ),
        (
            {"kind": "dates", "quartiles": (), "ends": (dt.date(1930, 1, 2), dt.datetime(2005, 3, 4, 5))},
            {"type": "date", "minimum": dt.date(1930, 1, 2), "maximum": dt.date(2005, 3, 4)},
        ),
        ({"counts": {True: 4, False: 30}}, {"type": "boolean"}),
        ({"counts": {7: 4, 8: 30}}, {"type": "integer", "enum": [7, 8]}),
        ({"counts": {dt.date(2020, 1, 1): 4}}, {"type": "date", "enum": [dt.date(2020, 1, 1)]}),
        ({"counts": {Decimal("1.5"): 4}}, {"type": "string", "enum": ["1.5"]}),
        ({"counts": {}}, {"type": "string"}),
        ({"counts": None}, {"type": "string"}),
    ],
)  # fmt: skip
def test_what_is_declared(known: dict[str, Any], declaration: dict[str, Any]) -> None:
    assert (
        tomllib.loads(drafted(column(**known)))["datasets"]["people"]["columns"]["city"]
        == declaration
    )


def test_the_owner_accepts_a_draft_by_filling_it_in(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("who,age,city\n", encoding="utf-8")
    text = drafted(
        column(counts={"Bern": 40, "Basel": 30}),
        column("age", kind="numbers", quartiles=(20, 40, 60), ends=(0, 100)),
        where={"source": "people.csv", "csv": {"delimiter": ","}},
    )
    file = tmp_path / "discreet.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(Exception, match="to be filled in"):
        read_configuration(file).dataset("people")
    marked = 'budget = { epsilon = "FILL IN: the most that all answers may cost together" }'
    assert marked in text
    file.write_text(text.replace(marked, 'budget = {epsilon = "3"}'), encoding="utf-8")
    dataset = read_configuration(file).dataset("people")
    assert (dataset.privacy_unit, dataset.max_contributions) == ("who", 3)
    assert dataset.columns["city"].enum == ("Bern", "Basel")
    assert dataset.columns["age"].grid is not None


@pytest.mark.parametrize(
    ("low", "high", "step"),
    [(0, 1, 0.001), (0, 999, 0.1), (0, 1000, 1), (18, 90, 0.01), (-(10**9), 10**9, 10**6)],
)
def test_about_a_thousand_answers_are_between_the_ends(low: int, high: int, step: float) -> None:
    assert step_between(Fraction(low), Fraction(high)) == step


def test_ends_that_tell_nothing_are_to_be_filled_in() -> None:
    """With too few cells noise chooses among all decimals; where nearly all are 0 the largest one is not known."""
    far: dict[str, Any] = {
        "quartiles": (Decimal("-1e300"), Decimal(3), Decimal(7)),
        "ends": (Decimal("-5e307"), Decimal("2e307")),
    }
    for integer in (False, True):
        lost = column(kind="numbers", filled=20, needed=800, is_integer=integer)
        declared = tomllib.loads(drafted(lost))["datasets"]["people"]["columns"]["city"]
        assert declared.pop("type") == ("integer" if integer else "number")
        assert all(str(entry).startswith("FILL IN: ") for entry in declared.values())
        assert [*declared] == ["minimum", "maximum", *([] if integer else ["step"])]
        many = column(kind="numbers", filled=900, is_integer=integer, **far)
        text = drafted(many)
        declared = tomllib.loads(text)["datasets"]["people"]["columns"]["city"]
        assert (declared["minimum"], declared["maximum"]) == (-5e307, 2e307)
        assert max(map(len, text.splitlines())) < 100
    tiny = (Decimal("-1e-307"), Decimal("5e-142"))
    zeros = column(kind="numbers", quartiles=(0, 0, 0), ends=tiny, filled=900)
    declared = tomllib.loads(drafted(zeros))["datasets"]["people"]["columns"]["city"]
    assert declared["minimum"] == 0
    assert str(declared["maximum"]).startswith("FILL IN: ")
    assert "from 0 to 0, nearly all from 0 to 0" in zeros.middle
    assert column(kind="numbers", quartiles=(0, 0, 1), ends=(Decimal("1e-99"), 1)).middle.endswith(
        "1E-99 to 1"
    )
