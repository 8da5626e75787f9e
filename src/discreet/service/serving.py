"""Runs the service with uvicorn."""

import logging
import re

from ..datasets.configuration import Configuration
from ..errors import InvalidArgument, MissingPackage, shown

_ADDRESS = re.compile(r"(?P<host>[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):(?P<port>[0-9]{1,5})", re.ASCII)
_HERE = "127.0.0.1:8765"


def serve(
    declared: Configuration, listen: str | None = None, hosts: list[str] | None = None
) -> None:
    """Answer over HTTP until the process is told to stop; requests that were begun are answered first.

    Args:
        declared: the description.
        listen: the address and the port; by default those of the description, or 127.0.0.1:8765.
        hosts: the names under which the service may be called, besides this machine's own.

    Raises:
        InvalidArgument: if the address is none.
        MissingPackage: if the extra is not installed.
    """
    try:
        import uvicorn

        from .app import make_app
    except ImportError:
        uvicorn = None  # type: ignore[assignment]
    if uvicorn is None:
        raise MissingPackage("the service needs an extra: pip install 'discreet[server]'")
    host, port = read_address(listen or declared.server.get("listen", _HERE))
    _log_accesses()
    app = make_app(declared, ["127.0.0.1", "localhost", host, *(hosts or [])])
    uvicorn.run(
        app, host=host, port=port, access_log=False, server_header=False, date_header=False,
        log_level="warning", timeout_keep_alive=5, timeout_graceful_shutdown=60,
        h11_max_incomplete_event_size=16384,
        proxy_headers=False, ws="none", lifespan="off",
    )  # fmt: skip


def read_address(text: str) -> tuple[str, int]:
    """Return the host and the port of an address such as 127.0.0.1:8765.

    Raises:
        InvalidArgument: if it is none.
    """
    found = _ADDRESS.fullmatch(text)
    if found is None or not 0 < int(found["port"]) < 2**16:
        raise InvalidArgument(
            f"listen must be an address and a port such as {_HERE}, got {shown(text)}"
        )
    return found["host"].strip("[]"), int(found["port"])


def _log_accesses() -> None:
    """Write one line of JSON for each request to standard error."""
    logger, handler = logging.getLogger("discreet.access"), logging.StreamHandler()
    handler.setFormatter(logging.Formatter('{"time": "%(asctime)s", "access": %(message)s}'))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
