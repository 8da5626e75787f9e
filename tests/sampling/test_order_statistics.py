"""Numbers by their rank: against sorting, on numbers with all kinds of ties, with the kernel and without it."""

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.sampling import kernel
from discreet.sampling.order_statistics import kth_largest, second_largest, sort_places

finite = st.floats(allow_nan=False, allow_infinity=False)
FEW = st.sampled_from([-(2.0**-1074), -0.0, 0.0, 1.0, 2.0**-1074, 1.7976931348623157e308])
KINDS: dict[str, tuple[st.SearchStrategy[Any], Any]] = {
    "doubles": (finite, np.float64),
    "few doubles": (FEW | FEW.map(lambda x: -x), np.float64),
    "integers": (st.integers(-(2**63), 2**63 - 1), np.int64),
    "few integers": (st.integers(-1, 1), np.int64),
    "unsigned integers": (st.integers(0, 2**64 - 1), np.uint64),
    "fractions": (st.fractions(max_denominator=5), object),
}


@pytest.fixture(params=["kernel", "numpy"], autouse=True)
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let numbers be ranked by the kernel, and by numpy."""
    if request.param == "numpy":
        monkeypatch.setattr(kernel, "active", lambda: None)
    elif kernel.active() is None:
        pytest.skip("no kernel")


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_each_rank_is_that_of_the_sorted_numbers(kind: str, data: st.DataObject) -> None:
    numbers, dtype = KINDS[kind]
    values = np.array(data.draw(st.lists(numbers, min_size=1, max_size=30)), dtype=dtype)
    in_order = sorted(values.tolist())
    for k in range(1, len(values) + 1):
        assert kth_largest(values, k) == in_order[-k]
    if len(values) > 1:
        assert second_largest(values) == in_order[-2]


@given(
    st.lists(
        st.integers(0, 5) | st.integers(0, 2**53 + 2) | st.integers(0, 2**63 - 1), max_size=200
    )
)
def test_integers_are_put_in_order(few: list[int]) -> None:
    places = np.array(few, dtype=np.int64)
    assert sort_places(places).tolist() == sorted(few)
    assert places.tolist() == few
    objects: Any = np.array([*few, 2**70], dtype=object)
    assert sort_places(objects).tolist() == sorted([*few, 2**70])


def test_the_kernel_puts_integers_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """In steps that do not depend on them, where doubles hold them: else a sort of numpy's would show ties."""
    if kernel.active() is None:
        pytest.skip("numpy's own sort")
    monkeypatch.setattr(np, "sort", None)
    assert sort_places(np.array([2**53 - 1, 0, 5])).tolist() == [0, 5, 2**53 - 1]
    with pytest.raises(TypeError):
        sort_places(np.array([2**53, 0]))


@pytest.mark.parametrize("step", [1, 2, -1])
def test_numbers_that_are_not_one_after_another_are_ranked_too(step: int) -> None:
    values = np.arange(100.0)[::step]
    assert kth_largest(values, 3) == sorted(values.tolist())[-3]


def test_as_many_passes_are_made_whatever_ties_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """The passes of numpy; the kernel's loop has no other end than its last bit."""
    passes, count = Counter[int](), np.count_nonzero

    def count_passes(numbers: Any) -> int:
        passes[len(numbers)] += 1
        return int(count(numbers))

    monkeypatch.setattr(kernel, "active", lambda: None)
    monkeypatch.setattr(np, "count_nonzero", count_passes)
    for size, values in enumerate(([0.0] * 50, range(51), [20.0] + [0.0] * 51), 50):
        kth_largest(np.array(values, dtype=float), 10)
        assert passes[size] == 64


def test_objects_are_exact() -> None:
    values = np.array([Fraction(1, 3), 0.1, 10**30, Fraction(1, 10)], dtype=object)
    assert kth_largest(values, 1) == 10**30
    assert kth_largest(values, 3) == 0.1  # above 1/10
    assert second_largest(values) == Fraction(1, 3)
