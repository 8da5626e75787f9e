"""A clock that moves only while everybody waits for it."""

import asyncio
import heapq
import itertools
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from discreet.service.queue.padding import Clock

T = TypeVar("T")

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


class FakeClock:
    """Time that jumps to the next moment for which somebody waits, once nobody does anything else."""

    def __init__(self, time: float = 100.0) -> None:
        self.time = self.start = time
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()
        self.is_busy: Callable[[], bool] = lambda: False  # whether threads are at work

    async def sleep(self, seconds: float) -> None:
        """Wait for so many seconds."""
        assert seconds >= 0
        wake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.time + seconds, next(self._numbers), wake))
        await wake

    def date(self) -> datetime:
        """Return the date and the time of day."""
        return START + timedelta(seconds=self.time - self.start)

    @property
    def clock(self) -> Clock:
        """The clock of a service."""
        return Clock(lambda: self.time, self.sleep, self.date)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of work that waits for this clock alone."""

        async def drive() -> T:
            task, steps = asyncio.create_task(work), 0
            while not task.done():
                await asyncio.sleep(0)
                steps += 1
                if self.is_busy():
                    await asyncio.sleep(0.0005)
                    steps = 0
                elif steps > 50 and not task.done():  # as many as anything takes without waiting
                    await self._wake()
                    steps = 0
            return task.result()

        return asyncio.run(drive())

    async def _wake(self) -> None:
        """Move to the next moment for which somebody waits; if nobody does, a thread is at work."""
        if not self._sleepers:
            await asyncio.sleep(0.001)
            return
        time, _, wake = heapq.heappop(self._sleepers)
        if not wake.done():
            self.time = time
            wake.set_result(None)
