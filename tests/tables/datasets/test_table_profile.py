"""Profiles as they are printed, shown and written: all of them from released numbers, and hostile text is text."""

import datetime as dt
import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

import discreet
from discreet.base.count_tables import text_width
from discreet.base.messages import using_language
from discreet.cli.answer_output import show_release
from discreet.privacy import ApproxDP
from discreet.tables.datasets.column_profile import ColumnProfile, spell_answer
from discreet.tables.datasets.table_profile import Profile

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
