"""OwnRights: the name of a caller, and the free questions that are allowed to that caller."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...base.numbers import exact
from ...errors import InvalidArgument
from ...privacy.contract import equals


@dataclass(frozen=True, slots=True)
class OwnRights:
    """The rights of a caller, as that caller may know them.

    Attributes:
        analyst: the analyst of discreet.toml who asks; None for the owner and for an auditor.
        verbs: the verbs of free questions.
        max_epsilon: the most that one free question may cost; None: as much as the budgets pay.
        max_delta: the most δ that one may cost; None: none where `max_epsilon` is declared, else as much as the
            budgets pay.
        where: the columns with which conditions of free questions may compare; None for all.
        confirm_above: a question of an assistant that may cost more is confirmed by its user; None for none.
    """

    analyst: str | None
    verbs: tuple[str, ...]
    max_epsilon: Fraction | None = None
    max_delta: Fraction | None = None
    where: tuple[str, ...] | None = None
    confirm_above: Fraction | None = None

    def as_dict(self) -> dict[str, object]:
        """Return the rights in plain values, ready for JSON; exact numbers are texts."""
        return {
            "analyst": self.analyst,
            "verbs": list(self.verbs),
            "where": None if self.where is None else list(self.where),
            **{name: _text_of(getattr(self, name)) for name in _LIMITS},
        }

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> "OwnRights":
        """Return the rights that `as_dict` wrote."""
        amounts = {
            name: None if plain[name] is None else exact(plain[name], name) for name in _LIMITS
        }
        where = None if plain["where"] is None else tuple(plain["where"])
        return cls(plain["analyst"], tuple(plain["verbs"]), where=where, **amounts)

    def check_is_analyst(self) -> None:
        """Raise unless an analyst asks: an assistant has no other rights.

        Raises:
            InvalidArgument: for the owner and an auditor.
        """
        if self.analyst is None:
            raise InvalidArgument(
                "an assistant asks as an analyst, and this token is of an owner or an auditor: discreet token "
                "create --role analyst --analyst NAME"
            )

    def __str__(self) -> str:
        verbs = ", ".join(self.verbs) or "none"
        limits = [equals(name, one) for name in _LIMITS if (one := getattr(self, name)) is not None]
        if self.where is not None:
            limits.append(f"where: {', '.join(self.where) or 'no column'}")
        who = "the owner, or an auditor" if self.analyst is None else self.analyst
        return f"{who}: free questions by {verbs}" + (f" ({'; '.join(limits)})" if limits else "")


_LIMITS = ("max_epsilon", "max_delta", "confirm_above")


def _text_of(number: Fraction | None) -> str | None:
    return None if number is None else str(number)
