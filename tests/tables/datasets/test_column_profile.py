"""Ends and quartiles in a line of letters."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from discreet.tables.datasets.column_profile import BoxPlot

UTC = dt.UTC


@pytest.mark.parametrize(
    ("values", "places"),
    [
        ([0, 25, 50, 75, 100], (0, 0.25, 0.5, 0.75, 1)),
        ([Decimal("1e300"), -1, 0, 1, Decimal("-1e300")], (0, 0.5, 0.5, 0.5, 1)),
        ([7] * 5, (0.5,) * 5),
        ([dt.date(2020, 1, 1 + day) for day in (0, 1, 2, 3, 4)], (0, 0.25, 0.5, 0.75, 1)),
        (
            [dt.datetime(2020, 1, 1, hour, tzinfo=UTC) for hour in (0, 6, 12, 18, 20)],
            (0, 0.3, 0.6, 0.9, 1),
        ),
    ],
)
def test_places_are_where_the_values_are_on_the_way_from_end_to_end(
    values: list[Any], places: tuple[float, ...]
) -> None:
    assert BoxPlot.of(values).places == pytest.approx(places)


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("width", [10, 40, 78, 200])
def test_the_line_has_its_ends_and_its_middle(width: int, plain: bool) -> None:
    line = BoxPlot.of([0, 30, 40, 60, 100]).line(width, plain=plain)
    assert len(line) == min(width, 60)
    assert line[0] + line[-1] == ("||" if plain else "├┤")
    middle = round(0.4 * (len(line) - 1))
    assert line[middle] == ("|" if plain else "┃")
    assert line.isascii() == plain
