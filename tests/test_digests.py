"""What a ledger knows a request by: the same in every later version, whatever is renamed."""

import datetime as dt
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import discreet
from discreet import Grid
from discreet.base import digests
from discreet.base.digests import VERSION, describe_value, digest, is_current
from discreet.errors import InvalidArgument, RequestConflict
from discreet.ledger import Ledger
from discreet.mechanisms import Base2, Base2Eta, Exponential, NoisyMax
from discreet.mechanisms.contract import identity_of
from discreet.selection.payment import Bill, Indices

RECORDED = Path(__file__).with_suffix(".json")


class Colour(Enum):
    """An answer of a user's own type."""

    RED = 1


DIFFERENT: list[Any] = [
    None, True, 1, 1.0, "1", "None", b"1", Decimal(1), Fraction(1), Decimal("1.0"), False, 0, -0.0, 0.0, "",
    dt.date(2024, 1, 1), dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, tzinfo=dt.UTC),
    dt.datetime(2024, 10, 27, 2, 30, tzinfo=ZoneInfo("Europe/Paris")),
    dt.datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Paris")),
    dt.time(1), dt.timedelta(1), [], {}, [1], ["1"], [[1]], [1, 1], ["11"], {"1": 1}, {"1": [1]}, 10**400,
    Colour.RED, "RED", ["integer", "1"], "\ud800", "a\nb", ["a", "b"],
]  # fmt: skip


def test_values_that_differ_have_descriptions_that_differ() -> None:
    for one, other in combinations(DIFFERENT, 2):
        assert describe_value(one) != describe_value(other), (one, other)
        assert digest({"x": one}) != digest({"x": other})


def test_a_description_is_plain_json() -> None:
    for value in DIFFERENT:
        assert json.loads(json.dumps(describe_value(value))) == describe_value(value)


@dataclass
class Till:
    """An account that takes bills and pays for none."""

    bills: list[Bill] = field(default_factory=list)

    def buy(self, bill: Bill, prepare: Callable[[], Callable[[], Indices]]) -> Indices:
        self.bills.append(bill)
        return prepare()()


TABLE = {"age": [3, 4, 5], "pay": [1.5, 2.5, 0.0], "who": ["a", "a", "b"], "city": ["x", "y", "x"]}
AGES = Grid(0, 10, "1/2")


def questions(till: Any) -> dict[str, Callable[[], Any]]:
    """One question of each kind."""
    import polars as pl

    data = pl.DataFrame(TABLE)
    terms: dict[str, Any] = {"ledger": till, "epsilon": "1/3"}
    unit: dict[str, Any] = {"privacy_unit": "who", "max_contributions": 2}
    groups: dict[str, Any] = {"by": "city", "groups": ["x", "y"]}
    describe_value = discreet.Dataset(
        data,
        {
            "age": {"type": "integer", "minimum": 0, "maximum": 9},
            "city": {"type": "string", "enum": ["x", "y"]},
        },
        privacy_unit="who",
    )
    return {
        "select": lambda: discreet.select([3, 1], sensitivity=1, **terms),
        "select named": lambda: discreet.select({"b": 1, "a": 2}, spread=2, size=2, **terms),
        "select measured": lambda: discreet.select(
            [3, 1], spread=1, mechanism=Exponential(base_measure=[1, "1/2"]), **terms
        ),
        "select base2": lambda: discreet.select(
            [3, 1], spread=1, mechanism=Base2(Base2Eta(1, 1), granularity="0.5"), ledger=till
        ),
        "select noisy": lambda: discreet.select(
            [3, 1], sensitivity=1, mechanism=NoisyMax("exponential"), **terms
        ),
        "select_by": lambda: discreet.select_by(
            lambda data, options: [1, 2], None, [True, 2.5], sensitivity="0.1", error="1e-9", **terms
        ),
        "selector": lambda: discreet.selector(["a", "b"], sensitivity=1, **terms)([1, 2]),
        "select_rows": lambda: discreet.select_rows([[1, 2], [3, 4]], sensitivity=1, **terms),
        "select_rows weighed": lambda: discreet.select_rows(
            [[1, 2]] * 2, spread=1, log_base_measure=[0.5, 1], mask=[[True, True], [True, False]],
            disjoint=True, **terms
        ),
        "select_generalized": lambda: discreet.select_generalized([1, 2], [1, "1/2"], **terms),
        "laplace": lambda: discreet.laplace(1, sensitivity=1, lo=0, hi=4, step="0.5", **terms),
        "geometric": lambda: discreet.geometric(1, sensitivity=2, **terms),
        "randomized_response": lambda: discreet.randomized_response("y", ["y", "n"], **terms),
        "mode": lambda: discreet.mode(data, "city", candidates=["x", "y"], **terms),
        "mode groups": lambda: discreet.mode(
            data, "age", candidates=[3, 4], privacy_unit="who", max_groups=2, **groups, **terms
        ),
        "median": lambda: discreet.median(data, "age", candidates=AGES, **terms),
        "median distance": lambda: discreet.median(
            data, "age", candidates=AGES, score="median_distance", **unit, **terms
        ),
        "quantile": lambda: discreet.quantile(data, "pay", alpha="0.1", candidates=[1, Decimal("2.5")], **terms),
        "median without bounds": lambda: discreet.median(data, "age", **terms),
        "quantiles": lambda: discreet.quantiles(data, "age", alphas=["1/4", "3/4"], candidates=AGES, **terms),
        "bounds": lambda: discreet.bounds(data, "pay", q="0.9", **unit, **terms),
        "bounds of decimals": lambda: discreet.bounds(
            data, "pay", candidates=discreet.Decimals(2), epsilon=1, ledger=till
        ),
        "best_price": lambda: discreet.best_price(data, "pay", candidates=AGES, supply=2, **unit, **terms),
        "top_k": lambda: discreet.top_k(data, "city", k=2, candidates=["x", "y"], method="peeling", **terms),
        "top_k counts": lambda: discreet.top_k(data, "city", k=2, candidates=["x", "y"], method="counts", **terms),
        "mode gap": lambda: discreet.mode(data, "city", candidates=["x", "y"], gap=True, **terms),
        "top_k gaps": lambda: discreet.top_k(
            data, "city", k=1, candidates=["x", "y"], method="counts", gap=True, **terms
        ),
        "top_k private": lambda: discreet.top_k(
            data, "city", k=2, candidates="private", delta="1e-6", neighbors="replace_one", **terms
        ),
        "mode private units": lambda: discreet.mode(
            data, "city", candidates="private", delta="1e-6", privacy_unit="who", max_candidates=3, **terms
        ),
        "mode counts": lambda: discreet.mode(
            data, "city", candidates=["x", "y"], method="counts", privacy_unit="who", max_candidates=1, **terms
        ),
        "select_top_k joint": lambda: discreet.select_top_k([1, 2, 3], k=2, sensitivity=1, method="joint", **terms),
        "count": lambda: discreet.count(data, "city", privacy_unit="who", max_groups=2, **groups, **terms),
        "counts": lambda: discreet.counts(
            data, "city", candidates=["x", "y", "z"], privacy_unit="who", max_candidates=2, **terms
        ),
        "counts keys": lambda: discreet.counts(data, "city", delta="1e-6", most=20, other="1/10", **terms),
        "keys": lambda: discreet.keys(
            data, "city", delta="1e-6", minimum_count=5, privacy_unit="who", max_groups=3,
            neighbors="replace_one", **terms
        ),
        "sum": lambda: discreet.sum(
            data, "pay", minimum=0, maximum="2.5", neighbors="replace_one", **unit, **terms
        ),
        "mean": lambda: discreet.mean(data, "pay", minimum=0, maximum="2.5", step="0.1", **groups, **terms),
        "mean without bounds": lambda: discreet.mean(data, "pay", bounds_share="0.1", **unit, **terms),
        "count_distinct": lambda: discreet.count_distinct(data, "city", privacy_unit="who", max_groups=3, **terms),
        "variance": lambda: discreet.variance(data, "pay", minimum=0, maximum="2.5", step="0.1", **groups, **terms),
        "standard_deviation": lambda: discreet.standard_deviation(data, "pay", minimum=0, maximum="2.5", **terms),
        "sum without bounds": lambda: discreet.sum([1.5, 2], bounds_share="0.2", **terms),
        "check": lambda: discreet.check(
            describe_value, ["city", "age"], max_contributions=2, neighbors="replace_one", **terms
        ),
        "sql": lambda: discreet.sql(
            describe_value,
            "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) MODE(city) FROM data WHERE age > 3",
            ledger=till,
        ),
        "profile": lambda: discreet.profile(
            data, columns=["city", "pay"], privacy_unit="who", max_contributions=2, delta="1e-9", **terms
        ),
        "private_candidates": lambda: discreet.private_candidates(
            lambda data, one, share: (one, None), 0, [1, 2], epsilon=1, ledger=till
        ),
        "private_candidates attempt": lambda: discreet.private_candidates(
            lambda data, one, share: (one, None), 0, [1, 2], attempt=discreet.privacy.ZCDP(Fraction(1, 8)),
            delta="1e-6", ledger=till
        ),
        "above_threshold": lambda: discreet.AboveThreshold(5, 1, 1, count=2, ledger=till),
    }  # fmt: skip


def asked() -> dict[str, str]:
    """Return the digest of each question."""
    till = Till()
    for ask in questions(till).values():
        ask()
    return {name: bill.digest for name, bill in zip(questions(till), till.bills, strict=True)}


def test_every_verb_is_here() -> None:
    sessions = {name for name in vars(discreet.Session) if name in discreet.__all__}
    assert sessions - {name.partition(" ")[0] for name in questions(Till())} == {
        "minimum",  # as `quantile`, which they call
        "maximum",
        "quote",  # no verb: it asks one for its price
    }


def test_digests_are_those_that_were_recorded() -> None:
    """A ledger that was written by an earlier version knows its requests again."""
    digests = asked()
    assert digests == json.loads(RECORDED.read_text(encoding="utf-8"))
    assert len(set(digests.values())) == len(digests)
    assert all(map(is_current, digests.values()))


def test_what_is_hashed_holds_no_name_of_a_class_and_no_sentence() -> None:
    mechanism = Exponential(base_measure=[1, 2])
    parameters = {"base_measure": (Fraction(1), Fraction(2))}
    assert identity_of(mechanism) == {"name": "exponential", "parameters": parameters}
    assert describe_value(Grid(0, 1, "1/3").description) == {
        "lo": ["fraction", "0"], "hi": ["fraction", "1"], "step": ["fraction", "1/3"]
    }  # fmt: skip


def test_a_mechanism_that_says_nothing_of_itself_cannot_be_paid_for() -> None:
    class Mute:
        name = "mute"
        takes_runs = False

        def calibrate(self, sensitivity: Any, parameter: Any) -> Any:
            return Exponential().calibrate(sensitivity, parameter)

    mechanism: Any = Mute()
    discreet.select([1, 2], sensitivity=1, epsilon=1, mechanism=mechanism)
    till = Till()
    with pytest.raises(InvalidArgument, match="does not state its parameters"):
        discreet.select([1, 2], sensitivity=1, epsilon=1, mechanism=mechanism, ledger=till)
    assert not till.bills


def test_a_request_of_an_earlier_version_is_refused_and_never_drawn_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ledger = Ledger()
    ledger.open("d", epsilon=3)
    session = ledger.session("d")
    terms: Any = {"sensitivity": 1, "epsilon": 1, "request": "r"}
    with monkeypatch.context() as earlier:
        earlier.setattr("discreet.selection.question.digest", lambda description: "ab" * 32)
        session.select([1, 2], **terms)
    for _ in range(2):
        with pytest.raises(RequestConflict, match="another version of discreet"):
            session.select([1, 2], **terms)
    assert str(ledger.budgets()[0].spent.epsilon) == "1"
    assert VERSION == 2


CITIES = {"candidates": ["x", "y"], "k": 2, "epsilon": 1, "request": "r"}


def test_a_list_by_another_method_is_another_question() -> None:
    ledger = Ledger()
    ledger.open("d", epsilon=3)
    session, terms = ledger.session("d"), dict[str, Any](CITIES)
    session.top_k(TABLE, "city", method="peeling", **terms)
    with pytest.raises(RequestConflict):  # by counts, which are best
        session.top_k(TABLE, "city", **terms)
    assert session.top_k(TABLE, "city", **{**terms, "request": "new"}).mechanism == "geometric"


if __name__ == "__main__":
    RECORDED.write_text(json.dumps(asked(), indent=1) + "\n", encoding="utf-8")


@pytest.mark.parametrize(
    "plain",
    [
        {},
        [],
        "é\ud800\u2028\"\\",
        {"b": 1, "a": [True, None, 1.5, Fraction(1, 3), Decimal("1.20")], 1: "x", "1": "y"},
        {"z": {"é": (b"\0", dt.date(2027, 1, 1)), "": dt.datetime(2027, 1, 1, fold=1)}},
        MappingProxyType({"k": [dt.time(1), dt.timedelta(1), range(3)]}),
    ],
)  # fmt: skip
def test_the_text_of_a_description_is_its_json(plain: object) -> None:
    """It is written without making the description, and must not change: a request would be drawn again."""
    expected = json.dumps(describe_value(plain), sort_keys=True, separators=(",", ":"))
    assert digests._description_text(plain) == expected
    made = digests.described({"made": plain})
    whole = {"made": plain, "new": plain}
    assert digests._description_text({**made, "new": plain}) == digests._description_text(whole)
    assert describe_value(made) == describe_value({"made": plain})
    assert digest({**made, "new": plain}) == digest(whole)
