"""The extent of a source: files, a table of a database, or all of one. Where they overlap, records may be the same.

A database is one whatever its URL says besides: a file by its device and inode, a server's by host, port and name,
and by the server's own name for itself. No role, option or spelling tells two databases apart.
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..engines.reach import read_reach
from .sources import files_at, files_by_path, folders_of, is_in_database, is_there

if TYPE_CHECKING:
    from sqlalchemy import URL

_PORT = "5432"
_BETWEEN = ":"
_HERE = ("", "localhost", "127.0.0.1", "::1", "/var/run/postgresql", "/run/postgresql", "/tmp")
"""Spellings of this machine."""


@dataclass(frozen=True, slots=True)
class Extent:
    """The files or the tables that a source covers.

    Attributes:
        files: files of rows, by device and inode; by its path one that is not there.
        paths: the paths of those that are not there yet.
        folders: the folders among the places: whatever will be in them is covered.
        databases: the database, by all that tells which it is.
        table: the one ordinary table in it, `schema.name` in small letters; empty for all of the database.
        number: by which the database knows the table; 0 for none.
    """

    files: frozenset[object] = frozenset()
    paths: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    databases: frozenset[object] = frozenset()
    table: str = ""
    number: int = 0

    def overlaps(self, other: "Extent") -> bool:
        """Return whether two sources have a file or a table in common, as far as can be told."""
        ours, theirs = self.files | self.databases, other.files | other.databases
        if self.files & theirs or other.files & ours or {*self.paths} & {*other.paths}:
            return True
        if _is_within(self.paths, other.folders) or _is_within(other.paths, self.folders):
            return True
        return bool(self.databases & other.databases) and self._shares_table(other)

    def _shares_table(self, other: "Extent") -> bool:
        """Return whether sources of one database share a table: unless they are two ordinary ones."""
        if not self.table or not other.table or self.table == other.table:
            return True
        return self.number != 0 and self.number == other.number


def extent_of(place: Any, reach: Mapping[str, Any] | None = None) -> Extent | None:
    """Return the extent of a place; None for data in memory.

    Args:
        place: where the data are, as `sources.place_of` says.
        reach: of a table or a query, as the catalogue of its database told; None if it was not
            asked, which stands for all of the database.
    """
    if place is None:
        return None
    if not is_in_database(place):
        return _of_paths(place)
    part = read_reach(reach)
    ids = database_ids(place["connection"], part.database)
    return Extent(databases=ids, table=part.table.lower(), number=part.number)


def _of_paths(place: Any) -> Extent:
    """Return the extent of the paths of a place, which are looked up once."""
    by_path = files_by_path(place)
    to_come = tuple(path for path, files in by_path.items() if not any(map(is_there, files)))
    return Extent(frozenset[object]().union(*by_path.values()), to_come, folders_of(place))


def database_ids(url: str, record: str = "") -> frozenset[object]:
    """Return the ids of a database: a file's device and inode, or host, port and name of a server's.

    Several hosts are several ways to one database.

    Args:
        url: its URL.
        record: the id that it had when its owner described it: that of a file counts where no file is at its
            path any more, as numbers of files that are gone are given to others.
    """
    from sqlalchemy import make_url

    address = make_url(url)
    if address.get_backend_name() == "postgresql":
        return _server_ids(address) | ({record} if record else set())
    path = os.path.realpath(str(address.database))
    if _BETWEEN in record and not os.path.exists(path):
        return frozenset({path, _file_id(record)})
    return files_at(path) | {path}


def is_now_at(url: str, record: str, to: str) -> bool:
    """Return whether the file of a database may be at another URL now, and another file at its own path.

    Args:
        url: its URL.
        record: the id that it had when its owner described it.
        to: the other URL.
    """
    if _BETWEEN not in record:
        return False
    return _file_id(record) in database_ids(to) - database_ids(url)


def _file_id(record: str) -> tuple[int, int]:
    """Return the device and the inode on record."""
    device, _, number = record.partition(_BETWEEN)
    return int(device), int(number)


def _server_ids(address: "URL") -> frozenset[object]:
    """Return host, port and name of a server's database, as the client of PostgreSQL reads them from a URL."""
    query = {name: _words(value) for name, value in address.query.items()}
    user = address.username or os.environ.get("PGUSER") or ""
    name = [*query.get("dbname", []), address.database or os.environ.get("PGDATABASE") or user][0]
    ports = query.get("port") or [str(address.port or os.environ.get("PGPORT") or _PORT)]
    host_names = [*query.get("host", []), *query.get("hostaddr", []), *filter(None, [address.host])]
    hosts = host_names or [os.environ.get("PGHOST") or ""]
    pairs = [_host_and_port(host) for host in hosts]
    return frozenset(("server", host, own or port, name) for host, own in pairs for port in ports)


def _host_and_port(text: str) -> tuple[str, str]:
    """Return a host in small letters, and its port if it names one; of this machine one name."""
    match = re.fullmatch(r"(?P<host>\[.*\]|[^:/]*):(?P<port>[0-9]+)", text)
    host, port = (match["host"], match["port"]) if match else (text, "")
    host = os.path.normpath(host) if host.startswith("/") else host.strip("[]").lower().rstrip(".")
    return "localhost" if host in _HERE else host, port


def _words(value: str | tuple[str, ...]) -> list[str]:
    """Return the words of a part of a URL, which may be there several times, or hold several."""
    values = [value] if isinstance(value, str) else value
    return [word.strip() for each in values for word in each.split(",")]


def _is_within(paths: Iterable[str], folders: Iterable[str]) -> bool:
    return any(Path(path).is_relative_to(folder) for path in paths for folder in folders)
