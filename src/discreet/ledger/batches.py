"""Batches: several questions, a budget split among them, and their cost before they run."""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import log
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from ..base.arguments import mapping, named_arguments, read_name, refuse_one_shot
from ..base.error_boundary import Notice, error_boundaries
from ..base.numbers import Number, positive
from ..base.text_tables import TextTable
from ..errors import DiscreetError, InvalidArgument, InvalidNumber, UnknownName, preview
from ..mechanisms import BOUNDED
from ..privacy.composition import Composition, compose
from ..privacy.contract import Guarantee
from ..privacy.sensitivity import one_record
from ..privacy.weak_promises import refuse_large_delta, say_weakness, weaknesses
from ..privacy.wording import in_full
from ..selection.payment import Bill, Indices, PaidAnswer, PrepareDraw
from ..selection.releases import Release
from ..selection.verb_calls import Call, no_verb

if TYPE_CHECKING:
    from . import Session

_ALMOST_SURELY = Fraction(95, 100)


class _Order(Notice):
    """Raised in place of an answer: a release with everything public settled, which a batch buys with others.

    Attributes:
        bill: its bill.
        prepare: computes the private scores, and returns the function that draws.
        name: returns the release for a draw. None if the verb alone can.
    """

    def __init__(
        self,
        bill: Bill,
        prepare: PrepareDraw,
        name: Callable[[PaidAnswer], Release] | None = None,
    ) -> None:
        super().__init__("an order was taken, and no answer given")
        self.bill, self.prepare, self.name = bill, prepare, name


class _Collector:
    """The `ledger` of a verb whose order a batch takes, to buy it in one purchase with more orders.

    Args:
        session: the session that buys.
    """

    def __init__(self, session: "Session") -> None:
        self.session = session

    @cached_property
    def currency(self) -> str | None:
        """The unit that the session counts, read for the first verb that asks."""
        return self.session.currency

    def buy(
        self,
        bill: Bill,
        prepare: PrepareDraw,
        name: Callable[[PaidAnswer], Release] | None = None,
    ) -> NoReturn:
        """Take the order."""
        raise _Order(bill, prepare, name)

    bought = collect = buy


def _order_of(question: Call, collector: _Collector) -> _Order:
    """Return the order of a question, without paying or reading private data."""
    try:
        question.ask(ledger=collector)
    except _Order as order:
        return order.with_traceback(None)  # whose frames hold private data
    raise no_verb(question.verb)


class _Delivery:
    """The `ledger` of a verb that names the answer that a batch bought. Further releases are paid."""

    def __init__(self, collector: _Collector, bill: Bill, answer: PaidAnswer) -> None:
        self._collector, self._bill = collector, bill
        self._answers = [answer]

    @property
    def currency(self) -> str | None:
        """The unit that the session counts, as it was when the order was taken."""
        return self._collector.currency

    def buy(self, bill: Bill, prepare: PrepareDraw) -> Indices:
        """Return the answer of the batch."""
        return self.bought(bill, prepare).indices

    def bought(self, bill: Bill, prepare: PrepareDraw) -> PaidAnswer:
        """Return the answer of the batch, and whether it was charged."""
        if bill.digest == self._bill.digest and self._answers:
            return self._answers.pop()
        return self._collector.session.bought(bill, prepare)


@error_boundaries
@dataclass(frozen=True, slots=True, repr=False)
class Batch:
    """Several named questions. No question is asked and no data are read until you call `run`.

        batch = (
            Batch()
            .add("drink", discreet.mode, people, "drink", candidates=["tea", "coffee"])
            .add("age", discreet.median, people, "age", candidates=Grid(0, 120))
            .split(epsilon=1, weights={"age": 2})
        )
        print(batch)
        answers = batch.run(ledger.session("people"))

    A batch does not change: `add` and the splits return another one.

    Attributes:
        questions: the questions by name, as `add` makes them. None by default.
    """

    questions: Mapping[str, Call] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Keep the names as exact text, in a mapping of its own."""
        questions = mapping(self.questions, "questions")
        if not all(isinstance(question, Call) for question in questions.values()):
            raise InvalidArgument("questions must be those of another batch. Add them one by one")
        object.__setattr__(self, "questions", questions)

    def add(
        self, name: str, verb: Callable[..., Release], *arguments: Any, **terms: Any
    ) -> "Batch":
        """Return the batch with one more question, which will call verb(*arguments, **terms).

        Args:
            name: the name of the question, under which its answer is found.
            verb: a verb, such as `discreet.mode`.
            *arguments: the arguments of the verb, in order.
            **terms: its keyword arguments, without a ledger.

        Raises:
            InvalidArgument: if the name is taken, or an argument can be read only once, because prices are computed
                before answers.
        """
        question_name = read_name(name, "name")
        if question_name in self.questions:
            raise InvalidArgument(
                f"there is a question named {preview(question_name)}. Take another name"
            )
        if not callable(verb):
            raise InvalidArgument(f"verb must be a verb such as discreet.mode, got {preview(verb)}")
        for what, value in named_arguments(verb, arguments, terms):
            refuse_one_shot(value, what)
        return Batch({**self.questions, question_name: Call(verb, arguments, dict(terms))})

    def split(
        self,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        weights: Mapping[str, Number] | None = None,
    ) -> "Batch":
        """Return the batch with a budget split among its questions, equally or by weights.

        Args:
            epsilon: the budget of all questions together: ε, a positive number without a unit. Or give `rho`.
            rho: instead of `epsilon`, ρ of zero-concentrated differential privacy.
            weights: numbers above zero by question, 1 by default.

        Raises:
            InvalidArgument: unless you give one budget, and weights only for questions of the batch.
        """
        kind, total = total_to_split(epsilon, rho)
        numbers = {} if weights is None else self._by_name(weights, "weights")
        weight = {name: numbers.get(name, Fraction(1)) for name in self._names()}
        return self._shared_out(kind, total, weight)

    def split_by_error(
        self,
        errors: Mapping[str, Number],
        *,
        confidence: Number = _ALMOST_SURELY,
        epsilon: Number | None = None,
    ) -> "Batch":
        """Return the batch with the budget of every question calibrated to a wanted error.

        For all data, the answer's score is worse than the best by `error` or more with probability at most 1 -
        confidence. The bound for n candidates is (ln(n) - ln(1 - confidence)) / eta.

        Args:
            errors: the error of every question, in units of its score. If rows are counted, the unit is a row.
            confidence: between 0 and 1.
            epsilon: a budget. All errors grow or shrink by one factor until it is just spent.

        Raises:
            InvalidArgument: if an error is missing, or a question has no such bound.
        """
        error_of = self._by_name(errors, "errors")
        missing = [name for name in self._names() if name not in error_of]
        if missing:
            raise InvalidArgument(f"errors are missing for {', '.join(missing)}")
        sure = positive(confidence, "confidence")
        if sure >= 1:
            raise InvalidNumber(f"confidence must be below 1, got {preview(confidence)}")
        need = {
            name: epsilon_for_error(name, self.questions[name], error_of[name], sure)
            for name in error_of
        }
        total = sum(need.values(), Fraction(0)) if epsilon is None else positive(epsilon, "epsilon")
        return self._shared_out("epsilon", total, need)

    def cost(self) -> Composition:
        """Return the guarantee of all answers together.

        Raises:
            InvalidArgument: if their privacy units differ, because then they have no common guarantee.
        """
        bills = self.bills()
        units = {bill.unit for bill in bills.values()}
        if len(units) > 1:
            raise InvalidArgument(
                f"some questions protect {' and others '.join(sorted(map(one_record, units)))}. "
                "Ask all with the same privacy_unit"
            )
        return compose(bill.guarantee for bill in bills.values())

    def bills(self) -> dict[str, Bill]:
        """Return the bill of every question, with the same checks as when you ask it. No data are read."""
        return {name: question.bill() for name, question in self.questions.items()}

    def run(self, ledger: "Session | None" = None) -> dict[str, Release]:
        """Ask all questions, in order, and return the answers by name.

        The batch first checks all public arguments, and whether the ledger can pay for everything. Then it computes
        all private scores, charges all questions in one transaction, and draws and stores all answers in another.
        An error before the charge costs nothing. If an error comes after it, the answers are lost, unless the
        questions have a `request`. Then you can run the batch again at no cost.

        Args:
            ledger: the account to charge, such as `Ledger("budget.db").session("people")`.

        Raises:
            Exhausted: if the ledger cannot pay for all questions. Nothing was asked or charged.
        """
        if ledger is None:
            _say_together(self.bills().values())  # all are checked before the first is asked
            return {name: question.ask() for name, question in self.questions.items()}
        if not hasattr(ledger, "buy_batch"):
            raise InvalidArgument(f"ledger must be a session of a Ledger, got {preview(ledger)}")
        if not self.questions:
            return {}
        collector = _Collector(ledger)
        orders = [_order_of(question, collector) for question in self.questions.values()]
        _say_together(order.bill for order in orders)
        answers = ledger.buy_batch([(order.bill, order.prepare) for order in orders])
        return {
            name: _release(question, order, answer, collector)
            for (name, question), order, answer in zip(
                self.questions.items(), orders, answers, strict=True
            )
        }

    def _names(self) -> Iterable[str]:
        if not self.questions:
            raise InvalidArgument("the batch has no questions. Add one")
        return self.questions

    def _by_name(self, numbers: Mapping[str, Number], what: str) -> dict[str, Fraction]:
        """Return numbers above zero for questions of the batch."""
        by_name = mapping(numbers, what)
        for name in by_name:
            if name not in self.questions:
                raise UnknownName(
                    f"{what} name {preview(name)}. The questions are {', '.join(self.questions)}"
                )
        return {name: positive(value, f"{what}[{name!r}]") for name, value in by_name.items()}

    def _shared_out(self, kind: str, total: Fraction, weight: Mapping[str, Fraction]) -> "Batch":
        """Return the batch with total * weight / (sum of weights) for every question."""
        whole = sum(weight.values(), Fraction(0))
        shares = {name: total * weight[name] / whole for name in self.questions}
        return Batch(
            {
                name: at_share(question, kind, shares[name])
                for name, question in self.questions.items()
            }
        )

    def __str__(self) -> str:
        rows = [(name, bill.query, str(bill.guarantee)) for name, bill in self.bills().items()]
        wide, wider = (max((len(row[i]) for row in rows), default=0) for i in (0, 1))
        return "\n".join(f"{name:{wide}}  {query:{wider}}  {cost}" for name, query, cost in rows)

    def _repr_html_(self) -> str | None:
        try:
            bills = self.bills()
        except (
            DiscreetError,
            TypeError,
        ):  # a question without epsilon, say: it is asked for when it runs
            return None
        rows = [
            (name, bill.query, in_full(bill.guarantee, bill.unit)) for name, bill in bills.items()
        ]
        return TextTable(
            ("name", "question", "guarantee"), tuple(rows), "Batch: not asked yet"
        ).html()

    def __repr__(self) -> str:
        return f"Batch({', '.join(self.questions) or 'no questions'})"


def _say_together(bills: Iterable[Bill]) -> None:
    """Warn where a promise of all answers together is weak, and that of no single one is.

    Raises:
        InvalidNumber: if the deltas add up to more than any verb takes.
    """
    promises: dict[object, list[Guarantee]] = {}
    for bill in bills:
        kind = bill.unit, bill.guarantee.neighbors
        promises.setdefault(kind, []).append(bill.guarantee)
    for guarantees in promises.values():
        together = compose(guarantees)
        refuse_large_delta(together)
        if not any(map(weaknesses, guarantees)):
            say_weakness(together)


def _release(question: Call, order: _Order, answer: PaidAnswer, collector: _Collector) -> Release:
    """Return the release of an answer that was bought.

    A verb of this library returns the release of its order as it is. Another one may go on with it, so it is called
    again.
    """
    if order.name is not None and _is_of_this_library(question.verb):
        return order.name(answer)
    return question.ask(ledger=_Delivery(collector, order.bill, answer))


_OF_VERBS = ("discreet.selection.", "discreet.tables.verbs.")
"""Where the verbs of this library are."""


def _is_of_this_library(verb: Callable[..., Release]) -> bool:
    """Return whether a verb is one of this library, and not a function that has taken over its name."""
    module, name = getattr(verb, "__module__", ""), getattr(verb, "__name__", "")
    is_there = isinstance(module, str) and module.startswith(_OF_VERBS)
    return is_there and getattr(sys.modules.get(module), name, None) is verb


def total_to_split(
    epsilon: Number | None, rho: Number | None
) -> tuple[Literal["epsilon", "rho"], Fraction]:
    """Return the kind of a budget, and how much it is."""
    if (epsilon is None) == (rho is None):
        raise InvalidArgument("give a budget to split: epsilon or rho")
    if epsilon is not None:
        return "epsilon", positive(epsilon, "epsilon")
    return "rho", positive(rho, "rho")


def at_share(question: Call, kind: str, share: Fraction) -> Call:
    """Return the question at that much privacy, all its draws together."""
    others = {k: v for k, v in question.terms.items() if k not in {"epsilon", "rho", "scale"}}
    size = others.get("size") or 1
    return question._replace(terms={**others, kind: share / size})


def epsilon_for_error(name: str, question: Call, error: Fraction, sure: Fraction) -> Fraction:
    """Return the epsilon at which the error has that confidence, for all data."""
    one = at_share(question, "scale", Fraction(1))
    single = {term: value for term, value in one.terms.items() if term != "size"}
    bill = one._replace(terms=single).bill()
    if bill.mechanism not in BOUNDED or bill.candidates is None:
        raise InvalidArgument(
            f"no bound on the error of {preview(name)} is known ({bill.query}, {bill.mechanism}). "
            "Split by weights"
        )
    # Rounded up: 2**-20 is far above what two logarithms in doubles can be wrong by.
    logs = Fraction(log(bill.candidates) - log(1 - sure)) + Fraction(1, 2**20)
    return one._replace(terms={**one.terms, "scale": error / logs}).bill().guarantee.pure  # type: ignore
