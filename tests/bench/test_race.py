"""Ratios are taken within turns, and their intervals have the true median as often as they say."""

import gc
from fractions import Fraction
from math import comb

import pytest
from bench.race import Contender, Ratio, paired_ratio, race
from bench.results import Target, compared


@pytest.fixture(autouse=True)
def _without_collections(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each turn collects the garbage of others, which takes a second beside all that other tests have imported."""
    monkeypatch.setattr(gc, "collect", lambda: 0)


def test_what_slows_a_turn_slows_both() -> None:
    """Times vary a thousandfold, the ratio does not."""
    slowness = [1.0, 1000.0, 3.0, 10.0, 7.0, 2.0, 500.0]
    assert paired_ratio([2 * s for s in slowness], slowness) == Ratio(2, 2, 2)
    assert paired_ratio([6.0, 1.0], [2.0, 2.0, 9.0]) == Ratio(1.75, 0.5, 3)
    assert paired_ratio([], [1.0]) is None
    assert paired_ratio([1.0], [0.0]) is None


@pytest.mark.parametrize("turns", [*range(1, 40), 101])
def test_the_interval_is_the_shortest_by_ranks_that_is_sure_enough(turns: int) -> None:
    """Beyond each end lies the true median in at most 1 of 40 runs, and leaving out one more would be too much."""
    ratio = paired_ratio([float(1 + i) for i in range(turns)], [1.0] * turns)
    assert ratio is not None
    left_out = int(ratio.low) - 1
    assert ratio.high == turns - left_out

    def beyond(rank: int) -> Fraction:
        return Fraction(sum(comb(turns, i) for i in range(rank + 1)), 2**turns)

    assert beyond(left_out) <= Fraction(1, 40) or (left_out == 0 and turns < 6)
    assert beyond(left_out + 1) > Fraction(1, 40)


def test_a_target_is_met_by_the_whole_interval() -> None:
    contenders = [Contender(name, lambda: lambda: sum(range(1000))) for name in ("ours", "theirs")]
    timings = race(contenders, 7, lambda _: None)
    assert (
        {len(t.seconds) for t in timings.values()}
        == {len(t.processor) for t in timings.values()}
        == {7}
    )
    timings["ours"].seconds[:] = [1.0] * 6 + [9.0]
    timings["theirs"].seconds[:] = [1.0] * 7
    for limit, met in ((8.9, False), (9.0, True)):
        assert compared(timings, Target(limit, "theirs"))[1].met is met
    timings["ours"].processor[:], timings["theirs"].processor[:] = [3.0] * 7, [1.0] * 7
    assert compared(timings, Target(1, "theirs", "processor"))[1].met is False
    assert compared(timings, Target(3, "theirs", "processor"))[1].met is True


def test_a_contender_that_fails_has_no_ratio() -> None:
    def fail() -> None:
        raise ValueError("broken (/some/path)")

    timings = race(
        [Contender("ours", lambda: fail), Contender("theirs", lambda: int)], 3, lambda _: None
    )
    [ours, theirs] = compared(timings, Target(1, "theirs"))
    assert ours.timing.failure == "ValueError: broken"
    assert (theirs.ratio, theirs.processor, theirs.met) == (None, None, False)


def test_programs_that_were_started_count_with_the_processor() -> None:
    """What a child process computes is not time asleep."""
    import subprocess
    import sys

    pytest.importorskip("resource")
    code = "import time\nwhile time.process_time() < 0.3: pass"
    run = Contender(
        "child", lambda: lambda: subprocess.run([sys.executable, "-c", code], check=True)
    )
    [timing] = race([run], 1, lambda _: None).values()
    assert timing.processor[0] >= 0.3
