"""The JSON Schema for editors and the strict reader accept the same, but for what only the whole file tells."""

import copy
import datetime as dt
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools.toml_reference import PAGE, page_with, reference

from discreet.cli import run
from discreet.errors import InvalidDescription
from discreet.tables.datasets.configuration import read_document, read_toml
from discreet.tables.datasets.declarations import TO_FILL_IN
from discreet.tables.datasets.model import json_schema

from .test_configuration import TEXT, test_errors_have_file_line_and_fix

pytestmark = pytest.mark.filterwarnings("ignore:.*it can never be paid")
jsonschema = pytest.importorskip("jsonschema")
VALIDATOR = jsonschema.Draft202012Validator(json_schema())

FULL = (
    TEXT.replace('{ epsilon = "3" }', '{ epsilon = 3, delta = 1e-6, period = "year", neighbors = "replace_one" }')
    + """
[datasets.bare]
source = ["a.csv", "b.csv"]
csv = { delimiter = ";", names = ["x", "day"] }
title = "Bare"
columns.x = { type = "boolean", title = "X", description = "said" }
columns.day = { type = "date", minimum = 2024-01-01, maximum = 2024-12-31 }
columns.at = { type = "datetime", enum = [2024-01-01T00:00:00, 2024-01-02T00:00:00] }
columns.yes = { type = "boolean", enum = [true] }
columns.n = { type = "integer" }
budget = { rho = "1/2" }
questions.q = { verb = "quantile", column = "n", alpha = 0.5, candidates = [1, 2], epsilon = 1, by = "x" }
[datasets.lake]
connection = "duckdb:///p.duckdb"
table = "people"
columns.x = { type = "number", enum = [0.5, "1/3"] }
[datasets.asked]
connection = "sqlite:///p.db"
query = "SELECT 1"
columns.x = { type = "string" }
[analysts.eve]
datasets = ["bare", "lake"]
share = { rho = 1, neighbors = "add_remove" }
"""
)  # fmt: skip

POOL: list[Any] = [
    0, 1, -1, 0.5, Decimal("0.1"), True, "x", "1/2", "-1", "", " ", f"{TO_FILL_IN}: it", "year", "a.csv", [],
    ["people"], ["x", "x"], [f"{TO_FILL_IN}: all"], {}, {"type": "integer"},
    {"a": {"type": "string"}}, {"epsilon": 1}, {"a": 1},
    dt.date(2024, 2, 1), dt.datetime(2024, 2, 1), "2024-02-01", "duckdb:///x.duckdb",
]  # fmt: skip

LEFT_TO_THE_READER = (
    "got 2024-02-01", "ledger: it must be a text", "connection: it must be a text", "query: it must be a text",
    "it is below the minimum", "is beyond the m", "must be a whole number of steps",
    "stands there twice",
    "it must be one of people", "it must be one of bare",
    "has no column", "it must be duckdb://", "it must name a file", "it is an address",
    "it is of a CSV file", "must be one character", "must not be a quote", "list of distinct texts",
    "leave the password out", "it must be a date", "it must be a time",
    "is not a value of column", "must be a finite number", "must be greater than zero", "it must be one SELECT",
    "is of numbers or dates, and column", "is not among the declared", "candidates must be", "groups must be",
    "a candidate must",
)  # fmt: skip
"""What the schema cannot tell, by what the reader says."""


def plain(value: Any) -> Any:
    """Return a document as an editor validates it."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, Decimal):
        return float(value)
    return value.isoformat() if isinstance(value, dt.date) else value


def refusal(document: Any) -> str | None:
    try:
        read_document(copy.deepcopy(document), Path("/nowhere/discreet.toml"))
    except InvalidDescription as refused:
        return str(refused)
    return None


def check(document: Any) -> bool:
    """Compare the two; return whether they accept."""
    told, wrong = VALIDATOR.is_valid(plain(document)), refusal(document)
    if wrong is None:
        assert told, list(VALIDATOR.iter_errors(plain(document)))
    elif told:
        assert any(reason in wrong for reason in LEFT_TO_THE_READER), wrong
    return wrong is None


def places(part: Any, *path: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the places of all values of a document."""
    yield path
    for key in part if isinstance(part, dict) else ():
        yield from places(part[key], *path, key)


def changed(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return the document with another value at a place; without the place for `...`."""
    found = copy.deepcopy(document)
    inner = found
    for key in path[:-1]:
        inner = inner[key] if isinstance(inner, dict) and key in inner else {}
    if not isinstance(inner, dict):
        return found
    if value is ...:
        inner.pop(path[-1], None)
    else:
        inner[path[-1]] = value
    return found


DOCUMENT = read_toml(FULL)
PLACES = [path for path in places(DOCUMENT) if path]


def test_the_examples_are_accepted_by_both() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())
    assert check(DOCUMENT)
    assert check(read_toml(TEXT))


@pytest.mark.parametrize(
    ("share", "least"), [(16, 25), pytest.param(1, 100, marks=pytest.mark.proof)]
)
def test_every_change_of_one_place_is_told_alike(share: int, least: int) -> None:
    """Each value of a full example replaced, taken away, and joined by a key that nobody knows."""
    answers = []
    for i, path in enumerate(PLACES):
        answers += [check(changed(DOCUMENT, path, v)) for v in (..., *POOL[i % share :: share])]
        answers.append(check(changed(DOCUMENT, (*path[:-1], f"unknown {i}"), 1)))
    assert min(answers.count(True), answers.count(False)) > least


@given(
    st.lists(
        st.tuples(st.sampled_from(PLACES), st.sampled_from([..., *POOL])), min_size=2, max_size=5
    )
)
def test_several_changes_are_told_alike(changes: Any) -> None:
    document: Any = DOCUMENT
    for path, value in changes:
        document = changed(document, path, value)
    check(document)


def test_the_wrong_examples_of_the_reader_are_refused_by_the_schema() -> None:
    """All but those that need the whole file."""
    marked: Any = test_errors_have_file_line_and_fix
    refused = 0
    for before, after, *_, reason in marked.pytestmark[0].args[1]:
        if reason != "it is not TOML":
            assert not check(read_toml(TEXT.replace(before, after, 1)))
            refused += not VALIDATOR.is_valid(plain(read_toml(TEXT.replace(before, after, 1))))
    assert refused >= 16


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["describe", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out) == json_schema()
    assert partial(re.search, "FILL IN")(json.dumps(json_schema()))


def test_the_reference_page_is_made_of_the_model() -> None:
    assert PAGE.read_text(encoding="utf-8") == page_with(reference())
    for name in places(
        json_schema()["properties"]["datasets"]["additionalProperties"]["properties"]
    ):
        assert len(name) != 1 or f"| `{name[0]}` |" in reference()
