"""The bill for a release, and the account that pays it. All of it is public."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, NoReturn, Protocol, TypeAlias, runtime_checkable

from .accuracy import ErrorBound
from .errors import InvalidArgument, preview
from .messages import Message
from .privacy.contract import Guarantee
from .privacy.units import Unit, plain_unit
from .released_values import ReleasedValue

Indices: TypeAlias = "int | ReleasedValue | list[Indices]"
"""Drawn answers, which a ledger can hold: indices, whole numbers, or values where no candidates were listed."""


@dataclass(frozen=True, slots=True)
class About:
    """The described dataset that a release is about, in plain values.

    Attributes:
        name: its name, or None.
        digest: of all that is declared: see `datasets.Dataset.digest`; None for data without a description.
        source: where the data are; None for data in memory.
        privacy_unit: the column of the privacy unit, or its columns; or None.
        max_contributions: the declared bound, or None.
        columns: the declared columns, in words.
        tables: the tables of a query as the catalogue of its database told, in plain values; None where there is no
            query, or nobody asked: see `tables.query_tables`.
        check: the `TableCheck` of a question about a query: the account's record goes to the reading
            by it, and the catalogue's tables come back.
    """

    name: str | None = None
    digest: str | None = None
    source: Any = None
    privacy_unit: Unit | None = None
    max_contributions: int | None = None
    columns: tuple[str, ...] = ()
    tables: Any = None
    check: Any = field(default=None, compare=False, repr=False)

    @property
    def identity(self) -> dict[str, Any]:
        """The source and the privacy unit: a change of them needs the owner's word."""
        names = ("source", "privacy_unit", "max_contributions")
        return {name: getattr(self, name) for name in names} | {
            "privacy_unit": plain_unit(self.privacy_unit)
        }


UNDESCRIBED = About()
"""A table or a column that was given without a description."""


@dataclass(frozen=True, slots=True)
class BilledPart:
    """One of several questions that are answered at one price. Public.

    Attributes:
        name: its name among them.
        guarantee: its own guarantee.
        worst_error: a bound on the error of its answer; None where none is known.
    """

    name: str
    guarantee: Guarantee
    worst_error: ErrorBound | None = None

    def as_dict(self) -> dict[str, object]:
        """Return the part in plain values, ready for JSON."""
        worst = None if self.worst_error is None else self.worst_error.as_dict()
        return {"name": self.name, "guarantee": self.guarantee.as_dict(), "worst_error": worst}

    def __str__(self) -> str:
        part = Message("{name}: {guarantee}", name=self.name, guarantee=self.guarantee)
        if self.worst_error is None:
            return part
        return Message("{part}; worst error: {error}", part=part, error=self.worst_error)


@dataclass(frozen=True, slots=True)
class Bill:
    """The public side of one release: its question, its guarantee and its name in a ledger.

    Attributes:
        guarantee: the guarantee of the whole release, all draws together.
        mechanism: the name of the mechanism.
        query: the question in words.
        digest: of everything but the data that decides the distribution of the answer: see `digests`.
        request: the caller's name for this request; the same name is never charged or drawn twice.
        candidates: how many candidates there are, where that is public and finite.
        unit: the privacy unit: a column of which all rows with one value are one record, or a tuple of several;
            None if every row is one.
        about: the described dataset; `UNDESCRIBED` for other data; None where scores or a number were given.
        worst_error: a bound on the error of one answer; None where none is known, or nobody asked for it.
        parts: the questions, where several are answered at this price.
    """

    guarantee: Guarantee
    mechanism: str
    query: str
    digest: str
    request: str | None = None
    candidates: int | None = None
    unit: Unit | None = None
    about: About | None = None
    worst_error: ErrorBound | None = field(default=None, compare=False)
    parts: tuple[BilledPart, ...] = field(default=(), compare=False)


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


class PaidAnswer(NamedTuple):
    """A drawn answer and its charge.

    Attributes:
        drawn: the indices of the answer.
        charged: whether this call charged for it; False if the same request was charged before; None if the
            account does not tell.
    """

    indices: Indices
    charged: bool | None


@runtime_checkable
class TellingAccount(Protocol):
    """An account that tells whether a release was charged now, or its request was charged before."""

    def bought(self, bill: Bill, prepare: Callable[[], Callable[[], Indices]]) -> PaidAnswer:
        """Do as `Account.buy` does, and tell whether this call charged for it."""
        ...


def buy_from(
    account: Account, bill: Bill, prepare: Callable[[], Callable[[], Indices]]
) -> PaidAnswer:
    """Charge an account for a release, return the draw, and whether this call charged if the account tells."""
    if isinstance(account, TellingAccount):
        return account.bought(bill, prepare)
    return PaidAnswer(account.buy(bill, prepare), None)


@dataclass(frozen=True, slots=True)
class DescribedAccount:
    """An account with the dataset of its releases."""

    account: Account
    about: About

    @property
    def currency(self) -> str | None:
        """See `currency_of`."""
        return currency_of(self.account)

    def buy(self, bill: Bill, prepare: Callable[[], Callable[[], Indices]]) -> Indices:
        """Charge the account for a release about the data."""
        return self.bought(bill, prepare).indices

    def bought(self, bill: Bill, prepare: Callable[[], Callable[[], Indices]]) -> PaidAnswer:
        """Do the same, and tell whether this call charged for it if the account tells."""
        return buy_from(self.account, replace(bill, about=self.about), prepare)


def currency_of(account: object) -> str | None:
    """Return the unit that an account counts: "epsilon", "rho", or another word where its first charge decides.

    None without an account, or if it does not tell. A verb with several ways to answer compares them at the same
    charge by it.
    """
    return getattr(account, "currency", None)


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
        'ledger must be a session, such as Ledger("budget.db").session("adult"), got {ledger}',
        ledger=preview(ledger),
    )


PrepareDraw = Callable[[], Callable[[], Any]]


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
