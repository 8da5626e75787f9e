"""The datasets of a description with their questions, and the rights of callers."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...errors import DiscreetError, InvalidDescription, LedgerError
from ...ledger.budget import Amount
from ...ledger.failed_questions import MAX_FAILURES
from ...ledger.toml_budgets import declared_neighbors, described_ledger
from ...selection.verb_calls import Call
from ...tables.datasets import Dataset
from ...tables.datasets.configuration import Configuration, line_of
from ...tables.datasets.declarations import wrong
from ..queue.lengths import with_most
from ..queue.padding import LENGTH
from ..queue.promises import answer_times
from .datasets import Datasets
from .free_questions import verb_named
from .own_rights import LIMITS, OwnRights
from .rights import Rights


def hold(description: Configuration) -> Datasets:
    """Return the datasets of a description, with their questions. No data are read.

    Nobody can ask about a dataset before its owner has opened its budget.

    Raises:
        InvalidDescription: if there is no ledger in it, or a question is rejected by its verb.
        UnknownBudget: if the ledger is not there: only the owner makes one.
    """
    datasets = Datasets(described_ledger(description, next(iter(description.datasets))))
    for name, dataset in description.datasets.items():
        most = description.serving.get(name, {}).get("max_failures", MAX_FAILURES)
        datasets.hold(name, dataset, most)
        budget = datasets.budget_of(name)
        neighbors = declared_neighbors(description, name) if budget is None else budget.neighbors
        for access, terms in description.questions[name].items():
            _allow(datasets, description, (name, access), terms, neighbors)
    return datasets


def rights_of(
    datasets: Datasets, description: Configuration, role: str, analyst: str | None
) -> Rights:
    """Return the rights of a caller of a service, by role: no answer is longer than fits its reply."""
    rights = caller_rights(datasets, description, role, analyst)
    return replace(rights, longest=LENGTH // 2, times=answer_times(description))


def caller_rights(
    datasets: Datasets, description: Configuration, role: str, analyst: str | None
) -> Rights:
    """Return the rights of a caller. No ledger is read.

    An auditor sees the questions, prices, budgets and releases of all, and never asks.

    Raises:
        UnknownName: if the description has no such analyst.
    """
    if analyst is None:
        names = tuple(description.datasets)
        return Rights(datasets, OwnRights.of_all(), names, asks=role != "auditor")
    about = description.analyst(analyst)
    return Rights(datasets, own_rights_of(analyst, about), about["datasets"])


def own_rights_of(analyst: str, about: Mapping[str, Any]) -> OwnRights:
    """Return the rights that the declaration about an analyst gives."""
    verbs, where = (tuple(about.get(name, ())) for name in ("verbs", "where"))
    least = Amount(about.get("min_epsilon"), about.get("min_rho"))
    limits = {name: about.get(name) for name in LIMITS}
    return OwnRights(analyst, verbs, where=where, least=least, **limits)


def named_question(dataset: Dataset, terms: Mapping[str, Any], neighbors: str) -> Call:
    """Return a named question without its data, under the neighbouring relation of a budget."""
    arguments = {
        key: value for key, value in terms.items() if key not in ("verb", "column", "description")
    }
    column = (terms["column"],) if "column" in terms else ()
    question = Call(verb_named(terms["verb"]), column, {**arguments, "neighbors": neighbors})
    return with_most(question, dataset)


def _allow(
    datasets: Datasets,
    description: Configuration,
    at: tuple[str, str],
    terms: Mapping[str, Any],
    neighbors: str,
) -> None:
    """Allow a named question, under the neighbouring relation of its budget."""
    name, access = at
    try:
        datasets.allow(name, access, named_question(description.dataset(name), terms, neighbors))
    except LedgerError:
        raise
    except DiscreetError as error:
        reason = str(error)
    else:
        return
    place = ("datasets", name, "questions", access)
    line = line_of(description.path.read_text(encoding="utf-8"), place)
    raise InvalidDescription(f"{description.path}, line {line}: {wrong(place, reason)}")
