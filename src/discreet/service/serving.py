"""Runs the service with uvicorn: in one process or several workers, all with processes that read the data."""

import json
import logging
import os
import re
import signal
import socket
import sqlite3
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..datasets.configuration import Configuration, read_configuration
from ..errors import InvalidArgument, LedgerUnwritable, MissingPackage, preview
from ..numbers import count
from .answering import file_digest
from .counts import kept_counts
from .permissions import hold
from .processes import Processes

if TYPE_CHECKING:
    from uvicorn import Config

    from .slots import App

_ADDRESS = re.compile(r"(?P<host>[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):(?P<port>[0-9]{1,5})", re.ASCII)
_HERE = "127.0.0.1:8765"

_SETTINGS_VARIABLE = "DISCREET_SERVED"
"""The environment variable with the settings of every worker."""

_MOST = 256


_SETTINGS: dict[str, Any] = {
    "access_log": False, "server_header": False, "date_header": False, "log_level": "warning",
    "timeout_keep_alive": 5, "timeout_graceful_shutdown": 60, "proxy_headers": False, "ws": "none",
    "lifespan": "off",
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
        digest: that of its text; a worker that finds another is not started.
        hosts: the names under which the service may be called.
        processes: how many processes of a worker read the data.
    """

    path: str
    digest: str
    hosts: tuple[str, ...]
    processes: int


def serve(
    configuration: Configuration,
    listen: str | None = None,
    hosts: list[str] | None = None,
    workers: int = 1,
    processes: int = 2,
) -> None:
    """Answer over HTTP until the process is told to stop; requests that were begun are answered first.

    Args:
        configuration: the description.
        listen: the address and the port; by default those of the description, or 127.0.0.1:8765.
        hosts: the names under which the service may be called, besides this machine's own.
        workers: how many processes take requests.
        processes: how many processes of a worker read the data, one question at a time.

    Raises:
        InvalidArgument: if the address is none, or a number cannot be accepted.
        MissingPackage: if the extra is not installed.
    """
    try:
        import uvicorn

        from .app import check_server
    except ImportError:
        uvicorn = None  # type: ignore[assignment]
    if uvicorn is None:
        raise MissingPackage("the service needs an extra: pip install 'discreet[server]'")
    host, port = _address(configuration, listen)
    check_server(configuration)
    hold(configuration)  # what is wrong is told once, before any worker is started
    host_names = ("127.0.0.1", "localhost", host, *(hosts or []))
    readers = count(processes, "processes", most=_MOST)
    worker_settings = WorkerSettings(
        str(configuration.path.absolute()), file_digest(configuration.path), host_names, readers
    )
    os.environ[_SETTINGS_VARIABLE] = json.dumps(asdict(worker_settings))
    _begin_counts(configuration.path)
    config = uvicorn.Config(
        "discreet.service.serving:make_worker_app", factory=True, workers=count(workers, "workers", most=_MOST),
        host=host, port=port, **settings(),
    )  # fmt: skip
    _run(config)


def _run(config: "Config") -> None:
    """Serve until a signal comes, by which the process then ends, with one worker and with several.

    Raises:
        InvalidArgument: if nobody can listen there.
        LedgerUnwritable: if no worker can be started.
    """
    from uvicorn import Server

    from .supervisor import Supervisor

    server_socket = _listen(config.host, config.port)
    if config.workers == 1:
        Server(config).run([server_socket])  # it ends by the signal that it was sent
        return
    supervisor = Supervisor(config, [server_socket])
    supervisor.run()
    if supervisor.stop_signal is None:
        raise LedgerUnwritable("no worker can be started; see what it says above")
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
    """Return the service that the environment tells of; every worker calls this once."""
    from .app import make_app

    worker_settings = WorkerSettings(**json.loads(os.environ[_SETTINGS_VARIABLE]))
    configuration = read_configuration(Path(worker_settings.path))
    if file_digest(configuration.path) != worker_settings.digest:
        raise LedgerUnwritable(
            f"{configuration.path} was changed while it is served; start the service again"
        )
    _log()
    readers = Processes(worker_settings.processes, [worker_settings.path, worker_settings.digest])
    return make_app(
        configuration, list(worker_settings.hosts), kept_counts(configuration.path), readers
    )


def address_to_open(configuration: Configuration, listen: str | None = None) -> str:
    """Return the address at which a browser on this machine reaches the service.

    Args:
        configuration: the description.
        listen: the address and the port; by default those of the description, or 127.0.0.1:8765.

    Raises:
        InvalidArgument: if the address is none.
    """
    host, port = _address(configuration, listen)
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(
        host, host
    )  # every address has that of this machine
    return f"http://{f'[{here}]' if ':' in here else here}:{port}/"


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
    """Write one line of JSON for every request to standard error, and one for every failure of the service."""
    for name, kind in (("discreet.access", "access"), ("discreet.failures", "failure")):
        logger, handler = logging.getLogger(name), logging.StreamHandler()
        line = f'{{"time": "%(asctime)s", "{kind}": %(message)s}}'
        handler.setFormatter(logging.Formatter(line))
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False
