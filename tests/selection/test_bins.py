"""Bins by public edges, columns that are put together, and the lists of their cells."""

import datetime as dt
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest

from discreet import Bins
from discreet.errors import InvalidArgument, InvalidCandidates
from discreet.selection.bins import MOST_BINS, CellLabels, read_cell_labels, read_columns


def test_edges_are_exact() -> None:
    bins = Bins("x", 0, 0.3, 0.1)
    assert list(bins.edges) == [Fraction(tenths, 10) for tenths in range(4)]
    assert bins.labels == ("[0, 0.1)", "[0.1, 0.2)", "[0.2, 0.3)")
    assert Bins("x", 0, 1, Fraction(1, 3)).labels[1] == "[1/3, 2/3)"
    assert Bins("x", edges=["1e3", 10**20]).labels == ("[1000, 100000000000000000000)",)


def test_cells_outside_are_there_if_they_are_asked_for() -> None:
    options: dict[str, Any] = {"closed": True, "below": True, "above": True, "missing": True}
    assert Bins("x", edges=[0, 1, 2], **options).labels == (
        "below 0",
        "[0, 1)",
        "[1, 2]",
        "above 2",
        "missing",
    )
    assert Bins("x", edges=[0, 1, 2], above=True).labels == ("[0, 1)", "[1, 2)", "2 or above")


def test_labels_stand_in_place_of_edges_and_join_cells() -> None:
    options: dict[str, Any] = {"below": True, "above": True, "missing": True}
    bins = Bins("x", edges=[0, 1], **options, labels=["out", "in", "out", "none"])
    assert bins.labels == ("out", "in", "none")
    assert bins.regions == ("out", "in", "out")
    assert bins.missing_label == "none"
    assert bins.description["labels"] == ["out", "in", "out", "none"]
    assert "labels" not in Bins("x", 0, 1, 1).description


def test_one_edge_divides_a_line() -> None:
    bins = Bins("x", edges=[18], below=True, above=True)
    assert bins.labels == ("below 18", "18 or above")
    assert str(bins) == "x […, 18, …)"
    assert Bins("x", edges=[18], above=True).regions == (None, "18 or above")


def test_dates_are_in_steps() -> None:
    bins = Bins("d", dt.date(2020, 1, 1), "2020-03-01", "1 month")
    assert bins.labels == ("[2020-01-01, 2020-02-01)", "[2020-02-01, 2020-03-01)")
    assert Bins("d", "2020-01-01T00:00", "2020-01-01T12:00", "6 hours").labels[1] == (
        "[2020-01-01T06:00:00, 2020-01-01T12:00:00)"
    )


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((0, 10, 3), {}, "whole number of steps"),
        (("2020-01-01", "2020-03-02", "1 month"), {}, "whole number of steps"),
        ((0, 10), {}, "first edge, the last and the width"),
        ((), {}, "need edges"),
        ((0, 10, 1), {"edges": [1, 2]}, "need edges"),
        ((), {"edges": [1]}, "from 2 to"),
        ((), {"edges": [1], "above": True, "closed": True}, "from 2 to"),
        ((), {"edges": [], "below": True, "above": True}, "from 1 to"),
        ((0, 2, 1), {"labels": ["a"]}, "one for each of the 2 cells"),
        ((0, 1, 1), {"labels": [1]}, "must be texts"),
        ((0, 1, 1), {"labels": "a"}, "labels"),
        ((0, 1, 1), {"labels": {"a"}}, "must be a list, got a set"),
        ((), {"edges": [1, 1]}, "must rise"),
        ((), {"edges": ["2020-01-02", "2020-01-01"]}, "must rise"),
        ((), {"edges": ["2020-01-02", "2020-01-03T00:00"]}, "of one kind"),
        ((), {"edges": [1, "2020-01-02"]}, "an edge must be"),
        ((0, MOST_BINS + 1, 1), {}, "1,001 bins"),
        ((), {"edges": range(MOST_BINS + 2)}, "from 2 to 1,001 edges"),
        ((0, 1, 1), {"closed": "no"}, "closed must be True or False"),
    ],
)
def test_bins_without_sense_are_refused(arguments: Any, options: Any, words: str) -> None:
    with pytest.raises((InvalidCandidates, InvalidArgument), match=words):
        Bins("x", *arguments, **options)


def test_a_product_has_all_tuples_in_order() -> None:
    cells = read_columns(["city", Bins("age", 0, 20, 10)])
    labels = read_cell_labels(cells, {"city": ["a", "b"]})
    assert [*labels] == [("a", "[0, 10)"), ("a", "[10, 20)"), ("b", "[0, 10)"), ("b", "[10, 20)")]
    assert isinstance(labels, CellLabels)
    assert labels.places == [(0, 0), (0, 1), (1, 0), (1, 1)]
    listed = read_cell_labels(cells, [("b", "[0, 10)"), ["a", "[0, 10)"]])
    assert isinstance(listed, CellLabels)
    assert [*listed] == [("b", "[0, 10)"), ("a", "[0, 10)")]
    assert (listed.parts[0].description, listed.places) == (("b", "a"), [(0, 0), (1, 0)])


def test_true_and_1_are_no_two_values_of_a_column() -> None:
    with pytest.raises(InvalidCandidates, match="distinct"):
        read_cell_labels(read_columns(["x", "y"]), [(1, "a"), (True, "b")])


@pytest.mark.parametrize(
    "column",
    [["a"], [], ["a", "a"], ["a", Bins("a", 0, 1, 1)], [*map(str, range(11))], [["a"], "b"]],
)
def test_what_is_no_list_of_columns_is_refused(column: Any) -> None:
    with pytest.raises(InvalidArgument):
        read_columns(column)


def test_questions_name_the_columns() -> None:
    cells = read_columns(["city", Bins("age", 0, 120, 10, closed=True), Bins("n", edges=[0, 1, 2])])
    assert str(cells) == "city × age [0, 10, …, 120] × n [0, 1, 2)"
    assert cells.description[1]["closed"] is True
    assert read_columns(cells) is cells


def test_edges_are_written_in_full_whatever_the_context() -> None:
    edges = [Decimal(1), Decimal("1." + "0" * 28 + "1"), Decimal("1.5"), 100]
    with localcontext(prec=2):
        labels = Bins("x", edges=edges).labels
    assert labels == (f"[1, {edges[1]})", f"[{edges[1]}, 1.5)", "[1.5, 100)")
