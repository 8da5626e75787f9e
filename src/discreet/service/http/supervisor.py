"""A supervisor that starts the workers of a service, and knows the signal that stopped it."""

import signal
from socket import socket

from uvicorn import Config
from uvicorn.supervisors import Multiprocess


class Supervisor(Multiprocess):
    """A supervisor of several workers, which leaves the signals of its process as they were.

    Attributes:
        stop_signal: the signal that stopped it. None if a worker could not be started.
    """

    def __init__(self, config: Config, sockets: list[socket]) -> None:
        self._before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
        self.stop_signal: int | None = None
        super().__init__(config, sockets)

    def run(self) -> None:
        """Run the workers until a signal comes."""
        super().run()
        for each, handler in self._before.items():
            signal.signal(each, handler)

    def handle_int(self) -> None:
        """Stop."""
        self.stop_signal = signal.SIGINT
        super().handle_int()

    def handle_term(self) -> None:
        """Stop."""
        self.stop_signal = signal.SIGTERM
        super().handle_term()
