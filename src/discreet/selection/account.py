"""The account that pays for releases, as the verbs see it: an answer without one needs no more than this.

The bill that it is sent is in `payment`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol, TypeAlias

from ..errors import InvalidArgument, preview

if TYPE_CHECKING:
    from .payment import About, Bill
    from .released_values import ReleasedValue

Indices: TypeAlias = "int | ReleasedValue | list[Indices]"
"""Drawn answers, which a ledger can hold: indices, whole numbers, or values where no candidates were listed."""


PrepareDraw: TypeAlias = "Callable[[], Callable[[], Any]]"


class Account(Protocol):
    """An account that is charged for releases, such as a session of a ledger.

    It may have `bought` too, with the arguments of `buy`: it returns a `PaidAnswer`, which tells whether this call
    charged. One that buys several releases together has `collect`: with the function that names the release, too,
    it takes the order and raises.
    """

    def buy(self, bill: Bill, prepare: Callable[[], Callable[[], Indices]]) -> Indices:
        """Charge for a release, commit, then draw; or return the draw of the same request before.

        Args:
            bill: the release and its cost.
            prepare: computes the private scores, and returns the function that draws from them.

        Raises:
            DiscreetError: if the account cannot pay; nothing private was read.
        """


class PaidAnswer(NamedTuple):
    """A drawn answer and its charge.

    Attributes:
        indices: those of the answer.
        charged: whether this call charged for it; False if the same request was charged before; None if the
            account does not tell.
    """

    indices: Indices
    charged: bool | None


def buy_from(
    account: Account,
    bill: Bill,
    prepare: PrepareDraw,
    name: Callable[[PaidAnswer], Any] | None = None,
) -> PaidAnswer:
    """Charge an account for a release, return the draw, and whether this call charged if the account tells.

    Args:
        account: the account.
        bill: the release and its cost.
        prepare: computes the private scores, and returns the function that draws from them.
        name: returns the release for a draw, for an account that collects orders.
    """
    if isinstance(account, DescribedAccount):
        bill, account = replace(bill, about=account.about), account.account
    payer: Any = account
    # By its type: asked for a method that it does not have, a session makes an error.
    if name is not None and hasattr(type(payer), "collect"):
        payer.collect(bill, prepare, name)
    if hasattr(type(payer), "bought"):
        return payer.bought(bill, prepare)  # type: ignore[no-any-return]
    return PaidAnswer(account.buy(bill, prepare), None)


class DescribedAccount:
    """An account with the dataset of its releases."""

    __slots__ = ("about", "account")

    def __init__(self, account: Account, about: About) -> None:
        self.account, self.about = account, about

    @property
    def currency(self) -> str | None:
        """See `currency_of`."""
        return currency_of(self.account)

    def buy(self, bill: Bill, prepare: Callable[[], Callable[[], Indices]]) -> Indices:
        """Charge the account for a release about the data."""
        return self.bought(bill, prepare).indices

    def bought(self, bill: Bill, prepare: Callable[[], Callable[[], Indices]]) -> PaidAnswer:
        """Do the same, and tell whether this call charged for it if the account tells."""
        return buy_from(self, bill, prepare)


def currency_of(account: object) -> str | None:
    """Return the unit that an account counts: "epsilon", "epsilon and delta", "rho", or "several".

    None without an account, or if it does not tell. A verb with several ways to answer compares them at the same
    charge by it.
    """
    return getattr(account, "currency", None)


def adds_epsilons(currency: str | None) -> bool:
    """Return whether an account of this unit adds up epsilons."""
    return currency in ("epsilon", "epsilon and delta")


def describe_account(account: Any, about: About) -> Any:
    """Return an account with the dataset of its releases; one that an outer verb has named stays."""
    if isinstance(account, Listener):
        account.about = account.about or about
        return account
    if isinstance(account, DescribedAccount) or not hasattr(account, "buy"):
        return account
    return DescribedAccount(account, about)


def read_account(ledger: object) -> Account | None:
    """Return the account to charge, or None.

    Raises:
        InvalidArgument: if it is no account.
    """
    if ledger is None or hasattr(ledger, "buy"):
        return ledger
    raise InvalidArgument(
        'ledger must be a session, such as Ledger("budget.db").session("adult"), got '
        f"{preview(ledger)}"
    )


class Listener:
    """The `ledger` of a verb that is called for its order alone: for its price or its distribution.

    Args:
        billing: whether the order is for the price, as if an account paid; otherwise it is for the
            distribution, as without an account.
        payer: the account that would pay, or None.

    Attributes:
        about: the subject of the release, as the verb tells: see `payment.About`.
        currency: see `currency_of`.
    """

    __slots__ = ("about", "billing", "currency")

    class OrderTaken(Exception):
        """Raised in place of an answer, with the order that was taken, and how it would be delivered.

        Attributes:
            order: the order.
            prepare: computes the private scores, and returns the function that draws.
            name: returns the answer for a draw.
        """

        def __init__(self, order: object, prepare: PrepareDraw, name: Callable[[Any], Any]) -> None:
            super().__init__("an order was taken, and no answer given")
            self.order, self.prepare, self.name = order, prepare, name

    def __init__(self, *, billing: bool, payer: object = None) -> None:
        self.billing, self.currency = billing, currency_of(payer)
        self.about: Any = None

    def buy(self, bill: object, prepare: object) -> NoReturn:
        """Refuse: a listener does not pay."""
        raise InvalidArgument("this is asked only to see what it would cost")


def is_paid(terms: Mapping[str, object]) -> bool:
    """Return whether an account is to pay."""
    account = terms.get("ledger")
    return account is not None and not isinstance(account, Listener)


def is_quoted(terms: Mapping[str, object]) -> bool:
    """Return whether the call is for its order alone, so that no data may be opened."""
    return isinstance(terms.get("ledger"), Listener)


def is_billed(terms: Mapping[str, object]) -> bool:
    """Return whether an account pays, or its price is asked for."""
    account = terms.get("ledger")
    return account.billing if isinstance(account, Listener) else account is not None
