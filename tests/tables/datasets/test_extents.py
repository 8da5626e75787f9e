"""What a source covers: a database is its file or its server, a source in it one table, or all of it."""

import os
from pathlib import Path

import pytest

from discreet.tables.datasets.extents import Extent, database_ids, extent_of
from discreet.tables.engines.reach import Reach

SERVER = "postgresql+psycopg://alice@db.example/shop"
SPELLINGS = [
    "postgresql+psycopg://db.example/shop",
    "postgresql+psycopg://bob@db.example/shop",
    "postgresql+psycopg://DB.Example/shop",
    "postgresql+psycopg://db.example./shop",
    "postgresql+psycopg://db.example:5432/shop",
    "postgresql+psycopg://db.example/shop?sslmode=require",
    "postgresql+psycopg://db.example/shop?application_name=other",
    "postgresql+psycopg://db.example/shop?options=-csearch_path%3Dx",
    "postgresql+psycopg:///shop?host=db.example",
    "postgresql+psycopg:///shop?host=DB.EXAMPLE&port=5432",
    "postgresql+psycopg:///shop?host=db.example:5432",
    "postgresql+psycopg:///?host=db.example&dbname=shop",
    "postgresql+psycopg://db.example/other?dbname=shop",
    "postgresql+psycopg:///shop?host=replica.example,db.example",
    "postgresql+psycopg:///shop?host=replica.example&host=db.example",
    "postgresql+psycopg:///shop?host=replica.example:7000&host=db.example:5432",
    "postgresql+psycopg://shop@db.example",
    "postgresql://db.example/shop?target_session_attrs=read-only",
]
OTHERS = [
    "postgresql+psycopg://db.example/warehouse",
    "postgresql+psycopg://db.example/Shop",
    "postgresql+psycopg://db.example:5433/shop",
    "postgresql+psycopg://db2.example/shop",
    "postgresql+psycopg:///shop",
    "duckdb:////data/shop",
]


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PGHOST", "PGPORT", "PGDATABASE", "PGUSER"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("url", SPELLINGS)
def test_spellings_of_a_server_are_one_database(url: str) -> None:
    assert database_ids(url) & database_ids(SERVER)


@pytest.mark.parametrize("url", OTHERS)
def test_other_databases_are_others(url: str) -> None:
    assert not database_ids(url) & database_ids(SERVER)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://127.0.0.1/d",
        "postgresql://[::1]/d",
        "postgresql:///d?host=/var/run/postgresql/",
        "postgresql:///d",
    ],
)
def test_this_machine_is_one_host(url: str) -> None:
    assert database_ids(url) == database_ids("postgresql://LOCALHOST:5432/d")


def test_the_environment_of_the_client_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("PGHOST", "db.example"), ("PGPORT", "5432"), ("PGDATABASE", "shop")):
        monkeypatch.setenv(name, value)
    assert database_ids("postgresql:///") & database_ids(SERVER)


def test_a_file_with_wildcards_in_its_name_is_itself_alone(tmp_path: Path) -> None:
    (tmp_path / "ab.csv").write_text("x\n1\n")
    pattern = str(tmp_path / "a*.csv")
    other = extent_of(str(tmp_path / "ab.csv"))
    assert other is not None
    before = extent_of(pattern)
    Path(pattern).write_text("x\n2\n")
    after = extent_of(pattern)
    assert before is not None
    assert after is not None
    assert before.overlaps(other)
    assert not after.overlaps(other)
    assert after.files
    assert not after.paths


def test_a_path_is_to_come_until_its_file_is_there(tmp_path: Path) -> None:
    folder, file = extent_of(str(tmp_path)), tmp_path / "later.csv"
    to_come = extent_of(str(file))
    assert folder is not None
    assert to_come is not None
    assert to_come.paths == (str(file),)
    assert to_come.overlaps(folder)
    file.write_text("x\n1\n")
    there = extent_of(str(file))
    assert there is not None
    assert there.paths == ()
    assert there.files == extent_of(str(tmp_path)).files  # type: ignore[union-attr]


def test_a_file_is_one_by_its_inode(tmp_path: Path) -> None:
    one, other, link = (tmp_path / name for name in ("one.db", "other.db", "link.db"))
    one.write_text("x")
    other.write_text("x")
    os.link(one, link)
    assert database_ids(f"sqlite:///{one}") & database_ids(f"duckdb:///{link}")
    assert not database_ids(f"sqlite:///{one}") & database_ids(f"sqlite:///{other}")
    known = one.stat()
    record = f"{known.st_dev}:{known.st_ino}"
    one.unlink()  # it was moved to link: the record is of the same file
    assert database_ids(f"sqlite:///{one}", record) & database_ids(f"sqlite:///{link}")
    one.write_text("another file")
    assert not database_ids(f"sqlite:///{one}", record) & database_ids(f"sqlite:///{link}")


T, U, ALL = Reach("public.t", 1), Reach("public.u", 2), Reach()
PAIRS = [
    (T, T, True),
    (T, U, False),
    (T, ALL, True),
    (ALL, ALL, True),
    (T, None, True),
    (None, None, True),
    (T, Reach("PUBLIC.T", 9), True),
    (T, Reach("public.renamed", 1), True),
    (Reach("main.t"), Reach("main.u"), False),
]


@pytest.mark.parametrize(("one", "other", "overlap"), PAIRS)
def test_sources_of_a_database_overlap_unless_both_are_tables_and_others(
    one: Reach | None, other: Reach | None, overlap: bool
) -> None:
    def extent(reach: Reach | None, url: str) -> Extent:
        plain = None if reach is None else reach.as_dict
        found = extent_of({"query": "SELECT 1", "connection": url}, plain)
        assert found is not None
        return found

    extents = [extent(reach, SERVER) for reach in (one, other)]
    assert extents[0].overlaps(extents[1]) is extents[1].overlaps(extents[0]) is overlap
    assert not extents[0].overlaps(extent(other, OTHERS[0]))


def test_a_server_is_known_by_its_own_number() -> None:
    extents = [
        extent_of({"query": "SELECT 1", "connection": url}, Reach(database="7:5").as_dict)
        for url in (SERVER, OTHERS[3])
    ]
    assert None not in extents
    assert extents[0].overlaps(extents[1])  # type: ignore[union-attr,arg-type]
