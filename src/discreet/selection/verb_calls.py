"""Calls of verbs that are not made: the orders that they would place, and their bills."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ..base.arguments import named_arguments, refuse_one_shot
from ..base.error_boundary import error_boundary
from ..errors import InvalidArgument, preview
from .payment import Bill, Listener
from .question import Delivery, OrderTaken
from .releases import Release


class Call(NamedTuple):
    """A verb and its arguments, not called yet."""

    verb: Callable[..., Release]
    arguments: tuple[Any, ...]
    terms: dict[str, Any]

    def about(self, data: object) -> Call:
        """Return it with data as its first argument."""
        return self._replace(arguments=(data, *self.arguments))

    def bill(self, **terms: object) -> Bill:
        """Return its bill."""
        return bill_of(self.verb, *self.arguments, **{**self.terms, **terms})

    def ask(self, **terms: object) -> Release:
        """Call the verb and return its release."""
        return self.verb(*self.arguments, **{**self.terms, **terms})


def delivery_of(verb: Callable[..., Release], *args: Any, **kwargs: Any) -> Delivery:
    """Return the order that verb(*args, **kwargs) would place, without paying or reading private data.

    Of a `ledger` among the arguments only its currency is asked.

    Raises:
        InvalidArgument: if a public argument is invalid, or can be read once only, or this is no verb
            that releases.
    """
    return _listen(verb, args, kwargs, Listener(billing=False, payer=kwargs.get("ledger")))


def bill_of(verb: Callable[..., Release], *args: Any, **kwargs: Any) -> Bill:
    """Return the bill of verb(*args, **kwargs), without paying or reading private data.

    Of a `ledger` among the arguments only its currency is asked: see `payment.currency_of`.

    Raises:
        InvalidArgument: as for `delivery_of`.
    """
    listener = Listener(billing=True, payer=kwargs.get("ledger"))
    order = _listen(verb, args, kwargs, listener).order
    worst, parts, noise = order.worst_error(), order.parts(), order.noise()
    return replace(order.bill(), about=listener.about, worst_error=worst, parts=parts, noise=noise)


@error_boundary
def quote(verb: Callable[..., Release], *args: Any, **kwargs: Any) -> Bill:
    """Return the cost of verb(*args, **kwargs), and how far off its answer may be, without a ledger.

    Nothing is charged, and no private data are read. `Session.quote` returns the same, and the rest of the budget.

    Args:
        verb: a verb, such as `discreet.mode`.
        *args: the arguments of the verb, in order.
        **kwargs: its keyword arguments.

    Raises:
        InvalidArgument: if the call would be rejected, or names a ledger.
    """
    if kwargs.get("ledger") is not None:
        raise InvalidArgument(
            "discreet.quote asks no ledger. For the price in a budget call session.quote(verb, "
            "...), without ledger"
        )
    return bill_of(verb, *args, **kwargs)


def no_verb(verb: object) -> InvalidArgument:
    """Return the error for a function that made no release."""
    return InvalidArgument(f"{preview(verb)} is not a verb that releases an answer")


def _listen(
    verb: Callable[..., Release],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    listener: Listener,
) -> Delivery:
    """Return the order that a verb places with a listener."""
    if not callable(verb):
        raise InvalidArgument(f"a verb such as discreet.mode is needed, got {preview(verb)}")
    for name, argument in named_arguments(verb, args, kwargs):
        refuse_one_shot(argument, name)
    try:
        verb(*args, **{**kwargs, "ledger": listener})
    except OrderTaken as notice:
        return notice.delivery
    raise no_verb(verb)
