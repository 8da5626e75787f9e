"""Every verb of counts, keys, bounds and means in every place; an empty place has its reason, and does refuse."""

import contextlib
import datetime as dt
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute
import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
pytest.importorskip("httpx", reason="the extra server is not installed")

import discreet
from discreet import Batch, Connection, Dataset, Ledger
from discreet.base.messages import translate, using_language
from discreet.cli import run
from discreet.errors import DiscreetError
from discreet.ledger.toml_budgets import configuration, open_described
from discreet.selection.verb_calls import bill_of
from discreet.service.asking.tokens import tokens_beside
from discreet.service.http.app import make_app
from discreet.service.http.http_client import HttpClient

from . import engines
from .service.http.test_http_client import InTheProcess
from .service.pages.person import Person
from .service.released_numbers import EXAMPLES
from .verb_places import DELTA, ENGINES, PAGE, PLACES, REASONS, VERBS, Asked, cells, written

TABLE = pa.table(
    {
        "who": [f"p{n}" for n in range(90)],
        "age": [20, 30, 40] * 30,
        "city": ["Basel"] * 20 + ["Bern"] * 40 + ["Zürich"] * 30,
        "g": ["x", "y"] * 45,
    }
)
COLUMNS: dict[str, Any] = {
    "who": {"type": "string"},
    "age": {"type": "integer", "minimum": 0, "maximum": 100},
    "city": {"type": "string", "enum": ["Basel", "Bern", "Zürich"]},
}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(engines.to_csv(TABLE, tmp_path_factory.mktemp("places")))


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    ledger = Ledger(tmp_path_factory.mktemp("places") / "budget.db")
    ledger.open("people", epsilon=10**6, delta="1e-2", delta_for="questions")
    return ledger


def in_engine(asked: Asked, engine: str, folder: Path) -> None:
    """The answer is the same as in PyArrow, where there is no noise to speak of."""
    table = engines.ENGINES[engine](TABLE, folder)
    value = asked.ask(table, epsilon=10**6).value
    assert value or value == 0


def by_unit(asked: Asked, file: str) -> None:
    release = asked.ask(file, privacy_unit="who")
    assert release.unit == "who"


def by_groups(asked: Asked, file: str) -> None:
    terms = dict(asked.terms)
    release = Asked(asked.verb, asked.column, terms).ask(file, by="g", groups=["x", "y"])
    assert [*release.value] == ["x", "y"]


def about_some_rows(asked: Asked, file: str, folder: Path) -> None:
    """The answer is that about a table of those rows; digests, batches and simulations have the condition."""
    some = engines.to_csv(TABLE.filter(pa.compute.equal(TABLE["age"], 30)), folder)
    where = {"where": "age BETWEEN 25 AND 35"}
    release = asked.ask(file, epsilon=10**6, **where)
    assert release.value == asked.ask(some, epsilon=10**6).value
    assert "where age >= 25 AND age <= 35" in release.query
    terms = {"epsilon": 1, **asked.terms}
    bills = [
        bill_of(asked.function, *asked.about(file), **terms, **more)
        for more in ({}, where, {"where": "age BETWEEN 25 AND 36"}, {"where": "age IN (30)"})
    ]
    assert len({one.digest for one in bills}) == len(bills)
    assert len({one.guarantee for one in bills}) == 1
    assert bills[0].worst_error == bills[1].worst_error
    opposite = {
        "where": "NOT age BETWEEN 25 AND 35"
    }  # charged in sequence, though no row is in both
    batch = Batch().add("some", asked.function, *asked.about(file), **terms, **where)
    alone = sum(number for _, number in batch.cost().parts)
    batch = batch.add("others", asked.function, *asked.about(file), **terms, **opposite)
    assert sum(number for _, number in batch.cost().parts) == 2 * alone
    assert discreet.simulate(asked.function, *asked.about(file), **terms, **where, size=2)


def about_a_description(asked: Asked, file: str) -> None:
    described = Dataset(file, COLUMNS, privacy_unit="who", max_contributions=1, name="people")
    terms = asked.terms if asked.described is None else asked.described
    release = Asked(asked.verb, asked.column, terms).ask(described)
    assert release.unit == "who"


def from_a_ledger(asked: Asked, file: str, ledger: Ledger) -> None:
    with ledger.session("people") as private:
        request = f"{asked.verb} {sorted(asked.terms)}"
        first = asked.ask(file, ledger=private, request=request, epsilon=1)
        again = asked.ask(file, ledger=private, request=request, epsilon=1)
    assert (first.charged, again.charged) == (True, False)
    assert first.value == again.value


def in_a_batch(asked: Asked, file: str) -> None:
    batch = Batch().add("it", asked.function, *asked.about(file), epsilon=1000, **asked.terms)
    assert batch.run()["it"].guarantee.slack <= batch.cost().slack


def quoted(asked: Asked, file: str) -> None:
    bill = bill_of(asked.function, *asked.about(file), epsilon=1, **asked.terms)
    assert bill.guarantee.approx(bill.guarantee.slack).epsilon <= 1


def planned(asked: Asked, file: str) -> None:
    """How far off an answer may be, from public numbers."""
    bill = bill_of(asked.function, *asked.about(file), epsilon=1, **asked.terms)
    assert bill.worst_error is not None


def simulated(asked: Asked, file: str) -> None:
    draws = discreet.simulate(asked.function, *asked.about(file), epsilon=1, size=3, **asked.terms)
    assert len(draws.values) == 3


def as_a_distribution(asked: Asked, file: str) -> None:
    law = discreet.distribution(asked.function, *asked.about(file), epsilon=1, **asked.terms)
    assert law is not None


def audited(asked: Asked, file: str, folder: Path) -> None:
    """What draws tell of the loss between neighbours is within the promise."""
    less = engines.to_csv(TABLE.slice(1), folder)
    drawn = [
        map(
            str,
            discreet.simulate(
                asked.function, *asked.about(data), epsilon=1, size=30, **asked.terms
            ).values,
        )
        for data in (file, less)
    ]
    result = discreet.audit.samples(*drawn, confidence="0.999999", delta=DELTA)
    assert result.epsilon <= 1


def on_the_command_line(asked: Asked, file: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = [file if word == "FILE" else word for word in asked.words.split()]
    assert run([*words, "--epsilon", "1000"]) == 0, capsys.readouterr().err
    assert capsys.readouterr().out


DESCRIPTION = """
ledger = "budget.db"
[datasets.people]
source = "{file}"
answers_after = "0s"
budget = {{ epsilon = "9" }}
columns.age = {{ type = "number" }}
[analysts.ann]
datasets = ["people"]
share = {{ epsilon = "9" }}
verbs = ["median"]
"""


class Service:
    """A service whose owner declared no bounds: asked by a connection, over HTTP and at its pages."""

    def __init__(self, file: str) -> None:
        shutil.copy(file, "people.csv")  # the file itself is not described, for all other places
        text = DESCRIPTION.format(file="people.csv")
        Path("discreet.toml").write_text(text, encoding="utf-8")
        for analyst in (None, "ann"):
            open_described(configuration(), "people", analyst)
        later = dt.datetime(2999, 1, 1, tzinfo=dt.UTC)
        token = tokens_beside(Path("discreet.toml")).create("analyst", "ann", later)[0]
        app: Any = make_app(configuration(), ["testserver", "service.test"])
        self.here = discreet.connect(analyst="ann")
        self.there = Connection(HttpClient(InTheProcess(app, token)), "a service")
        self.person = Person(app)
        self.person.enter(token)

    def ask(self, place: str) -> None:
        """Ask for a median without bounds in one of these ways."""
        if place != "pages":
            way = self.here if place == "connection" else self.there
            assert way.median("people", "age", epsilon=1).charged
            return
        plan = self.person.read("/plan?dataset=people&verb=median&column=age&epsilon=1")
        assert "It was paid now." in self.person.submit(plan.form("/ask")).text


@pytest.fixture(scope="module")
def service(file: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv("DISCREET_CONFIG", raising=False)
        with contextlib.chdir(tmp_path_factory.mktemp("service")):
            service = Service(file)
        yield service


def at_a_service(asked: Asked, place: str, service: Service) -> None:
    """All examples are asked in each of these ways in tests/service/test_released_numbers.py."""
    examples = [
        one for one in EXAMPLES.values() if one.verb == asked.verb and one.column == asked.column
    ]
    if asked.verb == "median" and not asked.terms:
        service.ask(place)
        return
    assert any(_same_kind(one.terms, asked.terms) for one in examples)


def _same_kind(terms: Any, ours: Any) -> bool:
    special = {name for name in ("delta", "method", "gap", "groups") if name in ours}
    return special <= set(terms)


def in_chinese(asked: Asked, file: str) -> None:
    bill = bill_of(asked.function, *asked.about(file), epsilon=1, **asked.terms)
    with using_language("zh"):
        for text in (bill.query, asked.ask(file, epsilon=10).promise):
            assert any("一" <= letter <= "鿿" for letter in translate(text)), text


def test_every_cell_is_known() -> None:
    assert {*REASONS} <= {*cells()}
    assert all(len(reason) > 20 for reason in REASONS.values())


class Places:
    """What asks a verb in each place."""

    def __init__(self, file: str, ledger: Ledger, folder: Path, capsys: Any, service: Any) -> None:
        self.places: dict[str, Callable[[Asked], None]] = {
            **{name: partial(in_engine, engine=name, folder=folder) for name in ENGINES},
            **{
                name: partial(at_a_service, place=name, service=service)
                for name in ("connection", "HTTP", "pages")
            },
            "privacy_unit": partial(by_unit, file=file),
            "by": partial(by_groups, file=file),
            "where": partial(about_some_rows, file=file, folder=folder),
            "description": partial(about_a_description, file=file),
            "ledger": partial(from_a_ledger, file=file, ledger=ledger),
            "batch": partial(in_a_batch, file=file),
            "quote": partial(quoted, file=file),
            "plan": partial(planned, file=file),
            "simulate": partial(simulated, file=file),
            "distribution": partial(as_a_distribution, file=file),
            "audit": partial(audited, file=file, folder=folder),
            "command line": partial(on_the_command_line, file=file, capsys=capsys),
            "Chinese": partial(in_chinese, file=file),
        }


_EVERY_RUN = ("polars", "csv")
"""Engines that are asked in every run; the others as proofs, as each verb has its own tests in all engines."""


def _cell(verb: str, place: str) -> Any:
    slow = place in ENGINES and place not in _EVERY_RUN
    marks = [pytest.mark.proof] if slow else []
    return pytest.param(verb, place, marks=marks, id=f"{verb} | {place}")


@pytest.mark.parametrize(("verb", "place"), [_cell(*cell) for cell in cells()])
def test_a_verb_is_asked_in_a_place(
    verb: str,
    place: str,
    file: str,
    ledger: Ledger,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    service: Service,
) -> None:
    ask = Places(file, ledger, tmp_path, capsys, service).places[place]
    if (verb, place) not in REASONS:
        ask(VERBS[verb])
        return
    with pytest.raises(
        (DiscreetError, TypeError, AssertionError)
    ):  # or the reason does not hold any more
        ask(VERBS[verb])


def test_the_docs_have_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == written()


def test_all_places_are_asked(file: str, ledger: Ledger, tmp_path: Path) -> None:
    assert {*Places(file, ledger, tmp_path, None, None).places} == {*PLACES}
