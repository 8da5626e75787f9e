"""Notes for the owner on named questions that another method would answer better."""

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from ..datasets.configuration import Configuration
from ..errors import DiscreetError
from ..mechanisms.top_counts import TopCounts
from ..selection import bill_of
from ..verbs.top_k import top_k

_NO_TERMS = ("verb", "column", "description")


def method_notes(configuration: Configuration) -> Iterator[str]:
    """Yield a note for every named question that keeps the method of before, and would better say another."""
    for name, questions in configuration.questions.items():
        payer = SimpleNamespace(currency=_currency(configuration.budgets.get(name, {})))
        for access, question in questions.items():
            if question["verb"] != "top_k" or "method" in question:
                continue
            terms = {key: value for key, value in question.items() if key not in _NO_TERMS}
            if _is_better_by_counts(configuration.dataset(name), question["column"], terms, payer):
                yield (
                    f"datasets.{name}.questions.{access}: noisy counts answer it better at the same cost, and tell "
                    'the counts; if that is wanted, write method = "counts", else method = "peeling"'
                )


def _is_better_by_counts(
    data: object, column: str, terms: Mapping[str, Any], payer: object
) -> bool:
    """Return whether a question without a method would be answered by noisy counts."""
    try:
        return (
            bill_of(top_k, data, column, **{**terms, "ledger": payer}).mechanism == TopCounts.name
        )
    except DiscreetError:  # said where the question is allowed
        return False


def _currency(budget: Mapping[str, Any]) -> str:
    """Return the unit that a declared budget counts."""
    uses = {"questions": "epsilon", "composition": "rho", None: "undecided"}
    if "delta" in budget:
        return uses[budget.get("delta_for")]
    return "rho" if "rho" in budget else "epsilon"
