"""A question as a form holds it: a named one, or a verb on a declared column."""

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from ...base.error_boundary import public_errors
from ...errors import InvalidArgument, preview
from ...ledger import Quote
from ...privacy.sensitivity import Unit, columns_of_unit
from ...selection.any_column import AnyColumn
from ...selection.bins import BIN_OPTIONS, Bins, WithMissing, part_name
from ...selection.releases import Release
from ...tables.datasets.columns import Column
from ...tables.datasets.model import keys_of
from ...tables.verb_table import VERBS, VerbFacts
from ..asking.connection import Connection
from .sessions import Fields


def _whole(text: str) -> Any:
    """Return a whole number, or the text as it is, which the library rejects by name."""
    return int(text) if text.isascii() and text.isdigit() else text


def _parts_of_list(text: str) -> list[str]:
    """Return the parts of a list."""
    return text.replace(",", " ").split()


_LINE_READERS: Mapping[str, Callable[[str], Any]] = {
    **dict.fromkeys(("epsilon", "delta", "alpha", "by", "other", "q"), str),
    **dict.fromkeys(("minimum", "maximum", "step", "max_sum", "min_sum"), str),
    **dict.fromkeys(("k", "supply", "max_groups", "max_candidates", "minimum_count", "most"), _whole),
    "alphas": _parts_of_list,
}  # fmt: skip
"""How the arguments are read that a form has in one line."""

_ARGUMENT_READERS: Mapping[str, Callable[[str], Any]] = {
    **_LINE_READERS,
    "statement": str,
    "gap": bool,
}
FIELDS = (
    "dataset", "question", "verb", "column", "column_2", *_ARGUMENT_READERS, "by_2", "bins", *BIN_OPTIONS,
    "candidates",
)  # fmt: skip
"""The fields of a question; others, such as the name of the request, say how it is asked."""

_LISTED = 30
"""As many values of a column are listed."""


@dataclass(frozen=True, slots=True)
class QuestionForm:
    """A question in the fields of a form.

    Attributes:
        fields: the fields of the form, those that hold something.
    """

    fields: Fields

    @property
    def dataset(self) -> str:
        """The name of the dataset."""
        return self.fields.get("dataset", "")

    @property
    def is_named(self) -> bool:
        """Whether it is one of the owner's questions."""
        return "question" in self.fields

    @property
    def all_fields(self) -> Fields:
        """All fields of the form. Those left out are empty texts."""
        return {name: self.fields.get(name, "") for name in FIELDS}

    @property
    def address(self) -> str:
        """The question as the part of an address behind the question mark."""
        return urlencode(self.fields)

    def quote(self, connection: Connection) -> Quote:
        """Return its price."""
        if self.is_named:
            return connection.quote(self.fields["question"], dataset=self.dataset)
        verb, column, terms = self._free(connection)
        return connection.quote_free(verb, self.dataset, column, **terms)

    def ask(self, connection: Connection, request: str, max_cost: str | None) -> Release:
        """Return its answer."""
        paying: dict[str, Any] = {"request": request, "max_cost": max_cost}
        if self.is_named:
            return connection.ask(self.fields["question"], dataset=self.dataset, **paying)
        verb, column, terms = self._free(connection)
        return connection.ask_free(verb, self.dataset, column, **paying, **terms)

    def columns(self, argument: str) -> list[str]:
        """Return the names of the columns, or of those of the groups."""
        return [self.fields[one] for one in (argument, f"{argument}_2") if one in self.fields]

    def _free(self, connection: Connection) -> tuple[str, AnyColumn, dict[str, Any]]:
        """Return the verb, the column or the cells if there are any, and the terms of a free question."""
        verb, names = (
            self.fields.get("verb", ""),
            {one: self.columns(one) for one in ("column", "by")},
        )
        declared = connection.columns(self.dataset)
        options = {one: one in self.fields for one in BIN_OPTIONS}
        bins = read_bins(self.fields.get("bins", ""), itertools.chain(*names.values()), options)
        column, by = (
            _one_or_several([bins.get(one, one) for one in some]) for some in names.values()
        )
        terms = {
            n: read(self.fields[n]) for n, read in _ARGUMENT_READERS.items() if n in self.fields
        }
        terms |= {"by": by} if names["by"] else {}
        name = part_name(column)
        terms |= self._candidates(declared.get(name) if isinstance(name, str) else None)
        return (
            verb,
            column,
            {k: v for k, v in terms.items() if k not in _TERMS_OF_VERBS or k in takes(verb)},
        )

    @public_errors()
    def _candidates(self, column: Column | None) -> dict[str, list[Any]]:
        """Return the possible answers, if the form lists some: texts that the column reads."""
        if "candidates" not in self.fields:
            return {}
        lines = [line.strip() for line in self.fields["candidates"].splitlines() if line.strip()]
        return {"candidates": lines if column is None else list(map(column.parse, lines))}


@public_errors()
def read_bins(
    text: str, columns: Iterable[str], options: Mapping[str, Any]
) -> dict[str, Bins | WithMissing]:
    """Return the bins in the lines of a text, by their columns, such as "age: 0 to 120 by 10" or "age: 0, 18, 65".

    The word "missing" in place of edges is the column `WithMissing`.

    Args:
        text: the lines.
        columns: the columns of the question.
        options: the arguments of all bins that are yes or no.

    Raises:
        InvalidArgument: if a line does not begin with a column of the question, or its edges cannot be read.
    """
    names, bins = sorted(columns, key=len, reverse=True), dict[str, Bins | WithMissing]()
    for line in filter(None, map(str.strip, text.splitlines())):
        name = next((one for one in names if line.startswith(f"{one}:")), None)
        if name is None or name in bins:
            raise InvalidArgument(
                "bins: begin a line with a column of the question and a colon, once for a column, as in "
                f"age: 0 to 120 by 10, got {preview(line)}"
            )
        bins[name] = _bins(name, line[len(name) + 1 :], options)
    return bins


def _bins(column: str, edges: str, options: Mapping[str, Any]) -> Bins | WithMissing:
    """Return the bins of one line, or the column with no value as a value."""
    if edges.strip() == "missing":
        return WithMissing(column)
    lo, is_range, rest = edges.partition(" to ")
    if not is_range:
        return Bins(column, edges=[one.strip() for one in edges.split(",")], **options)
    hi, _, step = rest.partition(" by ")
    return Bins(column, lo.strip(), hi.strip(), step.strip(), **options)


def _one_or_several(columns: list[str | Bins | WithMissing]) -> AnyColumn:
    """Return one column or bins alone, several in a list, and None for none."""
    return columns if len(columns) > 1 else next(iter(columns), None)


def takes(verb: str) -> tuple[str, ...]:
    """Return the terms of questions with a verb, or none for a verb that is not known."""
    return keys_of(verb) if verb in VERBS else ()


def own_lines(verb: str) -> dict[str, bool]:
    """Return the arguments of a verb's own that a form has in one line, and whether the verb needs each."""
    facts = VERBS.get(verb, VerbFacts())
    return {name: name in facts.needs for name in facts.own if name in _LINE_READERS}


_TERMS_OF_VERBS = frozenset(term for verb in VERBS for term in keys_of(verb))
"""Terms of some verbs alone. A form may hold one for a verb that was chosen before; then it is left out."""


def read_question_form(fields: Mapping[str, str]) -> QuestionForm:
    """Return the question that the fields of a form hold."""
    return QuestionForm({name: fields[name] for name in FIELDS if fields.get(name)})


def describe_values(column: Column) -> str:
    """Return the bounds or the values of a column, or an empty text if none are declared."""
    if column.enum is not None:
        more = len(column.enum) - _LISTED
        return ", ".join(map(str, column.enum[:_LISTED])) + (f", … (+{more:,})" if more > 0 else "")
    if column.minimum is None and column.maximum is None:
        return ""
    low, high = ("…" if one is None else str(one) for one in (column.minimum, column.maximum))
    return f"{low} – {high}" if column.step is None else f"{low} – {high} (+{column.step})"


def columns_for(verb: str, columns: Iterable[Column], unit: Unit | None) -> list[Column]:
    """Return the columns of which a verb can be asked, best first: with declared answers, and no id of a unit."""
    facts = VERBS.get(verb, VerbFacts())
    by_value = facts.asks == "values"
    fitting = [
        one
        for one in columns
        if facts.asks in ("values", "records", "keys")
        or verb == "check"
        or (one.has_quantiles if facts.takes_dates else one.is_numeric)
        or (facts.asks == "sums" and one.type == "boolean")
    ]
    ids = columns_of_unit(unit)

    def is_worse(one: Column) -> tuple[bool, bool]:
        return one.name in ids, (one.values if by_value else one.grid or one.enum) is None

    return sorted(fitting, key=is_worse)
