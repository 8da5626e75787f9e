"""The plan of private keys: of public numbers alone, certified, in words, as a table and as a picture."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.errors import InvalidArgument, InvalidNumber
from discreet.selection.verb_calls import bill_of


def test_the_probabilities_are_those_of_the_mechanism() -> None:
    plan = discreet.plan_keys(1, "1e-5")
    assert (plan.even, plan.sure) == (12, 23)
    assert abs(float(plan.probability(12)) - 0.760310996922627) < 1e-14
    assert plan.probability(23).lower == plan.probability(10**9).upper == 1
    assert plan.probability(22).upper < 1
    assert (
        plan.sentence
        == "a key of fewer than 12 records is answered with a probability below one half"
    )


@pytest.mark.parametrize(
    ("terms", "even"),
    [({"max_groups": 20}, 102), ({"minimum_count": 10}, 23), ({"neighbors": "replace_one"}, 27)],
)
def test_what_moves_them(terms: dict[str, Any], even: int) -> None:
    assert discreet.plan_keys(1, "1e-6", **terms).even == even


def test_it_is_said_as_a_quote_says_it() -> None:
    plan = discreet.plan_keys("1/2", "1e-6", max_groups=3)
    bill = bill_of(
        discreet.keys, None, "page", epsilon="1/2", delta="1e-6", max_groups=3, privacy_unit="who"
    )
    assert plan.sentence == str(bill.worst_error)
    assert plan.guarantee == bill.guarantee


def test_the_table(tmp_path: Path) -> None:
    plan = discreet.plan_keys(1, "1e-6")
    rows = [line.split() for line in str(plan).splitlines()[2:]]
    assert rows[0] == ["1", "0.000001"]
    assert rows[-1] == ["28", "1"]
    assert [Fraction(chance) for _, chance in rows] == sorted(Fraction(c) for _, c in rows)
    assert "<table>" in plan._repr_html_()
    plain = plan.as_dict()
    assert (plain["one_half_from"], plain["always_from"]) == (14, 28)
    plan.plot().savefig(tmp_path / "plan.png")
    assert (tmp_path / "plan.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("epsilon", "delta", "terms"),
    [(0, "1e-6", {}), (1, 0, {}), (1, 1, {}), (1, "1e-6", {"max_groups": 0}), ("1e-6", "1e-9", {})],
)
def test_wrong_numbers_are_refused(epsilon: Any, delta: Any, terms: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        discreet.plan_keys(epsilon, delta, **terms)
    with pytest.raises(InvalidNumber, match="at least 0"):
        discreet.plan_keys(1, "1e-6").probability(-1)


@pytest.mark.parametrize("keys", [1, 10, 50])
def test_a_key_of_no_records_is_never_answered(keys: int) -> None:
    plan = discreet.plan_keys(1, "1e-6", max_groups=keys)
    nothing, one = plan.probability(0), plan.probability(1)
    assert nothing.lower == nothing.upper == 0
    assert one.lower > 0
