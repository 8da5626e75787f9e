"""A stand-in for an account that records the order of a verb instead of paying for it."""

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from .errors import InvalidArgument

PrepareDraw = Callable[[], Callable[[], Any]]


class Listener:
    """The `ledger` of a verb that is called for its order alone: for its price or its distribution.

    Args:
        billing: whether the order is for the price, as if an account paid; otherwise it is for the
            distribution, as without an account.

    Attributes:
        about: what the release is about, as the verb tells: see `payment.About`.
    """

    __slots__ = ("about", "billing")

    class Heard(Exception):
        """Raised in place of an answer, with the order that was taken, and how it would be delivered.

        Attributes:
            order: the order.
            prepare: computes the private scores, and returns the function that draws.
            name: returns the answer for what was drawn.
        """

        def __init__(self, order: object, prepare: PrepareDraw, name: Callable[[Any], Any]) -> None:
            super().__init__("an order was taken, and no answer given")
            self.order, self.prepare, self.name = order, prepare, name

    def __init__(self, *, billing: bool) -> None:
        self.billing = billing
        self.about: Any = None

    def buy(self, bill: object, prepare: object) -> NoReturn:
        """Refuse: a listener pays for nothing."""
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
