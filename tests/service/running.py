"""A service in a process of its own, as its operator starts it; it ends with the process that started it."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Self

from discreet.service.http.lifelines import command

STOPPED = (143,)
"""How it ends when it is asked to stop, with one worker and with several."""

_PATIENCE = 180.0


def free_port() -> int:
    """Return a port of this machine on which nobody listens now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def command_of(code: str) -> list[str]:
    """Return the command of a process that runs code, and ends with this one."""
    first = f"from discreet.service.http.lifelines import end_with\nend_with({os.getpid()})\n"
    return [sys.executable, "-c", first + code]


class Running:
    """`discreet serve` in a folder with a discreet.toml; on leaving the block it is stopped, and must end well.

    Args:
        folder: where it is started.
        options: more options of the command.
        port: where it listens on 127.0.0.1.
        described: whether discreet.toml of the folder is the first option.
    """

    def __init__(
        self, folder: Path, *options: str, port: int | None = None, described: bool = True
    ) -> None:
        self._folder = folder
        self._options = ("discreet.toml", *options) if described else options
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / "service.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> Self:
        """Start it; it need not answer yet."""
        listen = ("--listen", f"127.0.0.1:{self.port}")
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command("discreet", "serve", *listen, *self._options), cwd=self._folder, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        return self

    def wait(self) -> Self:
        """Wait until it answers."""
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            if not self.runs:
                break
            if self.answers():
                return self
            time.sleep(0.02)
        raise RuntimeError(f"the service does not start: {self.log.read_text()[-2000:]}")

    def answers(self) -> bool:
        """Return whether it says that it is well."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()

    @property
    def runs(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    @property
    def process(self) -> int:
        """Its number, which is that of its session too."""
        return self._started().pid

    def kill(self) -> None:
        """Kill it, with all its processes: as when power is lost."""
        process = self._started()
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(_PATIENCE)

    def stop(self, by: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to stop, as systemd does; return its exit code."""
        process = self._started()
        process.send_signal(by)
        return process.wait(_PATIENCE)

    def workers(self) -> list[int]:
        """Return the processes that it has started, and those that they have started."""
        return list(below(self._started().pid))

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._process is None:
            raise RuntimeError("it was not started")
        return self._process

    def __enter__(self) -> Self:
        return self.start().wait()

    def __exit__(self, *_: object) -> None:
        if self.runs and self.stop() not in STOPPED:
            raise RuntimeError(f"the service did not end well: {self.log.read_text()[-2000:]}")


def below(process: int) -> Iterator[int]:
    """Yield the processes that a process has started, and those that they have started."""
    for tasks in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found = tasks.read_text().split()
        except OSError:
            continue
        for child in map(int, found):
            yield child
            yield from below(child)
