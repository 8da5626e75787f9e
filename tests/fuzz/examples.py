"""Valid calls of everything that is public: what the fuzz begins with, and spoils.

Functions have examples here; the methods of public classes are found by looking, and get arguments by the
names of their parameters. A public name without an example fails the tests.
"""

import atexit
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa

import discreet
from discreet import Grid, audit, errors, plots, testing
from discreet.service import PastRelease
from discreet.service.asking.operations import QUESTIONS
from discreet.study import adapters
from discreet.study.planning.distribution import Distribution
from discreet.tables import verb_table

from ..public_names import public
from .canary import NUMBER, TEXT

Arguments = tuple[list[Any], dict[str, Any]]


def call(*arguments: Any, **named: Any) -> Arguments:
    """Return the arguments of an example."""
    return list(arguments), named


def _parity(records: list[int]) -> dict[int, int]:
    return {sum(records) % 2: 1}


def _own_audit() -> audit.MechanismAudit:
    return audit.mechanism(_parity, [0, 1], range(2), epsilon=1)


class World:
    """What examples need: private data with the canary in them, files of those, a folder to write to."""

    @cached_property
    def folder(self) -> Path:
        """A folder that goes with the process."""
        made = tempfile.mkdtemp(prefix="fuzz-")
        atexit.register(shutil.rmtree, made, ignore_errors=True)
        return Path(made)

    @cached_property
    def rows(self) -> dict[str, list[Any]]:
        """Columns: c of texts, n of numbers, who of persons, g of groups."""
        return {
            "c": ["tea", "coffee", "tea", TEXT], "n": [1, 2, 3, NUMBER],
            "who": ["a", "a", TEXT, "b"], "g": ["x", "y", "x", TEXT],
        }  # fmt: skip

    @cached_property
    def audit_record(self) -> Path:
        """The record of an audit."""
        file = self.folder / "audit.txt"
        audit.write_record(_own_audit(), file)
        return file

    @cached_property
    def csv(self) -> Path:
        """A file of the rows."""
        file = self.folder / "people.csv"
        pl.DataFrame(self.rows).write_csv(file)
        return file

    @cached_property
    def parquet(self) -> Path:
        """Another."""
        file = self.folder / "people.parquet"
        pl.DataFrame(self.rows).write_parquet(file)
        return file

    @cached_property
    def toml(self) -> Path:
        """A file that describes the rows."""
        file = self.folder / "discreet.toml"
        file.write_text(f'[datasets.people]\nsource = "{self.csv}"\ncolumns.c.type = "string"\n')
        return file

    @cached_property
    def candidates(self) -> Path:
        """A file of candidates."""
        file = self.folder / "drinks.csv"
        pl.DataFrame({"c": ["tea", "coffee", "milk"]}).write_csv(file)
        return file

    @cached_property
    def tables(self) -> list[Callable[[], Any]]:
        """The rows in one engine after another."""
        return [
            lambda: pd.DataFrame(self.rows), lambda: pl.DataFrame(self.rows), lambda: pl.LazyFrame(self.rows),
            lambda: pa.table(self.rows), lambda: self.csv, lambda: str(self.parquet), lambda: self.parquet,
        ]  # fmt: skip

    @staticmethod
    def session() -> discreet.Session:
        """Who pays: a ledger in memory, made for one call."""
        ledger = discreet.Ledger()
        ledger.open("people", epsilon=100)
        return ledger.session("people")

    @cached_property
    def ledger_file(self) -> Path:
        """A ledger in a file, for the command line."""
        file = self.folder / "budget.db"
        ledger = discreet.Ledger(file)
        ledger.open("people", epsilon=10**6)
        ledger.session("people").select([0, 1], sensitivity=1, epsilon=1)
        return file

    def node(self) -> discreet.Connection:
        """Return the connection of an owner of data in hand, with a question."""
        node = discreet.connect(datasets={"people": [1, 2, NUMBER]})
        node.open_budget("people", epsilon=100)
        node.allow("people", "middle", discreet.median, candidates=Grid(0, 9), epsilon=1)
        node.allow_simulation("people")
        node.open_budget("people", analyst="team", epsilon=10)
        return node

    @cached_property
    def description(self) -> Path:
        """A described dataset with its ledger, a question and an analyst."""
        (file := self.folder / "asked" / "discreet.toml").parent.mkdir()
        file.write_text(
            f'''ledger = "budget.db"
[datasets.people]
source = "{self.csv}"
columns.n = {{ type = "integer", minimum = 0, maximum = 9 }}
columns.c = {{ type = "string", enum = ["tea", "coffee"] }}
questions.middle = {{ verb = "median", column = "n", epsilon = 1 }}
[analysts.team]
datasets = ["people"]
verbs = ["mode", "median"]
'''
        )
        ledger = discreet.Ledger(file.parent / "budget.db")
        people = discreet.read_dataset("people", file)
        ledger.open(people, epsilon=10**6)
        ledger.open(people, analyst="team", epsilon=10**5)
        return file

    def batch(self) -> discreet.Batch:
        """Return a batch of two questions."""
        empty = discreet.Batch()
        one = empty.add("c", discreet.mode, self.csv, "c", candidates=["tea", "coffee"], epsilon=1)
        return one.add("n", discreet.median, [1, 2, NUMBER], candidates=Grid(0, 9), epsilon=1)


AGE = {"type": "integer", "minimum": 0, "maximum": 120}


def described() -> discreet.Dataset:
    """Return the rows with a description."""
    columns: dict[str, Any] = {"n": AGE, "c": {"type": "string", "enum": ["tea", "coffee"]}}
    return discreet.Dataset(world().csv, columns, privacy_unit="who", name="people")


def _rows_described() -> discreet.Dataset:
    """Return the rows with a description, each of them a record."""
    columns: dict[str, Any] = {"n": AGE, "c": {"type": "string", "enum": ["tea", "coffee"]}}
    return discreet.Dataset(world().csv, columns, name="people")


def _bounded() -> discreet.Dataset:
    """Return the rows with a description, and a bound on those of a person."""
    columns: dict[str, Any] = {"n": AGE, "c": {"type": "string", "enum": ["tea", "coffee"]}}
    return discreet.Dataset(world().csv, columns, privacy_unit="who", max_contributions=2)


def world() -> World:
    """Return the world of this process."""
    return _world(__import__("os").getpid())


def forget_world() -> None:
    """Let the next example make a world anew."""
    _world.cache_clear()


@cache
def _world(_process: int) -> World:
    return World()


PURE: Any = discreet.privacy.PureDP
ZCDP: Any = discreet.privacy.ZCDP
SCORES = (0, 3, NUMBER)
GRID = Grid(0, 120)


def run(data: Any, candidate: Any, share: Any) -> tuple[Any, Any]:
    """Try a candidate for `private_candidates`."""
    return sum(1 for value in islice(data, 99) if value == candidate), "result"


def u(data: Any, candidates: Any) -> list[int]:
    """Score candidates for `select_by`."""
    return [sum(1 for value in islice(data, 99) if value == candidate) for candidate in candidates]


def _over_tables(*rest: Any, **named: Any) -> list[Callable[[], Arguments]]:
    """Return the same call for each engine."""
    return [lambda i=i: call(world().tables[i](), *rest, **named) for i in range(7)]  # type: ignore[misc]


def _paid(**named: Any) -> dict[str, Any]:
    return {"epsilon": 1, "ledger": world().session(), **named}


_STATEMENT = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) MODE(c), COUNT(*) FROM people WHERE n > 1"
_NUMBERS: list[Callable[[], Arguments]] = [
    lambda: call([1, 2, NUMBER], candidates=GRID, epsilon=1),
    lambda: call(pd.Series([1.5, 2, NUMBER]), candidates=[0, 1, 2], epsilon=1),
    lambda: call(world().csv, "n", candidates=GRID, **_paid(request="monday")),
]
_PERSONS: dict[str, Any] = {"privacy_unit": "who", "by": "g", "groups": ["x", "y"], "epsilon": 1}
_DECLARED: dict[str, Any] = {"sensitivity": 1, "epsilon": 1}

EXAMPLES: dict[str, list[Callable[[], Arguments]]] = {
    "scan_csv": [lambda: call(world().csv), lambda: call(world().csv, delimiter=",", names=["c", "n", "who", "g"])],
    "scan_query": [lambda: call("SELECT 1 AS c", duckdb.connect())],
    "select": [
        lambda: call([*SCORES], **_DECLARED), lambda: call({"a": 1, "b": NUMBER}, **_DECLARED),
        lambda: call(pd.Series([1, NUMBER], index=["a", "b"]), sensitivity=1, monotonic=True, **_paid()),
        lambda: call([*SCORES], spread=1, candidates=["a", "b", "c"], mechanism="noisy_max", rho=1, size=3),
    ],
    "select_by": [
        lambda: call(u, ["a", TEXT], ["a", "b"], **_DECLARED),
        lambda: call(u, ["a", TEXT], ["a", "b"], sensitivity=1, granularity=1, **_paid()),
    ],
    "selector": [
        lambda: call(3, **_DECLARED),
        lambda: call(["a", "b"], sensitivity=1, monotonic=True, epsilon=1, ledger=world().session()),
    ],
    "select_rows": [
        lambda: call([[*SCORES], [*SCORES]], **_DECLARED),
        lambda: call([[0, 1], [NUMBER, 1]], sensitivity=1, candidates=["a", "b"], mask=[True, False], **_paid()),
        lambda: call([[0, 1]], spread=1, epsilon_per_row=1, disjoint=True, log_base_measure=[[0, 1]]),
    ],
    "Dataset": [
        lambda: call(world().csv, columns={"n": AGE}, privacy_unit="who", max_contributions=2, name="people"),
    ],
    "Dataset.from_table_schema": [lambda: call(world().csv, {"fields": [{"name": "n", "type": "integer"}]}, name="x")],
    "Dataset.from_smartnoise": [
        lambda: call(world().csv, {"columns": {"n": {"type": "int", "lower": 0, "upper": 9}}}, name="x"),
    ],
    "read_dataset": [lambda: call("people", world().toml)],
    "mode": [
        lambda: call(described(), "c", epsilon=1),
        *_over_tables("c", candidates=["tea", "coffee"], epsilon=1),
        *_over_tables("c", candidates=["tea", "coffee"], **_PERSONS),
        lambda: call(world().csv, "c", candidates=discreet.CandidateTable(world().candidates, "c"), **_paid()),
        lambda: call(world().csv, "c", unsafe_candidates_from_data=True, epsilon=1),
    ],
    "select_top_k": [
        lambda: call([*SCORES], k=2, **_DECLARED), lambda: call([*SCORES], k=2, method="joint", **_DECLARED),
    ],
    "top_k": [
        *_over_tables("c", k=1, candidates=["tea", "coffee"], epsilon=1),
    ],
    "count": [
        lambda: call(described(), epsilon=1), *_over_tables("c", epsilon=1), *_over_tables("c", **_PERSONS),
        lambda: call(world().csv, **_paid()), *_over_tables("c", by="c", groups=["tea"], minimum_count=3, epsilon=1),
    ],
    "counts": [
        lambda: call(described(), "c", by="c", epsilon=1),
        *_over_tables("c", candidates=["tea", "coffee"], epsilon=1),
        *_over_tables("c", candidates=["tea", "coffee"], max_candidates=1, **_PERSONS),
    ],
    "keys": [
        lambda: call(described(), "c", delta="1e-6", epsilon=1), *_over_tables("c", delta="1e-6", epsilon=1),
        *_over_tables("c", delta="1e-6", minimum_count=3, most=5, other="1/10", max_groups=2, epsilon=1, privacy_unit="who"),
    ],
    "quote": [lambda: call(discreet.median, [1, NUMBER], candidates=GRID, epsilon=1)],
    "plan_keys": [
        lambda: call(1, "1e-6"), lambda: call("1/2", 0.001, max_groups=3, minimum_count=4, neighbors="replace_one"),
    ],
    "sum": [
        lambda: call(described(), "n", epsilon=1), lambda: call([1, 2, NUMBER], minimum=0, maximum=10, **_paid()),
        *_over_tables("n", minimum=0, maximum="10", step="0.5", max_contributions=2, **_PERSONS),
    ],
    "mean": [
        lambda: call(described(), "n", epsilon=1), lambda: call({1: 2, NUMBER: 5}, minimum=0, maximum=10, epsilon=1),
        *_over_tables("n", minimum=0, maximum=10, epsilon=1),
    ],
    "count_distinct": [
        lambda: call(described(), "c", epsilon=1), lambda: call(["a", "b"], **_paid()),
        *_over_tables("c", max_groups=2, epsilon=1, privacy_unit="who"),
    ],
    "variance": [
        lambda: call(described(), "n", epsilon=1), lambda: call({1: 2, NUMBER: 5}, minimum=0, maximum=10, epsilon=1),
        *_over_tables("n", minimum=0, maximum=10, epsilon=1),
    ],
    "standard_deviation": [lambda: call([1, 2, NUMBER], minimum=0, maximum=10, step="0.5", **_paid())],
    "median": [
        lambda: call(described(), "n", by="c", epsilon=1),
        *_NUMBERS, *_over_tables("n", candidates=GRID, epsilon=1),
        *_over_tables("n", candidates=GRID, max_contributions=2, **_PERSONS),
        lambda: call([1, 2, NUMBER], candidates=GRID, score="median_distance", epsilon=1),
    ],
    "quantile": [
        lambda: call([1, 2, NUMBER], alpha="1/3", candidates=GRID, epsilon=1),
        lambda: call({1: 2, NUMBER: 5}, alpha="1/3", candidates=GRID, **_paid()),
        *_over_tables("n", alpha="0.9", candidates=GRID, epsilon=1),
    ],
    "minimum": _NUMBERS, "maximum": _NUMBERS,
    "quantiles": [
        lambda: call([1, 2, NUMBER], alphas=["1/4", "1/2"], candidates=GRID, epsilon=1),
        *_over_tables("n", alphas=[0.5], candidates=GRID, method="joint", epsilon=1),
        lambda: call(world().csv, "n", alphas=[0.5], candidates=GRID, method="independent", **_paid()),
    ],
    "bounds": [
        lambda: call([1, 2, NUMBER], epsilon=1), lambda: call({1: 2, NUMBER: 5}, q="0.9", **_paid()),
        *_over_tables("n", candidates=discreet.Decimals(1), epsilon=1),
    ],
    "best_price": [
        lambda: call([1, 2, NUMBER], candidates=Grid(0, 10, "0.1"), supply=2, epsilon=1),
        lambda: call([1, 2, NUMBER], candidates=Grid(0, 10, "0.1"), continuous=True, units=2, **_paid()),
        *_over_tables("n", candidates=Grid(0, 10), epsilon=1),
    ],
    "select_generalized": [
        lambda: call([*SCORES], [1, 1, 2], epsilon=1),
        lambda: call({"a": 1, "b": NUMBER}, [1, 2], beta="0.1", **_paid()),
    ],
    "laplace": [
        lambda: call(NUMBER, **_DECLARED), lambda: call(NUMBER, step="0.5", lo=0, hi=10, **_DECLARED),
    ],
    "check": [
        lambda: call(_bounded(), "n", epsilon=1),
        lambda: call(_rows_described(), ["n", "c"], **_paid(request="monday")),
        lambda: call(described(), max_contributions=2, neighbors="replace_one", epsilon=1),
    ],
    "sql": [
        lambda: call(_rows_described(), _STATEMENT),
        lambda: call(
            _rows_described(), _STATEMENT, neighbors="add_remove", ledger=world().session(), request="monday"
        ),
    ],
    "profile": [
        lambda: call(world().csv, epsilon=1, delta="1e-6"),
        lambda: call(world().csv, columns=["n", "c"], numbers=["n", "c"], **_paid()),
    ],
    "geometric": [lambda: call(NUMBER, sensitivity=1, **_paid())],
    "randomized_response": [lambda: call(TEXT, ["a", "b"], epsilon=1)],
    "private_candidates": [lambda: call(run, ["a", TEXT], ["a", "b"], epsilon=1, gamma="0.5")],
    "distribution": [
        lambda: call([*SCORES], **_DECLARED), lambda: call(discreet.median, [1, NUMBER], candidates=GRID, epsilon=1),
    ],
    "simulate": [
        lambda: call([*SCORES], size=5, **_DECLARED), lambda: call(discreet.median, [1, NUMBER], candidates=GRID, epsilon=1),
    ],
    "compare": [lambda: call([*SCORES], sensitivity=1, epsilons=[1], mechanisms=["exponential"])],
    "speed": [call],
    "worst_error": [lambda: call(10, spread=2, epsilon=1, confidence="0.9"), lambda: call(10, spread=2, epsilon=1)],
    "epsilon_for": [lambda: call(5, 10, spread=2, confidence="0.9"), lambda: call(5, 10, spread=2)],
    "best_eta": [lambda: call(1, 2)],
    "compose": [lambda: call(PURE(1, "add_remove"), ZCDP("1/2", "add_remove"))],
    "compose_parallel": [lambda: call(PURE(1, "add_remove"), ZCDP("1/2", "add_remove"))],
    "per_candidate": [lambda: call(lambda data, candidate: 1)],
    "report": [
        lambda: call(discreet.select([0, 1], **_DECLARED), world().folder / "a.html"),
        lambda: call(world().session()._payer and _opened(), world().folder / "a.html", dataset="people"),
    ],
    "to_opendp": [lambda: call(_space(), _measure(), scale=1)],
    "Grid": [lambda: call(0, 10, "0.5")],
    "DateGrid": [lambda: call("2020-01-31", "2021-01-31", "1 day")],
    "Decimals": [lambda: call(2)],
    "WithMissing": [lambda: call("n")],
    "Bins": [lambda: call("n", 0, 9, 3), lambda: call("n", edges=[0, "0.5", 9], closed=True, missing=True)],
    "Batch": [lambda: call()],
    "connect": [
        lambda: call(world().description), lambda: call(world().description, analyst="team"),
        lambda: call(datasets={"n": [1, NUMBER]}),
    ],
    "Ledger": [lambda: call(), lambda: call(world().folder / "new.db")],
    "CandidateTable": [lambda: call(world().candidates, "c")],
    "AboveThreshold": [lambda: call(3, 1, 1, count=2), lambda: call(3, sensitivity=1, **_paid())],
    "Base2": [lambda: call(), lambda: call(discreet.mechanisms.Base2Eta(1, 1), "1/2")],
    "Base2Eta": [lambda: call(1, 2, 3)],
    "Exponential": [lambda: call(), lambda: call([1, 2, 3])],
    "NoisyMax": [lambda: call("gumbel")],
    "PermuteAndFlip": [lambda: call()],
    "PureDP": [lambda: call(1, "add_remove")], "BoundedRange": [lambda: call(1, "add_remove")],
    "MixedRange": [lambda: call(1, "add_remove")], "LaplaceDP": [lambda: call(1, "add_remove")],
    "ZCDP": [lambda: call(1, "add_remove")], "ApproxDP": [lambda: call(1, "1e-6", "add_remove")],
    "NoGuarantee": [lambda: call("no reason", "add_remove")],
    "Composition": [lambda: call(((PURE(1, "add_remove"), 2),))],
    "LogisticDP": [lambda: call(1, "add_remove")],
    "SummedRange": [lambda: call(1, "add_remove")],
    "DiscreteGaussianDP": [lambda: call("9/2", 3, 2)],
    "ReplacedSumsDP": [lambda: call("9/2", 3, 1, 2, 3)],
    "GaussianDP": [lambda: call("1/2")],
    "GeometricDP": [lambda: call("1/2", 3)],
    "ResponseDP": [lambda: call("1/2", 3)],
    "SeveralDP": [lambda: call((PURE(1, "add_remove"), ZCDP("1/10", "add_remove")))],
    "ApproxRange": [lambda: call("1/3", 4, "1e-6")],
    "RenyiDP": [lambda: call({2: "0.1", 8: 1})],
    "LossDP": [lambda: call(_losses())],
    "LossDistribution.logistic": [lambda: call("1/2", "1/64")],
    "LossDistribution.laplace": [lambda: call("1/2", "1/64")],
    "LossDistribution.pure": [lambda: call("1/2", "1/64")],
    "LossDistribution.gaussian": [lambda: call("1/2", "1/64")],
    "Odometer": [lambda: call("add_remove", ((PURE(1, "add_remove"), 2),))],
    "audit.exact": [lambda: call([*SCORES], [1, 3, NUMBER], **_DECLARED)],
    "audit.laws": [lambda: call(["1/2", "1/2"], ["1/3", "2/3"], epsilon=1, delta="0.1")],
    "audit.mechanism": [lambda: call(_parity, [0, 1], range(2), epsilon=1, delta="0.1"),
                        lambda: call(sum, [0, 1], range(2), epsilon=1, draws=3)],
    "audit.repeat": [lambda: call(world().audit_record, _parity)],
    "audit.write_record": [lambda: call(_own_audit(), world().folder / "record.txt")],
    "audit.sampling": [lambda: call(lambda data: len(data) % 2, [1, NUMBER], [1], n=20)],
    "audit.samples": [lambda: call([1, 2, 1, 2], [1, 1, 1, 2], confidence="0.9")],
    "audit.sensitivity": [lambda: call(u, ["a", "b"], ["a", "b"], range(3), sensitivity=1, budget=50)],
    "audit.monotonic": [lambda: call(u, ["a", "b"], ["a", "b"], range(3), budget=50)],
    "adapters.exponential_mechanism": [
        lambda: call({"a": 1.0, "b": NUMBER}, 1.0, 2.0, {"a": 1, "b": 2}),
        lambda: call([1.0, NUMBER], 1.0, spread=1, monotonic=True, rounding="1e-9", ledger=world().session()),
    ],
    "audit.estimate_sensitivity": [lambda: call(u, ["a", "b"], lambda: "a", 3, samples=5)],
    "audit.timing": [lambda: call(len, [1], [1, 2], repeats=3)],
    "plots.scores": [lambda: call(_series())], "plots.law": [lambda: call(_series(), answer=1, draws=[0, 1])],
    "plots.laws": [lambda: call([_series(), _series()])], "plots.frequencies": [lambda: call(["a", "b", "a"])],
    "plots.counts": [lambda: call({"tea": 3, "milk": 1})],
    "plots.histograms": [lambda: call({"a": [1, 2, 3]}, bins=3)],
    "plots.lines": [lambda: call({"a": ([1, 2], [3, 4])}, x="x", y="y", at=1)],
    "plots.curve": [lambda: call({"a": ([1, 2], [3, 4])}, at=1)], "plots.budget": [lambda: call([(1, 2, 3), (2, 3, 3)])],
    "plots.losses": [lambda: call([0.5, -0.5], 1, labels=["a", "b"])],
    "testing.ScriptedBits": [lambda: call("0101", width=2)], "testing.SeededBits": [lambda: call(3)],
    "testing.bit_tree": [lambda: call(lambda bits: bits.word(), 3)],
    "testing.check_mechanism": [lambda: call("exponential", epsilon=1, depth=3)],
    "errors.preview": [lambda: call(1)],
}  # fmt: skip


def _losses() -> Any:
    return discreet.privacy.LossDistribution.pure("1/2", "1/64")


def _exactly(kind: Any, *numbers: Any) -> Any:
    return kind(*numbers)


def _opened() -> discreet.Ledger:
    ledger = discreet.Ledger()
    ledger.open("people", epsilon=1)
    ledger.open("people", analyst="team", epsilon="1/2")
    ledger.open(_kept(), epsilon=1)
    ledger.open(_rest(), epsilon=1)
    return ledger


def _token() -> str:
    return discreet.connect(world().description).create_token("owner").kept.id


def _kept() -> discreet.Dataset:
    return discreet.Dataset(world().csv, {"n": AGE}, name="kept")


def _rest() -> discreet.Dataset:
    return discreet.Dataset([{"n": 1}], {"n": AGE}, name="rest")


def _series() -> plots.Series:
    return discreet.distribution([0, 1, 2], **_DECLARED).series()


def _space() -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib", "honest-but-curious")
    return dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)


def _measure() -> Any:
    import opendp.prelude as dp

    return dp.max_divergence()


def _law() -> Distribution:
    return discreet.distribution([*SCORES], **_DECLARED)


def _past_release() -> PastRelease:
    team = discreet.connect(world().description, analyst="team")
    team.ask("middle", request="r")
    return team.releases()[0]


INSTANCES: dict[str, Callable[[], Any]] = {
    "PureDP": lambda: PURE(1, "add_remove"),
    "BoundedRange": lambda: _exactly(discreet.privacy.BoundedRange, "1/2", "add_remove"),
    "MixedRange": lambda: _exactly(discreet.privacy.MixedRange, 1, "add_remove"),
    "LaplaceDP": lambda: _exactly(discreet.privacy.LaplaceDP, 1, "add_remove"),
    "ZCDP": lambda: ZCDP("1/2", "add_remove"),
    "ApproxDP": lambda: _exactly(discreet.privacy.ApproxDP, 1, "1e-6", "add_remove"),
    "NoGuarantee": lambda: discreet.privacy.NoGuarantee("no reason", "add_remove"),
    "Composition": lambda: discreet.compose(PURE(1, "add_remove"), ZCDP(1, "add_remove")),
    "LogisticDP": lambda: _exactly(discreet.privacy.LogisticDP, 1, "add_remove"),
    "SummedRange": lambda: _exactly(discreet.privacy.SummedRange, 1, "add_remove"),
    "DiscreteGaussianDP": lambda: _exactly(discreet.privacy.DiscreteGaussianDP, "9/2", 3),
    "ReplacedSumsDP": lambda: _exactly(discreet.privacy.ReplacedSumsDP, "9/2", 3, 0, 2, 3),
    "GaussianDP": lambda: _exactly(discreet.privacy.GaussianDP, 1),
    "GeometricDP": lambda: _exactly(discreet.privacy.GeometricDP, 1, 3),
    "ResponseDP": lambda: _exactly(discreet.privacy.ResponseDP, 1, 3),
    "SeveralDP": lambda: _exactly(discreet.privacy.SeveralDP, (PURE(1, "add_remove"), ZCDP(1, "add_remove"))),
    "ApproxRange": lambda: _exactly(discreet.privacy.ApproxRange, "1/3", 4, "1e-6"),
    "RenyiDP": lambda: _exactly(discreet.privacy.RenyiDP, {2: "0.1", 8: 1}),
    "LossDP": lambda: _exactly(discreet.privacy.LossDP, _losses()),
    "LossDistribution": lambda: _losses(),
    "Odometer": lambda: discreet.privacy.Odometer("add_remove", ((PURE(1, "add_remove"), 2),)),
    "Dataset": described,
    "Grid": lambda: Grid(0, 10, "0.5"), "DateGrid": lambda: discreet.DateGrid("2020-01-31", "2021-01-31"),
    "Decimals": lambda: discreet.Decimals(2), "Bins": lambda: discreet.Bins("n", 0, 9, 3),
    "WithMissing": lambda: discreet.WithMissing("n"),
    "Base2Eta": lambda: discreet.mechanisms.Base2Eta(1, 2),
    "Batch": lambda: world().batch(), "Ledger": _opened,
    "Session": lambda: world().session(), "CandidateTable": lambda: discreet.CandidateTable(world().candidates, "c"),
    "AboveThreshold": lambda: discreet.AboveThreshold(3, sensitivity=1, epsilon=1, count=9),
    "Distribution": _law, "Grid distribution": lambda: discreet.distribution(discreet.median, [1, NUMBER], candidates=GRID, epsilon=1),
    "Comparison": lambda: discreet.compare([*SCORES], sensitivity=1, epsilons=[1], mechanisms=["exponential"]),
    "Enclosure": lambda: _law().entropy(), "Simulation": lambda: discreet.simulate([*SCORES], size=5, **_DECLARED),
    "Release": lambda: discreet.counts([0, 1], candidates=[0, 1], epsilon=1),
    "Selector": lambda: discreet.selector(3, **_DECLARED),
    "Quote": lambda: world().session().quote(discreet.select, [*SCORES], **_DECLARED),
    "ErrorBound": lambda: world().session().quote(discreet.select, [*SCORES], **_DECLARED).worst_error,
    "Budget": lambda: _opened().budgets()[0],
    "Connection": lambda: discreet.connect(world().description),
    "Connection in hand": lambda: world().node(),
    "Connection in hand of an analyst": lambda: world().node().for_analyst("team"),
    "PastRelease": _past_release,
    "AllowedQuestion": lambda: world().node().for_analyst("team").questions()[0],
    "Charge": lambda: world().session().charge(PURE(1, "add_remove"), description="a mean", request="r"),
    "audit.Interval": lambda: audit.exact([0, 1], [1, 1], **_DECLARED).epsilon,
    "audit.ExactAudit": lambda: audit.exact([0, 1], [1, 1], **_DECLARED),
    "audit.SamplingAudit": lambda: audit.samples([1, 2, 1, 2], [1, 1, 1, 2]),
    "audit.MechanismAudit": lambda: _own_audit(),
    "audit.SensitivityAudit": lambda: audit.sensitivity(u, ["a"], ["a"], range(2), sensitivity=1),
    "audit.MonotonicAudit": lambda: audit.monotonic(u, ["a"], ["a"], range(2)),
    "audit.SensitivityEstimate": lambda: audit.estimate_sensitivity(u, ["a"], lambda: "a", 2, samples=3),
    "audit.TimingAudit": lambda: audit.timing(len, [1], [1, 2], repeats=2),
    "testing.ScriptedBits": lambda: testing.ScriptedBits("0101"), "testing.SeededBits": testing.SeededBits,
}  # fmt: skip

BY_NAME: dict[str, Callable[[], Any]] = {
    "guarantee": lambda: PURE(1, "add_remove"),
    "order": lambda: 2, "step": lambda: "1/32",
    "delta": lambda: "1e-6", "epsilon": lambda: 1, "rho": lambda: None, "n": lambda: 2, "size": lambda: 2,
    "neighbors": lambda: "replace_one", "error": lambda: 1, "value": lambda: 1, "p": lambda: "1/2", "index": lambda: 1,
    "rank": lambda: 1, "candidate": lambda: 1, "confidence": lambda: "0.9", "dataset": lambda: "people",
    "analyst": lambda: "team", "path": lambda: world().folder / "events.json", "head": lambda: None, "spread": lambda: 1,
    "name": lambda: "n", "access": lambda: "middle", "data": lambda: [1, NUMBER], "verb": lambda: discreet.median,
    "errors": lambda: {"c": 5, "n": 5}, "weights": lambda: {"c": 2}, "ledger": lambda: None, "answer": lambda: 1,
    "draws": lambda: None, "label": lambda: "x", "adaptive": lambda: True, "request": lambda: None,
    "privacy_unit": lambda: None, "key": lambda: 1, "other": lambda: _losses(),
}  # fmt: skip
"""A valid argument for a parameter of that name, of any method."""

METHODS: dict[str, Callable[[], Arguments]] = {
    "Batch.add": lambda: call("new", discreet.median, [1, NUMBER], candidates=GRID, epsilon=1),
    "Connection.allow": lambda: call("people", "high", discreet.maximum, candidates=GRID, epsilon=1),
    "Session.quote": lambda: call(discreet.median, [1, NUMBER], candidates=GRID, epsilon=1),
    "Session.charge": lambda: call(PURE(1, "add_remove"), description="a mean", request="r"),
    "Connection.limit": lambda: call("middle", requests=5), "Connection.for_analyst": lambda: call("team"),
    "Ledger.describe": lambda: call(_kept()), "Ledger.renew": lambda: call(_kept(), "2027", epsilon=1),
    "Ledger.budgets_of": lambda: call("people"), "Ledger.open": lambda: call("new", epsilon=1), "Ledger.extend": lambda: call("people", epsilon=2),
    "Ledger.shrink": lambda: call("people", analyst="team"), "Ledger.merge": lambda: call(_rest(), into=_kept()),
    "Composition.bounds": lambda: call("1e-6"), "Batch.split": lambda: call(epsilon=1, weights={"c": 2}),
    "AboveThreshold.ask": lambda: call(NUMBER),
    "Connection.ask": lambda: call("middle"), "Connection.quote": lambda: call("middle"),
    "Connection.ask_free": lambda: call("median", "people", "n", epsilon=1, max_cost=2),
    "Connection.quote_free": lambda: call("median", "people", "n", epsilon=1),
    **{
        f"Connection.{verb}": lambda: call("people", "n", epsilon=1)
        for verb, facts in verb_table.VERBS.items()
        if not facts.needs
    },
    "Decimals.are_near": lambda: call(__import__("numpy").array([1.5, 2.0])),
    "Decimals.cells_of": lambda: call(__import__("numpy").array([1.5, 2.0])),
    "Connection.keys": lambda: call("people", "c", epsilon=1, delta="1e-6"),
    "Connection.sql": lambda: call(_STATEMENT),
    "DateGrid.in_numbers": lambda: call("us"),
    "Connection.top_k": lambda: call("people", "n", k=2, epsilon=1),
    "Connection.quantile": lambda: call("people", "n", alpha="1/2", epsilon=1),
    "Connection.quantiles": lambda: call("people", "n", alphas=["1/4", "3/4"], epsilon=1),
    "Connection.open_budget": lambda: call("people", analyst="team", epsilon=10**5),
    "Connection.revoke_token": lambda: call(_token()),
    "Connection.extend_budget": lambda: call("people", epsilon=10**7),
    "Connection in hand.open_budget": lambda: call("people", analyst="team", epsilon=10),
    "Connection.reopen": lambda: call("people"),
    "Connection in hand.reopen": lambda: call("people"),
    "Connection.renew_budget": lambda: call("people", "2027"),
    "Connection.simulate": lambda: call("middle", size=2),
    "Connection.call": lambda: call(QUESTIONS),
    "Connection.create_token": lambda: call("analyst", analyst="team"),
}  # fmt: skip
"""Where names are not enough."""

PROTOCOL = {
    "bought",
    "buy",
    "ceiling",
    "nearest",
    "of",
    "quoted",
    "renyi",
    "calibrate",
    "charged",
    "cost",
    "fits",
    "extended",
    "with_total",
    "word",
    "words",
}
"""Methods between parts of the library: they take its own objects, no arguments of people."""

_DUNDERS = (
    "__getitem__",
    "__contains__",
    "__len__",
    "__str__",
    "__repr__",
    "__float__",
    "__hash__",
)


VERBS = [
    name for name in EXAMPLES if name.islower() and callable(getattr(discreet.Session, name, None))
]
"""What a session pays for."""


@dataclass(frozen=True)
class Target:
    """Something public that can be called."""

    name: str
    function: Callable[[], Callable[..., Any]]
    examples: list[Callable[[], Arguments]]


def targets() -> list[Target]:
    """Return everything public that can be called, in a fixed order."""
    functions = [Target(name, lambda name=name: _named(name), EXAMPLES[name]) for name in EXAMPLES]  # type: ignore[misc]
    verbs = [Target(f"Session.{name}", partial(_verb, name), EXAMPLES[name]) for name in VERBS]
    return functions + verbs + [m for name in INSTANCES for m in _methods(name)]


def _verb(name: str) -> Any:
    return getattr(world().session(), name)


def _named(name: str) -> Any:
    place, _, last = name.rpartition(".")
    if not place:
        return public(name)
    modules = {
        "adapters": adapters,
        "audit": audit,
        "plots": plots,
        "testing": testing,
        "errors": errors,
    }
    return getattr(modules.get(place) or public(place), last)


def _methods(name: str) -> list[Target]:
    """Return the methods of an instance that people call."""
    import inspect

    kind = type(INSTANCES[name]())
    found = []
    for method in sorted(dir(kind)):
        value = inspect.getattr_static(kind, method)
        public = method in _DUNDERS or not method.startswith("_")
        ours = method not in PROTOCOL and not (name == "Session" and method in EXAMPLES)
        if not (
            public and ours and callable(getattr(kind, method, None)) and inspect.isfunction(value)
        ):
            continue
        bound: Callable[[], Any] = lambda method=method: getattr(INSTANCES[name](), method)  # type: ignore[misc]  # noqa: E731
        by_kind = METHODS.get(f"{kind.__name__}.{method}", partial(_by_name, value))
        example = METHODS.get(f"{name}.{method}", by_kind)
        found.append(Target(f"{name}.{method}", bound, [example]))
    return found


def _by_name(method: Any) -> Arguments:
    """Return arguments for the parameters of a method that need one."""
    import inspect

    parameters = list(inspect.signature(method).parameters.values())[1:]
    needed = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    return [BY_NAME.get(p.name, lambda: 1)() for p in needed], {}
