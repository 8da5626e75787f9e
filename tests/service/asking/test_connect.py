"""connect: one interface to described datasets, for the owner and for analysts."""

import copy
import pickle
import pydoc
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet import Connection
from discreet.errors import (
    DiscreetError,
    Exhausted,
    InvalidArgument,
    InvalidDescription,
    MissingColumn,
    RequestConflict,
    Unanswerable,
    UnknownBudget,
    UnknownName,
)
from discreet.ledger.toml_budgets import configuration, open_described
from discreet.tables.verb_table import VERBS

from ...canaries import exception_leads_to

TEXT = """\
ledger = "budget.db"
[datasets.people]
source = "SECRET-PLACE.csv"
max_failures = 1
budget = { epsilon = "30" }
columns.age = { type = "integer", minimum = 0, maximum = 120 }
columns.city = { type = "string", enum = ["Bern", "Basel"] }
[datasets.people.questions.typical-age]
verb = "median"
column = "age"
epsilon = "1/2"
description = "the age in the middle"
[datasets.people.questions.city]
verb = "mode"
column = "city"
epsilon = 8
[datasets.rivals]
source = "rivals.csv"
max_failures = 1
budget = { epsilon = "9" }
columns.x = { type = "integer", minimum = 0, maximum = 9 }
questions.high = { verb = "maximum", column = "x", epsilon = 1 }
questions.city = { verb = "mode", column = "x", epsilon = 1 }
[analysts.ann]
datasets = ["people"]
share = { epsilon = "10" }
verbs = ["mode", "median"]
max_epsilon = "1/4"
[analysts.bob]
datasets = ["people", "rivals"]
share = { epsilon = "3" }
[analysts.eve]
datasets = ["rivals"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    write_files()
    return tmp_path


@pytest.fixture(scope="module")
def asked_nothing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One folder for all tests that release nothing."""
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path_factory.mktemp("described"))
        write_files()
        yield Path("discreet.toml").absolute()


def write_files() -> None:
    Path("discreet.toml").write_text(TEXT)
    Path("SECRET-PLACE.csv").write_text("age,city\n" + "30,Bern\n" * 99)
    Path("rivals.csv").write_text("x\n1\n2\n")
    for name in ("people", "rivals"):
        open_described(configuration(), name)
    for name, analyst in (("people", "ann"), ("people", "bob"), ("rivals", "bob")):
        open_described(configuration(), name, analyst)


def tells(thing: object) -> bool:
    return isinstance(thing, str) and "SECRET-PLACE" in thing


def spent(of: Connection) -> dict[str, Fraction | None]:
    return {budget.name: budget.spent.epsilon for budget in of.budgets()}


def test_the_owner_asks_what_is_declared(folder: Path) -> None:
    owner = discreet.connect("discreet.toml")
    asked = [(one.name, one.access) for one in owner.questions()]
    assert asked == [
        ("people", "typical-age"), ("people", "city"), ("rivals", "high"), ("rivals", "city"),
    ]  # fmt: skip
    assert str(owner.quote("typical-age").after) == "ε = 16.5"
    first = owner.ask("typical-age", request="a")
    again = owner.ask("typical-age", request="a")
    assert (first.value, first.charged, again.charged) == (again.value, True, False)
    assert owner.ask("city", dataset="people").value == "Bern"
    assert spent(owner)["people"] == 10 + 3 + Fraction(17, 2)
    assert list(owner.columns("people")) == ["age", "city"]


def test_an_analyst_is_charged_a_share_and_sees_no_other(folder: Path) -> None:
    ann = discreet.connect(analyst="ann")
    assert {one.name for one in ann.questions()} == {"people"}
    assert ann.ask("city").value == "Bern"  # not ambiguous: rivals are not ann's
    assert spent(ann) == {"people / ann": 8}
    assert spent(discreet.connect())["people"] == 10 + 3  # the shares, whatever was asked
    with pytest.raises(Exhausted, match="people / ann cannot pay ε = 8"):
        ann.ask("city")
    (one,) = ann.releases()
    assert (one.dataset, one.analyst, one.is_answered) == ("people", "ann", True)
    assert ann.ask("city", request=one.request).charged is False
    assert discreet.connect(analyst="bob").releases() == []
    assert [str(r.guarantee.pure) for r in discreet.connect().releases()] == ["8"]
    for of in ("rivals", "nothing"):
        with pytest.raises(UnknownName, match=rf"must be one of people, got '{of}'"):
            ann.quote("high", dataset=of)
    with pytest.raises(UnknownName, match=r"no question 'high'. There are typical-age, city"):
        ann.quote("high")


def test_an_ambiguous_question_is_asked_with_its_dataset(folder: Path) -> None:
    bob = discreet.connect(analyst="bob")
    with pytest.raises(InvalidArgument, match=r"about people and rivals. Say which"):
        bob.quote("city")
    assert bob.quote("city", dataset="rivals").name == "rivals / bob"


def test_verbs_of_a_connection_show_their_arguments(folder: Path) -> None:
    ann = discreet.connect(analyst="ann")
    for method in (ann.median, ann.best_price):
        text = pydoc.plain(pydoc.render_doc(method))
        arguments = " ".join(text.split())  # a line each since Python 3.13
        assert re.search(
            rf"{method.__name__}\( ?dataset: str, column: str, \*, request: ", arguments
        )
        assert "partial" not in text
        assert "max_cost: the most that" in text


def test_free_questions_where_the_owner_allows_them(folder: Path) -> None:
    ann = discreet.connect(analyst="ann")
    answer = ann.median("people", "age", epsilon="1/4", request="m")
    assert 0 <= answer.value <= 120
    assert answer.guarantee.pure == Fraction(1, 4)
    again = ann.ask_free("median", "people", "age", epsilon=Fraction(1, 4), request="m")
    assert (again.value, again.charged) == (answer.value, False)
    assert str(ann.quote_free("mode", "people", "city", epsilon="1/8").cost) == "ε = 0.125"
    counted = ann.mode("people", "age", candidates=[30, 31], epsilon="1/8", by="city")
    assert set(counted.value) == {"Bern", "Basel"}


REFUSED: list[tuple[Callable[[Connection], object], type[DiscreetError], str]] = [
    (lambda c: c.median("people", "age", epsilon="0.2500001"), InvalidArgument, "up to ε = 0.25 here"),
    (lambda c: c.median("people", "age", epsilon="1/8", size=3), InvalidArgument, "takes no 'size'"),
    (lambda c: c.median("people", "age", scale="0.001"), InvalidArgument, "up to ε = 0.25 here"),
    (lambda c: c.median("people", "age", rho="1"), InvalidArgument, "and this one has ε ≤ "),
    (lambda c: c.maximum("people", "age", epsilon="1/8"), InvalidArgument, "only mode, median"),
    (lambda c: c.ask_free("laplace", "people", "age", epsilon=1), UnknownName, "must be one of"),
    (lambda c: c.mode("rivals", "x", epsilon="1/8"), UnknownName, "must be one of people"),
    (lambda c: c.mode("people", "wage", epsilon="1/8"), MissingColumn, "no column 'wage'"),
    (lambda c: c.median("people", "city", epsilon="1/8"), InvalidArgument, "declared as string"),
    (lambda c: c.mode("people", "city"), InvalidArgument, "epsilon"),
    (lambda c: c.mode("people", "city", epsilon="x"), InvalidArgument, "finite number"),
    (lambda c: c.mode("people", "city", epsilon="1/8", candidates=["Rome"]), InvalidArgument, "'Rome'"),
    (lambda c: c.mode("people", "city", epsilon="1/8", candidates=[[["Bern"]]]), InvalidArgument, "plain"),
    (
        lambda c: c.mode(
            "people", "city", epsilon="1/8", candidates=discreet.CandidateTable("rivals.csv", "x")
        ),
        InvalidArgument, "must be a plain value",
    ),
    (
        lambda c: c.mode("people", "city", epsilon="1/8", mechanism=discreet.mechanisms.NoisyMax("gumbel")),
        InvalidArgument, "must be a plain value",
    ),
    *(
        (lambda c, name=name, value=value: c.mode("people", "city", epsilon="1/8", **{name: value}),
         InvalidArgument, f"takes no '{name}'")
        for name, value in [
            ("unsafe_candidates_from_data", True), ("ledger", None), ("neighbors", "replace_one"),
            ("privacy_unit", "city"), ("data", 1), ("alpha", 1), ("description", "x"),
        ]
    ),
    (lambda c: c.ask("typical-age", max_cost="0.4"), InvalidArgument, "more than max_cost = 0.4"),
    (lambda c: c.quote_free("mode", "people", "city", rho="1/8"), InvalidArgument, "up to ε = 0.25 here"),
    (lambda c: c.ask("typical\n-age"), InvalidArgument, "printable name"),
]  # fmt: skip


@pytest.mark.parametrize(("ask", "error", "match"), REFUSED)
@pytest.mark.one_in(4)
def test_what_is_not_allowed_is_refused_and_charges_nothing(
    asked_nothing: Path, ask: Callable[[Connection], object], error: type[DiscreetError], match: str
) -> None:
    ann = discreet.connect(asked_nothing, analyst="ann")
    with pytest.raises(error, match=match) as caught:
        ask(ann)
    assert spent(ann) == {"people / ann": 0}
    assert "SECRET" not in str(caught.value)
    assert not exception_leads_to(caught.value, tells)


@pytest.mark.parametrize("verb", VERBS)
def test_without_verbs_only_named_questions(asked_nothing: Path, verb: str) -> None:
    bob = discreet.connect(asked_nothing, analyst="bob")
    terms: dict[str, Any] = {"statement": "SELECT"} if verb == "sql" else {"epsilon": 1}
    with pytest.raises(InvalidArgument, match="only questions of its owner"):
        bob.ask_free(verb, "rivals", "x", **terms)


def test_what_fails_because_of_the_data_is_charged_and_is_one_error(folder: Path) -> None:
    ann = discreet.connect(analyst="ann")
    told = set()
    for text in (None, "age\n1\n", ""):
        Path("SECRET-PLACE.csv").unlink(missing_ok=True)
        if text is not None:
            Path("SECRET-PLACE.csv").write_bytes(text.encode("latin-1"))
        before = spent(ann)["people / ann"] or 0
        with pytest.raises(Unanswerable) as caught:
            ann.mode("people", "city", epsilon="1/4", request=f"r{before}")
        told.add(str(caught.value))
        assert any("this is paid" in note for note in caught.value.__notes__)
        assert not exception_leads_to(caught.value, tells)
        assert spent(ann)["people / ann"] == before + Fraction(1, 4)
        discreet.connect().reopen("people")
    assert told == {"this question cannot be answered. The owner of the data can see why"}


def test_a_charged_failure_stands_for_the_answer(folder: Path) -> None:
    ann = discreet.connect(analyst="ann")
    there = Path("SECRET-PLACE.csv").read_text()
    Path("SECRET-PLACE.csv").unlink()
    with pytest.raises(Unanswerable):
        ann.ask("city", request="r")
    Path("SECRET-PLACE.csv").write_text(there)
    with pytest.raises(Unanswerable) as again:
        ann.ask("city", request="r")
    assert again.value.charged is True
    assert spent(ann) == {"people / ann": 8}
    assert [(one.is_answered, one.has_failed) for one in ann.releases()] == [(False, True)]


def test_a_request_is_one_question(folder: Path) -> None:
    ann = discreet.connect(analyst="ann")
    ann.ask("typical-age", request="r")
    with pytest.raises(RequestConflict):
        ann.median("people", "age", epsilon="1/4", request="r")
    # Another analyst's request of the same name is another request.
    bob = discreet.connect(analyst="bob")
    assert bob.ask("typical-age", request="r").charged


def test_max_cost_is_in_the_unit_of_the_budget(folder: Path) -> None:
    ann = discreet.connect(analyst="ann")
    assert ann.ask("typical-age", max_cost="1/2").charged
    with pytest.raises(InvalidArgument, match="max_cost must be greater than zero"):
        ann.ask("typical-age", max_cost=0)


def test_a_question_costs_what_it_says_under_the_relation_of_its_budget(folder: Path) -> None:
    Path("budget.db").unlink()
    Path("discreet.toml").write_text(
        TEXT.replace('epsilon = "30" }', 'epsilon = "30", neighbors = "replace_one" }')
    )
    for name in ("people", "rivals"):
        open_described(configuration(), name)
    open_described(configuration(), "people", "ann")
    ann = discreet.connect(analyst="ann")
    assert str(ann.quote("typical-age").cost) == "ε = 0.5"
    assert ann.median("people", "age", epsilon="1/4").guarantee.neighbors == "replace_one"


def test_only_the_owner_makes_a_ledger_and_opens_budgets(folder: Path) -> None:
    with pytest.raises(
        UnknownBudget, match=r"no share was opened for eve.* open rivals --analyst eve"
    ):
        discreet.connect(analyst="eve")
    with pytest.raises(UnknownName, match="no analyst 'mallory'"):
        discreet.connect(analyst="mallory")
    Path("budget.db").unlink()
    with pytest.raises(UnknownBudget, match="only the owner of the data opens one"):
        discreet.connect()
    assert not Path("budget.db").exists()
    open_described(configuration(), "people")
    owner = discreet.connect()
    with pytest.raises(UnknownBudget, match="discreet ledger open rivals"):
        owner.maximum("rivals", "x", epsilon=1)
    with pytest.raises(UnknownBudget, match="rivals"):
        owner.ask("high")


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ('ledger = "budget.db"', "", "declares no ledger"),
        (
            'epsilon = "1/2"',
            'epsilon = "-1"',
            r"line 11: datasets.people.questions.typical-age.epsilon: epsilon",
        ),
        ("epsilon = 8", "", "datasets.people.questions.city"),
        ("epsilon = 8", "epsilon = 8\ncandidates = ['Rome']", "'Rome' is not among"),
    ],
)
def test_a_description_that_cannot_be_asked_is_refused(
    folder: Path, old: str, new: str, match: str
) -> None:
    Path("discreet.toml").write_text(TEXT.replace(old, new))
    with pytest.raises(InvalidDescription, match=match):
        discreet.connect("discreet.toml")


def test_a_connection_leads_nowhere(folder: Path) -> None:
    ann = discreet.connect("discreet.toml", analyst="ann")
    assert repr(ann) == "Connection(discreet.toml, as ann)"
    for leave in (copy.copy, copy.deepcopy, pickle.dumps):
        taken: Any = leave
        with pytest.raises(TypeError):
            taken(ann)
    assert not isinstance(ann.columns("people"), dict)


def test_past_releases_are_plain(folder: Path) -> None:
    owner = discreet.connect()
    owner.ask("typical-age", request="r")
    (one,) = owner.releases()
    assert one.as_dict()["guarantee"] == one.guarantee.as_dict()
    assert str(one).endswith("people: median of age, 0 to 120 by 1 [ε = 0.5 "
                             "(add/remove one record)], request r")  # fmt: skip


def test_a_renewed_budget_is_charged_and_the_lists_say_which(folder: Path) -> None:
    people = configuration().dataset("people")
    before = discreet.connect("discreet.toml", analyst="ann")
    asked = before.ask("typical-age", request="a")
    ledger = discreet.Ledger("budget.db")
    ledger.renew(people, "2027", epsilon=20)
    with pytest.raises(UnknownName):
        before.ask("typical-age")  # no share of the new budget
    open_described(configuration(), "people", "ann")
    assert before.ask("typical-age", request="b").charged
    assert before.median("people", "age", epsilon="1/4").charged
    told = [(b.name, b.is_current, str(b.spent.epsilon)) for b in before.budgets()]
    assert told == [("people / ann", False, "1/2"), ("people 2027 / ann", True, "3/4")]
    assert [past.request for past in before.releases()][:2] == ["a", "b"]
    owner = discreet.connect("discreet.toml")
    assert {b.name: b.is_current for b in owner.budgets()} == {
        "people": False, "people / ann": False, "people / bob": False,
        "people 2027": True, "people 2027 / ann": True, "rivals": True, "rivals / bob": True,
    }  # fmt: skip
    # The answer of a request that was charged to the budget before is still there, at no cost.
    again = ledger.session("people", "ann").median(people, "age", epsilon="1/2", request="a")
    assert (again.value, again.charged) == (asked.value, False)


def test_a_second_dataset_of_a_source_is_charged_to_its_budget(folder: Path) -> None:
    Path("discreet.toml").write_text(
        TEXT.replace('"rivals.csv"', '"SECRET-PLACE.csv"').replace("columns.x", "columns.age")
        .replace('column = "x"', 'column = "age"')
    )  # fmt: skip
    Path("budget.db").unlink()
    open_described(configuration(), "people")
    owner = discreet.connect("discreet.toml")
    owner.ask("high")
    assert {b.name: str(b.spent.epsilon) for b in owner.budgets()} == {"people": "1"}
