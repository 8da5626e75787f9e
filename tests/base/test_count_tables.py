"""Tables of counts: aligned, with bars as long as the counts, and no key that a terminal or a page obeys."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet import plots
from discreet.base.count_tables import CountTable, table_of_counts, text_width
from discreet.cli.answer_output import show_release
from discreet.privacy import PureDP
from discreet.study.reports.charts import draw_counts

HOSTILE = {
    "<script>alert(1)</script>": 5,
    "\x1b[31mred\x07": 4,
    "\u202egnp.exe\u2066": 3,
    "=cmd|' /C calc'!A0": 2,
    "a\nb\0c": 1,
    "x" * 5000: 0,
}


def released(counts: dict[Any, Any], mechanism: str = "geometric") -> discreet.Release[Any]:
    promise = PureDP(Fraction(1), "add_remove")
    return discreet.Release(counts, promise, mechanism, query="counts of city")


def test_counts_are_aligned_beside_bars() -> None:
    table = table_of_counts({"/home": 12045, "/a": 310, "/b": 0}, ("page", "users"))
    assert str(table).splitlines() == [
        "page    users",
        "/home  12,045  ██████████████████████████████",
        "/a        310  ▊",
        "/b          0",
    ]
    assert "\n".join(table.lines(plain=True)).isascii()


def test_groups_have_a_column_of_their_own() -> None:
    table = table_of_counts({"Bern": {"tea": 2, "milk": 4}, "Basel": {"tea": 0}})
    assert [row for row, _ in table.rows] == [("Bern", "tea"), ("Bern", "milk"), ("Basel", "tea")]
    assert str(table).splitlines()[1] == "Bern   milk  4  ██████████████████████████████"


@pytest.mark.parametrize("width", [20, 40, 80, 100])
@pytest.mark.parametrize(
    "counts", [HOSTILE, {"苏黎世": 3, "Zürich": 40}, {}, {"a": 0}, {1: -3, 2: 5}]
)
def test_lines_are_no_wider_than_they_may_be(counts: dict[Any, int], width: int) -> None:
    lines = table_of_counts(counts).lines(width)
    assert len(lines) == len(counts)
    labels_and_count = (
        50  # the widest label and its count are whole, however narrow the terminal is
    )
    assert all(text_width(line) <= max(width, labels_and_count) for line in lines)
    assert all(line.isprintable() for line in lines)


def test_wide_letters_take_two_columns() -> None:
    assert text_width("苏黎世") == 6
    assert text_width("e\u0301") == 1
    first, second = table_of_counts({"苏黎世": 7, "Bern": 7}).lines()
    assert first.index("7") == 6 + 2 - 3
    assert second.index("7") == 6 + 2


def test_hostile_keys_are_text_wherever_they_are_shown(tmp_path: Path) -> None:
    release = released(HOSTILE)
    page = discreet.report(release, tmp_path / "counts.html").read_text(encoding="utf-8")
    for html in (release._repr_html_(), page, draw_counts(table_of_counts(HOSTILE))):
        assert "<script" not in html
        assert "alert(1)&lt;/script&gt;" in html
        assert not set(html) & {"\x1b", "\x07", "\u202e", "\u2066", "\0"}
        assert "x" * 1000 not in html


def test_a_terminal_obeys_no_key(capsys: pytest.CaptureFixture[str]) -> None:
    show_release(released(HOSTILE), {}, as_json=False)
    shown = capsys.readouterr().out
    assert len(shown.splitlines()) == len(HOSTILE)
    assert all(line.isprintable() for line in shown.splitlines())
    show_release(released(HOSTILE), {}, as_json=True)
    assert capsys.readouterr().out.strip().isprintable()


def test_bars_are_as_long_as_counts() -> None:
    html = table_of_counts({"a": 40, "b": 10, "c": 0, "d": -5}).html()
    assert [f"width: {share}%" in html for share in (100, 25, 0)] == [True] * 3
    assert "width: -" not in html
    assert CountTable(()).html().count("<tr>") == 0


def test_counts_alone_are_tables_of_counts() -> None:
    """A median by group is a dict of integers too, and none of counts."""
    assert released({"a": 1}).count_table() is not None
    assert released({"a": 1}, "exponential").count_table() is None
    assert released({}).count_table() is None
    assert released({"a": "tea"}).count_table() is None
    assert released({"a": {"tea": 1}}).count_table() is not None


def test_a_report_says_how_many_counts_and_draws_them(tmp_path: Path) -> None:
    release = released({f"/{place}": place for place in range(50)})
    page = discreet.report(release, tmp_path / "counts.html").read_text(encoding="utf-8")
    assert "50 counts" in page
    assert page.count('class="bar"') == 40
    assert "the first 40 of 50" in page


def test_a_report_without_counts_says_the_answer_alone(tmp_path: Path) -> None:
    release = discreet.select({"tea": 0, "milk": 99}, sensitivity=1, epsilon=1)
    page = discreet.report(release, tmp_path / "answer.html").read_text(encoding="utf-8")
    assert "milk: None" not in page


def test_a_picture_of_counts_has_a_bar_for_each_key() -> None:
    figure = plots.counts({"tea": 40, "<b>": 7, "\u202e": 3}, label="drink")
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["tea", "<b>", "\\u202e"]
    assert [bar.get_width() for bar in axes.patches] == [40, 7, 3]  # type: ignore[attr-defined]
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("drink", "count")
    assert "tea: 40" in figure.to_svg()
