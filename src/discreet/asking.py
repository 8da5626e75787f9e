"""What a verb is asked, without paying or reading private data: its order, its price, and how it would answer."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from .arguments import named_arguments, refuse_one_shot
from .errors import InvalidArgument, shown
from .payment import Bill, Listener, PrepareDraw
from .releases import Release
from .selection import Order


class Hearing(NamedTuple):
    """What a verb was asked, without paying or reading private data.

    Attributes:
        order: the order that it would place.
        prepare: computes the private scores, and returns the function that draws.
        name: returns the answer for what was drawn.
    """

    order: Order
    prepare: PrepareDraw
    name: Callable[[Any], Any]


def asked_of(verb: Callable[..., Release], *args: Any, **kwargs: Any) -> Hearing:
    """Return what verb(*args, **kwargs) asks, without paying or reading private data.

    Raises:
        InvalidArgument: if a public argument cannot be accepted, or can be read once only, or this is no verb
            that releases.
    """
    return _heard(verb, args, kwargs, Listener(billing=False))


def order_of(verb: Callable[..., Release], *args: Any, **kwargs: Any) -> Order:
    """Return the order that verb(*args, **kwargs) would place, without paying or reading private data.

    Raises:
        InvalidArgument: as for `asked_of`.
    """
    return asked_of(verb, *args, **kwargs).order


def bill_of(verb: Callable[..., Release], *args: Any, **kwargs: Any) -> Bill:
    """Return the bill of verb(*args, **kwargs), without paying or reading private data.

    Raises:
        InvalidArgument: as for `asked_of`.
    """
    listener = Listener(billing=True)
    order = _heard(verb, args, kwargs, listener).order
    return replace(order.bill(), about=listener.about, worst_error=order.worst_error())


def _heard(
    verb: Callable[..., Release],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    listener: Listener,
) -> Hearing:
    """Return what the verb asks of the listener."""
    if not callable(verb):
        raise InvalidArgument(f"a verb such as discreet.mode is needed, got {shown(verb)}")
    for what, value in named_arguments(verb, args, kwargs):
        refuse_one_shot(value, what)
    try:
        verb(*args, **{**kwargs, "ledger": listener})
    except Listener.Heard as heard:
        assert isinstance(heard.order, Order)  # noqa: PT017  # it is one of ours
        return Hearing(heard.order, heard.prepare, heard.name)
    raise InvalidArgument(f"{shown(verb)} is no verb that releases an answer")
