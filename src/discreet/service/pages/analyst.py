"""Pages of those who ask: what may be asked, plan, ask, answers, budgets."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from ...arguments import read_name
from ...error_boundary import public_errors
from ...errors import DiscreetError, InvalidArgument, MissingColumn, UnreadableFile
from ...ledger import Budget, Quote
from ...node import AllowedQuestion
from ...numbers import rounded_up, spell
from ...privacy.statements import in_brief
from ..past_releases import PastRelease
from ..refusals import charged_failures, error_for_reader, status_of
from .answers import laid_out
from .bars import Shares, shares
from .promises import promise_of, relation_of
from .sessions import Fields, random_name
from .visit import Visit
from .wanted import Wanted, read_wanted, takes, values_declared

_NEWEST = 200
_REQUEST = 12
"""Random bytes of the name of a request: no analyst ever makes one twice."""


@dataclass(frozen=True, slots=True)
class Line:
    """A question in a list.

    Attributes:
        asked: the question.
        about: what its owner says about it, or nothing.
        price: what an answer costs.
    """

    asked: AllowedQuestion
    about: str
    price: str

    @property
    def address(self) -> str:
        """The question as the part of an address behind the question mark."""
        return Wanted({"dataset": self.asked.name, "question": self.asked.access}).address


def questions(visit: Visit) -> Response:
    """Return the page of what may be asked."""
    found, scope = visit.connection().questions(), visit.scope()
    lines = {
        name: [_line(visit, one) for one in found if one.name == name] for name in scope.datasets
    }
    return visit.page("questions.html", datasets=lines, verbs=scope.verbs)


def _line(visit: Visit, one: AllowedQuestion) -> Line:
    return Line(
        one,
        _about(visit, one.name, one.access),
        in_brief(one.guarantee, one.unit),
    )


def free(visit: Visit, error: DiscreetError | None = None) -> Response:
    """Return the page on which a free question is put together."""
    wanted, scope = read_wanted(visit.fields), visit.scope()
    wrong = None if error is None else error_for_reader(error, visit.token.role)
    columns = list(visit.connection().columns(wanted.dataset).values())
    shown: dict[str, Any] = {
        "wanted": wanted, "allowed": scope.verbs, "fields": wanted.all_fields, "columns": columns,
        "declared_values": values_declared, "takes": takes(wanted.fields.get("verb", "")), "wrong": wrong,
        "largest": None if scope.largest_epsilon is None else spell(scope.largest_epsilon),
        "unit": scope.budget(wanted.dataset).unit,
    }  # fmt: skip
    return visit.page("free.html", 200 if wrong is None else status_of(wrong), **shown)


def plan(visit: Visit) -> Response:
    """Return the page of a price: what would be paid, learnt and left. Nothing is charged or read."""
    wanted, datasets = read_wanted(visit.fields), visit.scope().datasets
    try:
        quote = wanted.quote(visit.connection())
    except (InvalidArgument, MissingColumn) as error:
        if wanted.is_named or wanted.dataset not in datasets:
            raise
        return free(visit, error)
    budget = datasets[wanted.dataset]
    return visit.page(
        "plan.html", wanted=wanted, quote=quote, budget=budget, request=random_name(_REQUEST),
        terms=_terms(visit, wanted), worst=_worst(quote), shares=shares(budget, quote.cost),
        about=_about(visit, wanted.dataset, wanted.fields["question"]) if wanted.is_named else "",
        promise=promise_of(quote.cost, budget), relation=relation_of(budget),
        may_ask=visit.token.role != "auditor",
    )  # fmt: skip


def ask(visit: Visit) -> Response:
    """Charge a question once for the name of its request, and return the page of its answer."""
    wanted, request = read_wanted(visit.fields), visit.fields.get("request", "")
    kept = {**wanted.fields, "max_cost": visit.fields.get("max_cost", "")}
    try:
        with public_errors():
            read_name(request, "request")
        answer = wanted.ask(visit.connection(), request, kept["max_cost"] or None)
    except DiscreetError as error:
        if error.charged is not False:
            _remember(visit, request, kept)
        again = None if error.charged is False else {**kept, "request": request}
        return visit.failure(error, again=again, back=f"/plan?{wanted.address}")
    _remember(visit, request, kept)
    with charged_failures(request):
        return visit.page(
            "answer.html", answer=answer, laid_out=laid_out(answer.value), request=request, wanted=wanted,
            budget=_budget_now(visit, wanted.dataset),
        )  # fmt: skip


def _remember(visit: Visit, request: str, kept: Fields) -> None:
    """Keep the form of a question that was paid; what is refused leaves nothing behind.

    If the form cannot be kept, the answer is given, and cannot be shown again from the list of answers.
    """
    with suppress(UnreadableFile):
        visit.site.sessions.remember(visit.token.analyst or "", request, kept)


def _budget_now(visit: Visit, dataset: str) -> tuple[Budget, Shares] | None:
    """Return the budget after an answer, which is given also if the ledger cannot be read any more."""
    try:
        budget = visit.scope().datasets[dataset]
    except DiscreetError:
        return None
    return budget, shares(budget)


def answers(visit: Visit) -> Response:
    """Return the page of what was answered before."""
    found = visit.connection().releases()[-_NEWEST:][::-1]
    forms = _Forms(visit)
    rows = [(one, in_brief(one.guarantee, one.unit), forms.of(one)) for one in found]
    return visit.page("answers.html", rows=rows)


def _about(visit: Visit, dataset: str, question: str) -> str:
    """Return what the owner says about a question."""
    return str(visit.site.service.question_terms(dataset, question).get("description", ""))


def _terms(visit: Visit, wanted: Wanted) -> Mapping[str, Any]:
    """Return the verb and the terms of a question, for what its answer would tell."""
    if not wanted.is_named:
        return wanted.fields
    return visit.site.service.question_terms(wanted.dataset, wanted.fields["question"])


def _worst(quote: Quote) -> dict[str, str] | None:
    """Return how far off an answer may be, with which probability; None where no bound is known."""
    bound = quote.worst_error
    if bound is None:
        return None
    error = rounded_up(bound.error, 3) if bound.error else ""
    return {"error": error, "unit": bound.unit, "sure": spell(100 * bound.probability)}


class _Forms:
    """The forms that show the visitor's answers again, at no cost.

    A request is known by its name in the budget that is charged now; in one that was renewed it would be another.
    """

    def __init__(self, visit: Visit) -> None:
        self._analyst = visit.token.analyst
        self._kept: Mapping[str, Fields] = {}
        with suppress(UnreadableFile):  # answers are listed without
            self._kept = visit.site.sessions.asked(self._analyst or "")
        self._named = visit.connection().questions()
        self._budgets = {name: budget.dataset for name, budget in visit.scope().datasets.items()}

    def of(self, past: PastRelease) -> Fields | None:
        """Return the form of a release; None if it is somebody else's, or its question is not known here."""
        if past.analyst != self._analyst:
            return None
        kept = self._kept.get(past.request)
        if kept is not None and self._budgets.get(kept.get("dataset", "")) == past.dataset:
            return {**kept, "request": past.request}
        for one in self._named:
            if (self._budgets.get(one.name), one.query) == (past.dataset, past.query):
                return {"dataset": one.name, "question": one.access, "request": past.request}
        return None
