"""Mechanisms compared on public scores: expected error by epsilon."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ...base.arguments import read_sequence
from ...base.error_boundary import error_boundaries
from ...base.messages import Message, gettext, translate
from ...base.numbers import Number, decimal, positive
from ...base.text_tables import TextTable
from ...errors import InvalidArgument
from ...mechanisms import BOUNDED, Mechanism, read_mechanism
from ...privacy.contract import equals
from ...selection.terms import PAID, takes_terms_without
from .. import plots
from ..plots.contents import PRIVATE
from .distribution import Distribution
from .enclosure import Enclosure
from .simulate import distribution

if TYPE_CHECKING:
    from ..plots.figure import Figure

_EPSILONS = ("0.1", "0.2", "0.5", 1, 2, 5)
_LARGEST_EPSILON = Fraction(10**9)
_DIGITS_SHOWN = 4
_SMALLEST_SHOWN = Fraction(1, 10**6)
_AS_PRIVATE = Message("as private as the scores")
_MOST_LAWS = 1000


@error_boundaries
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Comparison:
    """The expected errors of mechanisms by epsilon. As private as the scores.

    `print` it for a table. Notebooks also show it as a table.

    Attributes:
        mechanisms: their names.
        epsilons: the epsilon of an answer.
        errors: one row per epsilon and one column per mechanism, as certified intervals.
    """

    mechanisms: tuple[str, ...]
    epsilons: tuple[Fraction, ...]
    errors: tuple[tuple[Enclosure, ...], ...]
    _laws: tuple[Callable[[Fraction], Distribution], ...]
    _privacy: Message

    def epsilon_for(self, error: Number) -> dict[str, Fraction]:
        """Return epsilons, by mechanism, at which the expected error is at most `error`.

        It is the smallest one, rounded up to 4 digits, and is proved for these scores only. For a promise about all
        data, use `discreet.epsilon_for`.

        Raises:
            InvalidArgument: if an epsilon of 1e9 is not enough.
        """
        target = positive(error, "error")
        laws = zip(self.mechanisms, self._laws, strict=True)
        return {name: _least(law, target) for name, law in laws}

    def as_dict(self) -> dict[str, object]:
        """Return the comparison in plain values, exact numbers and bounds as text, ready for JSON."""
        rows = zip(self.epsilons, self.errors, strict=True)
        return {
            "private": "as private as the scores",
            "expected_error": [
                {
                    "epsilon": str(epsilon),
                    **{m: e.as_dict() for m, e in zip(self.mechanisms, row, strict=True)},
                }
                for epsilon, row in rows
            ],
        }

    def plot(self) -> "Figure":
        """Return the accuracy-privacy curve as a matplotlib figure: error against epsilon."""
        columns = zip(*self.errors, strict=True)
        lines = zip(self.mechanisms, columns, strict=True)
        epsilons = [float(epsilon) for epsilon in self.epsilons]
        points = {name: (epsilons, [float(e) for e in es]) for name, es in lines}
        return plots.curve(points, note=self._caption())

    def __str__(self) -> str:
        widths = [max(8, len(name)) for name in self.mechanisms]
        head, *rows = self._cells()
        first = max(len(row[0]) for row in (head, *rows))

        def line(cells: tuple[str, ...]) -> str:
            numbers = [cell.rjust(w) for cell, w in zip(cells[1:], widths, strict=True)]
            return "  ".join([cells[0].ljust(first), *numbers]).rstrip()

        return "\n".join([self._caption(), *map(line, (head, *rows))])

    def __repr__(self) -> str:
        names = ", ".join(self.mechanisms)
        return f"Comparison({names} at {len(self.epsilons)} epsilons; as private as the scores)"

    def _repr_html_(self) -> str:
        head, *rows = self._cells()
        return TextTable(head, tuple(rows), self._caption()).html()

    def _caption(self) -> str:
        """Return the subject of the table, and its readers."""
        return f"{gettext('expected error')} ({translate(self._privacy)})"

    def _cells(self) -> list[tuple[str, ...]]:
        """Return the table as text, its head first."""
        rows = zip(self.epsilons, self.errors, strict=True)
        body = [(equals("ε", e), *map(_cell, row)) for e, row in rows]
        return [("", *self.mechanisms), *body]


@takes_terms_without(*PAID, "epsilon", "rho", "scale", "mechanism", "size")
def compare(
    verb: Any,
    /,
    *arguments: Any,
    epsilons: Iterable[Number] = _EPSILONS,
    mechanisms: Iterable[str | Mechanism] = BOUNDED,
    **terms: Any,
) -> Comparison:
    """Return the expected errors of several mechanisms at several epsilons, certified.

    Use scores that are public, from last year, or made up, because a comparison on private data is private. The
    arguments are those of `distribution`.

    Args:
        verb: a verb, such as `discreet.median`, or the scores of `select`.
        *arguments: the arguments of the verb. You can also pass its keyword arguments, except epsilon and
            mechanism.
        epsilons: the privacy parameters ε to compare, one per row: 0.1, 0.2, 0.5, 1, 2 and 5 by default.
        mechanisms: names or mechanisms, one per column. By default those that state their worst case.
        **terms: the shared arguments, described in `Terms`.

    Raises:
        InvalidArgument: if a public argument is invalid.
    """
    for term in ("epsilon", "rho", "scale", "mechanism", "size"):
        if terms.get(term) is not None:
            raise InvalidArgument(f"leave out {term}. Give epsilons and mechanisms")
    rows = tuple(
        positive(epsilon, "each of epsilons")
        for epsilon in read_sequence(epsilons, "epsilons", _MOST_LAWS)
    )
    columns = [
        read_mechanism(mechanism)
        for mechanism in read_sequence(mechanisms, "mechanisms", _MOST_LAWS)
    ]
    if not rows or not columns:
        raise InvalidArgument("there must be at least one epsilon and one mechanism to compare")

    def law_by(mechanism: Mechanism) -> Callable[[Fraction], Distribution]:
        def law_at(epsilon: Fraction) -> Distribution:
            return distribution(verb, *arguments, epsilon=epsilon, mechanism=mechanism, **terms)

        return law_at

    laws = tuple(map(law_by, columns))
    errors = tuple(tuple(law(epsilon).expected_error() for law in laws) for epsilon in rows)
    privacy = PRIVATE if callable(verb) else _AS_PRIVATE
    return Comparison(tuple(m.name for m in columns), rows, errors, laws, privacy)


def _cell(error: Enclosure) -> str:
    """Return an error to four digits, or that it is below a millionth."""
    return "< 1e-6" if 0 < error.upper < _SMALLEST_SHOWN else f"{float(error):.4g}"


def _least(law: Callable[[Fraction], Distribution], target: Fraction) -> Fraction:
    """Return an epsilon that is enough, the least but for rounding up: errors fall as epsilon grows."""

    def enough(epsilon: Fraction) -> bool:
        return law(epsilon).expected_error().upper <= target

    low, high = Fraction(1, 2), Fraction(1)
    while not enough(high):
        low, high = high, 2 * high
        if high > _LARGEST_EPSILON:
            raise InvalidArgument("an epsilon of 1e9 is not enough for so small an error")
    while low * _LARGEST_EPSILON > 1 and enough(low):
        low, high = low / 2, low
    for _ in range(4 * _DIGITS_SHOWN):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return Fraction(decimal(high, _DIGITS_SHOWN, ROUND_CEILING))
