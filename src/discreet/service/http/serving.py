"""Runs the service with uvicorn: in one process or several workers, with one dispatcher and the readers of data."""

import json
import logging
import os
import re
import signal
import socket
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from http.client import HTTPConnection, HTTPException
from ipaddress import ip_address
from pathlib import Path
from threading import Thread
from time import sleep
from typing import TYPE_CHECKING, Any

from ...base.numbers import count
from ...errors import InvalidArgument, LedgerUnwritable, MissingPackage, preview
from ...tables.datasets.configuration import Configuration
from ..asking.datasets import hold
from ..queue.dispatcher_client import DispatcherClient
from ..queue.dispatcher_process import DispatcherProcess
from ..queue.reader import collect_no_more, file_digest, read_again
from .lifelines import end_with, stopping
from .metrics import kept_counts

if TYPE_CHECKING:
    from .exchange import App

_ADDRESS = re.compile(r"(?P<host>[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):(?P<port>[0-9]{1,5})", re.ASCII)
_HERE = "127.0.0.1:8765"

_SETTINGS_VARIABLE = "DISCREET_SERVED"
"""The environment variable with the settings of every worker."""

_MOST = 256

_PAUSE, _PATIENCE = 0.1, 5.0
"""Seconds between two looks whether it is up, and for which one waits."""


_SETTINGS: dict[str, Any] = {
    "access_log": False, "server_header": False, "date_header": False, "log_level": "warning",
    "timeout_keep_alive": 5, "timeout_graceful_shutdown": 60, "proxy_headers": False, "ws": "none",
    "lifespan": "off", "timeout_worker_healthcheck": 60,
}  # fmt: skip


def settings() -> dict[str, Any]:
    """Return the settings of uvicorn: no logs and no headers but ours, and an end to all sending and waiting."""
    from .http_connections import LONGEST_HEAD, LimitedConnection

    limits = {
        "http": LimitedConnection, "h11_max_incomplete_event_size": LONGEST_HEAD,
        "limit_concurrency": LimitedConnection.most + 1,
    }  # fmt: skip
    return {**_SETTINGS, **limits}


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """The settings of a worker of a service.

    Attributes:
        path: the description.
        digest: that of its text. A worker that finds another is not started.
        hosts: the names under which the service may be called.
        socket: that of the dispatcher.
        readers: how many questions are read at the same time.
        supervisor: the process of the supervisor. None for the only worker, which shares its counts with no other.
    """

    path: str
    digest: str
    hosts: tuple[str, ...]
    socket: str
    readers: int
    supervisor: int | None


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The options of a service at the command line.

    Attributes:
        listen: the address and the port. By default those of the description, or 127.0.0.1:8765.
        hosts: the names under which the service may be called, besides this machine's own.
        workers: how many processes take requests.
        readers: how many questions are read at the same time. By default as described, or one fewer than there are
            cores.
    """

    listen: str | None = None
    hosts: tuple[str, ...] = ()
    workers: int = 1
    readers: int | None = None


def serve(
    configuration: Configuration, options: ServeOptions, announce: Callable[[], object]
) -> None:
    """Answer over HTTP until the process is told to stop. Requests that were begun are answered first.

    Args:
        configuration: the description.
        options: where it listens, and how many processes it has.
        announce: called once it answers.

    Raises:
        InvalidArgument: if the address is none, or a number cannot be accepted.
        MissingPackage: if the extra is not installed.
    """
    require_server()
    address = _address(configuration, options.listen)
    hold(configuration)  # what is wrong is told once, before any worker is started
    readers = count_readers(configuration, options.readers)
    workers = count_workers(options.workers)
    if workers > 1:
        _begin_counts(configuration.path)
    with stopping():
        dispatcher = DispatcherProcess(configuration, readers)
        try:
            worker_settings = WorkerSettings(
                str(configuration.path.absolute()), file_digest(configuration.path),
                ("127.0.0.1", "localhost", address[0], *options.hosts), dispatcher.path, readers,
                os.getpid() if workers > 1 else None,
            )  # fmt: skip
            os.environ[_SETTINGS_VARIABLE] = json.dumps(asdict(worker_settings))
            _run(address, workers, partial(_announce, address, announce))
        finally:
            dispatcher.end()


def _announce(address: tuple[str, int], announce: Callable[[], object]) -> None:
    """Announce the service once it answers that it is up."""
    while not is_up(*address):
        sleep(_PAUSE)
    announce()


def is_up(host: str, port: int) -> bool:
    """Return whether a service at an address of this machine answers that it is up."""
    connection = HTTPConnection(_here(host), port, timeout=_PATIENCE)
    try:
        connection.request("GET", "/healthz", headers={"Host": f"localhost:{port}"})
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def require_server() -> None:
    """Raise unless the extra of the service is installed."""
    is_missing = False
    try:
        import uvicorn  # noqa: F401

        from . import app  # noqa: F401
    except ImportError:
        is_missing = True
    if is_missing:
        raise MissingPackage("the service needs an extra: pip install 'discreet[server]'")


def count_readers(configuration: Configuration, readers: int | None = None) -> int:
    """Return how many readers a service has: as asked for, as described, or one fewer than there are cores."""
    if readers is not None:
        return count(readers, "readers", most=_MOST)
    number: int = configuration.server.get("readers", max(1, count_cores() - 1))
    return number


def count_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def count_workers(workers: int) -> int:
    """Return how many workers a service has, as asked for."""
    return count(workers, "workers", most=_MOST)


def _run(address: tuple[str, int], workers: int, announce: Callable[[], None]) -> None:
    """Serve until a signal comes, by which the process then ends, with one worker and with several.

    Args:
        address: the host and the port.
        workers: how many processes take requests.
        announce: called in a thread once it listens.

    Raises:
        InvalidArgument: if nobody can listen there.
        LedgerUnwritable: if no worker can be started.
    """
    from uvicorn import Config, Server

    from .supervisor import Supervisor

    config = Config(
        "discreet.service.http.serving:make_worker_app", factory=True, workers=workers, host=address[0],
        port=address[1], **settings(),
    )  # fmt: skip
    server_socket = _listen(*address)
    Thread(target=announce, daemon=True).start()
    if workers == 1:
        Server(config).run([server_socket])  # it ends by the signal that it was sent
        return
    supervisor = Supervisor(config, [server_socket])
    supervisor.run()
    if supervisor.stop_signal is None:
        raise LedgerUnwritable("no worker can be started. See what it says above")
    signal.raise_signal(supervisor.stop_signal)


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens, for all workers."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        server_socket = socket.create_server((host, port), family=family)
    except OSError as error:
        why = error.strerror
    else:
        server_socket.set_inheritable(True)
        return server_socket
    raise InvalidArgument(f"nobody can listen at {host}:{port}: {why}")


def make_worker_app() -> "App":
    """Return the service that the environment tells of. Every worker calls this once."""
    from .app import make_app

    worker_settings = WorkerSettings(**json.loads(os.environ[_SETTINGS_VARIABLE]))
    if worker_settings.supervisor is not None:
        end_with(worker_settings.supervisor)
    configuration = read_again(Path(worker_settings.path))
    if file_digest(configuration.path) != worker_settings.digest:
        raise LedgerUnwritable(
            f"{configuration.path} was changed while it is served. Restart the service"
        )
    _log()
    dispatcher = DispatcherClient(worker_settings.socket, worker_settings.readers)
    counts = None if worker_settings.supervisor is None else kept_counts(configuration.path)
    app = make_app(configuration, list(worker_settings.hosts), counts, dispatcher)
    collect_no_more()
    return app


def address_to_open(configuration: Configuration, listen: str | None = None) -> str:
    """Return the address at which a browser on this machine reaches the service.

    Args:
        configuration: the description.
        listen: the address and the port. By default those of the description, or 127.0.0.1:8765.

    Raises:
        InvalidArgument: if the address is none.
    """
    host, port = _address(configuration, listen)
    here = _here(host)
    return f"http://{f'[{here}]' if ':' in here else here}:{port}/"


def _here(host: str) -> str:
    """Return the address of this machine at which it reaches a service that listens at a host."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)


def exposure(configuration: Configuration, listen: str | None = None) -> str | None:
    """Return the other machines that can reach the service, and how, or None if only this one can."""
    host, port = _address(configuration, listen)
    with suppress(ValueError):
        if ip_address(host).is_loopback:
            return None
    if host == "localhost":
        return None
    return (
        f"port {port} can be reached from the network, without encryption: everybody on the way reads tokens and "
        "answers. Put a proxy with HTTPS in front of 127.0.0.1"
    )


def _address(configuration: Configuration, listen: str | None) -> tuple[str, int]:
    return read_address(listen or configuration.server.get("listen", _HERE))


def read_address(text: str) -> tuple[str, int]:
    """Return the host and the port of an address such as 127.0.0.1:8765.

    Raises:
        InvalidArgument: if it is none.
    """
    match = _ADDRESS.fullmatch(text)
    if match is None or not 0 < int(match["port"]) < 2**16:
        raise InvalidArgument(
            f"listen must be an address and a port such as {_HERE}, got {preview(text)}"
        )
    return match["host"].strip("[]"), int(match["port"])


def _begin_counts(description: Path) -> None:
    """Count anew. A file that is in the way is told now, and not by every request."""
    try:
        kept_counts(description).begin()
    except (OSError, sqlite3.Error) as error:
        failure = LedgerUnwritable(
            f"the counts beside {description} cannot be written: {type(error).__name__}"
        )
    else:
        return
    raise failure


def _log() -> None:
    """Write one line of JSON for every request to standard error, one for every failure of the service, no more."""
    for name, kind in (("discreet.access", "access"), ("discreet.failures", "failure")):
        logger, handler = logging.getLogger(name), logging.StreamHandler()
        line = f'{{"time": "%(asctime)s", "{kind}": %(message)s}}'
        handler.setFormatter(logging.Formatter(line))
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False
    # The SDK of assistants logs what it refuses with a traceback, in which are words of the caller.
    sdk = logging.getLogger("mcp")
    sdk.addHandler(logging.NullHandler())
    sdk.propagate = False
