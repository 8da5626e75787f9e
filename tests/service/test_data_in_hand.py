"""Data in hand: a connection gives answers and nothing else."""

import copy
import pickle
import traceback
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import discreet
from discreet import Connection, Grid, Ledger
from discreet.errors import (
    Exhausted,
    InvalidArgument,
    InvalidScores,
    NotAllowed,
    Unanswerable,
    UnknownBudget,
    UnknownName,
)

SECRET = 987654321.125
BIDS = [1, 1, 1, 3.01]
PRICES = Grid(0, "3.5", "0.01")


def held(name: str, data: Any, ledger: Any = None, **budget: Any) -> Connection:
    """Return the connection of the owner of one dataset, with its budget."""
    owner = discreet.connect(datasets={name: data}, ledger=ledger)
    owner.open_budget(name, **budget)
    return owner


def node(**budget: Any) -> Connection:
    owner = held("bids", BIDS, **(budget or {"epsilon": 10}))
    owner.allow("bids", "price", discreet.best_price, candidates=PRICES, epsilon=1)
    return owner


@pytest.mark.parametrize("datasets", [{}, []])
def test_no_data_are_no_connection(datasets: Any) -> None:
    with pytest.raises(InvalidArgument, match="datasets is empty: give data by name"):
        discreet.connect(datasets=datasets)


def test_the_first_seed() -> None:
    answer = node().ask("price")
    assert 0 <= answer.value <= Fraction("3.5")
    assert answer.guarantee.pure == 1


def test_several_questions_about_the_same_data() -> None:
    made = node()
    made.allow(
        "bids",
        "middle",
        discreet.median,
        candidates=PRICES,
        epsilon="0.5",
        mechanism="permute_and_flip",
    )
    made.allow(
        "bids", "own", partial(discreet.select_by, discreet.per_candidate(lambda b, r: len(b) * r)), [0, 1],
        sensitivity=1, monotonic=True, epsilon=1,
    )  # fmt: skip
    made.ask("middle")
    made.ask("own", dataset="bids")
    assert made.budgets()[0].spent.epsilon == Fraction(3, 2)
    with pytest.raises(UnknownName, match=r"no question 'none'. There are price, middle, own"):
        made.ask("none")
    assert [question.access for question in made.questions()] == ["price", "middle", "own"]
    assert repr(made) == "Connection(bids)"


def test_many_answers_cost_many_times() -> None:
    made = node(epsilon=1_000)
    verb = partial(discreet.select_by, discreet.per_candidate(lambda b, r: len(b) * r))
    made.allow("bids", "own", verb, [0, 1], sensitivity=1, epsilon=1, size=1_000)
    assert len(made.ask("own").value) == 1_000
    assert made.budgets()[0].remaining.epsilon == 0
    with pytest.raises(Exhausted):
        made.ask("own")


def test_simulation_needs_permission() -> None:
    made = node()
    with pytest.raises(InvalidArgument, match="allow_simulation"):
        made.simulate("price")
    made.allow_simulation("bids")
    assert len(made.simulate("price", size=50).values) == 50
    assert made.budgets()[0].spent.epsilon == 0


def test_a_request_is_answered_once() -> None:
    made = node()
    answers = {made.ask("price", request="monday").value for _ in range(20)}
    assert len(answers) == 1
    assert made.budgets()[0].spent.epsilon == 1


def test_budgets_outlive_the_node(tmp_path: Path) -> None:
    for _ in range(3):
        made = held("bids", BIDS, tmp_path / "budget.db", epsilon=1)
        made.allow("bids", "price", discreet.best_price, candidates=PRICES, epsilon="1/3")
        made.ask("price")
    with pytest.raises(Exhausted):
        made.ask("price")
    with pytest.raises(InvalidArgument):
        held("bids", BIDS, tmp_path / "budget.db", epsilon=2)


def test_an_analyst_has_a_share() -> None:
    ledger = Ledger()
    made = held("bids", BIDS, ledger, epsilon=10)
    ledger.open("bids", analyst="a", epsilon=1)
    made.allow("bids", "price", discreet.best_price, candidates=PRICES, epsilon=1)
    made.for_analyst("a").ask("price")
    with pytest.raises(Exhausted):
        made.for_analyst("a").ask("price")
    made.ask("price")


class Loud:
    """Data that put themselves into every error."""

    def __len__(self) -> int:
        raise ValueError(f"the data are {SECRET}")

    def __repr__(self) -> str:
        return f"Loud({SECRET})"

    __array__ = __iter__ = __getitem__ = __len__


def shout(data: Any, candidates: Any) -> Any:
    raise KeyError(f"the data are {data}")


def confess(data: Any, /, **_: Any) -> Any:
    secret = SECRET
    raise TypeError(f"{secret}")


@pytest.mark.parametrize(
    ("data", "verb", "arguments"),
    [
        (Loud(), discreet.median, (Grid(0, 10),)),
        ([SECRET, "x"], discreet.median, (Grid(0, 10),)),
        (SECRET, partial(discreet.select_by, shout), ([0, 1],)),
        ([SECRET, float("nan")], discreet.select, ()),
        (pd.DataFrame({"a": [[SECRET]]}), discreet.mode, ("a", [1, 2])),
    ],
)
def test_errors_tell_nothing(data: Any, verb: Any, arguments: Any) -> None:
    made = held("secret", data, epsilon=10)
    terms: dict[str, Any] = {"epsilon": 1}
    if isinstance(verb, partial) or verb is discreet.select:
        terms["sensitivity"] = 1
    raised: list[discreet.DiscreetError] = []
    try:
        made.allow("secret", "ask", verb, *arguments, **terms)
        made.ask("ask")
    except discreet.DiscreetError as error:
        raised.append(error)
    assert not any(map(told, raised))
    assert raised or not isinstance(data, Loud)


def told(error: BaseException) -> bool:
    """Return whether the error, or a frame it went through, or its origins, hold the secret."""
    seen = "".join(traceback.format_exception(error))
    assert error.__cause__ is None
    assert error.__context__ is None
    frames = [frame.f_locals for frame, _ in traceback.walk_tb(error.__traceback__)]
    inside = [value for local in frames[1:] for value in local.values()]
    reprs = [seen, *map(repr, inside)]
    return any(str(int(SECRET)) in text for text in reprs)


def test_what_no_verb_raises_is_not_told_either() -> None:
    made = held("secret", SECRET, epsilon=10)
    with pytest.raises(InvalidScores, match="cannot be asked this") as caught:
        made.allow("secret", "ask", confess)
    assert not told(caught.value)


def test_a_wrong_term_is_named() -> None:
    made = node()
    with pytest.raises(
        InvalidArgument, match=r"unexpected argument 'epsilom'. Did you mean 'epsilon'"
    ):
        made.allow("bids", "x", discreet.best_price, candidates=PRICES, epsilom=1)


def reachable(thing: Any, depth: int = 4) -> list[Any]:
    """Return what attributes, slots and items lead to."""
    found = [thing]
    if depth:
        for name in dir(thing):
            if not name.startswith("__") and not callable(value := getattr(thing, name, None)):
                found += reachable(value, depth - 1)
    return found


def test_data_cannot_be_read_back() -> None:
    made = held("secret", [SECRET], epsilon=1)
    assert not hasattr(made, "__dict__")
    assert not any(str(int(SECRET)) in repr(thing) for thing in reachable(made))
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="connection cannot be"):
            attempt(made)
    assert str(int(SECRET)) not in repr(made) + str(made) + f"{made}"


def test_refusals() -> None:
    made = node()
    with pytest.raises(InvalidArgument, match="Take another name"):
        made.allow("bids", "price", discreet.best_price, candidates=PRICES, epsilon=1)
    with pytest.raises(InvalidArgument, match="size"):
        made.allow("bids", "many", discreet.best_price, candidates=PRICES, epsilon=1, size=3)
    with pytest.raises(InvalidArgument, match="question must be a printable name"):
        made.allow("bids", " ", discreet.best_price, candidates=PRICES, epsilon=1)
    wrong: list[Any] = [{3: BIDS}, {" ": BIDS}, [BIDS], BIDS, [discreet.Dataset(BIDS, AGES)]]
    for datasets in wrong:
        with pytest.raises(InvalidArgument, match=r"printable name|datasets must be"):
            discreet.connect(datasets=datasets)
    with pytest.raises(UnknownName, match="dataset must be one of bids, got 'bid'"):
        made.ask("price", dataset="bid")
    with pytest.raises(
        UnknownName, match=r"no question 'pryce' \(did you mean 'price'\?\). There are price"
    ):
        made.ask("pryce", dataset="bids")
    with pytest.raises(InvalidArgument):
        held("bids", BIDS)
    with pytest.raises(UnknownName, match="There are none"):
        held("bids", BIDS, epsilon=1).ask("price")
    unopened = discreet.connect(datasets={"bids": BIDS})
    unopened.allow("bids", "price", discreet.best_price, candidates=PRICES, epsilon=1)
    with pytest.raises(UnknownBudget, match="no budget was opened for bids"):
        unopened.ask("price")


def test_data_in_hand_are_the_owners_alone() -> None:
    with pytest.raises(InvalidArgument, match="leave out where, analyst and token"):
        discreet.connect("discreet.toml", datasets={"bids": BIDS})
    with pytest.raises(InvalidArgument, match="a ledger goes with datasets"):
        discreet.connect(ledger="budget.db")
    made = node()
    made.open_budget("bids", analyst="a", epsilon=1)
    analyst = made.for_analyst("a")
    refused: list[Callable[[], object]] = [
        lambda: analyst.allow("bids", "x", discreet.median, candidates=PRICES, epsilon=1),
        lambda: analyst.limit("price", 1),
        lambda: analyst.for_analyst("a"),
        lambda: analyst.allow_simulation("bids"),
        lambda: analyst.simulate("price"),
        lambda: analyst.open_budget("bids", analyst="a", epsilon=9),
        lambda: analyst.extend_budget("bids", analyst="a", epsilon=9),
        analyst.tokens,
        analyst.chain,
    ]
    for call in refused:
        with pytest.raises(NotAllowed):
            call()
    with pytest.raises(InvalidArgument, match=r"not allowed here|not, only"):
        analyst.median("bids", "x", epsilon=1)
    with pytest.raises(InvalidArgument, match="has no description: only its named questions"):
        made.median("bids", "x", epsilon=1)
    assert dict(made.columns("bids")) == {}
    with pytest.raises(InvalidArgument, match="tokens are for the datasets of a"):
        made.create_token("owner")
    assert made.extend_budget("bids", epsilon=20).total.epsilon == 20
    assert made.audit().events == 3


def test_described_data_in_hand_can_be_asked_freely_by_their_owner() -> None:
    people = discreet.Dataset([{"age": 30}] * 9, AGES, name="people")
    owner = discreet.connect(datasets=[people])
    owner.open_budget("people", epsilon=9)
    assert owner.median("people", "age", epsilon=8).value == 30
    assert [*owner.columns("people")] == ["age"]
    assert owner.budgets()[0].spent.epsilon == 8


AGES: Any = {"age": {"type": "integer", "minimum": 0, "maximum": 120}}


def test_a_renewed_budget_is_charged_and_shown(tmp_path: Path) -> None:
    people = discreet.Dataset([{"age": 30}] * 9, AGES, name="people")
    ledger = Ledger(tmp_path / "budget.db")
    node = held("people", people, ledger, epsilon=1)
    node.allow("people", "age", discreet.median, "age", epsilon=1)
    node.open_budget("people", analyst="ann", epsilon=1)
    ann = node.for_analyst("ann")
    ann.ask("age")
    ledger.renew(people, "2027", epsilon=2)
    assert ann.questions() == []  # shares are not renewed
    node.ask("age")
    node.open_budget("people", analyst="ann", epsilon=1)
    ann.ask("age")
    told = [(b.name, b.is_current, str(b.spent.epsilon)) for b in node.budgets()]
    assert told == [
        ("people", False, "1"), ("people / ann", False, "1"),
        ("people 2027", True, "2"), ("people 2027 / ann", True, "1"),
    ]  # fmt: skip
    assert [(b.name, b.is_current) for b in ann.budgets()] == [
        ("people / ann", False), ("people 2027 / ann", True),
    ]  # fmt: skip
    assert "people (renewed)" in str(node._repr_html_())


def test_two_datasets_of_one_source_have_one_budget_in_a_node(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age\n" + "30\n" * 9)
    both = {name: discreet.Dataset(tmp_path / "a.csv", AGES) for name in ("people", "ages")}
    node = discreet.connect(datasets=both)
    for name in both:
        node.open_budget(name, epsilon=3)
        node.allow(name, "age", discreet.median, "age", epsilon=1)
        node.ask("age", dataset=name)
    node.open_budget("ages", analyst="ann", epsilon=1)
    ann = node.for_analyst("ann")
    assert [b.name for b in node.budgets()] == ["people", "people / ann"]
    assert [q.name for q in ann.questions()] == ["people", "ages"]
    assert [b.name for b in ann.budgets()] == ["people / ann"]
    with pytest.raises(Exhausted):
        node.ask("age", dataset="people")
    with pytest.raises(InvalidArgument, match=r"a question about people and ages. Say which"):
        ann.ask("age")
    ann.ask("age", dataset="ages")
    with pytest.raises(Exhausted):
        ann.ask("age", dataset="people")


def test_arguments_that_a_verb_does_not_take_are_refused_by_its_signature() -> None:
    made = node()
    for terms in ({"candidate": [1]}, {}):
        with pytest.raises(InvalidArgument, match="odd cannot be asked like this"):
            made.allow("bids", "odd", _of_two, **terms)

    def failing(data: object, **terms: object) -> Any:
        raise TypeError("f() takes 2 arguments")  # as Python says it, and not about ours

    with pytest.raises(InvalidScores, match="Its message may quote the data"):
        made.allow("bids", "failing", failing)


def _of_two(data: object, column: str) -> Any:
    raise AssertionError("it was called")


def test_a_request_that_costs_too_much_is_not_counted() -> None:
    """Nothing of the data played a part in the refusal."""
    made = node()
    made.open_budget("bids", analyst="a", epsilon=5)
    made.limit("price", requests=1)
    analyst = made.for_analyst("a")
    for _ in range(2):
        with pytest.raises(InvalidArgument, match="more than max_cost"):
            analyst.ask("price", max_cost="1/2")
    assert [question.requests for question in analyst.questions()] == [1]
    assert analyst.ask("price", max_cost=1).guarantee.pure == 1
    assert [question.requests for question in analyst.questions()] == [0]


def test_a_verb_that_buys_twice_is_charged_once() -> None:
    """A quote and `max_cost` know the price of its first release alone."""

    def twice(data: Any, *, ledger: Any = None, request: str | None = None) -> Any:
        for _ in range(2):
            answer = discreet.best_price(data, candidates=PRICES, epsilon=1, ledger=ledger)
        return answer

    made = node()
    made.open_budget("bids", analyst="a", epsilon=5)
    made.allow("bids", "twice", twice)
    analyst = made.for_analyst("a")
    with pytest.raises(Unanswerable) as caught:
        analyst.ask("twice", max_cost=1)
    assert caught.value.charged
    assert analyst.budgets()[0].spent.epsilon == 1
    with pytest.raises(InvalidArgument, match="a question is one release"):
        made.ask("twice")


def test_no_dataset_hides_another_of_its_name() -> None:
    people, others = (discreet.Dataset([{"age": n}], AGES, name="people") for n in (1, 2))
    with pytest.raises(InvalidArgument, match="two datasets are named 'people'"):
        discreet.connect(datasets=[people, others])
