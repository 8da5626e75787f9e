"""The schemas of a ledger: how its tables are made, how an older one is renewed, and which ones are rejected."""

from collections.abc import Callable
from uuid import uuid4

from sqlalchemy import Connection, inspect, select

from ..errors import LedgerCorrupt, LedgerError, LedgerTooNew
from .events import genesis
from .schema import LEDGER, create_tables

MIGRATIONS: list[Callable[[Connection], None]] = [create_tables]
"""The n-th migration leads from schema n - 1 to schema n. Released migrations are never changed."""

_UNRELEASED = "discreet_ledger"
"""A table of ledgers that were written before the first release. They have other events and another chain."""


def version_of(connection: Connection) -> int:
    """The schema of the stored ledger, or 0 for an empty database.

    Raises:
        LedgerTooNew: if it is newer than this library.
        LedgerCorrupt: if it is not recorded.
        LedgerError: if the database holds other tables and no ledger, or a ledger of before the first release.
    """
    tables = inspect(connection).get_table_names()
    if _UNRELEASED in tables:
        raise LedgerError(
            "this ledger was written before the first release of discreet, and cannot be read. "
            "Keep it as it is, open a new ledger elsewhere, and charge what was spent: discreet "
            "ledger charge"
        )
    if LEDGER.name not in tables:
        if tables and connection.dialect.name == "sqlite":
            raise LedgerError(
                "this database holds other tables and no ledger. Give a ledger a file of its own"
            )
        return 0
    versions = list(connection.execute(select(LEDGER.c.version)).scalars())
    if len(versions) != 1:
        raise LedgerCorrupt("the ledger does not say which schema it has")
    return _check_version(versions[0])


def _check_version(version: object) -> int:
    """The schema if this library knows it."""
    if not isinstance(version, int) or version < 1:
        raise LedgerCorrupt("the ledger does not say which schema it has")
    if version > len(MIGRATIONS):
        raise LedgerTooNew(
            f"this ledger has schema {version}, and this version of discreet knows "
            f"{len(MIGRATIONS)}: upgrade discreet"
        )
    return version


def is_newest(version: int) -> bool:
    """Whether a ledger of this schema needs no migration."""
    return version == len(MIGRATIONS)


def check_newest(version: object) -> None:
    """Raise unless an open ledger has the schema of this library.

    Raises:
        LedgerTooNew: if it is newer.
        LedgerCorrupt: if it is older or not recorded, as a ledger is renewed when it is opened.
    """
    if not is_newest(_check_version(version)):
        raise LedgerCorrupt(f"the ledger says it has schema {version}, and was opened with another")


def migrate(connection: Connection) -> None:
    """Migrate the tables to the newest schema, and create them in an empty database."""
    version = version_of(connection)
    for step in MIGRATIONS[version:]:
        step(connection)
    newest = len(MIGRATIONS)
    if version:
        connection.execute(LEDGER.update().values(version=newest))
    else:
        identity = uuid4().hex
        connection.execute(LEDGER.insert().values(
            id=identity, born=newest, version=newest, events=0, head=genesis(identity, newest)
        ))  # fmt: skip
