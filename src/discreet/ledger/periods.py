"""The calendar periods of budgets that are renewed: years, quarters and months, in UTC."""

import datetime as dt
from dataclasses import dataclass

from ..base.arguments import choice
from ..tables.datasets.model import PERIODS


@dataclass(frozen=True, slots=True)
class Period:
    """A year, a quarter or a month. Periods of one kind are in the order of their names.

    Attributes:
        per: "year", "quarter" or "month".
        name: such as "2027", "2027-Q1" or "2027-01".
    """

    per: str
    name: str

    @property
    def has_ended(self) -> bool:
        """Whether a later one has begun, by the clock of this machine."""
        return this_period(self.per).name > self.name

    @property
    def as_dict(self) -> dict[str, str]:
        """The period in plain values, for an event."""
        return {"per": self.per, "period": self.name}


def read_per(kind: object) -> str:
    """Return the kind of a period.

    Raises:
        InvalidArgument: if it is none.
    """
    return choice(kind, "per", PERIODS)


def this_period(per: str) -> Period:
    """Return the period of today."""
    day = today()
    names = {
        "year": f"{day.year:04}",
        "quarter": f"{day.year:04}-Q{(day.month + 2) // 3}",
        "month": f"{day.year:04}-{day.month:02}",
    }
    return Period(per, names[per])


def today() -> dt.date:
    """Return the date in UTC."""
    return dt.datetime.now(dt.UTC).date()
