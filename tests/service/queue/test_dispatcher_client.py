"""All questions of a worker go over one connection, at the same time; one that is lost is made anew."""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from discreet.service.queue.dispatcher import QueuedQuestion
from discreet.service.queue.dispatcher_client import DispatcherClient, UnreachableError


class FakeDispatcher:
    """A dispatcher that answers the last question first, and may hang up."""

    def __init__(self) -> None:
        self.connections, self.hangs_up, self.gone = 0, False, list[int]()

    async def serve(self, lines: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            await self._answer(lines, writer)
        finally:
            writer.close()

    async def _answer(self, lines: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        numbers: list[tuple[int, str]] = []
        async for line in lines:
            message = json.loads(line)
            if message.get("question", 0) is None:
                writer.write(b'{"id": 0, "alive": 1, "readers": 2}\n')
                continue
            if self.hangs_up:
                break
            if message.get("is_gone"):
                self.gone.append(message["id"])
                continue
            numbers.append((message["id"], message["question"]["request"]))
            if len(numbers) == 3:
                for number, request in numbers[::-1]:
                    self._send(writer, id=number, end=8.0, is_first=True, reply={"to": request})
                numbers = []

    def _send(self, writer: asyncio.StreamWriter, **message: Any) -> None:
        writer.write(json.dumps(message).encode() + b"\n")


@asynccontextmanager
async def serving(dispatcher: FakeDispatcher, path: str) -> AsyncIterator[None]:
    """Serve at a path, until the end; since Python 3.12 a server that is waited for waits for its connections."""
    server = await asyncio.start_unix_server(dispatcher.serve, path)
    try:
        yield
    finally:
        server.close()


@pytest.fixture
def path() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:  # a short path, as those of sockets must be
        yield str(Path(folder) / "socket")


def question(request: str) -> QueuedQuestion:
    return QueuedQuestion("ann", "people", request, "digest", {"operation": "answer"})


def test_answers_come_in_any_order_over_one_connection(path: str) -> None:
    async def work() -> None:
        dispatcher = FakeDispatcher()
        async with serving(dispatcher, path):
            client = DispatcherClient(path, 3)
            replies = await asyncio.gather(*(client.ask(question(name)) for name in "abc"))
            assert [reply["end"] for reply in replies] == [8.0] * 3
            assert [reply["reply"]["to"] for reply in replies] == ["a", "b", "c"]
            assert dispatcher.connections == 1
            assert await asyncio.to_thread(client.count_alive) == (1, 2)

    asyncio.run(work())


def test_a_connection_that_is_lost_is_told_and_made_anew(path: str) -> None:
    async def work() -> None:
        client, dispatcher = DispatcherClient(path), FakeDispatcher()
        with pytest.raises(UnreachableError):
            await client.ask(question("nobody"))
        async with serving(dispatcher, path):
            waits = asyncio.create_task(client.ask(question("waits")))
            while not dispatcher.connections:
                await asyncio.sleep(0.01)
            dispatcher.hangs_up = True
            with pytest.raises(UnreachableError):
                await client.ask(question("lost"))
            with pytest.raises(UnreachableError):
                await waits
            dispatcher.hangs_up = False
            again = await asyncio.gather(*(client.ask(question(name)) for name in "abc"))
            assert again[0]["end"] == 8.0
        assert dispatcher.connections == 2

    asyncio.run(work())


def test_each_event_loop_has_its_own_connection(path: str) -> None:
    client = DispatcherClient(path)

    async def work() -> object:
        async with serving(FakeDispatcher(), path):
            replies = await asyncio.gather(*(client.ask(question(name)) for name in "abc"))
        Path(path).unlink(missing_ok=True)  # gone with the server since Python 3.13
        return replies[0]["end"]

    assert [asyncio.run(work()) for _ in range(2)] == [8.0, 8.0]


def test_a_question_that_is_cancelled_is_taken_back(path: str) -> None:
    async def work() -> None:
        dispatcher = FakeDispatcher()
        async with serving(dispatcher, path):
            asking = asyncio.create_task(DispatcherClient(path).ask(question("a")))
            while not dispatcher.connections:
                await asyncio.sleep(0.01)
            asking.cancel()
            while not dispatcher.gone:
                await asyncio.sleep(0.01)
        assert dispatcher.gone == [0]

    asyncio.run(work())
