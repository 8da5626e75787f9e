"""ReadingProcess: a process of its own that holds an assistant's connection, so that the server of tools has none.

A call that is cancelled goes on there, and its answer waits under the name of its request.
"""

import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import Any

from ..errors import DiscreetError, InvalidArgument
from .assistant_tools import Arguments, Reply, call_tool, refusal_as_data
from .connect import connect
from .connection import Connection
from .operations import T
from .own_rights import OwnRights


@dataclass(frozen=True, slots=True)
class AssistantCaller:
    """The caller: an analyst of a discreet.toml in a process of its own, or the holder of a token of a service.

    Attributes:
        where: the file, or the URL of a service; None for the nearest discreet.toml.
        analyst: the analyst; None with a token.
        token: the token; None with an analyst.
    """

    where: str | None
    analyst: str | None = None
    token: str | None = field(default=None, repr=False)

    def connect(self) -> Connection:
        """Return the connection of the caller."""
        return connect(self.where, analyst=self.analyst, token=self.token)


class _ConnectionHolder:
    """The connection of the reading process, made when it is first needed.

    Args:
        caller: who asks.
    """

    def __init__(self, caller: AssistantCaller) -> None:
        self._caller = caller
        self._connection: Connection | None = None
        self._working = Lock()
        Thread(target=self._end_with_the_parent, daemon=True).start()

    def _end_with_the_parent(self) -> None:
        """End this process after the other, however that ends, when the question at work is answered."""
        parent = multiprocessing.parent_process()
        assert parent is not None
        parent.join()
        with self._working:
            os._exit(0)

    def result_of(self, question: Callable[[Connection], T]) -> "T | Reply":
        """Return the result of a function of the connection, or a refusal in plain values."""
        with self._working:
            try:
                if self._connection is None:
                    self._connection = self._caller.connect()
                return question(self._connection)
            except DiscreetError as error:
                return refusal_as_data(error)
            except Exception:  # its words may hold what an assistant is not told
                return {"error": _FAILED}


_holder: _ConnectionHolder | None = None
"""That of the reading process, which has one."""


def _begin_holding(caller: AssistantCaller) -> None:
    """Make the holder, once in the life of the reading process."""
    global _holder  # of this process, which has no other
    _holder = _ConnectionHolder(caller)


def _call_tool(name: str, arguments: Arguments) -> Reply:
    """Return the result of a tool, in the reading process."""
    assert _holder is not None
    return _holder.result_of(lambda connection: call_tool(connection, name, arguments))


def _own_rights() -> OwnRights | Reply:
    """Return the rights of the caller, in the reading process."""
    assert _holder is not None
    return _holder.result_of(Connection.rights)


class ReadingProcess:
    """One process that holds the connection, and is begun again if it ends.

    Args:
        caller: who asks.
    """

    def __init__(self, caller: AssistantCaller) -> None:
        self._caller = caller
        self._pool = self._begin()
        self._beginning = Lock()

    def _begin(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(1, context, _begin_holding, (self._caller,))

    def rights(self) -> OwnRights:
        """Return the rights of the caller.

        Raises:
            InvalidArgument: if the caller cannot connect, or is no analyst.
        """
        rights = self._result_of(_own_rights)
        if not isinstance(rights, OwnRights):
            raise InvalidArgument(rights["error"])
        rights.check_is_analyst()
        return rights

    def call(self, name: str, arguments: Arguments) -> Reply:
        """Return the result of a tool; if the process ends, say how to ask again, and begin another one."""
        return self._result_of(_call_tool, name, dict(arguments))

    def _result_of(self, function: Callable[..., T], *arguments: Any) -> "T | Reply":
        """Return the result of a function in the process."""
        pool = self._pool
        try:
            return pool.submit(function, *arguments).result()
        except (BrokenProcessPool, RuntimeError):  # it ended, or another call has seen that it did
            self._begin_instead_of(pool)
            return {"error": _ENDED}

    def _begin_instead_of(self, pool: ProcessPoolExecutor) -> None:
        """Begin another process in place of one that is at its end; of several calls that see it, one does."""
        with self._beginning:
            if self._pool is pool:
                pool.shutdown(wait=False)
                self._pool = self._begin()

    async def call_beside(self, name: str, arguments: Arguments) -> Reply:
        """Return the result of a tool; where the call is cancelled, its work goes on."""
        from anyio import to_thread

        return await to_thread.run_sync(self.call, name, arguments, abandon_on_cancel=True)

    def close(self) -> None:
        """End the process."""
        self._pool.shutdown(cancel_futures=True)


_ENDED = (
    "the process that reads the data has ended; call the same again under the same request: if it was charged, it "
    "costs nothing more"
)

_FAILED = (
    "this call failed; the owner of the data can see why. Call the same again under the same request: if it was "
    "charged, it costs nothing more"
)
