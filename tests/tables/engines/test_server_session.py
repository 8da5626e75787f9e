"""Servers that are replicas, behind TLS or a pool, started again, or short of what they allow."""

import threading
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import Engine, create_engine, text

import discreet
from discreet import Grid
from discreet.errors import DataUnavailable
from discreet.tables.datasets.databases import Database
from discreet.tables.engines.reach import ReachCheck
from discreet.tables.engines.server_session import ServerRows
from discreet.tables.engines.sql_queries import SqlQuery

from ... import postgres
from ...engines import postgresql_engine

TABLE = "CREATE TABLE people AS SELECT i % 3 AS k, i AS age FROM generate_series(1, 9) AS i"
QUERY = "SELECT * FROM people"
QUARTILES = ["0.25", "0.5", "0.75"]
OF_UNITS: dict[str, Any] = {"privacy_unit": "k", "max_contributions": 3, "epsilon": 10**5}


@pytest.fixture
def server() -> Engine:
    engine: Engine = postgresql_engine()
    return engine


@pytest.fixture(scope="module")
def own() -> Iterator[str]:
    """The URL of a server with people."""
    with postgres.server() as url:
        run(url, TABLE)
        yield url


def engine_of(url: str, options: str = "", **terms: Any) -> Engine:
    return create_engine(f"{url.replace('postgresql:', 'postgresql+psycopg:')}{options}", **terms)


def run(url: str, *statements: str) -> None:
    engine = engine_of(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for one in statements:
            connection.execute(text(one))
    engine.dispose()


def described(url: str) -> SqlQuery:
    database = Database(url.replace("postgresql:", "postgresql+psycopg:"))
    return SqlQuery(QUERY, database, ReachCheck(with_views=True), "people")


def middle(rows: SqlQuery) -> object:
    """Return a median of units, for which rows are kept where they can be."""
    return discreet.median(rows, "age", candidates=Grid(0, 10), **OF_UNITS).value


@pytest.mark.process
def test_a_replica_counts(own: str) -> None:
    """It makes no table, and is the same database to a ledger; what its source changes stops a question for now."""
    with postgres.replica(own) as url:
        engine = engine_of(url)
        rows = discreet.scan_query(QUERY, engine)
        assert middle(rows) == middle(described(url)) == 5
        places = []
        for place in (url, own):
            check = ReachCheck()
            described(place).ask(check)
            places.append(check.reach)
        assert places[0] == places[1]
        held = rows.read_rows()
        assert isinstance(held, ServerRows)
        assert len(held.read(["age"])["age"]) == 9
        run(own, "DELETE FROM people WHERE age = 9", "VACUUM people")
        with pytest.raises(DataUnavailable):
            until_it_fails(held)
        del held
        assert discreet.count(rows, epsilon=10**5).value == 8
        run(own, "INSERT INTO people VALUES (0, 9)")
        engine.dispose()


def until_it_fails(rows: ServerRows) -> None:
    """Read rows until the replica has heard of what happened to its source."""
    from discreet.tables.engines.engine_errors import quietly

    for _ in range(500):
        quietly(rows.read, discreet.errors.UnreadableData("they cannot be read"), ["age"])
        threading.Event().wait(0.02)


@pytest.mark.process
def test_a_server_may_insist_on_tls_and_so_may_you() -> None:
    """A server that cannot prove its name is refused before it hears the query."""
    with postgres.server_with_certificate() as (url, authority):
        run(url, TABLE)
        own = f"&sslrootcert={authority}"
        for host, mode, is_read in (
            ("localhost", f"?sslmode=verify-full{own}", True),
            ("127.0.0.1", f"?sslmode=verify-ca{own}", True),
            ("127.0.0.1", f"?sslmode=verify-full{own}", False),
            ("localhost", "?sslmode=verify-full&sslrootcert=/no/such/file", False),
            ("localhost", "?sslmode=disable", False),
        ):
            place = url.replace("localhost", host) + mode
            engine = engine_of(place)
            for rows in (discreet.scan_query(QUERY, engine), described(place)):
                if is_read:
                    assert middle(rows) == 5
                else:
                    with pytest.raises(DataUnavailable, match="sslrootcert"):
                        middle(rows)
            engine.dispose()


@pytest.mark.process
def test_a_pool_of_transactions_mixes_no_questions(own: str) -> None:
    """PgBouncer gives one connection to several, each for a transaction."""
    with postgres.pool(own, "transaction") as url:
        answers = list[object]()

        def ask() -> None:
            engine = engine_of(url)
            for rows in (described(url), discreet.scan_query(QUERY, engine)):
                answers.extend(middle(rows) for _ in range(4))
            engine.dispose()

        askers = [threading.Thread(target=ask) for _ in range(3)]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join(60)
        assert answers == [5] * 24


def test_no_statement_has_a_name(own: str) -> None:
    """A pool between the server and us would give it to the transactions of others."""
    engine = engine_of(own, connect_args={"prepare_threshold": 0})
    named = "SELECT statement FROM pg_catalog.pg_prepared_statements WHERE statement ~ 'pg_|people'"
    held = discreet.scan_query(QUERY, engine).read_rows()
    assert isinstance(held, ServerRows)
    assert held._ask(named) == []
    del held
    engine.dispose()
    with Database(str(engine.url))._snapshot() as (connection, catalogue):
        ReachCheck(with_views=True).ask(catalogue, QUERY, "people")
        assert connection.exec_driver_sql(named).fetchall() == []


@pytest.mark.process
def test_a_server_may_be_started_again_between_two_questions(own: str) -> None:
    """A connection of the pool that has ended meanwhile stops no question."""
    engine = engine_of(own)
    rows = discreet.scan_query(QUERY, engine)
    assert middle(rows) == 5
    with postgres.stopped(own), pytest.raises(DataUnavailable, match="cannot be reached"):
        middle(rows)
    assert middle(rows) == 5
    engine.dispose()


def test_an_event_trigger_that_forbids_tables_forbids_no_question(server: Engine) -> None:
    """The rows of units are computed in every pass then."""
    name = f"n{uuid4().hex}"
    function = (
        f"CREATE FUNCTION {name}() RETURNS event_trigger LANGUAGE plpgsql AS "
        "$$BEGIN RAISE EXCEPTION 'no tables'; END$$"
    )
    rows = discreet.scan_query(
        "SELECT i % 3 AS k, i AS age FROM generate_series(1, 9) AS i", server
    )
    url = server.url.render_as_string(hide_password=False)
    run(
        url, function, f"CREATE EVENT TRIGGER {name} ON ddl_command_start EXECUTE FUNCTION {name}()"
    )
    try:
        assert middle(rows) == 5
    finally:
        run(url, f"DROP EVENT TRIGGER {name}")


@pytest.mark.parametrize(
    "setting", ["idle_in_transaction_session_timeout=1ms", "work_mem=64kB -ctemp_file_limit=1kB"]
)
def test_what_a_limit_of_the_server_stops_can_be_asked_again(server: Engine, setting: str) -> None:
    words = setting.replace("=", "%3D").replace(" ", "%20")
    engine = engine_of(server.url.render_as_string(hide_password=False), f"&options=-c{words}")
    query = "SELECT i % 30000 AS k, i AS age FROM generate_series(1, 60000) AS i"
    rows = discreet.scan_query(query, engine)
    with pytest.raises(DataUnavailable, match="limit"):
        discreet.quantiles(rows, "age", alphas=QUARTILES, candidates=Grid(0, 10**6), **OF_UNITS)
    engine.dispose()
