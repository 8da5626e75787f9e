"""connect: ask about the datasets that discreet.toml describes."""

import os

from ..arguments import file_path, read_name
from ..error_boundary import error_boundary
from ..ledger.described import configuration
from .connection import Connection
from .held import hold, rights
from .in_process import InProcess


@error_boundary
def connect(
    where: str | os.PathLike[str] | None = None, *, analyst: str | None = None
) -> Connection:
    """Connect to the datasets that a discreet.toml describes, to ask about them in this process.

    The ledger must be there and the budgets must be open: `discreet ledger open NAME`. Answers are charged to them.

    Args:
        where: the file; without it the one that DISCREET_CONFIG names, or the nearest discreet.toml from the
            working directory upwards.
        analyst: ask as this analyst of the file: the analyst's share is charged too, and only what the file
            allows to the analyst can be asked. Without it the owner asks.

    Raises:
        InvalidDescription: if there is no file, or something in it cannot be accepted; the message has the line.
        UnknownName: if the file has no such analyst.
        UnknownBudget: if there is no ledger, or a budget was not opened.
    """
    declared = configuration(None if where is None else file_path(where, "where"))
    whose = None if analyst is None else read_name(analyst, "analyst")
    asking = rights(hold(declared), declared, whose)
    told = str(declared.path) if whose is None else f"{declared.path}, as {whose}"
    return Connection(InProcess(asking), told)
