"""Questions about cells at every door, about every source: the same answer, or the reason that the tables give."""

import contextlib
import io
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
pytest.importorskip("httpx", reason="the extra server is not installed")

import discreet
from discreet import Connection, Dataset
from discreet.cli import run
from discreet.errors import DiscreetError
from discreet.ledger.toml_budgets import configuration, open_described
from discreet.service.asking.tokens import tokens_beside
from discreet.service.http.app import make_app
from discreet.service.http.http_client import HttpClient
from discreet.service.mcp.assistant_tools import call_tool

from . import engines
from .cell_places import (
    CELLS,
    COLUMNS,
    DESCRIBED,
    DOORS,
    IN_PYTHON,
    NO_QUESTION,
    NO_SOURCE,
    PAGE,
    QUESTIONS,
    SOURCES,
    CellQuestion,
    every_cell,
    reason,
    written,
)
from .service.http.test_http_client import InTheProcess
from .service.pages.person import LATER, Person, Read

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

ROWS = [(city, city, age, paid) for (city, age), (size, paid) in CELLS.items() for _ in range(size)]
TABLE = pa.table(dict(zip(COLUMNS, map(list, zip(*ROWS, strict=True)), strict=True)))


def described(source: str, folder: Path) -> str:
    """Write the table as a source, and return the lines of discreet.toml that say where it is."""
    frame = TABLE.to_pandas()
    if source == "CSV":
        frame.to_csv("t.csv", index=False)
        return 'source = "t.csv"'
    if source == "Parquet":
        frame.to_parquet("t.parquet")
        return 'source = "t.parquet"'
    if source == "Excel":
        pytest.importorskip("openpyxl", reason="openpyxl is not installed")
        frame.to_excel("t.xlsx", index=False)
        return 'source = "t.xlsx"'
    if source == "SQLite":
        with contextlib.closing(sqlite3.connect("t.sqlite")) as connection:
            frame.to_sql("t", connection, index=False)
        return f'connection = "sqlite:///{folder}/t.sqlite"\ntable = "t"'
    if source == "DuckDB":
        with duckdb.connect("t.duckdb") as connection:
            connection.from_arrow(TABLE).create("t")
        return f'connection = "duckdb:///{folder}/t.duckdb"\ntable = "t"'
    engine = engines.postgresql_engine()
    frame.to_sql("cell_places", engine, index=False, if_exists="replace")
    url = engine.url.render_as_string(hide_password=False).replace("+psycopg", "")
    return f'connection = "{url}"\ntable = "cell_places"'


def in_python(source: str, folder: Path) -> Any:
    """The table as Python holds it."""
    if source == "lists":
        return TABLE.to_pydict()
    return engines.ENGINES[source.lower()](TABLE, folder)


def toml_of(name: str, where: str) -> str:
    """The description of a dataset with all its named questions."""
    lines = [
        f'[datasets.{name}]\n{where}\nanswers_after = "0s"',
        'budget = { epsilon = "100000000", delta = "1e-2", delta_for = "questions" }',
        *(f"columns.{column} = {_inline(of)}" for column, of in COLUMNS.items()),
    ]
    for place, question in enumerate(QUESTIONS.values()):
        column, terms = question.wire
        asked = {"verb": question.verb, **({"column": column} if column else {}), **terms}
        lines.append(f"questions.q{place} = {_inline(asked)}")
    return "\n".join(lines)


def _inline(term: Any) -> str:
    if isinstance(term, dict):
        return "{ " + ", ".join(f"{name} = {_inline(one)}" for name, one in term.items()) + " }"
    return f"[{', '.join(map(_inline, term))}]" if isinstance(term, list) else json.dumps(term)


class Place:
    """A source, described and opened, with what asks about it at each door."""

    def __init__(self, source: str, folder: Path) -> None:
        self.folder, self.name = folder, source.lower()
        self.is_described = source in DESCRIBED
        if not self.is_described:
            self.data: Any = in_python(source, folder)
            self.here = discreet.connect(datasets={self.name: self.dataset()})
            self.here.open_budget(self.name, epsilon=10**8, delta="1e-2", delta_for="questions")
            return
        text = 'ledger = "budget.db"\n' + toml_of(self.name, described(source, folder))
        Path("discreet.toml").write_text(text, encoding="utf-8")
        open_described(configuration(), self.name, None)
        token = tokens_beside(Path("discreet.toml")).create("owner", None, LATER)[0]
        app: Any = make_app(configuration(), ["testserver", "service.test"])
        self.data, self.here = configuration().datasets[self.name], discreet.connect()
        self.there = Connection(HttpClient(InTheProcess(app, token)), "a service")
        self.person = Person(app)
        self.person.enter(token)

    def dataset(self) -> Any:
        """The table with its description."""
        return self.data if self.is_described else Dataset(self.data, COLUMNS, name=self.name)

    def ask(self, door: str, question: CellQuestion) -> str:
        """Return what is shown of an answer at a door."""
        return str(getattr(self, f"_{door.lower().replace(' ', '_')}")(question))

    def _python(self, question: CellQuestion) -> Any:
        column, terms = question.python
        verb = getattr(discreet, question.verb)
        place = (self.dataset(),) if column is None else (self.dataset(), column)
        return verb(*place, **terms).value

    def _connect(self, question: CellQuestion) -> Any:
        column, terms = question.python
        place = (self.name,) if column is None else (self.name, column)
        return getattr(self.here, question.verb)(*place, **terms).value

    def _named_question(self, question: CellQuestion) -> Any:
        name = f"q{[*QUESTIONS.values()].index(question)}"
        if not self.is_described:
            column, terms = question.python
            place = () if column is None else (column,)
            verb = getattr(discreet, question.verb)
            with contextlib.suppress(DiscreetError):  # it was allowed before
                self.here.allow(self.name, name, verb, *place, **terms)
        return self.here.ask(name, dataset=self.name).value

    def _sql(self, question: CellQuestion) -> Any:
        return discreet.sql(self.dataset(), question.statement(self.name)).value

    def _command_line(self, question: CellQuestion) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            assert run(question.command(self.name)) == 0
        return shown.getvalue()

    def _http(self, question: CellQuestion) -> Any:
        column, terms = question.python
        return self.there.ask_free(question.verb, self.name, column, **terms).value

    def _mcp(self, question: CellQuestion) -> Any:
        column, terms = question.wire
        asked = {"dataset": self.name, "verb": question.verb, "terms": terms}
        asked |= {} if column is None else {"column": column}
        name = f"{question.verb} {sorted(terms)} {column}"
        return call_tool(self.there, "ask", {**asked, "request": name, "max_cost": "100000"})[
            "value"
        ]

    def _page(self, question: CellQuestion) -> str:
        reply = self.person.send("GET", "/plan", params=question.form(self.name))
        return Read(self.person.submit(Read(reply.text).form("/ask")).text).text


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Place]]:
    """The sources, each described when it is first asked about."""
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv("DISCREET_CONFIG", raising=False)
        yield {}


def place_of(places: dict[str, Place], source: str, folder: Path) -> Place:
    """Return a source, which is made once."""
    if source not in places:
        places[source] = Place(source, folder)
    return places[source]


_ONE_IN = 29
"""Of the questions of a door about a source one in so many is asked in every run; all are in the proofs."""


def _sampled() -> Iterator[Any]:
    for number, (question, door, source) in enumerate(every_cell()):
        is_long = number % _ONE_IN != 0 or source == "Spark"
        marks = [pytest.mark.proof] if is_long else []
        name = "spark" if source == "Spark" else source
        yield pytest.param(question, door, source, marks=marks, id=f"{question} | {door} | {name}")


@pytest.mark.parametrize(("question", "door", "source"), [*_sampled()])
def test_cells_are_asked_about_at_a_door(
    question: str,
    door: str,
    source: str,
    places: dict[str, Place],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = places[source].folder if source in places else tmp_path_factory.mktemp("places")
    with contextlib.chdir(folder):
        place = place_of(places, source, folder)
        if reason(question, door, source) is not None:
            with pytest.raises((DiscreetError, AssertionError, AttributeError)):
                place.ask(door, QUESTIONS[question])
            return
        shown = place.ask(door, QUESTIONS[question])
    for text in QUESTIONS[question].answer:
        assert text in shown


def test_every_reason_is_of_a_cell() -> None:
    assert {*NO_QUESTION} <= {(question, door) for question in QUESTIONS for door in DOORS}
    assert {*NO_SOURCE} <= {(door, source) for door in DOORS for source in SOURCES}
    assert {*IN_PYTHON} | {*DESCRIBED} == {*SOURCES}


def test_the_docs_have_the_tables() -> None:
    assert PAGE.read_text(encoding="utf-8") == written()
