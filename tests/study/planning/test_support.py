"""Dates on the axis of a distribution: in its values, and in its pictures."""

import datetime as dt
from fractions import Fraction

import pytest

from discreet import DateGrid, compare, distribution, median, simulate
from discreet.errors import InvalidArgument
from discreet.study.planning.support import DateSupport

DAYS = [dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in range(400)]
MONTHS = DateGrid("2020-01-01", "2021-12-31", "1 month")


def test_the_places_of_dates() -> None:
    for grid in (MONTHS, DateGrid("2020-01-01T00:00", "2020-02-01T00:00", "6 hours"),
                 DateGrid("2020-01-01T00:00", "2020-12-01T00:00", "month", zone="Europe/Zurich")):  # fmt: skip
        support = DateSupport(grid)
        for place in range(grid.size):
            number = support.number(support[place])
            assert support.at_or_below(number) == support.find(grid[place]) == place
            assert support.at_or_below(number - Fraction(1, 10**6)) == place - 1
    assert DateSupport(MONTHS).number(dt.date(1970, 1, 2)) == 1
    assert DateSupport(MONTHS).step == 31
    assert DateSupport(DateGrid("2020-01-01", "2020-01-01")).step == 1
    with pytest.raises(InvalidArgument, match="must be a date or a time as the answers"):
        DateSupport(MONTHS).number(dt.datetime(2020, 1, 1, tzinfo=dt.UTC))


def test_a_distribution_over_dates() -> None:
    law = distribution(median, DAYS, candidates=MONTHS, epsilon="0.5")
    assert law.quantile("0.5") == dt.date(2020, 8, 1)
    assert law.probability(dt.date(2020, 8, 1)).lower > Fraction(1, 2)
    assert law.cdf(dt.date(2019, 1, 1)).upper == 0
    assert law.cdf("2021-12-31").lower > 1 - Fraction(1, 2**60)
    assert sum(law.pmf().values()) == pytest.approx(1)
    assert all(type(day) is dt.date for day in law.pmf())
    with pytest.raises(InvalidArgument, match="dates have no mean"):
        law.expected_value()
    with pytest.raises(InvalidArgument, match="must be a date"):
        law.cdf(5)
    assert {*simulate(median, DAYS, candidates=MONTHS, epsilon="0.5", size=20).values} <= {
        *law.pmf()
    }
    assert compare(median, DAYS, candidates=MONTHS, epsilons=[1]).epsilons


def test_a_picture_has_the_ticks_of_a_calendar() -> None:
    pytest.importorskip("matplotlib")
    law = distribution(median, DAYS, candidates=MONTHS, epsilon="0.5")
    figure = law.plot(answer=dt.date(2020, 7, 1), draws=simulate(
        median, DAYS, candidates=MONTHS, epsilon="0.5", size=20
    ))  # fmt: skip
    figure.canvas.draw()
    [axes] = figure.axes
    words = {label.get_text() for label in axes.get_xticklabels()}
    assert {"2021"} & words or {"Jul"} & words
    assert "answer: 2020-07-01" in [text.get_text() for text in figure.legends[0].get_texts()]
    law.plot_scores().canvas.draw()
