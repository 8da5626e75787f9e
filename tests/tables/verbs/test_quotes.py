"""A quote says what the release will say, and opens no data: not a file, not an object, for no verb."""

import inspect
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import discreet
from discreet import Batch, Grid, Ledger
from discreet.errors import DiscreetError, InvalidArgument, InvalidCandidates
from discreet.privacy import NoGuarantee
from discreet.selection.verb_calls import bill_of

from ...public_names import PATHS, public
from ...selection.test_payment import Purse

TABLE = pl.DataFrame({"who": ["a", "a", "b"], "drink": ["tea", "tea", "milk"], "age": [3, 5, 9]})
DRINKS = ["tea", "milk"]
AGES = Grid(0, 10)
UNIT: Any = {"privacy_unit": "who"}
GROUPS: Any = {"by": "drink", "groups": DRINKS}


class Closed:
    """Data of which nothing can be had: whatever looks at it fails."""

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return object.__getattribute__(self, name)
        raise AssertionError(f"private data were looked at: {name}")

    def _looked(self, *_: Any) -> Any:
        raise AssertionError("private data were looked at")

    __iter__ = __len__ = __getitem__ = __contains__ = __bool__ = __array__ = _looked
    __eq__ = __lt__ = __int__ = __float__ = __index__ = __fspath__ = __call__ = _looked
    __repr__ = __str__ = __hash__ = _looked


ROWS: dict[str, Callable[..., Any]] = {
    "mode": lambda data, **terms: discreet.mode(data, "drink", candidates=DRINKS, **terms),
    "top_k": lambda data, **terms: discreet.top_k(data, "drink", k=2, candidates=DRINKS, **terms),
    "top_k, peeling": lambda data, **terms: discreet.top_k(
        data, "drink", k=2, candidates=DRINKS, method="peeling", **terms
    ),
    "mode, counts": lambda data, **terms: discreet.mode(
        data, "drink", candidates=DRINKS, method="counts", **terms
    ),
    "mode, gap": lambda data, **terms: discreet.mode(
        data, "drink", candidates=DRINKS, gap=True, **terms
    ),
    "top_k, joint": lambda data, **terms: discreet.top_k(
        data, "drink", k=2, candidates=DRINKS, method="joint", **terms
    ),
    "quantile": lambda data, **terms: discreet.quantile(
        data, "age", alpha="0.9", candidates=AGES, **terms
    ),
    "quantile, list": lambda data, **terms: discreet.quantile(
        data, "age", alpha="0.9", candidates=[1, 5], **terms
    ),
    "median": lambda data, **terms: discreet.median(data, "age", candidates=AGES, **terms),
    "median, distance": lambda data, **terms: discreet.median(
        data, "age", candidates=AGES, score="median_distance", **terms
    ),
    "minimum": lambda data, **terms: discreet.minimum(data, "age", candidates=AGES, **terms),
    "maximum": lambda data, **terms: discreet.maximum(data, "age", candidates=AGES, **terms),
    "best_price": lambda data, **terms: discreet.best_price(data, "age", candidates=AGES, **terms),
}
"""What is asked of tables, also of persons and groups."""

QUANTILES: dict[str, Callable[..., Any]] = {
    f"quantiles, {method}": lambda data, method=method, **terms: discreet.quantiles(
        data, "age", alphas=["1/4", "3/4"], candidates=AGES, method=method, **terms
    )
    for method in ("recursive", "joint", "independent")
} | {
    "bounds": lambda data, **terms: discreet.bounds(data, "age", **terms),
    "count": lambda data, **terms: discreet.count(data, **terms),
    "counts": lambda data, **terms: discreet.counts(data, "drink", candidates=DRINKS, **terms),
    "sum": lambda data, **terms: discreet.sum(data, "age", minimum=0, maximum=10, **terms),
    "mean": lambda data, **terms: discreet.mean(data, "age", minimum=0, maximum=10, **terms),
    "variance": lambda data, **terms: discreet.variance(
        data, "age", minimum=0, maximum=10, **terms
    ),
    "standard_deviation": lambda data, **terms: discreet.standard_deviation(
        data, "age", minimum=0, maximum=10, **terms
    ),
}
"""What is asked of tables, once."""

UNSAFE: dict[str, Callable[..., Any]] = {
    "mode, unsafe": lambda data, **terms: discreet.mode(
        data, "drink", unsafe_candidates_from_data=True, **terms
    ),
}

NUMBERS: dict[str, tuple[Callable[..., Any], Any]] = {
    "select": (lambda data, **terms: discreet.select(data, sensitivity=1, **terms), [1, 2]),
    "select, named": (
        lambda data, **terms: discreet.select(data, sensitivity=1, candidates=DRINKS, **terms),
        [1, 2],
    ),
    "select_by": (
        lambda data, **terms: discreet.select_by(
            lambda given, _: [len(given), 0], data, DRINKS, sensitivity=1, **terms
        ),
        [1, 2],
    ),
    "selector": (
        lambda data, ledger=None, request=None, **terms: discreet.selector(sensitivity=1, **terms)(
            data, ledger=ledger, request=request
        ),
        [1, 2],
    ),
    "select_rows": (
        lambda data, **terms: discreet.select_rows(data, rows=2, sensitivity=1, **terms),
        [[1, 2], [3, 0]],
    ),
    "select_generalized": (
        lambda data, **terms: discreet.select_generalized(data, [1, 2], **terms),
        [1, 2],
    ),
    "select_top_k": (
        lambda data, **terms: discreet.select_top_k(data, k=2, sensitivity=1, **terms),
        [1, 2],
    ),
    "laplace": (lambda data, **terms: discreet.laplace(data, sensitivity=1, **terms), 5),
    "geometric": (lambda data, **terms: discreet.geometric(data, sensitivity=1, **terms), 5),
    "randomized_response": (
        lambda data, **terms: discreet.randomized_response(data, DRINKS, **terms),
        "tea",
    ),
    "private_candidates": (
        lambda data, **terms: discreet.private_candidates(
            lambda given, one, _: (len(given) + one, None), data, [1, 2], **terms
        ),
        [1, 2],
    ),
    "median": (lambda data, **terms: discreet.median(data, candidates=AGES, **terms), {1: 2, 5: 3}),
    "best_price": (
        lambda data, **terms: discreet.best_price(data, candidates=AGES, **terms),
        [1, 2],
    ),
}
"""What is asked of numbers."""


KEYS: dict[str, Callable[..., Any]] = {
    "counts, keys": lambda data, **terms: discreet.counts(data, "drink", delta="1e-6", **terms),
    "keys": lambda data, **terms: discreet.keys(data, "drink", delta="1e-6", **terms),
}
"""What is asked of values that nobody listed: they are one group."""

DISTINCT: dict[str, Callable[..., Any]] = {
    "count_distinct": lambda data, **terms: discreet.count_distinct(data, "drink", **terms),
}
"""What is asked of how many they are."""

PRIVATE: dict[str, Callable[..., Any]] = {
    "mode, private": lambda data, **terms: discreet.mode(
        data, "drink", candidates="private", delta="1e-6", **terms
    ),
    "top_k, private": lambda data, **terms: discreet.top_k(
        data, "drink", k=2, candidates="private", delta="1e-6", **terms
    ),
}
"""The most common of them."""


def questions() -> Iterator[Any]:
    """Yield every verb with data it takes, and the terms it is asked with."""
    for name, verb in (ROWS | QUANTILES).items():
        for words, terms in {"": {}, ", persons": UNIT, ", groups": GROUPS}.items():
            yield pytest.param(verb, TABLE, terms, id=f"{name}{words}")
    for name, verb in ROWS.items():
        yield pytest.param(verb, TABLE, {"neighbors": "replace_one"}, id=f"{name}, one replaced")
    for name, (verb, data) in NUMBERS.items():
        yield pytest.param(verb, data, {}, id=f"{name} of numbers")
    of_keys: Any = {**UNIT, "max_groups": 2, "other": "1/3"}
    of_values: Any = {**UNIT, "max_candidates": 2}
    pairs = [(KEYS, of_keys), (PRIVATE, of_values), (DISTINCT, {**UNIT, "max_groups": 2})]
    for name, verb, persons in ((n, v, terms) for verbs, terms in pairs for n, v in verbs.items()):
        yield pytest.param(verb, TABLE, {}, id=name)
        yield pytest.param(verb, TABLE, persons, id=f"{name}, persons")


def unsafe() -> Iterator[Any]:
    for words, terms in {
        "": {},
        ", persons": UNIT,
        ", groups": {"by": "age", "groups": [3, 9], "neighbors": "replace_one"},
        ", permuted": {"mechanism": "permute_and_flip"},
    }.items():
        yield pytest.param(UNSAFE["mode, unsafe"], TABLE, terms, id=f"mode, unsafe{words}")


def test_every_verb_is_here() -> None:
    asked = {name.partition(",")[0] for name in ROWS | QUANTILES | NUMBERS | KEYS | DISTINCT}
    verbs = {name for name in vars(discreet.Session) if name in discreet.__all__}
    described = {
        "check",
        "profile",
        "sql",
    }  # test_check.py, test_sql.py: they take descriptions alone
    assert asked | described == verbs - {"quote"} | {"private_candidates"}
    values = {name: public(name) for name in PATHS}
    functions = {n: f for n, f in values.items() if callable(f) and not isinstance(f, type)}
    paid = {n for n, f in functions.items() if "ledger" in inspect.signature(f).parameters}
    assert asked | described == paid - {"report", "connect"}


@pytest.mark.parametrize(("verb", "data", "terms"), [*questions(), *unsafe()])
def test_a_quote_says_what_the_release_says(verb: Any, data: Any, terms: Any) -> None:
    bill = bill_of(verb, data, epsilon="1/3", **terms)
    release = verb(data, epsilon="1/3", **terms)
    said = (release.guarantee, release.mechanism, release.query, release.unit, release.candidates)
    assert said == (bill.guarantee, bill.mechanism, bill.query, bill.unit, bill.candidates)
    assert release.unit == terms.get("privacy_unit")


@pytest.mark.parametrize(("verb", "data", "terms"), [*questions()])
def test_a_quote_is_the_bill_that_is_paid(verb: Any, data: Any, terms: Any) -> None:
    purse = Purse()
    verb(data, epsilon="1/3", ledger=purse, **terms)
    assert purse.bills == [bill_of(verb, data, epsilon="1/3", **terms)]


MISSING: dict[str, Any] = {
    "object": Closed(),
    "path": Path("no/such/file.parquet"),
    "text": "no-such-file.csv",
}


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize(("verb", "data", "terms"), [*questions(), *unsafe()])
@pytest.mark.one_in(7)
def test_a_quote_opens_nothing(verb: Any, data: Any, terms: Any, missing: str) -> None:
    bill = bill_of(verb, MISSING[missing], epsilon="1/3", **terms)
    assert bill == bill_of(verb, data, epsilon="1/3", **terms)


@pytest.mark.parametrize(
    "data", [{"tea": 1, "coffee": 2}, pd.Series({"tea": 1, "coffee": 2})], ids=["dict", "series"]
)
def test_the_candidates_of_a_quote_are_in_the_order_that_is_paid_for(data: Any) -> None:
    purse = Purse()
    verbs: list[Any] = [discreet.select, discreet.select_top_k]
    for verb in verbs:
        terms: Any = {"sensitivity": 1, "epsilon": 1} | (
            {"k": 1} if verb is discreet.select_top_k else {}
        )
        verb(data, ledger=purse, **terms)
        assert purse.bills[-1] == bill_of(verb, data, **terms)


# --- candidates from the data: nothing is promised, and it is said before anything is read


def test_a_batch_says_that_nothing_is_guaranteed_before_it_reads() -> None:
    batch = Batch().add("drink", discreet.mode, Closed(), "drink", unsafe_candidates_from_data=True)
    batch = batch.add("age", discreet.median, Closed(), "age", candidates=AGES).split(epsilon=1)
    assert "no privacy guarantee" in str(batch)
    assert batch.cost().pure is None
    assert "no privacy guarantee" in str(batch.cost())
    bill = batch.bills()["drink"]
    assert bill.guarantee == NoGuarantee("the candidates were taken from the data", "add_remove")
    assert bill.candidates is None
    assert bill.query == "most common value of drink, candidates from the data"
    with pytest.raises(InvalidArgument, match="no bound on the error of 'drink' is known"):
        batch.split_by_error({"drink": 1, "age": 1})


def test_a_batch_of_unsafe_questions_runs_unpaid_and_is_never_paid() -> None:
    batch = Batch().add("drink", discreet.mode, TABLE, "drink", unsafe_candidates_from_data=True)
    release = batch.split(epsilon=100).run()["drink"]
    assert release.value == "tea"
    assert release.guarantee == batch.split(epsilon=100).bills()["drink"].guarantee
    ledger = Ledger()
    ledger.open("people", epsilon=1000)
    with pytest.raises(InvalidArgument, match="nothing is guaranteed"):
        batch.split(epsilon=1).run(ledger.session("people"))
    with pytest.raises(InvalidArgument, match="no privacy guarantee"):
        ledger.session("people").quote(
            discreet.mode, Closed(), "drink", unsafe_candidates_from_data=True, epsilon=1
        )
    assert len(ledger.history()) == 1


def test_a_node_refuses_candidates_from_the_data_when_it_is_configured() -> None:
    node = discreet.connect(datasets={"people": TABLE})
    node.open_budget("people", epsilon=9)
    with pytest.raises(InvalidArgument, match="no privacy guarantee"):
        node.allow(
            "people", "drink", discreet.mode, "drink", unsafe_candidates_from_data=True, epsilon=1
        )


def test_a_distribution_of_unsafe_candidates_promises_nothing() -> None:
    seen = discreet.distribution(
        discreet.mode, TABLE, "drink", unsafe_candidates_from_data=True, epsilon=1
    )
    assert isinstance(seen.guarantee, NoGuarantee)
    assert set(seen.pmf()) == {"tea", "milk"}


# --- categories that a type declares


def test_a_quote_sees_the_type_of_a_frame_in_memory_and_opens_nothing_else() -> None:
    drinks = pl.DataFrame({"drink": TABLE["drink"].cast(pl.Enum(DRINKS))})
    terms: Any = {"epsilon": 1}
    assert bill_of(discreet.mode, drinks, "drink", **terms).candidates == 2
    purse = Purse()
    discreet.mode(drinks, "drink", ledger=purse, **terms)
    assert purse.bills == [bill_of(discreet.mode, drinks, "drink", **terms)]
    for data in (Closed(), "no-such-file.csv", drinks.lazy()):
        with pytest.raises(
            InvalidCandidates, match=r"a quote opens no data.*Name what may be answered"
        ):
            bill_of(discreet.mode, data, "drink", **terms)
    assert discreet.mode(drinks.lazy(), "drink", epsilon=100).value == "tea"


# --- what can be read once only


@pytest.mark.parametrize(
    "ask",
    [
        lambda once: discreet.mode(TABLE, "drink", candidates=once, epsilon=1),
        lambda once: discreet.select([1, 2], sensitivity=1, candidates=once, epsilon=1),
        lambda once: discreet.select_top_k([1, 2], k=1, sensitivity=1, candidates=once, epsilon=1),
        lambda once: discreet.median(TABLE, "age", candidates=once, epsilon=1),
        lambda once: discreet.median(once, candidates=AGES, epsilon=1),
        lambda once: discreet.median(once, candidates=AGES, score="median_distance", epsilon=1),
        lambda once: discreet.quantiles(once, alphas=["1/2"], candidates=AGES, epsilon=1),
        lambda once: discreet.best_price(once, candidates=AGES, epsilon=1),
        lambda once: discreet.randomized_response("tea", once, epsilon=1),
        lambda once: discreet.select_by(lambda *_: [1], once, [1], sensitivity=1, epsilon=1),
        lambda once: discreet.select_by(lambda *_: [1], [1], once, sensitivity=1, epsilon=1),
        lambda once: discreet.private_candidates(lambda *_: (1, 1), once, [1], epsilon=1),
        lambda once: discreet.mode(
            TABLE, "drink", candidates=DRINKS, by="who", groups=once, epsilon=1
        ),
        lambda once: bill_of(discreet.select, once, sensitivity=1, epsilon=1),
        lambda once: bill_of(discreet.select_generalized, [1, 2], once, epsilon=1),
    ],
)
@pytest.mark.parametrize(
    "make", [iter, lambda some: (one for one in some), lambda some: map(int, some)]
)
def test_what_can_be_read_once_is_refused_with_the_fix(ask: Any, make: Any) -> None:
    once = make([1, 2])
    with pytest.raises(InvalidArgument, match=r"can be read only once.*Give a list"):
        ask(once)
    assert list(once) == [1, 2]


def test_a_session_above_a_threshold_has_no_quote() -> None:
    ask: Any = discreet.AboveThreshold
    with pytest.raises(InvalidArgument, match="only to see what it would cost"):
        bill_of(ask, 5, 1, 1)


def test_ranges_and_views_can_be_read_again() -> None:
    kept = {"tea": 1, "milk": 2}
    assert (
        discreet.mode(TABLE, "drink", candidates=kept.keys(), epsilon=Fraction(100)).value == "tea"
    )
    assert discreet.median(range(9), candidates=AGES, epsilon=100).value == 4
    assert discreet.median(np.arange(9), candidates=range(11), epsilon=100).value == 4
    with pytest.raises(DiscreetError):
        discreet.mode(TABLE, "drink", candidates=(), epsilon=1)
