"""The ledger: budgets that outlive the process, and every release that was paid from them."""

import json
import os
from collections import Counter
from collections.abc import Callable
from functools import partial

from sqlalchemy import Connection

from ..arguments import read_name
from ..doors import doors
from ..errors import InvalidArgument, LedgerError, UnknownBudget
from ..numbers import Number
from ..privacy.guarantees import read_guarantee
from ..privacy.odometer import Odometer
from ..privacy.sensitivity import Neighbors, read_neighbors
from ..privacy.units import one_record
from . import checked, exports, rows
from .budget import Amount, Budget, opened, read_total
from .checkpoints import Checkpoint, Checkpoints, compare, read_checkpoints
from .events import CHARGED, Event, canonical, per
from .purchase import Buyer
from .rows import News, tip_of
from .session import Session
from .snapshots import look
from .store import Store
from .verification import Verified, read_head, verify


@doors
class Ledger:
    """Budgets that outlive the process, and every release that was paid from them.

    A release is paid for, and the payment made durable, before one random bit of it is read. So a crash
    can lose budget, and never privacy. Amounts are exact fractions. Events are only ever appended, each
    with a hash of all before it. What is promised, and proved: docs/ledger.md.

    Args:
        where: the path of an SQLite file, which is made if it is not there; or a URL such as
            "postgresql://user@host/database"; or nothing, for a ledger in memory that ends with it.
        checkpoints: where each commit is noted a second time: the path of a file elsewhere, to which a line
            of JSON is appended, or a function that is called with a `Checkpoint`. An answer leaves only
            when what it rests on is noted. From a file, a ledger that was replaced is told when it is used.

    Raises:
        InvalidArgument: if `where` or `checkpoints` is no such place.
        LedgerError: if it cannot be opened, or is not the one of these checkpoints; see `discreet.errors`.

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
        dataset: str,
        *,
        analyst: str | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        neighbors: Neighbors = "add_remove",
        privacy_unit: str | None = None,
    ) -> Budget:
        """Open a budget, or return the one that was opened before with these very terms.

        Args:
            dataset: a name for the dataset.
            analyst: whose share of the dataset's budget this is. A release must fit both.
            epsilon: the most that all releases may cost together, as pure differential privacy; or,
                with `delta`, as approximate differential privacy. Or:
            rho: the same as zero-concentrated differential privacy.
            delta: the probability-like part of (epsilon, delta).
            neighbors: the relation the budget is about; releases are converted to it.
            privacy_unit: whom the budget protects: the column that says whose a row is, if all rows of
                one person are one record; without it each row is one. Releases that protect others are
                refused; a share protects whom the dataset's budget protects.

        Raises:
            InvalidArgument: if an argument cannot be accepted, or the budget was opened with other terms.
            UnknownBudget: if it is a share, and the dataset has no budget.
        """
        named = Buyer(self._store, dataset, analyst)
        total = read_total(epsilon, rho, delta)
        unit = None if privacy_unit is None else read_name(privacy_unit, "privacy_unit")
        budget = opened(named.dataset, named.analyst, read_neighbors(neighbors), total, unit)
        return self._store.write(lambda connection: _opened(connection, budget))

    def extend(
        self,
        dataset: str,
        *,
        analyst: str | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
    ) -> Budget:
        """Give a budget a larger total. From then on the larger one is all that is promised.

        Raises:
            InvalidArgument: if the total is not larger, or of another kind.
            UnknownBudget: if there is no such budget.
        """
        total = read_total(epsilon, rho, delta)
        buyer = Buyer(self._store, dataset, analyst)
        return self._store.write(lambda connection: _extended(connection, buyer, total))

    def session(self, dataset: str, analyst: str | None = None) -> Session:
        """Return who pays for releases on this dataset, for `ledger=` of any verb.

        Raises:
            UnknownBudget: if no such budget was opened.
        """
        buyer = Buyer(self._store, dataset, analyst)
        buyer.paying()
        return Session(buyer)

    def budgets(self) -> list[Budget]:
        """Return all budgets, by dataset and analyst."""
        return self._store.read(lambda c: checked.budgets(c, tip_of(c)))

    def history(self, dataset: str | None = None) -> list[Event]:
        """Return all events in their order, or those of one dataset."""
        named = None if dataset is None else read_name(dataset, "dataset")
        return look(self._store, lambda connection: list(rows.events(connection, named)))

    def spent(self, dataset: str, analyst: str | None = None) -> Odometer:
        """Return what all that was released promises together: of the dataset, or to one analyst.

        It holds for what was asked adaptively, in whatever amounts, and whenever one stops: `epsilon` is the
        sum, and `approx(delta)` is often much less. What would hold for a list that was fixed before the
        first answer has to be asked for: `if_fixed_beforehand()`.

        What it says of one analyst is about her answers alone, and true if analysts do not tell each other
        what they got. The ledger can tell as well: a refusal or a quote for the budget of the dataset shows
        what others have spent, and that may depend on what they were answered. What it says of the dataset
        holds whatever they tell.

        Raises:
            UnknownBudget: if no such budget was opened.
        """
        buyer = Buyer(self._store, dataset, analyst)
        return look(self._store, lambda connection: _spent(connection, buyer))

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write all events to a file, as JSON or CSV by its ending.

        Raises:
            InvalidArgument: if it ends in neither.
            LedgerUnwritable: if the file cannot be written.
        """
        exports.export(self.history(), path)

    def checkpoint(self) -> Checkpoint:
        """Return how far the ledger has come, to be kept, printed or signed elsewhere."""
        return self._store.end()

    def verify(
        self, head: str | None = None, *, checkpoints: str | os.PathLike[str] | None = None
    ) -> Verified:
        """Recompute everything from the first event on, and return the head of the chain.

        Args:
            head: one that was noted elsewhere, at any time. Without it, and without checkpoints, a ledger
                that was replaced by an older copy of itself, or written anew by somebody, cannot be told.
            checkpoints: a file of checkpoints, each of which must be on the chain. Those of the file that
                the ledger was opened with are compared in any case.

        Nobody who writes waits for it: a file is copied first, in one step.

        Raises:
            LedgerCorrupt: if anything is not as it was written.
            LedgerUnwritable: if the checkpoints cannot be read.
            InvalidArgument: if what is given can be no head, or there are no checkpoints in the file.
        """
        known = read_head(head)
        # Read first: what is noted meanwhile need not be in an earlier view of the ledger.
        noted = self._store.sink.noted() + read_checkpoints(checkpoints)

        def verified(connection: Connection) -> Verified:
            found = verify(connection, known)
            compare(connection, noted)
            return found

        return look(self._store, verified)

    def __repr__(self) -> str:
        return f"Ledger({self._store.name})"

    def __reduce__(self) -> tuple[Callable[[str], "Ledger"], tuple[str]]:
        """Reopen a file by its path. A password must not travel, and memory cannot."""
        if self._store.in_memory or self._store.url.drivername != "sqlite":
            raise LedgerError(
                "only a ledger in a file can be pickled; open this one where it is needed"
            )
        opened = partial(Ledger, checkpoints=self._store.sink.where)
        return opened, (str(self._store.url.database),)


def _opened(connection: Connection, budget: Budget) -> Budget:
    """Write the budget, unless it is there."""
    tip = tip_of(connection, alone=True)
    known = {each.analyst: each for each in checked.budgets(connection, tip, budget.dataset)}
    if budget.analyst in known:
        return _unchanged(known[budget.analyst], budget)
    if budget.analyst is not None and None not in known:
        raise UnknownBudget(
            f"a share needs something to share: open a budget for the dataset {budget.dataset} first"
        )
    _check_share(budget, known.get(None, budget))
    left = [budget] if budget.analyst is None else [known[None], budget]
    body = {"neighbors": budget.neighbors, "total": budget.total.as_dict(), **per(budget.unit),
            **checked.stated(*left)}  # fmt: skip
    rows.append(connection, tip, News("opened", budget.dataset, budget.analyst, None, body))
    rows.insert(connection, budget)
    return budget


def _check_share(share: Budget, whole: Budget) -> None:
    """Raise if a share protects others than the budget of its dataset: no release could fit both."""
    if share.unit == whole.unit:
        return
    fix = f"privacy_unit={whole.unit!r}" if whole.unit else "no privacy_unit"
    raise InvalidArgument(
        f"the budget of {whole.name} protects {one_record(whole.unit)}, so a share of it takes {fix}"
    )


def _unchanged(known: Budget, asked: Budget) -> Budget:
    """Return the budget that is there if it is what was asked for."""
    ours, theirs = ((b.terms, b.neighbors, b.unit) for b in (known, asked))
    if ours == theirs:
        return known
    raise InvalidArgument(
        f"the budget of {known.name} was opened as {_said(known)}, not as {_said(asked)}; "
        "to give it more, extend it"
    )


def _said(budget: Budget) -> str:
    per = "" if budget.unit is None else f", per {budget.unit}"
    return f"{budget.total} ({budget.neighbors}{per})"


def _extended(connection: Connection, buyer: Buyer, total: Amount) -> Budget:
    tip = tip_of(connection, alone=True)
    *others, budget = buyer.budgets(connection, tip)
    larger = budget.extended(total)
    body = {"total": total.as_dict(), **checked.stated(*others, larger)}
    rows.append(connection, tip, News("extended", larger.dataset, larger.analyst, None, body))
    rows.update(connection, larger)
    return larger


def _spent(connection: Connection, buyer: Buyer) -> Odometer:
    budget = buyer.budgets(connection, tip_of(connection))[-1]
    charged = Counter(
        canonical(event.body["guarantee"])
        for event in rows.events(connection, buyer.dataset)
        if event.kind in CHARGED and buyer.analyst in {None, event.analyst}
    )
    found = [(read_guarantee(json.loads(text)), n) for text, n in charged.items()]
    parts = tuple((guarantee.under(budget.neighbors), n) for guarantee, n in found)
    return Odometer(budget.neighbors, parts, budget.unit)
