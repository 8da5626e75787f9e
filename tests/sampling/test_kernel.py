"""The kernel in C beside numpy and plain Python: the same bounds, and the same answers on the same bits."""

import math
import threading
from collections.abc import Iterable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.errors import InvalidScores
from discreet.sampling import kernel
from discreet.sampling.bits import LazyUniform, SystemBits
from discreet.sampling.categorical import BLOCK, FLAT, Categorical, Sums, cumulate
from discreet.sampling.enclosures import (
    CUT_WEIGHT,
    FUNCTION_ERROR,
    WEIGHT_ERROR,
    NaturalRate,
    cut_exponential,
    error_of_sums,
    precision,
)
from discreet.sampling.kernel_library import open_library
from discreet.sampling.shared_work import share
from discreet.sampling.short_lists import settle_short, short_list
from discreet.sampling.vectors import read_vector

KERNEL = kernel.active()
pytestmark = pytest.mark.skipif(
    isinstance(open_library(), str), reason=f"no kernel: {open_library()}"
)
FAST: Any = KERNEL
CUT = 93 * math.log(2)
HALF = NaturalRate(Fraction(1, 2))
LENGTHS = [1, 2, 63, 64, 65, 255, 256, 257, 1023, 1025, 5000]
WORDS = np.random.default_rng(11).integers(0, 2**64, size=1200, dtype=np.uint64)
TINY = math.ulp(0.0)


class Words(SystemBits):
    """The same words each time."""

    def __init__(self, words: Iterable[int] = WORDS.tolist()) -> None:
        self._words = iter(words)

    def word(self) -> int:
        return next(self._words)

    def words(self, n: int) -> NDArray[np.uint64]:
        return np.array([self.word() for _ in range(n)], dtype=np.uint64)


@pytest.mark.parametrize("start", [0, 3, 9])
def test_addresses_are_those_of_numpy(start: int) -> None:
    """Of arrays that may be written to, which are looked at in another way, of others, and of none."""
    numbers = np.arange(9.0)[start:]
    fixed = numbers.copy()
    fixed.flags.writeable = False
    for array in (numbers, fixed, numbers.astype(np.uint32), np.zeros((2, 3))[1]):
        assert kernel.address(array) == array.ctypes.data


def exact(value: float) -> arb:
    return arb(fmpq(*Fraction(value).as_integer_ratio()))


def answers(scores: Any, rate: NaturalRate = HALF) -> list[int]:
    """Return three hundred answers of a batch and twenty single ones, each a function of the same words."""
    law, bits = Categorical(read_vector(scores), rate), Words()
    found: list[int] = law.draws(300, bits).tolist()
    return found + [law.draw(bits) for _ in range(20)]


def shapes(values: NDArray[np.float64]) -> list[Any]:
    """Return the same numbers as they may lie in memory."""
    wide = np.zeros((len(values), 3))
    wide[:, 1] = values
    raw = bytearray(8 * len(values) + 1)
    shifted: NDArray[np.float64] = np.frombuffer(raw, dtype=np.float64, offset=1)
    shifted[:] = values
    fixed = values.copy()
    fixed.flags.writeable = False
    return [values, wide[:, 1], values[::-1].copy()[::-1], shifted, values.astype(">f8"), fixed]


@pytest.mark.parametrize("n", LENGTHS)
def test_answers_are_a_function_of_the_bits(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(n).normal(size=n) * 4
    found = {tuple(answers(shape)) for shape in shapes(values)}
    assert len(found) == 1
    monkeypatch.setattr(kernel, "active", lambda: None)
    assert found == {tuple(answers(values))}
    short = short_list(values.tolist())
    if short is not None:
        for word, i in zip(WORDS, found.pop(), strict=False):
            u = LazyUniform.of_word(int(word), Words())
            assert settle_short(short, HALF, u) in (i, None)


@pytest.mark.parametrize(
    "values",
    [
        [0.0, -TINY, TINY, 2.0**-1022, -(2.0**-1022)] * 30,
        [0.0, -2 * CUT, -2 * math.nextafter(CUT, 0), -2 * math.nextafter(CUT, 99)] * 40,
        [1.7e308, -1.7e308, 0.0] * 30,
        [-1.7e308] * 100,
        [5.0, -1e300] * 100,
    ],
)
def test_at_the_ends_of_the_range(values: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    fast = answers(np.array(values))
    monkeypatch.setattr(kernel, "active", lambda: None)
    assert fast == answers(np.array(values))


@pytest.mark.parametrize("kind", [np.float32, np.int64, np.uint64, np.int8])
def test_numbers_of_other_types(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    values: NDArray[Any] = np.random.default_rng(3).integers(0, 100, size=700).astype(kind)
    fast = answers(values)
    monkeypatch.setattr(kernel, "active", lambda: None)
    assert fast == answers(values)


@pytest.mark.parametrize("n", [FLAT + 1, FLAT + BLOCK - 1, 5 * BLOCK, 5 * BLOCK + 1])
def test_long_vectors(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(n).normal(size=n) * 4
    fast = answers(values)
    monkeypatch.setattr(kernel, "FOR_A_THREAD", 1)
    for number in (2, 3, 100):
        monkeypatch.setattr(kernel, "threads", lambda number=number: number)
        assert answers(values) == fast
    monkeypatch.setattr(kernel, "active", lambda: None)
    assert answers(values) == fast


@pytest.mark.parametrize(
    ("n", "block", "threads"),
    [
        (10**6 - 1, BLOCK, 1),
        (10**6, BLOCK, 2),
        (3 * 10**6, BLOCK, 4),
        (10**6, 10**6, 1),
        (1, BLOCK, 1),
    ],
)
def test_how_many_threads_share_a_vector(
    n: int, block: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def note(work: Any, spans: Any, number: int) -> None:
        seen.append(number)
        share(work, spans, number)

    monkeypatch.setattr(kernel, "threads", lambda: 4)
    monkeypatch.setattr("discreet.sampling.shared_work.share", note)
    bests, sums = FAST.block_sums(np.ones(n), block, 1.0)
    assert seen == [threads]
    assert (bests == 1).all()
    assert sums.sum() == n


def test_where_no_more_threads_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    values = np.random.default_rng(0).normal(size=FLAT + 5)
    fast = answers(values)
    monkeypatch.setattr(kernel, "FOR_A_THREAD", 1)
    monkeypatch.setattr(kernel, "threads", lambda: 4)
    monkeypatch.setattr("discreet.sampling.shared_work.start_new_thread", refuse)
    assert answers(values) == fast


def test_what_a_thread_leaves_out_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that finds no memory leaves sums unwritten, which must not become weights."""
    values = np.random.default_rng(0).normal(size=FLAT + 5)
    fast, functions, failed = answers(values), dict(FAST._functions), threading.Event()

    def without_memory(*arguments: Any) -> Any:
        if threading.get_ident() != threading.main_thread().ident:
            failed.set()
            raise MemoryError
        assert failed.wait(10)
        return functions["block_sums"](*arguments)

    number = [4]
    monkeypatch.setitem(FAST._functions, "block_sums", without_memory)
    monkeypatch.setattr(kernel, "FOR_A_THREAD", 1)
    monkeypatch.setattr(kernel, "threads", lambda: number[0])
    with pytest.raises(MemoryError):
        answers(values)
    number[0] = 1
    failed.set()
    assert answers(values) == fast


def test_more_threads_than_blocks_find_what_is_not_finite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "FOR_A_THREAD", 1)
    monkeypatch.setattr(kernel, "threads", lambda: 100)
    for place in range(0, FLAT + BLOCK, BLOCK):
        values = np.zeros(FLAT + BLOCK)
        values[place] = math.nan
        with pytest.raises(InvalidScores, match=r"[Tt]here is a NaN"):
            Categorical(read_vector(values), HALF)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("n", [1, 64, 70, 3 * BLOCK + 7, FLAT + 100])
def test_numbers_that_are_not_finite_are_refused_wherever_they_are(bad: float, n: int) -> None:
    for place in {0, 1 % n, 63 % n, 64 % n, n // 2, n - 1}:
        values = np.zeros(n)
        values[place] = bad
        with pytest.raises(InvalidScores, match=r"[Tt]here is a NaN or an infinity among them"):
            Categorical(read_vector(values), HALF)


GAPS = st.one_of(
    st.floats(0, 1.1 * CUT),
    st.floats(0, 1e-300),
    st.integers(0, 94).map(lambda k: k * math.log(2)),
    st.integers(0, 188).map(lambda k: math.nextafter(k / 2 * math.log(2), 0)),
    st.floats(0, 1.7e308),
)


@given(st.lists(GAPS, min_size=1, max_size=130), st.fractions(Fraction(1, 10**6), 10**6))
def test_weights_keep_the_proved_error(gaps: list[float], eta: Fraction) -> None:
    rate = NaturalRate(eta)
    fast = FAST.weights(np.array(gaps), rate.double).tolist()
    with precision(200):
        for gap, value in zip(gaps, fast, strict=True):
            true = rate.decay(Fraction(gap))
            assert abs(exact(value) - true) <= WEIGHT_ERROR * exact(value) + arb(CUT_WEIGHT)


@given(st.lists(st.floats(-64, 0), min_size=1, max_size=130))
def test_exponentials_keep_the_error_assumed_of_numpy(exponents: list[float]) -> None:
    fast = cut_exponential(np.array(exponents)).tolist()
    with precision(200):
        for exponent, value in zip(exponents, fast, strict=True):
            true = exact(exponent).exp()
            assert abs(exact(value) - true) <= FUNCTION_ERROR * true


@pytest.mark.parametrize("n", [513, 1024, 1025, 5000, 70_001])
def test_running_sums_of_any_numbers(n: int) -> None:
    numbers = np.random.default_rng(n).integers(0, 1000, size=n).astype(np.float64)
    ends, chain = cumulate(numbers)
    assert (ends == np.cumsum(numbers)).all()  # integers, so both are exact
    assert chain == -(-n // 256) + 256
    assert (numbers == np.random.default_rng(n).integers(0, 1000, size=n)).all()


def test_weights_are_far_closer_than_the_bound() -> None:
    """What the bound leaves for the argument's roundings is used by large arguments only."""
    gaps = np.abs(np.random.default_rng(4).normal(size=3000))
    fast = FAST.weights(gaps.copy(), 1.0).tolist()
    with precision(128):
        worst = max(
            abs(exact(value) / (-exact(gap)).exp() - 1)
            for gap, value in zip(gaps.tolist(), fast, strict=True)
        )
    assert worst < arb(2) ** -46


def test_what_is_no_number_becomes_no_weight() -> None:
    """None gets there, as scores are checked; if one did, it would leave every answer open, as it does in numpy."""
    for n in (1, 70):
        assert np.isnan(FAST.weights(np.full(n, math.nan), 1.0)).all()
    ends, _ = FAST.running_sums(np.array([0.0, math.nan, 0.0]), 0.0, 1.0)
    assert (Sums(ends, 0.0).locate_all(WORDS, 64) == -1).all()


@pytest.mark.parametrize("n", [1, 255, 256, 257, 1023, 1024, 1025, 2049, 5000])
def test_running_sums_keep_the_proved_error(n: int) -> None:
    scores = np.random.default_rng(n).normal(size=n) * 3
    ends, chain = FAST.running_sums(scores, scores.max(), 0.5)
    error = error_of_sums(WEIGHT_ERROR, chain, n) * float(ends[-1])
    assert len(ends) == n
    with precision(128):
        true = arb(0)
        for score, end in zip(scores.tolist(), ends.tolist(), strict=True):
            true += HALF.decay(Fraction(float(scores.max())) - Fraction(score))
            assert abs(exact(end) - true) <= error


@pytest.mark.parametrize("n", [1, 2, 3, 17, 1000, 40_000])
@pytest.mark.parametrize("width", [5, 13, 64])
def test_a_batch_is_looked_up_as_numpy_does(n: int, width: int) -> None:
    for weights in (np.random.default_rng(n).random(n), np.r_[np.zeros(n - 1), 1.0]):
        sums = Sums(np.cumsum(weights), 2.0**-40)
        words = WORDS >> np.uint64(64 - width)
        fast = sums.locate_all(words, width)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(kernel, "active", lambda: None)
            slow = sums.locate_all(words, width)
        assert (fast == slow).all()
        assert width < 64 or (fast >= 0).mean() > 0.9


def locate(ends: Any, words: Any, width: int, slack: float) -> Any:
    """Look up words, and check how many are said to be open."""
    indices = np.empty(len(words), dtype=np.int64)
    number = FAST.locator(ends, width, slack, indices)(words, 0)
    assert number == (indices < 0).sum()
    return indices


def test_words_are_looked_up_in_turn() -> None:
    """Indices go where they are wanted, and no more of them than there is room for."""
    ends, indices = np.cumsum(np.ones(1000)), np.full(70, -2)
    put = FAST.locator(ends, 64, 0.0, indices[:60])
    assert put(WORDS[:50], 0) == put(WORDS[50:200], 50) == 0
    assert indices[:60].tolist() == locate(ends, WORDS[:60], 64, 0.0).tolist()
    assert (indices[60:] == -2).all()


@pytest.mark.parametrize("width", [1, 5, 64])
@pytest.mark.parametrize("size", [1, 2, 3, 70])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 9, 65])
def test_a_guide_has_the_cells_that_its_look_up_is_told_of(
    n: int, size: int, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One cell alone, of 0 bits, among them: what is looked up begins in the array, whatever the word."""
    told: list[int] = []

    def look_up(*arguments: Any) -> int:
        told.append(arguments[8])
        return 0

    ends = np.arange(1.0, n + 1)
    guide, bits = FAST.guide(ends, size, width)
    assert len(guide) == 2**bits + 1
    assert bits <= width
    assert (guide[0], guide[-1]) == (0, n - 1)
    monkeypatch.setitem(FAST._functions, "locate", look_up)
    FAST.locator(ends, width, 0.0, np.empty(size, dtype=np.int64))(WORDS[:size], 0)
    assert told == [bits]


def test_a_wrong_guide_costs_time_and_nothing_else() -> None:
    """Sums that are not sorted mislead the guide; what is given out satisfies the certificate all the same."""
    ends = np.array([3.0, 1.0, 2.0, 0.5, 4.0])
    found = locate(ends, WORDS, 64, 0.0)
    for word, i in zip(WORDS.tolist(), found.tolist(), strict=True):
        low = word * 2.0**-64 * 4
        assert i == -1 or ((i == 0 or ends[i - 1] < low) and (i == 4 or low < ends[i]))


def test_sources_of_bits_cannot_make_it_read_what_is_not_theirs() -> None:
    """Words of another type are converted, too long ones stay inside the guide, and too few are refused."""
    ends = np.cumsum(np.ones(1000))
    words = WORDS >> np.uint64(32)
    found = locate(ends, words, 32, 0.1)
    for same in (
        words.astype(np.uint32),
        words.astype(np.int64),
        words.astype(">u8"),
        words[::-1].copy()[::-1],
    ):
        assert (locate(ends, same, 32, 0.1) == found).all()
    assert set(locate(ends, WORDS | np.uint64(1 << 63), 5, 0.1).tolist()) <= {-1, *range(1000)}
    with pytest.raises(ValueError, match="5 rows need as many words, got 4"):
        FAST.locate_rows(np.ones((5, 3)), WORDS[:4], 64, 0.1)


def test_doubts_are_settled_by_the_same_uniform(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words right at the boundaries are open to the kernel, and fall on the same side as without it."""
    scores = np.zeros(256)
    law = Categorical(read_vector(scores), HALF)
    words = [(k << 56) + offset for k in range(1, 256) for offset in (-1, 0, 1)]

    def settled() -> list[int]:
        found: list[int] = law.draws(len(words), Words([*words, *[7] * 2000])).tolist()
        return found

    fast = settled()
    monkeypatch.setattr(kernel, "active", lambda: None)
    assert settled() == fast
    assert fast == [((word) >> 56) for word in words]


@pytest.mark.parametrize("behind", [1e300, math.nan])
@pytest.mark.parametrize("n", [1, 63, 65, 127, 300])
def test_what_lies_behind_the_numbers_is_not_read(n: int, behind: float) -> None:
    """It may be another array of the program, and private."""
    memory = np.full(n + 512, behind)
    values = memory[:n]
    values[:] = np.random.default_rng(n).normal(size=n) - 5
    best = float(values.max())
    bests, sums = FAST.block_sums(values, n, 1.0)
    assert bests.tolist() == [best]
    assert sums[0] == pytest.approx(np.exp(values - best).sum())
    ends, _ = FAST.running_sums(values, best, 1.0)
    assert ends[-1] == pytest.approx(sums[0])
    assert FAST.row_sums(values[None, :], 1.0)[0, -1] == pytest.approx(sums[0])
    assert np.all(np.isnan(memory[n:]) if math.isnan(behind) else memory[n:] == behind)


@pytest.mark.parametrize("width", [1, 5, 64, 300])
def test_every_row_has_running_sums_of_its_own(width: int) -> None:
    rows = np.random.default_rng(width).normal(size=(7, width)) * 3
    found = FAST.row_sums(rows, 1.0)
    for row, ends in zip(rows, found, strict=True):
        assert ends == pytest.approx(np.exp(row - row.max()).cumsum())
        assert ends.tolist() == FAST.row_sums(row[None, :], 1.0)[0].tolist()


@pytest.mark.parametrize("width", [1, 2, 5, 64, 300])
def test_a_word_falls_in_its_row_where_exact_sums_say(width: int) -> None:
    """Each word is far from every end, so none may be left open."""
    numbers = np.random.default_rng(width).integers(1, 1000, size=(200, width))
    ends = numbers.cumsum(axis=1)
    found = FAST.locate_rows(ends.astype(np.float64), WORDS[:200], 64, 1e-13)
    for row, word, i in zip(ends.tolist(), WORDS.tolist(), found.tolist(), strict=False):
        target = Fraction(word, 2**64) * row[-1]
        assert i == sum(end <= target for end in row)


def test_keys_are_those_of_the_highest_points_not_above() -> None:
    """Points 3/4, 5/4, ..., 51/4: 0 for NaN and for what is below all, the last for what is above all."""
    points = [(3 + 2 * j) / 4 for j in range(25)]
    beside = [math.nextafter(point, side) for point in points for side in (-math.inf, math.inf)]
    odd = [math.nan, math.inf, -math.inf, 0.0, -3.0, 12.8, 13.5, 1e300]
    numbers = [*points, *beside, *odd]
    grid = np.array([0.75, 12.75, 2.0, 3.0, 2.0, 4.0])
    keys = np.empty(len(numbers))
    FAST.grid_keys(np.array(numbers), grid, keys)
    assert keys.tolist() == [sum(point <= one for point in points) for one in numbers]


@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
@pytest.mark.parametrize("limit", [3, 1000])
def test_sums_of_falling_runs_are_those_of_their_points(n: int, limit: int) -> None:
    """Point by point: run i has the points above the place before it, each with the score of n - i buyers."""
    places, low, step, rate = np.random.default_rng(n).integers(-1, 40, size=n), 3, 2, 0.01
    places.sort()
    falling = np.array([-1, low, step, limit, 0.0, rate / math.log(2), False], dtype=np.float64)
    keys, before = np.append(0.0, places + 1), [-1, *places.tolist()]
    scores = [
        [(low + step * j) * min(limit, n - i) for j in range(before[i] + 1, before[i + 1] + 1)]
        for i in range(n)
    ]
    best = max((score for run in scores for score in run), default=0)
    assert FAST.falling_best(keys, falling) == best
    weights = [math.fsum(math.exp(rate * (score - best)) for score in run) for run in scores]
    assert FAST.falling_weights(keys, falling, 0, n) == pytest.approx(weights)
    for block in (1, 64, 70, 500):
        sums = [math.fsum(weights[start : start + block]) for start in range(0, n, block)]
        assert FAST.falling_sums(keys, falling, block).tolist() == pytest.approx(sums)


def in_order(keys: Any) -> Any:
    """Doubles as the kernel sorts them, without the 0 in front; skipped where it has no such sort."""

    def write(room: Any) -> None:
        room[:] = keys

    ordered = FAST.sorted_keys(len(keys), write)
    if ordered is None:
        pytest.skip("no sort by a network on this processor")
    assert ordered[0] == 0
    return ordered[1:]


@pytest.mark.parametrize(
    "kind", ["random", "few", "zeros and ones", "falling", "rising", "subnormal"]
)
def test_doubles_are_sorted(kind: str) -> None:
    """Of all lengths around whole blocks, and of long ones whose last run is shorter than the others."""
    rng = np.random.default_rng(3)
    kinds: dict[str, Any] = {
        "random": lambda n: rng.integers(2**48, size=n),
        "few": lambda n: rng.integers(5, size=n),
        "zeros and ones": lambda n: rng.integers(2, size=n),
        "falling": lambda n: np.arange(n)[::-1],
        "rising": lambda n: np.arange(n),
        "subnormal": lambda n: rng.integers(9, size=n) * 5e-324,
    }
    for n in [*range(1, 330), 1000, 4095, 4096, 4097, 20_000, 20_049, 65_600]:
        keys = kinds[kind](n).astype(np.float64)
        assert np.array_equal(in_order(keys), np.sort(keys))


def test_a_block_of_doubles_is_sorted_by_its_network() -> None:
    """By the zero-one principle: all zeros and ones in each of the four columns, then at both ends of a stretch."""
    for column, digits in product(range(4), range(256)):
        keys = np.ones(32)
        keys[column::4] = [digits >> i & 1 for i in range(8)]
        assert np.array_equal(in_order(keys), np.sort(keys))
    for first, last, shift in product(range(9), range(9), range(0, 32, 4)):
        keys = np.ones(32)
        keys[shift : shift + first] = 0
        keys[31 - shift : max(31 - shift - last, 0) : -1] = 0
        assert np.array_equal(in_order(keys), np.sort(keys))


def test_merges_are_sorted_wherever_one_run_ends_in_the_other() -> None:
    """Zeros and ones in runs of 32, as many zeros in each as there may be; and in runs of other lengths."""
    for zeros in product((0, 1, 7, 8, 9, 16, 24, 31, 32), repeat=4):
        keys = np.concatenate([np.repeat([1.0, 0.0], [32 - number, number]) for number in zeros])
        assert np.array_equal(in_order(keys), np.sort(keys))
    for low, high in product(range(0, 513, 19), range(0, 129, 9)):
        keys = np.concatenate(
            [np.repeat([1.0, 0.0], pair) for pair in ((512 - low, low), (high, 128 - high))]
        )
        assert np.array_equal(in_order(keys), np.sort(keys))


@pytest.mark.parametrize("kind", [np.float64, np.int64])
def test_the_kth_largest_of_both_types(kind: Any) -> None:
    fast = kernel.active()
    assert fast is not None
    values: NDArray[Any] = np.array([-3, 2, -1, -2, 2, 0], dtype=kind)
    assert [fast.kth_largest(values, k) for k in range(1, 7)] == [2, 2, 0, -1, -2, -3]
