"""Answers are the same function of the bits in any floating-point environment, on every path."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from flint import arb

import discreet
from discreet import Grid
from discreet.base import float_environment
from discreet.base.float_environment import default_environment, in_default_environment, is_default
from discreet.errors import DiscreetError, InvalidArgument
from discreet.mechanisms.joint.kernel_stages import DRAW, STAGE
from discreet.privacy.rho import laplace_rho, logistic_rho, pure_rho, range_rho
from discreet.sampling import kernel
from discreet.sampling.categorical import FLAT
from discreet.sampling.enclosures import NaturalRate, ball, cut_exponential, lower, precision
from discreet.selection.candidates import nearest_doubles
from discreet.selection.question import ready_to_draw
from discreet.tables.engines.column import ArrayColumn
from discreet.tables.scores.revenue import Revenue
from discreet.tables.scores.sorted_places import RankDraws

from ..float_modes import MODES, compiler, control, mode, set_mode, why_not
from ..golden_answers import RECORDED, answered, from_memory
from ..privacy.test_guarantees import ALL as GUARANTEES
from ..scripted_words import PATHS, on_words, take_path

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))

OTHERS = [name for name in MODES if name != "nearest"]
GOLDEN: dict[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))["memory"]
TINY = 2.0**-1030
SUBNORMAL = {"sensitivity": Fraction(1, 2**1030), "epsilon": 1}


@pytest.fixture(params=PATHS)
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Take one of the three ways to compute weights."""
    take_path(str(request.param), monkeypatch)
    return str(request.param)


def beside_boundaries(scores: Any, steps: Iterable[int] = (1, 10**4, 10**8)) -> list[int]:
    """Return words on both sides of the boundary after the first score, where weights are exp(score)."""
    exact = list(map(Fraction, scores))
    with precision(256):
        sums: dict[Fraction, arb] = {
            x: exact.count(x) * ball(x - max(exact)).exp() for x in dict.fromkeys(exact)
        }
        ahead = sums[exact[0]] if len(sums) == 2 else sums[exact[0]] / exact.count(exact[0])
        word = int(lower(ahead / sum(sums.values(), arb(0)) * arb(2) ** 64))
    return [word + sign * step for step in steps for sign in (1, -1)]


@pytest.mark.parametrize("name", MODES)
def test_a_mode_is_seen_and_restored(name: str) -> None:
    seen = []
    with mode(name):
        before, default = control(), is_default()
        in_default_environment(lambda: seen.append((is_default(), control())))()
        after = control()
        with pytest.raises(ZeroDivisionError), default_environment():
            raise ZeroDivisionError
        last = control()
    assert default == (name == "nearest")
    assert seen == [(True, MODES["nearest"])]
    assert before == after == last == MODES[name]


@pytest.mark.parametrize("name", OTHERS)
def test_scores_and_draws_are_in_the_default_mode_whatever_is_left_behind(name: str) -> None:
    seen = []

    def draw() -> int:
        seen.append(is_default())
        return 5

    def prepare() -> Callable[[], int]:
        seen.append(is_default())
        return draw

    with mode(name):
        ready = ready_to_draw(prepare)
    with mode(name):  # as an account may leave it
        assert ready() == 5
    assert seen == [True, True]


RNG = np.random.default_rng(5)
NUMBERS = RNG.normal(size=5000) * 9
ENDS = np.cumsum(RNG.random(700))
PLACES = np.array([0.0, 30.0, 1000.0, 0.0, 1.0, 1000.0])
KEYS = np.append(0.0, np.sort(RNG.integers(0, 30_000, 5000)))
SUBNORMAL_KEYS = RNG.integers(0, 9, size=(2, 4096)) * 5e-324
FALLING = np.array([-1.0, 0.0, 1.0, 5000.0, 3e7, 1e-4, 0.0])
NEAR_ZERO = RNG.integers(-9, 9, 5000) * 5e-324
EDGES_NEAR_ZERO = np.array([-np.inf, 5e-324, 15e-324, np.nan])
ONE_PIECE = np.array([-np.inf, 0.0, 1.0, 0.0, 2.0, 0.0])
"""Rows and edges that a mode may take for 0, and a `discreet_piece` of kernel.c, which ends in the integer 0."""
BORDER_AT_ZERO = np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
"""An `EvenGrid` of kernel.c, whose index 1 begins at 0."""
GRID = Grid(-40, 40, "0.01")
UNSORTED = RNG.integers(0, GRID.size, size=(2, 4096), dtype=np.uint32)
RANK_DRAWS: Any = RankDraws.of(
    [Fraction(1, 2), Fraction(9, 10)], [NaturalRate(Fraction(1))] * 2, GRID.size, 0
)
SHUFFLED = RNG.integers(0, 2**63, size=700, dtype=np.uint64) << np.uint64(1)
STATES, SLOT_CUTS = np.arange(700) * 3, np.arange(600) * 3 + 1
SLOT_KINDS = RNG.integers(0, 5, size=600).astype(np.int8)
MASSES = np.exp(-RNG.random((3, 700)) * 9)
"""Two factors and the smaller one, or `up`, `down` and sizes, of joint quantiles."""


def entries() -> Iterator[tuple[str, Callable[[Any], Any], list[Any]]]:
    """Yield each function of the kernel in C, by its name, with its arguments in memory of their own."""
    fast: Any = kernel.active()
    out, more = np.empty(5000), np.empty(80)
    found = np.empty(700, dtype=np.int64)
    guide, bits = fast.guide(ENDS, 700, 64)
    targets = RANK_DRAWS.targets
    most = 2 * min(2 * int(targets["width"].max()) + 2, 4096) + 2
    at = {
        "block_sums": [NUMBERS, 5000, 64, 0.7, out, more],
        "running_sums": [NUMBERS, 5000, float(NUMBERS.max()), 0.7, out],
        "weights": [np.abs(NUMBERS), 5000, 0.7],
        "cumulate": [np.abs(NUMBERS), 5000],
        "row_sums": [NUMBERS, 50, 100, 0.7, out],
        "locate": [ENDS, 700, SHUFFLED, 700, 64, ENDS[-1] * 2.0**-64, 1e-13, guide, bits, found],
        "guide": [ENDS, 700, np.empty(2**10 + 1, dtype=np.uint32), 10],
        "locate_rows": [ENDS, 100, 7, SHUFFLED, 2.0**-64, 1e-13, found],
        "rounds": [
            *(
                NUMBERS,
                5000,
                64,
                0.7,
                NUMBERS.reshape(-1, 50).max(1)[:79],
                np.ones(79),
                SHUFFLED,
                9,
                2.0**-64,
            ),
            *(1e-13, 1e-13, np.empty(200), np.full(9, -1)),
        ],
        "count_cells": [
            *(NEAR_ZERO, ord("g"), None, 0, 5000, EDGES_NEAR_ZERO, 3, ONE_PIECE, 1),
            np.zeros(4, dtype=np.int64),
        ],
        "count_indices": [
            *(NEAR_ZERO, ord("g"), None, 0, 5000, BORDER_AT_ZERO, 0, None),
            *(np.zeros(4, dtype=np.uint32), None),
        ],
        "nearest_places": [NUMBERS, 5000, nearest_doubles(GRID), np.empty(5000, dtype=np.uint32)],
        "sort_words": [*np.pad(UNSORTED, ((0, 0), (8, 8))), 4096],
        "quantiles": [
            *(np.sort(UNSORTED[0]), 4096, GRID.size, 0, targets, 2, SHUFFLED[:6], most),
            *(np.empty(4 * most), np.empty(2, dtype=np.uint64)),
        ],
        "joint_stage": [1, 900, 1300, np.empty(16_000), np.empty((4, 1301))],
        "joint_draw": [int(SHUFFLED[0]), out, np.array([-1, -1])],
        "kth_largest": [NEAR_ZERO, 0, 5000, 2500, np.zeros(5000, dtype=np.int32), np.zeros(1)],
        "sort_doubles": [*np.pad(SUBNORMAL_KEYS, ((0, 0), (8, 8))), 4096],
        "grid_keys": [NUMBERS, 5000, PLACES, out],
        "falling_best": [KEYS, 5000, FALLING.copy()],
        "falling_sums": [KEYS, 5000, FALLING, 64, more],
        "falling_weights": [KEYS, 5000, FALLING, 64, 4064, out],
    }
    around: dict[str, Callable[..., Any]] = {
        "sort_words": partial(_with_margins, 32),
        "sort_doubles": partial(_with_margins, 64),
        "joint_stage": _weigh_stage,
        "joint_draw": _draw_quantile,
    }
    for name, function in fast._functions.items():
        yield name, partial(around[name], function) if name in around else function, at[name]


def _with_margins(
    margin: int, sort: Callable[..., Any], numbers: int, room: int, number: int
) -> None:
    """Sort numbers that have eight others before them and behind, which fill so many bytes."""
    sort(numbers + margin, room + margin, number)


def _joint_stages(states: int) -> Any:
    """Return the stages of no quantile, of one, which has its states in an array, and of the end."""
    stages = np.zeros(3, dtype=STAGE)
    slots = [array.ctypes.data for array in (SLOT_CUTS, SLOT_KINDS, MASSES[2], *MASSES)]
    stages[0] = (
        *(array.ctypes.data for array in (STATES, *MASSES[:2])),
        *[0] * 7,
        700,
        0,
        0,
        0,
        0.1,
        0,
    )
    stages[1] = (*(states + 8 * 1301 * i for i in range(4)), *slots, 1300, 0, 600, 900, 0.1, 1e-12)
    stages["target"][2] = 900
    return stages


def _weigh_stage(weigh: Callable[..., Any], rank: int, *others: int) -> None:
    """Weigh a stage of joint quantiles; the last array is for its states."""
    stages = _joint_stages(others[-1])
    weigh(stages.ctypes.data, rank, *others[:-1])


def _draw_quantile(draw: Callable[..., Any], word: int, sums: int, groups: int) -> None:
    """Draw one of joint quantiles from the states of numbers."""
    stages = _joint_stages(0)
    stages[1] = (*stages[0].tolist()[:4], *stages[1].tolist()[4:10], 700, 0, 600, 0, 0.1, 1e-12)
    at = stages.ctypes.data
    described = np.array((at, 1, 1e-12, 1e-200, 0, sums, groups, 1, 5, 0, 0), dtype=DRAW)
    draw(described.ctypes.data, word)


def computed(function: Callable[..., Any], arguments: list[Any]) -> list[bytes]:
    """Return the memory of all arrays after a call."""
    fresh = [x.copy() if isinstance(x, np.ndarray) else x for x in arguments]
    function(*(x.ctypes.data if isinstance(x, np.ndarray) else x for x in fresh))
    return [x.tobytes() for x in fresh if isinstance(x, np.ndarray)]


@pytest.mark.skipif(kernel.active() is None, reason=f"no kernel: {kernel.load()}")
@pytest.mark.parametrize("name", OTHERS)
def test_every_entry_of_the_kernel_computes_the_same_bits_and_restores_the_mode(name: str) -> None:
    tried = 0
    for entry, function, arguments in entries():
        plain = computed(function, arguments)
        with mode(name):
            other, after = computed(function, arguments), control()
        assert other == plain, entry
        assert after == MODES[name], entry
        tried += 1
    assert tried == 22


@pytest.mark.parametrize("name", OTHERS)
def test_ready_exponents(name: str, path: str) -> None:
    exponents = -np.abs(NUMBERS)
    plain = cut_exponential(exponents.copy())
    with mode(name):
        other = cut_exponential(exponents.copy())
    assert np.allclose(plain, other, rtol=2.0**-44, atol=0)


@pytest.mark.parametrize("name", OTHERS)
def test_keys_of_bids_are_sorted(name: str, path: str) -> None:
    """Those that numpy sorts have the bits of subnormal doubles here."""
    bids = np.random.default_rng(2).integers(0, 4, size=4000)
    with mode(name):
        runs: Any = Revenue(ArrayColumn(bids), Grid(0, 3)).compute(Fraction(0))
        after = control()
    places = np.sort(bids) + 1
    assert (runs.keys[1:].astype(np.int64) >> runs.bits).tolist() == places.tolist()
    assert (np.diff(runs.keys) >= 0).all()
    assert after == MODES[name]


HUNDREDS = [0.0] * 100 + [-0.6911371237458194] * 100
NEAR: dict[str, tuple[Any, Callable[..., Any]]] = {
    "array": (HUNDREDS, lambda s, **t: discreet.select(np.array(s), **t)),
    "batch": (HUNDREDS, lambda s, **t: discreet.select(np.array(s), size=40, **t)),
    "list": (HUNDREDS[60:140], discreet.select),
    "selector": (HUNDREDS[99:101], lambda s, **t: discreet.selector(**t)(s)),
    "rows": (
        HUNDREDS[97:103],
        lambda s, **t: discreet.select_rows(
            np.array([s] * 40), sensitivity="1/2", epsilon_per_row=1
        ),
    ),
    "blocks": (
        [0.0] * FLAT + [-0.6911371237458194] * FLAT,
        lambda s, **t: discreet.select(np.array(s), **t),
    ),
    "integers": ([0, -1, -2, -3], lambda s, **t: discreet.select(np.array(s * 30), **t)),
    "fractions": (
        [Fraction(0), Fraction(-1, 3)],
        lambda s, **t: discreet.select(s, **t),
    ),
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("verb", NEAR)
@pytest.mark.one_in(11)
def test_words_beside_a_boundary(verb: str, name: str, path: str) -> None:
    scores, call = NEAR[verb]
    steps = (
        (1, 10**4, 10**8) if len(scores) < FLAT else (10**8, 2 * 10**8)
    )  # no doubts there: balls take long
    words = beside_boundaries(scores if verb != "integers" else scores * 30, steps)
    ask = partial(call, scores, sensitivity="1/2", epsilon=1)

    def answers() -> list[Any]:
        rotated = (words[i:] + words[:i] for i in range(len(words)))
        return [np.array(on_words(some, ask).value).tolist() for some in rotated]

    plain = answers()
    with mode(name):
        other, after = answers(), control()
    assert other == plain
    assert after == MODES[name]


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.one_in(4)
def test_every_verb_answers_as_recorded(name: str, path: str) -> None:
    with mode(name):
        answers = answered(from_memory())
        after = control()
    assert answers == GOLDEN
    assert after == MODES[name]


@pytest.mark.parametrize("name", OTHERS)
def test_subnormal_scores_are_not_zero(name: str, path: str) -> None:
    def chances(scores: Any) -> list[Fraction]:
        return list(discreet.distribution(scores, **SUBNORMAL).lower)

    scores: list[Any] = [[0.0, TINY], np.array([0.0, TINY]), [0.0, TINY, Fraction(1, 2**1030)]]
    plain = [chances(one) for one in scores]
    with mode(name):
        other = [chances(one) for one in scores]
    assert other == plain
    assert all(0.1 < p[0] < 0.4 for p in plain)


def numbers_that_follow() -> list[Any]:
    """Return what follows from guarantees of every kind, alone and together."""
    together = discreet.compose([discreet.privacy.BoundedRange(Fraction(1, 2))] * 10)
    found: list[Any] = []
    for guarantee in [*GUARANTEES, together]:
        found += [guarantee.rho, guarantee.delta_at(1), guarantee.delta_at("1/3")]
        with suppress(InvalidArgument):
            found += [
                guarantee.approx("1e-6").epsilon,
                guarantee.repeated(3).approx("1e-7").epsilon,
            ]
    return found


@cache
def plain_numbers() -> list[Any]:
    """Return what follows in the usual mode."""
    return numbers_that_follow()


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.one_in(11)
def test_numbers_that_follow_are_the_same(name: str) -> None:
    plain = plain_numbers()
    for kept in (range_rho, pure_rho, logistic_rho, laplace_rho):
        kept.cache_clear()
    with mode(name):
        other = numbers_that_follow()
    assert other == plain
    assert len(plain) > 40


@pytest.mark.parametrize("name", ["up", "zero FTZ+DAZ"] if "up" in MODES else OTHERS[:2])
def test_a_thread_has_its_own_mode(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "FOR_A_THREAD", 1)
    monkeypatch.setattr(kernel, "threads", lambda: 3)
    scores = np.random.default_rng(3).normal(size=FLAT + 99)
    ask = partial(discreet.select, scores, sensitivity=1, epsilon=1, size=50)
    plain, found = on_words(range(0, 2**64, 2**57), ask).value.tolist(), []

    def work() -> None:
        with mode(name):
            found.append(on_words(range(0, 2**64, 2**57), ask).value.tolist())

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert found == [plain]
    assert is_default()


def test_who_is_called_during_a_question_sees_the_default() -> None:
    seen = []

    def score(data: list[int], options: list[int]) -> list[int]:
        seen.append(is_default())
        return [sum(data) * o for o in options]

    with mode("up"):
        discreet.select_by(score, [1, 2], [1, 2, 3], sensitivity=6, epsilon=1)
        after = control()
    assert seen == [True]
    assert after == MODES["up"]


@pytest.mark.parametrize("name", OTHERS)
def test_a_library_that_is_loaded_during_a_question(name: str, path: str) -> None:
    """What reads the data, or pays, leaves a mode behind: the answer is drawn in the default."""
    words = beside_boundaries([0.0, -0.6911371237458194])

    def score(_: object, __: object) -> list[float]:
        set_mode(name)
        return [0.0, -0.6911371237458194]

    class Account:
        def buy(self, bill: Any, prepare: Callable[[], Callable[[], Any]]) -> Any:
            set_mode(name)
            draw = prepare()
            set_mode(name)
            return draw()

    def answers(**terms: Any) -> list[Any]:
        ask = partial(
            discreet.select_by,
            score,
            [],
            ["a", "b"],
            sensitivity="1/2",
            error=0,
            epsilon=1,
            **terms,
        )
        try:
            return [on_words(words[i:] + words[:i], ask).value for i in range(len(words))]
        finally:
            set_mode("nearest")

    scores = [0.0, -0.6911371237458194]
    plain = [
        on_words(words[i:] + words[:i], partial(discreet.select, scores, candidates=["a", "b"],
            sensitivity="1/2", epsilon=1)).value
        for i in range(len(words))
    ]  # fmt: skip
    assert answers() == answers(ledger=Account()) == plain
    assert set(plain) == {"a", "b"}


def test_where_the_default_cannot_be_set_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(float_environment, "_functions", lambda: None)
    read = []

    def score(*_: object) -> list[int]:
        read.append(1)
        return [1, 2]

    ask = partial(discreet.select_by, score, [], [1, 2], sensitivity=1, epsilon=1)
    with (
        mode("up"),
        pytest.raises(DiscreetError, match="-ffast-math, or one that calls fesetround"),
    ):
        ask()
    assert not read
    assert ask().value in (1, 2)


CHILD = """
import ctypes, json, struct, sys
sys.path.insert(0, sys.argv[1])
from tests.float_modes import control, set_mode
if sys.argv[3] == "rounded up":
    set_mode("up")
if sys.argv[3] == "after":
    import discreet
if sys.argv[3] in ("before", "after"):
    ctypes.CDLL(sys.argv[2])
from tests.golden_answers import RECORDED, answered, from_memory
import discreet, fractions
left = control()
least = fractions.Fraction(1, 2**1030)
small = struct.unpack("<d", (2**44).to_bytes(8, "little"))  # 2**-1030, which arithmetic might flush
tiny = discreet.distribution([0.0, *small], sensitivity=least, epsilon=1)
recorded = json.loads(RECORDED.read_text())["memory"]
print(json.dumps([left, answered(from_memory()) == recorded, float(tiny.lower[0])]))
"""


@pytest.mark.parametrize("when", ["before", "after", "preloaded", "rounded up"])
@pytest.mark.parametrize("fast", ["1", "0"])
@pytest.mark.one_in(4)
def test_beside_a_library_built_with_fast_math(when: str, fast: str, tmp_path: Path) -> None:
    built = tmp_path / "fast.so"
    (tmp_path / "fast.c").write_text("double half(double x) { return x / 2; }\n")
    command = [
        str(compiler()),
        "-O2",
        "-ffast-math",
        "-shared",
        "-fPIC",
        "fast.c",
        "-o",
        str(built),
    ]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    root = str(Path(__file__).parent.parent)
    preload = {"LD_PRELOAD": str(built)} if when == "preloaded" else {}
    environment = {**os.environ, **preload, "DISCREET_KERNEL": fast}
    child = [sys.executable, "-c", CHILD, root, str(built), when]
    done = subprocess.run(child, env=environment, check=True, capture_output=True, text=True)
    left, as_recorded, chance = json.loads(done.stdout)
    assert as_recorded
    assert 0.37 < chance < 0.38
    if left == MODES["nearest"]:
        pytest.skip("libraries built by this compiler with -ffast-math leave the mode alone")
