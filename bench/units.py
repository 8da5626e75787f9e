"""A median per privacy unit in a Parquet file, against the engine's own grouping by the unit."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from discreet.tables.ids import SALT

from .files import write_query
from .race import Contender, Run, Watch, race
from .results import Row, Target, compared
from .work import bits_per_draw

ROWS, UNITS = 10**7, 10**6
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
    watch(f"writing {ROWS:,} rows of Parquet")
    with TemporaryDirectory() as directory:
        file = Path(directory, "units.parquet")
        write_query(file, _ROWS, [UNITS, ROWS])
        ours = partial(_median, file)
        contenders = [
            Contender("discreet median per unit", ours),
            *(Contender(name, partial(_query, file, query)) for name, query in _QUERIES.items()),
        ]
        target = Target(1.5, GROUPED, "processor")
        lines = compared(race(contenders, 7, watch), target, bits_per_draw(ours))
    return Row("median per unit, 10^7 rows, 10^6 units", lines, NOTES)


def _median(file: Path) -> Run:
    import discreet

    grid = discreet.Grid(-(10**6), 10**6, "0.000002")
    return partial(discreet.median, file, "number", candidates=grid, epsilon=1, privacy_unit="unit")


def _query(file: Path, query: str) -> Run:
    connection = duckdb.connect()
    whole = query.replace("FROM rows", f"FROM read_parquet('{file}')")
    return lambda: connection.execute(whole).fetchall()
