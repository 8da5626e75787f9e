"""How long a ledger's commits take, measured on a copy, and the shortest turn that they allow.

Readers of one timetable begin at different parts of a turn. If a turn is long enough for four commits of every
reader, all have the ledger for itself when it charges and when it stores, and no reply waits for another's.
"""

import os
import tempfile
from fractions import Fraction
from math import ceil
from pathlib import Path
from time import perf_counter

from ..datasets.configuration import Configuration
from ..errors import InvalidArgument, LedgerUnwritable
from ..ledger import Session
from ..privacy.guarantees import PureDP
from .timetable import Timetable

COMMITS = 50
"""Commits that are measured."""

_TRIES = 3
"""Measurements: one that something else on the machine has delayed is not the disk's."""

_PER_READER = 4
"""Commits that a turn must have time for, for every reader."""


def check_commits(configuration: Configuration, timetable: Timetable) -> None:
    """Raise if the ledger of a description is too slow for its turn.

    Raises:
        InvalidArgument: with the turn that would do.
        LedgerUnwritable: if no copy can be written beside the ledger.
    """
    ledger = configuration.ledger
    if not timetable.is_timed or ledger is None or "://" in ledger:
        return
    for _ in range(_TRIES):
        slowest = slowest_commit(Path(ledger).absolute().parent)
        least = shortest_turn(slowest, len(timetable.rounds))
        if timetable.turn >= least:
            return
    raise InvalidArgument(
        "turns of {milliseconds:g} ms are too short: a commit to the ledger took up to "
        '{slowest:.0f} ms; with {number_of_rounds} readers declare turn = "{least}ms" under '
        "[server], or move the ledger to a faster disk",
        milliseconds=float(timetable.turn) * 1000,
        slowest=slowest * 1000,
        number_of_rounds=len(timetable.rounds),
        least=ceil(least * 1000),
    )


def shortest_turn(slowest: float, readers: int) -> float:
    """Return the seconds of the shortest turn, by those of the slowest commit."""
    return _PER_READER * readers * slowest


def slowest_commit(folder: Path, commits: int = COMMITS) -> float:
    """Return the seconds of the slowest of some commits of events to a ledger in a folder, which is gone then.

    Raises:
        LedgerUnwritable: if none can be written there.
    """
    from ..ledger import Ledger

    try:
        with tempfile.TemporaryDirectory(prefix=".discreet-commits-", dir=folder) as copy:
            ledger = Ledger(os.path.join(copy, "ledger.db"))
            ledger.open("commits", epsilon=commits)
            session = ledger.session("commits")
            return max(_time_charge(session, number) for number in range(commits))
    except OSError as error:
        why = error.strerror
    raise LedgerUnwritable(
        "no file can be written beside the ledger, in {folder}: {why}", folder=folder, why=why
    )


def _time_charge(session: Session, number: int) -> float:
    """Return the seconds of one charge."""
    begin = perf_counter()
    session.charge(PureDP(Fraction(1), "add_remove"), description="a commit", request=str(number))
    return perf_counter() - begin
