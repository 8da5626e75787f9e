"""Results as a ledger stores them: exact both ways, and nothing that is not plain."""

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.selection.released_values import read_result, store_result

scalars: Any = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(),
    st.fractions(), st.dates(), st.just(Decimal("1.50")), st.just(dt.datetime(2026, 1, 2, 3)),
)  # fmt: skip
results: Any = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(results)
def test_what_is_stored_is_read(result: Any) -> None:
    back = read_result(store_result(result))
    assert back == result
    assert type(back) is type(result)


def test_numbers_of_numpy_are_those_of_python() -> None:
    assert read_result(store_result(np.float32(0.5))) == 0.5
    assert type(read_result(store_result(np.int64(7)))) is int


@pytest.mark.parametrize("result", [object(), {1}, float("nan"), b"12345", np.array([1, 2])])
def test_other_results_are_refused_and_not_quoted(result: Any) -> None:
    with pytest.raises(InvalidArgument) as caught:
        store_result(result)
    assert "12345" not in str(caught.value)


def test_what_is_too_deep_is_refused() -> None:
    result: Any = 1
    for _ in range(30):
        result = [result]
    with pytest.raises(InvalidArgument):
        store_result(result)
