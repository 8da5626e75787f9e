"""Counting in PostgreSQL beside the server's own query, in pairs: `python -m bench.servers [ROWS] [QUESTION ...]`.

A server of its own is started, with its defaults. A question and the query that a user would write for it take
turns. Printed are their median times, the median of the ratios of the pairs, how many statements and rows a
question took, and the memory that this process added by then, in MiB.
"""

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from sqlalchemy import Engine, create_engine, text
from tests import postgres

import discreet
from discreet import Grid
from discreet.tables.engines.server_session import ServerRows

TURNS = 3

TABLE = """CREATE TABLE t AS SELECT i AS id, CAST(random() * {rows} / 5 AS int) AS k,
  (ARRAY['tea', 'coffee', 'milk'])[1 + CAST(random() * 2.99 AS int) % 3] AS drink,
  'page' || CAST(pow(random(), 3) * 100000 AS int) AS page, CAST(random() * 100000 AS int) / 100.0::float8 AS f,
  CAST(random() * 1000 AS numeric(10, 2)) AS n2, CAST(random() * 100000 AS bigint) AS cents
FROM generate_series(1, {rows}) AS i"""

OF_UNITS = """SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY f) FROM
  (SELECT f, row_number() OVER (PARTITION BY k ORDER BY f) AS r FROM t) AS x WHERE r <= 5"""

DRINKS = ["tea", "coffee", "milk"]
CENTS = Grid(0, 1000, "0.01")
QUESTIONS: dict[str, tuple[str, Callable[[Any], object]]] = {
    "mode": (
        "SELECT drink, count(*) FROM t GROUP BY drink",
        lambda data: discreet.mode(data, "drink", candidates=DRINKS, epsilon=1),
    ),
    "mode-where": (
        "SELECT drink, count(*) FROM t WHERE f > 500 GROUP BY drink",
        lambda data: discreet.mode(data, "drink", candidates=DRINKS, where="f > 500", epsilon=1),
    ),
    "mode-of-units": (
        "SELECT drink, count(DISTINCT k) FROM t GROUP BY drink",
        lambda data: discreet.mode(
            data, "drink", candidates=DRINKS, privacy_unit="k", epsilon=1
        ),
    ),
    "median": (
        "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY f) FROM t",
        lambda data: discreet.median(data, "f", candidates=CENTS, epsilon=1),
    ),
    "median-of-integers": (
        "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY cents) FROM t",
        lambda data: discreet.median(data, "cents", candidates=Grid(0, 100_000), epsilon=1),
    ),
    "median-of-decimals": (
        "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY n2) FROM t",
        lambda data: discreet.median(data, "n2", candidates=CENTS, epsilon=1),
    ),
    "keys": (
        "SELECT page, count(*) FROM t GROUP BY page",
        lambda data: discreet.counts(data, "page", delta="1e-6", epsilon=1),
    ),
    "median-of-units": (
        OF_UNITS,
        lambda data: discreet.median(
            data, "f", candidates=CENTS, privacy_unit="k", max_contributions=5, epsilon=1
        ),
    ),
}  # fmt: skip


def memory() -> float:
    """Return the resident memory of this process, in MiB."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * 4096 / 2**20


def seconds(work: Callable[[], object]) -> float:
    """Return how long a call takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def compare(engine: Engine, names: list[str]) -> None:
    """Ask the questions in turns with the queries of the server, and print a line for a question."""
    rows_of_statements: list[int] = []
    fetch = ServerRows.fetch

    def count_rows(self: ServerRows, frame: Any) -> Any:
        rows = fetch(self, frame)
        rows_of_statements.append(len(rows))
        return rows

    ServerRows.fetch = count_rows  # type: ignore[method-assign]
    data, base = discreet.scan_query("SELECT * FROM t", engine), memory()
    with engine.connect() as connection:
        for name in names:
            query, ask = QUESTIONS[name]
            own, ours = list[float](), list[float]()
            for _ in range(TURNS):
                own.append(seconds(lambda query=query: connection.execute(text(query)).fetchall()))  # type: ignore[misc]
                connection.rollback()
                rows_of_statements.clear()
                ours.append(seconds(lambda ask=ask: ask(data)))  # type: ignore[misc]
            ratio = median(two / one for one, two in zip(own, ours, strict=True))
            asked, rows = len(rows_of_statements), sum(rows_of_statements)
            print(
                f"{name:20} server {median(own):7.3f} s, discreet {median(ours):7.3f} s, ratio {ratio:.2f}, "
                f"{asked} statements, {rows:,} rows, {memory() - base:.0f} MiB",
                flush=True,
            )


def main() -> None:
    """Make the table, and compare."""
    warnings.simplefilter("ignore")
    _, *arguments = sys.argv
    number = int(float(arguments.pop(0))) if arguments else 10**6
    with postgres.server() as url:
        engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
        with engine.begin() as connection:
            connection.execute(text(TABLE.format(rows=number).replace("::", r"\:\:")))
            connection.execute(text("ANALYZE t"))
        compare(engine, arguments or [*QUESTIONS])
        engine.dispose()


if __name__ == "__main__":
    main()
