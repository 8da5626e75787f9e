"""Translates database errors into `LedgerError`s without SQL, parameters or causes."""

import sqlite3

from sqlalchemy.exc import DBAPIError

from ..errors import LedgerBusy, LedgerCorrupt, LedgerError, LedgerUnwritable

_Meaning = tuple[type[LedgerError], str]

_BUSY: _Meaning = LedgerBusy, "is held by others for too long; ask again"
_UNWRITABLE: _Meaning = (
    LedgerUnwritable,
    "cannot be reached, read or written: is the disk full, or the file read-only?",
)
_CORRUPT: _Meaning = (
    LedgerCorrupt,
    "is not what was written: verify it, and restore a copy with the head you noted",
)
_OTHER: _Meaning = LedgerError, "cannot be used"

_SQLITE: dict[int | None, _Meaning] = {
    None: _CORRUPT,  # raised by Python's driver: text that is no text
    sqlite3.SQLITE_ERROR: _CORRUPT,  # a table or column that is not there
    sqlite3.SQLITE_CORRUPT: _CORRUPT,
    sqlite3.SQLITE_NOTADB: _CORRUPT,
    sqlite3.SQLITE_CONSTRAINT: _CORRUPT,
    sqlite3.SQLITE_MISMATCH: _CORRUPT,
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_READONLY: _UNWRITABLE,
    sqlite3.SQLITE_PERM: _UNWRITABLE,
    sqlite3.SQLITE_AUTH: _UNWRITABLE,
    sqlite3.SQLITE_IOERR: _UNWRITABLE,
    sqlite3.SQLITE_FULL: _UNWRITABLE,
    sqlite3.SQLITE_CANTOPEN: _UNWRITABLE,
}
_POSTGRESQL: dict[str, _Meaning] = {
    "55P03": _BUSY, "57014": _BUSY, "40001": _BUSY, "40P01": _BUSY, "25P03": _BUSY,
    "25006": _UNWRITABLE, "42501": _UNWRITABLE, "53": _UNWRITABLE, "08": _UNWRITABLE, "57P": _UNWRITABLE,
    "58": _UNWRITABLE, "28": _UNWRITABLE, "3D": _UNWRITABLE,
    "XX": _CORRUPT, "42": _CORRUPT, "23": _CORRUPT, "22": _CORRUPT, "P0001": _CORRUPT,
}  # fmt: skip
"""Meanings by prefix of the SQLSTATE; the longest matching prefix decides."""


def busy_error(name: str) -> LedgerError:
    """Return the error for a ledger that other writers hold for too long."""
    kind, meaning = _BUSY
    return kind(f"the ledger {name} {meaning}")


def ledger_error(error: Exception, name: str) -> LedgerError:
    """Return the `LedgerError` for an error of SQLAlchemy, sqlite3 or psycopg."""
    cause: object = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(cause, OSError):  # the file beside the ledger
        kind, meaning = _UNWRITABLE
    elif isinstance(cause, UnicodeError):  # what a damaged file makes of SQLite's own messages
        kind, meaning = _CORRUPT
    elif isinstance(cause, sqlite3.Error):
        code = getattr(cause, "sqlite_errorcode", None)
        kind, meaning = _SQLITE.get(code if code is None else code & 0xFF, _OTHER)
    else:
        kind, meaning = _by_state(getattr(cause, "sqlstate", None), isinstance(error, DBAPIError))
    return kind(f"the ledger {name} {meaning} ({type(cause).__name__})")


def _by_state(state: str | None, is_database: bool) -> _Meaning:
    """Return the meaning of an SQLSTATE. A lost connection has none."""
    if state is None:
        return _UNWRITABLE if is_database else _OTHER
    fitting = [start for start in _POSTGRESQL if state.startswith(start)]
    return _POSTGRESQL[max(fitting, key=len)] if fitting else _OTHER
