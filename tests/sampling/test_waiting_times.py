"""Waiting times."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.mechanisms.peeling import arrivals
from discreet.mechanisms.peeling.arrivals import FirstArrivals
from discreet.mechanisms.testing import SeededBits, counted_work
from discreet.sampling import kernel
from discreet.sampling.bits import SystemBits
from discreet.sampling.enclosures import FUNCTION_ERROR, HALF_ULP, precision
from discreet.sampling.vectors import read_vector
from discreet.sampling.waiting_times import (
    LOG_TIME_ERROR,
    earliest_log_times,
    log_time,
    log_time_bounds,
    read_on_for,
)
from tests.mechanisms.peeling.test_arrivals import HALF, WORDS, settled_among

from ..mechanisms.races import hashed


def test_the_bound_on_log_times() -> None:
    rng = np.random.default_rng(1)
    near = (2.0 ** rng.uniform(0, 64, 500)).astype(np.uint64)
    ends = np.array([0, 1, 2**63 - 1, 2**63, WORDS - 1, WORDS - 2], dtype=np.uint64)
    words = np.concatenate((near, np.uint64(WORDS - 1) - near, ends))
    with np.errstate(all="ignore"):
        starts, stops = log_time_bounds(words, 64)
    with precision(300):
        for i, word in enumerate(words.tolist()):
            for numerator, fast in ((word, starts[i]), (word + 1, stops[i])):
                if 0 < numerator < WORDS:
                    assert abs(log_time(numerator, 64) - fast) < LOG_TIME_ERROR / 64
                else:
                    assert fast == (-np.inf if numerator == 0 else np.inf)


def test_the_table_of_sixteen_bits() -> None:
    table = earliest_log_times(16)
    assert len(table) == 2**16
    assert table[0] == -np.inf
    with precision(100):
        for word in (1, 2, 2**15 - 1, 2**15, 2**16 - 1):
            assert abs(log_time(word, 16) - table[word]) < LOG_TIME_ERROR / 64


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.1, 1.0, 30.0]), st.integers(30, 300))
def test_reading_on_for_a_few_is_enough(seed: int, spread: float, n: int) -> None:
    """The answers are those that reading on for everyone gives, where the rest is a function of the first bits."""
    scores = read_vector(np.round(np.random.default_rng(seed).standard_normal(n) * spread, 1))

    answers = []
    for few in (read_on_for, lambda n: n):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("discreet.sampling.waiting_times.read_on", hashed)
            patch.setattr(arrivals, "read_on_for", few)
            patch.setattr(kernel, "active", lambda: None)  # C reads on by itself
            answers.append(FirstArrivals(scores, 5, HALF).draw(SeededBits(seed)))
    assert set(answers[0]) == set(answers[1])


def test_its_work_depends_on_sizes_alone() -> None:
    n, k = 5000, 40
    earliest_log_times(16)  # worked out once
    rng = np.random.default_rng(0)
    seen = set()
    for scores in (rng.standard_normal(n), np.zeros(n), np.arange(n) * 1e6, np.arange(n) ** 2):
        law = FirstArrivals(read_vector(scores), k, HALF)
        with counted_work() as work:
            law.draw(SystemBits())
        seen.add((work.words, work.functions, work.passes, work.balls))
    few = k + 18
    assert seen == {(n // 4 + few, 4 * few, 0, 0)}
    assert len(FirstArrivals(read_vector(np.zeros(n)), n, HALF).draws(2, SeededBits(5))[1]) == n


def test_the_bound_covers_what_is_assumed_of_logarithms() -> None:
    """Real logarithms are better than assumed, so no comparison with balls can tell a bound that is too small."""
    assert 45.4 * FUNCTION_ERROR + (4 + 4.02 * 64 + 109) * HALF_ULP <= LOG_TIME_ERROR


@pytest.mark.parametrize("k", [1, 2])
def test_two_errors_apart_is_not_certain(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for apart, open_ in ((1.5, {0, 1}), (3.0, None)):
        scores = [apart * LOG_TIME_ERROR, 0.0]
        assert settled_among(monkeypatch, scores, k, [2**63, 2**63]) == open_
