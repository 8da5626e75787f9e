"""Calls of verbs about a described dataset: its declarations are filled in, contradictions are refused.

Every argument is settled before the source is handed to the verb, so a refusal comes before anything is opened.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from ...base.arguments import column_name
from ...base.doors import fix
from ...base.warning import warn
from ...errors import DiscreetError, InvalidArgument
from ...selection.payment import UNDESCRIBED, describe_account, is_quoted
from ...selection.releases import Release
from ..engines import declared_categories, declares_truths, shows_types
from ..formats.file_paths import names_files
from ..verb_table import Asks
from . import tally
from .configuration import Configuration, find_configuration, read_configuration
from .dataset import Dataset
from .dataset_terms import fill_terms
from .sources import files_at, list_files, place_of


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


def _warn_of_objects(table: Any, column: object) -> None:
    """Warn where pandas has Python objects as numbers: text among them is left out, and no type tells of it."""
    if type(table).__module__.partition(".")[0] != "pandas":
        return
    is_table = hasattr(table, "columns")
    cells = table.get(column) if is_table and isinstance(column, str) else table
    if str(getattr(cells, "dtype", None)) == "object":
        of = f"column {column!r} holds" if is_table else "the data hold"
        warn(
            f"{of} Python objects: cells that are not numbers, dates or truths, such as text, count as "
            f"missing. If text spells numbers, {fix('numbers of a text')}"
        )


def _fill_by_types(table: object, column: object, asks: Asks, terms: dict[str, Any]) -> None:
    """Fill in the groups and the bounds that the types of columns declare."""
    _fill_groups(table, terms)
    if asks == "sums":
        _fill_truths(table, column, terms)


def _fill_groups(data: object, terms: dict[str, Any]) -> None:
    """Fill in the groups that the type of the column of groups declares; a quote opens no data to see them."""
    by, is_polars = terms.get("by"), type(data).__module__.partition(".")[0] == "polars"
    if not isinstance(by, str) or terms.get("groups") is not None or not is_polars:
        return
    if shows_types(data) or not is_quoted(terms):
        categories = declared_categories(data, column_name(by, "by"))
        terms.update({} if categories is None else {"groups": categories})


def _fill_truths(table: object, column: object, terms: dict[str, Any]) -> None:
    """Fill in the bounds of truths where the type of the column says so; a quote opens no data to see it."""
    is_open = all(terms.get(name) is None for name in ("minimum", "maximum", "bounds_share"))
    if is_open and (shows_types(table) or not is_quoted(terms)) and declares_truths(table, column):
        terms.update({"minimum": False, "maximum": True})


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


_P = ParamSpec("_P")
_T = TypeVar("_T")

_inside: ContextVar[bool] = ContextVar("_inside", default=False)
"""Whether a verb works: what it asks other verbs is about the same data, which were looked at."""


@contextmanager
def inside_a_verb() -> Iterator[None]:
    """Let verbs be asked about data that were looked at: their declaration is not looked for again."""
    token = _inside.set(True)
    try:
        yield
    finally:
        _inside.reset(token)


def takes_dataset(
    verb: Callable[_P, _T],
    asks: Asks,
    check_names: Callable[[Mapping[str, object]], object] = lambda _: None,
) -> Callable[_P, _T]:
    """Let a verb take a `Dataset` as its data.

    Args:
        verb: the verb.
        asks: the use that it makes of data.
        check_names: raises for keyword arguments that it does not have.
    """
    signature = inspect.signature(verb)
    place = list(signature.parameters).index("data")

    @wraps(verb)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        check_names(kwargs)
        is_outer = not _inside.get()
        with inside_a_verb():
            data = args[place] if len(args) > place else kwargs.get("data")
            if isinstance(data, Dataset):
                bound = signature.bind_partial(*args, **kwargs).arguments
                terms = fill_terms(data, _with_terms(bound), asks, verb.__name__)
                answer = verb(**terms)  # type: ignore[call-arg]
                if is_outer and terms.get("ledger") is None:
                    note_answer(verb.__name__, data, answer)
                return answer
            column = _column(args, kwargs, place)
            if is_outer:
                check_raw(data, column, is_charged=kwargs.get("ledger") is not None)
                if asks in ("numbers", "sums"):
                    _warn_of_objects(data, column)
            _fill_by_types(data, column, asks, kwargs)
            if asks not in ("values", "keys") or column is not None:
                _describe_ledger(kwargs)
            answer = verb(*args, **kwargs)
            if is_outer and kwargs.get("ledger") is None:
                note_answer(verb.__name__, data, answer, has_column=column is not None)
            return answer

    return call


def note_answer(verb: str, data: object, answer: object, *, has_column: bool = True) -> None:
    """Add an answer without a ledger to the tally of this process; whatever goes wrong there, the answer stands."""
    if not isinstance(answer, Release) or tally.is_off():
        return
    with suppress(OSError, DiscreetError, Warning):
        is_dataset = isinstance(data, Dataset)
        is_path = not is_dataset and names_files(data, column=has_column)
        place = data.place if isinstance(data, Dataset) else place_of(data) if is_path else None
        files = tally.places_of_files(list_files(place)) if place is not None else ()
        memory = tally.place_in_memory(data) if place is None and not is_dataset else None
        entry = tally.entry_of(verb, answer, files if memory is None else [memory])
        if entry is not None:
            tally.note_here(entry)


def _with_terms(bound: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by name, the shared ones among them."""
    arguments: dict[str, Any] = {**bound, **bound.pop("terms", {})}
    arguments.pop("terms", None)
    return arguments


def _describe_ledger(kwargs: dict[str, Any]) -> None:
    """Note in a ledger, if one is charged, that the data have no description."""
    if kwargs.get("ledger") is not None:
        kwargs["ledger"] = describe_account(kwargs["ledger"], UNDESCRIBED)


def _column(args: tuple[Any, ...], kwargs: Mapping[str, Any], place: int) -> object:
    """Return the column of a call; without one, values are counted as scores are, in no known unit."""
    return args[place + 1] if len(args) > place + 1 else kwargs.get("column")
