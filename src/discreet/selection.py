"""From a score to a release: what every verb does once it has named its score.

The order is always the same: public arguments are checked, private scores are computed and checked,
the ledger (if there is one) is charged, bits are read, an answer comes out.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from typing import Any, ParamSpec, TypedDict, TypeVar

import numpy as np

from .arguments import named_arguments, read_name, refuse_one_shot
from .bits import SystemBits
from .candidates import Answers
from .descriptions import digest
from .errors import InvalidArgument, InvalidScores, shown
from .listener import Listener
from .mechanisms import Mechanism, read_mechanism, serving_runs
from .mechanisms.contract import Dial, Law, Tuned, identified, read_dial
from .numbers import Number, count
from .privacy.bills import Account, Bill, Indices, read_account, read_unit
from .privacy.guarantees import Guarantee, NoGuarantee
from .privacy.sensitivity import Neighbors, Sensitivity, read_neighbors
from .releases import Release
from .runs import Runs
from .scores import Score
from .scores.contract import bounded_unit
from .vectors import Vector

P = ParamSpec("P")
Verb = TypeVar("Verb", bound=Callable[..., Any])


class Terms(TypedDict, total=False):
    """How much privacy, by which mechanism: the arguments that every verb takes.

    Attributes:
        epsilon: how much privacy the answer may cost: exact, 0.1 means one tenth. Or one of:
        rho: the same as zero-concentrated differential privacy, or
        scale: the scale of the noise in units of the score, 1 / eta.
        mechanism: a name or a mechanism; the exponential mechanism if not given.
        neighbors: which databases count as neighbours, "add_remove" (default) or "replace_one".
        privacy_unit: the column that says whose a row is: all rows of one person are one record then.
            Where you declare a sensitivity, declare it for that. Without it each row is a record.
        size: how many independent answers; each of them costs.
        ledger: who pays, such as `Ledger("budget.db").session("adult")`; without it nobody keeps count.
        request: a name for this request in the ledger: asked again, it gives the same answer and costs
            nothing.
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


_MOST_DRAWS = 10**9

_TERMS: dict[str, Any] = {"epsilon": None, "rho": None, "scale": None, "mechanism": "exponential",
          "neighbors": "add_remove", "privacy_unit": None, "size": None, "ledger": None,
          "request": None}  # fmt: skip
_PAID = ("privacy_unit", "ledger", "request")


def takes_terms(verb: Verb) -> Verb:
    """Spell out the terms in the signature that help() and notebooks show."""
    return _spelled_out(verb, _TERMS)


def takes_terms_unpaid(verb: Verb) -> Verb:
    """Spell out the terms, but who pays and for whom: for what looks at a law and releases nothing."""
    return _spelled_out(verb, [name for name in _TERMS if name not in _PAID])


def _spelled_out(verb: Verb, names: Iterable[str]) -> Verb:
    signature = inspect.signature(verb)
    named = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    types, only = Terms.__annotations__, inspect.Parameter.KEYWORD_ONLY
    terms = [
        inspect.Parameter(name, only, default=_TERMS[name], annotation=types[name])
        for name in names
    ]
    verb.__signature__ = signature.replace(parameters=named + terms)  # type: ignore[attr-defined]
    return verb


@dataclass(frozen=True, slots=True)
class Query:
    """A query: in words for people, and in plain public values by which a ledger knows it again.

    Attributes:
        verb: the name of the verb.
        words: the query in words, which may be said better in a later version.
        arguments: the public arguments of the verb, but for what the score, the candidates and the mechanism
            say of themselves.
    """

    verb: str
    words: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def about(self, words: str, **arguments: Any) -> "Query":
        """Return the query with more words and arguments."""
        return Query(self.verb, self.words + words, {**self.arguments, **arguments})


def release(score: Score, answers: Answers | None, query: Query, terms: Terms) -> Release:
    """Draw from the mechanism on this score, and name what was drawn."""
    asked = ask(score, terms)

    def prepare() -> Callable[[], Any]:
        law = law_of(asked, answers)
        if asked.size is None:
            return lambda: law.draw(SystemBits())
        size = asked.size
        return lambda: law.draws(size, SystemBits())

    def name(drawn: Any) -> Any:
        if answers is None:
            return np.array(drawn) if isinstance(drawn, list) else drawn
        return answers[drawn] if asked.size is None else named(drawn, answers)

    per = "" if asked.unit is None else f", per {asked.unit}"
    return asked.order(query.about(per), answers).deliver(prepare, name)


@dataclass(frozen=True, slots=True)
class Payment:
    """Who pays, and under which name of the request."""

    account: Account | None
    request: str | None


@dataclass(frozen=True, slots=True)
class Order:
    """A release whose public part is settled: what is asked, what it promises, who pays.

    Attributes:
        query: what is asked.
        guarantee: what the whole release promises.
        mechanism: the name of the mechanism.
        details: everything else but the data that decides the distribution of the answer, in plain values;
            read only if somebody pays.
        payment: who pays.
        question: the score and the answers, where one mechanism answers from one score.
        unit: the column that says whose a row is, or None: see `Bill`.
    """

    query: Query
    guarantee: Guarantee
    mechanism: str
    details: Callable[[], Mapping[str, Any]]
    payment: Payment
    question: "Question | None" = None
    unit: str | None = None

    def deliver(
        self, prepare: Callable[[], Callable[[], Any]], name: Callable[[Any], Any]
    ) -> Release:
        """Draw what `prepare` has prepared, once it is paid, and name what was drawn."""
        account = self.payment.account
        if isinstance(account, Listener):
            raise account.Heard(self)
        drawn = prepare()() if account is None else self._bought(account, prepare)
        return Release(
            name(drawn),
            self.guarantee,
            self.mechanism,
            self.unit,
            query=self.query.words,
            candidates=self._candidates,
        )

    @property
    def _candidates(self) -> int | None:
        return None if self.question is None else self.question.candidates

    def _bought(self, account: Account, prepare: Callable[[], Callable[[], Any]]) -> Any:
        """Return what the account bought, as `prepare` would have drawn it."""

        def listed() -> Callable[[], Indices]:
            draw = prepare()
            return lambda: _listed(draw())

        return account.buy(self.bill(), listed)

    def bill(self) -> Bill:
        """Return the bill for the account."""
        described = {
            "verb": self.query.verb,
            "arguments": self.query.arguments,
            "mechanism": self.mechanism,
            "unit": self.unit,
            **self.details(),
        }
        return Bill(
            self.guarantee,
            self.mechanism,
            self.query.words,
            digest(described),
            self.payment.request,
            self._candidates,
            self.unit,
        )


def _listed(drawn: Any) -> Indices:
    """Return indices as Python integers, in lists."""
    if hasattr(drawn, "tolist"):
        return drawn.tolist()  # type: ignore[no-any-return]
    return [_listed(each) for each in drawn] if isinstance(drawn, list | tuple) else int(drawn)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question whose public part is settled.

    Attributes:
        score: what says how good each candidate is.
        mechanism: what draws one.
        sensitivity: how far scores of neighbours may be apart, neighbours by `unit`.
        tuned: the mechanism at its numbers.
        size: how many answers, None for one that stands by itself.
        payment: who pays.
        unit: the column that says whose a row is; None if each row is a record.
    """

    score: Score
    mechanism: Mechanism
    sensitivity: Sensitivity
    tuned: Tuned
    dial: Dial | None
    size: int | None
    payment: Payment
    unit: str | None = None

    @property
    def guarantee(self) -> Guarantee:
        """What the whole release promises, all draws together."""
        promised = self.tuned.guarantee
        return promised if self.size is None else promised.repeated(self.size)

    def order(self, query: Query, answers: Answers | None) -> Order:
        """Return the order for a release from these answers."""

        def details() -> Mapping[str, Any]:
            return {
                "score": {"name": self.score.name, "parameters": self.score.parameters},
                "mechanism": identified(self.mechanism),
                "sensitivity": asdict(self.sensitivity),
                "dial": None if self.dial is None else {self.dial.kind: self.dial.value},
                "candidates": None if answers is None else answers.description,
                "size": self.size,
            }

        question, name = Question(self, answers), self.mechanism.name
        return Order(query, self.guarantee, name, details, self.payment, question, self.unit)


@dataclass(frozen=True, slots=True, repr=False)
class Question:
    """What a verb asks of a mechanism: about which score, among which answers."""

    asked: Asked
    answers: Answers | None

    @property
    def candidates(self) -> int | None:
        """How many there are to choose from, where that is public and finite, and none is preferred."""
        preferred = getattr(self.asked.mechanism, "base_measure", None) is not None
        unpromised = isinstance(self.asked.tuned.guarantee, NoGuarantee)  # they may be of the data
        continuous = getattr(self.asked.score, "continuous", False)
        if self.answers is None or preferred or unpromised or continuous:
            return None
        return self.answers.size or None


def ask(score: Score, terms: Terms) -> Asked:
    """Check everything public and tune the mechanism.

    Raises:
        InvalidArgument: if something cannot be accepted, or all rows of one person are to be one record while
            the score counts rows: no sensitivity bounds what they do together.
    """
    for name in terms:
        if name not in _TERMS:
            close = get_close_matches(
                name, [*_TERMS, "sensitivity", "candidates", "monotonic"], n=1
            )
            hint = f"did you mean {close[0]!r}?" if close else f"the terms are {', '.join(_TERMS)}"
            raise TypeError(f"unexpected argument {name!r}; {hint}")
    mechanism = read_mechanism(terms.get("mechanism", "exponential"))
    neighbors = read_neighbors(terms.get("neighbors", "add_remove"))
    dial = read_dial(terms.get("epsilon"), terms.get("rho"), terms.get("scale"))
    size = terms.get("size")
    _check_range(score, mechanism)
    unit = bounded_unit(score, read_unit(terms.get("privacy_unit")))
    sensitivity = score.sensitivity(neighbors)
    tuned = mechanism.tune(sensitivity, dial)
    size = None if size is None else count(size, "size", most=_MOST_DRAWS)
    return Asked(score, mechanism, sensitivity, tuned, dial, size, read_payment(terms), unit)


def refuse_payment(terms: Mapping[str, Any], verb: str) -> None:
    """Raise if somebody is to pay for what is no release."""
    if terms.get("ledger") is not None or terms.get("request") is not None:
        raise InvalidArgument(f"{verb} releases nothing, so leave out ledger and request")


def read_payment(terms: Terms) -> Payment:
    """Return who pays, and under which name."""
    account, request = read_account(terms.get("ledger")), terms.get("request")
    if request is not None and account is None:
        raise InvalidArgument("request names a request in a ledger; give ledger too")
    return Payment(account, None if request is None else read_name(request, "request"))


def _check_range(score: Score, mechanism: Mechanism) -> None:
    """Raise if the mechanism cannot serve the kind of range the score is over."""
    if score.in_runs and not mechanism.takes_runs:
        raise InvalidArgument(
            f"{mechanism.name} needs candidates in a list; on a grid or in a table use {serving_runs()}"
        )
    if score.in_runs == "sloping" and mechanism.takes_runs == "flat":
        raise InvalidArgument(
            f"{mechanism.name} needs scores in steps; where they slope use the exponential mechanism"
        )


def law_of(asked: Asked, answers: Answers | None) -> Law:
    """Compute the private scores and return the law of the answer."""
    return asked.tuned.law(scores_of(asked, answers))


def scores_of(asked: Asked, answers: Answers | None) -> Vector | Runs:
    """Return the private scores, after making sure that there is one for each answer."""
    scores = asked.score.compute(asked.tuned.reach)
    if isinstance(scores, Vector) and answers is not None and answers.size != len(scores):
        raise InvalidScores(
            f"there are {answers.size} candidates but {len(scores)} scores; give one for each"
        )
    return scores


def named(drawn: Any, answers: Answers) -> list[Any]:
    """Return the answers with the drawn indices."""
    return [answers[int(i)] for i in drawn]


def order_of(verb: Callable[P, Release], *args: P.args, **kwargs: P.kwargs) -> Order:
    """Return what verb(*args, **kwargs) would ask, without paying or looking at private data.

    Raises:
        InvalidArgument: if a public argument cannot be accepted, or can be read once only, or this is no verb
            that releases.
    """
    return _heard(verb, args, kwargs, Listener(billing=False))


def bill_of(verb: Callable[P, Release], *args: P.args, **kwargs: P.kwargs) -> Bill:
    """Return the bill that verb(*args, **kwargs) would bring, without paying or looking at private data.

    Raises:
        InvalidArgument: as for `order_of`.
    """
    return _heard(verb, args, kwargs, Listener(billing=True)).bill()


def _heard(
    verb: Callable[..., Release],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    listener: Listener,
) -> Order:
    """Return what the listener hears the verb ask."""
    for what, value in named_arguments(verb, args, kwargs):
        refuse_one_shot(value, what)
    try:
        verb(*args, **{**kwargs, "ledger": listener})
    except Listener.Heard as heard:
        order: Order = heard.order
        return order
    raise InvalidArgument(f"{shown(verb)} is no verb that releases an answer")
