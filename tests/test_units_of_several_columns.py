"""A privacy unit of several columns, on all its ways: verbs, descriptions, ledgers, commands, services, reports."""

import asyncio
import datetime as dt
import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet
from discreet import Dataset, Grid
from discreet.cli import run
from discreet.cli.releasing import UNDESCRIBED_TEXT
from discreet.errors import InvalidArgument, InvalidDescription, RequestConflict
from discreet.ledger import Ledger
from discreet.ledger.toml_budgets import configuration, open_described
from discreet.selection.releases import Release
from discreet.selection.verb_calls import bill_of
from discreet.service.asking.wire import (
    read_budget,
    read_question,
    read_release,
    write_question,
    write_release,
)

from .ledger.test_units import ASKED, personal
from .ledgers import untouched

PAIR = ("household", "person")
NAMES: Sequence[Any] = [
    "a",
    "b",
    "a, b",
    "(a, b)",
    '["a","b"]',
    "['a', 'b']",
    "a b",
    "ä",
    '"a"',
    "a\\",
]
UNITS: Sequence[Any] = [
    *NAMES,
    ("a", "b"),
    ("a", "a, b"),
    ("a", "a b"),
    ('"a"', "b"),
    ("a", "b", "ä"),
]


@pytest.mark.parametrize("verb", ASKED.values(), ids=ASKED)
def test_every_verb_takes_it(verb: Callable[..., Release]) -> None:
    unit = ["person", "drink"]
    assert bill_of(verb, privacy_unit=unit).unit == ("drink", "person")
    ledger = Ledger()
    ledger.open("visits", epsilon=1, privacy_unit=unit)
    ledger.open("others", epsilon=1, privacy_unit="drink, person")
    with pytest.raises(
        InvalidArgument, match=r"and this release all rows of one \(drink, person\)"
    ):
        verb(privacy_unit=unit, ledger=ledger.session("others"))
    if verb is ASKED["randomized_response"]:
        return  # it is of one record, which is replaced
    release = verb(privacy_unit=unit, ledger=ledger.session("visits"))
    assert release.unit == ("drink", "person")
    assert release.as_dict()["privacy_unit"] == ["drink", "person"]
    assert "one (drink, person))" in str(release)
    assert read_release(json.loads(json.dumps(write_release(release)))).unit == release.unit
    assert ledger.verify()


def test_digests_tell_units_apart() -> None:
    verb = ASKED["select"]
    digests = {bill_of(verb, privacy_unit=unit).digest for unit in UNITS}
    assert len(digests) == len(UNITS)
    one, other = (bill_of(verb, privacy_unit=u) for u in (["a", "b"], ["b", "a"]))
    assert (one.digest, one.query) == (other.digest, other.query)


FAMILIES = pl.DataFrame(
    {
        "household": ["1", "1", "1", "2", "2", None, "11"],
        "person": ["1", "1", "2", "1", "1", "1", "1"],
        "drink": ["tea", "milk", "milk", "tea", "tea", "tea", "tea"],
        "age": [30, 31, 32, 33, 34, 35, 36],
    }
)
DRINKS = ["tea", "milk"]


def test_pairs_count_once_each() -> None:
    """Without the household three people are one; a row without it is nobody's."""
    from discreet.tables.engines.engine import open_table
    from discreet.tables.engines.records import Records

    for unit, counts in ((PAIR, [3, 2]), ("person", [1, 2]), ("household", [3, 1])):
        assert open_table(FAMILIES, "drink", Records(unit)).tally(DRINKS) == [counts]


def test_a_ledger_keeps_it(tmp_path: Path) -> None:
    where = str(tmp_path / "budget.db")
    ledger = Ledger(where)
    budget = ledger.open("visits", epsilon=2, privacy_unit=["person", "household"])
    ledger.open("visits", analyst="ann", epsilon=1, privacy_unit=PAIR)
    assert str(budget) == "visits: ε: 0 of 2 spent, 2 left (add/remove one (household, person))"
    session = ledger.session("visits", "ann")
    asked: dict[str, Any] = {
        "candidates": DRINKS,
        "epsilon": "1/2",
        "ledger": session,
        "request": "r",
    }
    first = discreet.mode(FAMILIES, "drink", privacy_unit=PAIR, **asked)
    again = discreet.mode(FAMILIES, "drink", privacy_unit=["person", "household"], **asked)
    assert (again.value, again.charged) == (first.value, False)
    with pytest.raises(RequestConflict):
        discreet.mode(FAMILIES, "drink", privacy_unit="household, person", **asked)
    with pytest.raises(InvalidArgument, match=r"ask with privacy_unit=\['household', 'person'\]"):
        session.buy(personal("1/3", unit="person"), untouched)
    charge = session.charge(
        discreet.privacy.PureDP(Fraction(1, 4), "add_remove"),
        description="d",
        request="x",
        privacy_unit=PAIR,
    )
    assert charge.unit == PAIR
    assert charge.as_dict()["privacy_unit"] == [*PAIR]
    reopened = Ledger(where)
    assert {budget.unit for budget in reopened.budgets()} == {PAIR}
    assert reopened.verify().events == 5
    opened = reopened.history()[0]
    assert opened.body["privacy_unit"] == [*PAIR]
    assert str(opened).endswith("opened visits per (household, person)")
    assert reopened.open("visits", epsilon=2, privacy_unit=PAIR).spent.epsilon == 1
    for other in ("household, person", "(household, person)", "household", ["household", "age"]):
        with pytest.raises(InvalidArgument, match="opened as"):
            reopened.open("visits", epsilon=2, privacy_unit=other)
    read = read_budget(json.loads(json.dumps(budget.as_dict())))
    assert read == budget


def test_a_node_and_a_threshold_take_it() -> None:
    ledger = discreet.Ledger()
    ledger.open("visits", epsilon=1, privacy_unit=PAIR)
    node = discreet.connect(datasets={"visits": FAMILIES}, ledger=ledger)
    node.allow(
        "visits", "drinks", discreet.mode, "drink", candidates=DRINKS, epsilon=1, privacy_unit=PAIR
    )
    assert node.ask("drinks").unit == PAIR
    assert [budget.unit for budget in node.budgets()] == [PAIR]
    above = discreet.AboveThreshold(1, 1, 1, privacy_unit=["person", "household"])
    assert above.privacy_unit == PAIR


TOML = """\
ledger = "budget.db"
[datasets.families]
source = "families.csv"
answers_after = "0s"
privacy_unit = ["person", "household"]
max_contributions = 1
budget = { epsilon = "20" }
columns.age = { type = "integer", minimum = 0, maximum = 120 }
columns.drink = { type = "string", enum = ["tea", "milk"] }
[datasets.families.questions.drink]
verb = "mode"
column = "drink"
epsilon = 8
[analysts.ann]
datasets = ["families"]
share = { epsilon = "10" }
verbs = ["mode", "median"]
"""


@pytest.fixture
def described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    FAMILIES.write_csv("families.csv")
    Path("discreet.toml").write_text(TOML)
    return tmp_path


def test_a_description_declares_it(described: Path) -> None:
    declared = configuration()
    families = declared.dataset("families")
    assert families.privacy_unit == PAIR
    assert "(household, person)" in str(declared.rows())
    assert "privacy_unit=['household', 'person']" in repr(families)
    assert "all rows of one (household, person) are a record" in families._repr_html_()
    columns = {"drink": {"type": "string", "enum": DRINKS}}
    pairs = Dataset("families.csv", columns, privacy_unit=PAIR)
    single = Dataset("families.csv", columns, privacy_unit="household, person")
    assert len({pairs.digest, single.digest}) == 2
    with pytest.raises(InvalidArgument, match=r"declares all rows of one \(household, person\)"):
        discreet.mode(pairs, "drink", epsilon=1, privacy_unit="person")
    assert (
        discreet.mode(pairs, "drink", epsilon=1, privacy_unit=["person", "household"]).unit == PAIR
    )


@pytest.mark.parametrize(
    "wrong", ["[]", '["a", "a"]', '["a", 3]', '["a", ""]', "3", '["FILL IN: x", "b"]']
)
def test_a_description_is_refused_with_its_line(wrong: str, described: Path) -> None:
    Path("discreet.toml").write_text(TOML.replace('["person", "household"]', wrong))
    with pytest.raises(InvalidDescription, match=r"discreet.toml, line [2-5]"):
        configuration()


def test_a_budget_of_a_description_is_about_it(described: Path) -> None:
    open_described(configuration(), "families")
    open_described(configuration(), "families", "ann")
    ann = discreet.connect(analyst="ann")
    [question] = ann.questions()
    assert "one (household, person)" in str(question)
    assert read_question(json.loads(json.dumps(write_question(question)))) == question
    release = ann.ask("drink", request="r")
    assert release.unit == PAIR
    assert ann.ask("drink", request="r").charged is False
    assert ann.median("families", "age", epsilon="1/8").unit == PAIR
    ledger = Ledger(described / "budget.db")
    assert ledger.verify()
    assert {budget.unit for budget in ledger.budgets()} == {PAIR}
    [bound] = [event for event in ledger.history() if event.kind == "described"]
    assert bound.body["privacy_unit"] == [*PAIR]
    Path("discreet.toml").write_text(TOML.replace('["person", "household"]', '"household, person"'))
    with pytest.raises(InvalidArgument, match="privacy unit was"):
        discreet.connect(analyst="ann").ask("drink", request="s")


def test_commands_take_it_as_often_as_there_are_columns(
    described: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pair = ["--privacy-unit", "person", "--privacy-unit", "household"]
    asked = ["mode", "./families.csv", "drink", "--candidates", "tea,milk", "--epsilon", "50"]
    Path("discreet.toml").unlink()
    assert run([*asked, *pair]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == (
        "tea\n",
        f"{UNDESCRIBED_TEXT}\nε = 50 (add/remove one (household, person)), exponential mechanism\n"
        "in 95 of 100 answers the answer is as good as the best one\n",
    )
    assert run([*asked, *pair, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["privacy_unit"] == ["household", "person"]
    assert run([*asked, "--privacy-unit", "person", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["privacy_unit"] == "person"
    assert run([*asked, "--json"]) == 0
    assert "privacy_unit" not in json.loads(capsys.readouterr().out)
    opened = ["ledger", "open", "l.db", "--dataset", "d", "--epsilon", "100"]
    assert run([*opened, *pair]) == 0
    charged = ["ledger", "charge", "l.db", "--dataset", "d", "--epsilon", "1", "--description", "x"]
    assert run([*charged, "--request", "r", *pair]) == 0
    assert run([*asked, *pair, "--ledger", "l.db", "--dataset", "d"]) == 0
    assert run([*charged, "--request", "s", "--privacy-unit", "person"]) == 2
    capsys.readouterr()
    assert run(["ledger", "show", "l.db"]) == 0
    assert run(["ledger", "history", "l.db"]) == 0
    assert run(["ledger", "verify", "l.db"]) == 0
    assert capsys.readouterr().out.count("(household, person)") >= 2


def test_reports_name_it(described: Path) -> None:
    ledger = Ledger()
    ledger.open("d", epsilon=2, privacy_unit=PAIR)
    release = discreet.mode(
        FAMILIES,
        "drink",
        candidates=DRINKS,
        epsilon=1,
        privacy_unit=PAIR,
        ledger=ledger.session("d"),
    )
    for subject in (release, ledger):
        discreet.report(subject, "r.html", dataset="d" if subject is ledger else None)
        assert "one (household, person)" in Path("r.html").read_text()


def test_a_service_tells_it(described: Path) -> None:
    httpx = pytest.importorskip("httpx", reason="the extra server is not installed")
    pytest.importorskip("starlette", reason="the extra server is not installed")
    from discreet.service.asking.tokens import tokens_beside
    from discreet.service.http.app import make_app

    open_described(configuration(), "families")
    open_described(configuration(), "families", "ann")
    later = dt.datetime(2999, 1, 1, tzinfo=dt.UTC)
    token, _ = tokens_beside(Path("discreet.toml")).create("analyst", "ann", later)
    app: Any = make_app(configuration(), ["testserver"])

    async def replied(method: str, url: str, **sent: Any) -> Any:
        headers = {"Authorization": f"Bearer {token}", **sent.pop("headers", {})}
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://testserver", headers=headers
        ) as client:
            return await client.request(method, url, **sent)

    [question] = asyncio.run(replied("GET", "/v1/questions")).json()
    assert question["unit"] == [*PAIR]
    asked = asyncio.run(
        replied("POST", "/v1/answers", json={"question": "drink"}, headers={"Idempotency-Key": "k"})
    )
    assert asked.status_code == 200, asked.text
    assert asked.json()["unit"] == [*PAIR]
    budgets = asyncio.run(replied("GET", "/v1/budgets")).json()
    assert [budget["privacy_unit"] for budget in budgets] == [[*PAIR]]


def test_grids_are_bounded_per_pair() -> None:
    from discreet.tables.engines.column import Source
    from discreet.tables.engines.records import Records

    grid = Grid(0, 120)
    [group] = Source(FAMILIES, "age", Records(PAIR, rows=1)).groups
    values, counts = group.numbers()
    assert grid.size == 121
    assert counts is not None
    assert counts.sum() == 4
    assert {32, 36} <= {*values.tolist()}
