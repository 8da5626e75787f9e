"""The most common of seven categories in a Parquet file, against the bare query."""

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

BARE = "DuckDB bare GROUP BY"
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
        lines = compared(timings, Target(1.3, BARE), bits_per_draw(ours))
    return Row("mode of 7, 10^7 Parquet rows", lines, NOTES)


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


def _ours(file: Path) -> Run:
    import discreet

    return partial(discreet.mode, file, "c", list(ADULT), epsilon=1)


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
