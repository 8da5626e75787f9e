"""The bill for a release, and the account that pays it. Nothing here is private."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from .errors import InvalidArgument, shown
from .privacy.guarantees import Guarantee

Indices: TypeAlias = "int | list[Indices]"
"""Drawn answers as their indices, which JSON can hold."""


@dataclass(frozen=True, slots=True)
class Bill:
    """The public side of one release: its question, its guarantee and its name in a ledger.

    Attributes:
        guarantee: the guarantee of the whole release, all draws together.
        mechanism: the name of the mechanism.
        query: the question in words.
        digest: of everything but the data that decides the distribution of the answer: see `descriptions`.
        request: the caller's name for this request; the same name is never charged or drawn twice.
        candidates: how many candidates there are, where that is public and finite.
        unit: the privacy unit, a column of which all rows with one value are one record; None if every row
            is a record.
    """

    guarantee: Guarantee
    mechanism: str
    query: str
    digest: str
    request: str | None = None
    candidates: int | None = None
    unit: str | None = None


class Account(Protocol):
    """An account that is charged for releases, such as a session of a ledger."""

    def buy(self, bill: Bill, prepare: Callable[[], Callable[[], Indices]]) -> Indices:
        """Charge for a release, commit, then draw; or return the draw of the same request before.

        Args:
            bill: the release and its cost.
            prepare: computes the private scores, and returns the function that draws from them.

        Raises:
            DiscreetError: if the account cannot pay; nothing private was read.
        """
        ...


def read_account(ledger: object) -> Account | None:
    """Return the account to charge, or None.

    Raises:
        InvalidArgument: if it is no account.
    """
    if ledger is None or hasattr(ledger, "buy"):
        return ledger
    raise InvalidArgument(
        f'ledger must be a session, such as Ledger("budget.db").session("adult"), got {shown(ledger)}'
    )
