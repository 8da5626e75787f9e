"""The exception tree: one root, every message names the argument and the fix.

::

    DiscreetError
    ├── InvalidArgument (ValueError)      a public argument that cannot be accepted
    │   ├── InvalidNumber                 not an exact number, or out of its range
    │   ├── InvalidCandidates             empty, repeated, or of the wrong kind
    │   ├── InvalidDescription            a description of data that cannot be accepted; it says where
    │   ├── UnknownName                   no such mechanism, noise or neighbouring relation
    │   └── UnreadableArgument            an object that was given raised an error of its own
    ├── InvalidScores (ValueError)        scores that are no finite numbers, or too few, or too many
    ├── UnreadableData                    the data cannot be used at all
    │   ├── DataUnavailable               a lock, a lost server or a full disk: ask again
    │   ├── MissingColumn (KeyError)      a column that is not there
    │   ├── NotCountable                  a column of a type about which no question can be asked
    │   └── UnreadableFile (OSError)      a file that is missing, or not in the format of its name
    ├── Unanswerable                      a question to a data node that fails; only its owner sees why
    ├── NotAllowed                        a token that is not valid, or a role that may not do this
    ├── Exhausted (RuntimeError)          a budget or a session that cannot pay for this answer
    ├── LedgerError                       a ledger that fails; nothing was drawn unless it says so
    │   ├── UnknownBudget (LookupError)   a dataset or an analyst for whom no budget was opened
    │   ├── RequestConflict               a request id that was used for another question
    │   ├── LedgerBusy                    others held the ledger for too long
    │   ├── LedgerUnwritable (OSError)    a full disk, a file that cannot be written, a lost server
    │   ├── LedgerCorrupt                 a ledger that was edited, damaged or replaced
    │   └── LedgerTooNew                  written by a newer version of this library
    ├── ReportUnwritable (OSError)        a report whose file cannot be written
    ├── MissingPackage (ImportError)      an optional package that is not installed
    └── OutOfBits                         a scripted source of bits came to its end (tests only)

No message, attribute or cause of these errors holds a private value. Errors of other libraries may
quote the data they failed on, so they are never chained: errors raised here have no cause or context.
"""

import sys
from datetime import date, datetime, time
from decimal import Decimal
from fractions import Fraction
from types import NoneType
from typing import Any

_SIMPLE = {str, bytes, bool, NoneType, int, float, complex, Fraction, Decimal, date, datetime, time}
_SHOWN_LENGTH = 60


def preview(value: object) -> str:
    """Return a short picture of an argument for a message.

    Only simple values are shown. A table or a list in the wrong place may be private, and an object of another
    class may print anything, so for those the message shows the type.
    """
    kind = type(value)
    package, name = str(kind.__module__).partition(".")[0], str(kind.__qualname__)
    if kind not in _SIMPLE and not _is_of_numpy(kind):
        return ascii(f"a {name}" if package == "builtins" else f"a {package}.{name}")[1:-1]
    try:
        text = str(value) if kind is Fraction else repr(value)
    except ValueError:  # Python spells no integer of more than 4,300 digits
        return f"a {name} of thousands of digits"
    return text if len(text) <= _SHOWN_LENGTH else f"{text[: _SHOWN_LENGTH - 3]}..."


def _is_of_numpy(kind: type) -> bool:
    """Return whether a class is one of numpy's own numbers."""
    numpy = sys.modules.get("numpy")
    return (
        numpy is not None
        and issubclass(kind, (numpy.number, numpy.bool_))
        and kind.__module__ == "numpy"
    )


class DiscreetError(Exception):
    """Root of every error this library raises on purpose.

    Attributes:
        charged: whether the question was charged although it failed. You can retry the same request at no cost.
            None if that could not be read from the ledger.
        is_public: whether its text was written for the caller. See `error_boundary.public_errors`.
    """

    charged: bool | None = False
    is_public: bool = False

    def __init__(self, message: object = "") -> None:
        """Take the message; a path in it may hold any bytes, which are written as escapes."""
        super().__init__(str(message).encode(errors="backslashreplace").decode())


class InvalidArgument(DiscreetError, ValueError):
    """A public argument is invalid."""


class InvalidNumber(InvalidArgument):
    """A number is not exact, not finite, or out of range."""


class InvalidCandidates(InvalidArgument):
    """The candidates are empty, repeated, or of the wrong kind."""


class InvalidDescription(InvalidArgument):
    """A description of data is invalid. The message shows where, with the line if it is in a file.

    Attributes:
        place: the keys that lead to the mistake.
        reason: the mistake, without the place.
        others: further mistakes in the same description.
    """

    place: tuple[str, ...] = ()
    reason: str = ""
    others: tuple["InvalidDescription", ...] = ()


class UnknownName(InvalidArgument):
    """A name is unknown here. The message lists the known ones."""


class UnreadableArgument(InvalidArgument):
    """An argument raised an error when it was read or called. Its message may quote data, so it is not shown."""


class InvalidScores(DiscreetError, ValueError):
    """Some scores are not finite numbers, or there are too few or too many.

    Attributes:
        is_finite: False if there is a NaN or an infinity among them.
    """

    is_finite: bool = True


class UnreadableData(DiscreetError):
    """The data cannot be used."""


class DataUnavailable(UnreadableData):
    """The data cannot be read now, because of a lock or a lost server. Try again."""


class MissingColumn(UnreadableData, KeyError):
    """A column is missing. The message lists the existing ones."""

    __str__ = Exception.__str__  # KeyError would show the repr of the message


class NotCountable(UnreadableData):
    """A column has a type that questions don't support. You can use other columns of its table."""


class UnreadableFile(UnreadableData, OSError):
    """A file is missing, or its format doesn't match its name."""


class Unanswerable(DiscreetError):
    """A data node cannot answer a question, for a reason that only the owner of the data may see."""


class NotAllowed(DiscreetError):
    """A token is not valid, or its role is not allowed to do this. No budget was charged."""


class ReportUnwritable(DiscreetError, OSError):
    """A report cannot be written to its file. Its subject, such as a release, is not lost."""


class MissingPackage(DiscreetError, ImportError):
    """A package is not installed. The message names the extra that installs it."""


class Exhausted(DiscreetError, RuntimeError):
    """A budget or a session cannot pay for this answer. No answer was drawn.

    Attributes:
        requested: the exact cost of the answer, if a budget rejected it.
        spent: the amount that the budget has spent.
        remaining: the amount that it has left.
    """

    def __init__(
        self,
        message: object = "",
        *,
        requested: Any = None,
        spent: Any = None,
        remaining: Any = None,
    ) -> None:
        super().__init__(message)
        self.requested = requested
        self.spent = spent
        self.remaining = remaining


class LedgerError(DiscreetError):
    """A ledger failed. This is the base class of its errors."""


class UnknownBudget(LedgerError, LookupError):
    """No budget was opened for a dataset or an analyst. The message lists those that have one."""


class RequestConflict(LedgerError):
    """A request name was already used for another question. There was no charge and no draw."""


class LedgerBusy(LedgerError):
    """Other processes held the ledger for too long. Try again."""


class LedgerUnwritable(LedgerError, OSError):
    """A ledger cannot be reached, read or written. The disk may be full, the file read-only, or the server lost."""


class LedgerCorrupt(LedgerError):
    """A ledger was edited, damaged or replaced. Restore a copy that has the head you noted."""


class LedgerTooNew(LedgerError):
    """A ledger was written by a newer version of discreet. Upgrade discreet."""


class OutOfBits(DiscreetError):
    """A scripted source of bits ran out before the draw was decided."""
