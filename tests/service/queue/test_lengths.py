"""No answer is longer than what is computed from declarations alone."""

import datetime as dt
import json
from decimal import Decimal
from fractions import Fraction
from operator import attrgetter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet import Bins, Dataset, Grid, WithMissing
from discreet.errors import DiscreetError, MissingColumn
from discreet.selection.verb_calls import Call
from discreet.service.asking import wire
from discreet.service.asking.datasets import Datasets
from discreet.service.asking.own_rights import OwnRights
from discreet.service.asking.rights import Rights
from discreet.service.asking.wire import read_release, write_release, write_value
from discreet.service.queue.lengths import longest_answer, longest_release, with_most
from discreet.tables.values.key_values import MOST_KEY_BYTES, cell_text, word_of_text

IS_PUBLIC = attrgetter("is_public")

PLAIN = st.one_of(
    st.integers(-(10**30), 10**30), st.booleans(), st.text(max_size=40), st.dates(),
    st.datetimes(timezones=st.none() | st.just(dt.UTC)), st.decimals(allow_nan=False, allow_infinity=False),
    st.fractions(max_denominator=10**9), st.floats(allow_nan=False, allow_infinity=False),
)  # fmt: skip


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    step = draw(st.fractions("1/1000000000", 10**9, max_denominator=10**9))
    if draw(st.booleans()):
        step = Fraction(draw(st.decimals("1e-20", 10**20, places=20)))
    lo = draw(st.fractions(-(10**20), 10**20, max_denominator=10**6))
    return Grid(lo, lo + step * draw(st.integers(0, 10**6)), step)


def written(value: Any) -> int:
    return len(json.dumps(write_value(value), ensure_ascii=False).encode())


def shaped(value: Any, k: int | None, groups: list[Any] | None) -> Any:
    """Return an answer that says one value wherever it can."""
    one = value if k is None else [value] * k
    return one if groups is None else dict.fromkeys(groups, one)


@given(
    points=grids() | st.lists(PLAIN, min_size=1, max_size=5),
    place=st.floats(0, 1),
    k=st.none() | st.integers(1, 9),
    groups=st.none() | st.lists(PLAIN, min_size=1, max_size=4),
)
def test_no_answer_is_longer(
    points: Any, place: float, k: int | None, groups: list[Any] | None
) -> None:
    terms: dict[str, Any] = {"candidates": points}
    if k is not None:
        terms |= draws_of(k)
    if groups is not None:
        terms |= {"by": "b", "groups": groups}
    columns = {"a": {"type": "string"}, "b": {"type": "string"}}
    data = Dataset({"a": [], "b": []}, columns=columns)
    bound = longest_answer(Call(discreet.mode, ("a",), terms), data)
    count = points.size if isinstance(points, Grid) else len(points)
    for index in {0, count - 1, int(place * (count - 1)), count // 2}:
        assert written(shaped(points[index], k, groups)) <= bound


def draws_of(k: int) -> dict[str, Any]:
    """Return terms that ask for several values at once."""
    return {"k": k} if k % 2 else {"alphas": [Fraction(i, k + 1) for i in range(1, k + 1)]}


COLUMNS: dict[str, Any] = {
    "age": {"type": "integer", "minimum": 0, "maximum": 120},
    "wage": {"type": "number", "minimum": 0, "maximum": "1e6", "step": "0.01"},
    "city": {"type": "string", "enum": ["Bern", "Zürich \U0001f3d4", '"\\\n"']},
    "truth": {"type": "boolean"},
    "day": {"type": "date", "minimum": "2024-01-01", "maximum": "2024-12-31"},
    "at": {"type": "datetime", "enum": ["2024-12-31T23:59:59"]},
}
ROWS = {
    "age": [3, 120], "wage": [Decimal("0.01"), Decimal("99.99")], "city": ["Bern", '"\\\n"'],
    "truth": [True, False], "day": [dt.date(2024, 1, 1)] * 2, "at": [dt.datetime(2024, 12, 31, 23, 59, 59)] * 2,
}  # fmt: skip
ASKED: list[tuple[Any, str, dict[str, Any]]] = [
    *((discreet.mode, name, {}) for name in COLUMNS if name != "wage"),
    *((discreet.median, name, {}) for name in ("age", "wage")),
    (discreet.quantiles, "wage", {"alphas": ["0.1", "0.5", "0.9"]}),
    (discreet.quantiles, "age", {"alphas": ["1/4"], "by": "city"}),
    (discreet.top_k, "city", {"k": 2, "by": "truth"}),
    (discreet.mode, "city", {"by": "day", "groups": [dt.date(2024, 1, 1), dt.date(2024, 2, 1)]}),
    (discreet.best_price, "wage", {}),
    (discreet.mode, "city", {"candidates": ["Bern"]}),
]


@pytest.mark.parametrize(("verb", "column", "terms"), ASKED)
def test_releases_of_every_type_are_not_longer(verb: Any, column: str, terms: Any) -> None:
    data = Dataset(ROWS, columns=COLUMNS)
    question = Call(verb, (column,), {**terms, "epsilon": 9})
    asked = question._replace(arguments=(data, column))
    release = asked.ask()
    assert written(release.value) <= longest_answer(question, data)
    whole = len(json.dumps(write_release(release), ensure_ascii=False).encode())
    assert whole <= longest_release(question, asked.bill(), data)


def test_an_answer_that_could_not_be_read_is_refused_before_it_is_charged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(wire, "LONGEST", 20)  # no candidate is as long as the limit
    ledger = discreet.Ledger()
    held, data = Datasets(ledger), Dataset({"x": [1, 2]}, {"x": {"type": "number"}}, name="d")
    held.hold("d", data)
    held.open_budget("d", None, epsilon=1)
    terms = {"candidates": [1, Fraction(1, 10**20)], "epsilon": "1/8", "neighbors": "add_remove"}
    held.allow("d", "q", Call(discreet.mode, ("x",), terms))
    with pytest.raises(DiscreetError, check=IS_PUBLIC) as caught:
        Rights(held, OwnRights.of_all(), ("d",), longest=1 << 15).ask("q", "d", None, None)
    assert "does not travel" in str(caught.value)
    assert not {"charged"} & {one.kind for one in ledger.history()}


AGES = Bins("age", 0, 120, 40, below=True, missing=True)
CELLS = [("Bern", True), ('"\\\n"', False)]
OF_CELLS: list[tuple[Any, Any, dict[str, Any]]] = [
    (discreet.counts, ["city", AGES], {}),
    (discreet.counts, AGES, {}),
    (discreet.counts, ["city", "day"], {"candidates": {"city": ["Bern"], "day": [dt.date(2024, 1, 1)]}}),
    (discreet.counts, ["city", "truth"], {"candidates": CELLS, "by": ["city", "truth"], "groups": CELLS}),
    (discreet.counts, ["city", "truth"], {"delta": "1/100"}),
    (discreet.keys, ["city", "age", AGES.column + "s"], {"delta": "1/100"}),
    (discreet.keys, AGES, {"delta": "1/100", "other": "1/10"}),
    (discreet.mode, ["city", AGES], {"by": ["truth", "city"]}),
    (discreet.mode, ["truth", "city"], {"candidates": "private", "delta": "1/100"}),
    (discreet.top_k, [AGES, "truth"], {"k": 2, "by": AGES}),
    (discreet.count, None, {"by": ["truth", AGES], "groups": "private", "delta": "1/100"}),
    (discreet.median, "wage", {"by": ["truth", "city"]}),
    (discreet.counts, "city", {"candidates": ["Bern", None]}),
    (discreet.counts, WithMissing("city"), {}),
    (discreet.counts, WithMissing("city"), {"delta": "1/100"}),
    (discreet.counts, [WithMissing("city"), WithMissing("truth")], {}),
    (discreet.keys, [WithMissing("city"), WithMissing("truth")], {"delta": "1/100"}),
    (discreet.top_k, WithMissing("truth"), {"k": 2, "candidates": [True], "by": WithMissing("city")}),
    (discreet.count, None, {"by": WithMissing("truth"), "groups": "private", "delta": "1/100"}),
]  # fmt: skip


@pytest.mark.parametrize(("verb", "column", "terms"), OF_CELLS)
def test_releases_of_cells_are_not_longer(verb: Any, column: Any, terms: Any) -> None:
    rows = {**ROWS, "ages": ROWS["age"]}
    data = Dataset(rows, columns={**COLUMNS, "ages": {"type": "integer"}})
    columns = () if column is None else (column,)
    question = with_most(Call(verb, columns, {**terms, "epsilon": 40}), data)
    asked = question._replace(arguments=(data, *columns))
    release = asked.ask()
    assert written(release.value) <= longest_answer(question, data)
    whole = len(json.dumps(write_release(release), ensure_ascii=False).encode())
    assert whole <= longest_release(question, asked.bill(), data)
    plain = json.loads(json.dumps(write_release(release)))
    assert read_release(plain).value == release.value  # tuples are tuples again


@given(texts=st.lists(st.text(max_size=40), min_size=2, max_size=10))
def test_no_key_of_several_columns_is_longer(texts: list[str]) -> None:
    if len((cell_text([*map(word_of_text, texts)]) or "").encode()) > MOST_KEY_BYTES:
        return
    columns = {f"c{place}": {"type": "string"} for place in range(len(texts))}
    data = Dataset({name: [] for name in columns}, columns=columns)
    question = Call(discreet.keys, ([*columns],), {"delta": "1e-6", "most": 1})
    assert written({tuple(texts): 2**63}) - len('{"$map":[]}') <= longest_answer(question, data)


def test_a_column_is_no_list_where_cells_are_not_taken() -> None:
    data = Dataset({"a": [1]}, columns={"a": {"type": "integer"}})
    with pytest.raises(MissingColumn, match="one column is asked for here, got a"):
        longest_answer(Call(discreet.median, (["a", "a"],), {}), data)


def test_the_rows_of_a_statement_by_cells_are_not_longer() -> None:
    pytest.importorskip("sqlglot")
    rows = {name: ROWS[name] for name in ("city", "truth")}
    data = Dataset(rows, columns={name: COLUMNS[name] for name in rows}, name="d")
    clause = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 9)"
    statement = f"{clause} city AS {'a' * 2000}, truth, COUNT(*) AS n FROM d GROUP BY city, truth"
    release = discreet.sql(data, statement)
    assert len(release.value) == 6
    question = Call(discreet.sql, (), {"statement": statement})
    assert written(release.value) <= longest_answer(question, data)
