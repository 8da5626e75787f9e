"""Noisy counts of cells by their kind: that of more than half decides. test_profile has their privacy."""

import pytest

from discreet.tables.verbs.profile_columns import decided_kind


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [
        ([0, 0, 5, 0], "numbers"), ([4, 90, 5, 0], "numbers"), ([5, 0, 5, 0], "texts"), ([0, 0, 0, 0], "texts"),
        ([3, 0, 1, 5], "dates"), ([0, 0, 5, 5], "texts"), ([2**62, 0, 2**61, 0], "texts"),
        ([-3, 0, 5, -1], "numbers"),
    ],
)  # fmt: skip
def test_more_than_half_of_the_filled_cells_decide(numbers: list[int], kind: str) -> None:
    assert decided_kind(numbers) == kind
