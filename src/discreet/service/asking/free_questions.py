"""Free questions: a verb and its arguments on a declared column, chosen by the caller, in plain values."""

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ...base.arguments import choice, exact_text
from ...errors import InvalidArgument, MissingColumn, MissingPackage, preview
from ...ledger import Amount, Budget, Session
from ...ledger.batches import Call
from ...ledger.failed_questions import LEAST_PART
from ...privacy.contract import Guarantee, equals
from ...selection.candidates import Grid
from ...selection.date_grid import DateGrid
from ...selection.decimals import Decimals
from ...selection.payment import Bill
from ...selection.releases import Release
from ...tables.conditions.condition_readers import read_condition
from ...tables.conditions.conditions import names_of_columns
from ...tables.datasets.declarations import nearest
from ...tables.verb_table import VERBS
from ...tables.verbs.count import counts
from ...tables.verbs.sql import parts_of
from .isolation import PublicError

_PLAIN = (
    str, bool, int, float, Decimal, Fraction, dt.date, dt.datetime, type(None), Grid, DateGrid,
    Decimals,
)  # fmt: skip


_NO_LEAST = Amount()

MOST_IN_FREE_QUESTION = 10_000
"""So many values a free question lists at a service, such as candidates: its price takes a quarter of a second.

Longer ones would keep workers and readers from others: the price of a million takes half a minute.
"""


@dataclass(frozen=True, slots=True)
class Freedom:
    """The free questions that the owner allows to a caller.

    Attributes:
        verbs: the verbs.
        largest_epsilon: the most that one question may cost, as ε of pure differential privacy; None: as much
            as the budgets pay.
        least: the least that a question may cost, as ε or ρ of a share; None of a unit for the default. Named
            questions may cost less.
        largest_delta: the most δ that one question may cost; None: as much as the budgets pay, and none where
            `largest_epsilon` is declared.
        where: the columns with which a condition may compare; None for all.
        confirm_above: a question of an assistant that may cost more is confirmed by its user; None for none.
    """

    verbs: tuple[str, ...] = ()
    largest_epsilon: Fraction | None = None
    least: Amount = _NO_LEAST
    largest_delta: Fraction | None = None
    where: tuple[str, ...] | None = ()
    confirm_above: Fraction | None = None

    def declared_least(self, share: Budget) -> Amount:
        """Return the least that a question may cost, as far as the owner declares it.

        The default is not above the most for one question, or none could be asked.
        """
        epsilon, most, total = self.least.epsilon, self.largest_epsilon, share.counted_total.epsilon
        if epsilon is None and most is not None and total is not None:
            epsilon = min(most, total / LEAST_PART)
        return Amount(epsilon, self.least.rho)

    def check(self, verb: str, question: Call) -> None:
        """Raise unless the verb is allowed, and `keys` where the answer holds unlisted values."""
        names = (verb, "keys") if releases_keys(question) else (verb,)
        for one in names:
            if one not in self.verbs:
                words = (
                    f"only {', '.join(self.verbs)}" if self.verbs else "only questions of its owner"
                )
                why = "" if one == verb else ", and an answer of values that nobody listed needs it"
                raise PublicError(InvalidArgument(f"{one} is not allowed here, {words}{why}"))
        self._check_condition(question.terms.get("where"))
        for part in parts_of_question(question):
            self.check(part.verb.__name__, part)

    def _check_condition(self, where: object) -> None:
        """Raise unless the columns of a condition are allowed."""
        if self.where is None:
            return
        try:
            condition = read_condition(where)
        except InvalidArgument as error:
            raise PublicError(error) from None
        others = (
            []
            if condition is None
            else [n for n in names_of_columns(condition) if n not in self.where]
        )
        if others:
            allowed = f"only with {', '.join(self.where)}" if self.where else "with no column"
            raise PublicError(
                InvalidArgument(f"where may not compare with {preview(others[0])} here, {allowed}")
            )

    def check_bill(self, bill: Bill, neighbors: str) -> None:
        """Raise if a question costs more than is allowed."""
        epsilon, delta = _parts(bill.guarantee.under(neighbors))
        most, most_delta = self.largest_epsilon, self._most_delta
        is_small = most is None or (epsilon is not None and epsilon <= most)
        if is_small and (most_delta is None or delta <= most_delta):
            return
        limits = {"ε": most, "δ": self.largest_delta}
        allowed = " and ".join(equals(sign, x) for sign, x in limits.items() if x is not None)
        cost = "no ε of pure differential privacy" if epsilon is None else equals("ε", epsilon)
        if delta:
            cost += f" and {equals('δ', delta)}"
        raise PublicError(
            InvalidArgument(f"one question may cost up to {allowed} here, and this one has {cost}")
        )

    @property
    def _most_delta(self) -> Fraction | None:
        """The most δ of one question; None if the budgets alone limit it."""
        if self.largest_delta is None and self.largest_epsilon is not None:
            return Fraction(0)
        return self.largest_delta


def check_number_of_values(terms: Mapping[str, object]) -> None:
    """Raise if a free question lists more values than a service reads."""
    number = sum(len(one) for one in terms.values() if isinstance(one, list | tuple))
    if number > MOST_IN_FREE_QUESTION:
        raise PublicError(
            InvalidArgument(
                f"a free question lists at most {MOST_IN_FREE_QUESTION:,} values, such as candidates; "
                f"this lists {number:,}"
            )
        )


def parts_of_question(question: Call) -> list[Call]:
    """Return the questions that a statement of SQL stands for; none of another question.

    Raises:
        PublicError: if it is no statement that is answered.
    """
    if "statement" not in question.terms:
        return []
    try:
        return [Call(*part) for part in parts_of(question.terms["statement"])]
    except (InvalidArgument, MissingPackage) as error:
        raise PublicError(error) from None


def _parts(guarantee: Guarantee) -> tuple[Fraction | None, Fraction]:
    """Return the ε and the δ that a guarantee costs in sums of both."""
    if not 0 < guarantee.slack < 1:
        return guarantee.pure, Fraction(0)
    return Fraction(0) if guarantee.core is None else guarantee.core.pure, guarantee.slack


def read_free(verb: object, column: object, terms: Mapping[str, object]) -> Call:
    """Return a free question without its data.

    Raises:
        PublicError: if the verb, a name or a value is none that may be asked with.
    """
    try:
        return _read_plain_question(verb, column, terms)
    except InvalidArgument as error:
        raise PublicError(error) from None


def _read_plain_question(verb: object, column: object, terms: Mapping[str, object]) -> Call:
    """Return a free question of plain values alone.

    A mechanism or a table of candidates as an object could run code or read a file beside the data.
    """
    verb_name = choice(verb, "verb", VERBS)
    names = VERBS[verb_name].terms
    for name in terms:
        if name not in names:
            raise InvalidArgument(
                f"a {verb_name} here takes no {preview(name)}{nearest(name, names)}; it takes "
                f"{', '.join(names)}"
            )
    values = {name: _plain(value, name) for name, value in terms.items() if value is not None}
    return Call(verb_named(verb_name), _columns(verb_name, column), values)


def _columns(verb: str, column: object) -> tuple[str, ...]:
    """Return the column of a question; none for a verb that is asked without."""
    if column is None and not VERBS[verb].needs_column:
        return ()
    name = exact_text(column)
    if name is None:
        raise InvalidArgument(f"column must be the name of a column, got {preview(column)}")
    return (name,)


def releases_keys(question: Call) -> bool:
    """Return whether an answer holds unlisted values of the data."""
    terms = question.terms
    names = [one for one in (terms.get("candidates"), terms.get("groups")) if isinstance(one, str)]
    of_keys = question.verb is counts and "delta" in terms and "candidates" not in terms
    return "private" in names or of_keys


def verb_named(name: str) -> Callable[..., Release]:
    """Return the verb of a name; a session has it as a method."""
    verb: Callable[..., Release] = getattr(Session, name)
    return verb


def refusal(error: Exception) -> PublicError | None:
    """Return an error in place of one that a free question met before anything was read; None for all others.

    Args:
        error: the one that the description, or the verb, raised.
    """
    if isinstance(error, InvalidArgument | MissingColumn):
        return PublicError(error)
    if isinstance(error, TypeError):
        return PublicError(
            InvalidArgument("an argument of the verb is missing, or of another kind")
        )
    return None


def _plain(value: Any, name: str) -> Any:
    """Return a plain value, or a list of them, nested once."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, list | tuple | range):
        return [_plain_list(one, name) for one in value]
    raise InvalidArgument(
        f"{name} must be a plain value, a Grid, or a list of plain values, got {preview(value)}"
    )


def _plain_list(value: Any, name: str) -> Any:
    if type(value) in _PLAIN:
        return value
    raise InvalidArgument(f"{name} must be a list of plain values, and holds {preview(value)}")
