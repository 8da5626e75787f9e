"""What an auditor is, and our own."""

from dataclasses import dataclass
from typing import Protocol

from discreet import audit

from .streams import Stream

CONFIDENCE = 0.99
"""Of one verdict, for every auditor; a table of a hundred rows has one that is wrong, by chance."""

EPSILON = 1.0
"""What is claimed of everything."""


@dataclass(frozen=True)
class Finding:
    """What an auditor says of a subject: whether it refutes the claim, and its figure."""

    is_refuted: bool
    figure: str


class NotAsked(Exception):
    """A subject about which an auditor cannot say anything, and why."""


class Auditor(Protocol):
    """A program that tries to refute a claim of privacy by draws.

    Attributes:
        name: what it is called.
        figure: what its number is.
        takes_delta: whether it tests claims with a delta.
    """

    name: str
    figure: str
    takes_delta: bool

    def start(self) -> str:
        """Return its version; raise `NotInstalled` if it cannot run here."""

    def look(self, stream: Stream) -> Finding:
        """Return what it says of a subject; raise `NotAsked` if it cannot say anything."""


class Discreet:
    """`audit.samples`."""

    name = "discreet"
    figure = "lower bound of ε"
    takes_delta = True

    def start(self) -> str:
        """Return the version."""
        from discreet import __version__

        return __version__

    def look(self, stream: Stream) -> Finding:
        """Choose an event by half of the draws, and bound its probabilities by the others."""
        subject = stream.subject
        answers = (stream.take(side, subject.draws).tolist() for side in (0, 1))
        found = audit.samples(*answers, confidence=str(CONFIDENCE), delta=subject.delta)
        return Finding(found.refutes(1), f"{float(found.epsilon):.3f}")
