"""Free questions: what an owner allows to a caller."""

from fractions import Fraction
from operator import attrgetter
from typing import Any

import pytest

from discreet import Bins, compose
from discreet.errors import DiscreetError, InvalidArgument
from discreet.privacy import BoundedRange
from discreet.privacy.guarantees import ApproxDP, Guarantee, PureDP
from discreet.selection.verb_calls import Call
from discreet.service.asking.free_questions import read_free, verb_named
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


@pytest.mark.parametrize("several", [["age", "city"], ("age",), Bins("age", 0, 2, 1)], ids=repr)
def test_a_free_question_is_about_one_column(several: Any) -> None:
    for verb in ("counts", "keys", "mode", "top_k", "count"):
        with pytest.raises(InvalidArgument, match="ask the owner to declare one") as refused:
            read_free(verb, several, {"epsilon": 1})
        assert str(refused.value).startswith("column must be the name of one column here, got a")
        if verb != "keys":  # which takes no groups
            with pytest.raises(InvalidArgument, match="by must be the name of one column here"):
                read_free(verb, "city", {"epsilon": 1, "by": several})
    assert read_free("mode", "city", {"by": "age"}).terms == {"by": "age"}
