"""All questions of a worker go over one connection, at the same time; one that is lost is made anew."""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from discreet.service.dispatcher import QueuedQuestion
from discreet.service.dispatcher_client import DispatcherClient, UnreachableError


class FakeDispatcher:
    """A dispatcher that answers the last question first, and may hang up."""

    def __init__(self) -> None:
        self.connections, self.hangs_up = 0, False

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
            if message["question"] is None:
                writer.write(b'{"id": 0, "alive": 1, "readers": 2}\n')
                continue
            if self.hangs_up:
                break
            numbers.append((message["id"], message["question"]["request"]))
            self._send(writer, id=message["id"], end=7.0)
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
            tickets = await asyncio.gather(*(client.ask(question(name)) for name in "abc"))
            assert [ticket.end for ticket in tickets] == [7.0] * 3
            replies = [await ticket.reply for ticket in tickets]
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
            ticket = await client.ask(question("waits"))
            dispatcher.hangs_up = True
            with pytest.raises(UnreachableError):
                await client.ask(question("lost"))
            with pytest.raises(UnreachableError):
                await ticket.reply
            dispatcher.hangs_up = False
            assert (await client.ask(question("again"))).end == 7.0
        assert dispatcher.connections == 2

    asyncio.run(work())


def test_each_event_loop_has_its_own_connection(path: str) -> None:
    client = DispatcherClient(path)

    async def work() -> float | None:
        async with serving(FakeDispatcher(), path):
            end = (await client.ask(question("a"))).end
        Path(path).unlink(missing_ok=True)  # gone with the server since Python 3.13
        return end

    assert [asyncio.run(work()) for _ in range(2)] == [7.0, 7.0]
