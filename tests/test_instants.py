"""Times with an offset: equal exactly where they are the same instant."""

import datetime as dt
from zoneinfo import ZoneInfo

import pandas as pd
import pytest

from discreet.selection.candidates import instant

PARIS = ZoneInfo("Europe/Paris")
HALF_PAST_TWO = dt.datetime(2024, 10, 27, 2, 30, tzinfo=PARIS)
AN_HOUR_LATER = HALF_PAST_TWO.replace(fold=1)


def test_the_hour_that_clocks_repeat() -> None:
    assert HALF_PAST_TWO == AN_HOUR_LATER  # for Python
    assert instant(HALF_PAST_TWO) == dt.datetime(2024, 10, 27, 0, 30, tzinfo=dt.UTC)
    assert instant(AN_HOUR_LATER) == dt.datetime(2024, 10, 27, 1, 30, tzinfo=dt.UTC)
    assert instant(pd.Timestamp(AN_HOUR_LATER)) == instant(AN_HOUR_LATER)


@pytest.mark.parametrize(
    "value",
    [
        "tea",
        None,
        dt.date(2024, 2, 29),
        dt.datetime(2024, 2, 29),
        dt.datetime.max.replace(tzinfo=ZoneInfo("America/New_York")),
        pd.NaT,
    ],
)
def test_all_else_is_as_it_was(value: object) -> None:
    assert instant(value) is value
