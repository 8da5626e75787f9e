"""The most common of a million candidates in a file of their own, against the bare join."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from .race import Contender, Run, Watch, race
from .results import Row, Target, compared
from .work import bits_per_draw

CANDIDATES, ROWS = 10**6, 10**7
BARE = "DuckDB bare GROUP BY and join"

_KNOWN = "SELECT 'page ' || md5(range::VARCHAR) AS page FROM range(?)"
_VISITS = f"""
SELECT 'page ' || md5((1.2 * {CANDIDATES} * random() * random())::BIGINT::VARCHAR) AS page FROM range(?)
"""
_BARE = """
SELECT page, visits FROM (SELECT page, count(*) AS visits FROM read_parquet('{visits}') GROUP BY page)
JOIN read_parquet('{known}') USING (page) ORDER BY visits DESC LIMIT 1
"""


def candidates(watch: Watch) -> Row:
    """Return the row of the most common of a million candidates."""
    watch(f"writing {ROWS:,} rows of Parquet")
    with TemporaryDirectory() as directory:
        known, visits = Path(directory, "known.parquet"), Path(directory, "visits.parquet")
        _write(known, visits)
        ours = partial(_ours, known, visits)
        works = {"discreet mode": ours, BARE: partial(_bare, known, visits)}
        contenders = [Contender(name, work) for name, work in works.items()]
        lines = compared(race(contenders, 5, watch), Target(2, BARE), bits_per_draw(ours))
    note = "The candidates were numbered before: once for all answers."
    return Row("mode of 10^6 candidates, 10^7 Parquet rows", lines, [note])


def _write(known: Path, visits: Path) -> None:
    """Write the candidates, and rows that hold some of them often and some never."""
    with duckdb.connect() as connection:
        connection.sql("SELECT setseed(0.5)").fetchall()
        connection.sql(_KNOWN, params=[CANDIDATES]).write_parquet(str(known))
        connection.sql(_VISITS, params=[ROWS]).write_parquet(str(visits))


def _ours(known: Path, visits: Path) -> Run:
    import discreet

    return partial(
        discreet.mode, visits, "page", candidates=discreet.CandidateTable(known, "page"), epsilon=1
    )


def _bare(known: Path, visits: Path) -> Run:
    connection = duckdb.connect()
    query = _BARE.format(known=known, visits=visits)
    return lambda: connection.sql(query).fetchall()
