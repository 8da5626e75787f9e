"""How many cells of a column fit its declaration, with noise, and between which shares that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from ...base.numbers import rounded_up, spell
from ...base.text_tables import fact_table
from ...mechanisms.accuracy import CONFIDENCE

FITS = "fits"
CLASSES = {
    FITS: "fit",
    "out_of_range": "out of range",
    "other_type": "other type",
    "missing": "missing",
    "unreadable": "unreadable",
}
"""The classes of cells, with what they are called in a table: each cell is in one."""

LARGEST = 2**62
"""No table has as many cells. What noise takes beyond it is cut, which changes no guarantee."""

MAY_BE_OPEN = 'If you expect none, a quote may be open: say multiline = false, or quote = ""'
"""What to do about records that span several lines."""

NoiseInterval = tuple[Decimal, Decimal]


@dataclass(frozen=True, slots=True)
class NoisyCellCounts:
    """How many cells of a column are in each of five classes, all with noise.

    Made by `discreet.check`, and public like every released value. All that is said of it, the percentages
    too, is computed from these eight numbers.

    Attributes:
        fits: how many cells fit, with noise: it may be below zero, as the others.
        out_of_range: how many are of the declared type, and beyond its bounds or none of its values.
        other_type: how many are no value of the declared type.
        missing: how many are missing.
        unreadable: how many fields of a text file cannot be read.
        error: no count is off by more than this many cells, all of them together with that probability.
        probability: that probability.
        multiline_records: how many records span several lines, with noise: of text files where some may, and one
            number for all columns. Else None.
        comment_lines: how many lines are comments, with noise: of text files whose form has a sign for them, if a
            row is a record. One number for all columns. Else None.
    """

    fits: int
    out_of_range: int
    other_type: int
    missing: int
    unreadable: int
    error: int
    probability: Fraction = CONFIDENCE
    multiline_records: int | None = None
    comment_lines: int | None = None

    @classmethod
    def of(
        cls,
        counts: Sequence[int],
        error: int,
        probability: Fraction = CONFIDENCE,
        multiline_records: int | None = None,
        comment_lines: int | None = None,
    ) -> "NoisyCellCounts":
        """Return the counts of the classes, in their order."""
        fits, out_of_range, other_type, missing, unreadable = counts
        classes = fits, out_of_range, other_type, missing, unreadable
        return cls(*classes, error, probability, multiline_records, comment_lines)

    @property
    def percentages(self) -> dict[str, NoiseInterval]:
        """The percentages of all cells in each class, from and to: rounded outward.

        All five hold together with the same probability. "0 to 100" says that the noise is too large to tell.
        """
        return {name: self._percentage(name) for name in CLASSES}

    def _percentage(self, name: str) -> NoiseInterval:
        """Return the least and the greatest percentage that the noisy counts allow."""
        low, high = self._range(name)
        others = [self._range(other) for other in CLASSES if other != name]
        least_others, most_others = (sum(ends) for ends in zip(*others, strict=True))
        if not high + most_others:
            return Decimal(0), Decimal(100)  # no cells
        least = 1000 * low // (low + most_others) if low else 0
        most = -(-1000 * high // (high + least_others)) if high else 0
        return _tenths(least), _tenths(most)

    def _range(self, name: str) -> tuple[int, int]:
        """Return how many cells there are, at least and at most."""
        count: int = getattr(self, name)
        return max(0, count - self.error), max(0, count + self.error)

    def as_dict(self) -> dict[str, object]:
        """Return the counts in plain values, exact numbers as text, ready for JSON."""
        percentages = {name: list(map(str, ends)) for name, ends in self.percentages.items()}
        counts = {name: getattr(self, name) for name in (*CLASSES, "error")}
        of_lines = {name: getattr(self, name) for name in ("multiline_records", "comment_lines")}
        return {
            **counts,
            **{name: number for name, number in of_lines.items() if number is not None},
            "probability": str(self.probability),
            "percentages": percentages,
        }

    def cells(self) -> dict[str, str]:
        """Return the percentages as the row of a table."""
        shares = {name: f"{_span(ends)} %" for name, ends in self.percentages.items()}
        return {words: shares[name] for name, words in CLASSES.items()}

    @property
    def meaning(self) -> str:
        """The meaning of the percentages."""
        return (
            f"A line holds with probability {self._sure}: its counts are off by up to "
            f"{rounded_up(Fraction(self.error), 3)} cells."
        )

    @property
    def may_have_open_quote(self) -> bool:
        """Whether some records span several lines, and not just noise does."""
        return self.multiline_records is not None and self.multiline_records > self.error

    @property
    def lines_about_records(self) -> list[str]:
        """The lines of text on records that span several lines, and on comments: none where that was not asked."""
        lines = []
        if self.multiline_records is not None:
            lines.append(f"about {max(0, self.multiline_records):,} records span several lines")
            lines += [MAY_BE_OPEN] if self.may_have_open_quote else []
        if self.comment_lines is not None:
            lines.append(f"about {max(0, self.comment_lines):,} lines are comments, and no records")
        return lines

    def _repr_html_(self) -> str:
        counts = {f"{name}, with noise": f"{getattr(self, name):,}" for name in CLASSES}
        if self.multiline_records is not None:
            counts["records of several lines, with noise"] = f"{self.multiline_records:,}"
        if self.comment_lines is not None:
            counts["lines that are comments, with noise"] = f"{self.comment_lines:,}"
        return fact_table(self.meaning, {**self.cells(), **counts}).html()

    @property
    def _sure(self) -> str:
        return f"{spell(100 * self.probability)} %"

    def __str__(self) -> str:
        low, high = self.percentages[FITS]
        between = f"{low} %" if low == high else f"between {low} and {high} %"
        return f"{between} fit (with probability {self._sure})"


def _tenths(tenths: int) -> Decimal:
    """Return so many tenths, without rounding, whatever the caller's decimal context is."""
    whole, rest = divmod(tenths, 10)
    return Decimal(f"{whole}.{rest}") if rest else Decimal(whole)


def _span(ends: NoiseInterval) -> str:
    low, high = ends
    return f"{low}" if low == high else f"{low} to {high}"
