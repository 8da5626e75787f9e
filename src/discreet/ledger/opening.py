"""What an owner does with budgets: opens, describes and renews them, each as an event of the chain."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..errors import InvalidArgument, UnknownBudget
from ..payment import About
from ..privacy.statements import relation
from ..privacy.units import one_record, plain_unit
from . import integrity, queries
from .bindings import Bindings, Declaration
from .budget import Amount, Budget, new_budget
from .descriptions import append_described, change, read_bindings, record
from .events import unit_field
from .periods import Period, this_period
from .purchase import Payer
from .shared_tables import budget_to_open, check_unit_of_source, of_another, other_budgets
from .transaction import NewEvent, Transaction


def open_budget(
    transaction: Transaction, budget: Budget, declared: Declaration | None, per: str | None
) -> Budget:
    """Store a budget unless it exists; that of a described dataset under the name of its source's budget."""
    if declared is None:
        return _opened(transaction, budget, {})
    bindings = replace(read_bindings(transaction), tables=declared.tables)
    budget = replace(budget, dataset=budget_to_open(bindings, declared) or budget.dataset)
    check_unit_of_source(transaction, bindings, declared.about, budget)
    period = _period(bindings, budget, per)
    opened = _opened(transaction, budget, {})
    if budget.analyst is None:
        _describe_once(transaction, opened.dataset, declared, period)
    return replace(opened, period=None if period is None else period.name)


def _period(bindings: Bindings, budget: Budget, per: str | None) -> Period | None:
    """Return the period of a budget that is opened: the one on record, or that of today.

    Raises:
        InvalidArgument: if it has one of another kind.
    """
    known = bindings.periods.get(budget.dataset)
    if known is None:
        return None if per is None or budget.analyst is not None else this_period(per)
    if per not in (None, known.per):
        raise InvalidArgument(
            f"the budget of {budget.dataset} was opened per {known.per}, not per {per}; the next one can be of "
            f"another period: ledger.renew(dataset, per={per!r})"
        )
    return known


def describe_dataset(transaction: Transaction, declared: Declaration) -> None:
    """Record a description as its owner has changed it, for the budget of its name or of its source.

    Raises:
        UnknownBudget: if no budget was opened for it.
        InvalidArgument: if it is of other records than the budget, or of the source of another budget.
    """
    bindings, about = replace(read_bindings(transaction), tables=declared.tables), declared.about
    budget = _whole(transaction, bindings.budget(about))
    if budget.unit != about.privacy_unit:
        raise InvalidArgument(
            f"the budget of {budget.dataset} protects {one_record(budget.unit)}, and this description "
            f"{one_record(about.privacy_unit)}: no release fits both, so they cannot have one budget"
        )
    others = other_budgets(bindings, about, budget.dataset)
    if others and bindings.named(about) and not declared.is_separate:
        raise of_another(bindings, about, others)
    known = bindings.of(budget.dataset).get(str(about.name), {})
    is_same = known.get("digest") == about.digest and known.get("tables") == about.tables
    if not is_same or (others and declared.is_separate):
        record(transaction, budget.dataset, about, separate_from=others)


def renew_budget(
    transaction: Transaction,
    about: About,
    period: str | None,
    per: str | None,
    total: Amount | None,
) -> Budget:
    """Open a new budget for a described dataset, to which releases are charged from now on.

    Args:
        transaction: where they are read.
        about: the dataset.
        period: a name of the owner's choice; None for the calendar period of today.
        per: the kind of calendar period; None for that of the budget which is renewed.
        total: the new total; None for that of the budget which is renewed.

    Raises:
        UnknownBudget: if it has none to be renewed.
        InvalidArgument: if its period has not ended, or there is another budget of the name of the new one.
    """
    bindings = read_bindings(transaction)
    before, first = bindings.budget(about), bindings.budgets(about)[0]
    old, began = _whole(transaction, before), bindings.periods.get(before)
    next_one = None if period is not None else _next_period(old, began, per)
    if began is not None and period is not None:
        raise InvalidArgument(
            f"the budget of {before} is per {began.per}: leave out the period, or extend it"
        )
    name = f"{first} {period if next_one is None else next_one.name}"
    budget = new_budget(name, None, old.neighbors, total or old.total, old.unit)
    known = queries.stored_budgets(transaction.connection, name)
    if known and not bindings.of(name):
        raise InvalidArgument(f"there is a budget named {name} already; name the period otherwise")
    opened = _opened(transaction, budget, {"renews": first})
    for body in () if known else bindings.of(before).values():
        append_described(transaction, name, body, next_one)
    return replace(opened, period=None if next_one is None else next_one.name)


def _next_period(old: Budget, began: Period | None, per: str | None) -> Period:
    """Return the period of today, in which a budget is renewed.

    Raises:
        InvalidArgument: if the budget has no period, or one that has not ended.
    """
    if began is None:
        raise InvalidArgument(
            f"the budget of {old.dataset} has no calendar period: name the new one, as in --period 2027; or open "
            "it again with per, and renew it in the next"
        )
    if not began.has_ended:
        raise InvalidArgument(
            f"the {began.per} {began.name} of the budget of {old.dataset} has not ended; to grant more within it, "
            "extend the budget"
        )
    return this_period(began.per if per is None else per)


def extend_budget(transaction: Transaction, payer: Payer, total: Amount) -> Budget:
    """Give a budget a larger total.

    Raises:
        InvalidArgument: if the total is not larger or of another kind, or nothing is charged to it any more.
    """
    why = read_bindings(transaction).closed(payer.dataset)
    if why is not None:
        raise InvalidArgument(f"the budget of {payer.dataset} cannot be extended: {why}")
    *others, budget = payer.budgets(transaction)
    larger = budget.extended(total)
    body = {"total": total.as_dict(), **integrity.budget_states(*others, larger)}
    event = NewEvent("extended", larger.dataset, larger.analyst, None, body)
    transaction.append(event)
    queries.update_budget(transaction.connection, larger)
    return larger


def listed_budgets(
    transaction: Transaction, whose: Sequence[About | str] | None
) -> list[list[Budget]]:
    """Return the budgets of each dataset, that which is charged last; of none in particular, all in one list."""
    bindings, found = read_bindings(transaction), integrity.checked_budgets(transaction)
    told = [_told(bindings, budget) for budget in found]
    if whose is None:
        return [told]
    names = [[one] if isinstance(one, str) else bindings.budgets(one) for one in whose]
    return [[b for name in of for b in told if b.dataset == name] for of in names]


def _told(bindings: Bindings, budget: Budget) -> Budget:
    """Return a budget with its period, and whether it was renewed."""
    period, after = bindings.periods.get(budget.dataset), bindings.successor(budget.dataset)
    named = None if period is None else period.name
    return replace(budget, period=named, is_current=after is None)


def _describe_once(
    transaction: Transaction, budget: str, declared: Declaration, period: Period | None
) -> None:
    """Record a description or a period that the budget does not have yet."""
    bindings, about = replace(read_bindings(transaction), tables=declared.tables), declared.about
    others = other_budgets(bindings, about, budget) if declared.is_separate else []
    known = bindings.of(budget).get(str(about.name))
    begins = period if budget not in bindings.periods else None
    if known is None or change(known, about) is not None or begins is not None or others:
        record(transaction, budget, about, begins, others)


def _whole(transaction: Transaction, dataset: str) -> Budget:
    """Return the budget of a dataset."""
    found = integrity.checked_budgets(transaction, dataset)
    return next(budget for budget in found if budget.analyst is None)


def _opened(transaction: Transaction, budget: Budget, more: Mapping[str, object]) -> Budget:
    """Store the budget unless it exists."""
    known = {each.analyst: each for each in integrity.checked_budgets(transaction, budget.dataset)}
    if budget.analyst in known:
        return _unchanged(known[budget.analyst], budget)
    if budget.analyst is not None and None not in known:
        raise UnknownBudget(
            f"a share needs something to share: open a budget for the dataset {budget.dataset} first"
        )
    _check_share(budget, known.get(None, budget))
    left = [budget] if budget.analyst is None else [known[None], budget]
    body = {"neighbors": budget.neighbors, "total": budget.total.as_dict(), **unit_field(budget.unit),
            **integrity.budget_states(*left), **more}  # fmt: skip
    transaction.append(NewEvent("opened", budget.dataset, budget.analyst, None, body))
    queries.insert_budget(transaction.connection, budget)
    return budget


def _check_share(share: Budget, whole: Budget) -> None:
    """Raise if a share has another privacy unit than its dataset's budget: no release could fit both."""
    if share.unit == whole.unit:
        return
    fix = f"privacy_unit={plain_unit(whole.unit)!r}" if whole.unit else "no privacy_unit"
    raise InvalidArgument(
        f"the budget of {whole.name} protects {one_record(whole.unit)}, so a share of it takes {fix}"
    )


def _unchanged(known: Budget, asked: Budget) -> Budget:
    """Return the existing budget if its terms are those asked for."""
    ours, theirs = ((b.terms, b.neighbors, b.unit) for b in (known, asked))
    if ours == theirs:
        return known
    raise InvalidArgument(
        f"the budget of {known.name} was opened as {_said(known)}, not as {_said(asked)}; "
        "to give it more, extend it"
    )


def _said(budget: Budget) -> str:
    return f"{budget.total} ({relation(budget.neighbors, budget.unit)})"
