"""Pages for asking: questions, plan, ask, answers, budgets."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from ...base.arguments import read_name
from ...base.error_boundary import public_errors
from ...base.messages import Message
from ...base.numbers import spell
from ...errors import (
    DiscreetError,
    InvalidArgument,
    LedgerError,
    MissingColumn,
    UnknownBudget,
    UnreadableFile,
    preview,
)
from ...ledger import Budget, Quote
from ...ledger.budget import Amount
from ...privacy.guarantees import ZCDP, ApproxDP, Guarantee, PureDP
from ...privacy.wording import in_brief
from ...selection.bins import BIN_OPTIONS, column_words, read_columns
from ...selection.sentences import guarantee_in_words, neighbors_in_words
from ...selection.shown_answers import error_in_words
from ...tables.verb_table import VERBS
from ..asking import AllowedQuestion
from ..asking.past_releases import PastRelease
from ..asking.refusals import charged_failures, error_for_reader, status_of
from .answer_layout import layout_of
from .page_request import AuthenticatedRequest
from .question_form import (
    QuestionForm,
    columns_for,
    describe_values,
    own_lines,
    read_question_form,
    takes,
)
from .sessions import Fields, random_name

_NEWEST = 200
_REQUEST = 12
"""Random bytes of the name of a request: no analyst ever makes one twice."""


def questions(request: AuthenticatedRequest) -> Response:
    """Return the page of the questions that may be asked."""
    visible_questions = request.connection().questions()
    lines = {
        name: [_question_line(request, one) for one in visible_questions if one.name == name]
        for name in request.charged()
    }
    verbs = request.connection().rights().verbs
    return request.page("questions.html", datasets=lines, verbs=verbs)


def _question_line(
    request: AuthenticatedRequest, one: AllowedQuestion
) -> tuple[AllowedQuestion, str, str, str]:
    """Return a question of a list, with its description, its price, and its address behind the question mark."""
    form = QuestionForm({"dataset": one.name, "question": one.access})
    about = _description_of(request, one.name, one.access)
    return one, about, in_brief(one.guarantee, one.unit), form.address


def free(request: AuthenticatedRequest, error: DiscreetError | None = None) -> Response:
    """Return the page on which a free question is put together."""
    form, rights = read_question_form(request.fields), request.connection().rights()
    wrong = None if error is None else error_for_reader(error, request.token.role)
    columns = list(request.connection().columns(form.dataset).values())
    unit = _budget_to_ask(request, form.dataset).unit
    verb, largest = form.fields.get("verb", ""), rights.max_epsilon
    page_values: dict[str, Any] = {
        "wanted": form, "allowed": rights.verbs, "fields": form.all_fields, "columns": columns,
        "declared_values": describe_values, "takes": takes(verb), "own_lines": own_lines(verb),
        "wrong": wrong,
        "largest": None if largest is None else spell(largest),
        "unit": unit, "bin_options": BIN_OPTIONS,
        "fitting": columns_for(verb, columns, unit), "takes_cells": verb in VERBS and VERBS[verb].takes_cells,
    }  # fmt: skip
    return request.page("free.html", 200 if wrong is None else status_of(wrong), **page_values)


def _budget_to_ask(request: AuthenticatedRequest, dataset: str) -> Budget:
    """Return the budget that is charged first when the visitor asks about a dataset.

    Raises:
        UnknownBudget: if none was opened yet.
    """
    budgets = request.charged()
    if dataset in budgets:
        return budgets[dataset]
    raise UnknownBudget(f"no budget was opened for {preview(dataset)} yet")


def plan(request: AuthenticatedRequest) -> Response:
    """Return the page of a price: cost, answer and the rest of the budget, without a charge or reading of data."""
    form, datasets = read_question_form(request.fields), request.charged()
    try:
        quote = form.quote(request.connection())
    except (InvalidArgument, MissingColumn) as error:
        if form.is_named or form.dataset not in datasets:
            raise
        return free(request, error)
    budget, terms = datasets[form.dataset], _terms(request, form)
    return request.page(
        "plan.html", wanted=form, quote=quote, budget=budget, request=random_name(_REQUEST),
        terms=terms, worst=_worst_error(quote, terms),
        about=_description_of(request, form.dataset, form.fields["question"]) if form.is_named else "",
        promise=guarantee_in_words(_guarantee(quote.cost, budget)),
        relation=neighbors_in_words(budget.neighbors, budget.unit),
        may_ask=request.token.role != "auditor",
    )  # fmt: skip


def _guarantee(cost: Amount, budget: Budget) -> Guarantee:
    """Return the guarantee that a cost stands for, under the neighbouring relation of its budget."""
    if cost.epsilon is None:
        assert cost.rho is not None
        return ZCDP(cost.rho, budget.neighbors)
    if cost.delta:
        return ApproxDP(cost.epsilon, cost.delta, budget.neighbors)
    return PureDP(cost.epsilon, budget.neighbors)


def ask(request: AuthenticatedRequest) -> Response:
    """Charge a question once for the name of its request, and return the page of its answer."""
    form, request_name = read_question_form(request.fields), request.fields.get("request", "")
    fields = {**form.fields, "max_cost": request.fields.get("max_cost", "")}
    try:
        with public_errors():
            read_name(request_name, "request")
        answer = form.ask(request.connection(), request_name, fields["max_cost"] or None)
    except DiscreetError as error:
        if error.charged is not False:
            _remember(request, request_name, fields)
        # A failure is stored in place of an answer; where the ledger failed, the same request draws.
        is_final = error.charged is True and not isinstance(error, LedgerError)
        again = None if error.charged is False else {**fields, "request": request_name}
        back = f"/plan?{form.address}"
        failure = error_for_reader(error, request.token.role)
        return request.failure(failure, again=again, is_final=is_final, back=back)
    _remember(request, request_name, fields)
    is_histogram = _terms(request, form).get("verb") == "counts"
    with charged_failures(request_name):
        public = answer.shown
        return request.page(
            "answer.html", answer=answer, request=request_name, wanted=form,
            laid_out=layout_of(public.value, public.counts, is_histogram=is_histogram, query=answer.query),
            other=public.other, how_far_off=error_in_words(answer.error),
            budget=_budget_now(request, form.dataset),
        )  # fmt: skip


def postpone(request: AuthenticatedRequest) -> Response:
    """Return the page of a question that goes on, which asks for its answer again."""
    request_name = request.fields.get("request", "")
    form = read_question_form(request.fields)
    _remember(
        request, request_name, {**form.fields, "max_cost": request.fields.get("max_cost", "")}
    )
    response = request.page("postponed.html", 202, wanted=form)
    address = urlencode({"request": request_name})
    response.headers["Refresh"] = f"1; url=/answer?{address}"
    return response


def answer(request: AuthenticatedRequest) -> Response:
    """Return the page of the answer to a question that was asked before, by its request; else of all answers."""
    request_name = request.fields.get("request", "")
    forms = request.site.sessions.forms_of(request.token.analyst or "")
    if request_name not in forms:
        return answers(request)
    fields = {**forms[request_name], "request": request_name}
    return ask(replace(request, fields=fields))


def _remember(request: AuthenticatedRequest, request_name: str, fields: Fields) -> None:
    """Keep the form of a question that was paid. A refused one leaves no trace.

    If the form cannot be kept, the answer is given, and cannot be shown again from the list of answers.
    """
    with suppress(UnreadableFile):
        request.site.sessions.remember(request.token.analyst or "", request_name, fields)


def _budget_now(request: AuthenticatedRequest, dataset: str) -> Budget | None:
    """Return the budget after an answer, which is given also if the ledger cannot be read any more."""
    try:
        return request.charged()[dataset]
    except DiscreetError:
        return None


def answers(request: AuthenticatedRequest) -> Response:
    """Return the page of earlier answers."""
    releases = request.connection().releases()[-_NEWEST:][::-1]
    forms = _AnswerForms(request)
    rows = [(one, in_brief(one.guarantee, one.unit), forms.of(one)) for one in releases]
    return request.page("answers.html", rows=rows)


def _description_of(request: AuthenticatedRequest, dataset: str, question: str) -> str:
    """Return the owner's description of a question."""
    questions = request.site.service.configuration.questions
    return str(questions[dataset][question].get("description", ""))


def _terms(request: AuthenticatedRequest, form: QuestionForm) -> Mapping[str, Any]:
    """Return the verb and the terms of a question, to explain its answer."""
    if not form.is_named:
        columns = {name: " × ".join(form.columns(name)) for name in ("column", "by")}
        return {**form.fields, **columns}
    terms = request.site.service.configuration.questions[form.dataset][form.fields["question"]]
    words = {
        name: column_words(read_columns(terms[name])) for name in ("column", "by") if name in terms
    }
    return {**terms, **words}


def _worst_error(quote: Quote, terms: Mapping[str, Any]) -> str | None:
    """Return how far off an answer may be, with {column} where its column stands, or None if no bound is known."""
    bound = quote.worst_error
    if bound is None:
        return None
    if terms.get("verb") != "mode":
        return bound.in_words()
    return bound.in_words(Message("the {column} shown", column="{column}"))


class _AnswerForms:
    """The forms that show the visitor's answers again, at no cost.

    A request is known by its name in the budget that is charged now. In one that was renewed it would be another.
    """

    def __init__(self, request: AuthenticatedRequest) -> None:
        self._analyst = request.token.analyst
        self._fields: Mapping[str, Fields] = {}
        with suppress(UnreadableFile):  # answers are listed without
            self._fields = request.site.sessions.forms_of(self._analyst or "")
        self._questions = request.connection().questions()
        self._budgets = {name: budget.dataset for name, budget in request.charged().items()}

    def of(self, past: PastRelease) -> Fields | None:
        """Return the form of a release, or None if it is another caller's, or its question is not known here."""
        if past.analyst != self._analyst:
            return None
        fields = self._fields.get(past.request)
        if fields is not None and self._budgets.get(fields.get("dataset", "")) == past.dataset:
            return {**fields, "request": past.request}
        for one in self._questions:
            if (self._budgets.get(one.name), one.query) == (past.dataset, past.query):
                return {"dataset": one.name, "question": one.access, "request": past.request}
        return None
