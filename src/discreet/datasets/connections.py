"""The database of a described query: a public URL, opened when a question is asked and not before."""

import os
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .declarations import KeyPath, wrong

_FORMS = "sqlite:///file.db or postgresql://host/database"


@dataclass(frozen=True, slots=True)
class Database:
    """A database by its URL, without a password.

    Attributes:
        public: the URL.
    """

    public: str

    def connect(self) -> AbstractContextManager[Any]:
        """Return a new connection."""
        from sqlalchemy import create_engine

        return create_engine(self.public, hide_parameters=True).connect()


def read_database(url: str, folder: Path, place: KeyPath) -> Database:
    """Return the database of a URL; the file of an SQLite database is found from a folder.

    Raises:
        InvalidDescription: if it is of another kind, or holds a password.
    """
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        read = make_url(url)
    except (ArgumentError, ValueError):
        read = None
    kind = "" if read is None else read.get_backend_name()
    if read is None or kind not in ("sqlite", "postgresql"):
        raise wrong(
            place,
            f"it must be {_FORMS}; of other databases make a Dataset of discreet.sql(query, connection) in Python",
        )
    if read.password is not None or {"password", "sslpassword"} & set(read.query):
        raise wrong(
            place,
            "a description is public: leave the password out, and set PGPASSWORD or ~/.pgpass",
        )
    if kind == "sqlite":
        if not read.database:
            raise wrong(place, f"it must name a file, such as {_FORMS}")
        read = read.set(database=os.path.realpath(folder / read.database))
    else:
        read = read.set(drivername="postgresql+psycopg")
    return Database(read.render_as_string(hide_password=False))
