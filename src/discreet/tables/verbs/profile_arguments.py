"""The arguments of a profile: the table with its columns, and the kinds of columns that the caller says."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from ...base.arguments import column_name, exact_text, read_sequence
from ...base.doors import fix
from ...base.numbers import count, spell
from ...base.warning import warn
from ...errors import InvalidArgument, MissingColumn, preview
from ...mechanisms.contract import read_parameter
from ...privacy.calibration import read_share
from ...privacy.sensitivity import Neighbors, Unit, columns_of_unit, read_unit
from ...selection.payment import UNDESCRIBED
from ..datasets import Dataset
from ..datasets.calls import check_raw
from ..datasets.columns import TYPES
from ..datasets.dataset import declared_unit
from ..datasets.dataset_terms import declared_bound
from ..datasets.declarations import few
from ..engines.column_list import (
    ColumnKind,
    column_kind,
    holds_integers,
    list_columns,
    shown_columns,
)
from ..engines.csv_files import can_be_name

_MOST_COLUMNS = 1000
_MOST_UNITS = 10**18

MOST_RISK = Fraction(1, 100)
"""Delta times the units that there may be is at most this: the chance that any of them is shown as it is."""


@dataclass(frozen=True, slots=True)
class StatedKinds:
    """The kinds of columns that the caller says."""

    by_name: Mapping[str, ColumnKind]

    @classmethod
    def read(cls, numbers: object, dates: object, texts: object) -> "StatedKinds":
        """Return the kinds by column.

        Raises:
            InvalidArgument: if a column is said to have two.
        """
        kinds: dict[str, ColumnKind] = {}
        lists: Sequence[tuple[ColumnKind, object]] = (
            ("numbers", numbers), ("dates", dates), ("texts", texts),
        )  # fmt: skip
        for kind, names in lists:
            for name in _names(names, kind):
                if kinds.setdefault(name, kind) != kind:
                    raise InvalidArgument(
                        f"column {preview(name)} is said to hold {kinds[name]} and {kind}: say one "
                        "of them"
                    )
        return cls(kinds)


@dataclass(frozen=True, slots=True)
class ProfileTerms:
    """The price of a profile, or of one of its columns, and the limits on the values of a column of texts.

    Attributes:
        epsilon: of all of it together.
        delta: likewise, or None.
        neighbors: the neighbouring relation.
        minimum_count: the least number of units that share a value.
        most: the most values.
    """

    epsilon: Fraction
    delta: Fraction | None
    neighbors: Neighbors
    minimum_count: int
    most: int

    @classmethod
    def read(
        cls,
        epsilon: object,
        risk: tuple[object, object],
        limits: tuple[object, object],
        neighbors: Neighbors,
    ) -> "ProfileTerms":
        """Return the terms of a profile.

        Args:
            epsilon: of all of it.
            risk: its delta, and the most units that there may be.
            limits: the least number of units that share a value, and the most values.
            neighbors: the neighbouring relation.

        Raises:
            InvalidArgument: if there is no epsilon, or delta is too large for the units that there may be.
        """
        (delta, at_most), parameter = risk, read_parameter(epsilon, None, None)
        if parameter is None:
            raise InvalidArgument("how much privacy? give epsilon, for example 1")
        share = None if delta is None else read_share(delta)
        units = None if at_most is None else count(at_most, "at_most", most=_MOST_UNITS)
        if units is not None and share is None:
            raise InvalidArgument("at_most says whether delta is small enough: give delta too")
        if units is not None and share is not None and share * units > MOST_RISK:
            raise InvalidArgument(
                f"delta = {spell(share)} is too large for {units:,} units: times that number it "
                f"may be {spell(MOST_RISK)} at most, so give {spell(MOST_RISK / units)} or less"
            )
        least = count(limits[0], "minimum_count", most=_MOST_UNITS)
        return cls(parameter.value, share, neighbors, least, count(limits[1], "most"))


@dataclass(frozen=True, slots=True)
class TableToProfile:
    """The table, its records and its description, if it has one."""

    data: Any
    dataset: Dataset | None
    about: Any
    unit: Unit | None
    rows: int

    @classmethod
    def read(
        cls, data: object, unit: object, most: object, *, is_charged: bool
    ) -> "TableToProfile":
        """Return the table with its records: as they are given, and as its description declares them.

        Raises:
            InvalidArgument: if they contradict one another, or there is a bound and no unit.
        """
        privacy_unit = read_unit(unit)
        if isinstance(data, Dataset):
            own_unit, bound = declared_unit(data, privacy_unit), declared_bound(data, most)
            source, about = data.question()
            return cls(source, data, about(), own_unit, _bound(own_unit, bound))
        check_raw(data, "", is_charged=is_charged)
        return cls(data, None, UNDESCRIBED, privacy_unit, _bound(privacy_unit, most))

    def columns(self, names: object, kinds: StatedKinds) -> list[str]:
        """Return the names of the columns that are profiled, but for those of the privacy unit.

        Raises:
            MissingColumn: if there is no such column.
            InvalidArgument: if nobody says what the columns are called.
        """
        all_names = list(self.dataset.columns) if self.dataset else list_columns(self.data)
        columns_to_profile = all_names if names is None else _names(names, "columns")
        if not columns_to_profile:
            raise InvalidArgument(
                "what are the columns called? no header or schema says it, or the first line looks like a row: "
                "give columns, the list of their names"
            )
        if all_names:
            every = (*columns_to_profile, *kinds.by_name, *columns_of_unit(self.unit))
            self._check_listed(all_names, every, is_by_header=names is None)
        strangers = [name for name in kinds.by_name if name not in columns_to_profile]
        if strangers:
            raise InvalidArgument(
                f"column {preview(strangers[0])} is none of those that are profiled"
            )
        to_profile = [name for name in columns_to_profile if name not in columns_of_unit(self.unit)]
        if not to_profile or len(to_profile) > _MOST_COLUMNS:
            raise InvalidArgument(
                f"a profile is of 1 to {_MOST_COLUMNS:,} columns without the privacy unit, got "
                f"{len(to_profile):,}"
            )
        return to_profile

    def _check_listed(
        self, all_names: Sequence[str], names: Iterable[str], *, is_by_header: bool
    ) -> None:
        """Raise for a column that is not there; warn of a first line that is taken for names and may be a row."""
        visible = all_names if self.dataset else shown_columns(self.data)
        for name in names:
            if name not in all_names:
                unnamed = "others, which are not shown, as they may be a row"
                raise MissingColumn(
                    f"there is no column {preview(name)}. There are {few(visible) or unnamed}"
                )
        if is_by_header and not visible and not all(map(can_be_name, all_names)):
            warn(
                "the first line is taken for the names of the columns, though it looks like a "
                "row. If it is one, say the names: " + fix("names of columns")
            )

    def kind(self, name: str, kinds: StatedKinds) -> ColumnKind | None:
        """Return the kind of a column: as it is said, as it is declared, or by its type; None if unknown."""
        if name in kinds.by_name and kinds.by_name[name] != "dates":
            return kinds.by_name[name]
        if self.dataset is not None:
            type_name = self.dataset.columns[name].type
            dates: dict[str, ColumnKind] = {"date": "dates", "datetime": "dates"}
            return "numbers" if TYPES[type_name].is_numeric else dates.get(type_name, "texts")
        kind = column_kind(self.data, name)
        return kind if kind in ("instants", "dates") else kinds.by_name.get(name, kind)

    def holds_integers(self, name: str) -> bool:
        """Return whether a column of numbers is one of whole numbers, as it is declared or by its type."""
        if self.dataset is not None:
            return self.dataset.columns[name].type == "integer"
        return holds_integers(self.data, name)

    @property
    def unit_terms(self) -> dict[str, Any]:
        """The privacy unit, as verbs take it."""
        return {} if self.unit is None else {"privacy_unit": self.unit}

    def bound_terms(self, name: str) -> dict[str, Any]:
        """Return the bound on the rows, or on the values, of a unit under the name that a verb has for it."""
        return {} if self.unit is None else {name: self.rows}


def _bound(unit: Unit | None, most: object) -> int:
    """Return the most rows of a unit that count in a column."""
    if unit is None and most is not None:
        raise InvalidArgument(
            "max_contributions bounds the rows of one privacy unit: name their column as privacy_unit"
        )
    return 1 if most is None else count(most, "max_contributions", most=10**6)


def _names(names: object, argument: str) -> list[str]:
    """Return distinct names of columns."""
    if exact_text(names) is not None:
        raise InvalidArgument(
            f"{argument} must be a list of names of columns, got {preview(names)}"
        )
    texts = read_sequence(cast("Any", names), argument, _MOST_COLUMNS)
    return list(dict.fromkeys(column_name(name, argument) for name in texts))
