"""Pages of those who ask: what may be asked, plan, ask, answers, budgets."""

from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from ...arguments import read_name
from ...datasets.configuration import VERBS
from ...errors import DiscreetError, InvalidArgument, MissingColumn
from ...ledger import Budget
from ...node import AllowedQuestion
from ...privacy.statements import in_brief
from ..past_releases import PastRelease
from ..statuses import status_of
from .answers import laid_out
from .bars import shares
from .promises import promised, related, said
from .sessions import Fields, random_name
from .visit import Visit
from .wanted import Wanted, described, read_wanted

_NEWEST = 200


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
    found = visit.connection().questions()
    names = datasets(visit)
    lines = {name: [_line(visit, one) for one in found if one.name == name] for name in names}
    return visit.page("questions.html", datasets=lines, verbs=verbs(visit))


def _line(visit: Visit, one: AllowedQuestion) -> Line:
    return Line(
        one,
        _about(visit, one.name, one.access),
        said(in_brief(one.guarantee, one.unit), visit.asked.lang),
    )


def free(visit: Visit, wrong: DiscreetError | None = None) -> Response:
    """Return the page on which a free question is put together."""
    wanted = read_wanted(visit.fields)
    allowed = verbs(visit)
    columns = list(visit.connection().columns(wanted.dataset).values())
    shown: dict[str, Any] = {
        "wanted": wanted, "allowed": allowed, "fields": wanted.all_fields, "columns": columns,
        "described": described, "takes": VERBS.get(wanted.fields.get("verb", ""), ()), "wrong": wrong,
        "largest": _about_analyst(visit).get("largest_epsilon"),
        "unit": visit.site.service.declared.dataset(wanted.dataset).privacy_unit,
    }  # fmt: skip
    return visit.page("free.html", 200 if wrong is None else status_of(wrong), **shown)


def plan(visit: Visit) -> Response:
    """Return the page of a price: what would be paid, learnt and left. Nothing is charged or read."""
    wanted = read_wanted(visit.fields)
    try:
        quote = wanted.quote(visit.connection())
    except (InvalidArgument, MissingColumn) as error:
        if wanted.is_named or wanted.dataset not in datasets(visit):
            raise
        return free(visit, error)
    budget = next((one for one in _budgets(visit) if one.name == quote.name), None)
    shown: dict[str, Any] = {
        "wanted": wanted, "quote": quote, "budget": budget, "request": random_name(),
        "learn": _learnt(visit, wanted), "may_ask": visit.token.role != "auditor", "errors": [],
        "about": _about(visit, wanted.dataset, wanted.fields["question"]) if wanted.is_named else "",
        "shares": None, "promise": None,
    }  # fmt: skip
    if budget is not None:
        shown["promise"] = promised(quote.cost, budget, visit.asked.lang)
        shown["shares"] = shares(budget, quote.cost)
        shown["relation"] = related(budget, visit.asked.lang)
    return visit.page("plan.html", **shown)


def ask(visit: Visit) -> Response:
    """Charge a question once for the name of its request, and return the page of its answer."""
    wanted, request = read_wanted(visit.fields), visit.fields.get("request", "")
    kept = {**wanted.fields, "max_cost": visit.fields.get("max_cost", "")}
    try:
        named = (
            read_name(wanted.dataset, "dataset"),
            visit.token.analyst or "",
            read_name(request, "request"),
        )
        visit.site.sessions.remember(named, kept)
        answer = wanted.ask(visit.connection(), request, kept["max_cost"] or None)
    except DiscreetError as error:
        again = {**kept, "request": request} if getattr(error, "__notes__", None) else None
        back = f"/plan?{wanted.address}"
        return visit.failure(error, status_of(error), again=again, back=back)
    mine = [
        one
        for one in _budgets(visit)
        if (one.dataset, one.analyst) == (wanted.dataset, visit.token.analyst)
    ]
    return visit.page(
        "answer.html", answer=answer, laid_out=laid_out(answer.value), request=request, wanted=wanted,
        budgets=[(one, shares(one)) for one in mine],
    )  # fmt: skip


def answers(visit: Visit) -> Response:
    """Return the page of what was answered before."""
    found = visit.connection().releases()[-_NEWEST:][::-1]
    analyst = visit.token.analyst
    kept, named = visit.site.sessions.asked(analyst or ""), visit.connection().questions()
    lang = visit.asked.lang
    rows = [
        (
            one,
            said(in_brief(one.guarantee, one.unit), lang),
            _again(one, kept, named) if one.analyst == analyst else None,
        )
        for one in found
    ]
    return visit.page("answers.html", rows=rows)


def budgets(visit: Visit) -> Response:
    """Return the page of the visitor's budgets, or of all."""
    rows = [(one, shares(one), related(one, visit.asked.lang)) for one in _budgets(visit)]
    return visit.page("budgets.html", rows=rows)


def datasets(visit: Visit) -> list[str]:
    """Return the datasets that the visitor may ask about, or see."""
    return list(dict.fromkeys(one.dataset for one in _budgets(visit)))


def verbs(visit: Visit) -> tuple[str, ...]:
    """Return the verbs of free questions that the visitor may ask."""
    if visit.token.role != "analyst":
        return tuple(VERBS)
    return tuple(_about_analyst(visit).get("verbs", ()))


def _about_analyst(visit: Visit) -> Any:
    return visit.site.service.declared.analysts.get(visit.token.analyst or "", {})


def _budgets(visit: Visit) -> list[Budget]:
    return list(visit.connection().budgets())


def _about(visit: Visit, dataset: str, question: str) -> str:
    """Return what the owner says about a question."""
    return str(visit.site.service.declared.questions[dataset][question].get("description", ""))


def _learnt(visit: Visit, wanted: Wanted) -> list[str]:
    """Return in plain words what the answer would tell."""
    terms: Any = wanted.fields
    if wanted.is_named:
        terms = visit.site.service.declared.questions[wanted.dataset][wanted.fields["question"]]
    template = visit.words.learn[terms["verb"]]
    shown = {name: terms.get(name, "") for name in ("column", "alpha", "k")}
    told = [template.format(**shown)]
    if terms.get("by"):
        told.append(visit.words.learn_by.format(by=terms["by"]))
    return told


def _again(
    past: PastRelease, kept: dict[tuple[str, str], Fields], named: list[AllowedQuestion]
) -> dict[str, str] | None:
    """Return the form that shows an answer again, at no cost; None if the question is not known here."""
    if (past.dataset, past.request) in kept:
        return {**kept[past.dataset, past.request], "request": past.request}
    for one in named:
        if (one.name, one.query) == (past.dataset, past.query):
            return {"dataset": one.name, "question": one.access, "request": past.request}
    return None
