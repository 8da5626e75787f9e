"""Whether a path is that of a dataset of the nearest discreet.toml: one rule for commands and verbs."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ..errors import InvalidArgument
from ..tables.paths import names_files
from ..warning import warn
from .configuration import Configuration, find_configuration, read_configuration
from .sources import files_at, place_of


@dataclass(frozen=True, slots=True)
class DeclaredSource:
    """A dataset that has the files of a path.

    Attributes:
        by: the file or the call that describes it.
        name: its name.
        is_whole: whether the path has all its files and no others.
    """

    by: Configuration
    name: str
    is_whole: bool


def find_by_path(data: object, column: object = None) -> DeclaredSource | None:
    """Return the described dataset that has files of a path, or None.

    Args:
        data: as a verb takes them; None for all that are no paths.
        column: the column that is asked about, if one is.

    Raises:
        InvalidDescription: if discreet.toml cannot be accepted: nobody can tell then whose budget pays.
    """
    if not names_files(data, column=column is not None):
        return None
    path = find_configuration()
    if path is None:
        return None
    configuration, ours = _read_if_new(path), files_at(place_of(data))
    sources = [
        DeclaredSource(configuration, name, ours == theirs)
        for name, dataset in configuration.datasets.items()
        if ours & (theirs := files_at(dataset.place))
    ]
    return min(sources, key=lambda one: not one.is_whole, default=None)


def check_raw(data: object, column: object, *, is_charged: bool) -> None:
    """Say that a path which was given to a verb is declared; refuse it where a ledger is charged.

    The budget that is charged is not that of the dataset, or its description would have come with the data.

    Raises:
        InvalidArgument: if a ledger is charged.
    """
    source = find_by_path(data, column)
    if source is None:
        return
    has = "is declared as" if source.is_whole else "has files of"
    advice = (
        f"{data} {has} {source.name} in {source.by.path}: ask about discreet.read_dataset({source.name!r}), which "
        "is charged to its budget"
    )
    if is_charged:
        raise InvalidArgument(advice)
    warn(advice)


def _read_if_new(path: Path) -> Configuration:
    """Return the configuration of a file; read again only if it was written since."""
    try:
        status = path.stat()
    except OSError:
        return read_configuration(path)
    return _read_version(path.absolute(), status.st_mtime_ns, status.st_size, status.st_ino)


@lru_cache(maxsize=8)
def _read_version(path: Path, time: int, size: int, number: int) -> Configuration:
    return read_configuration(path)
