"""Pages of those who ask: what may be asked, plan, ask, answers, budgets."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from ...accuracy import CELLS
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
from .promises import promised, related, said
from .rendering import visible
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
        said(in_brief(one.guarantee, one.unit), visit.asked.lang),
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
        "unit": visit.site.service.declared.dataset(wanted.dataset).privacy_unit,
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
    budget, lang = datasets[wanted.dataset], visit.asked.lang
    return visit.page(
        "plan.html", wanted=wanted, quote=quote, budget=budget, request=random_name(_REQUEST),
        learn=_learnt(visit, wanted), worst=_worst(visit, quote), shares=shares(budget, quote.cost),
        about=_about(visit, wanted.dataset, wanted.fields["question"]) if wanted.is_named else "",
        promise=promised(quote.cost, budget, lang), relation=related(budget, lang),
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
    forms, lang = _Forms(visit), visit.asked.lang
    rows = [(one, said(in_brief(one.guarantee, one.unit), lang), forms.of(one)) for one in found]
    return visit.page("answers.html", rows=rows)


def _about(visit: Visit, dataset: str, question: str) -> str:
    """Return what the owner says about a question."""
    return str(visit.site.service.declared.questions[dataset][question].get("description", ""))


def _learnt(visit: Visit, wanted: Wanted) -> list[Markup]:
    """Return in plain words what the answer would tell."""
    terms: Any = wanted.fields
    if wanted.is_named:
        terms = visit.site.service.declared.questions[wanted.dataset][wanted.fields["question"]]
    shown = {name: _bdi(terms.get(name, "")) for name in ("column", "alpha", "k", "by")}
    told = [Markup(visit.words.learn[terms["verb"]]).format(**shown)]
    if terms.get("by"):
        told.append(Markup(visit.words.learn_by).format(**shown))
    return told


def _bdi(text: object) -> Markup:
    """Return a text that keeps its direction to itself."""
    return Markup("<bdi>{}</bdi>").format(visible(str(text)))


def _worst(visit: Visit, quote: Quote) -> str:
    """Return in words how far off an answer may be; nothing where no bound is known."""
    if quote.worst_error is None:
        return ""
    worst, words = quote.worst_error, visit.words
    sure = spell(100 * worst.probability)
    if worst.error == 0:
        none = words.exact_counts if worst.unit == CELLS else words.no_error
        return str(none.format(sure=sure))
    error = f"{rounded_up(worst.error, 3)} {words.units[worst.unit]}"
    return str(words.worst_error.format(sure=sure, error=error))


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
