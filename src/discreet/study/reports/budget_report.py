"""Reports of privacy budgets."""

from collections.abc import Iterator
from datetime import datetime
from fractions import Fraction
from functools import reduce
from itertools import accumulate, zip_longest
from operator import add

from ...base.messages import Message, join
from ...errors import UnknownBudget, preview
from ...ledger import Budget, Event, Ledger
from ...ledger.budget import Amount, budget_order
from ...ledger.events import CHARGED, EventBody
from ...privacy.guarantees import ZCDP, ApproxDP, Guarantee, PureDP
from ...privacy.wording import in_full, mechanism_name
from ...selection.sentences import guarantee_in_words, neighbors_in_words
from .charts import Picture, draw_budget

_SIGNS = {"epsilon": "ε", "rho": "ρ"}
_MOST_ROWS = 1000


def budget_parts(ledger: Ledger, dataset: str) -> dict[str, object]:
    """Return the parts of the report of a dataset's budget: total, questions, and remainder."""
    budgets, events = _read_budgets(ledger, dataset), ledger.history(dataset)
    chain, spent = ledger.verify(), ledger.spent(dataset)
    budget, *shares = budgets
    total = _guarantee(budget)
    rows = list(_asked_rows(events))
    return {
        "dataset": dataset, "budget": budget, "rows": _rows(budgets), "granted": _sum_shares(budget, shares),
        "promise": guarantee_in_words(total), "guarantee": in_full(total, budget.unit),
        "relation": neighbors_in_words(budget.neighbors, budget.unit),
        "answers": spent if spent.answers else None, "verified": chain,
        "pictures": list(_over_time(budget, events)),
        "questions": rows[-_MOST_ROWS:], "earlier": max(0, len(rows) - _MOST_ROWS),
    }  # fmt: skip


def remaining_budgets(ledger: Ledger, dataset: str) -> list[tuple[str, ...]]:
    """Return the rows of a dataset's budgets after a release."""
    return _rows(_read_budgets(ledger, dataset))


def _read_budgets(ledger: Ledger, dataset: str) -> list[Budget]:
    """Return the budgets of a dataset, its own first."""
    budgets = [budget for budget in ledger.budgets() if budget.dataset == dataset]
    if not budgets:
        raise UnknownBudget(f"no budget was opened for the dataset {preview(dataset)}")
    return sorted(budgets, key=budget_order)


def _guarantee(budget: Budget) -> Guarantee:
    """Return the guarantee of a budget's total."""
    epsilon, rho, delta = budget.terms
    if epsilon is None:
        assert rho is not None
        return ZCDP(rho, budget.neighbors)
    return (
        ApproxDP(epsilon, delta, budget.neighbors) if delta else PureDP(epsilon, budget.neighbors)
    )


def _sum_shares(whole: Budget, shares: list[Budget]) -> Amount | None:
    """Return the sum of the shares that are paid for already, if there are any."""
    if whole.shares != "reserved" or not shares:
        return None
    return reduce(add, (share.counted_total for share in shares))


def _rows(budgets: list[Budget]) -> list[tuple[str, ...]]:
    return [(b.name, str(b.total), str(b.spent), str(b.remaining)) for b in budgets]


def _asked_rows(events: list[Event]) -> Iterator[tuple[str, ...]]:
    """Yield a row for every question, and for every change of the description between two."""
    latest: dict[str, EventBody] = {}
    for event in events:
        if event.kind in CHARGED:
            yield _question(event)
        elif event.kind == "described":
            name = str(event.body["name"])
            before = latest.get(name, event.body)
            latest[name] = event.body
            if before["digest"] != event.body["digest"]:
                yield _written_at(event), "", change_in_words(before, event.body), "", ""


def change_in_words(before: EventBody, now: EventBody) -> Message:
    """Return the change of a description of a dataset, in words."""
    sides = [before.get("columns", ()), now.get("columns", ())]
    old, new = (
        [one for one in side if one not in other]
        for side, other in zip(sides, reversed(sides), strict=True)
    )
    pairs = zip_longest(old, new, fillvalue="–")
    columns = [Message("{before} → {now}", before=was, now=become) for was, become in pairs]
    source = [Message("the source of the data")] if before["source"] != now["source"] else []
    changes = join(Message("{first}; {then}"), [*columns, *source])
    return Message("described in another way: {changes}", changes=changes)


def _question(charge: Event) -> tuple[str, ...]:
    """Return the row of a question: its time, its analyst, and its cost to the dataset."""
    mechanism = charge.body.get("mechanism")
    return (
        _written_at(charge),
        charge.analyst or "",
        charge.question,
        Message("made elsewhere") if mechanism is None else mechanism_name(mechanism),
        ", ".join(f"{_SIGNS.get(u, 'δ')} = {v}" for u, v in _costs(charge).items()),
    )


def _over_time(budget: Budget, events: list[Event]) -> Iterator[Picture]:
    """Yield a plot for epsilon and for rho, where all answers so far have a bound in it."""
    own = [e for e in events if e.kind in CHARGED or (e.analyst is None and "total" in e.body)]
    for unit, sign in _SIGNS.items():
        if getattr(budget.remaining, unit) is None or len(own) < 2:
            continue
        points = spent_over_time(own, unit)
        caption = Message(
            "What the answers cost, summed up over time in {sign}, and the whole budget (dashed).",
            sign=sign,
        )
        yield Picture(draw_budget(points, sign), caption)


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


def _written_at(event: Event) -> str:
    return _time(event).strftime("%Y-%m-%d %H:%M:%S")


def _time(event: Event) -> datetime:
    return datetime.fromisoformat(event.at)
