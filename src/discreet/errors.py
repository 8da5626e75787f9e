"""The exception tree: one root, every message names the argument and the fix.

::

    DiscreetError
    ├── InvalidArgument (ValueError)      a public argument that cannot be accepted
    │   ├── InvalidNumber                 not an exact number, or out of its range
    │   ├── InvalidCandidates             empty, repeated, or of the wrong kind
    │   └── UnknownName                   no such mechanism, noise or neighbouring relation
    ├── InvalidScores (ValueError)        scores that are no finite numbers, or too few, or too many
    ├── UnreadableData                    the data cannot be used at all
    │   ├── MissingColumn (KeyError)      a column that is not there
    │   └── UnreadableFile (OSError)      a file that is missing or is not what its name says
    ├── MissingPackage (ImportError)      an optional package that is not installed
    ├── Exhausted (RuntimeError)          a session that has given all the answers it was paid for
    └── OutOfBits                         a scripted source of bits came to its end (tests only)

No message, attribute or cause of these errors holds a private value. Errors of other libraries may
quote the data they failed on, so they are never chained: what is raised here starts a trace of its own.
"""

import datetime
import decimal
import numbers
from typing import Any

_SIMPLE = (
    str,
    bytes,
    bool,
    type(None),
    numbers.Number,
    decimal.Decimal,
    datetime.date,
    datetime.time,
)


def shown(value: Any) -> str:
    """Return a short picture of an argument for a message.

    Only simple values are spelled. A table or a list that was given in the wrong place may be private:
    of those the message shows the type.
    """
    if not isinstance(value, _SIMPLE):
        package, name = type(value).__module__.partition(".")[0], type(value).__qualname__
        return f"a {name}" if package == "builtins" else f"a {package}.{name}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


class DiscreetError(Exception):
    """Root of every error this library raises on purpose."""


class InvalidArgument(DiscreetError, ValueError):
    """A public argument that cannot be accepted."""


class InvalidNumber(InvalidArgument):
    """A number that is not exact, not finite, or out of its range."""


class InvalidCandidates(InvalidArgument):
    """Candidates that are empty, repeated, or of the wrong kind."""


class UnknownName(InvalidArgument):
    """A name that stands for nothing here; the message lists those that do."""


class InvalidScores(DiscreetError, ValueError):
    """Scores that are no finite numbers, or too few, or too many."""


class UnreadableData(DiscreetError):
    """Data that cannot be used at all."""


class MissingColumn(UnreadableData, KeyError):
    """A column that is not there; the message lists those that are."""

    __str__ = Exception.__str__  # KeyError would show the repr of the message


class UnreadableFile(UnreadableData, OSError):
    """A file that is missing, or is not what its name says."""


class MissingPackage(DiscreetError, ImportError):
    """An optional package that is not installed; the message names the extra that brings it."""


class Exhausted(DiscreetError, RuntimeError):
    """A session that has given all the answers it was paid for."""


class OutOfBits(DiscreetError):
    """A scripted source of bits came to its end: the draw is undecided so far."""
