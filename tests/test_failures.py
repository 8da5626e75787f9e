"""Foreign errors never get out, and what comes out instead names the fix."""

import duckdb
import pytest

import discreet
from discreet.errors import UnreadableData, UnreadableFile
from discreet.tables.failures import quietly


def raising(error: BaseException) -> None:
    raise error


def test_an_error_is_replaced_and_not_linked() -> None:
    failure = UnreadableFile("t.csv cannot be read")
    with pytest.raises(UnreadableFile) as caught:
        quietly(lambda: raising(ValueError("s3cr3t")), failure)
    assert caught.value is failure
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_a_lack_of_memory_is_named_as_such() -> None:
    with pytest.raises(UnreadableFile, match="not enough memory") as caught:
        quietly(lambda: raising(MemoryError("s3cr3t")), UnreadableFile("t.csv cannot be read"))
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_an_engine_without_memory_is_named_as_such() -> None:
    connection = duckdb.connect(config={"memory_limit": "10MB", "max_temp_directory_size": "0KB"})
    many = connection.sql("SELECT hash(range) % 10_000_000 AS v FROM range(10_000_000)")
    with pytest.raises(UnreadableData, match="memory_limit"):
        discreet.quantiles(many, ["1/2"], discreet.Grid(0, 10**7), "v", epsilon=1)


@pytest.mark.parametrize("wanted", [KeyboardInterrupt(), SystemExit(3)])
def test_a_wish_to_stop_gets_through(wanted: BaseException) -> None:
    with pytest.raises(type(wanted)):
        quietly(lambda: raising(wanted), UnreadableData("no"))
