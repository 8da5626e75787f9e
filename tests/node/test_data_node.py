"""The data node: answers and nothing else."""

import copy
import pickle
import traceback
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import discreet
from discreet import DataNode, Grid, Ledger
from discreet.errors import Exhausted, InvalidArgument, InvalidScores, UnknownName

SECRET = 987654321.125
BIDS = [1, 1, 1, 3.01]
PRICES = Grid(0, "3.5", "0.01")


def node(**budget: Any) -> DataNode:
    made = DataNode()
    made.set_private_data("bids", BIDS, **(budget or {"epsilon": 10}))
    made.configure_data_access("bids", "price", discreet.best_price, candidates=PRICES, epsilon=1)
    return made


def test_the_first_seed() -> None:
    answer = node().query("bids")
    assert 0 <= answer.value <= Fraction("3.5")
    assert answer.guarantee.pure == 1


def test_several_questions_about_the_same_data() -> None:
    made = node()
    made.configure_data_access(
        "bids",
        "middle",
        discreet.median,
        candidates=PRICES,
        epsilon="0.5",
        mechanism="permute_and_flip",
    )
    made.configure_data_access(
        "bids", "own", partial(discreet.select_by, discreet.per_candidate(lambda b, r: len(b) * r)), [0, 1],
        sensitivity=1, monotonic=True, epsilon=1,
    )  # fmt: skip
    made.query("bids", "middle")
    made.query("bids", "own")
    assert made.budgets[0].spent.epsilon == Fraction(3, 2)
    with pytest.raises(UnknownName, match=r"questions \(price, middle, own\), got nothing|None"):
        made.query("bids")
    assert repr(made) == "DataNode(bids: price, middle, own)"


def test_many_answers_cost_many_times() -> None:
    made = node(epsilon=1_000)
    assert len(made.query("bids", size=1_000).value) == 1_000
    assert made.budgets[0].remaining.epsilon == 0
    with pytest.raises(Exhausted):
        made.query("bids")


def test_simulation_needs_permission() -> None:
    made = node()
    with pytest.raises(InvalidArgument, match="allow_simulation"):
        made.simulate("bids")
    made.allow_simulation("bids")
    assert len(made.simulate("bids", size=50).values) == 50
    assert made.budgets[0].spent.epsilon == 0


def test_a_request_is_answered_once() -> None:
    made = node()
    answers = {made.query("bids", request="monday").value for _ in range(20)}
    assert len(answers) == 1
    assert made.budgets[0].spent.epsilon == 1


def test_budgets_outlive_the_node(tmp_path: Path) -> None:
    for _ in range(3):
        made = DataNode(tmp_path / "budget.db")
        made.set_private_data("bids", BIDS, epsilon=1)
        made.configure_data_access(
            "bids", "price", discreet.best_price, candidates=PRICES, epsilon="1/3"
        )
        made.query("bids")
    with pytest.raises(Exhausted):
        made.query("bids")
    other = DataNode(tmp_path / "budget.db")
    with pytest.raises(InvalidArgument):
        other.set_private_data("bids", BIDS, epsilon=2)


def test_an_analyst_has_a_share() -> None:
    ledger = Ledger()
    made = DataNode(ledger)
    made.set_private_data("bids", BIDS, epsilon=10)
    ledger.open("bids", analyst="a", epsilon=1)
    made.configure_data_access("bids", "price", discreet.best_price, candidates=PRICES, epsilon=1)
    made.query("bids", analyst="a")
    with pytest.raises(Exhausted):
        made.query("bids", analyst="a")
    made.query("bids")


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
    made = DataNode()
    made.set_private_data("secret", data, epsilon=10)
    terms: dict[str, Any] = {"epsilon": 1}
    if isinstance(verb, partial) or verb is discreet.select:
        terms["sensitivity"] = 1
    raised: list[discreet.DiscreetError] = []
    try:
        made.configure_data_access("secret", "ask", verb, *arguments, **terms)
        made.query("secret")
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
    made = DataNode()
    made.set_private_data("secret", SECRET, epsilon=10)
    with pytest.raises(InvalidScores, match="cannot be asked this") as caught:
        made.configure_data_access("secret", "ask", confess)
    assert not told(caught.value)


def test_a_wrong_term_is_named() -> None:
    made = node()
    with pytest.raises(
        InvalidArgument, match="unexpected argument 'epsilom'; did you mean 'epsilon'"
    ):
        made.configure_data_access("bids", "x", discreet.best_price, candidates=PRICES, epsilom=1)


def reachable(thing: Any, depth: int = 4) -> list[Any]:
    """Return what attributes, slots and items lead to."""
    found = [thing]
    if depth:
        for name in dir(thing):
            if not name.startswith("__") and not callable(value := getattr(thing, name, None)):
                found += reachable(value, depth - 1)
    return found


def test_data_cannot_be_read_back() -> None:
    made = DataNode()
    made.set_private_data("secret", [SECRET], epsilon=1)
    assert not hasattr(made, "__dict__")
    assert not any(str(int(SECRET)) in repr(thing) for thing in reachable(made))
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="data node cannot be"):
            attempt(made)
    assert str(int(SECRET)) not in repr(made) + str(made) + f"{made}"


def test_refusals() -> None:
    made = node()
    with pytest.raises(InvalidArgument, match="take another name"):
        made.set_private_data("bids", BIDS, epsilon=1)
    with pytest.raises(InvalidArgument, match="take another name"):
        made.configure_data_access(
            "bids", "price", discreet.best_price, candidates=PRICES, epsilon=1
        )
    with pytest.raises(InvalidArgument, match="leave out size"):
        made.configure_data_access(
            "bids", "many", discreet.best_price, candidates=PRICES, epsilon=1, size=3
        )
    with pytest.raises(InvalidArgument, match="access must be a printable name"):
        made.configure_data_access("bids", " ", discreet.best_price, candidates=PRICES, epsilon=1)
    with pytest.raises(InvalidArgument, match="name must be a printable name"):
        made.set_private_data(3, BIDS, epsilon=1)  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match=r"one of the data \(bids\), got 'bid'"):
        made.query("bid")
    with pytest.raises(UnknownName, match=r"questions \(price\), got 'pryce'"):
        made.query("bids", "pryce")
    with pytest.raises(InvalidArgument):
        DataNode().set_private_data("bids", BIDS)
    empty = DataNode()
    empty.set_private_data("bids", BIDS, epsilon=1)
    with pytest.raises(UnknownName, match="none yet"):
        empty.query("bids")
    assert repr(empty) == "DataNode(bids: no questions)"


AGES: Any = {"age": {"type": "integer", "minimum": 0, "maximum": 120}}


def test_a_renewed_budget_is_charged_and_shown(tmp_path: Path) -> None:
    people = discreet.Dataset([{"age": 30}] * 9, AGES, name="people")
    ledger = Ledger(tmp_path / "budget.db")
    node = DataNode(ledger)
    node.set_private_data("people", people, epsilon=1)
    node.configure_data_access("people", "age", discreet.median, "age", epsilon=1)
    node.give_share("people", "ann", epsilon=1)
    ann = node.analyst("ann")
    ann.query("people", "age")
    ledger.renew(people, "2027", epsilon=2)
    assert ann.questions() == []  # shares are not renewed
    node.query("people", "age")
    node.give_share("people", "ann", epsilon=1)
    ann.query("people", "age")
    told = [(b.name, b.is_current, str(b.spent.epsilon)) for b in node.budgets]
    assert told == [
        ("people", False, "1"), ("people / ann", False, "1"),
        ("people 2027", True, "2"), ("people 2027 / ann", True, "1"),
    ]  # fmt: skip
    assert [(b.name, b.is_current) for b in ann.budgets] == [
        ("people / ann", False), ("people 2027 / ann", True),
    ]  # fmt: skip
    assert "people (renewed)" in node._repr_html_()


def test_two_datasets_of_one_source_have_one_budget_in_a_node(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age\n" + "30\n" * 9)
    node = DataNode()
    for name in ("people", "ages"):
        node.set_private_data(name, discreet.Dataset(tmp_path / "a.csv", AGES), epsilon=3)
        node.configure_data_access(name, "age", discreet.median, "age", epsilon=1)
        node.query(name)
    node.give_share("ages", "ann", epsilon=1)
    assert [b.name for b in node.budgets] == ["people", "people / ann"]
    assert [q.name for q in node.analyst("ann").questions()] == ["people", "ages"]
    assert [b.name for b in node.analyst("ann").budgets] == ["people / ann"]
    with pytest.raises(Exhausted):
        node.query("people")
    node.analyst("ann").query("ages")
    with pytest.raises(Exhausted):
        node.analyst("ann").query("people")


def test_arguments_that_a_verb_does_not_take_are_refused_by_its_signature() -> None:
    made = node()
    for terms in ({"candidate": [1]}, {}):
        with pytest.raises(InvalidArgument, match="odd cannot be asked like this"):
            made.configure_data_access("bids", "odd", _of_two, **terms)

    def failing(data: object, **terms: object) -> Any:
        raise TypeError("f() takes 2 arguments")  # as Python says it, and not about ours

    with pytest.raises(InvalidScores, match="its message may quote the data"):
        made.configure_data_access("bids", "failing", failing)


def _of_two(data: object, column: str) -> Any:
    raise AssertionError("it was called")
