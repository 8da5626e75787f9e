"""Candidates too many to list: the same law as listing them, from every engine that keeps them."""

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from flint import arb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet
from discreet import CandidateTable
from discreet.cli import run
from discreet.errors import (
    DiscreetError,
    InvalidArgument,
    InvalidCandidates,
    InvalidNumber,
    MissingColumn,
    RequestConflict,
    UnreadableFile,
)
from discreet.mechanisms import Exponential, Mechanism, PermuteAndFlip
from discreet.mechanisms.contract import PrivacyParameter
from discreet.mechanisms.peeling import Peeling
from discreet.mechanisms.peeling.rounds import RunRounds
from discreet.mechanisms.permute_and_flip.run_race import RunRace
from discreet.mechanisms.testing import bit_tree
from discreet.privacy.sensitivity import sensitivity_of
from discreet.sampling.bits import Bits
from discreet.sampling.enclosures import NaturalRate, precision
from discreet.sampling.runs import RunLaw, Runs
from discreet.sampling.vectors import Vector, read_vector
from discreet.tables.engines.in_duckdb import InDuckDB
from discreet.tables.engines.in_spark import InSpark
from discreet.tables.engines.records import Records

from ...columns import recorded
from ...engines import spark

Both = Callable[[pa.Table, pa.Table, Path], tuple[Any, Any]]
"""Data and candidates, where an engine has them."""


def in_parquet(data: pa.Table, candidates: pa.Table, folder: Path) -> tuple[Any, Any]:
    pq.write_table(data, folder / "data.parquet")
    pq.write_table(candidates, folder / "candidates.parquet")
    return folder / "data.parquet", folder / "candidates.parquet"


def in_csv(data: pa.Table, candidates: pa.Table, folder: Path) -> tuple[Any, Any]:
    from ...engines import to_csv

    (folder / "more").mkdir(exist_ok=True)
    return to_csv(data, folder), to_csv(candidates, folder / "more")


def in_duckdb(data: pa.Table, candidates: pa.Table, folder: Path) -> tuple[Any, Any]:
    connection = duckdb.connect()
    return connection.from_arrow(data), connection.from_arrow(candidates)


def in_spark(data: pa.Table, candidates: pa.Table, folder: Path) -> tuple[Any, Any]:
    paths = in_parquet(data, candidates, folder)
    session = spark()
    # Of several partitions, as those that move between executors are what may go wrong.
    first, second = (session.read.parquet(str(path)).repartition(3) for path in paths)
    return first, second


def in_polars(data: pa.Table, candidates: pa.Table, folder: Path) -> tuple[Any, Any]:
    first: Any = pl.from_arrow(data)
    second: Any = pl.from_arrow(candidates)
    return first.lazy(), second


TYPED: dict[str, Both] = {
    "parquet": in_parquet,
    "duckdb": in_duckdb,
    "polars": in_polars,
    "spark": in_spark,
}
ENGINES: dict[str, Both] = {**TYPED, "csv": in_csv}


def asked(engines: Iterable[str]) -> list[Any]:
    """The engines; Spark, which takes seconds for each question, in `make proofs`."""
    return [
        pytest.param(engine, marks=pytest.mark.proof) if engine == "spark" else engine
        for engine in engines
    ]


def texts(*columns: Sequence[Any], names: Sequence[str] = ("url",)) -> pa.Table:
    arrays = [pa.array(column, pa.string()) for column in columns]
    return pa.table(dict(zip(names, arrays, strict=True)))


ROWS = Records()


def held(data: Any, ranking: Any, records: Records = ROWS) -> list[dict[Any, int]]:
    """The count of each candidate as the classes tell it, for each group: each one exactly once."""
    told = []
    for group in recorded(data, "url", records).classes(ranking.ranking):
        counts, sizes = group.counts_and_sizes()
        assert list(counts) == sorted(set(counts), reverse=True)
        assert min(sizes) > 0
        places = [
            (int(count), nth)
            for count, size in zip(counts, sizes, strict=True)
            for nth in range(size)
        ]
        ranks = group.ranks(places)
        assert sorted(ranks) == list(range(len(ranking)))
        told.append({ranking[rank]: count for rank, (count, _) in zip(ranks, places, strict=True)})
    return told


URLS = ["a", "b", "A", "é", "e\u0301", "0", "00", " ", "zebra", "日本", "q'; --", "\U0001f600"]


@pytest.mark.parametrize("engine", asked(ENGINES))
def test_counts_are_those_of_the_list(engine: str, tmp_path: Path) -> None:
    rows = (
        ["a"] * 5 + ["é"] * 3 + ["e\u0301"] + ["b"] * 3 + ["unknown", None, "\U0001f600", "q'; --"]
    )
    if engine == "csv":
        rows.remove(None)  # would be written as an empty line
    data, candidates = ENGINES[engine](texts(rows), texts(URLS), tmp_path)
    table = CandidateTable(candidates, "url")
    counter = Counter(rows)
    assert held(data, table) == [{url: counter[url] for url in URLS}]
    assert {table[i] for i in range(len(table))} == set(URLS)


@pytest.mark.parametrize("engine", asked(TYPED))
@pytest.mark.parametrize("by", [False, True], ids=["", "by group"])
@pytest.mark.parametrize("unit", [False, True], ids=["rows", "persons"])
@pytest.mark.one_in(3)
def test_groups_and_persons_are_those_of_the_list(
    engine: str, by: bool, unit: bool, tmp_path: Path
) -> None:
    generator = np.random.default_rng(7)
    rows = [
        (
            generator.choice(["a", "b", "c", "zz"]),
            generator.choice(np.array(["ann", "bob", "eve", None])),
            generator.choice(["n", "s", "x"]),
        )
        for _ in range(60)
    ]
    columns = list(zip(*rows, strict=True))
    data, candidates = TYPED[engine](
        texts(*columns, names=["url", "who", "where"]), texts(["a", "b", "c", "d"]), tmp_path
    )
    records = Records(
        "who" if unit else None, None, "where" if by else None, ("n", "s") if by else (), 1
    )
    told = held(data, CandidateTable(candidates, "url"), records)
    listed = recorded(data, "url", records).tally(["a", "b", "c", "d"])
    assert [[part[c] for c in "abcd"] for part in told] == listed
    assert sum(map(sum, listed)) > 5


COLUMNS: dict[str, tuple[pa.DataType, pa.DataType, list[Any]]] = {
    "integers": (pa.int64(), pa.int64(), [-(2**63), -1, 0, 7, 2**63 - 1]),
    "wider data": (pa.int64(), pa.int16(), [-(2**15), -1, 0, 2**15 - 1]),
    "wider candidates": (pa.int16(), pa.int64(), [-(2**63), -1, 0, 2**15 - 1]),
    "unsigned data": (pa.uint64(), pa.int64(), [-1, 0, 1, 2**63 - 1]),
    "unsigned candidates": (pa.int64(), pa.uint64(), [0, 1, 2**63, 2**64 - 1]),
    "decimals": (pa.decimal128(20, 2), pa.decimal128(20, 2), [Decimal("0.10"), Decimal("1.00")]),
    "dates": (pa.date32(), pa.date32(), [dt.date(1, 1, 1), dt.date(2026, 11, 21)]),
    "moments": (pa.timestamp("us"), pa.timestamp("us"), [dt.datetime(2026, 11, 21, 8, 0, 0, 1)]),
}


@pytest.mark.parametrize("engine", asked(TYPED))
@pytest.mark.parametrize("types", COLUMNS)
@pytest.mark.one_in(5)
def test_values_of_every_type_are_compared_exactly(engine: str, types: str, tmp_path: Path) -> None:
    of, wanted, candidates = COLUMNS[types]
    if engine == "spark" and "unsigned" in types:
        pytest.skip("Spark has no such type")
    rows = [c for c in candidates if fits(c, of) for _ in range(2)]
    data, table = TYPED[engine](
        pa.table({"url": pa.array([*rows, None], of)}),
        pa.table({"url": pa.array(candidates, wanted)}),
        tmp_path,
    )
    assert rows
    assert held(data, CandidateTable(table, "url")) == [{c: rows.count(c) for c in candidates}]


def fits(value: Any, of: pa.DataType) -> bool:
    try:
        pa.array([value], of)
    except (pa.ArrowInvalid, OverflowError):
        return False
    return True


def test_uuids() -> None:
    uuids = [UUID(int=i) for i in (0, 5, 2**127, 2**128 - 1)]
    connection = duckdb.connect()
    listed = ", ".join(f"('{u}'::UUID)" for u in uuids)
    candidates = connection.sql(f"SELECT * FROM (VALUES {listed}) t(url)")
    data = connection.sql(f"SELECT '{uuids[2]}'::UUID AS url FROM range(3)")
    assert held(data, CandidateTable(candidates, "url"))[0][uuids[2]] == 3


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    candidates=st.lists(st.integers(-20, 40), min_size=1, max_size=30, unique=True),
    rows=st.lists(st.integers(-25, 45), max_size=60),
)
def test_any_counts(candidates: list[int], rows: list[int]) -> None:
    connection = duckdb.connect()
    data = connection.from_arrow(pa.table({"url": pa.array(rows, pa.int32())}))
    public = connection.from_arrow(pa.table({"url": pa.array(candidates, pa.int64())}))
    assert held(data, CandidateTable(public, "url")) == [{c: rows.count(c) for c in candidates}]


def test_settings_of_the_users_connection_change_nothing() -> None:
    plain, other = duckdb.connect(), duckdb.connect()
    other.sql("SET default_order = 'DESC'")
    other.sql("SET default_null_order = 'NULLS_FIRST'")
    other.sql("SET default_collation = 'NOCASE'")
    tables = list[CandidateTable]()
    for connection in (plain, other):
        data = connection.sql("SELECT unnest(['c', 'e', 'e', 'A', 'x']) AS url")
        public = connection.sql("SELECT unnest(['a', 'b', 'c', 'd', 'e', 'f', 'A']) AS url")
        tables.append(CandidateTable(public, "url"))
        counts = dict.fromkeys("bdaf", 0) | {"c": 1, "e": 2, "A": 1}
        assert held(data, tables[-1]) == [counts]
    first, second = tables
    assert first.description == second.description
    assert [first[i] for i in range(7)] == [second[i] for i in range(7)] == list("Aabcdef")


# --- the law


def located(tops: list[int], sizes: list[int], ranks: list[list[int]]) -> Runs:
    """Flat runs whose candidates are anywhere."""
    return Runs(
        np.zeros(len(tops)),
        np.array(sizes),
        read_vector(tops),
        locate=lambda places: [ranks[c][nth] for c, nth in places],
    )


@pytest.mark.parametrize("law", [RunLaw, RunRace])
def test_laws_draw_the_candidate_that_is_located(law: Any) -> None:
    ranks = [[4], [1, 3, 0], [2, 5]]
    runs = located([3, 1, 0], [1, 3, 2], ranks)
    side_by_side = Runs([0, 1, 4], [1, 3, 2], read_vector([3, 1, 0]))
    rate = NaturalRate(Fraction(1, 2))
    found = bit_tree(law(runs, rate).draw, 10)
    plain = bit_tree(law(side_by_side, rate).draw, 10)
    order = [rank for some in ranks for rank in some]
    assert set(plain.masses) == set(range(6))
    assert found.masses == {order[int(str(i))]: mass for i, mass in plain.masses.items()}


@pytest.mark.parametrize("mechanism", [Exponential(), PermuteAndFlip()])
@pytest.mark.one_in(2)
def test_peeling_of_runs_is_peeling_of_their_list(mechanism: Mechanism) -> None:
    ranks, tops, sizes = [[3], [1, 2, 0]], [2, 0], [1, 3]
    calibrated = Peeling(mechanism, 2).calibrate(
        sensitivity_of(1, "add_remove", monotonic=True), PrivacyParameter("epsilon", Fraction(2))
    )
    in_runs: Any = calibrated.law(located(tops, sizes, ranks))
    assert isinstance(in_runs, RunRounds)
    tree = bit_tree(lambda bits: tuple(in_runs.draw(bits)), 12)
    scores = [0, 0, 0, 2]
    for first, second in permutations(range(4), 2):
        rest = [i for i in range(4) if i != first]
        with precision(80):
            once = chance(mechanism, scores)[first]
            again = chance(mechanism, [scores[i] for i in rest])[rest.index(second)]
            assert tree.admits((first, second), once * again)
    assert len(tree.masses) >= 6
    assert all(len(set(some)) == 2 for some in in_runs.draws(40, discreet.testing.SeededBits(5)))


def test_runs_with_summaries_are_peeled_in_full() -> None:
    whole = Runs([0, 1, 2, 3], [1, 1, 1, 1], read_vector([0, 5, 0, 0]))
    short = Runs(
        [0, 1, 2],
        [1, 1, 2],
        read_vector([0, 5, 4]),
        summaries=np.array([False, False, True]),
        whole=lambda: whole,
    )
    calibrated = Peeling(Exponential(), 2).calibrate(
        sensitivity_of(1, "add_remove"), PrivacyParameter("epsilon", Fraction(1))
    )

    def drawn(runs: Runs, bits: Bits) -> tuple[int, ...]:
        rounds: Any = calibrated.law(runs)
        return tuple(rounds.draw(bits))

    tree, whole_tree = (bit_tree(partial(drawn, runs), 8) for runs in (short, whole))
    assert tree.masses == whole_tree.masses


def chance(mechanism: Mechanism, scores: list[int]) -> list[arb]:
    parameter = PrivacyParameter("epsilon", Fraction(1))
    law = mechanism.calibrate(sensitivity_of(1, "add_remove", monotonic=True), parameter).law(
        Vector(np.array(scores))
    )
    return law.probabilities()


def test_every_candidate_of_runs_can_be_peeled() -> None:
    calibrated = Peeling(Exponential(), 4).calibrate(
        sensitivity_of(1, "add_remove"), PrivacyParameter("epsilon", Fraction(1))
    )
    law: Any = calibrated.law(located([2, 0], [1, 3], [[3], [1, 2, 0]]))
    for some in law.draws(20, discreet.testing.SeededBits(3)):
        assert sorted(some) == [0, 1, 2, 3]
    with pytest.raises(InvalidNumber, match="k must be"):
        Peeling(Exponential(), 5).calibrate(
            sensitivity_of(1, "add_remove"), PrivacyParameter("epsilon", Fraction(1))
        ).law(located([2, 0], [1, 3], [[3], [1, 2, 0]]))


# --- the verbs


@pytest.mark.parametrize("engine", asked(ENGINES))
def test_mode_and_top_k_answer_what_stands_out(engine: str, tmp_path: Path) -> None:
    rows = ["a"] * 90 + ["b"] * 50 + ["c"]
    data, candidates = ENGINES[engine](texts(rows), texts(URLS), tmp_path)
    table = CandidateTable(candidates, "url")
    assert discreet.mode(data, "url", candidates=table, epsilon=5).value == "a"
    assert discreet.top_k(data, "url", k=2, candidates=table, epsilon=5).value == ["a", "b"]
    listed = discreet.mode(data, "url", candidates=URLS, epsilon=5)
    assert listed.guarantee == discreet.mode(data, "url", candidates=table, epsilon=5).guarantee


def test_groups_answer_one_by_one(tmp_path: Path) -> None:
    rows = texts(["a"] * 70 + ["b"] * 70, ["n"] * 70 + ["s"] * 70, names=["url", "where"])
    data, candidates = in_parquet(rows, texts(URLS), tmp_path)
    told = discreet.mode(
        data,
        "url",
        candidates=CandidateTable(candidates, "url"),
        by="where",
        groups=["n", "s", "x"],
        epsilon=5,
    )
    assert (told.value["n"], told.value["s"]) == ("a", "b")
    assert told.value["x"] in URLS


@pytest.mark.parametrize("mechanism", ["base2", "noisy_max"])
def test_mechanisms_that_need_a_list_say_so(mechanism: str, tmp_path: Path) -> None:
    data, candidates = in_parquet(texts(["a"]), texts(URLS), tmp_path)
    table = CandidateTable(candidates, "url")
    with pytest.raises(
        InvalidArgument, match=r"needs candidates in a list. On a grid or in a table"
    ):
        discreet.mode(data, "url", candidates=table, epsilon=1, mechanism=mechanism)
    with pytest.raises(InvalidArgument, match="needs candidates in a list"):
        discreet.top_k(data, "url", k=1, candidates=table, epsilon=1, method="joint")


def test_a_law_over_a_table_is_refused_and_draws_for_study_are_not(tmp_path: Path) -> None:
    data, candidates = in_parquet(texts(["a"] * 50), texts(URLS), tmp_path)
    table = CandidateTable(candidates, "url")
    with pytest.raises(
        InvalidArgument, match="a distribution over a CandidateTable is not computed"
    ):
        discreet.distribution(discreet.mode, data, "url", candidates=table, epsilon=1)
    assert set(
        discreet.simulate(discreet.mode, data, "url", candidates=table, epsilon=5, size=3).values
    ) == {"a"}


def test_a_ledger_keeps_the_rank_and_names_it_without_the_data(tmp_path: Path) -> None:
    data, candidates = in_parquet(texts(["b"] * 90), texts(URLS), tmp_path)
    table = CandidateTable(candidates, "url")
    ledger = discreet.Ledger(tmp_path / "budget.db")
    ledger.open("adult", epsilon=10)
    session = ledger.session("adult")
    first = session.mode(data, "url", candidates=table, epsilon=5, request="one")
    data.write_bytes(b"")  # nothing is read a second time
    again = session.mode(
        data, "url", candidates=CandidateTable(candidates, "url"), epsilon=5, request="one"
    )
    assert first.value == again.value == "b"
    pq.write_table(texts([*URLS, "one more"]), candidates)
    with pytest.raises(RequestConflict):
        session.mode(
            data, "url", candidates=CandidateTable(candidates, "url"), epsilon=5, request="one"
        )


# --- one snapshot, few rows, nothing left behind


def test_the_candidate_comes_from_the_data_that_were_counted(tmp_path: Path) -> None:
    data, candidates = in_parquet(texts(["a", "a", "b"]), texts(URLS), tmp_path)
    table = CandidateTable(candidates, "url")
    [classes] = recorded(data, "url", Records()).classes(table.ranking)
    assert [column.tolist() for column in classes.counts_and_sizes()] == [
        [2, 1, 0],
        [1, 1, len(URLS) - 2],
    ]
    pq.write_table(texts(["b", "b", "zebra"]), data)
    pq.write_table(texts(["zebra", "a"]), candidates)
    assert [table[rank] for rank in classes.ranks([(2, 0), (1, 0)])] == ["a", "b"]


def test_in_duckdb_too() -> None:
    connection = duckdb.connect()
    connection.sql("CREATE TABLE visits AS SELECT * FROM (VALUES ('a'), ('a'), ('b')) t(url)")
    connection.sql("CREATE TABLE known AS SELECT * FROM (VALUES ('a'), ('b'), ('c')) t(url)")
    table = CandidateTable(connection.table("known"), "url")
    [classes] = recorded(connection.table("visits"), "url", Records()).classes(table.ranking)
    counts, _ = classes.counts_and_sizes()
    assert counts.tolist() == [2, 1, 0]
    connection.sql("DROP TABLE visits")
    connection.sql("DROP TABLE known")
    assert [table[rank] for rank in classes.ranks([(2, 0), (0, 0)])] == ["a", "c"]
    temporary = "SELECT count(*) FROM duckdb_tables() WHERE table_name LIKE 'discreet%'"
    assert connection.sql(temporary).fetchall() == [(2,)]
    del classes, table
    assert connection.sql(temporary).fetchall() == [(0,)]


def test_only_classes_and_one_candidate_come_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [str(i % 1000) for i in range(3000)] + ["7"] * 500
    data, candidates = in_parquet(texts(rows), texts([str(i) for i in range(5000)]), tmp_path)
    table = CandidateTable(candidates, "url")
    fetched = fetches(monkeypatch, InDuckDB)
    assert discreet.mode(data, "url", candidates=table, epsilon=1).value == "7"
    assert fetched == [
        2,
        1,
        1,
        1,
    ]  # counts of 503 and 3, the blocks of the class, a place, its name


def fetches(monkeypatch: pytest.MonkeyPatch, engine: Any) -> list[int]:
    """The numbers of rows that come out of an engine from now on."""
    fetched = list[int]()
    fetch, cells = engine.fetch, engine.cells

    def columns(self: Any, rows: Any, of: Any) -> Any:
        found = fetch(self, rows, of)
        fetched.append(len(found[0]))
        return found

    def values(self: Any, rows: Any) -> Any:
        found = cells(self, rows)
        fetched.append(len(found))
        return found

    monkeypatch.setattr(engine, "fetch", columns)
    monkeypatch.setattr(engine, "cells", values)
    return fetched


def test_no_rows_are_collected_from_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [str(i % 1000) for i in range(3000)] + ["7"] * 500
    data, candidates = in_spark(texts(rows), texts([str(i) for i in range(5000)]), tmp_path)
    table = CandidateTable(candidates, "url")
    fetched = fetches(monkeypatch, InSpark)
    assert discreet.mode(data, "url", candidates=table, epsilon=1).value == "7"
    assert fetched == [2, 1, 1, 1]


def test_threads_share_a_table(tmp_path: Path) -> None:
    data, candidates = in_parquet(texts(["a"] * 50), texts(URLS), tmp_path)
    table = CandidateTable(candidates, "url")
    names = [table[i] for i in range(len(table))] * 5
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(table.__getitem__, list(range(len(table))) * 5)) == names
        drawn = pool.map(
            lambda _: discreet.mode(data, "url", candidates=table, epsilon=9).value, range(12)
        )
        assert set(drawn) == {"a"}


def test_a_closed_connection_is_an_error_of_ours() -> None:
    connection = duckdb.connect()
    table = CandidateTable(connection.sql("SELECT 'a' AS url"), "url")
    connection.close()
    asks: list[Callable[[], object]] = [lambda: table[0], lambda: table.description]
    for ask in asks:
        with pytest.raises(DiscreetError, match="duckdb failed") as caught:
            ask()
        assert caught.value.__cause__ is caught.value.__context__ is None


# --- what is refused


@pytest.mark.parametrize("engine", asked(TYPED))
@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["a", None, "b", None], "2 missing values"),
        (["a", "b", "a", "a"], "2 values more than once"),
        ([], "must not be empty"),
    ],
)
def test_candidates_are_distinct_and_none_is_missing(
    engine: str, values: list[Any], words: str, tmp_path: Path
) -> None:
    _, candidates = TYPED[engine](texts(["a"]), texts(values), tmp_path)
    with pytest.raises(InvalidCandidates, match=words):
        CandidateTable(candidates, "url")


def test_an_empty_field_of_a_csv_file_is_missing(tmp_path: Path) -> None:
    (tmp_path / "known.csv").write_text("url,more\na,1\n,2\n")
    with pytest.raises(InvalidCandidates, match="1 missing values"):
        CandidateTable(tmp_path / "known.csv", "url")


STRANGE = {
    "dates": ("DATE", ["infinity", "10000-01-01", "0001-01-01 (BC)", "5881580-07-10"], 4),
    "moments": ("TIMESTAMP", ["-infinity", "10000-01-01", "0044-03-15 (BC)"], 3),
    "seconds": ("TIMESTAMP_S", ["infinity", "10000-01-01"], 2),
    "milliseconds": ("TIMESTAMP_MS", ["infinity", "10000-01-01"], 2),
    "nanoseconds": ("TIMESTAMP_NS", ["infinity", "2026-11-21 08:00:00.000000001"], 2),
}


@pytest.mark.parametrize("types", STRANGE)
def test_candidates_that_python_cannot_hold_are_refused_beforehand(types: str) -> None:
    of, values, many = STRANGE[types]
    connection = duckdb.connect()
    fine = [
        "2026-11-21",
        *(["0001-01-01", "9999-12-31"] if of != "TIMESTAMP_NS" else ["1999-01-01 00:00:00.000001"]),
    ]
    plain = connection.sql(f"SELECT CAST(unnest({fine}) AS {of}) AS url")
    table = CandidateTable(plain, "url")
    assert len({table[i] for i in range(len(table))}) == len(fine)
    strange = connection.sql(f"SELECT CAST(unnest({[*fine, *values]}) AS {of}) AS url")
    with pytest.raises(InvalidCandidates, match=f"{many} values that cannot be answered"):
        CandidateTable(strange, "url")


@pytest.mark.proof
@pytest.mark.parametrize(
    ("fine", "strange"),
    [
        (["DATE'0001-01-01'", "DATE'9999-12-31'"], "DATE'+10000-01-01'"),
        (["DATE'2026-11-21'"], "DATE'0000-12-31'"),
        (["TIMESTAMP_NTZ'0001-01-01'", "TIMESTAMP_NTZ'9999-12-31'"], "TIMESTAMP_NTZ'+10000-01-01'"),
        (["'a'", "''", "'😀'"], "CAST(X'61FF' AS STRING)"),
        (["'a'"], "CAST(X'EDA080' AS STRING)"),
    ],
)
def test_in_spark_too(fine: list[str], strange: str) -> None:
    def listed(values: list[str]) -> Any:
        return spark().sql(f"SELECT explode(array({', '.join(values)})) AS url")

    table = CandidateTable(listed(fine), "url")
    assert len({table[i] for i in range(len(table))}) == len(fine)
    with pytest.raises(InvalidCandidates, match="1 values that cannot be answered"):
        CandidateTable(listed([*fine, strange]), "url")


def test_what_cannot_hold_candidates(tmp_path: Path) -> None:
    _, numbers = in_parquet(texts(["a"]), pa.table({"url": [1.5, 2.5]}), tmp_path)
    with pytest.raises(
        InvalidCandidates, match=r"cannot hold candidates\. Accepted: text, integer"
    ):
        CandidateTable(numbers, "url")
    with pytest.raises(InvalidCandidates, match="Give candidates from elsewhere as a list"):
        CandidateTable(texts(["a"]), "url")
    with pytest.raises(MissingColumn, match="did you mean 'url'"):
        CandidateTable(numbers, "urll")
    with pytest.raises(UnreadableFile):
        CandidateTable(tmp_path / "nothing.parquet", "url")
    _, known = in_parquet(texts(["a"]), texts(URLS), tmp_path)
    with pytest.raises(IndexError):
        CandidateTable(known, "url")[len(URLS)]
    with pytest.raises(InvalidCandidates, match="candidates must be a list"):
        discreet.select([1], candidates=CandidateTable(known, "url"), sensitivity=1, epsilon=1)  # type: ignore[call-overload]


def test_candidates_and_data_are_in_one_engine_and_of_one_type(tmp_path: Path) -> None:
    data, known = in_parquet(texts(["a"]), texts(URLS), tmp_path)
    table = CandidateTable(known, "url")
    relation, other = in_duckdb(texts(["a"]), texts(URLS), tmp_path)
    elsewhere = "another engine than the data"

    def refused(data: Any, candidates: CandidateTable, words: str) -> None:
        with pytest.raises(DiscreetError, match=words) as caught:
            discreet.mode(data, "url", candidates=candidates, epsilon=1)
        assert caught.value.__cause__ is caught.value.__context__ is None

    refused(relation, table, elsewhere)
    refused(data, CandidateTable(other, "url"), elsewhere)
    refused(duckdb.connect().from_arrow(texts(["a"])), CandidateTable(other, "url"), elsewhere)
    assert (
        discreet.mode(texts(["b", "b", "é"]), "url", candidates=table, epsilon=10**6).value == "b"
    )
    refused(pl.DataFrame({"url": ["a"]}), table, elsewhere)
    refused({"url": ["a"]}, table, "cannot be compared with")
    pq.write_table(pa.table({"url": [1, 2]}), data)
    refused(
        data, table, "cannot be compared with column 'url', of type Int64. Give both the same type"
    )


def test_spark_and_files_do_not_meet(tmp_path: Path) -> None:
    data, candidates = in_spark(texts(["a"]), texts(URLS), tmp_path)
    with pytest.raises(InvalidCandidates, match="another engine"):
        discreet.mode(
            data,
            "url",
            candidates=CandidateTable(tmp_path / "candidates.parquet", "url"),
            epsilon=1,
        )
    with pytest.raises(InvalidCandidates, match="another engine"):
        discreet.mode(
            tmp_path / "data.parquet",
            "url",
            candidates=CandidateTable(candidates, "url"),
            epsilon=1,
        )


@pytest.mark.parametrize("engine", asked(TYPED))
def test_other_candidates_have_another_description(engine: str, tmp_path: Path) -> None:
    _, candidates = TYPED[engine](texts(["a"]), texts(["a", "b"]), tmp_path)
    table = CandidateTable(candidates, "url")
    (tmp_path / "other").mkdir()
    same, fewer, others = (
        CandidateTable(
            TYPED[engine](texts(["a"]), texts(values), tmp_path / "other")[1], "url"
        ).description
        for values in (["b", "a"], ["a"], ["a", "c"])
    )
    assert table.description == same
    assert len({str(d) for d in (table.description, fewer, others)}) == 3
    assert repr(table) == "CandidateTable(2 candidates in column 'url')"


@pytest.mark.parametrize(
    "known", ["known.parquet", Path("known.CSV.gz"), pl.LazyFrame({"url": ["a"]})]
)
def test_a_table_where_a_list_belongs_is_told_of_candidate_table(known: Any) -> None:
    data = pl.DataFrame({"url": ["a"]})
    with pytest.raises(InvalidCandidates, match=r"got .*CandidateTable\(data, column\)"):
        discreet.mode(data, "url", candidates=known, epsilon=1)
    with pytest.raises(InvalidCandidates, match=r"got .*CandidateTable\(data, column\)"):
        discreet.top_k(data, "url", k=1, candidates=known, epsilon=1)


# --- the command line


def test_the_commands_take_a_file_of_candidates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, candidates = in_parquet(texts(["a"] * 60 + ["b"] * 30), texts(URLS), tmp_path)
    pq.write_table(texts(URLS, names=["page"]), tmp_path / "pages.parquet")
    shared = [str(data), "url", "--epsilon", "5"]
    assert run(["mode", *shared, "--candidates-from", str(candidates)]) == 0
    assert capsys.readouterr().out.startswith("a\n")
    pages = ["--candidates-from", str(tmp_path / "pages.parquet"), "--candidates-column", "page"]
    assert run(["top-k", *shared, "--k", "2", *pages]) == 0
    assert capsys.readouterr().out.startswith("a\nb\n")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--candidates-column", "page"], "--candidates-column goes with --candidates-from"),
        (["--candidates", "a", "--candidates-from", "x.csv"], "give either --candidates or"),
        (["--candidates-from", "x.csv"], "x.csv does not exist"),
        (["--candidates", "x.csv"], "Give --candidates-from x.csv"),
        ([], "candidates are missing"),
    ],
)
def test_commands_that_are_refused(
    options: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, _ = in_parquet(texts(["a"]), texts(URLS), tmp_path)
    for command in (["mode"], ["top-k", "--k", "1"]):
        missing = "does not exist" in words
        assert run([*command, str(data), "url", "--epsilon", "1", *options]) == (
            3 if missing else 2
        )
        assert words in capsys.readouterr().err
