"""The extent of a source: files, and database tables. Sources with overlapping extents may hold the same records.

A database is one whatever its URL says besides: a file by its device and inode, a server's by host, port and name,
and by the server's own name for itself. No role, option or spelling tells two databases apart.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..engines.query_tables import QueryTables, files_in, read_query_tables, tables_in
from .sources import files_at, files_by_path, folders_of, is_query, is_there, list_files

if TYPE_CHECKING:
    from sqlalchemy import URL

_PORT = "5432"
_BETWEEN = ":"
_HERE = ("", "localhost", "127.0.0.1", "::1", "/var/run/postgresql", "/run/postgresql", "/tmp")
"""Spellings of this machine."""


@dataclass(frozen=True, slots=True)
class Extent:
    """The files and tables that a source covers.

    Attributes:
        files: files of rows, by device and inode; by its path one that is not there.
        paths: the paths of those that are not there yet.
        folders: the folders among the places: whatever will be in them is covered.
        databases: the database of a query, by all that tells which it is.
        tables: names of its tables, `schema.name` in small letters, or `.name` where the schema is not known; None
            for all of them.
        numbers: by which the database knows them.
    """

    files: frozenset[object] = frozenset()
    paths: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    databases: frozenset[object] = frozenset()
    tables: frozenset[str] | None = frozenset()
    numbers: frozenset[int] = frozenset()

    def overlaps(self, other: "Extent") -> bool:
        """Return whether two sources have a file or a table in common, as far as can be told."""
        ours, theirs = self.files | self.databases, other.files | other.databases
        if self.files & theirs or other.files & ours or {*self.paths} & {*other.paths}:
            return True
        if _is_within(self.paths, other.folders) or _is_within(other.paths, self.folders):
            return True
        return bool(self.databases & other.databases) and self._shares_tables(other)

    def _shares_tables(self, other: "Extent") -> bool:
        if self.tables is None or other.tables is None or self.numbers & other.numbers:
            return True
        return any(_same_table(one, two) for one in self.tables for two in other.tables)

    def shared(self, other: "Extent") -> str:
        """Return the common tables of two sources, in words."""
        if self.tables is None or other.tables is None or not self.databases & other.databases:
            return "the same data"
        pairs = ((one, two) for one in self.tables for two in other.tables)
        names = sorted({one.lstrip(".") for one, two in pairs if _same_table(one, two)})
        return (
            f"the table{'s' * (len(names) > 1)} {', '.join(names)}" if names else "the same tables"
        )


def extent_of(place: Any, tables: Mapping[str, Any] | QueryTables | None = None) -> Extent | None:
    """Return the extent of a place; None for data in memory.

    Args:
        place: where the data are, as `sources.place_of` says.
        tables: the tables of a query, as the catalogue of its database told; None where nobody asked it: then those
            that the query names, or all of the database where it cannot be taken apart.
    """
    if place is None:
        return None
    if not is_query(place):
        return _of_paths(place)
    query_tables = read_query_tables(tables) if isinstance(tables, Mapping) else tables
    url = place["connection"]
    if query_tables is None:
        files = _of_files(files_in(place["query"]) if url.startswith("duckdb") else ())
        return replace(files, databases=database_ids(url), tables=tables_in(place["query"]))
    return replace(
        _of_files(query_tables.files),
        databases=database_ids(url, query_tables.database),
        tables=None
        if query_tables.tables is None
        else frozenset(name.lower() for name in query_tables.tables),
        numbers=frozenset(query_tables.numbers),
    )


def files_of_source(
    place: Any, tables: Mapping[str, Any] | None = None
) -> Iterator[tuple[object, str]]:
    """Return the files that a source stands for now, with their paths; of a query those that it reads.

    Args:
        place: where the data are.
        tables: the tables of a query, as the catalogue of its database told.
    """
    if not is_query(place):
        return list_files(place)
    if tables is not None:
        names: Iterable[str] = read_query_tables(tables).files
    else:
        names = files_in(place["query"]) if place["connection"].startswith("duckdb") else ()
    return list_files([name for name in names if "://" not in name])


def _of_files(names: Iterable[str]) -> Extent:
    """Return the extent of the files that a query names: paths, patterns, and addresses."""
    paths = [name for name in names if "://" not in name]
    addresses = frozenset[object](name for name in names if "://" in name)
    extent = _of_paths(paths)
    return replace(extent, files=extent.files | addresses)


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
    device, _, number = record.partition(_BETWEEN)
    if number and not os.path.exists(path):
        return frozenset({path, (int(device), int(number))})
    return files_at(path) | {path}


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


def _same_table(one: str, other: str) -> bool:
    """Return whether two names may be of one table: a name without a schema may have any."""
    (schema, _, name), (schema_2, _, name_2) = one.partition("."), other.partition(".")
    return name == name_2 and (schema == schema_2 or not schema or not schema_2)


def _is_within(paths: Iterable[str], folders: Iterable[str]) -> bool:
    return any(Path(path).is_relative_to(folder) for path in paths for folder in folders)
