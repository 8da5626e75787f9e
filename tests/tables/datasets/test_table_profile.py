"""Profiles as they are printed, shown and written: all of them from released numbers, and hostile text is text."""

import datetime as dt
import json
import tomllib
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.base.count_tables import text_width
from discreet.base.messages import using_language
from discreet.cli.answer_output import show_release
from discreet.privacy import ApproxDP
from discreet.tables.datasets.column_profile import ColumnProfile, spell_answer
from discreet.tables.datasets.configuration import read_configuration
from discreet.tables.datasets.table_profile import (
    Profile,
    draft_of_columns,
    is_describable,
    step_between,
)

from ...base.test_count_tables import HOSTILE

AGE = ColumnProfile("age", "numbers", False, 3990, 15, 40, (30, Decimal("41.2"), 53), (18, 90))
CITY = ColumnProfile("city", "texts", False, 3390, 600, 40, counts={"Basel": 900, "Zürich": 1200})
BORN = ColumnProfile(
    "born", "dates", True, 4001, 0, 40,
    (dt.date(1960, 1, 1), dt.date(1980, 1, 1), dt.date(1990, 5, 5)),
    (dt.date(1930, 1, 1), dt.date(2005, 1, 1)),
)  # fmt: skip
PROFILE = Profile(
    (AGE, CITY, BORN), 4012, "person", 3, Fraction(1), Fraction(1, 10**8), 10,
    (("photo", "column 'photo' has the type BLOB"),), {"source": "people.csv"},
)  # fmt: skip
EVIL = replace(
    PROFILE,
    columns=(
        replace(CITY, name="<img src=x onerror=alert(1)>\u202e\x1b[2J", counts=HOSTILE),
        replace(CITY, counts={f"/{place}": place for place in range(100)}),
    ),
)


def release_of(profile: Profile) -> discreet.Release[Profile]:
    promise = ApproxDP(profile.epsilon, profile.delta or Fraction(0), "add_remove")
    return discreet.Release(profile, promise, "composed", profile.unit, "profile of age")


def test_it_is_printed_column_by_column() -> None:
    lines = str(PROFILE).splitlines()
    assert lines[0] == "about 4,012 units (person), 3 columns"
    assert "age  ·  numbers  ·  3,990 cells" in lines
    assert "city  ·  texts  ·  3,390 cells, 600 missing" in lines
    assert "  Zürich  1,200  ██████████████████████████████" in lines
    assert lines.index("  Zürich  1,200  ██████████████████████████████") < lines.index(
        "  Basel     900  ██████████████████████▌"
    )
    assert "  median 41.2, half of them from 30 to 53, nearly all from 18 to 90" in lines
    assert lines[-1] == "photo is left out: column 'photo' has the type BLOB"


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("profile", [PROFILE, EVIL])
def test_lines_fit_and_hold_nothing_that_a_terminal_obeys(profile: Profile, width: int) -> None:
    lines = profile.lines(width)
    assert all(text_width(line) <= width for line in lines)
    assert all(line.isprintable() for line in lines)
    assert all("█" not in line and "─" not in line for line in profile.lines(width, plain=True))


def test_a_page_holds_hostile_text_as_text(tmp_path: Path) -> None:
    page = discreet.report(release_of(EVIL), tmp_path / "profile.html").read_text(encoding="utf-8")
    for html in (EVIL._repr_html_(), release_of(EVIL)._repr_html_(), page):
        assert "<script" not in html
        assert "<img" not in html
        assert "&lt;img src=x onerror=alert(1)&gt;" in html
        assert not set(html) & {"\x1b", "\x07", "\u202e", "\0"}
        assert "and 88 more" in html
    assert "A draft of discreet.toml" in page


def test_it_travels_as_plain_values() -> None:
    plain = json.loads(json.dumps(release_of(PROFILE).as_dict()))["value"]
    assert plain["size"] == 4012
    assert plain["columns"][0]["quartiles"] == [30, "41.2", 53]
    assert plain["columns"][1]["counts"] == [
        {"value": "Basel", "count": 900}, {"value": "Zürich", "count": 1200},
    ]  # fmt: skip
    assert plain["columns"][2]["ends"] == ["1930-01-01", "2005-01-01"]
    assert plain["delta"] == "1/100000000"
    assert plain["draft"] == PROFILE.draft


def test_it_is_shown_in_chinese_too() -> None:
    with using_language("zh"):
        text = str(PROFILE)
    assert "约 4,012 个隐私单元（person），3 列" in text
    assert "中位数 41.2" in text


def test_the_command_line_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    show_release(release_of(EVIL), {}, as_json=False)
    shown = capsys.readouterr()
    assert shown.out.startswith("about 4,012 units (person), 2 columns\n")
    assert shown.err == "ε = 1, δ = 0.00000001 (add/remove one person), composed mechanism\n"


def test_without_a_delta_it_says_why_no_values_are_there() -> None:
    bare = replace(PROFILE, delta=None, columns=(replace(CITY, counts=None),))
    assert "The values of a column of texts are released with a delta alone." in str(bare)
    empty = replace(PROFILE, columns=(replace(CITY, counts={}),))
    assert "no value is shared by enough" in str(empty)


@pytest.mark.parametrize(
    ("answer", "text"),
    [(41200, "41,200"), (1980, "1980"), (Decimal("41.2"), "41.2"), (Decimal("5E+4"), "50,000"),
     (-12000, "-12,000"), (dt.date(2020, 1, 2), "2020-01-02"), (Decimal("1e300"), "1E+300")],
)  # fmt: skip
def test_numbers_are_written_as_people_do(answer: object, text: str) -> None:
    assert spell_answer(answer) == text


def test_numbers_that_noise_has_chosen_are_not_drawn_as_if_they_were_known() -> None:
    """Too few cells: the picture and the numbers are left out, and the sentence says why."""
    lost = ColumnProfile("age", "numbers", True, 20, 0, 5, readable=19, needed=822)
    shown = [
        str(replace(PROFILE, columns=(lost,))),
        replace(PROFILE, columns=(lost,))._repr_html_(),
    ]
    for text in shown:
        assert "too few numbers for quartiles, which need about 822" in text
    assert not {"quartiles", "ends"} & {*lost.as_dict()}
    guessed = ColumnProfile("age", "texts", False, 4, 0, 5, counts={})
    words = "so few cells that noise may have decided what the column holds"
    assert words in str(replace(PROFILE, columns=(guessed,)))
    assert words not in str(replace(PROFILE, columns=(replace(guessed, filled=6),)))


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
