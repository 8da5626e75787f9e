"""Above threshold: the law of its answers, their privacy, and the session."""

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from flint import acb, arb

import discreet
from discreet.errors import (
    Exhausted,
    InvalidArgument,
    InvalidNumber,
    InvalidScores,
    OutOfBits,
    UnknownName,
)
from discreet.mechanisms.testing import ScriptedBits, bit_tree
from discreet.sampling.bits import Bits
from discreet.sampling.enclosures import ball, precision
from discreet.selection.above_threshold import AboveThreshold

Answers = tuple[bool, ...]


def session(**terms: Any) -> AboveThreshold:
    return AboveThreshold(**{"threshold": 0, "sensitivity": 1, "epsilon": 1, **terms})


def asking(values: tuple[Any, ...], **terms: Any) -> Callable[[Bits], Hashable]:
    """Return the draw that asks all values, or as many as the session takes."""

    def draw(bits: Bits) -> Answers:
        asked = session(bits=bits, **terms)
        for value in values:
            if asked.remaining:
                asked.ask(value)
        return asked.answers

    return draw


def chance_above(gap: Fraction, a: Fraction, b: Fraction) -> arb:
    """Return P(gap + X >= Y) for Laplace X of scale b and Y of scale a, in closed form."""
    g = ball(abs(gap))
    if a == b:
        tail = (-g / ball(a)).exp() * (2 + g / ball(a)) / 4
    else:
        square_a, square_b = ball(a * a), ball(b * b)
        tail = square_b * (-g / ball(b)).exp() - square_a * (-g / ball(a)).exp()
        tail /= 2 * (square_b - square_a)
    return 1 - tail if gap >= 0 else tail


def chance_of(
    answers: Answers, gaps: tuple[Fraction, ...], scales: tuple[Fraction, Fraction]
) -> arb:
    """Return the probability of the answers, as an integral over the noise of the threshold."""
    a, b = scales
    far = 70 * a + max(abs(g) for g in gaps)
    kinks = sorted({-far, Fraction(0), *gaps, far})

    def integrand(left: Fraction) -> Callable[[Any, bool], Any]:
        def value(y: Any, _: bool) -> Any:
            density = (-y / ball(a) if left >= 0 else y / ball(a)).exp() / (2 * ball(a))
            for gap, answer in zip(gaps, answers, strict=False):
                x = (y - ball(gap)) / ball(b)  # the answer is yes if X / b >= x
                tail = (-x).exp() / 2 if left >= gap else 1 - x.exp() / 2
                density *= tail if answer else 1 - tail
            return density

        return value

    total = arb(0, 1e-30)  # what lies outside is below e^-70
    for left, right in pairwise(kinks):
        total += acb.integral(integrand(left), ball(left), ball(right)).real
    return total


def all_answers(n: int, count: int) -> list[Answers]:
    """Return every course that a session of n queries can take."""
    courses = set()
    for course in product((False, True), repeat=n):
        end = [i for i in range(n) if sum(course[: i + 1]) == count]
        courses.add(course[: end[0] + 1] if end else course)
    return sorted(courses)


@pytest.mark.parametrize("value", [0, Fraction(1, 2), -3, 40, 10**300, -(10**300)])
@pytest.mark.parametrize("terms", [{}, {"monotonic": True}, {"epsilon": "7/2", "count": 3}])
@pytest.mark.one_in(5)
def test_one_query_follows_its_law(value: Any, terms: dict[str, Any]) -> None:
    tree = bit_tree(asking((value,), **terms), 12)
    scales = session(**terms)._scales
    with precision(4000):
        above = chance_above(Fraction(value), *scales)
        assert tree.admits((True,), above)
        assert tree.admits((False,), 1 - above)
    assert tree.undecided < Fraction(1, 8)


@pytest.mark.parametrize("count", [1, pytest.param(2, marks=pytest.mark.proof)])
def test_two_queries_share_the_noise_of_the_threshold(count: int) -> None:
    gaps = (Fraction(1, 2), Fraction(-1))
    tree = bit_tree(asking(gaps, count=count), 14)
    scales = session(count=count)._scales
    masses = arb(0)
    with precision(150):
        for answers in all_answers(2, count):
            chance = chance_of(answers, gaps, scales)
            masses += chance
            assert tree.admits(answers, chance), (answers, tree, chance)
        assert masses.contains(1)
        alone = chance_of((True,), gaps[:1], scales)
        assert alone.overlaps(chance_above(gaps[0], *scales))
    assert tree.undecided < Fraction(1, 4)


@pytest.mark.parametrize("monotonic", [True, False])
@pytest.mark.parametrize(("n", "count"), [(1, 1), (2, 1), (2, 2), (3, 2)])
@pytest.mark.one_in(3)
def test_privacy_is_kept(n: int, count: int, monotonic: bool) -> None:
    """For every course of answers and neighbours at the ends of what they may be."""
    scales = session(count=count, monotonic=monotonic)._scales
    levels = (Fraction(-2), Fraction(1)) if n < 3 else (Fraction(-2),)
    worst = arb(0)
    with precision(90):
        for gaps in product(levels, repeat=n):
            for moves in product((0, 1) if monotonic else (-1, 1), repeat=n):
                other = tuple(g + d for g, d in zip(gaps, moves, strict=True))
                for answers in all_answers(n, count):
                    ratio = (
                        chance_of(answers, other, scales) / chance_of(answers, gaps, scales)
                    ).log()
                    assert not abs(ratio) > 1
                    worst = max(worst, abs(ratio), key=float)
    assert worst > 0.2


def test_the_split_is_exact_and_nearly_the_best() -> None:
    for count, monotonic, sensitivity in product(
        (1, 2, 7, 10**6), (True, False), (Fraction(1), Fraction(1, 3))
    ):
        asked = session(count=count, monotonic=monotonic, sensitivity=sensitivity, epsilon="1/3")
        a, b = asked._scales
        change, factor = sensitivity, count if monotonic else 2 * count
        spent = change / a, factor * change / b
        assert sum(spent) == Fraction(1, 3)
        assert abs(float(spent[1] / spent[0]) / factor ** (2 / 3) - 1) < 0.02
    for count in (0, 10**10):
        with pytest.raises(InvalidNumber, match="count"):
            session(count=count)
    assert min(session(count=10**9)._scales) > 0


def test_the_textbooks_scales() -> None:
    """Dwork and Roth split evenly: 2 / epsilon and 4 / epsilon; here 1 : 2 ** (2 / 3)."""
    a, b = map(float, session()._scales)
    assert (round(a, 4), round(b, 4)) == (2.5874, 3.2599)
    assert session(monotonic=True)._scales == (Fraction(2), Fraction(2))


def test_a_session_ends_after_its_positive_answers() -> None:
    asked = session(threshold=1000, count=2)
    assert [asked.ask(value) for value in (0, 10**9, 0, -(10**9), 10**9)] == [
        False, True, False, False, True]  # fmt: skip
    assert asked.answers == (False, True, False, False, True)
    assert asked.remaining == 0
    with pytest.raises(Exhausted, match=r"all its positive answers \(count=2\)"):
        asked.ask(0)
    assert asked.guarantee == discreet.privacy.PureDP(Fraction(1), "add_remove")


def test_negative_answers_are_free() -> None:
    asked = session(threshold=10**6)
    assert not any(asked.ask(0) for _ in range(500))
    assert asked.remaining == 1


@pytest.mark.parametrize(
    "value", [10**6, 1e6, Fraction(10**6), Decimal(10**6), np.int64(10**6), np.float32(1e6)]
)
def test_any_number_is_a_value(value: Any) -> None:
    assert session().ask(value)
    assert not session(threshold=2 * 10**6, neighbors="replace_one").ask(value)
    assert not session().ask(-value)


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), -float("inf"), None, "1", True, [1], 1j]
)
def test_what_is_no_number_is_refused_before_a_bit_is_read(value: Any) -> None:
    bits = ScriptedBits("01" * 32)
    asked = session(bits=bits)
    read = bits.read
    with pytest.raises(InvalidScores):
        asked.ask(value)
    assert bits.read == read
    assert asked.answers == ()


@pytest.mark.parametrize(
    ("error", "terms"),
    [
        (InvalidNumber, {"threshold": float("nan")}),
        (InvalidNumber, {"sensitivity": 0}),
        (InvalidNumber, {"epsilon": -1}),
        (InvalidNumber, {"count": 1.5}),
        (InvalidArgument, {"monotonic": "no"}),
        (InvalidArgument, {"monotonic": True, "neighbors": "replace_one"}),
        (UnknownName, {"neighbors": "all"}),
    ],
)
def test_public_arguments_are_checked_before_a_bit_is_read(
    error: type[Exception], terms: dict[str, Any]
) -> None:
    bits = ScriptedBits("0" * 64)
    with pytest.raises(error):
        session(bits=bits, **terms)
    assert bits.read == 0


def test_numbers_are_read_as_everywhere() -> None:
    asked = session(threshold=0.1, sensitivity=0.1, epsilon="0.1")
    assert asked.threshold == Fraction(1, 10)
    assert asked.sensitivity == Fraction(0.1)
    assert asked.epsilon == Fraction(1, 10)


def test_nothing_private_is_in_a_repr_and_nothing_is_copied() -> None:
    asked = session(threshold=5, count=3)
    asked.ask(10**9)
    assert repr(asked) == (
        "AboveThreshold(threshold=5, sensitivity=1, ε = 1 (add/remove one record), "
        "2 of 3 positive answers left)"
    )
    for way in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="spend epsilon again"):
            way(asked)


def test_an_interrupted_question_costs_no_answer() -> None:
    asked = session(bits=ScriptedBits("00"))
    with pytest.raises(OutOfBits):
        asked.ask(0)
    assert asked.answers == ()


def test_threads_do_not_get_more_than_was_paid_for() -> None:
    asked = session(count=5)

    def ask(_: int) -> bool:
        try:
            return asked.ask(10**9)
        except Exhausted:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(ask, range(40))) == 5


FORKED = """
import os, threading
import discreet

session = discreet.AboveThreshold(threshold=0, sensitivity=1, epsilon=1, count=2)
busy, done = threading.Event(), threading.Event()

def hold():
    with session._lock:
        busy.set()
        done.wait()

thread = threading.Thread(target=hold)
thread.start()
busy.wait()
child = os.fork()
if not child:
    try:
        session.ask(10**9)
    except discreet.DiscreetError as error:
        os._exit(7 if "after a fork" in str(error) and not session.answers else 8)
    os._exit(0)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
done.set()
thread.join()
print(code, session.ask(10**9))
"""


def test_a_fork_refuses_to_answer() -> None:
    """Even if a thread held the session at the fork. In a process of its own, as it forks."""
    run = [sys.executable, "-W", "ignore", "-c", FORKED]
    assert subprocess.run(run, capture_output=True, text=True, timeout=60).stdout == "7 True\n"


def test_many_sessions_look_like_the_law() -> None:
    """A smoke test with the system's bits."""
    with precision(100):
        expected = float(chance_above(Fraction(2), *session()._scales))
    share = sum(session().ask(2) for _ in range(2000)) / 2000
    assert abs(share - expected) < 0.06
