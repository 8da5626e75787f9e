"""count and counts: what neighbours may differ by, the noise, and the same numbers in every engine."""

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from operator import eq
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet import Ledger
from discreet.errors import InvalidArgument, InvalidCandidates, MissingColumn
from discreet.mechanisms.accuracy import COUNTED
from discreet.mechanisms.noisy_counts import LARGEST_COUNT
from discreet.mechanisms.testing import SeededBits
from discreet.privacy import ApproxDP, DiscreteGaussianDP, PureDP
from discreet.privacy.sensitivity import Neighbors
from discreet.sampling.bits import SystemBits
from discreet.sampling.geometric import GeometricNoise
from discreet.selection.verb_calls import bill_of
from discreet.service.asking.wire import read_release, write_release
from discreet.tables.verbs.noisy_numbers import ListNoise

from ...engines import ENGINES, crossed
from ...noisy import farthest, numbers_behind

DRINKS = ["tea", "milk"]
CELLS = ["tea", "milk", "water", None]
GROUPS: dict[str, Any] = {"by": "g", "groups": ["x", "y"]}
Rows = tuple[tuple[Any, ...], ...]


def frame(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame(list(rows), {"u": pl.String, "g": pl.String, "v": pl.String}, orient="row")


def row_pairs(neighbors: str, cells: list[Any]) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """All tables of one or two rows with all their neighbours; a row is a record."""
    rows = [("u", g, v) for g in ("x", "y", "z") for v in cells]
    others: list[Rows] = [(), (rows[0],)]
    for other in others:
        for row in rows:
            if neighbors == "add_remove":
                yield frame(other), frame((*other, row))
            else:
                yield from ((frame((*other, row)), frame((*other, new))) for new in rows)


def unit_pairs(neighbors: str, cells: list[Any]) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Tables with one other unit, and all sets of rows of a unit that comes, goes or is replaced."""
    own = [(g, v) for g in ("x", "y") for v in cells[:3]]
    sets = [s for n in range(4) for s in itertools.combinations(own, n)]
    other = (("ann", "x", "tea"),)

    def of(rows: tuple[tuple[Any, Any], ...], unit: str) -> pl.DataFrame:
        return frame((*other, *((unit, *row) for row in rows)))

    if neighbors == "add_remove":
        yield from ((frame(other), of(rows, "bob")) for rows in sets)
    else:
        yield from (
            (of(a, "bob"), of(b, "cid")) for a, b in itertools.product(sets[::3], sets[::2])
        )


def count_drinks(data: Any, **terms: Any) -> discreet.Release:
    return discreet.counts(data, "v", candidates=DRINKS, epsilon=1, **terms)


def count_rows(data: Any, **terms: Any) -> discreet.Release:
    return discreet.count(data, epsilon=1, **terms)


def count_cells(data: Any, **terms: Any) -> discreet.Release:
    return discreet.count(data, "v", epsilon=1, **terms)


ASKS: dict[str, Callable[..., discreet.Release]] = {
    "counts": count_drinks, "count": count_rows, "count of a column": count_cells,
}  # fmt: skip
OF_UNITS: dict[str, tuple[str, dict[str, Any]]] = {
    "count": ("count", {}),
    "count by": ("count", GROUPS),
    "count by, two": ("count", {**GROUPS, "max_groups": 2}),
    "counts": ("counts", {}),
    "counts, one": ("counts", {"max_candidates": 1}),
    "counts, two": ("counts", {"max_candidates": 2}),
    "counts by, one": ("counts", {**GROUPS, "max_candidates": 1}),
    "counts by, two": ("counts", {**GROUPS, "max_groups": 2, "max_candidates": 1}),
}


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("name", ASKS)
@pytest.mark.one_in(2)
def test_a_row_moves_as_many_counts_as_promised(name: str, grouped: bool, neighbors: str) -> None:
    terms: dict[str, Any] = {"neighbors": neighbors, **(GROUPS if grouped else {})}
    [share] = farthest(row_pairs(neighbors, CELLS), ASKS[name], **terms)
    whole_table = name == "count" and not grouped and neighbors == "replace_one"
    assert share == (0 if whole_table else 1)


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("name", OF_UNITS)
@pytest.mark.one_in(4)
def test_a_unit_moves_as_many_counts_as_promised(name: str, neighbors: str) -> None:
    verb, terms = OF_UNITS[name]
    pairs = unit_pairs(neighbors, CELLS)
    [share] = farthest(pairs, ASKS[verb], neighbors=neighbors, privacy_unit="u", **terms)
    assert share == 1


@pytest.mark.parametrize(
    "mutant",
    [
        lambda cells, each, _: min(cells, each),  # ε instead of ε/2 where a record is replaced
        lambda cells, _each, neighbors: min(cells, 1 if neighbors == "add_remove" else 2),
    ],
    ids=["one way", "one candidate"],
)
def test_too_little_noise_is_seen(mutant: Any) -> None:
    with patch("discreet.tables.verbs.units.moved_counts", mutant):
        rows = row_pairs("replace_one", CELLS)
        units = unit_pairs("add_remove", CELLS)
        shares = [
            *farthest(rows, count_drinks, neighbors="replace_one"),
            *farthest(units, count_drinks, privacy_unit="u"),
        ]
    assert max(shares) == 2


def test_a_unit_is_bounded_before_it_is_counted() -> None:
    """Without the bound in the engine a unit of two drinks would move two counts."""
    with patch("discreet.tables.engines.expressions._stay", lambda rows, *_: rows):
        terms: dict[str, Any] = {"privacy_unit": "u", "max_candidates": 1}
        [share] = farthest(unit_pairs("add_remove", CELLS), count_drinks, **terms)
    assert share == 2


@pytest.mark.parametrize(
    ("terms", "guarantee", "eta"),
    [
        ({}, PureDP(Fraction(1)), 1),
        ({"neighbors": "replace_one"}, PureDP(Fraction(1, 2), "replace_one").repeated(2), "1/2"),
        ({"privacy_unit": "u"}, PureDP(Fraction(1, 2)).repeated(2), "1/2"),
        ({"privacy_unit": "u", "max_candidates": 1}, PureDP(Fraction(1)), 1),
        (
            {"privacy_unit": "u", **GROUPS, "max_groups": 2, "neighbors": "replace_one"},
            PureDP(Fraction(1, 4), "replace_one").repeated(4),
            "1/4",
        ),
    ],
)
def test_the_guarantee_is_composed_of_the_counts_that_move(
    terms: dict[str, Any], guarantee: Any, eta: Any
) -> None:
    data = frame((("ann", "x", "tea"),))
    release = count_drinks(data, **terms)
    assert release.guarantee == guarantee
    [behind] = numbers_behind(count_drinks, data, **terms)
    assert behind.eta == Fraction(eta)
    assert release.guarantee.pure == 1


def test_one_count_costs_one_epsilon_under_both_relations() -> None:
    data = frame((("ann", "x", "tea"), ("ann", "y", "milk")))
    relations: list[Neighbors] = ["add_remove", "replace_one"]
    for neighbors in relations:
        for unit in (None, "u"):
            release = count_rows(data, neighbors=neighbors, privacy_unit=unit)
            assert release.guarantee == PureDP(Fraction(1), neighbors)


def test_the_answer_is_the_counts_with_geometric_noise_also_below_zero() -> None:
    data = frame((("ann", "x", "tea"),) * 3 + (("bob", "y", "water"),))
    candidates = [*DRINKS, *map(str, range(40))]
    with (
        patch.object(SystemBits, "words", lambda _, n: SeededBits(4).words(n)),
    ):
        release = discreet.counts(data, "v", candidates=candidates, epsilon="1/3")
    noise = GeometricNoise(Fraction(1, 3)).draws(len(candidates), SeededBits(4)).tolist()
    true = [3, *[0] * 41]
    assert list(release.value) == candidates
    assert list(release.value.values()) == [n + x for n, x in zip(true, noise, strict=True)]
    assert min(release.value.values()) < 0


def test_answers_are_whole_numbers_by_group_and_candidate() -> None:
    data = frame((("ann", "x", "tea"), ("bob", "y", "milk"), ("bob", "y", "tea")))
    terms: Any = {"epsilon": 10**6, **GROUPS}
    counted = discreet.counts(data, "v", candidates=DRINKS, **terms)
    size = discreet.count(data, **terms)
    users = discreet.count(data, privacy_unit="u", epsilon=10**6)
    assert counted.value == {"x": {"tea": 1, "milk": 0}, "y": {"tea": 1, "milk": 1}}
    assert size.value == {"x": 1, "y": 2}
    assert users.value == 2
    assert users.unit == "u"
    assert counted.as_dict()["value"] == counted.value


TABLE: Rows = (
    ("ann", "x", "tea"), ("ann", "x", "tea"), ("ann", "y", "milk"), ("bob", "x", "milk"),
    ("cid", "y", ""), (None, "x", "tea"), ("cid", None, "water"), ("dan", "z", None),
)  # fmt: skip


@pytest.mark.parametrize(
    ("engine", "plan"), crossed(ENGINES, ["rows", "units", "groups", "both"], "both")
)
@pytest.mark.one_in(13)
@pytest.mark.proof_in("spark")
def test_every_engine_counts_the_same(engine: str, plan: str, tmp_path: Path) -> None:
    columns = zip(*TABLE, strict=True)
    texts = pa.string()
    arrow = pa.table({n: pa.array(c, texts) for n, c in zip(("u", "g", "v"), columns, strict=True)})
    data = ENGINES[engine](arrow, tmp_path)
    terms: dict[str, Any] = {}
    if plan in ("units", "both"):
        terms["privacy_unit"] = "u"
    if plan in ("groups", "both"):
        terms |= GROUPS
    rows = [row for row in TABLE if plan not in ("units", "both") or row[0] is not None]
    groups = ["x", "y"] if plan in ("groups", "both") else [None]

    def naive(accept: Callable[[Any], bool]) -> list[int]:
        sizes = []
        for group in groups:
            own = [row for row in rows if (group is None or row[1] == group) and accept(row[2])]
            if plan == "both":  # ann is in two groups, and in one she counts
                own = [row for row in own if row[0] != "ann" or row[1] == ANN]
            persons = {row[0] for row in own}
            sizes.append(len(persons) if plan in ("units", "both") else len(own))
        return sizes

    ann = frame((("ann", "x", "tea"), ("ann", "y", "tea")))
    [alone] = numbers_behind(count_rows, ann, privacy_unit="u", **GROUPS)
    ANN = "xy"[alone.numbers.index(1)]  # noqa: N806
    [everyone] = numbers_behind(count_rows, data, **terms)
    assert everyone.numbers == tuple(naive(lambda _: True))
    [present] = numbers_behind(count_cells, data, **terms)
    empty = engine == "csv"
    assert present.numbers == tuple(naive(lambda v: v is not None and not (empty and v == "")))
    [drinks] = numbers_behind(count_drinks, data, **terms)
    by_drink = [naive(partial(eq, drink)) for drink in DRINKS]
    assert drinks.numbers == tuple(by_drink[i][g] for g in range(len(groups)) for i in range(2))


def test_values_without_a_column_and_tables_without_a_name_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("who,drink\nann,tea\nbob,\n", encoding="utf-8")
    nested = pl.DataFrame({"list": [[1], [2], [3]], "n": [1, 2, 3]})
    for data, size in (([1, 2, None], 3), (path, 2), ({"a": [1, 2]}, 2), (nested, 3)):
        [behind] = numbers_behind(discreet.count, data, epsilon=1)
        assert behind.numbers == (size,)
    [behind] = numbers_behind(discreet.counts, ["a", "b", "a"], candidates=["a", "b"], epsilon=1)
    assert behind.numbers == (2, 1)
    with pytest.raises(InvalidArgument, match="name no column"):
        discreet.count(pl.DataFrame({"list": [[1]]}), epsilon=1)
    with pytest.raises(MissingColumn):
        discreet.count(path, "age", epsilon=1)


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"max_candidates": 1}, "name the column of users as privacy_unit"),
        ({"max_candidates": 3, "privacy_unit": "u"}, "max_candidates is 3, but there are 2"),
        ({"max_candidates": 0, "privacy_unit": "u"}, "max_candidates"),
        ({"candidates": None}, "candidates are missing"),
        ({"candidates": ["tea", "tea"]}, "tea"),
        ({"epsilon": None}, "how much privacy"),
        ({"rho": 1}, "give one of"),
    ],
)
def test_public_mistakes_are_refused_before_data_are_opened(terms: Any, words: str) -> None:
    arguments = {"candidates": DRINKS, "epsilon": 1, **terms}
    with pytest.raises(InvalidArgument, match=words):
        discreet.counts("no/such/file.csv" if terms.get("candidates", 1) else [], "v", **arguments)


@pytest.mark.parametrize("name", ["mechanism", "size", "sensitivity", "max_contributions"])
def test_terms_that_make_no_sense_are_refused(name: str) -> None:
    terms: Any = {name: 2}
    with pytest.raises(TypeError, match=name):
        discreet.counts("no/such/file.csv", "v", candidates=DRINKS, epsilon=1, **terms)


def test_a_cell_is_not_counted_for_two_candidates(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("v\n1\n", encoding="utf-8")
    candidates: list[Any] = [1, "1"]
    with pytest.raises(InvalidCandidates, match="one value"):
        discreet.counts(path, "v", candidates=candidates, epsilon=1)


def test_only_rows_of_which_a_condition_is_true_count() -> None:
    data = frame((("ann", "x", "tea"), ("bob", "y", "tea"), ("bob", "x", "milk")))
    where: Any = {"where": "g = 'x'"}
    [behind] = numbers_behind(count_rows, data, **where)
    assert behind.numbers == (2,)
    [behind] = numbers_behind(count_drinks, data, **where)
    assert behind.numbers == (1, 1)
    with pytest.raises(InvalidArgument, match="needs a table"):
        discreet.count([1, 2], epsilon=1, **where)


def test_a_table_of_candidates_is_refused(tmp_path: Path) -> None:
    table = discreet.CandidateTable(pl.DataFrame({"v": DRINKS}), "v")
    with pytest.raises(InvalidCandidates, match="List those that you want"):
        discreet.counts(frame(()), "v", candidates=table, epsilon=1)  # type: ignore[arg-type]


def test_a_description_declares_what_is_counted() -> None:
    data = discreet.Dataset(
        frame(TABLE),
        {
            "v": {"type": "string", "enum": DRINKS},
            "g": {"type": "string", "enum": ["x", "y"]},
            "u": {"type": "string"},
        },
        privacy_unit="u",
    )
    release = discreet.counts(data, "v", by="g", max_candidates=1, epsilon=1)
    assert [list(group) for group in release.value.values()] == [DRINKS, DRINKS]
    assert release.unit == "u"
    assert discreet.count(data, epsilon=1).unit == "u"
    [behind] = numbers_behind(discreet.count, data, "v", epsilon=1)
    assert behind.numbers == (3,)
    with pytest.raises(MissingColumn):
        discreet.count(data, "age", epsilon=1)


def test_a_ledger_is_charged_once_and_answers_again() -> None:
    ledger = Ledger()
    ledger.open("people", epsilon=2)
    session, data = ledger.session("people"), frame(TABLE)
    ask: Any = {"candidates": DRINKS, "epsilon": "1/2", "request": "monday", **GROUPS}
    first = session.counts(data, "v", **ask)
    again = session.counts(data, "v", **ask)
    assert first.value == again.value
    assert (first.charged, again.charged) == (True, False)
    session.count(data, epsilon=1, privacy_unit=None)
    assert ledger.budgets()[0].spent.epsilon == Fraction(3, 2)


def test_a_quote_says_how_far_off_a_count_may_be() -> None:
    worst = bill_of(discreet.counts, "no.csv", "v", candidates=DRINKS, epsilon=1).worst_error
    assert worst is not None
    assert worst.unit == COUNTED
    assert worst.error == 5
    assert "off by less than 5 records in each count" in str(worst)
    many = bill_of(discreet.count, "no.csv", epsilon="1e-30").worst_error
    assert many is not None
    assert many.error <= 2 * LARGEST_COUNT + 1
    sharp = bill_of(discreet.count, "no.csv", scale="1/1000").worst_error
    assert sharp is not None
    assert sharp.error == 0


def test_samples_for_study() -> None:
    simulation = discreet.simulate(
        discreet.counts, frame(TABLE), "v", candidates=DRINKS, epsilon=1, size=9
    )
    assert len(simulation.values) == 9
    assert all(list(one) == DRINKS for one in simulation.values)


def visits(users: int, pages: int, each: int) -> pl.DataFrame:
    """Every user has so many pages, one after the other."""
    rows = [(str(u), (u + i) % pages) for u in range(users) for i in range(each)]
    return pl.DataFrame(rows, {"u": pl.String, "v": pl.Int64}, orient="row")


MANY: dict[str, Any] = {"candidates": range(60), "privacy_unit": "u", "max_candidates": 20}
LOOSE: dict[str, Any] = {"epsilon": 1, "delta": "1e-6"}


def test_counts_of_units_with_many_values_have_gaussian_noise_with_a_delta() -> None:
    data = visits(90, 60, 20)
    answer = discreet.counts(data, "v", **MANY, **LOOSE)
    assert answer.mechanism == "gaussian"
    assert answer.guarantee == DiscreteGaussianDP(Fraction(357), 20)
    assert answer.guarantee.delta_at(1) <= Fraction(1, 10**6)
    assert all(abs(number - 30) < 250 for number in answer.value.values())
    replaced = discreet.counts(data, "v", **MANY, **LOOSE, neighbors="replace_one")
    assert replaced.guarantee == DiscreteGaussianDP(Fraction(714), 40, 1, "replace_one")
    fifty = {**MANY, "candidates": range(200), "max_candidates": 50}
    wide: Any = discreet.counts(data, "v", **fifty, **LOOSE).guarantee
    assert wide.sigma_squared < 30**2


def test_delta_is_not_charged_where_geometric_noise_is_smaller() -> None:
    data = visits(9, 60, 20)
    for few in ({**MANY, "max_candidates": 8}, {"candidates": range(60)}):
        answer = discreet.counts(data, "v", **few, **LOOSE)
        assert answer.mechanism == "geometric"
        assert answer.guarantee.pure == 1
        assert answer.guarantee.slack == 0
    for other in (LOOSE | {"groups": ["1"], "by": "u"}, {"epsilon": 1}):
        alone = discreet.counts(data, "v", candidates=range(60), **other)
        assert alone.guarantee.pure == 1


def test_by_rho_counts_have_the_smaller_noise() -> None:
    data = visits(9, 60, 20)
    assert discreet.count(data, rho="1/50").guarantee == DiscreteGaussianDP(Fraction(25))
    assert discreet.counts(data, "v", **MANY, rho="1/50").guarantee.rho == Fraction(1, 50)
    assert discreet.counts(data, "v", **MANY, rho=60).mechanism == "geometric"
    assert discreet.count(data, scale=3).mechanism == "geometric"


def test_a_ledger_is_charged_in_its_own_unit() -> None:
    data, asked = visits(9, 60, 20), {**MANY, **LOOSE}
    ledger = Ledger()
    ledger.open("sums", privacy_unit="u", epsilon=3, delta="1e-5", delta_for="questions")
    ledger.open("all", privacy_unit="u", epsilon=3, delta="1e-5", delta_for="composition")
    ledger.open("pure", privacy_unit="u", epsilon=3)
    ledger.open("rho", privacy_unit="u", rho=1)
    sums, together = ledger.session("sums"), ledger.session("all")
    assert sums.counts(data, "v", **asked).guarantee == ApproxDP(Fraction(1), Fraction(1, 10**6))
    sums.counts(data, "v", **{**asked, "max_candidates": 3})
    assert sums.counts(data, "v", **MANY, rho="1/50").mechanism == "geometric"
    # It cannot pay for any delta, so the noise that needs none is taken.
    assert ledger.session("pure").counts(data, "v", **asked).guarantee.pure == 1
    for session in (together, ledger.session("rho")):
        answer = session.counts(data, "v", **asked)
        assert answer.guarantee == DiscreteGaussianDP(Fraction(357), 20)
    spent = {budget.dataset: budget.spent for budget in ledger.budgets()}
    assert spent["sums"].delta == Fraction(1, 10**6)
    assert spent["rho"].rho == spent["all"].rho == Fraction(20, 714)
    assert spent["pure"].epsilon == 1


def test_a_budget_of_epsilon_pays_for_geometric_noise_at_every_door() -> None:
    data, asked = visits(9, 60, 20), {**MANY, **LOOSE}
    ledger = Ledger()
    ledger.open("pure", privacy_unit="u", epsilon=9)
    session = ledger.session("pure")
    assert session.currency == "epsilon"
    assert session.quote(discreet.counts, data, "v", **asked).cost.epsilon == 1
    assert session.counts(data, "v", **asked).mechanism == "geometric"
    assert session.top_k(data, "v", k=2, method="counts", **asked).mechanism == "geometric"
    assert session.top_k(data, "v", k=2, **asked).guarantee.pure == 1
    groups: dict[str, Any] = {**MANY, "by": "v", "groups": range(60), "max_groups": 20}
    del groups["candidates"], groups["max_candidates"]
    assert session.count(data, **groups, **LOOSE).mechanism == "geometric"


def test_a_count_in_many_groups_uses_a_delta() -> None:
    groups: dict[str, Any] = {**MANY, "by": "v", "groups": range(60), "max_groups": 20}
    del groups["candidates"], groups["max_candidates"]
    found = bill_of(discreet.count, "no.csv", **groups, **LOOSE).guarantee
    assert found == DiscreteGaussianDP(Fraction(357), 20)
    assert bill_of(discreet.count, "no.csv", **LOOSE).guarantee.pure == 1


def test_a_delta_of_counts_is_checked_before_any_data_are_read() -> None:
    for wrong, words in (
        ({"rho": 1, "delta": "1e-6"}, "goes with epsilon"), ({"scale": 1, "delta": "1e-6"}, "goes with epsilon"),
        ({"epsilon": 1, "delta": 0}, "delta"), ({"epsilon": 1, "delta": 1}, "below 1"),
        ({"epsilon": 1, "delta": "1/50"}, "above 0.01"), ({**LOOSE, "most": 3}, "without candidates"),
    ):  # fmt: skip
        with pytest.raises(InvalidArgument, match=words):
            discreet.counts("no.csv", "v", candidates=[1, 2], **wrong)
    with pytest.raises(InvalidArgument, match="goes with candidates"):
        discreet.counts("no.csv", "v", **LOOSE, privacy_unit="u", max_candidates=3)
    with pytest.warns(UserWarning, match="may show about one in 1,000 values"):
        bill_of(discreet.counts, "no.csv", "v", candidates=[1, 2], epsilon=1, delta="1/1000")


def test_the_error_of_gaussian_counts_is_said_before() -> None:
    worst = [
        bill_of(discreet.counts, "no.csv", "v", **MANY, **terms).worst_error
        for terms in ({"epsilon": 1}, LOOSE)
    ]
    assert [one and one.unit for one in worst] == [COUNTED, COUNTED]
    geometric, gaussian = (one.error for one in worst if one)
    assert gaussian == 64
    assert geometric > 2 * gaussian
    simulation = discreet.simulate(discreet.counts, visits(9, 60, 2), "v", **MANY, **LOOSE, size=3)
    assert len(simulation.values) == 3


def test_lists_by_counts_use_a_delta_where_gaussian_noise_is_smaller() -> None:
    data, asked = visits(30, 60, 20), {**MANY, **LOOSE, "k": 3, "method": "counts"}
    answer: Any = discreet.top_k(data, "v", **asked)
    assert answer.mechanism == "gaussian"
    assert answer.guarantee == DiscreteGaussianDP(Fraction(357), 20)
    assert len(answer.counts) == 3
    replaced = bill_of(discreet.top_k, "no.csv", "v", **asked, neighbors="replace_one")
    assert replaced.guarantee == DiscreteGaussianDP(Fraction(714), 40, 1, "replace_one")
    few = bill_of(discreet.top_k, "no.csv", "v", **{**asked, "max_candidates": 3})
    assert few.guarantee.pure == 1
    assert few.mechanism == "geometric"


def test_lists_by_counts_in_groups_have_one_delta() -> None:
    """Four groups of a user and five candidates in each have the noise of twenty counts."""
    terms: Any = {"candidates": range(9), "privacy_unit": "u", "by": "g", "groups": range(6)}
    terms |= {**LOOSE, "k": 6, "max_groups": 4, "max_candidates": 5}
    twenty = DiscreteGaussianDP(Fraction(357), 20)
    for method in ("counts", None):
        bill = bill_of(discreet.top_k, "no.csv", "v", **terms, method=method)
        assert (bill.guarantee, bill.mechanism) == (twenty, "gaussian")
        assert bill.noise is not None
        assert bill.noise.as_dict() == {"name": "gaussian", "geometric": "28.3", "gaussian": "18.9"}
    replaced = bill_of(discreet.top_k, "no.csv", "v", **terms, neighbors="replace_one")
    assert replaced.guarantee == DiscreteGaussianDP(Fraction(714), 40, 1, "replace_one")
    by_rho = {**terms, "epsilon": None, "delta": None, "rho": "1/2", "neighbors": "replace_one"}
    assert bill_of(discreet.top_k, "no.csv", "v", **by_rho).guarantee == DiscreteGaussianDP(
        Fraction(40), 40, 1, "replace_one"
    )
    few = {**terms, "max_groups": 1, "max_candidates": 2}
    assert bill_of(discreet.top_k, "no.csv", "v", **few).guarantee.pure == 1
    # Without a bound on the candidates another method is better, which spends no delta.
    unbounded = {**terms, "max_candidates": None, "candidates": range(900), "k": 1}
    best = bill_of(discreet.top_k, "no.csv", "v", **unbounded)
    assert (best.guarantee.pure, best.guarantee.slack) == (Fraction(1), Fraction(0))
    assert best.mechanism.startswith("peeling")
    named = {**terms, "mechanism": "exponential", "max_candidates": None}
    with pytest.raises(InvalidArgument, match="In several groups"):
        bill_of(discreet.top_k, "no.csv", "v", **named)
    with pytest.raises(InvalidArgument, match="goes with epsilon"):
        bill_of(discreet.top_k, "no.csv", "v", **{**unbounded, "epsilon": None, "rho": 1})


def test_lists_in_groups_are_charged_once() -> None:
    rows = [(u, u % 6, (u + i) % 9) for u in range(30) for i in range(5)]
    data = pl.DataFrame(rows, ["u", "g", "v"], orient="row")
    terms: Any = {
        "candidates": range(9),
        "by": "g",
        "groups": range(6),
        **LOOSE,
        "k": 2,
        "method": "counts",
    }
    terms |= {"privacy_unit": "u", "max_groups": 4, "max_candidates": 5}
    ledger = Ledger()
    ledger.open("sums", privacy_unit="u", epsilon=3, delta="1e-5", delta_for="questions")
    ledger.open("rho", privacy_unit="u", rho=1)
    ledger.open("pure", privacy_unit="u", epsilon=3)
    found = [ledger.session(name).top_k(data, "v", **terms) for name in ("sums", "rho", "pure")]
    assert [one.mechanism for one in found] == ["gaussian", "gaussian", "geometric"]
    spent = {budget.dataset: budget.spent for budget in ledger.budgets()}
    assert (spent["sums"].epsilon, spent["sums"].delta) == (Fraction(1), Fraction(1, 10**6))
    assert spent["rho"].rho == Fraction(20, 714)
    assert (spent["pure"].epsilon, spent["pure"].delta) == (Fraction(1), Fraction(0))
    assert all(len(one.counts[group]) == 2 for one in found for group in range(6))
    ledger.open(
        "swaps",
        privacy_unit="u",
        epsilon=1,
        delta="1e-5",
        delta_for="questions",
        neighbors="replace_one",
    )
    swapped = ledger.session("swaps").top_k(data, "v", **terms, neighbors="replace_one")
    assert swapped.guarantee == ApproxDP(Fraction(1), Fraction(1, 10**6), "replace_one")


def test_lists_by_counts_are_charged_what_was_asked_for() -> None:
    data, asked = visits(30, 60, 20), {**MANY, **LOOSE, "k": 3, "method": "counts"}
    ledger = Ledger()
    ledger.open("sums", privacy_unit="u", epsilon=3, delta="1e-5", delta_for="questions")
    ledger.open("rho", privacy_unit="u", rho=1)
    sums, rho = ledger.session("sums"), ledger.session("rho")
    assert sums.top_k(data, "v", **asked).guarantee == ApproxDP(Fraction(1), Fraction(1, 10**6))
    assert rho.top_k(data, "v", **asked).guarantee.rho == Fraction(20, 714)
    assert ledger.budgets()[1].spent.delta == Fraction(1, 10**6)


def test_the_best_method_for_lists_knows_of_the_delta() -> None:
    """Of many values of one unit peeling gains by a delta, and so do counts now."""
    asked = {**MANY, **LOOSE, "k": 30}
    assert bill_of(discreet.top_k, "no.csv", "v", **asked).mechanism == "gaussian"
    del asked["max_candidates"]
    assert bill_of(discreet.top_k, "no.csv", "v", **asked, method="peeling").mechanism != "gaussian"


def test_an_answer_and_its_price_say_which_noise_and_why() -> None:
    data, asked = visits(30, 60, 20), {**MANY, **LOOSE}
    answer: Any = discreet.counts(data, "v", **asked)
    assert answer.noise.as_dict() == {"name": "gaussian", "geometric": "28.3", "gaussian": "18.9"}
    assert str(answer.noise) in str(answer)
    assert answer.as_dict()["noise"] == answer.noise.as_dict()
    price = discreet.quote(discreet.counts, "no.csv", "v", **asked)
    assert price.noise == answer.noise
    assert str(price.noise) in str(price)
    assert price.as_dict()["noise"] == answer.noise.as_dict()
    listed = bill_of(discreet.top_k, "no.csv", "v", k=2, method="counts", **asked)
    assert listed.noise == answer.noise
    few = bill_of(discreet.counts, "no.csv", "v", **{**asked, "max_candidates": 2}).noise
    assert few is not None
    assert few.name == "geometric"
    alone: list[dict[str, Any]] = [{"epsilon": 1}, {"scale": 1}]
    for without in alone:
        assert bill_of(discreet.counts, "no.csv", "v", **MANY, **without).noise is None
        assert "noise" not in discreet.counts(data, "v", **MANY, **without).as_dict()
    assert read_release(write_release(answer)).noise is not None
    ledger = Ledger()
    ledger.open("pure", privacy_unit="u", epsilon=9)
    assert ledger.session("pure").counts(data, "v", **asked).noise is None


def test_a_least_count_leaves_noisy_counts_out_and_changes_nothing_else() -> None:
    """It is decided by the noisy count, at the same price, and its digest has it."""
    cells = [("x", "tea")] * 9 + [("x", "milk")] * 5 + [("y", "tea")] * 4
    rows = tuple(("u", *cell) for cell in cells)
    noise = iter([-5, 7, 0, 0])

    def draw(behind: ListNoise, numbers: list[int], _: Any) -> list[int]:
        return [number + next(noise) for number in numbers]

    asked: dict[str, Any] = {"candidates": DRINKS, "by": "g", "groups": ["x", "y"], "epsilon": 1}
    with patch.object(ListNoise, "draw", draw):
        answer = discreet.counts(frame(rows), "v", minimum_count=4, **asked)
    assert answer.value == {"x": {"tea": 4, "milk": 12}, "y": {"tea": 4}}
    assert "without counts below 4" in answer.query
    bills = [
        bill_of(discreet.counts, frame(rows), "v", minimum_count=least, **asked)
        for least in (None, 1, 4)
    ]
    assert len({one.digest for one in bills}) == 3
    assert len({str(one.guarantee) for one in bills}) == 1
    with pytest.raises(InvalidArgument, match="minimum_count must be a whole number"):
        discreet.counts("no.csv", "v", minimum_count=0, **asked)


def test_a_least_count_leaves_groups_with_small_noisy_counts_out() -> None:
    """The noisy count decides, not the records: a group of nine is left out, and one of two is in."""
    rows = tuple(("u", group, "tea") for group in "x" * 9 + "y" * 2 + "z" * 4)
    noise = iter([-5, 6, 1])

    def draw(behind: ListNoise, numbers: list[int], _: Any) -> list[int]:
        return [number + next(noise) for number in numbers]

    asked: dict[str, Any] = {"by": "g", "groups": [*"xyz"], "epsilon": 1}
    with patch.object(ListNoise, "draw", draw):
        answer = discreet.count(frame(rows), minimum_count=5, **asked)
    assert answer.value == {"y": 8, "z": 5}
    assert "without counts below 5" in answer.query
    bills = [
        bill_of(discreet.count, frame(rows), minimum_count=least, **asked) for least in (None, 1, 5)
    ]
    assert len({one.digest for one in bills}) == 3
    assert len({str(one.guarantee) for one in bills}) == 1
    assert discreet.count(frame(rows), minimum_count=10**6, **asked).value == {}


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({}, "goes with by"), ({"by": "g", "groups": ["x"], "minimum_count": 0}, "must be a whole number"),
        ({"by": "g", "groups": "private", "delta": "1e-6", "minimum_count": 10**9}, "minimum_count"),
    ],
)  # fmt: skip
def test_a_least_count_without_groups_is_refused(terms: Any, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        discreet.count("no.csv", **{"minimum_count": 5, "epsilon": 1, **terms})


def test_other_verbs_say_why_they_take_no_least_count() -> None:
    other: Any = discreet.median
    with pytest.raises(TypeError, match="ask count for the same groups"):
        other("no.csv", "v", by="g", groups=["x"], epsilon=1, minimum_count=5)


def test_a_least_count_of_listed_candidates_is_shown_as_the_others() -> None:
    answer = discreet.counts([*"ab"], candidates=[*"ab"], minimum_count=10**6, epsilon=1)
    assert answer.value == {}
    assert read_release(write_release(answer)).value == {}
    assert str(answer).startswith("{} [")
