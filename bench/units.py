"""A median per privacy unit in a Parquet file, against the engine's own grouping by the unit."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from discreet.tables.values.ids import SALT

from .files import write_query
from .race import Contender, Run, Watch, race
from .results import Row, Target, compared
from .work import bits_per_draw

ROWS, MANY_ROWS, ROWS_OF_A_UNIT = 10**7, 10**8, 10
GROUPED = "DuckDB GROUP BY unit"

_ROWS = """
SELECT (? * random())::BIGINT AS unit, sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()) * 1e5 AS number
FROM range(?)
"""
_QUERIES = {
    GROUPED: "SELECT count(*), sum(n) FROM (SELECT count(*) AS n FROM rows GROUP BY unit)",
    "DuckDB quantile_disc of each unit": """
        SELECT sum(middle) FROM (SELECT quantile_disc(number, 0.5) AS middle FROM rows GROUP BY unit)
    """,
    "DuckDB list of each unit": """
        SELECT sum(len(numbers)) FROM (SELECT list(number) AS numbers FROM rows GROUP BY unit)
    """,
    "DuckDB start of the rule of each unit": f"""
        SELECT sum(('0x' || sha256('{SALT}'::BLOB || encode(unit::VARCHAR))[:8])::BIGINT % n)
        FROM (SELECT unit, count(*) AS n FROM rows GROUP BY unit)
    """,
    "DuckDB smallest of each unit": """
        SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY unit ORDER BY number) AS place FROM rows)
        WHERE place = 1
    """,
}
NOTES = (
    "Which row of a unit stays is said by ranks of its numbers, so all numbers of a unit must come together. "
    "A rule that kept the smallest would need one aggregate, the last line, and favour small numbers.",
    "At which rank of a unit the rule starts is a digest of its id: the line with the start alone is a lower bound "
    "for any way that keeps the rule, and above the target.",
)


def units(watch: Watch) -> Row:
    """Return the row of a median of one number per unit."""
    return _row(ROWS, _QUERIES, 7, watch)


def units_of_many(watch: Watch) -> Row:
    """Return the same of ten times as many rows, beside the bare grouping alone: it takes minutes."""
    return _row(MANY_ROWS, {GROUPED: _QUERIES[GROUPED]}, 3, watch)


def _row(rows: int, queries: Mapping[str, str], turns: int, watch: Watch) -> Row:
    watch(f"writing {rows:,} rows of Parquet")
    with TemporaryDirectory() as directory:
        file = Path(directory, "units.parquet")
        write_query(file, _ROWS, [rows // ROWS_OF_A_UNIT, rows])
        ours = partial(_median, file)
        contenders = [
            Contender("discreet median per unit", ours),
            *(Contender(name, partial(_query, file, query)) for name, query in queries.items()),
        ]
        target = Target(1.5, GROUPED, "processor")
        bits = bits_per_draw(ours) if rows == ROWS else None
        lines = compared(race(contenders, turns, watch), target, bits)
    exponent = len(str(rows)) - 1
    return Row(f"median per unit, 10^{exponent} rows, 10^{exponent - 1} units", lines, NOTES)


def _median(file: Path) -> Run:
    import discreet

    grid = discreet.Grid(-(10**6), 10**6, "0.000002")
    return partial(discreet.median, file, "number", candidates=grid, epsilon=1, privacy_unit="unit")


def _query(file: Path, query: str) -> Run:
    connection = duckdb.connect()
    whole = query.replace("FROM rows", f"FROM read_parquet('{file}')")
    return lambda: connection.execute(whole).fetchall()
