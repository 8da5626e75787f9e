"""The datasets of a description with their questions, and who may ask what."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..batches import Call
from ..datasets.configuration import Configuration
from ..datasets.declarations import wrong
from ..datasets.lines import line_of
from ..datasets.questions import VERBS
from ..errors import DiscreetError, InvalidDescription, LedgerError
from ..ledger.toml_budgets import declared_neighbors, existing
from ..node.datasets import Datasets
from .free_questions import Freedom, verb_named
from .rights import Rights
from .slots import DEFAULT, LENGTH, read_slot


def hold(declared: Configuration) -> Datasets:
    """Return the datasets of a description, with their questions. Nothing is read from them.

    Nobody can ask about a dataset before its owner has opened its budget.

    Raises:
        InvalidDescription: if there is no ledger in it, or a question is refused by its verb.
        UnknownBudget: if the ledger is not there: only the owner makes one.
    """
    if declared.ledger is None:
        raise InvalidDescription(
            f'{declared.path} declares no ledger; add ledger = "budget.db" at its top'
        )
    held = Datasets(existing(declared.ledger, next(iter(declared.datasets))))
    for name, dataset in declared.datasets.items():
        held.hold(name, dataset)
        opened = held.opened(name)
        neighbors = declared_neighbors(declared, name) if opened is None else opened.neighbors
        for access, terms in declared.questions[name].items():
            _allow(held, declared, (name, access), terms, neighbors)
    return held


def rights_of(held: Datasets, declared: Configuration, role: str, analyst: str | None) -> Rights:
    """Return what a caller of a service may do, by role: no answer is longer than fits its reply."""
    asking = (
        auditor_rights(held, declared)
        if role == "auditor"
        else caller_rights(held, declared, analyst)
    )
    slot = read_slot(declared.server.get("slot", DEFAULT))
    return replace(asking, longest=LENGTH // 2, slot=slot)


def auditor_rights(held: Datasets, declared: Configuration) -> Rights:
    """Return what an auditor may do: see questions, prices, budgets and releases of all, and ask nothing."""
    return Rights(held, None, tuple(declared.datasets), Freedom(tuple(VERBS)), asks=False)


def caller_rights(held: Datasets, declared: Configuration, analyst: str | None) -> Rights:
    """Return what an analyst may do, or the owner. No ledger is read.

    Raises:
        UnknownName: if the description has no such analyst.
    """
    if analyst is None:
        return Rights(held, None, tuple(declared.datasets), Freedom(tuple(VERBS)))
    about = declared.analyst(analyst)
    free = Freedom(about.get("verbs", ()), about.get("max_epsilon"))
    return Rights(held, analyst, about["datasets"], free)


def _allow(
    held: Datasets,
    declared: Configuration,
    at: tuple[str, str],
    terms: Mapping[str, Any],
    neighbors: str,
) -> None:
    """Allow a named question, under the neighbouring relation of its budget."""
    name, access = at
    given = {
        key: value for key, value in terms.items() if key not in ("verb", "column", "description")
    }
    question = Call(
        verb_named(terms["verb"]), (terms["column"],), {**given, "neighbors": neighbors}
    )
    try:
        held.allow(name, access, question)
    except LedgerError:
        raise
    except DiscreetError as error:
        said = str(error)
    else:
        return
    place = ("datasets", name, "questions", access)
    line = line_of(declared.path.read_text(encoding="utf-8"), place)
    raise InvalidDescription(f"{declared.path}, line {line}: {wrong(place, said)}")
