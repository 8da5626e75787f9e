"""The bill for a release, and the account that pays it. Nothing here is private."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

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


class Purchased(NamedTuple):
    """A drawn answer and its charge.

    Attributes:
        drawn: the indices of the answer.
        charged: whether this call charged for it; False if the same request was charged before; None if the
            account does not tell.
    """

    drawn: Indices
    charged: bool | None


@runtime_checkable
class TellingAccount(Protocol):
    """An account that tells whether a release was charged now, or its request was charged before."""

    def bought(self, bill: Bill, prepare: Callable[[], Callable[[], Indices]]) -> Purchased:
        """Do as `Account.buy` does, and tell whether this call charged for it."""
        ...


def buy_from(
    account: Account, bill: Bill, prepare: Callable[[], Callable[[], Indices]]
) -> Purchased:
    """Charge an account for a release, and return the draw, with what the account tells about the charge."""
    if isinstance(account, TellingAccount):
        return account.bought(bill, prepare)
    return Purchased(account.buy(bill, prepare), None)


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
