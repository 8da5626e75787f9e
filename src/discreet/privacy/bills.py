"""Bills: what a release costs, and who pays it. Nothing here is private."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from ..arguments import exact_text
from ..errors import InvalidArgument, shown
from .guarantees import Guarantee

Indices: TypeAlias = "int | list[Indices]"
"""What was drawn, as indices of the answers: JSON can hold it."""


@dataclass(frozen=True, slots=True)
class Bill:
    """What one release costs, and what it answers.

    Attributes:
        guarantee: what the whole release promises, all draws together.
        mechanism: the name of the mechanism.
        query: what is asked, in words.
        digest: of everything but the data that decides the distribution of the answer: see `descriptions`.
        request: the caller's name for this request; the same name never pays or draws twice.
        candidates: how many there are to choose from, where that is known and finite.
        unit: whom the guarantee protects: the column that says whose a row is, if all rows of one person
            are one record; None if each row is one.
    """

    guarantee: Guarantee
    mechanism: str
    query: str
    digest: str
    request: str | None = None
    candidates: int | None = None
    unit: str | None = None


class Account(Protocol):
    """Who pays for a release: a session of a ledger, for example."""

    def buy(self, bill: Bill, prepare: Callable[[], Callable[[], Indices]]) -> Indices:
        """Return what is drawn: pay, commit, then draw; or what the same request drew before.

        Args:
            bill: what it costs.
            prepare: computes the private scores, and returns what draws from them.

        Raises:
            DiscreetError: if it cannot be paid; nothing private was looked at.
        """
        ...


def read_account(ledger: Any) -> Account | None:
    """Return who pays, or None if nobody does."""
    if ledger is None or hasattr(ledger, "buy"):
        return ledger  # type: ignore[no-any-return]
    raise InvalidArgument(
        f'ledger must be a session, such as Ledger("budget.db").session("adult"), got {shown(ledger)}'
    )


def read_unit(unit: Any) -> str | None:
    """Return the column that says whose a row is, or None if each row is a record.

    Raises:
        InvalidArgument: if it is no name of a column.
    """
    text = exact_text(unit)
    if unit is None or text:
        return text
    raise InvalidArgument(f"privacy_unit must be the name of a column, got {shown(unit)}")


def one_record(unit: str | None) -> str:
    """Return in words what a guarantee about this unit protects."""
    return "one row" if unit is None else f"all rows of one {unit}"
