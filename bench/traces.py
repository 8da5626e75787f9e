"""Whether the time of a release shows anything of the data: the same work on data that differ in what is private.

Scores are equal but for one, which leads by more and more. Records are distinct, or crowd at few values, or earn
the same at every price but one. All sizes are the same, so the processor's time ought to be.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import duckdb
import numpy as np

from discreet.sampling import kernel

from . import peers
from .draws import DRAWS, select_of, selector_of, top_of
from .files import ADULT, declared_mode, write_query
from .files import price_of as price_of_file
from .grids import median_of, price_of, quantiles_of
from .joint import joint_of
from .large import median as median_of_file
from .race import Contender, Ratio, Run, Timing, Watch, paired_ratio, race
from .top_k import K, peeled_of
from .work import bits_per_draw

CANDIDATES = 2_000
FEW = 10
LEADS = (0, 20, 100)
"""By how much the best score is ahead, in units of the sensitivity."""

_SOLD = 200
"""How many records are sold at the price that leads."""

RECORDS = 10**6
TURNS = 31

Prepare = Callable[[peers.Array], Run]


@dataclass(frozen=True, slots=True)
class Trace:
    """One work on several data.

    Attributes:
        name: the work.
        cases: the data, in words.
        timings: one for each of them.
        bits: the random bits we read for each; none of others.
    """

    name: str
    cases: Sequence[str]
    timings: Sequence[Timing]
    bits: Sequence[float | None] = ()

    @property
    def ratios(self) -> list[Ratio | None]:
        """The processor's time of each by that of the first, within turns; 1 shows nothing."""
        first = self.timings[0].processor
        return [paired_ratio(timing.processor, first) for timing in self.timings]

    def as_dict(self) -> dict[str, Any]:
        """Return the trace in JSON's types, times in seconds."""
        return {
            "name": self.name,
            "cases": list(self.cases),
            "median": [timing.median for timing in self.timings],
            "min": [timing.best for timing in self.timings],
            "ratios": [ratio and ratio.median for ratio in self.ratios],
            "intervals": [ratio and [ratio.low, ratio.high] for ratio in self.ratios],
            "bits_per_draw": list(self.bits),
            "failure": next((timing.failure for timing in self.timings if timing.failure), None),
            "warnings": sum(timing.warned for timing in self.timings),
        }


def traces(watch: Watch) -> list[Trace]:
    """Return what the time of each work shows."""
    return [*_of_scores(watch), *_of_records(watch)]


def _of_scores(watch: Watch) -> Iterator[Trace]:
    """Yield works on equal scores but for one, which is ahead by more and more."""
    cases = {f"{lead} ahead" if lead else "equal": lead for lead in LEADS}
    few = slice(CANDIDATES // 3, CANDIDATES // 3 + FEW)
    works: dict[str, Prepare] = {f"select, {kind}": partial(_select, kind) for kind in _KINDS}
    works |= {
        "select without the kernel": _by_numpy,
        f"select, {FEW} candidates": lambda scores: select_of(scores[few]),
        "selector": selector_of,
        f"top {K}": peeled_of,
        f"top {K}, permute-and-flip": partial(peeled_of, mechanism="permute_and_flip"),
        "OpenDP exponential": peers.opendp_exponential,
        "OpenDP permute-and-flip": peers.opendp_permute_and_flip,
    }
    long: dict[str, Prepare] = {
        "select, 10^6 candidates": select_of,
        "top 100 of 10^6": top_of,
        "10^5 draws of 10^6": partial(select_of, size=DRAWS),
    }
    for name, prepare in works.items():
        data = {case: _one_ahead(CANDIDATES, lead) for case, lead in cases.items()}
        yield _trace(name, data, prepare, watch, calls=5)
    for name, prepare in long.items():
        data = {case: _one_ahead(RECORDS, lead) for case, lead in cases.items()}
        yield _trace(name, data, prepare, watch)
    with TemporaryDirectory() as folder:
        yield _trace("mode of 7, a Parquet file", cases, partial(_mode, Path(folder)), watch)


def _of_records(watch: Watch) -> Iterator[Trace]:
    """Yield works on records that are distinct or not, and that show a best price or not."""
    works: dict[str, Prepare] = {
        "price": price_of,
        "median": median_of,
        "50 quantiles": lambda records: quantiles_of(records / 10, "recursive"),
    }
    for name, prepare in works.items():
        yield _trace(f"{name}, 10^6 records", _records(RECORDS), prepare, watch)
    yield _trace("9 joint quantiles, 1,000 records", _records(1_000), joint_of, watch)
    with TemporaryDirectory() as folder:
        for name, of_file in (
            ("price", lambda file: price_of_file(file, "number")),
            ("median", median_of_file),
        ):
            prepare = partial(_from_file, Path(folder), of_file)
            yield _trace(f"{name}, a Parquet file", _records(RECORDS), prepare, watch)


def _trace(
    name: str, data: Mapping[str, Any], prepare: Callable[[Any], Run], watch: Watch, calls: int = 1
) -> Trace:
    """Return the times of a work on data by what they are called."""
    contenders = [
        Contender(f"{name}, {case}", partial(prepare, some), calls) for case, some in data.items()
    ]
    timings = race(contenders, TURNS, watch)
    is_ours = not name.startswith("OpenDP")
    bits = [bits_per_draw(one.prepare) for one in contenders] if is_ours else []
    return Trace(name, tuple(data), [timings[one.name] for one in contenders], bits)


_KINDS = ("exponential", "permute_and_flip", "noisy_max")


def _one_ahead(size: int, lead: float) -> peers.Array:
    """Return equal scores but for one in the midst of them."""
    scores = np.zeros(size)
    scores[CANDIDATES // 3] = lead
    return scores


def _records(size: int) -> dict[str, peers.Array]:
    """Return as many records each time, between 0 and 1,000."""
    generator = np.random.default_rng(0)
    distinct = generator.random(size) * 1000
    revenue = 1000 / np.arange(1, size + 1)  # at each of these prices 1,000 are earned
    one = np.full(size, 500.0)
    best = np.arange(size) < _SOLD
    ahead = {
        f"{lead} ahead": np.where(best, np.maximum(revenue, (1 + lead) * 1000 / _SOLD), revenue)
        for lead in LEADS[1:]
    }
    return {
        "distinct": distinct,
        "100 values": np.floor(distinct / 10) * 10,
        "one value": one,
        "one but one": np.where(np.arange(size) == size // 3, 501.0, one),
        "equal revenue": generator.permutation(revenue),
        **{case: generator.permutation(bids) for case, bids in ahead.items()},
    }


def _select(mechanism: str, scores: peers.Array) -> Run:
    from discreet import select

    return partial(select, scores, sensitivity=1, epsilon=1, mechanism=mechanism)


def _by_numpy(scores: peers.Array) -> Run:
    """Return the release without the kernel."""
    release = select_of(scores)

    def run() -> object:
        with patch.object(kernel, "active", lambda: None):
            return release()

    return run


def _mode(folder: Path, lead: int) -> Run:
    """Return the mode of a column of which one value has so many rows more than any other."""
    file = folder / f"{lead}.parquet"
    write_query(
        file,
        """
        SELECT list_extract($words, 1 + (CASE WHEN i < $lead THEN 0 ELSE i - $lead END) % 7) AS c
        FROM range($rows) AS numbers(i)
        """,
        {"words": list(ADULT), "lead": lead, "rows": RECORDS},
    )
    return declared_mode(file)


def _from_file(folder: Path, of_file: Callable[[str], Run], records: peers.Array) -> Run:
    """Return the work on a file of these records."""
    file = folder / f"{hash(records.tobytes())}.parquet"
    with duckdb.connect() as connection:
        connection.register("records", {"number": records})
        connection.sql("SELECT number FROM records").write_parquet(str(file))
    return of_file(str(file))
