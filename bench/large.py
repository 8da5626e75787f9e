"""A Parquet file larger than one likes in memory: the mode and the median, out of core.

`python -m bench.large FOLDER [ROWS]` writes the file, 10^8 rows if not said otherwise; `--data FOLDER` and
`--rows ROWS` measure on it.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from .race import Contender, Run, Watch, race
from .results import Row, Target, compared
from .work import bits_per_draw

Work = Callable[[str], Run]

ROWS = 10**7
FULL = 10**8
CODES = list(range(7))
BARE = "DuckDB bare GROUP BY"
EXACT = "DuckDB quantile_disc (not private)"

_GENERATED = """
SELECT CAST(floor(random() * 7) AS INTEGER) AS code,
       sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()) * 1e5 AS number
FROM range(?)
"""

_PEAK = """
import re, sys
from bench.large import {work}
{work}(sys.argv[1])()
print(re.search(r"VmHWM:\\s*(\\d+) kB", open("/proc/self/status").read())[1])
"""


@dataclass(frozen=True, slots=True)
class Large:
    """How large, and where the file is kept; None for a folder that is gone afterwards."""

    rows: int = ROWS
    folder: Path | None = None

    def mode(self, watch: Watch) -> Row:
        """Return the row of the most common of seven codes."""
        contenders = {"discreet mode": mode, BARE: _bare}
        return self._row("mode of 7", contenders, Target(1.1, BARE), watch)

    def median(self, watch: Watch) -> Row:
        """Return the row of a median over a grid of 10^12 points."""
        contenders = {"discreet median": median, EXACT: _exact}
        return self._row("median, grid of 10^12", contenders, Target(0.7, EXACT), watch)

    def _row(self, title: str, works: Mapping[str, Work], target: Target, watch: Watch) -> Row:
        with self._file(watch) as file:
            ours = partial(next(iter(works.values())), file)
            contenders = [Contender(name, partial(work, file)) for name, work in works.items()]
            lines = compared(race(contenders, 61, watch), target, bits_per_draw(ours))
            note = (
                f"peak memory of a fresh process {_peak(title.partition(' ')[0].strip(','), file)}"
            )
        return Row(f"{title}, {self.rows:,} rows on disk", lines, [note])

    @contextmanager
    def _file(self, watch: Watch) -> Iterator[str]:
        """Give the path of the file, written first unless it is there."""
        with TemporaryDirectory() as temporary:
            file = Path(self.folder or temporary, f"large-{self.rows}.parquet")
            if not file.exists():
                watch(f"writing {self.rows:,} rows of Parquet")
                write(file, self.rows)
            yield str(file)


def write(file: Path, rows: int) -> None:
    """Write the file: codes of seven values, and normal numbers, without a common order."""
    with duckdb.connect() as connection:
        connection.sql("SELECT setseed(0.5)").fetchall()
        connection.sql(_GENERATED, params=[rows]).write_parquet(str(file))


def mode(file: str) -> Run:
    """Return our mode."""
    import discreet

    return partial(discreet.mode, file, "code", candidates=CODES, epsilon=1)


def median(file: str) -> Run:
    """Return our median."""
    import discreet

    grid = discreet.Grid(-(10**6), 10**6, "0.000002")
    return partial(discreet.median, file, "number", candidates=grid, epsilon=1)


def _bare(file: str) -> Run:
    return _query(f"SELECT code, count(*) FROM read_parquet('{file}') GROUP BY code")


def _exact(file: str) -> Run:
    return _query(f"SELECT quantile_disc(number, 0.5) FROM read_parquet('{file}')")


def _query(query: str) -> Run:
    connection = duckdb.connect()
    return lambda: connection.sql(query).fetchall()


def _peak(work: str, file: str) -> str:
    """Return the most memory that a fresh process had for one call, as Linux tells it."""
    code = _PEAK.format(work=work)
    run = subprocess.run([sys.executable, "-c", code, file], capture_output=True, text=True)
    return f"{int(run.stdout) // 1024:,} MiB" if run.stdout.strip().isdigit() else "not known here"


if __name__ == "__main__":
    _, folder, *more = sys.argv
    count = int(more[0]) if more else FULL
    write(Path(folder, f"large-{count}.parquet"), count)
