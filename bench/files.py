"""A Parquet file: the most common of seven categories against the bare query, a price against a scan and memory."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np

from . import peers
from .race import Contender, Run, Timing, Watch, race
from .results import Row, Target, compared
from .work import bits_per_draw

ROWS = 10**7

# Marital status in Adult (Becker and Kohavi 1996, https://doi.org/10.24432/C5XW20).
ADULT = {
    "Married-civ-spouse": 14976,
    "Never-married": 10683,
    "Divorced": 4443,
    "Separated": 1025,
    "Widowed": 993,
    "Married-spouse-absent": 418,
    "Married-AF-spouse": 23,
}

BIDS, POINTS = 5 * 10**6, 10**6

VALUES, ASKED = 5 * 10**6, 7

BARE = "DuckDB bare GROUP BY"
BEST = "the best of three SQL forms"
MEMORY = "discreet price, in memory"
SCAN = "DuckDB scan to an array, then discreet price in memory"
NOTES = (
    "The first line is of a column whose seven values are declared; without that it may have any number of them.",
    "The bare query runs on one open connection; the line below it opens one each time, as we do.",
    "OpenDP gets integer codes in memory. Its count and its selection do not chain, so the second "
    "takes the counts from Python.",
)


_MANY = "SELECT 'page ' || (? * random())::BIGINT::VARCHAR AS c FROM range(?)"
_JOIN = "JOIN (SELECT unnest($texts) AS c) USING (c)"
_COUNT = "SELECT c, count(*) AS n FROM read_parquet($file)"
_FORMS = {
    "DuckDB GROUP BY, then join": f"FROM ({_COUNT} GROUP BY c) {_JOIN}",
    "DuckDB join, then GROUP BY": f"{_COUNT} {_JOIN} GROUP BY c",
    "DuckDB list_position, then GROUP BY": """
        SELECT list_position($texts, c) AS place, count(*) FROM read_parquet($file) GROUP BY place
    """,
}
"""Three queries of the number of rows with each text, the best of which depends on the texts that are there."""


def mode(watch: Watch) -> Row:
    """Return the row of the most common category in a file."""
    watch(f"writing {ROWS:,} rows of Parquet")
    codes = _codes()
    with TemporaryDirectory() as directory:
        file = Path(directory, "adult.parquet")
        _write(codes, file)
        ours = partial(declared_mode, file)
        contenders = [
            Contender("discreet mode", ours),
            Contender("discreet mode, not declared", partial(_ours, file, list(ADULT))),
            Contender(BARE, partial(_bare, file)),
            Contender("DuckDB, fresh connection", partial(_bare_afresh, file)),
            Contender("OpenDP exponential", partial(peers.opendp_mode, codes, len(ADULT))),
        ]
        timings = race(contenders, 101, watch)
        lines = compared(timings, Target(1.1, BARE), bits_per_draw(ours))
    return Row("mode of 7, 10^7 Parquet rows", lines, NOTES)


def write_query(file: Path, query: str, parameters: object) -> None:
    """Write the rows of a query, with the same random numbers each time, as Parquet."""
    with duckdb.connect() as connection:
        connection.sql("SELECT setseed(0.5)").fetchall()
        connection.sql(query, params=parameters).write_parquet(str(file))


def mode_of_many(watch: Watch) -> Row:
    """Return the row of the most common of seven texts in a column of five million."""
    watch(f"writing {ROWS:,} rows of Parquet")
    with TemporaryDirectory() as directory:
        file = Path(directory, "texts.parquet")
        write_query(file, _MANY, [VALUES, ROWS])
        texts = [f"page {i * VALUES // ASKED}" for i in range(ASKED)]
        ours = partial(_ours, file, texts)
        contenders = [
            Contender("discreet mode", ours),
            *(Contender(name, partial(_form, file, texts, _FORMS[name])) for name in _FORMS),
        ]
        timings = race(contenders, 21, watch)
    forms = [timings[name] for name in _FORMS]
    timings[BEST] = Timing(
        [min(turn) for turn in zip(*(form.seconds for form in forms), strict=True)],
        [min(turn) for turn in zip(*(form.processor for form in forms), strict=True)],
    )
    lines = compared(timings, Target(1.3, BEST), bits_per_draw(ours))
    return Row("mode of 7, 10^7 Parquet rows of 5 x 10^6 texts", lines)


def price(watch: Watch) -> Row:
    """Return the row of a price where bids are at nearly all of 10^6 points, from a file and from memory."""
    watch(f"writing {BIDS:,} rows of Parquet")
    bids = np.random.default_rng(9).integers(POINTS, size=BIDS) / 100
    with TemporaryDirectory() as directory:
        file = Path(directory, "bids.parquet")
        with duckdb.connect() as connection:
            connection.register("bids", {"bid": bids})
            connection.sql("SELECT bid FROM bids").write_parquet(str(file))
        ours = partial(price_of, str(file), "bid")
        contenders = [
            Contender("discreet price, Parquet", ours),
            Contender(SCAN, partial(_scan_and_price, file)),
            Contender(MEMORY, partial(price_of, bids)),
        ]
        timings = race(contenders, 21, watch)
        lines = compared(timings, Target(1.15, SCAN), bits_per_draw(ours))
    return Row("price, 5 x 10^6 Parquet rows, 10^6 points", lines)


def _codes() -> peers.Array:
    """Return shuffled codes in Adult's proportions."""
    share = np.array(list(ADULT.values())) / sum(ADULT.values())
    ends = np.rint(share.cumsum() * ROWS).astype(np.int64)
    codes = np.repeat(np.arange(len(ADULT), dtype=np.int32), np.diff(ends, prepend=0))
    return np.random.default_rng(0).permutation(codes)


def _write(codes: peers.Array, file: Path) -> None:
    """Write the codes as words, as DuckDB does by default."""
    with duckdb.connect() as connection:
        connection.register("numbered", {"code": codes})
        words = "SELECT list_extract($words, code + 1) AS c FROM numbered"
        relation = connection.sql(words, params={"words": list(ADULT)})
        relation.write_parquet(str(file))


def price_of(bids: "peers.Array | str", *column: str) -> Run:
    import discreet

    grid = discreet.Grid(0, "9999.99", "0.01")
    return partial(discreet.best_price, bids, *column, candidates=grid, epsilon=1)


def _scan_and_price(file: Path) -> Run:
    """Return a price from what a bare scan of the column gives, on a connection that is open already."""
    connection = duckdb.connect()
    query = f"SELECT bid FROM read_parquet('{file}')"
    return lambda: price_of(connection.sql(query).fetchnumpy()["bid"])()


def _ours(file: Path, texts: list[str]) -> Run:
    import discreet

    return partial(discreet.mode, file, "c", candidates=texts, epsilon=1)


def declared_mode(file: Path) -> Run:
    import discreet

    words = {"type": "string", "enum": list(ADULT)}
    return partial(discreet.mode, discreet.Dataset(file, {"c": words}), "c", epsilon=1)


def _form(file: Path, texts: list[str], query: str) -> Run:
    connection = duckdb.connect()
    parameters = {"file": str(file), "texts": texts}
    return lambda: connection.execute(query, parameters).fetchall()


def _bare(file: Path) -> Run:
    connection = duckdb.connect()
    return lambda: connection.sql(_query(file)).fetchall()


def _bare_afresh(file: Path) -> Run:
    def run() -> object:
        with duckdb.connect() as connection:
            return connection.sql(_query(file)).fetchall()

    return run


def _query(file: Path) -> str:
    return f"SELECT c, count(*) FROM read_parquet('{file}') GROUP BY c"
