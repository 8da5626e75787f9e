"""Reports of privacy budgets."""

from collections.abc import Iterator
from datetime import datetime
from fractions import Fraction
from functools import partial
from itertools import accumulate

from .. import plots
from ..errors import UnknownBudget, shown
from ..ledger import Budget, Event, Ledger
from ..ledger.budget import budget_order
from ..ledger.events import CHARGED
from ..privacy.guarantees import ZCDP, ApproxDP, Guarantee, PureDP
from ..privacy.odometer import Odometer
from . import prose
from .page import Markup, Page, Section, facts, lede, paragraph, picture, table

_SIGNS = {"epsilon": "ε", "rho": "ρ"}
_MOST_ROWS = 1000


def about_budget(ledger: Ledger, dataset: str) -> Page:
    """Return the report of a dataset's budget: total, questions, and remainder."""
    budgets, events = _budgets(ledger, dataset), ledger.history(dataset)
    verified = ledger.verify()
    whole = budgets[0]
    chained = {"Events": f"{verified.events:,}", "Head": verified.head}
    return Page(
        f"The privacy budget of {dataset}",
        lede(f"Spent {whole.spent} of {whole.total}; remaining {whole.remaining}."),
        (
            Section("What is promised", _promised(whole, ledger.spent(dataset))),
            Section("What was spent", (_sums(budgets), *_over_time(whole, events))),
            Section("What was asked", (_asked(events),)),
            Section(
                "That nothing was edited",
                (
                    paragraph(
                        "Each event holds a hash of all before it. The chain and all sums were computed anew "
                        "for this report, and agree. Compare the head with one noted elsewhere: only that "
                        "finds a ledger that was replaced as a whole."
                    ),
                    facts(chained),
                ),
            ),
            prose.exactness_section(),
        ),
    )


def remaining_section(ledger: Ledger, dataset: str) -> Section:
    """Return the section on a dataset's budgets after a release."""
    return Section("What remains", (_sums(_budgets(ledger, dataset)),))


def _budgets(ledger: Ledger, dataset: str) -> list[Budget]:
    """Return the budgets of a dataset, its own first."""
    found = [budget for budget in ledger.budgets() if budget.dataset == dataset]
    if not found:
        raise UnknownBudget(f"no budget was opened for the dataset {shown(dataset)}")
    return sorted(found, key=budget_order)


def _promised(budget: Budget, spent: Odometer) -> tuple[Markup, ...]:
    """Return the guarantee of all answers together, now and later."""
    total = _guarantee(budget)
    later = (
        "This is about all answers together, those so far and those to come: the ledger refuses more, unless "
        "its owner extends the budget. Then the larger total is all that is promised."
    )
    exactly = {
        "All answers, unless it is extended": str(total),
        "Answers so far": str(spent) if spent.answers else "none",
        "Neighbours": prose.neighbors_in_words(budget.neighbors, budget.unit),
    }
    sentences = [paragraph(text) for text in prose.guarantee_in_words(total)]
    return (paragraph(later), *sentences, facts(exactly))


def _guarantee(budget: Budget) -> Guarantee:
    """Return the guarantee of a budget's total."""
    epsilon, rho, delta = budget.terms
    if epsilon is None:
        assert rho is not None
        return ZCDP(rho, budget.neighbors)
    return (
        ApproxDP(epsilon, delta, budget.neighbors) if delta else PureDP(epsilon, budget.neighbors)
    )


def _sums(budgets: list[Budget]) -> Markup:
    head = ("budget", "total", "spent", "remaining")
    rows = [(b.name, str(b.total), str(b.spent), str(b.remaining)) for b in budgets]
    return table(head, rows)


def _asked(events: list[Event]) -> Markup:
    asked = [event for event in events if event.kind in CHARGED]
    more = len(asked) - _MOST_ROWS
    rows = [
        (
            _time(event).strftime("%Y-%m-%d %H:%M:%S"),
            event.analyst or "",
            str(event.body.get("query", "")),
            str(event.body.get("mechanism", "made elsewhere")),
            ", ".join(f"{_SIGNS.get(u, 'δ')} = {v}" for u, v in _costs(event).items()),
        )
        for event in asked[-_MOST_ROWS:]
    ]
    listed = table(("time (UTC)", "analyst", "question", "mechanism", "cost"), rows)
    return (
        Markup(paragraph(f"The last {_MOST_ROWS:,}; {more:,} before.") + listed)
        if more > 0
        else listed
    )


def _over_time(budget: Budget, events: list[Event]) -> Iterator[Markup]:
    """Yield a plot for epsilon and for rho, where all answers so far have a bound in it."""
    own = [e for e in events if e.kind in CHARGED or (e.analyst is None and "total" in e.body)]
    for unit, sign in _SIGNS.items():
        if getattr(budget.remaining, unit) is None or len(own) < 2:
            continue
        points = spent_over_time(own, unit)
        says = (
            f"What the answers cost, summed up over time in {sign}, and the whole budget (dashed)."
        )
        yield picture(partial(plots.budget, points, unit=sign), says)


def spent_over_time(events: list[Event], unit: str) -> list[tuple[datetime, Fraction, Fraction]]:
    """Return triples of a time, the amount spent so far, and the total of the budget."""
    costs = [Fraction(_costs(event).get(unit, 0)) for event in events]
    totals = accumulate((e.body.get("total", {}).get(unit, "") for e in events), _later)
    return [
        (_time(event), spent, Fraction(total))
        for event, spent, total in zip(events, accumulate(costs), totals, strict=True)
    ]


def _later(before: str, now: str) -> str:
    """Return the total after an event, which may not change it."""
    return now or before


def _costs(event: Event) -> dict[str, str]:
    """Return the cost of an event to the dataset's own budget."""
    return dict(event.body["costs"][0]) if event.kind in CHARGED else {}


def _time(event: Event) -> datetime:
    return datetime.fromisoformat(event.at)
