"""A dataset as its owner describes it: its place, its privacy unit and its columns."""

import copy
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ...base.arguments import exact_text, file_path, read_name, refuse_one_shot, text
from ...base.digests import digest
from ...base.error_boundary import error_boundaries
from ...base.numbers import count
from ...base.text_tables import listing
from ...base.warning import warn
from ...errors import InvalidArgument, MissingColumn, preview
from ...privacy.sensitivity import Unit, columns_of_unit, one_record, plain_unit, read_unit
from ...selection.bins import is_of_cells
from ...selection.payment import About, Account
from ..engines.reach import ReachCheck
from ..engines.sql_queries import SqlQuery
from ..formats.file_paths import are_paths, file_format, names_files
from ..formats.text_form import CsvFile
from .columns import Column, read_column
from .declarations import few, nearest, read_mapping, wrong
from .interchange.dialect import in_form_of_resource
from .interchange.metadata import ForeignSchema, smartnoise_dataset, table_schema_columns
from .look_alikes import look_alikes
from .sources import place_of, with_cell_forms

MOST_ROWS = 10**6
NO_UNIT = "it bounds the rows of one privacy unit: name their column as privacy_unit"
_COLUMNS_IN_REPR = 20
_FIELDS_IN_REPR = ("privacy_unit", "max_contributions", "name")

Pays = Callable[[str | None], Account]
"""Returns the account of a dataset, or that of an analyst on it."""


@error_boundaries
@dataclass(frozen=True, slots=True, repr=False, eq=False, init=False)
class Dataset:
    """Data with a public description, which every verb accepts as its data and reads arguments from.

        people = discreet.Dataset(
            "people.csv",
            columns={"age": {"type": "integer", "minimum": 0, "maximum": 120},
                     "city": {"type": "string", "enum": ["Basel", "Bern", "Zürich"]}},
            privacy_unit="user_id",
            max_contributions=3,
        )
        discreet.median(people, "age", epsilon=1)

    The owner of the data writes the description from public knowledge, without looking at the rows. A verb reads
    candidates, grids, groups, the privacy unit and its contribution bound from it, and rejects arguments that
    contradict it before any private data are read. Cells that don't fit are treated like cells outside the
    candidates. `mode` and `top_k` leave them out. Verbs over numbers round them to the nearest end of the grid, or
    leave them out if they are not numbers.

    Args:
        source: the data, in any form that verbs accept as a table, such as a path, a frame or
            `discreet.scan_query(...)`. They are not read.
        columns: for every column that may be asked about, a dict: "type" is "integer", "number", "string",
            "boolean", "date" or "datetime". Bound it by "minimum" and "maximum", or list its values in "enum".
            "step" is the distance of answers between the bounds, 1 for integers. "decimal", "thousands", "units",
            "percent", "negative" and "date" say how its cells are written, as for `discreet.scan_csv`.
        privacy_unit: the column of the privacy unit, or a list of columns. All rows with equal values there are one
            record. By default every row is a record.
        max_contributions: the most rows of one privacy unit that count, for verbs over numbers.
        name: a name for the dataset, which is also the name of its budget in a ledger.

    Raises:
        InvalidDescription: if a declaration is invalid. The message shows which one and why.
        InvalidArgument: if another argument is invalid.

    Side channels: none, because nothing is read.
    """

    source: Any
    _columns: tuple[Column, ...]
    privacy_unit: Unit | None
    max_contributions: int | None
    name: str | None
    _pays: Pays | None

    def __init__(
        self,
        source: object,
        columns: Mapping[str, Mapping[str, object]],
        *,
        privacy_unit: str | Sequence[str] | None = None,
        max_contributions: int | None = None,
        name: str | None = None,
    ) -> None:
        if isinstance(source, Dataset):
            raise InvalidArgument("source must be the data themselves, not another description")
        refuse_one_shot(source, "source")
        unit = read_unit(privacy_unit)
        fields = {
            "source": _read_source(source),
            "_columns": _read_columns(columns),
            "privacy_unit": unit,
            "max_contributions": _read_bound(max_contributions, unit),
            "name": None if name is None else read_name(name, "name"),
            "_pays": None,
        }
        for field, value in fields.items():
            object.__setattr__(self, field, value)
        with_cell_forms(self.source, self._columns)
        for doubt in _doubts(self):
            warn(f"{self.label}: {doubt}")

    @classmethod
    def from_table_schema(
        cls,
        source: object,
        schema: ForeignSchema,
        *,
        privacy_unit: str | Sequence[str] | None = None,
        max_contributions: int | None = None,
        name: str | None = None,
    ) -> "Dataset":
        """Return a dataset with the columns that a Frictionless Table Schema declares.

        Fields of types that questions don't support are skipped. The properties "step", "units", "percent" and
        "negative", given next to the type, are also read. Properties that describe how cells are written become the
        matching options of `Dataset`, or are rejected. See docs/how-to/describe_your_data.md for the full list.

        Args:
            source: as for `Dataset`.
            schema: the schema, as a dict or the path of a JSON file, or a data package with one resource, which
                also gives the dialect and encoding of the files.
            privacy_unit: as for `Dataset`, because a Table Schema cannot express it.
            max_contributions: as for `Dataset`.
            name: as for `Dataset`.

        Raises:
            InvalidDescription: if it is not a Table Schema, or has an invalid declaration.
        """
        columns, form = table_schema_columns(schema)
        return cls(
            in_form_of_resource(source, form),
            columns,
            privacy_unit=privacy_unit,
            max_contributions=max_contributions,
            name=name,
        )

    @classmethod
    def from_smartnoise(
        cls,
        source: object,
        metadata: ForeignSchema,
        *,
        table: str | None = None,
        name: str | None = None,
    ) -> "Dataset":
        """Return a dataset described by SmartNoise or Lomas metadata.

        `private_id` names the privacy unit and `max_ids` its bound, unless `row_privacy` makes a row a record.
        lower, upper and categories become minimum, maximum and enum. The number of rows is ignored. Unknown
        properties, and values other than booleans where a boolean is needed, are rejected. See
        docs/how-to/describe_your_data.md for the full list.

        Args:
            source: as for `Dataset`.
            metadata: as a dict, or the path of a YAML file (which needs PyYAML) or a JSON file.
            table: the table, if the metadata have several.
            name: as for `Dataset`.

        Raises:
            InvalidDescription: if they are not such metadata, or have an invalid declaration.
            MissingPackage: if PyYAML is not installed.
        """
        return cls(source, name=name, **smartnoise_dataset(metadata, table))

    @property
    def columns(self) -> Mapping[str, Column]:
        """The declared columns by name."""
        return MappingProxyType({column.name: column for column in self._columns})

    def column(self, name: object, argument: str = "column") -> Column:
        """Return a declared column.

        Raises:
            MissingColumn: if the description has no column of that name.
        """
        text, columns = exact_text(name), self.columns
        if text is not None and text in columns:
            return columns[text]
        names = few([repr(column) for column in columns])
        if is_of_cells(name):
            raise MissingColumn(
                f"{argument}: one column is asked for here, got {preview(name)}. Several are for counts, keys, "
                "mode, top_k and by"
            )
        if name is None:
            raise MissingColumn(f"{argument}: name a column of {self.label}. It has {names}")
        raise MissingColumn(
            f"{argument}: the description of {self.label} has no column "
            f"{preview(name)}{nearest(name, columns)}. It has {names}"
        )

    @property
    def label(self) -> str:
        """The name of the dataset in messages."""
        return "the data" if self.name is None else self.name

    @property
    def is_text(self) -> bool:
        """Whether its files are untyped text by their names, which is CSV or JSON lines."""
        if not names_files(self.source):
            return False
        first = self.source[0] if isinstance(self.source, tuple) else self.source
        return isinstance(first, CsvFile) or file_format(Path(first)) in ("CSV", "JSON", "Excel")

    @property
    def digest(self) -> str:
        """The version and the SHA-256 of all declarations, except the name and descriptive texts."""
        return digest(
            {
                "source": self.place,
                "privacy_unit": self.privacy_unit,
                "max_contributions": self.max_contributions,
                "columns": {name: column.plain for name, column in self.columns.items()},
            }
        )

    @property
    def about(self) -> About:
        """The part of the description that a ledger keeps."""
        columns = tuple(map(str, self._columns))
        return replace(
            self.whereabouts,
            digest=self.digest,
            privacy_unit=self.privacy_unit,
            max_contributions=self.max_contributions,
            columns=columns,
        )

    @property
    def whereabouts(self) -> About:
        """The key by which a ledger finds its budgets, which is its name and the place of the data."""
        place = self.place if self.place is None else json.loads(json.dumps(self.place))
        return About(self.name, source=place)

    def about_now(self) -> tuple[About, ReachCheck]:
        """Return the same, with the current reach of a table or a query on its owner's connection.

        Raises:
            UnreadableData: if the database cannot be queried, or the query fails.
        """
        about, check = self.about, ReachCheck(self.label, with_views=True)
        if not (isinstance(self.source, SqlQuery) and self.source.is_described):
            return about, check
        self.source.ask(check)
        assert check.reach is not None
        return replace(about, reach=check.reach.as_dict), check

    def question(self) -> tuple[Any, Callable[[], About]]:
        """Return the source for one question and a function that describes it. They check each other."""
        if not (isinstance(self.source, SqlQuery) and self.source.is_described):
            return self.table, lambda: self.about
        check = ReachCheck(self.label)
        return replace(self.source, check=check), lambda: replace(self.about, check=check)

    @property
    def table(self) -> Any:
        """The data as verbs accept them, with the forms of cells for text files."""
        return with_cell_forms(self.source, self._columns)

    @property
    def place(self) -> object:
        """The place of the data in plain values: one or more paths, a table or a query. None for data in memory."""
        return place_of(self.source)

    def account(self, analyst: str | None = None) -> Account | None:
        """Return the account that its description names for releases, or None if it names none."""
        return None if self._pays is None else self._pays(analyst)

    def _repr_html_(self) -> str:
        unit = self.privacy_unit
        bounded = f", {self.max_contributions} rows each" if self.max_contributions else ""
        about = (
            "every row is a record" if unit is None else f"{one_record(unit)} are a record{bounded}"
        )
        caption = f"{self.name or 'Dataset'}: {_source_in_words(self.source)}; {about}"
        return listing(self._columns, caption).html()

    def __repr__(self) -> str:
        more = (
            f"; {len(self._columns) - _COLUMNS_IN_REPR:,} more"
            if len(self._columns) > _COLUMNS_IN_REPR
            else ""
        )
        columns = "; ".join(map(str, self._columns[:_COLUMNS_IN_REPR])) + more
        parts = [_source_in_words(self.source), f"columns=[{columns}]"]
        fields = {name: getattr(self, name) for name in _FIELDS_IN_REPR}
        fields["privacy_unit"] = plain_unit(self.privacy_unit)
        parts += [f"{name}={value!r}" for name, value in fields.items() if value is not None]
        return f"Dataset({', '.join(parts)})"


def _doubts(dataset: Dataset) -> Iterator[str]:
    """Yield doubts about a description that can be accepted."""
    for name, column in dataset.columns.items():
        doubt = look_alikes(column.enum or ())
        if doubt is not None:
            yield (
                f"of the values of column {preview(name)}, {doubt}. Cells are compared letter by "
                "letter"
            )
    unit, columns = columns_of_unit(dataset.privacy_unit), [*dataset.columns]
    for name in () if _has_schema(dataset.source) else unit:
        if name not in columns:
            yield (
                f"privacy_unit {preview(name)} is not one of the declared columns{nearest(name, columns)}, and the "
                "data have no schema by which a wrong name is seen: with one, no row counts. Declare the column"
            )


def _has_schema(source: Any) -> bool:
    """Return whether a column that is not there is seen; in JSON lines and lists of dicts its cells are missing."""
    first = source[0] if isinstance(source, list | tuple) and source else source
    if isinstance(first, Mapping) and first is not source:
        return False
    return not (isinstance(first, str | Path) and file_format(Path(first)) == "JSON")


def with_name(dataset: Dataset, name: str) -> Dataset:
    """Return the dataset under a name.

    Raises:
        InvalidArgument: if it has another.
    """
    if dataset.name not in (None, name):
        raise InvalidArgument(f"the data are described as {dataset.name}, not as {name}")
    dataset_copy = copy.copy(dataset)
    object.__setattr__(dataset_copy, "name", name)
    return dataset_copy


def declared_unit(dataset: Dataset, unit: Unit | None) -> Unit | None:
    """Return the declared privacy unit.

    Raises:
        InvalidArgument: if another was given.
    """
    own_unit = dataset.privacy_unit
    if unit is None or unit == own_unit:
        return own_unit
    words = "every row as a record" if own_unit is None else one_record(own_unit)
    raise InvalidArgument(
        f"privacy_unit is {preview(unit)}, but the description of {dataset.label} declares "
        f"{words}. Leave privacy_unit out"
    )


def with_account(dataset: Dataset, pays: Pays) -> Dataset:
    """Return the dataset with the account that is charged for releases about it."""
    dataset_copy = copy.copy(dataset)
    object.__setattr__(dataset_copy, "_pays", pays)
    return dataset_copy


def _read_source(source: Any) -> Any:
    """Return the source; paths as plain values, read once. Texts in a list are paths: they are no table."""
    if isinstance(source, list | tuple) and are_paths(source):
        return tuple(_read_source(Path(one) if type(one) is str else one) for one in source)
    if issubclass(type(source), str):
        path = text(source, "source")
        file_path(path, "source")  # as it is written, if a file can have it
        return path
    return file_path(source, "source") if issubclass(type(source), os.PathLike) else source


def _read_columns(entry: object) -> tuple[Column, ...]:
    """Return the declared columns."""
    table = read_mapping(entry, ("columns",))
    if not table:
        raise wrong(("columns",), "give at least one, for what may be asked about")
    return tuple(read_column(name, one, ("columns", name)) for name, one in table.items())


def _read_bound(bound: object, unit: Unit | None) -> int | None:
    """Return the contribution bound."""
    if bound is None:
        return None
    if unit is None:
        raise wrong(("max_contributions",), NO_UNIT)
    try:
        return count(bound, "max_contributions", most=MOST_ROWS)
    except InvalidArgument as error:
        message = str(error)
    raise wrong(("max_contributions",), message)


def _source_in_words(source: Any) -> str:
    """Return the source for a repr: where it is, or its type; never its content."""
    place = place_of(source)
    if isinstance(source, str | os.PathLike):
        return repr(os.fspath(source))
    if isinstance(source, tuple) and place is not None:
        return f"{len(source)} files"
    return preview(source) if not isinstance(source, SqlQuery) else repr(source)
