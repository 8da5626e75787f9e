"""Answers laid out for a page: values, lists, groups, and counts with their bars."""

from discreet.service.pages.answer_layout import AnswerLayout, CountRow, layout_of
from discreet.tables.datasets.noisy_cell_counts import MAY_BE_OPEN, NoisyCellCounts
from discreet.tables.templates import _environment


def rows(layout: AnswerLayout) -> list[tuple[str, str, int]]:
    """Return the rows of counts."""
    return [(row.name, row.count, row.bar) for row in layout.counts]


def test_a_histogram_has_a_bar_for_each_value() -> None:
    layout = layout_of({"Bern": 1200, 7: 300, "none": 0}, is_histogram=True)
    assert rows(layout) == [("Bern", "1,200", 100), ("7", "300", 25), ("none", "0", 0)]
    assert layout_of({}, is_histogram=True) == AnswerLayout()
    assert rows(layout_of({"a": 0}, is_histogram=True)) == [("a", "0", 0)]


def test_numbers_by_group_are_no_histogram() -> None:
    layout = layout_of({"Bern": 34, "Basel": 35})
    assert [(name, one.one) for name, one in layout.groups] == [("Bern", "34"), ("Basel", "35")]


def test_histograms_of_groups_are_one_each() -> None:
    layout = layout_of({"x": {"a": 2, "b": 1}, "y": {"a": 0, "b": 4}}, is_histogram=True)
    assert [(name, rows(one)) for name, one in layout.groups] == [
        ("x", [("a", "2", 100), ("b", "1", 50)]),
        ("y", [("a", "0", 0), ("b", "4", 100)]),
    ]


def test_a_list_with_counts_has_bars() -> None:
    assert rows(layout_of(["a", "b"], [40, 10])) == [("a", "40", 100), ("b", "10", 25)]
    assert layout_of(["a", "b"], [[1, 2], [3, 4]]).many == ("a: 1, 2", "b: 3, 4")
    assert layout_of("a", 3).one == "a: 3"


def test_records_of_several_lines_may_be_an_open_quote() -> None:
    for number, lines, is_open in (
        (None, "", False),
        (-3, "0", False),
        (9, "9", False),
        (1234, "1,234", True),
    ):
        counts = NoisyCellCounts(3, 0, 0, 0, 0, 9, multiline_records=number)
        layout = layout_of(counts)
        assert (layout.lines, layout.has_open_quote) == (lines, is_open)
        assert (MAY_BE_OPEN in counts.lines_about_records) == is_open


def test_rows_are_a_table() -> None:
    layout = layout_of([{"city": "Bern", "n": 3, "m": None}, {"city": None, "n": 0, "m": 1.5}])
    assert layout.columns == ("city", "n", "m")
    assert layout.rows == (("Bern", "3", "NULL"), ("NULL", "0", "1.5"))
    lists = [{"t": [{"value": "tea", "count": 2}, {"value": "milk", "count": 1}], "k": ["a", "b"]}]
    assert layout_of(lists).rows == (("tea: 2, milk: 1", "a, b"),)
    assert layout_of([]) == AnswerLayout()


def test_a_hostile_key_is_text_on_the_page() -> None:
    text = '<script>alert("x")</script>\u202e{{ 7 * 7 }}'
    page = _table_of(text)
    assert "<script>" not in page
    assert "\u202e" not in page
    assert "[U+202E]{{ 7 * 7 }}" in page


def _table_of(name: str) -> str:
    """Return the table of one value in HTML."""
    template = _environment().from_string(
        '{% from "pages/pieces.html" import count_table %}{{ count_table(rows) }}'
    )
    return template.render(rows=[CountRow(name, "3", 100)])


def test_counts_of_two_columns_are_a_table_with_shades() -> None:
    counts = {("York", "tea"): 900, ("York", "<b>"): 0, ("Leeds", "tea"): -3, (None, "<b>"): 450}
    cross = layout_of(counts, is_histogram=True).cross
    assert cross is not None
    assert cross.columns == ("tea", "<b>")
    assert cross.rows == (
        ("York", (("900", 9), ("0", 0))), ("Leeds", (("-3", 0), None)), ("NULL", (None, ("450", 4))),
    )  # fmt: skip
    page = _environment().from_string(
        "{% from 'pages/pieces.html' import value %}{{ value(laid) }}"
    )
    text = page.render(laid=layout_of(counts, is_histogram=True))
    assert '<td class="number shade-9">900</td>' in text
    assert "&lt;b&gt;" in text


def test_other_cells_have_bars() -> None:
    wide = {(row, column): 1 for row in range(13) for column in range(14)}
    assert len(layout_of(wide, is_histogram=True).counts) == 13 * 14
    turned = layout_of(
        {(row, column): row for row in range(2) for column in range(13)}, is_histogram=True
    )
    assert turned.cross is not None
    assert turned.cross.columns == ("0", "1")
    assert turned.cross.rows[12] == ("12", (("0", 0), ("1", 9)))
    three = layout_of({("York", "tea", "[0, 60)"): 1}, is_histogram=True)
    assert rows(three) == [("York, tea, [0, 60)", "1", 100)]
    assert layout_of({("York", "tea"): "milk"}).groups[0][0] == "York, tea"
