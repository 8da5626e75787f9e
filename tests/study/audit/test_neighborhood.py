"""All pairs of neighbours over a small universe, against brute force."""

from collections import Counter
from itertools import combinations_with_replacement

import pytest

from discreet.errors import InvalidArgument
from discreet.study.audit.neighborhood import Neighborhood


def are_neighbors(first: tuple[int, ...], second: tuple[int, ...], neighbors: str) -> bool:
    fewer, more = Counter(first) - Counter(second), Counter(second) - Counter(first)
    counts = fewer.total(), more.total()
    return counts == (1, 1) if neighbors == "replace_one" else counts == (0, 1)


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("sizes", [range(4), (1, 2), (0, 2, 3)])
def test_pairs_are_all_there_are(neighbors: str, sizes: range | tuple[int, ...]) -> None:
    room = Neighborhood(3, frozenset(sizes), neighbors)
    datasets = [one for size in sizes for one in combinations_with_replacement(range(3), size)]
    expected = {
        frozenset([one, other]) for one in datasets for other in datasets if are_neighbors(one, other, neighbors)
    }  # fmt: skip
    pairs = list(room.everything())
    assert {frozenset(pair) for pair in pairs} == expected
    assert len(expected) <= len(pairs) == room.pairs()


def test_sizes_without_neighbors_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="neighbours among them"):
        Neighborhood(3, frozenset([0, 2]), "add_remove")
