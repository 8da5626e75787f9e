"""Where a ledger is kept: a file, a database by its URL, or memory."""

import os
import re
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from ..errors import InvalidArgument, LedgerUnwritable, preview

_MISSPELT = re.compile(r"postgres(ql)?(\+\w+)?:", re.IGNORECASE)
"""A URL with a missing slash, which may hold a password: no message may quote it as if it were a path."""

_SECRETS = ("password", "sslpassword")


def read_url(where: str | os.PathLike[str] | None) -> URL:
    """Return the SQLAlchemy URL of a path or a URL, or of a database in memory for None.

    Raises:
        InvalidArgument: if it is neither, or the URL of an unsupported database.
    """
    if where is None:
        return URL.create("sqlite")
    if not isinstance(where, str | os.PathLike) or not str(where):
        raise InvalidArgument(
            f"a ledger is a path, a URL, or nothing for memory, got {preview(where)}"
        )
    if "://" not in str(where) and not _MISSPELT.match(str(where)):
        return URL.create("sqlite", database=str(_read_path(where)))
    url = _parse_url(str(where))
    kind, _, driver = url.drivername.partition("+")
    if kind in {"postgresql", "postgres"} and driver in {"", "psycopg"}:
        return url.set(drivername="postgresql+psycopg")
    if url.drivername == "sqlite" and not url.query:
        memory = url.database in {None, "", ":memory:"}
        return read_url(None if memory else url.database)
    raise InvalidArgument(
        f"a ledger is kept by sqlite, without options, or by postgresql, not by {url.drivername}"
    )


def _read_path(where: str | os.PathLike[str]) -> Path:
    """Return the path, if the file system allows the name."""
    try:
        if b"\0" not in os.fsencode(where):
            return Path(where).absolute()
    except UnicodeEncodeError:
        pass
    raise InvalidArgument(f"a ledger is a file, and none can be named {preview(str(where))}")


def _parse_url(where: str) -> URL:
    """Return the parsed URL. One that cannot be parsed is not quoted: it may hold a password."""
    try:
        return make_url(where)
    except (ArgumentError, ValueError):
        pass
    raise InvalidArgument(
        "this URL cannot be read. It has the form postgresql://user@host/database"
    )


def name_of(url: URL) -> str:
    """Return the name of the ledger in messages: its path, or its URL without passwords."""
    if url.drivername == "sqlite":
        return url.database or "in memory"
    masks = {key: "hidden" for key in _SECRETS if key in url.query}
    return url.update_query_dict(masks).render_as_string(hide_password=True)


def make_file(path: Path) -> None:
    """Create an empty file if there is none, readable for its owner alone, as a ledger holds answers.

    Raises:
        LedgerUnwritable: if it cannot be created.
    """
    why: str | None = "it is no file"
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        if path.is_file():
            return
    except OSError as error:
        why = error.strerror
    else:
        return
    raise LedgerUnwritable(f"the ledger {path} cannot be made: {why}")
