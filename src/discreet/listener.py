"""A listener stands where an account stands, and takes the order instead of paying for it."""

from collections.abc import Mapping
from typing import Any, NoReturn

from .errors import InvalidArgument


class Listener:
    """What a verb gets for a ledger when it is only to say what it would ask.

    Args:
        billing: whether for the price, of the question as it is when an account pays; or else to look at
            the distribution, of the question as it is when nobody does.
    """

    __slots__ = ("billing",)

    class Heard(Exception):
        """Raised in place of an answer, with the order that was taken."""

        def __init__(self, order: Any) -> None:
            super().__init__("an order was taken, and no answer given")
            self.order = order

    def __init__(self, *, billing: bool) -> None:
        self.billing = billing

    def buy(self, bill: object, prepare: object) -> NoReturn:
        """Refuse: a listener pays for nothing."""
        raise InvalidArgument("this is asked only to see what it would cost")


def is_paid(terms: Mapping[str, Any]) -> bool:
    """Return whether an account is to pay."""
    account = terms.get("ledger")
    return account is not None and not isinstance(account, Listener)


def is_quoted(terms: Mapping[str, Any]) -> bool:
    """Return whether this is asked only to see what would be asked, so that no data may be opened."""
    return isinstance(terms.get("ledger"), Listener)


def is_billed(terms: Mapping[str, Any]) -> bool:
    """Return whether an account is to pay, or the price is asked that it would pay."""
    account = terms.get("ledger")
    return account.billing if isinstance(account, Listener) else account is not None
