"""Reports of privacy budgets."""

from collections.abc import Iterator
from datetime import datetime
from fractions import Fraction
from functools import partial, reduce
from itertools import accumulate
from operator import add

from .. import plots
from ..errors import UnknownBudget, shown
from ..ledger import Budget, Event, Ledger
from ..ledger.budget import budget_order
from ..ledger.events import CHARGED
from ..privacy.guarantees import ZCDP, ApproxDP, Guarantee, PureDP
from ..privacy.odometer import Odometer
from . import prose
from .page import Markup, Page, Section, facts, lede, paragraph, picture, table
from .wording import Wording

_SIGNS = {"epsilon": "ε", "rho": "ρ"}
_MOST_ROWS = 1000


def about_budget(ledger: Ledger, dataset: str, words: Wording) -> Page:
    """Return the report of a dataset's budget: total, questions, and remainder."""
    budgets, events = _budgets(ledger, dataset), ledger.history(dataset)
    verified = ledger.verify()
    whole = budgets[0]
    amounts = {
        "spent": words.said(whole.spent),
        "total": words.said(whole.total),
        "remaining": words.said(whole.remaining),
    }
    chained = {words.events: f"{verified.events:,}", words.head: verified.head}
    return Page(
        words.budget_title.format(dataset=dataset),
        lede(words.budget.format(**amounts)),
        (
            Section(words.promised_title, _promised(whole, ledger.spent(dataset), words)),
            Section(
                words.spent_title,
                (
                    _sums(budgets, words),
                    *_granted(budgets, words),
                    *_over_time(whole, events, words),
                ),
            ),
            Section(words.asked_title, (_asked(events, words),)),
            Section(words.chain_title, (paragraph(words.chain), facts(chained))),
            prose.exactness_section(words),
        ),
        words,
    )


def remaining_section(ledger: Ledger, dataset: str, words: Wording) -> Section:
    """Return the section on a dataset's budgets after a release."""
    return Section(words.remaining_title, (_sums(_budgets(ledger, dataset), words),))


def _budgets(ledger: Ledger, dataset: str) -> list[Budget]:
    """Return the budgets of a dataset, its own first."""
    found = [budget for budget in ledger.budgets() if budget.dataset == dataset]
    if not found:
        raise UnknownBudget(f"no budget was opened for the dataset {shown(dataset)}")
    return sorted(found, key=budget_order)


def _promised(budget: Budget, spent: Odometer, words: Wording) -> tuple[Markup, ...]:
    """Return the guarantee of all answers together, now and later."""
    total = _guarantee(budget)
    exactly = {
        words.all_answers: words.said(total),
        words.so_far: words.said(spent) if spent.answers else words.none,
        words.neighbours: prose.neighbors_in_words(budget.neighbors, budget.unit, words),
    }
    sentences = [words.promised_together, *prose.guarantee_in_words(total, words)]
    return (*map(paragraph, sentences), facts(exactly))


def _guarantee(budget: Budget) -> Guarantee:
    """Return the guarantee of a budget's total."""
    epsilon, rho, delta = budget.terms
    if epsilon is None:
        assert rho is not None
        return ZCDP(rho, budget.neighbors)
    return (
        ApproxDP(epsilon, delta, budget.neighbors) if delta else PureDP(epsilon, budget.neighbors)
    )


def _granted(budgets: list[Budget], words: Wording) -> Iterator[Markup]:
    """Yield a sentence on the shares that are paid for already, if there are any."""
    whole, *shares = budgets
    if whole.shares == "reserved" and shares:
        granted = reduce(add, (share.counted_total for share in shares))
        yield paragraph(words.granted.format(granted=words.said(granted)))


def _sums(budgets: list[Budget], words: Wording) -> Markup:
    rows = [(b.name, *map(words.said, (b.total, b.spent, b.remaining))) for b in budgets]
    return table(words.sums, rows)


def _asked(events: list[Event], words: Wording) -> Markup:
    asked = [event for event in events if event.kind in CHARGED]
    more = len(asked) - _MOST_ROWS
    rows = [
        (
            _time(event).strftime("%Y-%m-%d %H:%M:%S"),
            event.analyst or "",
            str(event.body.get("query", "")),
            words.said(event.body.get("mechanism", words.elsewhere)),
            ", ".join(f"{_SIGNS.get(u, 'δ')} = {v}" for u, v in _costs(event).items()),
        )
        for event in asked[-_MOST_ROWS:]
    ]
    listed = table(words.history, rows)
    if more <= 0:
        return listed
    return Markup(paragraph(words.last_rows.format(shown=_MOST_ROWS, before=more)) + listed)


def _over_time(budget: Budget, events: list[Event], words: Wording) -> Iterator[Markup]:
    """Yield a plot for epsilon and for rho, where all answers so far have a bound in it."""
    own = [e for e in events if e.kind in CHARGED or (e.analyst is None and "total" in e.body)]
    for unit, sign in _SIGNS.items():
        if getattr(budget.remaining, unit) is None or len(own) < 2:
            continue
        points = spent_over_time(own, unit)
        says = words.budget_picture.format(sign=sign)
        yield picture(partial(plots.budget, points, unit=sign), says, words)


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
