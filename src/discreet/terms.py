"""The arguments that verbs share: their types, their defaults, and the signatures that spell them out."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import TypedDict, TypeVar, get_args

from .arguments import read_name
from .error_boundary import error_boundary
from .errors import InvalidArgument
from .mechanisms import Mechanism
from .numbers import Number
from .payment import Account, read_account
from .privacy.sensitivity import Neighbors

Verb = TypeVar("Verb", bound=Callable[..., object])


class Terms(TypedDict, total=False):
    """The privacy parameter, the mechanism and the payment: the arguments that every verb takes.

    Attributes:
        epsilon: the most privacy loss that the answer may cost; exact, 0.1 means one tenth. Or one of:
        rho: the same in zero-concentrated differential privacy, or
        scale: the scale of the noise in units of the score, 1 / eta.
        mechanism: a name or a mechanism; the exponential mechanism if not given.
        neighbors: the neighbouring relation, "add_remove" (default) or "replace_one".
        privacy_unit: the column of the privacy unit, such as a user id: all rows with one value of it are one
            record. A sensitivity that you declare must hold for that. Without it every row is a record.
        size: the number of independent answers, of which every one costs.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`; without it no budget
            is kept.
        request: a name for this request in the ledger: the same request again returns the same answer and
            costs nothing.
    """

    epsilon: Number | None
    rho: Number | None
    scale: Number | None
    mechanism: str | Mechanism
    neighbors: Neighbors
    privacy_unit: str | None
    size: int | None
    ledger: Account | None
    request: str | None


class PersonTerms(Terms, total=False):
    """The terms of verbs that count records in a table: the groups that answer, besides.

    Attributes:
        privacy_unit: as in `Terms`; rows in which it is null are left out.
        by: the column of groups; the answer is then a dict from group to answer.
        groups: the groups that answer; public, never taken from the data. Rows of other groups are left out.
        max_groups: the most groups to which one privacy unit contributes (1); the cost is divided
            among them.
    """

    by: str | None
    groups: Iterable[object] | None
    max_groups: int


class RecordTerms(PersonTerms, total=False):
    """The terms of verbs over numbers in a table: a bound on the rows of one privacy unit, besides.

    Attributes:
        max_contributions: the most rows that one privacy unit contributes (1), in every group. Which rows are
            kept is decided by a rule that reads the rows of that unit alone: docs/how-to/user_level_privacy.md.
    """

    max_contributions: int


DEFAULTS: dict[str, object] = {
    "max_contributions": 1,
    "by": None,
    "groups": None,
    "max_groups": 1,
    "epsilon": None,
    "rho": None,
    "scale": None,
    "mechanism": "exponential",
    "neighbors": "add_remove",
    "privacy_unit": None,
    "size": None,
    "ledger": None,
    "request": None,
}
"""The default of every term, in the order in which signatures show them."""

PAID = ("privacy_unit", "ledger", "request")
"""The terms of a release that is charged to an account."""


def takes_terms(verb: Verb) -> Verb:
    """Spell out the terms in the signature that help() shows: those of the `Unpack` of its **terms."""
    parameters = inspect.signature(verb).parameters.values()
    annotated = [
        kind for p in parameters if p.kind is p.VAR_KEYWORD for kind in get_args(p.annotation)
    ]
    return _shows(verb, annotated[0] if annotated else Terms)


def takes_terms_unpaid(verb: Verb) -> Verb:
    """Spell out the terms of a function that releases nothing: without those of payment."""
    return _shows(verb, Terms, PAID)


def _shows(verb: Verb, kind: object, without: tuple[str, ...] = ()) -> Verb:
    types = kind.__annotations__
    terms = {n: (types[n], d) for n, d in DEFAULTS.items() if n in types and n not in without}
    verb.__signature__ = spelled_out(verb, terms)  # type: ignore[attr-defined]
    return error_boundary(verb)  # type: ignore[return-value]


def spelled_out(
    function: Callable[..., object], terms: Mapping[str, tuple[object, object]]
) -> inspect.Signature:
    """Return the signature of a function with keyword arguments in place of its **terms, or of its `terms`.

    Args:
        function: the function.
        terms: the type and the default of every argument.
    """
    signature = inspect.signature(function)
    shown = [
        p
        for p in signature.parameters.values()
        if p.kind is not p.VAR_KEYWORD and p.name != "terms"
    ]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in terms.items()
    ]
    return signature.replace(parameters=[*shown, *added])


def check_names(terms: Mapping[str, object]) -> None:
    """Raise unless every name is one of `Terms`.

    Raises:
        TypeError: as Python does for an unexpected argument, with the nearest name that there is.
    """
    known = list(Terms.__annotations__)
    for name in terms:
        if name not in known:
            close = get_close_matches(name, [*known, "sensitivity", "candidates", "monotonic"], n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"the terms are {', '.join(known)}"
            raise TypeError(f"unexpected argument {name!r}; {hint}")


def read_payment(terms: Terms) -> tuple[Account | None, str | None]:
    """Return the account to charge, and the name of the request in it.

    Raises:
        InvalidArgument: if there is a request and no account, or one of them cannot be accepted.
    """
    account, request = read_account(terms.get("ledger")), terms.get("request")
    if request is not None and account is None:
        raise InvalidArgument("request names a request in a ledger; give ledger too")
    return account, None if request is None else read_name(request, "request")


def refuse_payment(terms: Mapping[str, object], verb: str) -> None:
    """Raise if an account is given to a function that releases nothing."""
    if terms.get("ledger") is not None or terms.get("request") is not None:
        raise InvalidArgument(f"{verb} releases nothing, so leave out ledger and request")
