"""The ledger: privacy budgets that outlive the process, and every release charged to them."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection

from ..base.arguments import mapping, read_name
from ..base.error_boundary import error_boundaries, public_errors
from ..base.numbers import Number
from ..base.text_tables import Listing, listing
from ..errors import InvalidArgument, LedgerError, preview
from ..privacy.guarantees import read_guarantee
from ..privacy.odometer import Odometer
from ..privacy.sensitivity import Neighbors, Unit, read_neighbors, read_unit
from ..selection.payment import About
from ..tables.datasets import Dataset
from ..tables.datasets.dataset import declared_unit
from ..tables.datasets.sources import is_in_database
from . import exports, queries
from .bindings import Declaration, budgets_of_datasets, payer_budgets, read_bindings
from .budget import (
    Amount,
    Budget,
    DeltaFor,
    Extension,
    ShareRule,
    new_budget,
    read_delta_for,
    read_total,
)
from .checkpoints import Checkpoint, Checkpoints, check_checkpoints, read_checkpoints
from .delays import Delay
from .events import CHARGED, ChainHead, Event, canonical_json
from .failed_questions import failures, reopen_dataset, reset_delays
from .opening import (
    Renewal,
    describe_dataset,
    extend_budget,
    open_budget,
    renew_budget,
    shrink_share,
)
from .periods import read_per
from .purchase import ChargeTerms, Payer
from .session import Session
from .shared_tables import merge_budgets, notes_on_shared_tables
from .store import Store
from .transaction import Transaction
from .verification import Verified, notes_on, read_noted_head, verify_chain

_MOST_NAMES = 3


@error_boundaries
class Ledger:
    """Privacy budgets that outlive the process, and every release charged to them.

    The charge for a release is committed before its first random bit is read, so a crash can lose budget but never
    privacy. Amounts are exact fractions. Events are only appended, and every event contains a hash of all events
    before it. See docs/how-to/ledger.md for guarantees and proofs.

    Args:
        where: the path of an SQLite file, which is created if it does not exist, a URL such as
            "postgresql://user@host/database", or None for a ledger in memory that lives as long as this object.
        checkpoints: a second record of all commits. Pass the path of a file elsewhere, to which lines of JSON are
            appended, or a function that is called with a `Checkpoint`. An answer is returned only after the events
            that it depends on are recorded there. With a file, a replaced ledger is detected as soon as you use it.

    Raises:
        InvalidArgument: if `where` is not a path or URL, or `checkpoints` is not a path or function.
        LedgerError: if it cannot be opened, or does not match the checkpoints. See `discreet.errors`.

    Side channels: the ledger is as public as the answers in it.
    """

    def __init__(
        self,
        where: str | os.PathLike[str] | None = None,
        *,
        checkpoints: Checkpoints | None = None,
    ) -> None:
        self._store = Store(where, checkpoints)

    def open(  # noqa: PLR0913  # a budget is said in one of three ways
        self,
        dataset: str | Dataset,
        *,
        analyst: str | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        neighbors: Neighbors = "add_remove",
        privacy_unit: str | Sequence[str] | None = None,
        per: str | None = None,
        separate: bool = False,
        delta_for: DeltaFor | None = None,
        oversubscribed: bool | None = None,
    ) -> Budget:
        """Open a budget, or return the existing one if it was opened with the same terms.

        Args:
            dataset: a name for the dataset, or a `Dataset`. A budget opened for a `Dataset` rejects releases about
                anything else, and another dataset with the same source shares the budget.
            analyst: the name of an analyst, to open a share of the dataset's budget. The budget pays for the share
                at once, and releases to this analyst are charged to the share.
            epsilon: the bound on all releases together, in pure differential privacy or, with `delta`, in
                approximate differential privacy.
            rho: instead of `epsilon`, the bound in zero-concentrated differential privacy.
            delta: the delta of (epsilon, delta)-differential privacy, with `delta_for`.
            neighbors: the neighboring relation of the budget and its shares. Releases are converted to it.
            privacy_unit: the column that identifies the privacy unit, such as a user id, or a list of columns. Rows
                with equal values there are one record. By default every row is one record. Releases with another
                privacy unit are rejected, and a share has the unit of the dataset's budget.
            per: "year", "quarter" or "month", for a `Dataset`. The budget is for today's calendar period, in UTC.
                After it ends, releases are rejected until the owner opens the next budget with `renew`.
            separate: whether a `Dataset` that shares a database with other datasets gets its own budget, because it
                contains data about other people. Only its owner can know this. The chain records it as an event.
            delta_for: with `delta`, its use. With "questions", every question has an epsilon and a delta, and both
                add up. With "composition", releases have a rho, and its sum certifies (epsilon, delta). A share
                uses that of the dataset's budget.
            oversubscribed: whether shares may add up to more than the budget. Then a release must fit the share and
                the budget, and a rejection can reveal the spending of others to an analyst. For an existing budget,
                this changes how its shares are paid for from now on.

        Raises:
            InvalidArgument: if an argument is invalid, the budget was opened with other terms, or a share
                is of another kind than the dataset's budget.
            UnknownBudget: if it is a share, and the dataset has no budget.
            Exhausted: if the dataset's budget cannot pay for the share.
        """
        calendar = None if per is None else read_per(per)
        is_separate, is_described = _read_flag(separate, "separate"), isinstance(dataset, Dataset)
        if not is_described and (per is not None or is_separate):
            raise InvalidArgument("per and separate go with a described dataset: discreet.Dataset")
        payer = Payer(self._store, _name_of(dataset), analyst)
        total = read_total(epsilon, rho, delta)
        unit = _read_named_unit(privacy_unit)
        if isinstance(dataset, Dataset):
            unit = declared_unit(dataset, unit)
        budget, declaration = new_budget(
            payer.dataset, payer.analyst, read_neighbors(neighbors), total, unit,
            delta_for=read_delta_for(delta_for, delta), shares=_read_rule(oversubscribed),
        ), None  # fmt: skip
        if isinstance(dataset, Dataset):
            is_share = analyst is not None
            declaration = self._declaration(dataset, is_share=is_share, is_separate=is_separate)
        return self._store.change(open_budget, budget, declaration, calendar)

    def describe(self, dataset: Dataset, *, separate: bool = False) -> None:
        """Record that the owner has changed the description of a dataset. Its spending stays the same.

        Changed columns are recorded automatically with the next release. Call this if a source or bound has
        changed, or if a table in its database was replaced. Otherwise releases about the dataset, which no longer
        matches the one on record, are rejected.

        Args:
            dataset: the dataset as it is described now.
            separate: whether it keeps its own budget although it shares a database with other datasets, because it
                contains data about other people. Only its owner can know this.

        Raises:
            UnknownBudget: if no budget was opened for it.
            InvalidArgument: if its privacy unit differs from its budget's, or its source is that of another
                dataset.
            UnreadableData: if its database cannot be queried about it.
        """
        _about_of(dataset)
        declaration = self._declaration(
            dataset, is_separate=_read_flag(separate, "separate"), is_new=True
        )
        self._store.change(describe_dataset, declaration)

    def merge(self, dataset: Dataset, *, into: Dataset) -> Budget:
        """Merge two budgets about the same tables. The releases of the first are charged to the second again.

        From now on releases about both datasets are charged to the budget of `into`, and shares of the other one
        are closed. For the proof, see docs/explanation/budgets_of_datasets.md.

        Args:
            dataset: the dataset with the budget that ends.
            into: the dataset with the budget that stays. Extend it first if it cannot pay the spending of the
                other.

        Raises:
            UnknownBudget: if one has no budget.
            InvalidArgument: if they already share a budget, or the budgets have different privacy units.
            Exhausted: if the budget cannot pay.
        """
        whose, stays = _about_of(dataset), _about_of(into)
        payer = Payer(self._store, self._current(into), None)
        return self._store.change(merge_budgets, payer, whose, stays)

    def _declaration(
        self,
        dataset: Dataset,
        *,
        is_share: bool = False,
        is_separate: bool = False,
        is_new: bool = False,
    ) -> Declaration:
        """Return a declaration with the reach of its source, which is that on record if it is not new."""
        about = dataset.about
        if is_share or not is_in_database(about.source):
            return Declaration(about, is_separate=is_separate)
        reach = None if is_new or is_separate else self._store.read(_reach_on_record, about)
        if reach is not None:
            return Declaration(replace(about, reach=reach))
        about, check = dataset.about_now()
        return Declaration(about, is_separate, check.names)

    def renew(  # noqa: PLR0913  # a budget is said in one of three ways
        self,
        dataset: Dataset,
        period: str | None = None,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        per: str | None = None,
        delta_for: DeltaFor | None = None,
        oversubscribed: bool | None = None,
        shares: Mapping[str, Mapping[str, Number]] | None = None,
    ) -> Budget:
        """Open a new budget for a described dataset. From now on, releases are charged only to this budget.

        The people in the data stay the same, so the guarantee for them is the sum of all its budgets.
        `spent(dataset)` returns the cost of all its releases. Only the shares in `shares` are opened again. For the
        proof, see docs/explanation/budgets_of_datasets.md.

        Args:
            dataset: the described dataset, a `Dataset`.
            period: its period, such as "2027", which becomes part of the budget's name. By default today's calendar
                period, for a budget that was opened with `per`, after the previous period has ended.
            epsilon: the bound on the releases of the period, in pure differential privacy or, with `delta`, in
                approximate differential privacy.
            rho: instead of `epsilon`, the bound in zero-concentrated differential privacy.
            delta: the delta of (epsilon, delta)-differential privacy. Without epsilon, rho and delta, the amounts
                stay the same.
            per: "year", "quarter" or "month", to change the kind of calendar period.
            delta_for: the use of its delta. By default as before.
            oversubscribed: whether shares may add up to more than the budget. By default as before.
            shares: the shares of the new budget, as amounts by analyst, such as {"team-a": {"epsilon": 1}}.

        Returns:
            The new budget, or the existing one if it was renewed before for the period, with the same terms.

        Raises:
            UnknownBudget: if the dataset has no budget yet.
            InvalidArgument: if an argument is invalid, the calendar period has not ended, or the period has
                a budget with other terms.
            Exhausted: if the shares add up to more than the budget.
        """
        if period is not None and per is not None:
            raise InvalidArgument("give a period by a name, or per for one of the calendar")
        period_name = None if period is None else read_name(period, "period")
        calendar = None if per is None else read_per(per)
        amounts = epsilon, rho, delta
        total = None if amounts == (None, None, None) else read_total(*amounts)
        use = read_delta_for(delta_for, "as before" if total is None else delta)
        rule, totals = _read_rule(oversubscribed), _read_shares(shares)
        renewal = Renewal(period_name, calendar, total, use, rule, totals)
        return self._store.change(renew_budget, _about_of(dataset), renewal)

    def extend(  # noqa: PLR0913  # a total is said in one of three ways
        self,
        dataset: str | Dataset,
        *,
        analyst: str | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        delta_for: DeltaFor | None = None,
    ) -> Budget:
        """Give a budget a larger total. From then on only the larger total is guaranteed.

        Args:
            dataset: the name of the dataset, or a `Dataset`.
            analyst: the analyst, for a share. By default the budget of the dataset.
            epsilon: the new total ε, if the budget is in ε. A positive number without a unit. Without it ε stays.
            rho: the new total ρ, if the budget is in ρ.
            delta: the new total δ, a probability. Without it δ stays. A budget in ε gets one with `delta_for`.
            delta_for: the use of that δ, "questions": releases have an epsilon and a delta each, and both add up.

        Raises:
            InvalidArgument: if the total is not larger or of another kind, or the budget was renewed.
            UnknownBudget: if there is no such budget.
        """
        extension = Extension(epsilon, rho, delta, read_delta_for(delta_for, delta))
        payer = Payer(self._store, self._current(dataset), analyst)
        return self._store.change(extend_budget, payer, extension)

    def shrink(  # a total is said in one of three ways
        self,
        dataset: str | Dataset,
        *,
        analyst: str,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
    ) -> Budget:
        """Give a share a smaller total, and return the rest to the dataset's budget. Without a total, close it.

        The total of a closed share is its spending, so nothing is left. `extend` opens it again.

        Args:
            dataset: the name of the dataset, or a `Dataset`.
            analyst: the analyst who owns the share.
            epsilon: the new total ε, if the share is in ε. A positive number without a unit.
            rho: the new total ρ, if the share is in ρ.
            delta: the new total δ, a probability.

        Raises:
            InvalidArgument: if the total is not smaller, of another kind, or less than was spent.
            UnknownBudget: if there is no such share.
        """
        amounts = epsilon, rho, delta
        total = None if amounts == (None, None, None) else read_total(*amounts)
        payer = Payer(self._store, self._current(dataset), read_name(analyst, "analyst"))
        return self._store.change(shrink_share, payer, total)

    def reopen(self, dataset: str | Dataset, *, analyst: str | None = None) -> list[Budget]:
        """Reopen a dataset that was closed for analysts after failures, and restart the count of their failures.

        Args:
            dataset: the name of the dataset, or a `Dataset`.
            analyst: the analyst. Without it, all of them.

        Returns:
            The shares of the analysts with failed questions.

        Raises:
            UnknownBudget: if no budget was opened for it, or no share for the analyst.
        """
        payer = Payer(self._store, self._current(dataset), analyst)
        payer.paying()
        return Listing(self._store.change(reopen_dataset, payer.dataset, payer.analyst))

    def reset_delays(self, dataset: str | Dataset, *, analyst: str | None = None) -> list[Budget]:
        """Reset the delays of a service's answers, and the count of questions that were given up.

        Afterwards, times can reveal up to as much again. See "Time" in docs/explanation/threat_model.md.

        Args:
            dataset: the name of the dataset, or a `Dataset`.
            analyst: the analyst. By default all of them and the owner.

        Returns:
            The budget and the shares of those with a longer delay.

        Raises:
            UnknownBudget: if no budget was opened for it, or no share for the analyst.
        """
        payer = Payer(self._store, self._current(dataset), analyst)
        payer.paying()
        return Listing(self._store.write(reset_delays, payer.dataset, payer.analyst))

    def session(self, dataset: str | Dataset, analyst: str | None = None) -> Session:
        """Return a session that charges releases to this dataset's budget: the `ledger=` of any verb.

        Args:
            dataset: the name of the dataset, or a `Dataset`. For a `Dataset`, its newest budget is charged, or that
                of the dataset with the same source.
            analyst: the analyst, if a share is charged.

        Raises:
            UnknownBudget: if no such budget was opened.
        """
        payer = Payer(self._store, self._current(dataset), analyst)
        payer.paying()
        return Session(payer)

    def _current(self, dataset: str | Dataset) -> str:
        """Return the budget that is charged: of a described dataset the newest, else that of the name."""
        if isinstance(dataset, Dataset):
            return self._store.read(_newest, dataset.whereabouts)
        return dataset

    def budgets(self) -> list[Budget]:
        """Return all budgets, by dataset and analyst."""
        return Listing(self._store.read(budgets_of_datasets, None)[0])

    def budgets_of(self, *datasets: str | Dataset) -> list[list[Budget]]:
        """Return the budgets and shares of every dataset, in the order in which they were renewed.

        Args:
            *datasets: names, or described datasets.
        """
        whose = [_about_or_name(each) for each in datasets]
        return self._store.read(budgets_of_datasets, whose)

    def history(self, dataset: str | Dataset | None = None) -> list[Event]:
        """Return all events in order, or those of one dataset.

        Args:
            dataset: the name of a budget, or a `Dataset`, for all its budgets. By default all datasets.
        """
        whose = None if dataset is None else _about_or_name(dataset)
        return Listing(self._store.read_copy(_history, whose))

    def events_after(self, number: int, limit: int) -> tuple[ChainHead, list[Event]]:
        """Return the end of the chain, and some of its events.

        Args:
            number: the number of the event after which they begin. 0 starts with the first event.
            limit: the most events.
        """
        return self._store.read(queries.chain_and_events, number, limit)

    def spent(self, dataset: str | Dataset, analyst: str | None = None) -> Odometer:
        """Return the guarantee of all releases so far, about the dataset or to one analyst.

        It holds for adaptively chosen questions and amounts, and at any stopping time. `epsilon` is the sum, and
        `approx(delta)` is often much less. For questions fixed before the first answer, use
        `if_fixed_beforehand()`.

        The guarantee for one analyst is about the answers to this analyst alone, and holds if analysts do not
        share their answers. If a budget is oversubscribed, the ledger itself can leak them, because a rejection
        shows how much other analysts have spent, which may depend on their answers. The guarantee for the dataset
        needs no such assumption.

        Args:
            dataset: the name of the dataset.
            analyst: the analyst who got the answers. By default all of them.

        Raises:
            UnknownBudget: if no such budget was opened.
        """
        if not isinstance(dataset, Dataset):
            return self._store.read_copy(_spent, Payer(self._store, dataset, analyst))
        payers = [
            Payer(self._store, each, analyst) for each in self._store.read(_paying, dataset.about)
        ]
        return self._store.read_copy(_spent, *payers)

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write all events to a file, as JSON or CSV by its extension.

        Args:
            path: the path of the file, ending in ".json" or ".csv".

        Raises:
            InvalidArgument: if the file has another extension.
            LedgerUnwritable: if the file cannot be written.
        """
        exports.export_events(self.history(), path)

    def checkpoint(self) -> Checkpoint:
        """Return the current end of the chain, to be stored, printed or signed elsewhere."""
        return self._store.end()

    def is_readable(self) -> bool:
        """Return whether the ledger can be read now…, without waiting for writers."""
        try:
            self._store.look()
        except LedgerError:
            return False
        return True

    def notes(self) -> tuple[str, ...]:
        """Return notes for the owner about single budgets, as `verify` does.

        They name the budgets with rejections that reveal the spending of others, and the budgets about the same
        tables.
        """
        return notes_on(self.budgets()) + self._store.read_copy(notes_on_shared_tables)

    def verify(
        self, head: str | None = None, *, checkpoints: str | os.PathLike[str] | None = None
    ) -> Verified:
        """Recompute the chain and all sums from the first event on, and return the head of the chain.

        Args:
            head: a head that you stored elsewhere at any time. Without a head and without checkpoints, this can't
                detect a ledger that was replaced by an older copy or rewritten from the start.
            checkpoints: a file of checkpoints, all of which must be on the chain. The checkpoints that the
                ledger was opened with are always compared.

        Writers don't have to wait, because a file is first copied in one step.

        Raises:
            LedgerCorrupt: if the events, sums or tables differ from those that were written.
            LedgerUnwritable: if the checkpoints cannot be read.
            InvalidArgument: if `head` is not a valid head, or the file has no checkpoints.
        """
        head_on_record = read_noted_head(head)
        # Read first: what is noted meanwhile need not be in an earlier view of the ledger.
        ends = self._store.checkpoints.checkpoints() + read_checkpoints(checkpoints)

        def verify_snapshot(connection: Connection) -> Verified:
            with public_errors():  # of numbers and hashes, for auditors too
                verification = verify_chain(connection, head_on_record)
            check_checkpoints(connection, ends)  # which may quote whatever is in their file
            notes = verification.notes + notes_on_shared_tables(connection)
            return replace(verification, notes=notes)

        return self._store.read_copy(verify_snapshot)

    def _repr_html_(self) -> str:
        return listing(self.budgets(), f"Ledger {self._store.name}").html()

    def __repr__(self) -> str:
        return f"Ledger({self._store.name}{self._in_brief()})"

    def _in_brief(self) -> str:
        """Return the budgets, as far as they can be read."""
        try:
            budgets = self.budgets()
        except LedgerError:
            return ""
        names = "; ".join(map(str, budgets[:_MOST_NAMES])) or "no budgets"
        more = f"; {len(budgets) - _MOST_NAMES:,} more" if len(budgets) > _MOST_NAMES else ""
        return f": {names}{more}"

    def __reduce__(self) -> tuple[Callable[[str], "Ledger"], tuple[str]]:
        """Pickle a ledger in a file by its path. Others are rejected, as a URL may hold a password."""
        if self._store.in_memory or self._store.url.drivername != "sqlite":
            raise LedgerError(
                "only a ledger in a file can be pickled. Open others again in the new process"
            )
        again = partial(Ledger, checkpoints=self._store.checkpoints.where)
        return again, (str(self._store.url.database),)


def _history(connection: Connection, whose: str | About | None) -> list[Event]:
    if not isinstance(whose, About):
        return list(queries.all_events(connection, whose))
    names = _all(Transaction(connection), whose)
    events = (event for name in names for event in queries.all_events(connection, name))
    return sorted(events, key=attrgetter("number"))


def _spent(connection: Connection, *payers: Payer) -> Odometer:
    """Return the guarantee of all releases that were charged to these budgets, of one privacy unit and relation."""
    budget = payers[0].budgets(Transaction(connection))[-1]
    releases = Counter(
        canonical_json(event.body["guarantee"])
        for payer in payers
        for event in queries.all_events(connection, payer.dataset)
        if event.kind in CHARGED and payer.analyst in {None, event.analyst}
    )
    guarantees = [(read_guarantee(json.loads(text)), n) for text, n in releases.items()]
    parts = tuple((guarantee.under(budget.neighbors), n) for guarantee, n in guarantees)
    return Odometer(budget.neighbors, parts, budget.unit)


def _newest(transaction: Transaction, about: About) -> str:
    return read_bindings(transaction).budget(about)


def _all(transaction: Transaction, about: About) -> list[str]:
    bindings = read_bindings(transaction)
    bindings.budget(about)  # there is one
    return bindings.budgets(about)


def _paying(transaction: Transaction, about: About) -> list[str]:
    """Return the budgets of a dataset, but those that were merged into another of them."""
    without = read_bindings(transaction).merges
    return [name for name in _all(transaction, about) if name not in without]


def _reach_on_record(transaction: Transaction, about: About) -> Mapping[str, Any] | None:
    """Return the reach of a dataset that is on record as it is, or None for another one."""
    bindings = read_bindings(transaction)
    for name in bindings.budgets_of_name(about):
        body = bindings.of(name)[str(about.name)]
        if body["digest"] == about.digest:
            reach: Mapping[str, Any] | None = body.get("reach")
            return reach
    return None


def session_of(ledger: Ledger, budget: Budget, terms: ChargeTerms) -> Session:
    """Return the session that charges releases to a budget that was read before. The ledger is not read now.

    Args:
        ledger: the ledger.
        budget: the budget of a dataset, or an analyst's share of it.
        terms: the terms of the caller.
    """
    return Session(Payer(ledger._store, budget.dataset, budget.analyst, terms))


def ledger_of(session: Session) -> Ledger:
    """Return the ledger that a session charges, as it is open."""
    ledger = Ledger.__new__(Ledger)
    ledger._store = session._payer.store
    return ledger


def budgets_of_payer(
    ledger: Ledger, analyst: str | None, datasets: Iterable[str | Dataset]
) -> list[list[Budget]]:
    """Return an analyst's shares of every dataset, or the datasets' own budgets, as `Ledger.budgets_of` does.

    No other budgets are read, so the time does not grow with the datasets and analysts of the ledger.
    """
    whose = [_about_or_name(one) for one in datasets]
    return ledger._store.read(payer_budgets, whose, analyst)


def failures_by_share(ledger: Ledger, budgets: Iterable[Budget]) -> list[int]:
    """Return how many questions failed since these budgets were last opened again.

    They are read in one transaction.
    """
    return ledger._store.read(_failures_by_share, list(budgets))


def delays_by_share(ledger: Ledger, budgets: Iterable[Budget]) -> list[Delay]:
    """Return the delays of the analysts of these shares, as they were recorded last, in one transaction."""
    return ledger._store.read(_delays_by_share, list(budgets))


def _delays_by_share(transaction: Transaction, budgets: list[Budget]) -> list[Delay]:
    return [queries.delay_of(transaction, one.dataset, one.analyst) for one in budgets]


def _failures_by_share(transaction: Transaction, budgets: list[Budget]) -> list[int]:
    return [failures(transaction, one.dataset, one.analyst) for one in budgets]


def _about_or_name(dataset: str | Dataset) -> About | str:
    return dataset.whereabouts if isinstance(dataset, Dataset) else read_name(dataset, "dataset")


def _about_of(dataset: Dataset) -> About:
    """Return the part of a description that a ledger keeps."""
    if not isinstance(dataset, Dataset):
        raise InvalidArgument(f"dataset must be a discreet.Dataset, got {preview(dataset)}")
    _name_of(dataset)
    return dataset.about


def _read_flag(flag: object, name: str) -> bool:
    """Return a truth.

    Raises:
        InvalidArgument: if it is none.
    """
    if isinstance(flag, bool):
        return flag
    raise InvalidArgument(f"{name} must be True or False, got {preview(flag)}")


def _read_rule(flag: object) -> ShareRule | None:
    """Return the rule for the shares of a budget, by whether they may be more than it, or None."""
    if flag is None:
        return None
    return "oversubscribed" if _read_flag(flag, "oversubscribed") else "reserved"


def _read_shares(
    amounts_by_analyst: Mapping[str, Mapping[str, Number]] | None,
) -> dict[str, Amount]:
    """Return the totals of shares by analyst."""
    shares = {}
    for analyst, amounts in mapping(amounts_by_analyst or {}, "shares").items():
        numbers = mapping(amounts, f"the share of {analyst}")
        others = sorted(numbers.keys() - {"epsilon", "rho", "delta"})
        if others:
            raise InvalidArgument(
                f"a share is epsilon, rho, or epsilon and delta, got {preview(others)}"
            )
        shares[analyst] = read_total(*map(numbers.get, ("epsilon", "rho", "delta")))
    return shares


def _name_of(dataset: str | Dataset) -> str:
    """Return the name of a dataset."""
    if not isinstance(dataset, Dataset):
        return dataset
    if dataset.name is None:
        raise InvalidArgument(
            "a dataset needs a name to have a budget: Dataset(..., name='people')"
        )
    return dataset.name


def _read_named_unit(unit: object) -> Unit | None:
    """Return a privacy unit of columns with names that every database can store."""
    if unit is None:
        return None
    names = unit if isinstance(unit, list | tuple) else [unit]
    return read_unit([read_name(name, "privacy_unit") for name in names])
