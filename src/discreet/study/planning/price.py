"""quote: the price of a question, and how far off its answer may be, without a ledger."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...base.error_boundary import error_boundary
from ...base.messages import Message
from ...base.text_tables import fact_table
from ...errors import InvalidArgument
from ...privacy.wording import by_mechanism, in_brief
from ...selection.payment import Bill, BilledPart
from ...selection.releases import Release
from ...selection.verb_calls import bill_of


@dataclass(frozen=True, slots=True, repr=False)
class Price:
    """The price of a question. No budget was charged, and no private data were read.

    Attributes:
        bill: the guarantee, the mechanism, the question and the bound on the error, all of them public.
    """

    bill: Bill

    @property
    def guarantee(self) -> Any:
        """The guarantee of the whole release."""
        return self.bill.guarantee

    @property
    def worst_error(self) -> Any:
        """How far off one answer may be, whatever the data are; None where no bound is known."""
        return self.bill.worst_error

    @property
    def parts(self) -> tuple[BilledPart, ...]:
        """The questions, where several are answered at this price."""
        return self.bill.parts

    @property
    def noise(self) -> Any:
        """Which noise the numbers will have and why, where there is a choice; else None."""
        return self.bill.noise

    def as_dict(self) -> dict[str, object]:
        """Return the price in plain values, exact numbers as text, ready for JSON."""
        pure, worst = self.guarantee.pure, self.worst_error
        return {
            "guarantee": self.guarantee.as_dict(), "epsilon": None if pure is None else str(pure),
            "mechanism": self.bill.mechanism, "query": self.bill.query,
            "worst_error": None if worst is None else worst.as_dict(),
            **({} if self.noise is None else {"noise": self.noise.as_dict()}),
            **({"parts": [part.as_dict() for part in self.parts]} if self.parts else {}),
        }  # fmt: skip

    def _repr_html_(self) -> str:
        facts = {
            "cost": in_brief(self.guarantee, self.bill.unit), "question": self.bill.query,
            "worst error": self.worst_error, "noise": self.noise, **{part.name: part for part in self.parts},
        }  # fmt: skip
        return fact_table("Price: nothing was charged", facts).html()

    def __repr__(self) -> str:
        return f"Price({self})"

    def __str__(self) -> str:
        cost, mechanism = in_brief(self.guarantee, self.bill.unit), self.bill.mechanism
        price = Message(
            "costs {cost}, {mechanism}. Nothing was charged", cost=cost, mechanism=by_mechanism(mechanism)
        )  # fmt: skip
        if self.worst_error is not None:
            price = Message("{quote}; worst error: {error}", quote=price, error=self.worst_error)
        if self.noise is not None:
            price = Message("{quote}; {noise}", quote=price, noise=self.noise)
        for part in self.parts:
            price = Message("{quote}\n  {part}", quote=price, part=part)
        return price


@error_boundary
def quote(verb: Callable[..., Release], *args: Any, **kwargs: Any) -> Price:
    """Return the cost of verb(*args, **kwargs) and how far off its answer may be, without a ledger.

    Nothing is charged, and no private data are read. `Session.quote` tells the same beside what a budget has left.

    Args:
        verb: a verb, such as `discreet.mode`.
        *args: the arguments of the verb, in order.
        **kwargs: its keyword arguments.

    Raises:
        InvalidArgument: if the call would be refused, or names a ledger.
    """
    if kwargs.get("ledger") is not None:
        raise InvalidArgument(
            "discreet.quote asks no ledger. For the price in a budget call session.quote(verb, "
            "...), without ledger"
        )
    return Price(bill_of(verb, *args, **kwargs))
