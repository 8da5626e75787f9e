"""Readers that are free are used at once; those that end are replaced; a spare is always warm."""

import asyncio
import os
import signal
from collections.abc import Coroutine
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

import pytest

from discreet.service.queue import readers
from discreet.service.queue.reader import ReaderSettings
from discreet.service.queue.readers import SPARES, EndedError, Line, ReaderPool
from discreet.service.queue.resources import ReaderLimits


class FakeReader:
    """A reader that does nothing but end."""

    has_failed = False

    def __init__(self) -> None:
        self.end = asyncio.Event()

    async def send(self, line: Line) -> None:
        raise NotImplementedError

    async def receive(self) -> Line:
        raise NotImplementedError

    def kill(self) -> None:
        self.end.set()

    async def wait_for_end(self) -> None:
        await self.end.wait()


class Forks:
    """Forks readers, or fails."""

    def __init__(self) -> None:
        self.readers: list[FakeReader] = []
        self.failures: list[Exception] = []

    async def fork(self) -> FakeReader:
        await asyncio.sleep(0)
        if self.failures:
            raise self.failures.pop()
        self.readers.append(FakeReader())
        return self.readers[-1]


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


async def settle() -> None:
    """Let all tasks go on."""
    for _ in range(20):
        await asyncio.sleep(0)


def test_there_is_a_spare_and_those_that_end_are_replaced() -> None:
    async def work() -> None:
        forks = Forks()
        pool = ReaderPool(forks.fork, 2)
        pool.start()
        await settle()
        assert len(forks.readers) == 2 + SPARES
        first, second = await pool.take(), await pool.take()
        first.kill()
        forks.readers[2].kill()  # the one that was free
        await settle()
        assert len(forks.readers) == 5
        assert pool.count_alive() == (2, 2)
        third, fourth = await pool.take(), await pool.take()
        assert {third, fourth} == {*forks.readers[3:]}
        pool.give_back(second)
        assert await pool.take() is second
        pool.close()

    run(work())


def test_who_waits_gets_the_next_that_is_free_in_order() -> None:
    async def work() -> None:
        forks = Forks()
        pool = ReaderPool(forks.fork, 1)
        pool.start()
        await settle()
        readers = [await pool.take() for _ in range(1 + SPARES)]
        waiting = [asyncio.create_task(pool.take()) for _ in range(2)]
        await settle()
        assert not any(task.done() for task in waiting)
        for reader in readers:
            pool.give_back(reader)
        assert await asyncio.gather(*waiting) == readers
        pool.close()

    run(work())


def test_readers_that_cannot_be_started_are_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "_PAUSE", 0.0)

    async def work() -> None:
        forks = Forks()
        forks.failures = [OSError(), EndedError(), OSError()]
        pool = ReaderPool(forks.fork, 1)
        pool.start()
        assert await pool.take() is forks.readers[0]
        pool.close()

    run(work())


def test_where_none_can_be_started_nobody_waits_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(readers, "_SECONDS_FOR_A_READER", 0.01)

    async def work() -> None:
        pool = ReaderPool(Forks().fork, 1)
        with pytest.raises(TimeoutError):
            await pool.take()
        reader = FakeReader()
        pool.give_back(reader)  # to nobody who has gone
        assert await pool.take() is reader

    run(work())


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no such signal")
def test_a_template_that_ends_while_it_forks_is_a_reader_that_ended(tmp_path: Path) -> None:
    """Another error would end the attempts, and after as many as there are readers nobody is answered again."""
    settings = ReaderSettings(str(tmp_path / "none.toml"), "", ReaderLimits())

    async def work() -> None:
        forks = readers.Forks(settings)
        forkserver.ensure_running()
        template = forkserver._forkserver._forkserver_pid  # type: ignore[attr-defined]
        os.kill(template, signal.SIGSTOP)
        forking = asyncio.create_task(forks.fork())
        await asyncio.sleep(0.5)
        os.kill(template, signal.SIGKILL)
        with pytest.raises(EndedError):
            await asyncio.wait_for(forking, 60)

    run(work())
