"""The account that pays for a release, the bill that it is sent, and the dataset that it is about. All public."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol, TypeAlias

from ..base.messages import Message
from ..errors import InvalidArgument, preview
from ..privacy.contract import Guarantee
from ..privacy.sensitivity import Unit, plain_unit

if TYPE_CHECKING:
    from ..mechanisms.accuracy import ErrorBound
    from ..mechanisms.count_noise import NoiseChoice
    from .released_values import ReleasedValue


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
        reach: of a table or a query in its database as the catalogue told, in plain values; None without a
            database, or if it was not asked: see `tables.engines.reach`.
        check: the `ReachCheck` of a question about a database: the account's record goes to the reading by it, and
            the catalogue's word comes back.
    """

    name: str | None = None
    digest: str | None = None
    source: Any = None
    privacy_unit: Unit | None = None
    max_contributions: int | None = None
    columns: tuple[str, ...] = ()
    reach: Any = None
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
        noise: which noise its numbers have and why, where there is a choice; else None.
    """

    name: str
    guarantee: Guarantee
    worst_error: ErrorBound | None = None
    noise: NoiseChoice | None = None

    def as_dict(self) -> dict[str, object]:
        """Return the part in plain values, ready for JSON."""
        worst = None if self.worst_error is None else self.worst_error.as_dict()
        return {
            "name": self.name, "guarantee": self.guarantee.as_dict(), "worst_error": worst,
            **({} if self.noise is None else {"noise": self.noise.as_dict()}),
        }  # fmt: skip

    def __str__(self) -> str:
        part = Message("{name}: {guarantee}", name=self.name, guarantee=self.guarantee)
        if self.worst_error is not None:
            part = Message("{part}; worst error: {error}", part=part, error=self.worst_error)
        if self.noise is not None:
            part = Message("{part}; {noise}", part=part, noise=self.noise)
        return part


@dataclass(frozen=True, slots=True, repr=False)
class Bill:
    """The public side of one release: its question, its guarantee and its name in a ledger. Also its price.

    Attributes:
        guarantee: the guarantee of the whole release, all draws together.
        mechanism: the name of the mechanism.
        query: the question in words.
        digest: of everything but the data that decides the distribution of the answer: see `digests`.
        request: the caller's name for this request; the same name is never charged or drawn twice.
        candidates: how many candidates there are, where that is public and finite.
        unit: the column that identifies the privacy unit, or a tuple of several. Rows with equal values there are
            one record. None if every row is a record.
        about: the described dataset; `UNDESCRIBED` for other data; None where scores or a number were given.
        worst_error: a bound on the error of all answers; None where none is known, or nobody asked for it.
        parts: the questions, where several are answered at this price.
        noise: which noise its numbers will have and why, where there is a choice, and if that was asked for.
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
    noise: NoiseChoice | None = field(default=None, compare=False)

    def under(self, request: str) -> Bill:
        """Return the bill under the name of a request; `dataclasses.replace` takes twice as long."""
        return Bill(
            self.guarantee, self.mechanism, self.query, self.digest, request, self.candidates, self.unit,
            self.about, self.worst_error, self.parts, self.noise,
        )  # fmt: skip

    def as_dict(self) -> dict[str, object]:
        """Return the price in plain values, exact numbers as text, ready for JSON."""
        pure, worst = self.guarantee.pure, self.worst_error
        return {
            "guarantee": self.guarantee.as_dict(), "epsilon": None if pure is None else str(pure),
            "mechanism": self.mechanism, "query": self.query,
            "worst_error": None if worst is None else worst.as_dict(),
            **({} if self.noise is None else {"noise": self.noise.as_dict()}),
            **({"parts": [part.as_dict() for part in self.parts]} if self.parts else {}),
        }  # fmt: skip

    def _repr_html_(self) -> str:
        from ..base.text_tables import fact_table
        from ..privacy.wording import in_brief

        facts = {
            "cost": in_brief(self.guarantee, self.unit), "question": self.query, "worst error": self.worst_error,
            "noise": self.noise, **{part.name: part for part in self.parts},
        }  # fmt: skip
        return fact_table("Price: nothing was charged", facts).html()

    def __repr__(self) -> str:
        return f"Bill({self})"

    def __str__(self) -> str:
        from ..privacy.wording import by_mechanism, in_brief

        cost = in_brief(self.guarantee, self.unit)
        price = Message(
            "costs {cost}, {mechanism}. Nothing was charged", cost=cost, mechanism=by_mechanism(self.mechanism)
        )  # fmt: skip
        if self.worst_error is not None:
            price = Message("{quote}; worst error: {error}", quote=price, error=self.worst_error)
        if self.noise is not None:
            price = Message("{quote}; {noise}", quote=price, noise=self.noise)
        for part in self.parts:
            price = Message("{quote}\n  {part}", quote=price, part=part)
        return price


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

    def __init__(self, *, billing: bool, payer: object = None) -> None:
        self.billing, self.currency = billing, currency_of(payer)
        self.about: About | None = None

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
