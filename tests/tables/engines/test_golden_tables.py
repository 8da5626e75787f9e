"""What every engine told the verbs at commit 55e243f, to the last count: `golden/tables.json`.

How tables are read may change, the scores may not. The file has one value for each question, and those of engines
that answered otherwise (a CSV file holds text, pandas keeps dates as objects).
`python -m tests.tables.engines.test_golden_tables` writes it anew, which only a wanted
change of behaviour justifies.
"""

import datetime as dt
import json
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet import CandidateTable, Grid
from discreet.errors import DiscreetError
from discreet.mechanisms import Exponential
from discreet.mechanisms.contract import Calibrated, PrivacyParameter
from discreet.privacy.sensitivity import Sensitivity
from discreet.sampling.runs import Runs
from discreet.sampling.vectors import Vector

from ...engines import ENGINES

GOLDEN = Path(__file__).parents[2] / "golden" / "tables.json"
D = Decimal
INF, NAN = float("inf"), float("nan")
DAYS = [dt.date(2024, 2, 29), dt.date(1, 1, 1), dt.date(9999, 12, 31)]
TIMES = [dt.datetime(2024, 10, 27, 0, 30), dt.datetime(2024, 10, 27, 1, 30, 0, 1)]
ZONED = [time.replace(tzinfo=dt.UTC) for time in TIMES]
PERSONS = ["ann", "Ann", "é", "e\u0301", None, "p\U0001f600", "x y", "7", "zoë", "bob"]
DRINKS = ["tea", "Tea", "milk", "café", None, "cafe\u0301", "tea"]
PARTS = ["north", "süd", "east", None]
FLOATS = [0.0, -0.0, 1.5, 0.1, NAN, None, INF, -INF, 2.5, 5e-324, 700.25]


def table() -> pa.Table:
    """Ninety rows, each column by its own period, so that everything meets everything."""
    rows = range(90)

    def column(values: list[Any], of: pa.DataType, step: int = 1) -> pa.Array:
        return pa.array([values[(i * step + i // 7) % len(values)] for i in rows], of)

    return pa.table(
        {
            "who": column(PERSONS, pa.string()),
            "id": column([1, 2**53, 2**53 + 1, None, -5, 7, 2**62], pa.int64(), 3),
            "part": column(PARTS, pa.string(), 3),
            "zone": column([0, 1, 2, None], pa.int64()),
            "drink": column(DRINKS, pa.string(), 5),
            "whole": column([0, 1, -1, 2**53, 2**53 + 1, None, 12], pa.int64(), 2),
            "large": column([2**64 - 1, 5, 2**63, None], pa.uint64()),
            "real": column(FLOATS, pa.float64(), 3),
            "short": column([0.5, 0.1, -0.0, None, 3.0], pa.float32()),
            "money": column(
                [D("1.10"), D("2.00"), D("-3.35"), None, D("99.99")], pa.decimal128(10, 2)
            ),
            "yes": column([True, False, None], pa.bool_()),
            "day": column([*DAYS, None], pa.date32()),
            "at": column([*TIMES, None], pa.timestamp("us")),
            "zoned": column([*ZONED, None], pa.timestamp("us", "Europe/Paris")),
        }
    )


PLANS: dict[str, dict[str, Any]] = {
    "rows": {},
    "who": {"privacy_unit": "who"},
    "id": {"privacy_unit": "id"},
    "part": {"by": "part", "groups": ["süd", "north", "west", "east"]},
    "who, zone 1": {"privacy_unit": "who", "by": "zone", "groups": [2, 0, 1]},
    "id, part 2": {
        "privacy_unit": "id",
        "by": "part",
        "groups": ["east", "north", "süd"],
        "max_groups": 2,
    },
}
COUNTED: dict[str, list[Any]] = {
    "drink": ["tea", "milk", "café", "cafe\u0301", "absent", "Tea"],
    "whole": [2**53, 2**53 + 1, 0, 5.0, D(12), Fraction(1)],
    "large": [2**64 - 1, 2**63, 5, -1],
    "real": [0, 0.1, D("0.5"), INF, 1.5, 5e-324],
    "short": [0.5, 0.1, 0, 3],
    "money": [D("1.1"), 2, D("-3.35"), D("1.101")],
    "yes": [True, False],
    "day": DAYS,
    "at": TIMES,
    "zoned": ZONED,
}
GRIDS: dict[str, Grid] = {
    "whole": Grid(-2, 12),
    "large": Grid(0, 2**65, 2**60),
    "real": Grid(-2, 700, "0.25"),
    "short": Grid(0, 3, "0.1"),
    "money": Grid(-4, 100, "0.05"),
}
FINE: dict[str, Grid] = {"real": Grid(-(10**6), 10**6, "0.000002"), "whole": Grid(0, 2**60)}
LISTS: dict[str, list[Any]] = {
    "real": [-1, 0, "0.1", 1.5, 700],
    "money": [D("-3.35"), 0, D("1.1")],
    "whole": [2**53 + 1, 0, -7],
}


@dataclass
class Recording:
    """The exponential mechanism, which notes the scores it is given."""

    seen: list[Any] = field(default_factory=list)
    name: ClassVar[str] = "exponential"
    takes_runs: ClassVar[bool | Literal["flat"]] = True

    def calibrate(self, sensitivity: Sensitivity, parameter: PrivacyParameter | None) -> Calibrated:
        exact = Exponential().calibrate(sensitivity, parameter)

        def law(scores: Any) -> Any:
            self.seen.append(scores)
            return exact.law(scores)

        return Calibrated(exact.guarantee, law, exact.cutoff_gap)


Ask = Callable[[Any, Any], Any]
"""A verb on some data, with a mechanism."""


def questions() -> dict[str, Ask]:
    """Every question, by its name."""
    found: dict[str, Ask] = {}
    for plan in PLANS:
        found |= counted(plan) | numeric(plan)
    return found


def asking(verb: Any, *given: Any, **more: Any) -> Ask:
    return lambda data, mechanism: verb(data, *given, epsilon=1, mechanism=mechanism, **more)


def counted(plan: str) -> dict[str, Ask]:
    found, terms = dict[str, Ask](), PLANS[plan]
    for column, values in COUNTED.items():
        if plan in ("rows", "who", "id, part 2") or column in ("drink", "real"):
            found[f"mode {column}, {plan}"] = asking(
                discreet.mode, column, candidates=values, **terms
            )
            many = [*values, *(others(values[0], i) for i in range(40))]
            if plan == "rows" or column == "drink":
                found[f"mode of many {column}, {plan}"] = asking(
                    discreet.mode, column, candidates=many, **terms
                )
    return found


def numeric(plan: str) -> dict[str, Ask]:
    found = dict[str, Ask]()
    terms = {**PLANS[plan], **({"max_contributions": 2} if "id" in plan else {})}
    median, quantile, price = discreet.median, discreet.quantile, discreet.best_price
    for column, grid in GRIDS.items():
        found[f"median {column}, {plan}"] = asking(median, column, candidates=grid, **terms)
        if plan in ("rows", "who, zone 1"):
            found[f"distance {column}, {plan}"] = asking(
                median, column, candidates=grid, **terms, score="median_distance"
            )
            found[f"0.9 of {column}, {plan}"] = asking(
                quantile, column, alpha="0.9", candidates=grid, **terms
            )
        prices = Grid(0, grid.hi, grid.step)
        found[f"price {column}, {plan}"] = asking(price, column, candidates=prices, **terms)
    for column, grid in FINE.items():
        found[f"median fine {column}, {plan}"] = asking(median, column, candidates=grid, **terms)
    for column, values in LISTS.items():
        listed = [D(v) if isinstance(v, str) else v for v in values]
        found[f"median listed {column}, {plan}"] = asking(
            median, column, candidates=listed, **terms
        )
    return found


def others(like: Any, i: int) -> Any:
    """One more value of the same kind, which no row holds."""
    if isinstance(like, bool):
        return like
    if isinstance(like, str):
        return f"v{i}"
    if isinstance(like, dt.datetime):
        return like + dt.timedelta(days=i + 1)
    return like + dt.timedelta(i + 1) if isinstance(like, dt.date) else 1000 + i


def spelled(scores: Any) -> Any:
    """Scores as they are kept: the exact numbers, of runs with their places."""
    if isinstance(scores, Vector):
        return " ".join(str(scores.exact(i)) for i in range(len(scores)))
    assert isinstance(scores, Runs)
    slopes = scores.slopes
    runs = (
        f"{int(scores.starts[i])}+{int(scores.sizes[i])}:{scores.tops.exact(i)}"
        + (f"/{slopes.exact(i)}" if slopes is not None else "")
        for i in range(len(scores))
    )
    return " ".join(runs)


def told(ask: Ask, data: Any) -> Any:
    """The scores that a question brings to the mechanism, or the error."""
    mechanism = Recording()
    try:
        with warnings.catch_warnings():
            # Some candidates are asked about on purpose that no cell can equal: they count 0.
            warnings.filterwarnings("ignore", ".*no cell can equal it, so it counts 0")
            ask(data, mechanism)
    except DiscreetError as error:
        return f"! {type(error).__name__}"
    return [spelled(scores) for scores in mechanism.seen]


class Words:
    """Bits of which each word is the same: a draw is then a function of the scores."""

    width = 64

    def word(self) -> int:
        return 0x6A09E667F3BCC908

    def words(self, n: int) -> Any:
        return np.full(n, self.word(), dtype=np.uint64)


def quantiles_of(data: Any) -> dict[str, Any]:
    """Several quantiles on scripted bits."""
    found: dict[str, Any] = {}
    for plan in ("rows", "who", "id, part 2"):
        for column, grid in GRIDS.items():
            asked = partial(
                discreet.quantiles, data, column, alphas=["0.2", "0.6"], candidates=grid, epsilon=3
            )
            try:
                with patch("discreet.tables.verbs.quantile_levels.SystemBits", Words):
                    told = str(asked(**PLANS[plan]).value)
            except DiscreetError as error:
                told = f"! {type(error).__name__}"
            found[f"quantiles {column}, {plan}"] = told
    return found


def classes_of(data: Any, candidates: Any) -> dict[str, Any]:
    """The counts of the candidates of a public table, by their names."""
    known, found = CandidateTable(candidates, "drink"), dict[str, Any]()
    for plan, terms in PLANS.items():
        mechanism: Any = Recording()
        discreet.mode(data, "drink", candidates=known, epsilon=1, mechanism=mechanism, **terms)
        found[f"candidate table, {plan}"] = [counts_by_name(runs, known) for runs in mechanism.seen]
    return found


def counts_by_name(runs: Runs, known: CandidateTable) -> str:
    assert runs.locate is not None
    counts = {}
    for run in range(len(runs)):
        for rank in runs.locate([(run, nth) for nth in range(int(runs.sizes[run]))]):
            counts[known[rank]] = int(runs.tops.exact(run))
    return json.dumps(dict(sorted(counts.items())), ensure_ascii=True)


def candidate_rows() -> pa.Table:
    return pa.table({"drink": ["tea", "milk", "none", "café", "cafe\u0301", "Tea", "rare"]})


HOLDING = ("duckdb", "parquet", "csv", "spark")
"""The engines that take candidates as a table."""


def every_answer(engine: str, folder: Path) -> dict[str, Any]:
    """All that an engine answers."""
    rows = table()
    if engine == "spark":
        rows = rows.drop_columns(["large"])  # it has no such type
    if engine == "dask":
        rows = rows.drop_columns(
            ["day", "money"]
        )  # pandas keeps them as objects, Dask would as text
    data = ENGINES[engine](rows, folder)
    asked = dict(list(questions().items())[:: 5 if engine == "spark" else 1])
    answers = {name: told(ask, data) for name, ask in asked.items()}
    if engine != "spark":
        answers |= quantiles_of(data)
    if engine in HOLDING:
        (folder / "more").mkdir()
        if engine == "duckdb":
            import duckdb

            connection = duckdb.connect()
            both: Any = connection.from_arrow(rows), connection.from_arrow(candidate_rows())
        else:
            both = data, ENGINES[engine](candidate_rows(), folder / "more")
        answers |= classes_of(*both)
    return answers


def kept(engine: str) -> dict[str, Any]:
    golden: dict[str, dict[str, Any]] = json.loads(GOLDEN.read_text())
    return {
        name: answers.get(engine, answers["all"])
        for name, answers in golden.items()
        if engine in answers.get("of", [engine])
    }


@pytest.mark.proof
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_tells_what_it_told(engine: str, tmp_path: Path) -> None:
    expected, found = kept(engine), every_answer(engine, tmp_path)
    assert found.keys() == expected.keys()
    wrong = {name: (found[name], expected[name]) for name in found if found[name] != expected[name]}
    assert not wrong


@pytest.mark.parametrize("engine", ["polars", "polars-lazy", "duckdb", "csv"])
@pytest.mark.one_in(2)
def test_some_questions_to_each_way_of_counting(engine: str, tmp_path: Path) -> None:
    """The others in `make proofs`."""
    data, expected = ENGINES[engine](table(), tmp_path), kept(engine)
    for name, ask in list(questions().items())[::7]:
        assert told(ask, data) == expected[name], name


def record() -> None:
    """Write the file, from what the library tells now; Spark, which takes longest, comes last."""
    answers: dict[str, dict[str, Any]] = {}
    for engine in sorted(ENGINES, key="spark".__eq__):
        with tempfile.TemporaryDirectory() as folder:
            answers[engine] = every_answer(engine, Path(folder))
        GOLDEN.write_text(json.dumps(merged(answers), indent=0, ensure_ascii=True) + "\n")


def merged(answers: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """One value for each question, the exceptions, and which engines were asked if not all were."""
    golden: dict[str, dict[str, Any]] = {}
    for name in {name: None for found in answers.values() for name in found}:
        told = {engine: found[name] for engine, found in answers.items() if name in found}
        common = max(told.values(), key=list(told.values()).count)
        golden[name] = {"all": common} | {e: t for e, t in told.items() if t != common}
        if len(told) < len(answers):
            golden[name]["of"] = list(told)
    return golden


if __name__ == "__main__":
    record()
