"""The exit codes of the command line. They are stable: scripts rely on them."""

import signal
from dataclasses import dataclass

from ..base.messages import gettext
from ..errors import (
    DiscreetError,
    Exhausted,
    InvalidScores,
    LedgerCorrupt,
    LedgerError,
    ReportUnwritable,
    RequestConflict,
    UnknownBudget,
    UnreadableData,
)

ANSWERED = 0
FALSE_CLAIM = 1
WRONG_USE = 2
UNREADABLE_DATA = 3
EXHAUSTED = 4
LEDGER_EDITED = 5
LEDGER_UNUSABLE = 6
UNWRITTEN = 7
INTERRUPTED = 128 + signal.SIGINT
TERMINATED = 128 + signal.SIGTERM


@dataclass(frozen=True, slots=True)
class ExitCode:
    """An exit code, its meaning, and the errors that end with it."""

    code: int
    meaning: str
    errors: tuple[type[Exception], ...] = ()


EXIT_CODES = (
    ExitCode(ANSWERED, "done: the answer is on standard output"),
    ExitCode(FALSE_CLAIM, "a false claim (audit, check), or an earlier request (ledger charge)"),
    ExitCode(WRONG_USE, "wrong usage, and nothing was charged", (RequestConflict, UnknownBudget)),
    ExitCode(UNREADABLE_DATA, "data that cannot be read, or a missing column",
             (UnreadableData, InvalidScores)),
    ExitCode(EXHAUSTED, "a privacy budget that cannot pay", (Exhausted,)),
    ExitCode(LEDGER_EDITED, "a ledger that was edited, damaged or replaced", (LedgerCorrupt,)),
    ExitCode(LEDGER_UNUSABLE, "a ledger that is busy, or cannot be reached or written", (LedgerError,)),
    ExitCode(UNWRITTEN, "an answer, a report or a picture that could not be written",
             (ReportUnwritable, OSError)),
    ExitCode(INTERRUPTED, "interrupted (Ctrl-C)"),
    ExitCode(TERMINATED, "terminated (129: the terminal was closed)"),
)  # fmt: skip
"""All exit codes. The first whose errors include the class of an error is its own. Other errors are wrong use."""


def exit_code(error: Exception) -> int:
    """Return the exit code for an error."""
    if not isinstance(error, DiscreetError | OSError):  # of the parser of options
        return WRONG_USE
    fitting = (each.code for each in EXIT_CODES if isinstance(error, each.errors))
    return next(fitting, WRONG_USE)


def exit_codes_in_words() -> str:
    """Return the exit codes and their meanings, one a line, in the language of the reader."""
    return "\n".join(f"{each.code:5}  {gettext(each.meaning, 'help')}" for each in EXIT_CODES)
