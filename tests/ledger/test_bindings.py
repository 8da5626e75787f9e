"""A budget belongs to a described dataset: what is about other data is refused, and no edit renews a budget."""

import itertools
import sqlite3
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet import Dataset, Grid, Ledger
from discreet.errors import Exhausted, InvalidArgument, LedgerCorrupt, UnknownBudget, UnreadableData
from discreet.ledger.bindings import Bindings, BudgetSource, sources_of
from discreet.ledger.events import EventBody
from discreet.tables.datasets.extents import extent_of
from discreet.tables.datasets.sources import is_in_database
from discreet.tables.engines.reach import Reach

from ..ledgers import answering, bill
from ..tables.datasets.test_calls import Untouched

COLUMNS: dict[str, Any] = {
    "age": {"type": "integer", "minimum": 0, "maximum": 120},
    "city": {"type": "string", "enum": ["Basel", "Bern"]},
}
ROWS = {"user": ["a", "b"], "age": [30, 40], "city": ["Bern", "Bern"]}
BARE = "these data have no description"
TERMS: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 2}


def people(
    source: object = ROWS, name: str | None = "people", columns: Any = COLUMNS, **changed: Any
) -> Dataset:
    return Dataset(source, columns, name=name, **{**TERMS, **changed})


def opened(*described: Dataset, **terms: Any) -> Ledger:
    ledger = Ledger()
    for one in described:
        ledger.open(one, **{"epsilon": 9, **terms})
    return ledger


def asks(data: object) -> Callable[[Any], Any]:
    return lambda session: session.median(data, "age", epsilon=1)


@pytest.mark.parametrize(
    ("ask", "reason"),
    [
        (asks(people(Untouched(), name="visits")), "belongs to people, and this is about visits"),
        (asks(people(Untouched(), name=None)), "this is about other data"),
        (asks(people(Untouched(), privacy_unit="other")), "its privacy unit was 'user'"),
        (asks(people(Untouched(), max_contributions=5)), "its max_contributions was 2 and is 5"),
        (asks(people("/other.csv")), "its source was None and is '/other.csv'"),
        (lambda s: s.median(Untouched(), "age", candidates=Grid(0, 9), epsilon=1), BARE),
        (lambda s: s.mode(Untouched(), "city", candidates=["a"], epsilon=1), BARE),
        (lambda s: s.top_k(Untouched(), "city", k=1, candidates=["a"], epsilon=1), BARE),
        (lambda s: s.best_price([1], candidates=Grid(0, 9), epsilon=1), BARE),
        (lambda s: s.quantiles([1], alphas=[0.5], candidates=Grid(0, 9), epsilon=1), BARE),
        (
            lambda s: s.select_by(lambda *_: [1], Untouched(), [1], sensitivity=1, epsilon=1),
            BARE,
        ),
    ],
)  # fmt: skip
def test_a_release_about_other_data_is_refused_before_they_are_touched(
    ask: Callable[[Any], Any], reason: str
) -> None:
    ledger = opened(people())
    session = ledger.session("people")
    with pytest.raises(InvalidArgument) as refused:
        ask(session)
    assert reason in str(refused.value)
    assert len(ledger.history()) == 2  # opened and described: nothing was charged


def test_quotes_and_batches_refuse_the_same() -> None:
    session = opened(people()).session("people")
    other = people(Untouched(), name="visits")
    with pytest.raises(InvalidArgument, match="belongs to people"):
        session.quote(discreet.median, other, "age", epsilon=1)
    batch = discreet.Batch().add("a", discreet.median, other, "age", epsilon=1)
    with pytest.raises(InvalidArgument, match="belongs to people"):
        batch.run(session)
    assert session.quote(discreet.median, people(Untouched()), "age", epsilon=1).fits


def test_what_has_no_data_is_for_the_caller_to_know() -> None:
    """Scores, a number and other software are charged as before."""
    session = opened(people()).session("people")
    session.select([1, 2], sensitivity=1, epsilon=1, privacy_unit="user")
    session.laplace(1, sensitivity=1, epsilon=1, privacy_unit="user")
    session.select_top_k([1, 2], k=1, sensitivity=1, epsilon=1, privacy_unit="user")
    session.charge(
        discreet.privacy.PureDP(Fraction(1), "add_remove"),
        description="x",
        request="x",
        privacy_unit="user",
    )
    assert session.quote(discreet.median, people(), "age", epsilon=5).fits


def test_a_budget_without_a_description_takes_data_of_its_name_or_of_none() -> None:
    ledger = Ledger()
    ledger.open("people", epsilon=9, privacy_unit="user")
    session = ledger.session("people")
    session.median(people(), "age", epsilon=1)
    session.median(people(name=None), "age", epsilon=1)
    session.median(ROWS, "age", candidates=Grid(0, 9), epsilon=1, privacy_unit="user")
    with pytest.raises(InvalidArgument, match="the budget of people is not that of visits"):
        session.median(people(Untouched(), name="visits"), "age", epsilon=1)
    with pytest.raises(
        UnknownBudget, match="no budget of this ledger belongs to the described dataset people"
    ):
        ledger.session(people())
    ledger.open(people(), epsilon=9)  # now it has one, and what was spent stays spent
    assert ledger.session(people()).dataset == "people"
    assert str(ledger.budgets()[0].spent) == "ε = 3"


def test_editing_columns_is_an_event_and_opens_no_fresh_budget() -> None:
    ledger = opened(people())
    session = ledger.session(people())
    session.median(people(), "age", epsilon=4)
    wider = people(columns={**COLUMNS, "age": {**COLUMNS["age"], "maximum": 130}})
    session.median(wider, "age", epsilon=4)
    session.mode(wider, "city", epsilon="1/2")
    with pytest.raises(Exhausted):
        session.median(wider, "age", epsilon=1)
    ledger.open(wider, epsilon=9)
    told = [(e.kind, e.body.get("digest")) for e in ledger.history() if e.kind == "described"]
    assert told == [("described", people().digest), ("described", wider.digest)]
    assert str(ledger.budgets()[0].spent) == "ε = 8.5"
    assert ledger.verify().events == len(ledger.history())


@pytest.mark.parametrize("changed", [people("/b.csv"), people("/a.csv", max_contributions=3)])
def test_a_changed_source_or_bound_needs_the_owners_word(changed: Dataset) -> None:
    ledger = opened(people("/a.csv"))
    for _ in range(2):
        with pytest.raises(
            InvalidArgument, match=r"discreet ledger describe people. What was spent stays"
        ):
            ledger.session(changed).median(changed, "age", epsilon=1)
        with pytest.raises(InvalidArgument, match=r"ledger\.describe"):
            ledger.open(changed, epsilon=9)
    ledger.describe(changed)
    ledger.describe(changed)
    with pytest.raises(UnreadableData):  # there is no such file: it got so far
        ledger.session(changed).median(changed, "age", epsilon=1)
    with pytest.raises(InvalidArgument, match="its "):
        ledger.session(changed).median(people("/a.csv"), "age", epsilon=1)
    assert [event.kind for event in ledger.history()] == ["opened", "described", "described"]


def test_a_changed_unit_fits_no_budget_that_protects_others() -> None:
    ledger = opened(people())
    with pytest.raises(
        InvalidArgument,
        match="this description all rows of one visit",
    ):
        ledger.describe(people(privacy_unit="visit"))
    with pytest.raises(InvalidArgument, match="was opened as"):
        ledger.open(people(privacy_unit="visit"), epsilon=9)
    with pytest.raises(InvalidArgument, match="Leave privacy_unit out"):
        ledger.open(people(), epsilon=9, privacy_unit="visit")


def test_two_datasets_of_one_source_share_a_budget(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("user,age,city\na,30,Bern\nb,40,Bern\n")
    (tmp_path / "link.csv").symlink_to(file)
    one = people(file)
    two = people(tmp_path / "link.csv", name="ages", columns={"age": COLUMNS["age"]})
    ledger = opened(one, two)
    assert [budget.dataset for budget in ledger.budgets()] == ["people"]
    ledger.session(one).median(one, "age", epsilon=5)
    ledger.session(two).median(two, "age", epsilon=4)
    with pytest.raises(Exhausted):
        ledger.session(two).median(two, "age", epsilon=1)
    nameless = people(file, name=None)
    assert ledger.session(nameless).dataset == "people"
    third = people(file, name="third")
    with pytest.raises(InvalidArgument, match="was opened as ε = 9"):
        ledger.open(third, epsilon=99)


def test_a_budget_cannot_move_to_the_source_of_another(tmp_path: Path) -> None:
    ledger = opened(people("/a.csv"), people("/b.csv", name="visits"))
    with pytest.raises(InvalidArgument, match="One source has one budget"):
        ledger.describe(people("/b.csv"))


def test_a_missing_budget_is_not_opened_by_a_release() -> None:
    ledger = Ledger()
    with pytest.raises(UnknownBudget, match="discreet ledger open people"):
        ledger.session(people())
    with pytest.raises(UnknownBudget):
        ledger.describe(people())
    with pytest.raises(UnknownBudget):
        ledger.renew(people(), "2027", epsilon=1)
    with pytest.raises(InvalidArgument, match="needs a name"):
        ledger.open(people(name=None), epsilon=1)
    assert ledger.history() == []


def test_renewals_are_budgets_of_their_own_and_add_up() -> None:
    ledger = opened(people(), epsilon=1)
    ledger.session(people()).median(people(), "age", epsilon=1)
    with pytest.raises(Exhausted):
        ledger.session(people()).median(people(), "age", epsilon=1)
    new = ledger.renew(people(), "2027", epsilon=2)
    assert (new.dataset, new.unit, str(new.total)) == ("people 2027", "user", "ε = 2")
    assert ledger.renew(people(), "2027", epsilon=2).dataset == "people 2027"
    with pytest.raises(InvalidArgument, match="was opened as"):
        ledger.renew(people(), "2027", epsilon=3)
    assert ledger.session(people()).dataset == "people 2027"
    ledger.session(people()).median(people(), "age", epsilon=2)
    with pytest.raises(Exhausted):
        ledger.session(people()).median(people(), "age", epsilon=2)
    with pytest.raises(Exhausted):
        ledger.session("people").median(people(), "age", epsilon=1)
    ledger.renew(people(), "2028", epsilon=4)
    ledger.session(people()).mode(people(), "city", epsilon=4)
    assert ledger.spent(people()).epsilon == 7  # the sum over all periods
    assert [ledger.spent(name).epsilon for name in ("people", "people 2027", "people 2028")] == [
        1,
        2,
        4,
    ]
    ledger.verify()


def test_all_datasets_of_a_source_are_renewed_together() -> None:
    one, two = people("/a.csv"), people("/a.csv", name="ages")
    ledger = opened(one, two)
    ledger.renew(two, "2027", epsilon=1)
    assert {ledger.session(each).dataset for each in (one, two)} == {"people 2027"}


def test_a_name_that_is_taken_is_no_period() -> None:
    ledger = opened(people())
    ledger.open("people 2027", epsilon=5, privacy_unit="user")
    with pytest.raises(InvalidArgument, match="Name the period otherwise"):
        ledger.renew(people(), "2027", epsilon=5)


def test_shares_are_of_the_newest_budget() -> None:
    ledger = opened(people())
    ledger.renew(people(), "2027", epsilon=3)
    share = ledger.open(people(), analyst="ann", epsilon=1)
    assert share.name == "people 2027 / ann"
    ledger.session(people(), "ann").median(people(), "age", epsilon=1)
    with pytest.raises(Exhausted):
        ledger.session(people(), "ann").median(people(), "age", epsilon=1)


def test_a_request_that_was_charged_is_answered_whatever_is_described_now() -> None:
    ledger = opened(people())
    first = ledger.session(people()).median(people(), "age", epsilon=1, request="a")
    wider = people(columns={**COLUMNS, "more": {"type": "boolean"}})
    again = ledger.session(people()).median(wider, "age", epsilon=1, request="a")
    assert (first.value, again.charged) == (again.value, False)


@pytest.mark.parametrize("edit", ["source", "digest"])
def test_an_edited_description_is_found_by_the_next_release(edit: str, tmp_path: Path) -> None:
    where = tmp_path / "budget.db"
    Ledger(where).open(people("/a.csv"), epsilon=9)
    with closing(sqlite3.connect(where, isolation_level=None)) as file:
        file.execute("DROP TRIGGER discreet_no_update")
        file.execute(
            "UPDATE discreet_events SET body = replace(body, ?, 'x') WHERE kind = 'described'",
            [edit],
        )
    with pytest.raises(LedgerCorrupt):
        Ledger(where).session(people("/a.csv"))
    with pytest.raises(LedgerCorrupt):
        Ledger(where).verify()


def test_bills_without_data_need_no_description() -> None:
    ledger = Ledger()
    ledger.open(Dataset(ROWS, COLUMNS, name="people"), epsilon=9)
    assert ledger.session("people").buy(bill(1), answering(3)) == 3


def test_a_node_holds_described_data() -> None:
    node = discreet.connect(datasets={"people": people(name=None)})
    node.open_budget("people", epsilon=9)
    node.allow("people", "age", discreet.median, "age", epsilon=1)
    assert node.ask("age").unit == "user"
    assert [budget.unit for budget in node.budgets()] == ["user"]
    with pytest.raises(InvalidArgument, match="described as people, not as other"):
        discreet.connect(datasets={"other": people()})


PLACES: list[Any] = [
    *((place, None) for place in (None, "/none/a.csv", "/none/b.csv", "/none")),
    *(({"connection": f"duckdb:////none/{name}.db", "table": table}, Reach(f"main.{table}").as_dict)
      for name in "xy" for table in ("t", "u")),
    *(({"connection": f"duckdb:////none/{name}.db", "query": "FROM t"}, reach)
      for name in "xy" for reach in (None, Reach().as_dict)),
]  # fmt: skip
"""Places with their reach."""


@settings(max_examples=200, deadline=None)
@given(
    places=st.lists(st.tuples(st.integers(0, 4), st.sampled_from(PLACES)), max_size=8),
    renewals=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), max_size=6),
    pairs=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=4),
)
def test_budgets_overlap_as_their_sources_do(
    places: list[tuple[int, Any]],
    renewals: list[tuple[int, int]],
    pairs: list[tuple[int, int]],
) -> None:
    latest: dict[tuple[str, str], EventBody] = {
        (f"budget {budget}", f"name {name}"): {} for budget, name in renewals
    }
    separations = frozenset(frozenset({f"budget {one}", f"budget {two}"}) for one, two in pairs)
    sources = sources_of(BudgetSource(f"budget {budget}", *place) for budget, place in places)
    bindings = Bindings(latest, {}, sources, separations)
    separate = {frozenset(map(bindings.current, pair)) for pair in separations}

    def overlaps(one: BudgetSource, other: BudgetSource) -> bool:
        """Whether two sources overlap, one of which is in a database: two of files are compared earlier."""
        extents = extent_of(one.place, one.reach), extent_of(other.place, other.reach)
        if None in extents or not (is_in_database(one.place) or is_in_database(other.place)):
            return False
        return extents[0].overlaps(extents[1])  # type: ignore[union-attr,arg-type]

    budgets = list(dict.fromkeys(bindings.current(source.budget) for source in sources))
    expected: dict[str, list[str]] = {budget: [] for budget in budgets}
    for one, other in itertools.product(sources, sources):
        budget, second = bindings.current(one.budget), bindings.current(other.budget)
        is_new = second != budget and second not in expected[budget]
        if is_new and frozenset({budget, second}) not in separate and overlaps(one, other):
            expected[budget].append(second)
    for budget in budgets:
        assert sorted(bindings.overlaps(budget)) == sorted(expected[budget])
    assert {frozenset(pair) for pair in bindings.overlapping_pairs()} == {
        frozenset({budget, other}) for budget, others in expected.items() for other in others
    }


def test_sources_of_files_are_not_compared_again_at_a_charge(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever serves a thousand files compares no million of pairs whenever a description changes."""
    sources = [BudgetSource(f"budget {number}", f"/none/{number}.csv") for number in range(50)]
    query = {"connection": "duckdb:////none/x.db", "query": "SELECT * FROM t"}
    compared = list[str]()
    monkeypatch.setattr(Bindings, "is_separate", lambda _, one, other: compared.append(other))
    bindings = Bindings({}, {}, [*sources, BudgetSource("budget of a query", query)])
    for source in sources:
        bindings.overlaps(source.budget)
    assert compared == 50 * ["budget of a query"]
