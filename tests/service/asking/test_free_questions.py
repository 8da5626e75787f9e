"""Free questions: what an owner allows to a caller."""

import re
from fractions import Fraction
from operator import attrgetter
from typing import Any

import pytest

from discreet import Bins, Dataset, compose
from discreet.errors import DiscreetError, InvalidArgument
from discreet.privacy import BoundedRange
from discreet.privacy.guarantees import ApproxDP, Guarantee, PureDP
from discreet.selection import bins
from discreet.selection.verb_calls import Call
from discreet.service.asking.free_questions import (
    check_number_of_cells,
    check_number_of_values,
    read_free,
    verb_named,
)
from discreet.service.asking.own_rights import OwnRights

from ...ledgers import bill

IS_PUBLIC = attrgetter("is_public")

QUARTER, TINY = Fraction(1, 4), Fraction(1, 10**8)
PURE = PureDP(QUARTER, "add_remove")
SLACK = ApproxDP(QUARTER, TINY, "add_remove")
WITH_A_CORE = compose([BoundedRange(QUARTER, "add_remove"), ApproxDP(QUARTER, TINY, "add_remove")])


def refusal(own: OwnRights, guarantee: Guarantee, neighbors: str = "add_remove") -> str:
    """Return the words in which a price is refused."""
    with pytest.raises(DiscreetError, check=IS_PUBLIC) as error:
        own.check_bill(bill(guarantee=guarantee), neighbors)
    assert isinstance(error.value, InvalidArgument)
    return str(error.value)


@pytest.mark.parametrize(
    ("most", "most_delta", "guarantee", "is_allowed"),
    [
        (None, None, SLACK, True),
        (QUARTER, None, PURE, True),
        (QUARTER, None, SLACK, False),  # as in files of before
        (None, TINY, SLACK, True),
        (None, TINY, PURE, True),
        (None, TINY / 2, SLACK, False),
        (QUARTER, TINY, SLACK, True),
        (QUARTER / 2, TINY, SLACK, False),
        (QUARTER, 2 * TINY, WITH_A_CORE, False),
        (2 * QUARTER, 2 * TINY, WITH_A_CORE, True),
        (2 * QUARTER, TINY / 2, WITH_A_CORE, False),
    ],
)
def test_epsilon_and_delta_of_one_question_are_limited(
    most: Fraction | None, most_delta: Fraction | None, guarantee: Guarantee, is_allowed: bool
) -> None:
    own = OwnRights("ann", ("keys",), most, most_delta)
    if is_allowed:
        own.check_bill(bill(guarantee=guarantee), "add_remove")
        return
    assert "one question may cost up to" in refusal(own, guarantee)


def test_the_delta_counts_for_the_relation_of_the_budget() -> None:
    own = OwnRights("ann", ("keys",), 2 * QUARTER, 2 * TINY)
    own.check_bill(bill(guarantee=SLACK), "add_remove")
    assert "δ = " in refusal(own, SLACK, "replace_one")


def test_the_refusal_says_both_limits_and_both_costs() -> None:
    own = OwnRights("ann", ("keys",), QUARTER, TINY / 2)
    assert refusal(own, SLACK) == (
        "one question may cost up to ε = 0.25 and δ = 0.000000005 here, "
        "and this one has ε = 0.25 and δ = 0.00000001"
    )


@pytest.mark.parametrize(
    "terms",
    [{"candidates": "private"}, {"groups": "private", "by": "b"}],
    ids=lambda terms: next(iter(terms)),
)
def test_values_that_nobody_listed_need_keys_among_the_verbs(terms: dict[str, Any]) -> None:
    question = Call(verb_named("mode"), ("city",), terms)
    listed = Call(verb_named("mode"), ("city",), {"candidates": ["private"], "epsilon": 1})
    for old in (("mode",), ("mode", "top_k", "median", "quantiles", "best_price", "check")):
        with pytest.raises(DiscreetError, check=IS_PUBLIC) as refused:
            OwnRights("ann", old).check("mode", question)
        assert "keys is not allowed here" in str(refused.value)
        OwnRights("ann", old).check("mode", listed)
    OwnRights("ann", ("mode", "keys")).check("mode", question)
    with pytest.raises(DiscreetError, check=IS_PUBLIC):
        OwnRights("ann", ("keys",)).check("mode", question)


@pytest.mark.parametrize(
    ("where", "columns", "is_allowed"),
    [
        (None, (), True),
        ("age > 1", (), False),
        ("age > 1", ("age",), True),
        ("age > 1 AND NOT (user_id = 'a' OR age IS NULL)", ("age",), False),
        ("age > 1 AND city = 'a'", ("age", "city"), True),
        ("city IS NULL", ("age",), False),
        ("city IS NULL", None, True),
        ("no condition", None, True),  # the verb refuses it
        ("no condition", ("age",), False),
    ],
)
def test_conditions_compare_with_the_columns_that_the_owner_lists(
    where: str | None, columns: tuple[str, ...] | None, is_allowed: bool
) -> None:
    question = Call(verb_named("mode"), ("city",), {} if where is None else {"where": where})
    own = OwnRights("ann", ("mode",), where=columns)
    if is_allowed:
        own.check("mode", question)
        return
    with pytest.raises(DiscreetError, check=IS_PUBLIC) as error:
        own.check("mode", question)
    assert isinstance(error.value, InvalidArgument)


AGES = Bins("age", 0, 120, 60)
PLAIN_AGES = {"column": "age", "lo": 0, "hi": "120", "step": 60}


@pytest.mark.parametrize(
    ("plain", "read"),
    [
        (["city", "age"], ["city", "age"]),
        (("city", PLAIN_AGES), ["city", AGES]),
        (["city", AGES], ["city", AGES]),
        ([PLAIN_AGES], [AGES]),
        (PLAIN_AGES, AGES),
        ({"column": "age", "edges": ["0", 60, "120"]}, AGES),
        (AGES, AGES),
        ("city", "city"),
    ],
    ids=repr,
)
def test_a_free_question_takes_columns_and_bins(plain: Any, read: Any) -> None:
    question = read_free("counts", plain, {"epsilon": 1, "by": plain})
    assert question.arguments == (read,)
    assert question.terms == {"epsilon": 1, "by": read}


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (["age", "age"], "a list of 2 to 10 columns that differ"),
        (["age", {**PLAIN_AGES}], "columns that differ"),
        (["age"], "one column, or a list of 2 to 10"),
        ([], "one column, or a list of 2 to 10"),
        ([f"c{place}" for place in range(11)], "2 to 10 columns"),
        ([["age", "city"], "drink"], "must be the name of a column"),
        (["age", None], "must be the name of a column"),
        (["age", 5], "must be a text, got 5"),
        (5, "must be a text, got 5"),
        (None, "must be a text, got None"),
        ({}, "need the name of their column, as in"),
        ({"column": "age"}, "Bins need edges"),
        ({**PLAIN_AGES, "column": ["age"]}, "must be the name of a column"),
        ({**PLAIN_AGES, "column": 5}, "must be a text, got 5"),
        ({**PLAIN_AGES, "__class__": "x"}, "bins have no '__class__'"),
        ({**PLAIN_AGES, "edges": [1, 2]}, "Bins need edges"),
        ({**PLAIN_AGES, "closed": 1}, "closed must be True or False"),
        ({**PLAIN_AGES, "hi": 60 * 10**9}, "at most 1,000 may be asked for"),
        ({**PLAIN_AGES, "hi": "1e999999999"}, "hi must be a finite number"),
        ({**PLAIN_AGES, "hi": float("inf")}, "hi must be a finite number"),
        ({**PLAIN_AGES, "lo": {"$eval": "x"}}, "lo must be a finite number"),
        ({"column": "age", "edges": list(range(5000))}, "from 2 to 1,001 edges"),
        ({"column": "age", "edges": [2, 1]}, "edges must rise"),
        ({"column": "age", "edges": [[1], 2]}, "an edge must be a finite number"),
    ],
    ids=repr,
)
def test_other_columns_are_refused(column: Any, words: str) -> None:
    for asked, terms in ((column, {}), ("city", {"by": column})):
        if terms and column is None:
            continue
        with pytest.raises(InvalidArgument, match=re.escape(words)) as refused:
            read_free("counts", asked, {"epsilon": 1, **terms})
        assert IS_PUBLIC(refused.value)


DECLARED = Dataset(
    {"city": [], "age": [], "drink": []},
    columns={
        "city": {"type": "string", "enum": [f"c{place}" for place in range(300)]},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "drink": {"type": "string"},
    },
)


def test_the_size_of_a_product_is_known_before_a_tuple_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bins, "product", None)  # it would fail if one was made
    wide = {"column": "age", "lo": 0, "hi": 1000, "step": 1}
    listed = {"city": list(range(9000)), "drink": [1, 2]}
    for column, terms, size in (
        (["city", "age"], {}, "300 × 121 = 36,300"),
        (["city", wide], {}, "300 × 1,000 = 300,000"),
        ("city", {"by": ["age", "city"]}, "121 × 300 × 300 = 10,890,000"),
        (["city", "drink"], {"candidates": listed}, "9,000 × 2 = 18,000"),
        ("city", {"by": {**wide, "step": 20}}, "50 × 300 = 15,000"),
        ("drink", {"by": ["city", "drink"], "groups": listed}, "9,000 × 2 = 18,000"),
    ):
        question = read_free("counts", column, {"epsilon": 1, **terms})
        with pytest.raises(
            InvalidArgument, match=re.escape(f"this one has {size}. Take")
        ) as refused:
            check_number_of_cells(question, DECLARED)
        assert IS_PUBLIC(refused.value)
    small = read_free("counts", ["city", {**wide, "step": 100}], {"epsilon": 1})
    check_number_of_cells(small, DECLARED)
    drawn = read_free("keys", ["city", "age"], {"epsilon": 1, "delta": "1e-6"})
    check_number_of_cells(drawn._replace(terms={"candidates": "private"}), DECLARED)


@pytest.mark.parametrize(
    ("listed", "number"),
    [
        ([1] * 10_001, "10,001"),
        ([("a", "b", "c")] * 4000, "12,000"),
        ({"a": [1] * 6000, "b": [1] * 6000}, "12,000"),
    ],
)
def test_values_are_counted_in_tuples_and_by_column(listed: Any, number: str) -> None:
    with pytest.raises(InvalidArgument, match=f"This lists {number}"):
        check_number_of_values({"epsilon": 1, "candidates": listed})


def test_the_cells_of_a_statement_are_counted_too() -> None:
    pytest.importorskip("sqlglot")
    clause = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) COUNT(*) FROM people"
    question = read_free("sql", None, {"statement": f"{clause} GROUP BY city, age"})
    with pytest.raises(InvalidArgument, match="this one has 300 × 121 = 36,300"):
        check_number_of_cells(question, DECLARED)
