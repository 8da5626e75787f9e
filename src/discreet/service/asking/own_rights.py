"""OwnRights: the name of a caller, and the free questions that are allowed to that caller."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ...base.error_boundary import public_errors
from ...base.numbers import exact
from ...errors import InvalidArgument, preview
from ...ledger import Amount, Budget
from ...ledger.failed_questions import LEAST_PART
from ...privacy.contract import Guarantee, equals
from ...selection.payment import Bill
from ...selection.verb_calls import Call
from ...tables.conditions.condition_readers import read_condition
from ...tables.conditions.conditions import names_of_columns
from ...tables.verb_table import VERBS
from .free_questions import parts_of_question, releases_keys


@dataclass(frozen=True, slots=True)
class OwnRights:
    """The rights of a caller, as that caller may know them.

    Attributes:
        analyst: the analyst of discreet.toml who asks. None for the owner and for an auditor.
        verbs: the verbs of free questions.
        max_epsilon: the most that one free question may cost, as ε of pure differential privacy; None: as much as
            the budgets pay.
        max_delta: the most δ that one may cost; None: none where `max_epsilon` is declared, else as much as the
            budgets pay.
        where: the columns with which conditions of free questions may compare. None for all.
        confirm_above: a question of an assistant that may cost more is confirmed by its user. None for none.
        least: the least that a question may cost, as ε or ρ of a share. None of a unit for the default. Named
            questions may cost less. It does not travel.
    """

    analyst: str | None
    verbs: tuple[str, ...] = ()
    max_epsilon: Fraction | None = None
    max_delta: Fraction | None = None
    where: tuple[str, ...] | None = ()
    confirm_above: Fraction | None = None
    least: Amount = field(default=Amount(), compare=False, repr=False)

    @classmethod
    def of_all(cls) -> "OwnRights":
        """Return the rights of an owner or an auditor, without limits."""
        return cls(None, tuple(VERBS), where=None)

    @classmethod
    def declared(cls, analyst: str, about: Mapping[str, Any]) -> "OwnRights":
        """Return the rights that the declaration about an analyst gives."""
        verbs, where = (tuple(about.get(name, ())) for name in ("verbs", "where"))
        least = Amount(about.get("min_epsilon"), about.get("min_rho"))
        limits = {name: about.get(name) for name in LIMITS}
        return cls(analyst, verbs, where=where, least=least, **limits)

    def as_dict(self) -> dict[str, object]:
        """Return the rights in plain values, ready for JSON; exact numbers are texts."""
        return {
            "analyst": self.analyst,
            "verbs": list(self.verbs),
            "where": None if self.where is None else list(self.where),
            **{name: _text_of(getattr(self, name)) for name in LIMITS},
        }

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> "OwnRights":
        """Return the rights that `as_dict` wrote."""
        amounts: dict[str, Any] = {
            name: None if plain[name] is None else exact(plain[name], name) for name in LIMITS
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

    def declared_least(self, share: Budget) -> Amount:
        """Return the least that a question may cost, as far as the owner declares it.

        The default is not above the most for one question, or none could be asked.
        """
        epsilon, most, total = self.least.epsilon, self.max_epsilon, share.counted_total.epsilon
        if epsilon is None and most is not None and total is not None:
            epsilon = min(most, total / LEAST_PART)
        return Amount(epsilon, self.least.rho)

    @public_errors()
    def check(self, verb: str, question: Call) -> None:
        """Raise unless the verb is allowed, and `keys` where the answer holds unlisted values."""
        names = (verb, "keys") if releases_keys(question) else (verb,)
        for one in names:
            if one not in self.verbs:
                words = (
                    f"only {', '.join(self.verbs)}" if self.verbs else "only questions of its owner"
                )
                why = "" if one == verb else ", and an answer without a list of values needs it"
                raise InvalidArgument(f"{one} is not allowed here, {words}{why}")
        self._check_condition(question.terms.get("where"))
        for part in parts_of_question(question):
            self.check(part.verb.__name__, part)

    def _check_condition(self, where: object) -> None:
        """Raise unless the columns of a condition are allowed."""
        if self.where is None:
            return
        condition = read_condition(where)
        names = [] if condition is None else names_of_columns(condition)
        others = [name for name in names if name not in self.where]
        if others:
            allowed = f"only with {', '.join(self.where)}" if self.where else "with no column"
            raise InvalidArgument(
                f"where may not compare with {preview(others[0])} here, {allowed}"
            )

    @public_errors()
    def check_bill(self, bill: Bill, neighbors: str) -> None:
        """Raise if a question costs more than is allowed."""
        epsilon, delta = _parts(bill.guarantee.under(neighbors))
        most, most_delta = self.max_epsilon, self._most_delta
        is_small = most is None or (epsilon is not None and epsilon <= most)
        if is_small and (most_delta is None or delta <= most_delta):
            return
        limits = {"ε": most, "δ": self.max_delta}
        allowed = " and ".join(equals(sign, x) for sign, x in limits.items() if x is not None)
        cost = "no ε of pure differential privacy" if epsilon is None else equals("ε", epsilon)
        if delta:
            cost += f" and {equals('δ', delta)}"
        raise InvalidArgument(
            f"one question may cost up to {allowed} here, and this one has {cost}"
        )

    @property
    def _most_delta(self) -> Fraction | None:
        """The most δ of one question. None if the budgets alone limit it."""
        if self.max_delta is None and self.max_epsilon is not None:
            return Fraction(0)
        return self.max_delta

    def __str__(self) -> str:
        verbs = ", ".join(self.verbs) or "none"
        limits = [equals(name, one) for name in LIMITS if (one := getattr(self, name)) is not None]
        if self.where is not None:
            limits.append(f"where: {', '.join(self.where) or 'no column'}")
        who = "the owner, or an auditor" if self.analyst is None else self.analyst
        return f"{who}: free questions by {verbs}" + (f" ({'; '.join(limits)})" if limits else "")


LIMITS = ("max_epsilon", "max_delta", "confirm_above")
"""The amounts that an owner may declare for an analyst."""


def _text_of(number: Fraction | None) -> str | None:
    return None if number is None else str(number)


def _parts(guarantee: Guarantee) -> tuple[Fraction | None, Fraction]:
    """Return the ε and the δ that a guarantee costs in sums of both."""
    if not 0 < guarantee.slack < 1:
        return guarantee.pure, Fraction(0)
    return Fraction(0) if guarantee.core is None else guarantee.core.pure, guarantee.slack
