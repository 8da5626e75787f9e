"""A release that is paid for, against one that is not, and against two durable rows in SQLite."""

import hashlib
import sqlite3
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from uuid import uuid4

from .race import Contender, Run, Watch, race
from .results import Row, Target, compared

VOTES = {"tea": 310, "coffee": 412, "water": 45}
ROWS = "two synced rows in bare SQLite"
UNPAID = "unpaid"
FLOOR = "unpaid, and what it writes: statements, JSON and hashes alone"
IN_MEMORY = "through a ledger in memory"
SINGLY = "20 paid releases"
BATCH = 20


def paid(watch: Watch) -> Row:
    """Return the row of one small release: paid from a file, paid in memory, unpaid."""
    folder = Path(mkdtemp(prefix="discreet-bench-"))
    contenders = [
        Contender(
            "through a ledger in a file", partial(paid_run, str(folder / "budget.db")), calls=5
        ),
        Contender(ROWS, partial(_rows, folder / "rows.db"), calls=5),
        Contender(IN_MEMORY, partial(paid_run, None), calls=5),
        Contender(UNPAID, unpaid_run, calls=5),
        Contender(FLOOR, partial(_written, str(folder / "floor.db")), calls=5),
    ]
    timings = race(contenders, 61, watch)
    return Row("one release, paid", compared(timings, Target(1.6, ROWS)))


def paid_in_memory(watch: Watch) -> Row:
    """Return the row of one small release, paid in memory and unpaid."""
    contenders = [
        Contender(IN_MEMORY, partial(paid_run, None), calls=50),
        Contender(UNPAID, unpaid_run, calls=50),
        Contender(FLOOR, partial(_written, None), calls=50),
    ]
    timings = race(contenders, 61, watch)
    return Row("one release, paid in memory", compared(timings, Target(5, UNPAID)))


def batch(watch: Watch) -> Row:
    """Return the row of a batch of small releases, paid from a file together and one by one."""
    folder = Path(mkdtemp(prefix="discreet-bench-"))
    contenders = [
        Contender("a batch", partial(batch_run, str(folder / "batch.db"))),
        Contender(SINGLY, partial(_singly, str(folder / "singly.db"))),
        Contender(FLOOR, partial(_written, str(folder / "floor.db"), BATCH)),
    ]
    timings = race(contenders, 61, watch)
    return Row(f"{BATCH} releases, paid", compared(timings, Target(0.15, SINGLY)))


def paid_run(where: str | None) -> Run:
    """Return a run of one small release that is paid through a ledger in a file, or in memory."""
    from discreet import Ledger, select

    ledger = Ledger(where)
    ledger.open("drinks", epsilon=10**6)
    session = ledger.session("drinks")
    return partial(select, VOTES, sensitivity=1, monotonic=True, epsilon=1, ledger=session)


def batch_run(where: str) -> Run:
    """Return a run of a batch of small releases that are paid together through a ledger in a file."""
    from discreet import Batch, Ledger, select

    ledger = Ledger(where)
    ledger.open("drinks", epsilon=10**6)
    session, questions = ledger.session("drinks"), Batch()
    for number in range(BATCH):
        questions = questions.add(
            str(number), select, VOTES, sensitivity=1, monotonic=True, epsilon=1
        )
    return partial(questions.run, session)


def _singly(where: str) -> Run:
    once = paid_run(where)

    def run() -> None:
        for _ in range(BATCH):
            once()

    return run


def unpaid_run() -> Run:
    """Return a run of one small release that nobody pays for."""
    from discreet import select

    return partial(select, VOTES, sensitivity=1, monotonic=True, epsilon=1)


def _written(where: str | None, releases: int = 1) -> Run:
    """Return a run of unpaid releases and of the writes of paid ones: no row is read, found or checked."""
    from discreet import Ledger
    from discreet.ledger.schema import driver_of

    ledger, unpaid = Ledger(where), unpaid_run()
    writer = _Writer(ledger._store.read(lambda transaction: driver_of(transaction.connection)))
    charge, answer = _bodies()

    def run(_: object = ledger) -> None:  # which closes its connection when it ends
        name = uuid4()
        requests = [f"{name}{place}" for place in range(releases)]
        writer.write("charged", requests, charge)
        for _request in requests:
            unpaid()
        writer.write("answered", requests, answer)

    return run


class _Writer:
    """A writer of events as a ledger has them, by raw statements."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        from discreet.ledger.events import canonical_json

        self._connection, self._spell = connection, canonical_json
        self._number, self._head = 0, 64 * "0"
        connection.execute(
            "INSERT INTO discreet_budgets VALUES ('drinks', '', '', '', '', '', '', '')"
        )

    def write(self, kind: str, requests: Sequence[str], body: object) -> None:
        """Append events, and update the sums after charges, in a transaction."""
        self._connection.execute("BEGIN IMMEDIATE")
        for request in requests:
            self._append(kind, request, body)
        self._connection.execute(
            "UPDATE discreet_account SET events = ?, head = ?", [self._number, self._head]
        )
        if kind == "charged":
            total, spent = self._spell({"epsilon": "1000000"}), self._spell({"epsilon": "1"})
            self._connection.execute(
                "UPDATE discreet_budgets SET total = ?, spent = ? WHERE dataset = ? AND analyst = ?",
                [total, spent, "drinks", ""],
            )
        self._connection.execute("COMMIT")

    def _append(self, kind: str, request: str, body: object) -> None:
        """Append an event."""
        self._number += 1
        at, text = "2027-01-01T00:00:00.000000+00:00", self._spell(body)
        event = [self._number, at, kind, "drinks", "", request, text]
        self._head = hashlib.sha256(self._spell([self._head, *event]).encode()).hexdigest()
        self._connection.execute(
            "INSERT INTO discreet_events VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [*event, self._head]
        )


def _bodies() -> list[dict[str, object]]:
    """Return the bodies of the two events of a paid release."""
    from discreet import Ledger, select

    ledger = Ledger()
    ledger.open("drinks", epsilon=10**6)
    select(VOTES, sensitivity=1, monotonic=True, epsilon=1, ledger=ledger.session("drinks"))
    return [dict(event.body) for event in ledger.history()[1:]]


def _rows(path: Path) -> Run:
    """Return a run of what no ledger can do without: two commits, each synced to the disk."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute("CREATE TABLE IF NOT EXISTS rows (text TEXT)")

    def write() -> None:
        for _ in range(2):
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO rows VALUES ('x')")
            connection.execute("COMMIT")

    return write
