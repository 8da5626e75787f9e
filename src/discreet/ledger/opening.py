"""An owner's acts: budgets are opened, described, changed and renewed, as events of the chain."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..base.doors import fix, spelling
from ..errors import InvalidArgument, UnknownBudget
from ..privacy.sensitivity import one_record
from ..privacy.wording import relation
from ..selection.payment import About
from . import queries
from .bindings import Bindings, Declaration, append_described, read_bindings, record
from .budget import (
    Amount,
    Budget,
    DeltaFor,
    Extension,
    ShareRule,
    new_budget,
    read_amount,
    read_delta_for,
)
from .charge_checks import change
from .events import CHARGED, unit_field
from .periods import Period, this_period
from .purchase import Payer
from .shared_tables import (
    budget_to_open,
    check_lost_tables,
    check_unit_of_source,
    of_another,
    other_budgets,
    shared_budget,
)
from .shares import check_share, close, shrink, with_changed_share, with_rule, with_share
from .transaction import NewEvent, Transaction
from .verification import verify_chain


def open_budget(
    transaction: Transaction,
    new: Budget,
    declaration: Declaration | None,
    per: str | None,
) -> Budget:
    """Store a budget unless it exists; that of a described dataset under the name of its source's budget."""
    if declaration is None:
        return _open_once(transaction, new)
    bindings = read_bindings(transaction)
    new = replace(new, dataset=budget_to_open(bindings, declaration) or new.dataset)
    check_unit_of_source(transaction, bindings, declaration.about, new.dataset, new.unit)
    period = _period(bindings, new, per)
    with shared_budget(bindings, declaration):
        budget = _open_once(transaction, new)
    if new.analyst is None:
        _describe_once(transaction, budget.dataset, declaration, period)
    return replace(budget, period=None if period is None else period.name)


def _period(bindings: Bindings, budget: Budget, per: str | None) -> Period | None:
    """Return the period of a budget that is opened: the one on record, or that of today.

    Raises:
        InvalidArgument: if it has one of another kind.
    """
    current = bindings.periods.get(budget.dataset)
    if current is None:
        return None if per is None or budget.analyst is not None else this_period(per)
    if per not in (None, current.per):
        raise InvalidArgument(
            f"the budget of {budget.dataset} was opened per {current.per}, not per {per}. The next "
            f"one can be of another period: renew it with {fix('a period', per=per)}"
        )
    return current


def describe_dataset(transaction: Transaction, declaration: Declaration) -> None:
    """Record a description as its owner has changed it, for the budget of its name or of its source.

    Raises:
        UnknownBudget: if no budget was opened for it.
        InvalidArgument: if it is of other records than the budget, or of the source of another budget.
    """
    bindings = read_bindings(transaction)
    about = declaration.about
    budget = queries.whole_budget(transaction, bindings.budget(about))
    if budget.unit != about.privacy_unit:
        raise InvalidArgument(
            f"the budget of {budget.dataset} protects {one_record(budget.unit)}, and this "
            f"description {one_record(about.privacy_unit)}: no release fits both, so they cannot "
            "have one budget"
        )
    check_lost_tables(bindings, declaration, budget.dataset)
    on_record = bindings.of(budget.dataset).get(str(about.name), {})
    is_same = on_record.get("digest") == about.digest and on_record.get("reach") == about.reach
    # An owner's word was about the source of that time, and is asked for again with another one.
    before = bindings if is_same else replace(bindings, separations=frozenset())
    others = other_budgets(before, about, budget.dataset)
    if others and bindings.budgets_of_name(about) and not declaration.is_separate:
        raise of_another(bindings, about, others)
    if not is_same or (others and declaration.is_separate):
        record(transaction, budget.dataset, about, separate_from=others)


@dataclass(frozen=True, slots=True)
class Renewal:
    """The terms of the next budget of a dataset. Those that are None stay as they were.

    Attributes:
        period: a name of the owner's choice. None for the calendar period of today.
        per: the kind of calendar period.
        total: the new total.
        delta_for: the use of its delta.
        rule: the rule for its shares.
        shares: the totals of the shares that are opened with it, by analyst.
    """

    period: str | None = None
    per: str | None = None
    total: Amount | None = None
    delta_for: DeltaFor | None = None
    rule: ShareRule | None = None
    shares: Mapping[str, Amount] = field(default_factory=dict)

    def after(self, old: Budget, name: str) -> Budget:
        """Return the budget after an old one, under its name."""
        total = self.total or old.total
        use = read_delta_for(self.delta_for, total.delta or None)
        return new_budget(
            name, None, old.neighbors, total, old.unit,
            delta_for=use or (old.delta_for if total.delta else None), shares=self.rule or old.shares,
        )  # fmt: skip


def renew_budget(transaction: Transaction, about: About, renewal: Renewal) -> Budget:
    """Open a new budget for a described dataset, to which releases are charged from now on, and its shares.

    Raises:
        UnknownBudget: if it has none to be renewed.
        InvalidArgument: if its period has not ended, or there is another budget of the name of the new one.
        Exhausted: if the shares are more than the budget.
    """
    bindings = read_bindings(transaction)
    before, first = bindings.budget(about), bindings.budgets(about)[0]
    old, began = queries.whole_budget(transaction, before), bindings.periods.get(before)
    next_one = None if renewal.period is not None else _next_period(old, began, renewal.per)
    if began is not None and renewal.period is not None:
        raise InvalidArgument(
            f"the budget of {before} is per {began.per}: leave out the period, or extend it"
        )
    name = f"{first} {renewal.period if next_one is None else next_one.name}"
    existing = queries.stored_budgets(transaction.database, name)
    if existing and name not in bindings.budgets(about):
        raise InvalidArgument(f"there is a budget named {name} already. Name the period otherwise")
    _open_once(transaction, renewal.after(old, name), {"renews": first})
    for analyst, total in renewal.shares.items():
        _open_once(transaction, new_budget(name, analyst, old.neighbors, total, old.unit))
    for body in () if existing else bindings.of(before).values():
        append_described(transaction, name, body, next_one)
    budget = queries.whole_budget(transaction, name)
    return replace(budget, period=None if next_one is None else next_one.name)


def _next_period(old: Budget, began: Period | None, per: str | None) -> Period:
    """Return the period of today, in which a budget is renewed.

    Raises:
        InvalidArgument: if the budget has no period, or one that has not ended.
    """
    if began is None:
        raise InvalidArgument(
            f"the budget of {old.dataset} has no calendar period: name the new one, "
            f'{spelling(period="2027")}. (Or declare per = "year" in discreet.toml, and it is '
            "named for you.)"
        )
    if not began.has_ended:
        raise InvalidArgument(
            f"the {began.per} {began.name} of the budget of {old.dataset} has not ended. To grant "
            "more within it, extend the budget"
        )
    return this_period(began.per if per is None else per)


def extend_budget(transaction: Transaction, payer: Payer, extension: Extension) -> Budget:
    """Give a budget a larger total. The event says the use of a delta that it did not have.

    Raises:
        InvalidArgument: if the total is not larger or of another kind, or nothing is charged to it any more.
    """
    why = read_bindings(transaction).closed(payer.dataset)
    if why is not None:
        raise InvalidArgument(f"the budget of {payer.dataset} cannot be extended: {why}")
    budgets = payer.budgets(transaction)
    after = extension.of(budgets[-1])
    is_same = after.delta_for == budgets[-1].delta_for
    for whole in () if is_same else budgets[:-1]:
        check_share(after, whole)
    more = {} if is_same else {"delta_for": after.delta_for}
    return _change_total(transaction, "extended", budgets, after, more)


def shrink_share(transaction: Transaction, payer: Payer, total: Amount | None) -> Budget:
    """Give a share a smaller total. Without one, close it, at the amount spent. The rest returns.

    Raises:
        InvalidArgument: if the total is not smaller, of another kind, or less than was spent.
    """
    budgets = payer.budgets(transaction)
    share = budgets[-1]
    after = close(share) if total is None else shrink(share, total)
    return _change_total(transaction, "shrunk", budgets, after)


def _change_total(
    transaction: Transaction,
    kind: str,
    budgets: Sequence[Budget],
    after: Budget,
    more: Mapping[str, object] | None = None,
) -> Budget:
    """Record another total of the last of these budgets; that of the dataset pays the difference, or gets it."""
    *wholes, before = budgets
    states = [*(with_changed_share(whole, before, after) for whole in wholes), after]
    body = {"total": after.total.as_dict(), **queries.budget_states(*states), **(more or {})}
    transaction.append(NewEvent(kind, after.dataset, after.analyst, None, body))
    for budget in states:
        queries.update_budget(transaction.database, budget)
    return after


def _describe_once(
    transaction: Transaction, budget: str, declaration: Declaration, period: Period | None
) -> None:
    """Record a description or a period that the budget does not have yet."""
    bindings = read_bindings(transaction)
    about = declaration.about
    others = other_budgets(bindings, about, budget) if declaration.is_separate else []
    on_record = bindings.of(budget).get(str(about.name))
    begins = period if budget not in bindings.periods else None
    if on_record is None or change(on_record, about) is not None or begins is not None or others:
        record(transaction, budget, about, begins, others)


def _open_once(
    transaction: Transaction, new: Budget, more: Mapping[str, object] | None = None
) -> Budget:
    """Store the budget unless it exists."""
    if new.analyst is not None and new.shares is not None:
        raise InvalidArgument("oversubscribed is said of a dataset's budget, not of a share")
    budgets = queries.checked_budgets(transaction, new.dataset)
    by_analyst = {each.analyst: each for each in budgets}
    if new.analyst in by_analyst:
        return _same_or_recount(transaction, by_analyst[new.analyst], new)
    states = [_whole(new)] if new.analyst is None else _with_share(new, by_analyst.get(None))
    budget = states[-1]
    body = {**_terms_of_event(budget), **queries.budget_states(*states), **(more or {})}
    transaction.append(NewEvent("opened", budget.dataset, budget.analyst, None, body))
    for whole in states[:-1]:
        queries.update_budget(transaction.database, whole)
    queries.insert_budget(transaction.database, budget)
    return budget


def _terms_of_event(budget: Budget) -> dict[str, object]:
    """Return the terms of a budget as the event records them."""
    rules = {"shares": budget.shares, "delta_for": budget.delta_for}
    return {
        "neighbors": budget.neighbors, "total": budget.total.as_dict(), **unit_field(budget.unit),
        **{name: rule for name, rule in rules.items() if rule is not None},
    }  # fmt: skip


def _whole(new: Budget) -> Budget:
    """Return a new budget of a dataset.

    Raises:
        InvalidArgument: if it does not state the use of its delta.
    """
    if new.total.delta and new.delta_for is None:
        raise InvalidArgument(
            f"say what delta is for: {spelling(delta_for='questions')} if releases have an epsilon "
            f"and a delta each, which add up, or {spelling(delta_for='composition')} if they have "
            "a rho, and their sum certifies epsilon and delta"
        )
    return replace(new, shares=new.shares or "reserved")


def _with_share(new: Budget, whole: Budget | None) -> list[Budget]:
    """Return the budget of a dataset after a share was opened, and the share.

    Raises:
        UnknownBudget: if the dataset has no budget.
        InvalidArgument: if the share is of another kind.
        Exhausted: if the budget cannot pay for it.
    """
    if whole is None:
        raise UnknownBudget(
            f"a share needs something to share: open a budget for the dataset {new.dataset} first"
        )
    share = _with_use(new, whole) if new.total.delta else new
    check_share(share, whole)
    return [with_share(whole, share), share]


def _with_use(new: Budget, earlier: Budget) -> Budget:
    """Return a new budget whose delta is for what it is said to be for, or else for what an earlier one's is."""
    return new_budget(
        new.dataset, new.analyst, new.neighbors, new.total, new.unit,
        delta_for=new.delta_for or earlier.delta_for,
    )  # fmt: skip


def _same_or_recount(transaction: Transaction, budget: Budget, new: Budget) -> Budget:
    """Return an existing budget if its terms are those asked for; how its shares are paid for may change.

    Raises:
        InvalidArgument: if another of its terms differs.
    """
    other = _with_use(new, budget)
    ours, theirs = ((b.terms, b.neighbors, b.unit, b.delta_for) for b in (budget, other))
    if ours != theirs:
        raise InvalidArgument(
            f"the budget of {budget.name} was opened as {_terms_in_words(budget)}, not as "
            f"{_terms_in_words(other)}. To give it more, extend it"
        )
    if new.shares is None or budget.shares == new.shares:
        return budget
    return _recount_shares(transaction, budget, new.shares)


def _recount_shares(transaction: Transaction, whole: Budget, rule: ShareRule) -> Budget:
    """Record that the shares of a dataset are paid for in another way from now on.

    The charges are added up from all events, so the whole chain is verified first.

    Raises:
        InvalidArgument: if they are more than the budget, or of another kind.
        LedgerCorrupt: if the events, sums or tables differ from those that were written.
    """
    verify_chain(transaction.connection, None)
    others = [
        b for b in queries.checked_budgets(transaction, whole.dataset) if b.analyst is not None
    ]
    after = with_rule(whole, others, _direct_charges(transaction, whole), rule)
    body = {"shares": rule, **queries.budget_states(after)}
    transaction.append(NewEvent("recounted", whole.dataset, None, None, body))
    queries.update_budget(transaction.database, after)
    return after


def _direct_charges(transaction: Transaction, whole: Budget) -> Amount:
    """Return the sum of the charges to a dataset's budget without a share.

    It is added up from the events: sums are rounded up, so the difference of two of them could be too small.
    """
    so_far = new_budget(
        whole.dataset, None, whole.neighbors, whole.total, delta_for=whole.delta_for
    ).spent
    for event in queries.all_events(transaction.connection, whole.dataset):
        if event.kind in CHARGED and event.analyst is None:
            so_far += read_amount(event.body["costs"][0])
    return so_far


def _terms_in_words(budget: Budget) -> str:
    use = f" for {budget.delta_for}" if budget.delta_for else ""
    return f"{budget.total}{use} ({relation(budget.neighbors, budget.unit)})"
