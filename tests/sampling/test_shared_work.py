"""Work that threads share: every part once, no thread afterwards, and no hanging when something fails."""

import os
import signal
import sys
import threading
import time
from _thread import start_new_thread
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.sampling import categorical, kernel, shared_work
from discreet.sampling.bits import SystemBits
from discreet.sampling.categorical import Categorical
from discreet.sampling.enclosures import NaturalRate
from discreet.sampling.shared_work import share
from discreet.sampling.vectors import read_vector

from ..scripted_words import on_words

WIDE = 2**16
"""Draws that threads share."""

MAIN = threading.get_ident()
needs_kernel = pytest.mark.skipif(kernel.active() is None, reason="there is no kernel")


@pytest.fixture
def few_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Share draws among two threads, however many processors there are."""
    monkeypatch.setattr(categorical, "threads", lambda: 2)


def is_main() -> bool:
    return threading.get_ident() == MAIN


@pytest.fixture(autouse=True)
def no_thread_more(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Check that no thread of `share` is left after a test; the system may take a moment to end one.

    Others may begin meanwhile: allocators and engines have threads of their own.
    """
    started: list[int] = []

    def noted(run: Callable[..., object], terms: tuple[object, ...]) -> int:
        def work(*terms: object) -> None:
            started.append(threading.get_native_id())
            run(*terms)

        return start_new_thread(work, terms)

    monkeypatch.setattr("discreet.sampling.shared_work.start_new_thread", noted)
    yield
    begun = time.monotonic()
    while left(started) and time.monotonic() < begun + 5:
        time.sleep(0.001)
    assert not left(started)


def left(started: list[int]) -> set[int]:
    """Return which of these threads the system still knows, where it says so."""
    if not sys.platform.startswith("linux"):
        return set()
    return {*started} & {int(task) for task in os.listdir("/proc/self/task")}


def when_both_are_here(work: Callable[[int], None]) -> Callable[[int], None]:
    """Return the work, begun by two threads at once: the first parts of both wait for each other."""
    both, seen = threading.Barrier(2, timeout=10), threading.local()

    def meet(part: int) -> None:
        if not getattr(seen, "before", False):
            seen.before = True
            both.wait()
        work(part)

    return meet


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("number", [0, 1, 2, 100])
def test_each_part_is_done_once(threads: int, number: int) -> None:
    done: list[int] = []
    share(done.append, range(number), threads)
    assert sorted(done) == list(range(number))


def test_two_threads_work() -> None:
    done: list[bool] = []
    share(when_both_are_here(lambda _: done.append(is_main())), range(10), 2)
    assert len(done) == 10
    assert set(done) == {True, False}


@pytest.mark.parametrize("error", [MemoryError, OSError, SystemExit])
def test_an_error_of_another_thread_is_that_of_the_caller(error: type[BaseException]) -> None:
    done: list[int] = []

    def work(part: int) -> None:
        if not is_main():
            raise error
        done.append(part)

    with pytest.raises(error):
        share(when_both_are_here(work), range(20), 2)
    assert len(done) == len({*done}) <= 19, "no part is tried again"


def test_a_thread_that_cannot_say_its_error_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where memory is too short for an error, too."""
    monkeypatch.setattr(shared_work._Worker, "_run", lambda self: self.end.release())
    with pytest.raises(MemoryError):
        share(lambda _: None, range(3), 2)


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_after_an_error_the_others_end_with_their_part(error: type[BaseException]) -> None:
    done: list[int] = []
    failed = threading.Event()

    def work(part: int) -> None:
        if is_main():
            failed.set()
            raise error
        failed.wait(10)
        time.sleep(0.05)
        done.append(part)

    with pytest.raises(error):
        share(when_both_are_here(work), range(1000), 2)
    assert len(done) == 1, "the part that was begun, and it was waited for"


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_a_signal_ends_the_work() -> None:
    begun: list[int] = []

    def work(part: int) -> None:
        begun.append(part)
        if is_main():
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            share(when_both_are_here(work), range(1000), 2)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(begun) < 10


def test_where_no_more_threads_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("discreet.sampling.shared_work.start_new_thread", refuse)
    done: list[int] = []
    share(done.append, range(10), 4)
    assert done == list(range(10))


class Noted:
    """The system's words, all of them noted; before some are read, `before` may do anything."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, before: Callable[[int], None]) -> None:
        self._words: list[bytes] = []
        plain = os.urandom

        def read(n: int) -> bytes:
            before(n)
            self._words.append(plain(n))
            return self._words[-1]

        monkeypatch.setattr("discreet.sampling.bits.os.urandom", read)

    def words(self) -> list[int]:
        """Return all words that were read."""
        read: list[int] = np.frombuffer(b"".join(self._words), dtype=np.uint64).tolist()
        return read


SCORES = np.random.default_rng(0).normal(size=5_000)


def draw(bits: SystemBits | None = None) -> list[int]:
    """Return answers that threads share."""
    law = Categorical(read_vector(SCORES), NaturalRate(Fraction(1, 2)))
    answers: list[int] = law.draws(WIDE, bits or SystemBits()).tolist()
    return answers


@needs_kernel
@pytest.mark.usefixtures("few_threads")
def test_each_word_is_one_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    """In two threads the answers are those of the words that were read, each used once."""
    seen: list[bool] = []
    noted = Noted(monkeypatch, when_both_are_here(lambda _: seen.append(is_main())))
    answers = draw()
    assert set(seen) == {True, False}
    assert len(noted.words()) == WIDE
    assert sorted(on_words(noted.words(), draw)) == sorted(answers)


@needs_kernel
@pytest.mark.usefixtures("few_threads")
def test_words_of_a_script_are_read_in_order() -> None:
    """Any other source is read by the caller alone."""
    seen: list[bool] = []

    class Mine(SystemBits):
        def words(self, n: int) -> NDArray[np.uint64]:
            seen.append(is_main())
            return super().words(n)

    assert len(draw(Mine())) == WIDE
    assert set(seen) == {True}


@needs_kernel
@pytest.mark.usefixtures("few_threads")
@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("in_main", [True, False])
def test_without_randomness_nothing_is_released(
    error: type[BaseException], in_main: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        if is_main() == in_main:
            raise error("no randomness")

    Noted(monkeypatch, when_both_are_here(fail))
    with pytest.raises(error):
        draw()


@needs_kernel
@pytest.mark.usefixtures("few_threads")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_child_that_is_born_meanwhile_draws_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has none of the threads of its parent, and no lock that they hold."""
    codes: list[int] = []

    def fork() -> None:
        child = os.fork()
        if child == 0:
            monkeypatch.undo()
            monkeypatch.setattr(categorical, "threads", lambda: 2)
            os._exit(0 if len(draw()) == WIDE else 1)
        codes.append(os.waitpid(child, 0)[1])

    def fork_once(_: int) -> None:
        if not codes and is_main():
            other = threading.Thread(target=fork)
            other.start()
            other.join(60)

    Noted(monkeypatch, when_both_are_here(fork_once))
    assert len(draw()) == WIDE
    assert codes == [0]
