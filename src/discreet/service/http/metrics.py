"""Metrics of a service, for its owner: as JSON, and in the text format of Prometheus."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ...ledger import Budget
from ..queue.counts import RequestCounts
from ..queue.disclosures import LateAnswers
from .access_log import LATE_LEDGER, REFUSALS, REQUESTS


def as_json(
    counts: RequestCounts, budgets: Iterable[Budget], late: Iterable[LateAnswers]
) -> dict[str, Any]:
    """Return the metrics in plain values."""
    return {
        "requests": list(_requests(counts)),
        "refusals": dict(counts.read(REFUSALS)),
        "ledger_late": dict(counts.read(LATE_LEDGER)),
        "late_answers": [one.as_dict() for one in late],
        "budgets": [one.as_dict() for one in budgets],
    }


def as_text(counts: RequestCounts, budgets: Sequence[Budget], late: Sequence[LateAnswers]) -> str:
    """Return the metrics as Prometheus reads them. The rest of a budget is rounded to a double."""
    requests = [
        ({k: v for k, v in one.items() if k != "number"}, one["number"])
        for one in _requests(counts)
    ]
    refusals = [({"error": error}, number) for error, number in counts.read(REFUSALS).items()]
    ledger_late = [({"dataset": name}, number) for name, number in counts.read(LATE_LEDGER).items()]
    names = [{"dataset": one.dataset, "analyst": one.analyst or ""} for one in late]
    delays = [float(one.delay.factor) for one in late]
    given_up = [float(one.delay.given_up) for one in late]
    families: list[tuple[str, str, str, list[Any]]] = [
        ("discreet_requests_total", "counter", "Requests answered, by route and status.", requests),
        ("discreet_refusals_total", "counter", "Requests refused, by the class of the error.", refusals),
        ("discreet_ledger_late_total", "counter", "Answers that left later for the ledger.", ledger_late),
        ("discreet_delay", "gauge", "Times as long as answers_after, since the reset.", _pairs(names, delays)),
        ("discreet_given_up", "gauge", "Questions given up since the reset.", _pairs(names, given_up)),
        ("discreet_budget_total", "gauge", "Total of a privacy budget.", _amounts(budgets, "total")),
        ("discreet_budget_remaining", "gauge", "What is left of it.", _amounts(budgets, "remaining")),
    ]  # fmt: skip
    return "".join(line for family in families for line in _family(*family))


def _pairs(labels: Iterable[Any], numbers: Iterable[float]) -> list[Any]:
    return list(zip(labels, numbers, strict=True))


def _requests(counts: RequestCounts) -> Iterator[dict[str, Any]]:
    for labels, number in counts.read(REQUESTS).items():
        method, route, status = labels.split(" ")
        yield {"method": method, "route": route, "status": int(status), "number": number}


def _amounts(budgets: Iterable[Budget], which: str) -> list[tuple[dict[str, str], float]]:
    """Return the amounts of budgets with their labels, by the units that they count."""
    return [
        ({"dataset": budget.dataset, "analyst": budget.analyst or "", "unit": kind}, float(amount))
        for budget in budgets
        for kind, amount in _amounts_by_unit(budget, which)
    ]


def _amounts_by_unit(budget: Budget, which: str) -> Iterator[tuple[str, Fraction]]:
    """Yield the units that a budget counts, with an amount of it."""
    for kind in budget.total.as_dict():
        amount = getattr(getattr(budget, which), kind)
        if amount is not None:
            yield kind, amount


def _family(
    name: str, kind: str, help_text: str, samples: Iterable[tuple[Mapping[str, Any], float]]
) -> Iterator[str]:
    yield f"# HELP {name} {help_text}\n# TYPE {name} {kind}\n"
    for labels, value in samples:
        label_texts = ",".join(
            f'{key}="{_escape_label(str(label))}"' for key, label in labels.items()
        )
        yield f"{name}{{{label_texts}}} {value}\n" if label_texts else f"{name} {value}\n"


def _escape_label(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
