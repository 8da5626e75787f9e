"""Budgets about the same tables: which is opened, which are merged, and their sums. Proof: docs."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import Connection

from ..errors import Exhausted, InvalidArgument
from ..privacy.guarantees import read_guarantee
from ..privacy.sensitivity import Unit, one_record
from ..selection.payment import About
from ..tables.engines.reach import read_reach
from . import queries
from .bindings import Bindings, Declaration, append_described, read_bindings
from .budget import Budget
from .charge import charge_outside
from .charge_checks import pairs_with_shared_files
from .events import CHARGED, EventBody, canonical_json
from .purchase import Payer
from .transaction import Transaction


def budget_to_open(bindings: Bindings, declaration: Declaration) -> str | None:
    """Return the budget that a dataset has already, or that of its source, or None for one of its own.

    Raises:
        InvalidArgument: if its source is that of several budgets, or may be that of one under another name.
    """
    find = bindings.budgets_of_name if declaration.is_separate else bindings.budgets
    names = find(declaration.about)
    if not names:
        check_lost_tables(bindings, declaration, None)
    return names[-1] if names else None


def check_lost_tables(bindings: Bindings, declaration: Declaration, budget: str | None) -> None:
    """Raise if a table that is new to a budget may be that of another budget, which was renamed.

    Args:
        bindings: the descriptions of the ledger.
        declaration: the owner's words on the table.
        budget: the budget of the table. None for one that is opened now.

    Raises:
        InvalidArgument: if the tables of another budget are not in the database any more, or another
            budget's database was moved here.
    """
    if declaration.is_separate:
        return
    about, own = declaration.about, None if budget is None else bindings.current(budget)
    verb = "open" if budget is None else "describe"

    def of_others(names: Iterable[str]) -> list[str]:
        return [name for name in names if bindings.current(name) != own]

    if elsewhere := of_others(bindings.budgets_now_at(about.source)):
        kept_budget = elsewhere[0]
        raise InvalidArgument(
            f"by the number of its file, the database of {' and '.join(elsewhere)} was moved here, "
            f"so {about.name} may be about the same. Describe {kept_budget} as now, discreet "
            f"ledger describe {kept_budget}. Or, if {about.name} holds other people's data, say "
            f"so: discreet ledger {verb} {about.name} --separate"
        )
    own_sources = (one for one in bindings.sources if bindings.current(one.budget) == own)
    if read_reach(about.reach).table in {read_reach(one.reach).table for one in own_sources}:
        return
    if budgets := of_others(bindings.without_tables(about.source, declaration.names)):
        kept_budget = budgets[0]
        raise InvalidArgument(
            f"the tables of {' and '.join(budgets)} are not in the database any more under their "
            f"names, so {about.name} may be about the same. Describe {kept_budget} as now, "
            f"discreet ledger describe {kept_budget}. Or, if those tables were dropped or "
            f"{about.name} holds other people's data, say so: discreet ledger {verb} {about.name} "
            "--separate"
        )


def other_budgets(bindings: Bindings, about: About, budget: str) -> list[str]:
    """Return the current budgets that share tables or files with a source, but its own and those told apart."""
    own = bindings.current(budget)
    names = dict.fromkeys(map(bindings.current, bindings.of_source(about)))
    return [name for name in names if name != own and not bindings.is_separate(own, name)]


def of_another(bindings: Bindings, about: About, others: Sequence[str]) -> InvalidArgument:
    """Return the error for a dataset with a budget of its own and the source of other budgets."""
    names = [name for budget in others for name in bindings.of(budget)]
    return InvalidArgument(
        f"{' and '.join(others)} is the budget of {' and '.join(names)}, which has or had this "
        f"source. One source has one budget, so {about.name} cannot keep its own. Merge them: "
        f"discreet ledger merge {about.name} --into {others[0]}. Or say that they hold other "
        f"people's data, discreet ledger describe {about.name} --separate"
    )


def check_unit_of_source(
    transaction: Transaction, bindings: Bindings, about: About, name: str, unit: Unit | None
) -> None:
    """Raise if a dataset shares a source with a budget that protects others: no sum bounds the releases of both.

    Raises:
        InvalidArgument: if it does.
    """
    if bindings.budgets_of_name(about):
        return
    budgets = queries.stored_budgets(transaction.database, name)
    for whole in budgets:
        if whole.analyst is None and bindings.of(whole.dataset) and whole.unit != unit:
            raise InvalidArgument(
                f"the source of {about.name} may hold the records of the budget of "
                f"{whole.dataset}, which protects {one_record(whole.unit)}, and this would protect "
                f"{one_record(unit)}: no budget bounds the releases of both. Describe both with "
                "one privacy unit. Or say that they hold other people's data, discreet ledger "
                f"open {about.name} --separate"
            )


@contextmanager
def shared_budget(bindings: Bindings, declaration: Declaration) -> Iterator[None]:
    """Let a refusal to open a budget say that it is that of another dataset, if it is.

    Raises:
        InvalidArgument: the refusal, with the remedy of the owner.
    """
    about = declaration.about
    has_own = declaration.is_separate or bool(bindings.budgets_of_name(about))
    others = [] if has_own else bindings.budgets(about)
    try:
        yield
    except InvalidArgument as refused:
        if not others:
            raise
        reason = str(refused)
    else:
        return
    raise InvalidArgument(
        f"{about.name} is about the same source as {' and '.join(bindings.of(others[-1]))}, so it "
        f"has the same budget, and {reason}. If it holds other people's data, say so: discreet "
        f"ledger open {about.name} --separate"
    )


def merge_budgets(transaction: Transaction, payer: Payer, whose: About, into: About) -> Budget:
    """Charge the releases of one budget to another, to which both datasets are charged from now on.

    Args:
        transaction: where it is recorded.
        payer: of the budget that stays.
        whose: the dataset with the budget that ends.
        into: the dataset with the budget that stays.

    Raises:
        InvalidArgument: if they have one budget already, or protect others, or a release cannot be counted.
        Exhausted: if the budget cannot pay the spending of the other.
    """
    bindings = read_bindings(transaction)
    old, name = bindings.budget(whose), bindings.budget(into)
    if old == name:
        raise InvalidArgument(f"the budget of {whose.name} is that of {into.name} already")
    ends, stays = (queries.whole_budget(transaction, each) for each in (old, name))
    if ends.unit != stays.unit:
        raise InvalidArgument(
            f"the budget of {old} protects {one_record(ends.unit)}, and that of {name} "
            f"{one_record(stays.unit)}: no sum bounds both, so they cannot be merged"
        )
    _charge_again(transaction, payer, old)
    for body in bindings.of(old).values():
        append_described(transaction, name, body, None, merges=[old])
    return queries.whole_budget(transaction, name)


def _charge_again(transaction: Transaction, payer: Payer, old: str) -> None:
    """Charge the releases of one budget to another.

    Raises:
        Exhausted: if it cannot pay that.
    """
    releases = Counter(
        canonical_json({name: event.body.get(name) for name in ("guarantee", "privacy_unit")})
        for event in queries.all_events(transaction.connection, old)
        if event.kind in CHARGED
    )
    for i, (text, times) in enumerate(sorted(releases.items())):
        _charge_one(transaction, payer, f"merge of {old}, {i + 1}", json.loads(text), times)


def _charge_one(
    transaction: Transaction, payer: Payer, request: str, body: EventBody, times: int
) -> None:
    guarantee = read_guarantee(body["guarantee"]).repeated(times)
    unit = {} if body["privacy_unit"] is None else {"privacy_unit": body["privacy_unit"]}
    plain = {
        "description": f"{times} answers of a budget about the same tables",
        "guarantee": guarantee.as_dict(),
        **unit,
    }
    try:
        charge_outside(transaction, payer, request, plain)
    except Exhausted as short:
        cost, spent, remaining = short.requested, short.spent, short.remaining
    else:
        return
    raise Exhausted(
        f"the budget of {payer.dataset} cannot pay what the other has spent: extend it first, "
        "discreet ledger extend",
        requested=cost,
        spent=spent,
        remaining=remaining,
    )


def notes_on_shared_tables(connection: Connection) -> tuple[str, ...]:
    """Return notes on budgets about the same tables or files, with their sums."""
    transaction = Transaction(connection)
    bindings = read_bindings(transaction)
    notes = []
    for pair in bindings.overlapping_pairs():
        one, other = (queries.whole_budget(transaction, name) for name in pair)
        notes.append(
            f"{one.dataset} and {other.dataset}: budgets about the same tables, "
            f"{_together(one, other)}. They answer nothing new until their owner merges or "
            "separates them"
        )
    for shared in pairs_with_shared_files(bindings):
        one, other = (
            queries.whole_budget(transaction, name) for name in (shared.budget, shared.other)
        )
        notes.append(
            f"{one.dataset} and {other.dataset}: {shared.path} is a file of both, "
            f"{_together(one, other)}. Questions about it are rejected until their owner narrows a "
            "source, or merges or separates them"
        )
    return tuple(notes)


def _together(one: Budget, other: Budget) -> str:
    """Return the sum of two budgets in words."""
    if (one.kind, one.neighbors, one.unit) != (other.kind, other.neighbors, other.unit):
        return f"which spent {one.spent} of {one.total} and {other.spent} of {other.total}"
    return f"which spent {one.spent + other.spent} of {one.total + other.total} together"
