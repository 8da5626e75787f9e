"""Results: a `Release`, which may be published.

Their words and tables are imported when they are first written, so that a first answer comes sooner.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic

from ..base.messages import AND, Message, gettext, join, plural
from ..errors import InvalidArgument
from ..privacy.contract import Guarantee
from ..privacy.sensitivity import Unit, plain_unit
from .candidate_types import T
from .shown_answers import (
    COUNTING,
    answer_in_words,
    are_counts,
    error_in_words,
    floor_counts,
    is_of_numbers,
    noise_in_words,
    note_of_counts,
    number_with_size,
)

if TYPE_CHECKING:
    from ..base.count_tables import CountTable
    from ..mechanisms.accuracy import ErrorBound
    from ..mechanisms.count_noise import NoiseChoice

_WITH_ERROR = COUNTING | {"limited_domain", "first_above"}
"""The mechanisms of which an answer says how far off it is, or that no error is known."""

_new, _set = object.__new__, object.__setattr__  # they are looked up in every short draw


@dataclass(frozen=True, eq=False)  # without slots: `with_value` copies all attributes at once
class Release(Generic[T]):
    """A private answer with its guarantee. All of it is public.

    A type checker infers the type of a single answer from its candidates, so `mode(..., candidates=["tea",
    "coffee"])` is a `Release[str]`. A plain `Release` has an answer of any type.

    Attributes:
        value: the answer: a candidate, or its index if no candidates were named. With `size=n`, a list of n
            candidates or an array of indices. With groups, a dict from groups to answers.
        guarantee: the guarantee of the whole release, all draws together.
        mechanism: the name of the mechanism.
        unit: the privacy unit: a column of which all rows with one value are one record, or a tuple of several, or
            None if every row is one.
        query: the question in words.
        candidates: the number of candidates, if it is known and finite.
        charged: whether a ledger was charged for it, or False if the same request was charged before, so that
            this answer was free, or None without a ledger, or if the account doesn't report it.
        counts: noisy counts of the answers, in the shape of the value: a list beside a list, with groups a dict, or
            None where they are not released.
        gap: how far ahead the winner was, or None if it was not released.
        other: the noisy number of units outside the answers, or None if it was not released.
        bounds: the bounds that were drawn for a sum or a mean, the lower one first, or None if they were known.
        digits: the number of digits to which the answer was drawn, if no candidates were named. Otherwise None.
        error_source: its `error`, or a function that computes it from public numbers on demand.
        noise: the noise of the numbers, and why, if there was a choice between two. Otherwise None. For an SQL
            statement with several columns, a dict from their names.
    """

    value: T
    guarantee: Guarantee
    mechanism: str
    unit: Unit | None = None
    query: str = ""
    candidates: int | None = None
    charged: bool | None = None
    counts: Any = None
    gap: Any = None
    other: Any = None
    bounds: Any = None
    digits: int | None = None
    error_source: Any = None
    noise: "NoiseChoice | Mapping[str, NoiseChoice | None] | None" = None

    @property
    def error(self) -> "ErrorBound | Mapping[str, ErrorBound | None] | None":
        """How far off the answer may be, from public numbers alone, or None if no bound is known.

        For a number, it is the distance from the true result on the clipped numbers. The probability is for all
        groups and candidates together. For a selected answer, it is how far its score, rank or count may be behind
        the best one. For an SQL statement with several columns, it is a dict from their names to bounds. No bound
        is known for keys, and for scores without named candidates.
        """
        source = self.error_source
        bound: ErrorBound | Mapping[str, ErrorBound | None] | None
        bound = source() if callable(source) else source
        return bound

    @property
    def promise(self) -> str:
        """The guarantee in brief, with the privacy unit, the mechanism and the number of digits."""
        from ..privacy.wording import by_mechanism, in_brief

        digits = "" if self.digits is None else _to_digits(self.digits)
        parts = (in_brief(self.guarantee, self.unit), by_mechanism(self.mechanism), digits)
        return join(AND, parts)

    @property
    def shown(self) -> "Release":
        """The same release as readers see it, with 0 instead of negative counts."""
        if not self.notes:
            return self
        floored = {"counts": floor_counts(self.counts), "other": floor_counts(self.other)}
        if are_counts(self.mechanism, self.query):
            floored["value"] = floor_counts(self.value)
        return replace(self, **floored)

    @property
    def notes(self) -> list[Message]:
        """Sentences about how the answer is shown to a reader."""
        value = self.value if are_counts(self.mechanism, self.query) else None
        note = note_of_counts(value, self.counts, self.other)
        return [] if note is None else [note]

    @property
    def remarks(self) -> list[str]:
        """Sentences next to the answer: how far off it is, which noise it has, and how it is shown."""
        is_told = self.mechanism in _WITH_ERROR or self.error is not None
        # No answer is not off.
        words = [error_in_words(self.error)] if is_told and self.value is not None else []
        return [*words, *self._other_remarks]

    @property
    def _other_remarks(self) -> list[str]:
        """The remarks without how far off it is."""
        return [*noise_in_words(self.noise), *self.notes]

    def with_value(self, answer: Any) -> "Release":
        """Return the same release with another value, faster than the constructor."""
        release, attributes = _new(type(self)), self.__dict__.copy()
        attributes["value"] = answer
        _set(release, "__dict__", attributes)
        return release

    def parts(self) -> dict[str, Any]:
        """Return the parts other than the answer by name, such as `counts` and `gap`, if there are any."""
        every = {
            "counts": self.counts, "gap": self.gap, "other": self.other, "bounds": self.bounds,
        }  # fmt: skip
        return {name: part for name, part in every.items() if part is not None}

    def count_table(self) -> "CountTable | None":
        """Return the answer as a table of counts with bars, or None if it has no counts."""
        release = self.shown
        has_pairs = isinstance(self.value, Mapping) and not is_of_numbers(self.query)
        if self.mechanism in COUNTING and has_pairs:
            counts: Mapping[Any, Any] = release.value
            head: tuple[str, ...] = ()
        elif isinstance(self.value, list) and isinstance(self.counts, list):
            counts = dict(zip(map(as_hashable, self.value), release.counts, strict=True))
            head = ("answer", "count")
        else:
            return None
        if not _are_counts(counts):
            return None
        from ..base.count_tables import table_of_counts

        return table_of_counts(counts, head)

    def to_pandas(self) -> Any:
        """Return the answer as a pandas frame, with one row per count, group or SQL row, or a single row.

        Noisy counts stay as they are, even below 0. The guarantee is in `frame.attrs["promise"]`.

        Raises:
            MissingPackage: if pandas is not installed.
        """
        from .release_rows import frame_of  # a first answer does without

        frame = frame_of(self)
        frame.attrs["promise"] = str(self.promise)
        return frame

    def plot(self, *, label: str | None = None) -> Any:
        """Return a bar chart of released counts as a matplotlib figure, which may be published.

        Counts of two columns, or of one column by group, become a heat map. Counts of three columns become bars by
        the last column for each pair of the others.

        Args:
            label: the name of the axis of values, with its unit.

        Raises:
            InvalidArgument: if the answer has no counts by value.
            MissingPackage: if matplotlib is not installed.
        """
        from .release_rows import figure_of  # a first answer does without

        return figure_of(self, label)

    def as_dict(self) -> dict[str, object]:
        """Return the release in plain values, exact numbers as text, ready for JSON."""
        unit = {} if self.unit is None else {"privacy_unit": plain_unit(self.unit)}
        charged = {} if self.charged is None else {"charged": self.charged}
        return {
            "value": json_value(self.value),
            **{name: json_value(part) for name, part in self.parts().items()},
            **({} if self.digits is None else {"digits": self.digits}),
            "error": json_value(self.error),
            **({} if self.noise is None else {"noise": json_value(self.noise)}),
            "mechanism": self.mechanism,
            "guarantee": self.guarantee.as_dict(),
            **unit,
            **charged,
        }

    def __str__(self) -> str:
        # The error of a selected answer is a clause, and no distance between values: too long for here.
        is_short = self.mechanism in _WITH_ERROR and getattr(self.error, "is_distance", True)
        about = "; ".join([self.promise, *(self.remarks if is_short else self._other_remarks)])
        return f"{', '.join(self.shown.in_words())} [{about}]"

    def _repr_html_(self) -> str:
        from ..base.text_tables import TextTable

        facts = [
            ("guarantee", self.promise),
            ("error", error_in_words(self.error)),
            ("question", self.query),
            *(("note", note) for note in self.notes),
        ]
        picture = self._picture()
        rows = tuple(row for row in (*([] if picture else self.shown.rows()), *facts) if row[1])
        return picture + TextTable((), rows, "Release: may be published").html()

    def _picture(self) -> str:
        """Return the answer as HTML of its own, where it has one: a table of counts, or a profile."""
        counts = self.count_table()
        if counts is not None:
            others = {name: part for name, part in self.shown.parts().items() if name != "counts"}
            if not others:
                return counts.html()
            from ..base.text_tables import fact_table

            return counts.html() + fact_table("", others).html()
        value: Any = self.value
        return str(value._repr_html_()) if hasattr(value, "lines") else ""

    def __repr__(self) -> str:
        answer = ", ".join(self.in_words(repr))
        return f"Release({shorten(answer)}: {self.promise})"

    def in_words(self, write: Callable[[object], str] = answer_in_words) -> list[str]:
        """Return the answer and its other parts in words."""
        words, count = self.parts_in_words(), self.counts
        answer: str = write(self.value)
        if is_of_numbers(self.query) and isinstance(count, int):
            answer = number_with_size(self.value, count)
            del words["counts"]
        return [answer, *(f"{name} {part}" for name, part in words.items())]

    def parts_in_words(self) -> dict[str, str]:
        """Return the parts other than the answer in words, by name."""
        words = {name: answer_in_words(part) for name, part in self.parts().items()}
        if isinstance(self.bounds, list) and len(set(self.bounds)) == 1:
            words["bounds"] = gettext(
                "{bounds}, so all records count as {number}",
                bounds=words["bounds"], number=answer_in_words(self.bounds[0]),
            )  # fmt: skip
        return words

    def rows(self) -> list[tuple[str, str]]:
        """Return the answer as table rows, one in all, one per group, or one per counted answer."""
        names: Iterable[Any] = ["answer"]
        contents: Iterable[Any] = [self.value]
        words = self.parts_in_words()
        if isinstance(self.value, dict):
            names, contents = self.value, self.value.values()
            if is_of_numbers(self.query) and isinstance(self.counts, dict):
                contents = [number_with_size(self.value[name], self.counts[name]) for name in names]
                words.pop("counts")
        elif is_of_numbers(self.query) and isinstance(self.counts, int):
            contents = [number_with_size(self.value, self.counts)]
            words.pop("counts")
        elif isinstance(self.value, list) and "counts" in words:
            names, contents = self.value, self.counts
            words.pop("counts")
        pairs = zip(names, contents, strict=True)
        answers = [(answer_in_words(name), answer_in_words(content)) for name, content in pairs]
        return [*answers, *words.items()]


def _to_digits(digits: int) -> Message:
    """Return the words that an answer is rounded to so many digits."""
    return plural("to {count} digit", "to {count} digits", digits)


def _are_counts(counts: Mapping[Any, Any]) -> bool:
    """Return whether there are numbers under keys, or under groups and keys, and at least one."""
    return bool(counts) and all(
        isinstance(one, int) or (isinstance(one, Mapping) and _are_counts(one))
        for one in counts.values()
    )


def json_value(value: object) -> object:
    """Return a value for JSON: numbers, text, lists and dicts as they are, everything else as text.

    A dict is an object, its keys as text. If two keys have one text, as 1 and "1", or a date and its ISO text, no
    answer is lost: it is a list of objects with "key", "type" and "value". So is one by cells of several columns,
    which are lists, and one with the key of records without a value, which is null.
    """
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "as_dict"):
        return value.as_dict()
    if isinstance(value, list | tuple):
        return [json_value(one) for one in value]
    if isinstance(value, dict):
        return _json_object(value)
    ordinary = (
        value is None
        or isinstance(value, str | int)
        or (isinstance(value, float) and math.isfinite(value))
    )
    return value if ordinary else str(value)


def _json_object(answers: Mapping[Any, Any]) -> object:
    """Return answers by key: an object, or a list where an object would lose one of them."""
    texts = {str(key): json_value(answer) for key, answer in answers.items()}
    are_plain = not any(key is None or isinstance(key, tuple) for key in answers)
    if len(texts) == len(answers) and are_plain:
        return texts
    return [
        {"key": json_value(key), "type": _kind_of_key(key), "value": json_value(answer)}
        for key, answer in answers.items()
    ]


def _kind_of_key(key: object) -> str:
    """Return the kind of a key, as a ledger names those of released values; of all else the name of its class."""
    from .released_values import ReleasedValue

    try:
        return ReleasedValue.of(key).kind
    except InvalidArgument:
        return type(key).__name__


def shorten(text: str) -> str:
    """Return the text, or its beginning if it would fill the screen."""
    return text if len(text) <= 200 else f"{text[:197]}..."


def as_hashable(value: Any) -> Any:
    """Return several answers as a tuple, and those of groups as one of pairs."""
    if isinstance(value, dict):
        return tuple((group, as_hashable(answer)) for group, answer in value.items())
    return tuple(value) if isinstance(value, list) else value
