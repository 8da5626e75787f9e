"""The program of the playground: it runs in the reader's tab, under Pyodide, and in the tests.

A question is counted here, and its answer is drawn by the library. Nothing leaves the tab: no file, no address.
"""

import csv
import json
from fractions import Fraction
from io import StringIO
from typing import Any

import discreet

TOTAL = Fraction(3)
"""The budget of a tab: what all its answers may cost together."""


class TabBudget:
    """The account of a tab: it counts the answers, and refuses those that it cannot pay."""

    def __init__(self, total: Fraction = TOTAL) -> None:
        self.total, self.spent, self.answers = total, Fraction(0), 0

    def buy(self, bill: Any, prepare: Any) -> Any:
        """Charge for an answer, then draw it."""
        cost = bill.guarantee.pure
        if self.spent + cost > self.total:
            raise discreet.errors.Exhausted(
                f"the budget of this tab is ε = {float(self.total):g}, and ε = {float(self.spent):g} is spent: "
                f"an answer at ε = {float(cost):g} is refused, before your file is looked at"
            )
        self.spent += cost
        self.answers += 1
        draw = prepare()
        return draw()


_budget = TabBudget()


def _counts(text: str, column: str, candidates: list[str]) -> dict[str, int]:
    """Return how many rows have each candidate; the other rows are left out, as in `mode`."""
    counts = dict.fromkeys(candidates, 0)
    for row in csv.DictReader(StringIO(text)):
        cell = (row.get(column) or "").strip()
        if cell in counts:
            counts[cell] += 1
    return counts


def _candidates(text: str) -> list[str]:
    """Return the candidates that the reader typed; public, never taken from the file."""
    names = [name.strip() for name in text.split(",")]
    return list(dict.fromkeys(filter(None, names)))


def columns(text: str) -> str:
    """Return the names in the first line of a file, as JSON."""
    return json.dumps(next(csv.reader(StringIO(text)), []))


def distribution(text: str, column: str, candidates: str, epsilon: str) -> str:
    """Return the exact distribution of the answer, as JSON. It is as private as the file."""
    counts = _counts(text, column, _candidates(candidates))
    law = discreet.distribution(counts, sensitivity=1, monotonic=True, epsilon=epsilon)
    rows = [{"candidate": name, "probability": float(law.probability(name))} for name in counts]
    return json.dumps({"private": "do not publish: it reveals the counts", "rows": rows})


def answer(text: str, column: str, candidates: str, epsilon: str) -> str:
    """Return a private answer and what is left of the budget, as JSON; or why there is none."""
    names = _candidates(candidates)
    try:
        release = discreet.select_by(
            lambda file, _: list(_counts(file, column, names).values()),
            text,
            names,
            sensitivity=1,
            monotonic=True,
            epsilon=epsilon,
            ledger=_budget,
        )
    except discreet.errors.DiscreetError as error:
        return json.dumps({"error": str(error), **_state()})
    return json.dumps({"answer": release.value, "promise": str(release.promise), **_state()})


def _state() -> dict[str, object]:
    return {
        "answers": _budget.answers,
        "spent": float(_budget.spent),
        "remaining": float(_budget.total - _budget.spent),
    }


def attack() -> str:
    """Return what an attack learns from numpy's exponentials, and what it learns from the library, as JSON."""
    from discreet.study.attacks import ATTACKS

    lesson = ATTACKS["underflow"]()
    return json.dumps({"claim": lesson.claim, "naive": str(lesson.naive), "ours": str(lesson.ours)})
