"""A Parquet file: the most common of seven categories against the bare query, a price against memory."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np

from . import peers
from .race import Contender, Run, Watch, race
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

BARE = "DuckDB bare GROUP BY"
MEMORY = "discreet price, in memory"
NOTES = (
    "The bare query runs on one open connection; the line below it opens one each time, as we do.",
    "OpenDP gets integer codes in memory. Its count and its selection do not chain, so the second "
    "takes the counts from Python.",
)


def mode(watch: Watch) -> Row:
    """Return the row of the most common category in a file."""
    watch(f"writing {ROWS:,} rows of Parquet")
    codes = _codes()
    with TemporaryDirectory() as directory:
        file = Path(directory, "adult.parquet")
        _write(codes, file)
        ours = partial(_ours, file)
        contenders = [
            Contender("discreet mode", ours),
            Contender(BARE, partial(_bare, file)),
            Contender("DuckDB, fresh connection", partial(_bare_afresh, file)),
            Contender("OpenDP exponential", partial(peers.opendp_mode, codes, len(ADULT))),
        ]
        timings = race(contenders, 21, watch)
        lines = compared(timings, Target(1.1, BARE), bits_per_draw(ours))
    return Row("mode of 7, 10^7 Parquet rows", lines, NOTES)


def price(watch: Watch) -> Row:
    """Return the row of a price where bids are at nearly all of 10^6 points, from a file and from memory."""
    watch(f"writing {BIDS:,} rows of Parquet")
    bids = np.random.default_rng(9).integers(POINTS, size=BIDS) / 100
    with TemporaryDirectory() as directory:
        file = Path(directory, "bids.parquet")
        with duckdb.connect() as connection:
            connection.register("bids", {"bid": bids})
            connection.sql("SELECT bid FROM bids").write_parquet(str(file))
        ours = partial(_price, str(file), "bid")
        contenders = [
            Contender("discreet price, Parquet", ours),
            Contender(MEMORY, partial(_price, bids)),
        ]
        lines = compared(race(contenders, 21, watch), None, bits_per_draw(ours))
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


def _price(bids: "peers.Array | str", *column: str) -> Run:
    import discreet

    grid = discreet.Grid(0, "9999.99", "0.01")
    return partial(discreet.best_price, bids, *column, candidates=grid, epsilon=1)


def _ours(file: Path) -> Run:
    import discreet

    return partial(discreet.mode, file, "c", candidates=list(ADULT), epsilon=1)


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
