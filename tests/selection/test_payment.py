"""Every verb pays before it draws, and for what it promises."""

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import discreet
from discreet import Grid, quote
from discreet.base.digests import is_current
from discreet.cli import run
from discreet.errors import DiscreetError, InvalidArgument
from discreet.privacy import PureDP
from discreet.selection.payment import (
    About,
    Bill,
    DescribedAccount,
    Indices,
    Listener,
    PaidAnswer,
    buy_from,
    currency_of,
    describe_account,
    is_billed,
    is_paid,
    is_quoted,
    read_account,
)
from discreet.selection.question import Order, Query
from discreet.selection.question_sentences import verb_of

from ..public_names import PATHS, public

TABLE = pd.DataFrame({"drink": ["tea", "tea", "milk"], "age": [3, 5, 9]})
DRINKS = ["tea", "milk"]
AGES = Grid(0, 10)
PEOPLE = discreet.Dataset(TABLE, {"age": {"type": "integer", "minimum": 0, "maximum": 10}})


class Unpaid(DiscreetError):
    """What an account raises in these tests when it does not pay."""


@dataclass
class Purse:
    """An account that pays for `left` releases and keeps the bills."""

    left: int = 10
    bills: list[Bill] = field(default_factory=list)
    stored: dict[str, Indices] = field(default_factory=dict)

    def buy(self, bill: Bill, prepare: Callable[[], Callable[[], Indices]]) -> Indices:
        self.bills.append(bill)
        if bill.request in self.stored:
            return self.stored[bill.request]
        if not self.left:
            raise Unpaid
        draw = prepare()
        self.left -= 1
        drawn = draw()
        if bill.request is not None:
            self.stored[bill.request] = drawn
        return drawn


class Unread:
    """Data that must not be looked at."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"private data were looked at: {name}")


QUESTIONS: dict[str, Callable[..., discreet.Release]] = {
    "select": lambda **terms: discreet.select({"a": 1, "b": 2}, sensitivity=1, **terms),
    "select_by": lambda **terms: discreet.select_by(
        discreet.per_candidate(lambda data, r: len(data) * r),
        [1, 2],
        [0, 1],
        sensitivity=1,
        **terms,
    ),
    "select_generalized": lambda **terms: discreet.select_generalized([1, 2], [1, 2], **terms),
    "mode": lambda **terms: discreet.mode(TABLE, "drink", candidates=DRINKS, **terms),
    "median": lambda **terms: discreet.median(TABLE, "age", candidates=AGES, **terms),
    "median_distance": lambda **terms: discreet.median(
        TABLE, "age", candidates=AGES, score="median_distance", **terms
    ),
    "quantile": lambda **terms: discreet.quantile(
        TABLE, "age", alpha="0.9", candidates=AGES, **terms
    ),
    "minimum": lambda **terms: discreet.minimum(TABLE, "age", candidates=AGES, **terms),
    "maximum": lambda **terms: discreet.maximum(TABLE, "age", candidates=AGES, **terms),
    "best_price": lambda **terms: discreet.best_price(TABLE, "age", candidates=AGES, **terms),
    "laplace": lambda **terms: discreet.laplace(5, sensitivity=1, **terms),
    "geometric": lambda **terms: discreet.geometric(5, sensitivity=1, **terms),
    "randomized_response": lambda **terms: discreet.randomized_response("tea", DRINKS, **terms),
    "select_top_k": lambda **terms: discreet.select_top_k([5, 3, 1], k=2, sensitivity=1, **terms),
    "top_k": lambda **terms: discreet.top_k(TABLE, "drink", k=2, candidates=DRINKS, **terms),
    "peeled_top_k": lambda **terms: discreet.top_k(
        TABLE, "drink", k=2, candidates=DRINKS, method="peeling", **terms
    ),
    "joint_top_k": lambda **terms: discreet.top_k(
        TABLE, "drink", k=2, candidates=DRINKS, method="joint", **terms
    ),
}
DRAWN_MANY_TIMES = {
    "select", "select_by", "select_generalized", "laplace", "geometric", "randomized_response", "select_top_k",
}  # fmt: skip
"""Those that take a size: a verb over tables gives one answer."""
ONCE: dict[str, Callable[..., discreet.Release]] = {
    method: lambda method=method, **terms: discreet.quantiles(
        TABLE, "age", alphas=["0.25", "0.75"], candidates=AGES, method=method, **terms
    )
    for method in ("recursive", "joint", "independent")
} | {
    "bounds": lambda **terms: discreet.bounds(TABLE, "age", **terms),
    "count": lambda **terms: discreet.count(TABLE, **terms),
    "counts": lambda **terms: discreet.counts(TABLE, "drink", candidates=DRINKS, **terms),
    "counts_keys": lambda **terms: discreet.counts(TABLE, "drink", delta="1e-6", **terms),
    "keys": lambda **terms: discreet.keys(TABLE, "drink", delta="1e-6", **terms),
    "sum": lambda **terms: discreet.sum(TABLE, "age", minimum=0, maximum=10, **terms),
    "mean": lambda **terms: discreet.mean([40] * 999, minimum=0, maximum=80, **terms),
    "count_distinct": lambda **terms: discreet.count_distinct(TABLE, "drink", **terms),
    "variance": lambda **terms: discreet.variance([40] * 999, minimum=0, maximum=80, **terms),
    "standard_deviation": lambda **terms: discreet.standard_deviation(
        [40] * 999, minimum=0, maximum=80, **terms
    ),
    "check": lambda **terms: discreet.check(PEOPLE, "age", **terms),
    "profile": lambda **terms: discreet.profile(TABLE, columns=["age"], **terms),
    "select_rows": lambda **terms: discreet.select_rows([[1, 2], [2, 0]], sensitivity=1, **terms),
}


def test_every_verb_is_here() -> None:
    verbs = {name for name in PATHS if "ledger" in _parameters(public(name))}
    asked = (QUESTIONS | ONCE).keys() | {
        "connect",  # takes the ledger for all questions of a connection: tests/service
        "quantiles",  # by its methods
        "sql",  # says its own epsilon: tests/tables/verbs/test_sql.py
        "selector",  # tests/selection/test_selector.py
        "AboveThreshold",
        "private_candidates",  # tests/tables/verbs/test_private_candidates.py
        "report",
    }
    methods = {"median_distance", "joint_top_k", "peeled_top_k", "counts_keys"}
    assert verbs == asked - methods - {"recursive", "joint", "independent"}


def _parameters(value: Any) -> set[str]:
    try:
        return set(inspect.signature(value).parameters)
    except (TypeError, ValueError):  # no function, or one written in C
        return set()


@pytest.mark.parametrize("name", QUESTIONS | ONCE)
def test_the_bill_says_what_the_release_says(name: str) -> None:
    ask, purse = (QUESTIONS | ONCE)[name], Purse()
    release = ask(epsilon="1/3", ledger=purse)
    assert type(release.value) is type(ask(epsilon="1/3").value)
    [bill] = purse.bills
    assert (bill.guarantee, bill.mechanism) == (release.guarantee, release.mechanism)
    core = bill.guarantee.core
    assert core is not None
    assert core.pure == Fraction(1, 3)
    assert verb_of(bill.query)
    assert bill.query == release.query


@pytest.mark.parametrize("name", QUESTIONS | ONCE)
def test_nothing_is_drawn_that_is_not_paid(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a bit was read")

    monkeypatch.setattr("discreet.sampling.bits.os.urandom", refuse)
    monkeypatch.setattr("discreet.tables.engines.count", refuse)
    monkeypatch.setattr("discreet.tables.engines.numbers", refuse)
    with pytest.raises(Unpaid):
        (QUESTIONS | ONCE)[name](epsilon=1, ledger=Purse(left=0))


@pytest.mark.parametrize("name", sorted((QUESTIONS | ONCE).keys() - DRAWN_MANY_TIMES))
def test_a_verb_over_data_draws_once_and_bills_no_more(name: str) -> None:
    purse = Purse()
    with pytest.raises(TypeError, match=r"\bsize\b"):
        (QUESTIONS | ONCE)[name](epsilon="1/3", size=3, ledger=purse)
    assert purse.bills == []


@pytest.mark.parametrize("name", sorted(DRAWN_MANY_TIMES))
def test_many_draws_are_billed_many_times(name: str) -> None:
    purse = Purse()
    release = QUESTIONS[name](epsilon="1/3", size=3, ledger=purse)
    assert len(release.value) == 3
    assert type(release.value) is type(QUESTIONS[name](epsilon="1/3", size=3).value)
    assert purse.bills[0].guarantee == QUESTIONS[name](epsilon="1/3").guarantee.repeated(3)


@pytest.mark.parametrize("name", QUESTIONS | ONCE)
def test_the_same_request_has_the_same_answer(name: str) -> None:
    ask, purse = (QUESTIONS | ONCE)[name], Purse()
    answers = [ask(epsilon="1/3", ledger=purse, request="monday").value for _ in range(8)]
    assert all(str(answer) == str(answers[0]) for answer in answers)
    assert purse.left == 9
    assert len({bill.digest for bill in purse.bills}) == 1


def test_another_question_has_another_digest() -> None:
    purse = Purse(left=99)
    terms: Any = {"epsilon": 1, "ledger": purse}
    for ask in (QUESTIONS | ONCE).values():
        ask(**terms)
    many = QUESTIONS["median"]
    many(epsilon=2, ledger=purse)
    QUESTIONS["select"](**terms, size=2)
    many(**terms, mechanism="permute_and_flip")
    many(**terms, neighbors="replace_one")
    discreet.median(TABLE, "age", candidates=Grid(0, 10, "0.5"), **terms)
    discreet.quantile(TABLE, "age", alpha="0.4", candidates=AGES, **terms)
    discreet.mode(TABLE, "drink", candidates=["tea", "water"], **terms)
    discreet.mode(TABLE, "drink", candidates=["milk", "tea"], **terms)
    discreet.select({"a": 1, "b": 2}, sensitivity=2, **terms)
    discreet.select({"a": 1, "b": 2}, sensitivity=1, monotonic=True, **terms)
    discreet.select_generalized([1, 2], [1, 3], **terms)
    discreet.best_price(TABLE, "age", candidates=AGES, supply=2, **terms)
    discreet.top_k(TABLE, "drink", k=1, candidates=DRINKS, **terms)
    digests = [bill.digest for bill in purse.bills]
    assert len(set(digests)) == len(digests)


def test_the_digest_does_not_see_the_data() -> None:
    purse = Purse()
    discreet.select({"a": 1, "b": 2}, sensitivity=1, epsilon=1, ledger=purse)
    discreet.select({"a": 7, "b": -2}, sensitivity=1, epsilon=1, ledger=purse)
    assert purse.bills[0] == purse.bills[1]


def test_a_session_above_a_threshold_pays_at_once() -> None:
    purse = Purse(left=1)
    session = discreet.AboveThreshold(5, 1, 1, ledger=purse)
    assert session.ask(10**6)
    assert purse.bills[0].guarantee == session.guarantee
    with pytest.raises(Unpaid):
        discreet.AboveThreshold(5, 1, 1, ledger=purse)


def test_what_cannot_be_paid_for() -> None:
    with pytest.raises(InvalidArgument, match="ledger must be a session"):
        discreet.select([1, 2], sensitivity=1, epsilon=1, ledger="budget.db")  # type: ignore[call-overload]
    with pytest.raises(InvalidArgument, match="ledger must be a session"):
        discreet.AboveThreshold(5, 1, 1, ledger="budget.db")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="Give ledger too"):
        discreet.select([1, 2], sensitivity=1, epsilon=1, request="monday")
    with pytest.raises(InvalidArgument, match="request must be a printable name"):
        discreet.select([1, 2], sensitivity=1, epsilon=1, request=" ", ledger=Purse())
    with pytest.raises(InvalidArgument, match="candidates from the data"):
        discreet.mode(Unread(), "drink", unsafe_candidates_from_data=True, ledger=Purse())
    for study in (discreet.simulate, discreet.distribution):
        with pytest.raises(InvalidArgument, match="releases nothing"):
            study([1, 2], sensitivity=1, epsilon=1, ledger=Purse())


def test_thirds_stay_thirds() -> None:
    purse = Purse()
    discreet.select([1, 2], sensitivity=1, epsilon="1/3", size=3, ledger=purse)
    assert purse.bills[0].guarantee.pure == 1


def test_parts_of_a_digest_do_not_run_into_each_other() -> None:
    """Else a name with a line break lets a cheap question be paid, and a dear one be answered for it."""
    one = PureDP(Fraction(1), "add_remove")

    def order(words: str, details: dict[str, Any], unit: str | None = None, **public: Any) -> Order:
        query = Query("mode", {"column": words}, public)
        return Order(query, one, "exponential", lambda: details, unit=unit)

    orders = [
        order("x", {"size": None}),
        order("x", {"size": "null"}),
        order("x", {"size": None}, unit="person"),
        order("x", {"size": None, "unit": "person"}, column="unit"),
        order("x", {"size": None}, column="a\nb"),
        order("x", {"size": None}, column=("a", "b")),
        order("x", {"size": None}, columns=("a", "b")),
    ]
    assert len({order.bill().digest for order in orders}) == len(orders)
    assert order("x", {}).bill().digest == order("said better", {}).bill().digest


def test_any_text_has_a_digest() -> None:
    query = Query("mode", {"column": "\ud800"}, {"column": "\ud800"})
    guarantee = PureDP(Fraction(1), "add_remove")
    alone = Order(query, guarantee, "m", dict)
    assert is_current(alone.bill().digest)


def test_an_account_that_does_not_tell_leaves_it_open() -> None:
    assert discreet.select([1, 2], sensitivity=1, epsilon=1, ledger=Purse()).charged is None


def test_a_bill_under_a_request_keeps_everything_else() -> None:
    """Of values that no other field has: whichever were lost or exchanged would be seen."""
    values: dict[str, Any] = {one.name: f"the {one.name}" for one in fields(Bill)}
    renamed = Bill(**values).under("monday")
    assert {one.name: getattr(renamed, one.name) for one in fields(Bill)} == {
        **values,
        "request": "monday",
    }


PRICE_TERMS: dict[str, Any] = {"candidates": ["a", "b"], "epsilon": 1}


def test_a_price_reads_no_data() -> None:
    price = quote(discreet.counts, Unread(), **PRICE_TERMS)
    assert price.guarantee == discreet.privacy.PureDP(Fraction(1), "add_remove")
    assert price.worst_error == discreet.counts(["a"], **PRICE_TERMS).error
    assert str(price) in repr(price)
    assert "costs ε = 1 (add/remove one record), geometric mechanism. Nothing was charged" in str(
        price
    )
    assert str(price.worst_error) in price._repr_html_()
    assert json.loads(json.dumps(price.as_dict()))["worst_error"]["error"] == "5"


def test_a_price_of_several_questions_names_each() -> None:
    columns = {"age": {"type": "integer", "minimum": 0, "maximum": 120}}
    people = discreet.Dataset({"age": []}, name="people", columns=columns)
    head = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 2)"
    price = quote(discreet.sql, people, f"{head} COUNT(*) AS n, AVG(age) AS a FROM people")
    assert [part.name for part in price.parts] == ["n", "a"]
    assert "\n  n: " in str(price)
    assert len(price.as_dict()["parts"]) == 2  # type: ignore[arg-type]


def test_a_ledger_has_its_own_quote(tmp_path: Any) -> None:
    ledger = discreet.Ledger(tmp_path / "budget.db")
    ledger.open("people", epsilon=1)
    with pytest.raises(InvalidArgument, match=r"call session\.quote"):
        quote(discreet.counts, ["a"], **PRICE_TERMS, ledger=ledger.session("people"))


def test_a_dry_run_needs_no_ledger(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age\n1\n2\n", encoding="utf-8")
    command = ["count", str(path), "--epsilon", "1", "--dry-run"]
    assert run(command) == 0
    assert "Nothing was charged; worst error:" in capsys.readouterr().out
    assert run([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["epsilon"] == "1"


BILL = Bill(PureDP(Fraction(1, 2)), "exponential", "select", "2:abc")
ABOUT, OTHER = About("adult"), About("census")


class TellingPurse(Purse):
    """An account that tells whether it charged, and what it counts."""

    currency = "rho"

    def bought(self, bill: Bill, prepare: Callable[[], Callable[[], Indices]]) -> PaidAnswer:
        return PaidAnswer(self.buy(bill, prepare), True)


def test_an_account_tells_whether_it_charged_if_it_can() -> None:
    for purse, charged in ((Purse(), None), (TellingPurse(), True)):
        assert buy_from(purse, BILL, lambda: lambda: 3) == (3, charged)


def test_a_bill_goes_with_the_dataset_that_it_is_about() -> None:
    purse = TellingPurse()
    described = describe_account(purse, ABOUT)
    assert type(described) is DescribedAccount
    assert described.currency == "rho"
    assert described.buy(BILL, lambda: lambda: 3) == 3
    assert described.bought(BILL, lambda: lambda: 4) == (4, True)
    assert [bill.about for bill in purse.bills] == [ABOUT, ABOUT]
    assert [bill.digest for bill in purse.bills] == [BILL.digest, BILL.digest]


def test_the_outermost_verb_names_the_dataset() -> None:
    described = describe_account(Purse(), ABOUT)
    assert describe_account(described, OTHER).about is ABOUT
    listener = Listener(billing=True)
    assert describe_account(describe_account(listener, ABOUT), OTHER).about is ABOUT


def test_what_is_no_account_is_left_to_be_refused() -> None:
    assert describe_account("budget.db", ABOUT) == "budget.db"
    with pytest.raises(InvalidArgument, match="ledger must be a session"):
        read_account("budget.db")
    assert read_account(None) is None
    purse = Purse()
    assert read_account(purse) is purse


def test_an_account_counts_epsilon_or_rho_or_does_not_tell() -> None:
    assert [currency_of(one) for one in (TellingPurse(), Purse(), None)] == ["rho", None, None]
    assert Listener(billing=True, payer=TellingPurse()).currency == "rho"


@pytest.mark.parametrize(
    ("ledger", "paid", "quoted", "billed"),
    [
        (None, False, False, False),
        (Purse(), True, False, True),
        (Listener(billing=True), False, True, True),
        (Listener(billing=False), False, True, False),
    ],
)
def test_who_pays(ledger: Any, paid: bool, quoted: bool, billed: bool) -> None:
    terms = {"ledger": ledger}
    assert (is_paid(terms), is_quoted(terms), is_billed(terms)) == (paid, quoted, billed)
    assert not is_paid({})


def test_a_listener_pays_nothing() -> None:
    with pytest.raises(InvalidArgument, match="only to see what it would cost"):
        Listener(billing=True).buy(BILL, None)
