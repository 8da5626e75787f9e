"""A release looks like what it is, and is ready for JSON."""

from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import discreet


def test_a_release_looks_like_what_it_is() -> None:
    release = discreet.select({"tea": 0, "coffee": 99}, sensitivity=1, epsilon=1)
    assert repr(release) == (
        "Release('coffee': ε = 1 (add/remove one record), exponential mechanism)"
    )
    assert str(release) == "coffee [ε = 1 (add/remove one record), exponential mechanism]"
    assert release.as_dict() == {
        "value": "coffee",
        "error": {
            "error": "294443897917/50000000000",
            "probability": "19/20",
            "unit": "units of the score",
        },
        "mechanism": "exponential",
        "guarantee": {"kind": "bounded_range", "epsilon": "1", "neighbors": "add_remove"},
    }
    long = discreet.select([0, 99], sensitivity=1, epsilon=1, size=1000)
    assert len(repr(long)) < 320
    assert long.as_dict()["value"] == [1] * 1000


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"north": Decimal("49.96")}, "{'north': 49.96}"),
        ({1: [Decimal("1.10"), Fraction(1, 3)]}, "{1: [1.10, 1/3]}"),
        ([["a", 1], [True, None]], "[['a', 1], [True, None]]"),
        ([date(2024, 2, 29)], "[2024-02-29]"),
        (Decimal("1e2"), "1E+2"),
    ],
)
def test_a_release_writes_numbers_in_lists_as_if_alone(value: object, written: str) -> None:
    release = discreet.Release(
        value, discreet.privacy.PureDP(Fraction(1), "add_remove"), "exponential"
    )
    assert str(release) == f"{written} [ε = 1 (add/remove one record), exponential mechanism]"


def test_releases_are_ready_for_json() -> None:
    import datetime
    import json

    day = datetime.date(2024, 12, 31)
    for candidate in (
        day,
        Decimal("0.1"),
        Fraction(1, 3),
        float("inf"),
        np.int64(7),
        b"x",
        "tea",
        5,
    ):
        release = discreet.select([99], sensitivity=1, epsilon=1, candidates=[candidate])
        text = json.dumps(release.as_dict(), allow_nan=False)
        assert json.loads(text)["value"] in (candidate, str(candidate))
    drawn = discreet.select([0, 1], sensitivity=1, epsilon=1, size=2)
    assert drawn != discreet.select([0, 1], sensitivity=1, epsilon=1, size=2)
    assert {drawn: 1}[drawn] == 1
