"""check: how many cells of a described table fit its description, with noise."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, overload

from ...base.arguments import exact_text, read_sequence
from ...base.doors import fix
from ...base.error_boundary import error_boundary
from ...base.numbers import Number
from ...errors import InvalidArgument
from ...mechanisms.accuracy import CELLS, CONFIDENCE, ErrorBound, geometric_error
from ...mechanisms.contract import Law, read_parameter
from ...privacy.guarantees import Guarantee
from ...privacy.sensitivity import Neighbors, UnitNames, read_neighbors
from ...sampling.bits import Bits, SystemBits
from ...selection.payment import Account, describe_account
from ...selection.question import Order, Query, Question, ask
from ...selection.releases import Release
from ...selection.scores.distance import Distance, Lattice
from ...selection.terms import Terms, read_payment
from ..datasets import Dataset
from ..datasets.cell_fits import (
    count_comments,
    count_spanning,
    described_records,
    read_once,
    record_fits,
)
from ..datasets.columns import Column
from ..datasets.dataset_terms import column_values
from ..datasets.declarations import few
from ..datasets.noisy_cell_counts import CLASSES, LARGEST, NoisyCellCounts
from ..engines.fits import CellCounts
from ..engines.records import Records
from ..formats.file_paths import may_have_comments, may_span


@overload
def check(  # type: ignore[overload-overlap]  # a text is the name of one column
    dataset: Dataset,
    columns: str,
    *,
    epsilon: Number | None = None,
    neighbors: Neighbors = "add_remove",
    privacy_unit: UnitNames | None = None,
    max_contributions: int | None = None,
    ledger: Account | None = None,
    request: str | None = None,
) -> Release[NoisyCellCounts]: ...


@overload
def check(
    dataset: Dataset,
    columns: Iterable[str] | None = None,
    *,
    epsilon: Number | None = None,
    neighbors: Neighbors = "add_remove",
    privacy_unit: UnitNames | None = None,
    max_contributions: int | None = None,
    ledger: Account | None = None,
    request: str | None = None,
) -> Release[dict[str, NoisyCellCounts]]: ...


@error_boundary
def check(  # noqa: PLR0913  # its terms, which are fewer than those of other verbs, and a bound
    dataset: Dataset,
    columns: str | Iterable[str] | None = None,
    *,
    epsilon: Number | None = None,
    neighbors: Neighbors = "add_remove",
    privacy_unit: UnitNames | None = None,
    max_contributions: int | None = None,
    ledger: Account | None = None,
    request: str | None = None,
) -> Release:
    """Release how many cells of declared columns fit, and why the others don't, with noise.

    Ask this before other questions, because if hardly any cell of a column fits, its answers are noise. A count has
    exact two-sided geometric noise. A cell is in one of five classes. It fits if the verbs use it unchanged or, for
    a column with declared values, if `mode` counts it. It is out of range if it has the declared type, but lies
    beyond the bounds or is not a declared value. Or it has another type, is missing, or is unreadable. Except for
    the noise, the five counts of every column add up to the number of records. `epsilon` is divided equally among
    the columns, so fewer columns have less noise. For text files with line ends inside cells, one more part pays
    for the number of records that span several lines. If it is larger than you expect, a quote is not closed. If
    the form of the files has a comment sign, and a row is a record, the release also has the number of comment
    lines. This costs nothing extra, because a line is either a comment or a record.

    Args:
        dataset: a dataset with its description.
        columns: the name of a declared column, or several in a list. Without it all declared columns.
        epsilon: the privacy parameter ε of all columns together, a positive number without a unit. The counts of d
            columns are off by about d / epsilon cells, times `max_contributions`. For text files with records of
            several lines, it is about (d + 1) / epsilon.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another, which has twice the noise, because two counts
            move.
        privacy_unit: the column of the privacy unit, or its columns. Not needed if the description declares it.
        max_contributions: the most cells of one privacy unit that count in a column. Needed if the description
            declares a privacy unit without a bound. Rows without a unit are left out.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. By default the one that the
            description names, if any.
        request: a name for this request in the ledger. If you repeat the request, you get the same answer at no
            cost. Without a name, every call is a new request.

    Returns:
        For one column given by its name, its `NoisyCellCounts`. Otherwise a dict from columns to theirs.

    Raises:
        InvalidArgument: if a public argument is invalid, there is no description, or no bound on the cells
            of a privacy unit. Nothing private was read.
        MissingColumn: if a column is not declared. No private data were read.
        UnreadableData: if the data or a column is not there, or has a type that cannot hold such values.

    Side channels: the time the engine takes to count. It depends on the rows and, if values are neither listed nor
    compared with bounds, on the number of distinct values. Drawing the noise takes the same time for all counts;

    For the proof, see docs/reference/mechanisms/noisy_counts.md.
    """
    target = _with_description(dataset)
    declared_columns = _columns(target, columns)
    records = described_records(target, privacy_unit, max_contributions)
    spans = may_span(target.source)
    parts = len(declared_columns) + spans
    noise = _noise(epsilon, parts, read_neighbors(neighbors), records)
    account = target.account() if ledger is None else ledger
    account, request = read_payment({"ledger": account, "request": request})
    source, about = target.question()
    comments = records.unit is None and may_have_comments(target.source)
    plan = _Check(target, source, declared_columns, records, noise, spans, comments)
    order = Order(
        plan.query,
        noise.guarantee.repeated(parts),
        "geometric",
        dict,
        describe_account(account, about()),
        request,
        unit=records.unit,
        worst_error=plan.worst_error,
    )
    return order.deliver(plan.prepare, plan.of_one if _is_one(columns) else plan.by_name)


@dataclass(frozen=True, slots=True)
class CellNoise:
    """Noise of counts, of which a record moves so many cells in all: P(X = k) proportional to exp(-eta * |k|).

    Attributes:
        epsilon: the ε of the counts of one column, and of the number of records that span several lines.
        neighbors: the neighbouring relation.
        shift: by how much the counts of a column may differ between neighbours, added up, and that number too.
    """

    epsilon: Fraction
    neighbors: Neighbors
    shift: int

    @property
    def _question(self) -> Question:
        """The question how far a count of 0 is from the integers: its answer is the noise."""
        terms: Terms = {"epsilon": self.epsilon, "neighbors": self.neighbors}
        return ask(Distance(0, self.shift, Lattice()), terms)

    def law(self) -> Law:
        """Return the distribution of the noise of one count."""
        return self._question.law()

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the counts of one column together."""
        return self._question.guarantee

    @property
    def error(self) -> int:
        """By how much the counts of a column are off at most, all together with probability CONFIDENCE."""
        return self.error_of(len(CLASSES))

    def error_of(self, size: int) -> int:
        """Return by how much so many counts are off at most, all together with probability CONFIDENCE."""
        off = geometric_error(self.epsilon / self.shift, size, CONFIDENCE)
        return min(off, 2 * LARGEST)

    def add(
        self,
        counts: Sequence[CellCounts],
        bits: Bits,
        spanning: int | None = None,
        comments: int | None = None,
    ) -> list[list[int]]:
        """Return the counts of columns with independent noise, cut where no table has as many cells.

        Args:
            counts: the counts of the columns. Private.
            bits: where randomness comes from.
            spanning: how many records span several lines, as one list more. Private, but whether it is None.
            comments: how many lines are comments, as the last list, likewise.
        """
        exact = [[int(getattr(c, name)) for name in CLASSES] for c in counts]
        exact += [[number] for number in (spanning, comments) if number is not None]
        noise = iter(self.law().draws(sum(map(len, exact)), bits))
        noisy = [[n + int(next(noise)) for n in numbers] for numbers in exact]
        return [[min(max(n, -LARGEST), LARGEST) for n in numbers] for numbers in noisy]


@dataclass(frozen=True, slots=True, repr=False)
class _Check:
    """A check with everything public settled.

    Attributes:
        dataset: the described dataset.
        source: its data, as this question reads them.
        columns: its columns that are checked.
        records: the privacy unit, and the most of its cells that count in a column.
        noise: the noise of a count.
        spans: whether the number of records that span several lines is asked for.
        comments: whether that of lines which are comments is.
    """

    dataset: Dataset
    source: Any
    columns: list[Column]
    records: Records
    noise: CellNoise
    spans: bool
    comments: bool

    @property
    def query(self) -> Query:
        """The query in words, and in plain values all that decides the distribution of the answer."""
        unit, most = self.records.unit, self.records.rows
        return Query(
            "check",
            {"columns": few([column.name for column in self.columns]), "rows": most},
            {
                "columns": [[column.name, column.plain] for column in self.columns],
                "max_contributions": most,
                "neighbors": self.noise.neighbors,
                "epsilon": self.noise.epsilon,
                **({"multiline_records": True} if self.spans else {}),
                **({"comment_lines": True} if self.comments else {}),
            },
        ).per(unit)

    @property
    def error(self) -> int:
        """By how much the counts of a column are off at most, and the numbers about lines."""
        return self.noise.error_of(len(CLASSES) + self.spans + self.comments)

    def worst_error(self) -> ErrorBound:
        """Return how far off a count may be."""
        off = self.error
        return ErrorBound(Fraction(off + 1 if off else 0), CONFIDENCE, CELLS)

    def prepare(self) -> Callable[[], list[list[int]]]:
        """Count the cells, and return the function that adds noise to the counts."""
        of_lines = {"spans": self.spans, "comments": self.comments}
        source = read_once(self.source, self.columns, self.records, **of_lines)
        counts = [
            record_fits(self.dataset, column.name, self.records, source) for column in self.columns
        ]
        spanning = count_spanning(source, self.records) if self.spans else None
        comments = count_comments(source) if self.comments else None
        return partial(self.noise.add, counts, SystemBits(), spanning, comments)

    def by_name(self, rows: list[list[int]]) -> dict[str, NoisyCellCounts]:
        """Return the noisy counts of the columns by name."""
        off, d = self.error, len(self.columns)
        lines = rows[d][0] if self.spans else None
        comments = rows[-1][0] if self.comments else None
        return {
            column.name: NoisyCellCounts.of(
                row, off, multiline_records=lines, comment_lines=comments
            )
            for column, row in zip(self.columns, rows[:d], strict=True)
        }

    def of_one(self, rows: list[list[int]]) -> NoisyCellCounts:
        """Return the noisy counts of the only column."""
        [counts] = self.by_name(rows).values()
        return counts


def _with_description(dataset: object) -> Dataset:
    """Return a dataset with a description."""
    if isinstance(dataset, Dataset):
        return dataset
    raise InvalidArgument(
        "check counts the cells that fit a description, and these data have none: describe them "
        f"once, {fix('a description')}"
    )


def _is_one(columns: object) -> bool:
    return exact_text(columns) is not None


def _columns(dataset: Dataset, columns: object) -> list[Column]:
    """Return declared columns.

    Raises:
        InvalidArgument: if there is none, or one twice, or a file of text may write its values in many ways.
    """
    several = dataset.columns if columns is None else columns
    names = (
        [columns] if _is_one(columns) else read_sequence(several, "columns", len(dataset.columns))
    )
    selection = [dataset.column(name, "columns") for name in names]
    if not selection:
        raise InvalidArgument("columns must name at least one. Without columns all are checked")
    twice = [column.name for i, column in enumerate(selection) if column in selection[:i]]
    if twice:
        raise InvalidArgument(
            f"columns has {twice[0]!r} twice, which would cost twice: name it once"
        )
    for column in selection:
        column_values(dataset, column)  # or it is refused, before anything is paid
    return selection


def _noise(epsilon: object, parts: int, neighbors: Neighbors, records: Records) -> CellNoise:
    """Return the noise of a count: a record replaced takes cells from counts, and adds as many to others."""
    parameter = read_parameter(epsilon, None, None)
    if parameter is None:
        raise InvalidArgument("how much privacy? give epsilon, for example 1")
    shift = (records.rows or 1) * (1 if neighbors == "add_remove" else 2)
    return CellNoise(parameter.value / parts, neighbors, shift)
