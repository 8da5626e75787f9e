"""The attack on weights that overflow."""

import pytest

import discreet
from discreet.study.attacks import crash


def test_the_naive_median_answers_where_there_are_no_ties() -> None:
    assert 0 < crash.unsafe_median(crash.ROWS, 0, 10, 0.5) < 10
    with pytest.raises(ValueError, match="math domain error"):
        crash.unsafe_median(crash.NEIGHBOR, 0, 10, 0.5)
    grid = discreet.Grid(0, 10)
    for rows in (crash.ROWS, crash.NEIGHBOR, [5, 5, 5], []):
        assert discreet.median(rows, candidates=grid, epsilon=1).value in range(11)
