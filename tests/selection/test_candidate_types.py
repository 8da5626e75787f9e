"""Types that releases and grids share: type checkers read them, and a first answer loads them alone."""

from typing import get_args

from discreet import Grid, Release
from discreet.selection.candidate_types import Indexed, T


def test_releases_and_grids_are_generic_by_one_type() -> None:
    for kind in (Release, Grid):
        assert get_args(vars(kind)["__orig_bases__"][0]) == (T,)


def test_grids_and_lists_are_candidates_by_index() -> None:
    grid: Indexed[int] = Grid(3, 9)
    listed: Indexed[int] = [3, 4]
    assert [grid[0], listed[0]] == [3, 3]
