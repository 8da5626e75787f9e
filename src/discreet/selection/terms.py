"""The arguments that verbs share: their types, defaults and descriptions, and the signatures that spell them out.

A description is read from one place and written into the docstrings of all functions that take the argument.
"""

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any, Generic, Literal, Required, TypedDict, TypeVar, get_args

from ..base.arguments import read_name
from ..base.error_boundary import error_boundary
from ..base.numbers import Number
from ..errors import InvalidArgument
from ..mechanisms.contract import Mechanism
from ..privacy.sensitivity import Neighbors
from .any_column import AnyColumn
from .candidate_types import Indexed, T
from .payment import Account, read_account


def entries(docstring: str | None, section: str) -> dict[str, str]:
    """Return the descriptions in a section of a docstring, such as "Args", by name; none under `python -OO`."""
    return _entries_of(_cut(docstring, section)[1])


def _entries_of(section: str) -> dict[str, str]:
    """Return the descriptions in the lines of a section, by name."""
    texts, name = dict[str, str](), ""
    for line in section.splitlines(keepends=True):
        text = line
        if line[4:5].strip():  # other lines go on with the entry before
            name, _, text = line[4:].partition(": ")
        texts[name] = texts.get(name, "") + text
    return {name: text.rstrip() for name, text in texts.items()}


def with_entries(
    docstring: str | None, shared: Mapping[str, str], names: Iterable[str] = ()
) -> str | None:
    """Return a docstring with shared descriptions in place of that of `**terms`.

    An argument that the docstring describes itself keeps that description.

    Args:
        docstring: the docstring, with a section of arguments.
        shared: descriptions by argument.
        names: the arguments in order; without it the own ones that are not shared come first.
    """
    before, args, after = _cut(docstring, "Args")
    if not args:
        return docstring
    own = _entries_of(args)
    order = [*names, *(name for name in own if name not in shared and name[:2] != "**"), *shared]
    texts = {**shared, **own}
    lines = {name: texts[name] for name in order if name in texts}
    section = "".join(f"    {name}: {text}\n" for name, text in lines.items())
    return before + section + "\n" + after


def _cut(docstring: str | None, title: str) -> tuple[str, str, str]:
    """Return a docstring up to a title, the indented lines below it, and the rest; no lines without that title."""
    text = inspect.cleandoc(docstring or "") + "\n"
    before, heading, after = f"\n{text}".partition(f"\n{title}:\n")
    lines = takewhile(lambda line: line[:4] in ("    ", "\n"), after.splitlines(keepends=True))
    section = "".join(lines)
    return (before + heading)[1:], section, after[len(section) :]


Verb = TypeVar("Verb", bound=Callable[..., object])


class AnswerTerms(TypedDict, total=False):
    """The privacy parameter, the mechanism and the payment: the arguments that every verb takes, for one answer.

    These descriptions appear in the docstring of every verb, after its own arguments.

    Attributes:
        epsilon: the privacy parameter ε, a positive number without a unit. It is the most that one record changes
            the natural logarithm of an answer's probability. Smaller is more private and less accurate. At ε = 1,
            one answer turns even odds that a record is in the data into at most 73.2 %. It is exact: 0.1, "0.1"
            and Fraction(1, 10) are one tenth. You must give it, or `rho`, or `scale`. To choose it, see
            docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score. It is 1/η if
            the exponential mechanism has probabilities proportional to exp(η · score). Quantiles have the unit
            of one record, and prices that of money, for any alpha and any grid.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with its own options, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected, "add_remove" (the default) for one record more or
            less, or "replace_one" for one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id. All rows with the same value
            are one record (user-level privacy). With a list of names, rows with equal values in all these
            columns are one record. A sensitivity that you declare must hold for it. By default every row is a
            record.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. By default none is charged.
        request: a name for this request in the ledger, such as "monday". If you ask again under it, you get the
            same answer for free. By default every call is a new request. Needs `ledger`.
    """

    epsilon: Number | None
    rho: Number | None
    scale: Number | None
    mechanism: str | Mechanism
    neighbors: Neighbors
    privacy_unit: str | Sequence[str] | None
    ledger: Account | None
    request: str | None


class Terms(AnswerTerms, total=False):
    """The terms of verbs over your scores or your value, which can draw several answers.

    Attributes:
        size: the number of independent answers, 1 or more. You pay for all, and get an array or a list. By
            default you get one answer, by itself.
    """

    size: int | None


class PersonTerms(AnswerTerms, total=False):
    """The terms of verbs that count records in a table, which add groups.

    Attributes:
        privacy_unit: the name of the column of the privacy unit, such as a user id. All rows with the same value
            are one record (user-level privacy), and rows in which it is null are left out. With a list of names,
            rows with equal values in all these columns are one record. By default every row is a record.
        by: the name of the column of groups. The answer is then a dict from group to answer. By default the whole
            table is one group. If you give a list of several columns, or of `Bins`, the groups are tuples.
        groups: the groups to answer, which must be public and never taken from the data. Rows of other groups are
            left out. None among them stands for records without a value. Needed with `by`. For several columns,
            give tuples, or a dict from the columns that have no bins to its values. With "private" the groups are
            drawn from the data by their number of records, and small ones are left out. That needs `delta` and a
            part of `epsilon`. See docs/how-to/groups.md.
        max_groups: the most groups to which one privacy unit contributes, 1 by default. The cost is divided
            among them. Needs `privacy_unit`.
        where: the rows that the question is about, as SQL such as "age >= 18 AND city IN ('Bern', 'Basel')" (with
            the extra `sql`), or as a Narwhals expression such as `nw.col("age") >= 18`. It compares columns with
            constants, by =, <>, <, <=, >, >=, IN, BETWEEN and IS NULL, joined by AND, OR and NOT. Rows count if
            it is true. A comparison with a null, NaN or an unreadable cell is neither true nor false. It is
            public, and applied before the rows of a privacy unit are bounded. By default all rows count.
        groups_share: with groups="private", the part of `epsilon` that draws the groups, above 0 and below 1, one
            half by default. The rest is for their answers.
        most_drawn: with groups="private", the most groups to answer, 1,000 by default, which is also the limit. If
            more are drawn, those with the largest noisy counts are answered.
        delta: with groups="private", the δ of all answers together, a probability such as "1e-8". It is about the
            probability that a group of a single record is named.
    """

    where: object
    by: AnyColumn
    groups: Iterable[object] | Literal["private"] | None
    max_groups: int
    groups_share: Number | None
    most_drawn: int | None
    delta: Number | None


class RecordTerms(PersonTerms, total=False):
    """The terms of verbs over numbers in a table, which add a bound on the rows of one privacy unit.

    Data:
        data: numbers in an array, a series or a list, or a table or the path of a file, with `column`, or a
            histogram, which maps values to how often they occur. Private.
        column: the name of the column of the table. By default the data are the numbers themselves.
        candidates: the possible answers, in units of the data, as a `Grid` of any size or a list of numbers. They
            are public. You may leave them out for a `Dataset` that declares the bounds of the column.

    Attributes:
        max_contributions: the most rows that one privacy unit contributes in every group, 1 by default. A rule that
            reads only the rows of that unit decides which rows stay: see docs/how-to/user_level_privacy.md.
            Needs `privacy_unit`.
    """

    max_contributions: int


class KeyTerms(TypedDict, total=False):
    """The terms of verbs that release the keys of a column.

    Attributes:
        epsilon: the privacy parameter ε of all keys together, a positive number without a unit. It is exact: 0.1 is
            one tenth. You must give it. To choose it, see docs/how-to/choose_epsilon.md.
        neighbors: the neighbouring relation that is protected, "add_remove" (the default) for one record more or
            less, or "replace_one" for one record exchanged for another, which moves twice as many keys.
        privacy_unit: the name of the column of the privacy unit, such as a user id. All rows with the same value
            are one record (user-level privacy), and rows in which it is null are left out. With a list of names,
            rows with equal values in all these columns are one record. By default every row is a record.
        max_groups: the most keys in which one privacy unit counts, 1 by default. The cost is divided among them. A
            rule that reads only the rows of that unit decides which keys stay: see
            docs/how-to/user_level_privacy.md. Needs `privacy_unit`.
        where: the rows that the question is about, as SQL such as "age >= 18 AND city IN ('Bern', 'Basel')". Rows
            count if it is true. It is applied before the rows of a privacy unit are bounded.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. By default none is charged.
        request: a name for this request in the ledger, such as "monday". If you ask again under it, you get the
            same answer for free. By default every call is a new request. Needs `ledger`.
    """

    epsilon: Number | None
    neighbors: Neighbors
    privacy_unit: str | Sequence[str] | None
    max_groups: int
    where: object
    ledger: Account | None
    request: str | None


class _ScoreTerms(TypedDict, total=False):
    """The sensitivity of scores of the caller.

    Attributes:
        sensitivity: the most that one score can change between neighbours, a positive number in units of the
            score. You must give it, or `spread`.
        spread: instead of `sensitivity`, the most that a difference of two scores can change (range sensitivity).
        monotonic: whether one record more or less moves all scores in the same direction, False by default. This
            halves the cost.
    """

    sensitivity: Number | None
    spread: Number | None
    monotonic: bool


class SelectAnswerTerms(_ScoreTerms, AnswerTerms, total=False):
    """The terms of a single answer from scores of the caller, for overloads."""


class SelectTerms(_ScoreTerms, Terms, total=False):
    """The terms of answers from scores of the caller, for overloads."""


class NumberAnswerTerms(AnswerTerms, Generic[T], total=False):
    """The terms of a single answer from numbers, for overloads."""

    candidates: Required[Indexed[T]]
    max_contributions: int


class NumberTerms(RecordTerms, total=False):
    """The terms of answers from numbers, for overloads."""

    candidates: Iterable[object] | Indexed[object] | None


TERM_KINDS: tuple[type, ...] = (KeyTerms, AnswerTerms, Terms, PersonTerms, RecordTerms)

DEFAULTS: dict[str, object] = {
    "epsilon": None,
    "rho": None,
    "scale": None,
    "mechanism": "exponential",
    "neighbors": "add_remove",
    "privacy_unit": None,
    "max_contributions": 1,
    "by": None,
    "groups": None,
    "max_groups": 1,
    "where": None,
    "groups_share": None,
    "most_drawn": None,
    "delta": None,
    "size": None,
    "ledger": None,
    "request": None,
}
"""The default of every term, in the order in which signatures show them."""

PAID = ("privacy_unit", "ledger", "request")
"""The terms of a release that is charged to an account."""


def takes_terms(verb: Verb) -> Verb:
    """Spell out the terms of a verb in the signature and the docstring that help() shows."""
    return takes_terms_without()(verb)


Wrap = Callable[[Any, Collection[str]], Any]
"""Returns a verb that does more than the one it is given: see `verbs.data_terms`."""


def takes_terms_without(*names: str, wrap: Wrap | None = None) -> Callable[[Verb], Verb]:
    """Spell out the terms that a function takes, those of the `Unpack` of its **terms, but for some.

    Args:
        *names: the terms that it does not take.
        wrap: returns the function in place of this one, by the names of its arguments.
    """

    def shows(verb: Verb) -> Verb:
        kind = _kind(verb)
        types = kind.__annotations__
        terms = {n: (types[n], d) for n, d in DEFAULTS.items() if n in types and n not in names}
        function: Any = verb
        signature = spelled_out(verb, terms)
        if wrap is not None:
            function = wrap(verb, signature.parameters.keys())
        function.__signature__ = signature
        texts = _shared_entries(kind)
        shared = {n: texts[n] for n in function.__signature__.parameters if n in texts}
        function.__doc__ = with_entries(verb.__doc__, shared, function.__signature__.parameters)
        return error_boundary(function)  # type: ignore[return-value]

    return shows


def _kind(verb: Callable[..., object]) -> type:
    """Return the terms in the `Unpack` of a verb's **terms, or `Terms`."""
    parameters = inspect.signature(verb).parameters.values()
    kinds = [kind for p in parameters if p.kind is p.VAR_KEYWORD for kind in get_args(p.annotation)]
    return kinds[0] if kinds else Terms


def _shared_entries(kind: type) -> dict[str, str]:
    """Return the descriptions of all arguments that verbs with terms of a kind share."""
    scores, data = entries(_ScoreTerms.__doc__, "Attributes"), entries(kind.__doc__, "Data")
    return {**scores, **data, **descriptions(kind)}


def descriptions(kind: type) -> dict[str, str]:
    """Return the descriptions of the terms of a kind; those of a narrower kind replace those of a wider one."""
    wider = [k for k in TERM_KINDS if k.__annotations__.keys() <= kind.__annotations__.keys()]
    return {n: text for k in wider for n, text in entries(k.__doc__, "Attributes").items()}


def spelled_out(
    function: Callable[..., object], terms: Mapping[str, tuple[object, object]]
) -> inspect.Signature:
    """Return the signature of a function with keyword arguments in place of its **terms, or of its `terms`.

    Args:
        function: the function.
        terms: the type and the default of every argument.
    """
    signature = inspect.signature(function)
    parameters = [
        p
        for p in signature.parameters.values()
        if p.kind is not p.VAR_KEYWORD and p.name != "terms"
    ]
    keywords = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in terms.items()
    ]
    return signature.replace(parameters=[*parameters, *keywords])


_NO_SEED = (
    "answers are drawn from the randomness of the operating system, and a seed would reveal the "
    "data. To get the same answer again, use a ledger and request=..."
)
_REFUSED = {
    **dict.fromkeys(
        ("alpha", "alphas"),
        "of one quantile alpha goes with quantile, of several alphas with quantiles",
    ),
    **dict.fromkeys(("user", "users", "user_id"), "name the column of users as privacy_unit"),
    **dict.fromkeys(("seed", "random_state", "rng", "random_seed"), _NO_SEED),
    "bins": 'pass bins as the column, such as Bins("age", 0, 120, 10). An array goes into a '
    'table first, such as {"age": ages}',
    "delta": 'listed candidates need no delta, so leave it out. It is for candidates="private" '
    'and groups="private", and a ledger takes that of a whole budget',
    **dict.fromkeys(
        ("max_sum", "min_sum"),
        "the total of a privacy unit is bounded for sum alone. Elsewhere max_contributions bounds its rows",
    ),
    "minimum_count": "it compares the noisy counts that an answer shows, and this one shows none. To leave small "
    "groups out, ask count for the same groups with minimum_count",
    "sensitivity": "a verb over data knows its own. For scores of yours see select",
    "weights": "every record counts once, as a weight without a bound would change an answer without a bound. To "
    "weigh candidates by what is public, give mechanism=Exponential(base_measure=[1, 2]), from discreet.mechanisms",
}
"""Arguments that other libraries have, and why there are none here."""


def check_names(terms: Mapping[str, object], names: Iterable[str] | None = None) -> None:
    """Raise unless every name is one of those that there are.

    Args:
        terms: keyword arguments by name.
        names: the names that there are; those of `Terms` where none are given.

    Raises:
        TypeError: as Python does for an unexpected argument, with the nearest name that there is.
    """
    choices = list(Terms.__annotations__ if names is None else names)
    others = ["sensitivity", "candidates", "monotonic"] if names is None else []
    for name in terms:
        if name not in choices:
            if name in _REFUSED:
                raise TypeError(f"unexpected argument {name!r}: {_REFUSED[name]}")
            from difflib import get_close_matches

            close = get_close_matches(name, [*choices, *others], n=1)
            hint = f"Did you mean {close[0]!r}?" if close else f"The terms are {', '.join(choices)}"
            raise TypeError(f"unexpected argument {name!r}. {hint}")


def read_payment(terms: Terms) -> tuple[Account | None, str | None]:
    """Return the account to charge, and the name of the request in it.

    Raises:
        InvalidArgument: if there is a request and no account, or one of them cannot be accepted.
    """
    account, request = read_account(terms.get("ledger")), terms.get("request")
    if request is not None and account is None:
        raise InvalidArgument("request names a request in a ledger. Give ledger too")
    return account, None if request is None else read_name(request, "request")


def refuse_payment(terms: Mapping[str, object], verb: str) -> None:
    """Raise if an account is given to a function without a release."""
    if terms.get("ledger") is not None or terms.get("request") is not None:
        raise InvalidArgument(f"{verb} releases nothing, so leave out ledger and request")
