"""What attacks on the data node find: names that lie, things that change, errors and frames that tell."""

import inspect
import sys
import types
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet import DataNode, DiscreetError, Grid, Ledger
from discreet.errors import (
    Exhausted,
    InvalidArgument,
    InvalidNumber,
    InvalidScores,
    LedgerError,
    LedgerUnwritable,
    RequestConflict,
    Unanswerable,
    UnknownBudget,
    UnknownName,
)
from discreet.ledger.store import Store
from discreet.node import Analyst
from discreet.node.datasets import AnalystRights, Datasets, HeldData
from discreet.node.isolation import (
    call_isolated,
    error_for_analyst,
    error_for_owner,
    isolated,
    unwrap,
)

from ..canaries import LIBRARY, exception_leads_to, leads_to
from ..test_arguments import ONE_SHOT, Lie

SECRET = 987654321.125
CANARY = "987654321"
TERMS: dict[str, Any] = {"sensitivity": 1, "epsilon": 1}


def private(thing: Any) -> bool:
    """Return whether this is private, or leads into the vault."""
    if isinstance(thing, float | int | np.number) and thing == SECRET:
        return True
    if isinstance(thing, str):
        return CANARY in thing
    return isinstance(thing, Datasets | HeldData | AnalystRights | Marked | Ledger)


class Marked(list[float]):
    """Private data that can be told from all others."""


def node(**budget: Any) -> DataNode:
    made = DataNode()
    made.set_private_data("bids", [1, 1, 1, 3.01], **(budget or {"epsilon": 10}))
    made.configure_data_access(
        "bids", "price", discreet.best_price, candidates=Grid(0, 3), epsilon=1
    )
    return made


def asked(verb: Any, data: Any, *arguments: Any, **terms: Any) -> tuple[DataNode, Analyst]:
    """Return a node with one question, and an analyst who may ask it; others exist, too."""
    made = DataNode()
    made.set_private_data("mine", data, epsilon=25)
    made.configure_data_access("mine", "ask", verb, *arguments, **terms)
    made.set_private_data("OTHERS-data", [1], epsilon=10)
    made.give_share("mine", "a", epsilon=5)
    made.give_share("mine", "RIVAL", epsilon=1)
    made.give_share("OTHERS-data", "RIVAL", epsilon=1)
    return made, made.analyst("a")


# Names.


def test_a_name_that_lies_is_asked_about_what_it_pays_for() -> None:
    """It was looked up as one name, and paid from another."""
    made = DataNode()
    for name, data in (("open", [0, 0, 9]), ("secret", [9, 0, 0])):
        made.set_private_data(name, data, epsilon=500)
        made.configure_data_access(name, "w", discreet.select, sensitivity=1, epsilon=100)
        made.give_share(name, "a", epsilon=300)
    assert made.query(Lie("open"), "w").value == 2  # but for a chance of e^-450
    assert made.query("open", Lie("w"), analyst=Lie("a")).value == 2
    assert made.analyst(Lie("a")).query(Lie("open"), Lie("w"), request=Lie("r")).value == 2
    spent = {b.name: b.spent.epsilon for b in made.budgets}
    assert spent == {"open": 400, "open / a": 200, "secret": 300, "secret / a": 0}
    with pytest.raises(InvalidArgument, match="take another name"):
        made.set_private_data(Lie("open"), [1], epsilon=5)


def test_a_lying_question_is_the_question_it_names() -> None:
    made = node()
    made.configure_data_access(
        "bids", "secret", discreet.best_price, candidates=Grid(0, 7), epsilon=2
    )
    assert made.query("bids", Lie("price")).guarantee.pure == 1
    with pytest.raises(InvalidArgument, match="take another name"):
        made.configure_data_access(
            "bids", Lie("price"), discreet.best_price, candidates=Grid(0, 7), epsilon=2
        )


# What was configured.


def listed(data: Any, candidates: Any) -> list[int]:
    return [0] * len(candidates)


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_configured_list_does_not_change(wrapped: bool) -> None:
    drinks, weights = ["tea"], np.array([0])
    by: Any = discreet.select_by
    made = DataNode()
    made.set_private_data("mine", [1], epsilon=100)
    if wrapped:
        made.configure_data_access("mine", "a", partial(by, listed, candidates=drinks), **TERMS)
    else:
        made.configure_data_access("mine", "a", partial(by, listed), drinks, **TERMS)
    made.configure_data_access("mine", "b", partial(by, listed), weights, **TERMS)
    before = made.query("mine", "a", request="a")
    drinks[0] = "poison"
    weights[:] = 9
    assert made.query("mine", "a").value == "tea"
    assert made.query("mine", "a", request="a").value == before.value
    assert made.query("mine", "b").value == 0


def test_configured_groups_do_not_change() -> None:
    table = pd.DataFrame({"city": ["a", "b"], "drink": ["tea", "tea"]})
    groups = ["a", "b"]
    made = DataNode()
    made.set_private_data("mine", table, epsilon=100)
    made.configure_data_access(
        "mine", "a", discreet.mode, "drink", candidates=["tea"], by="city", groups=groups, epsilon=1
    )
    groups.append("c")
    assert made.query("mine", "a").value == {"a": "tea", "b": "tea"}


@pytest.mark.parametrize("made", ONE_SHOT)
def test_what_can_be_read_once_is_refused_as_data_and_as_argument(made: Callable[[], Any]) -> None:
    """As data it answered the second time about nothing, and was paid."""
    at = DataNode()
    with pytest.raises(InvalidArgument, match="data can be read only once"):
        at.set_private_data("mine", made(), epsilon=1)
    assert at.budgets == []
    at.set_private_data("mine", [1], epsilon=1)
    by: Any = discreet.select_by
    for verb, arguments, terms in (
        (partial(by, listed), (made(),), {}),
        (partial(by, listed), (), {"candidates": made()}),
        (partial(by, listed, candidates=made()), (), {}),
    ):
        with pytest.raises(InvalidArgument, match="can be read only once"):
            at.configure_data_access("mine", "a", verb, *arguments, **terms, **TERMS)
    at.configure_data_access("mine", "a", partial(by, listed), [1], **TERMS)


# Errors.


class Mine(InvalidScores):
    """An owner's error that looks like ours."""


class Stop(BaseException):
    """One that no `except Exception` sees."""


def raising(kind: type[BaseException]) -> Callable[..., Any]:
    def u(data: Any, candidates: Any) -> Any:
        copied = data
        error = kind(copied, str(copied))
        error.add_note(f"note: {copied}")
        raise error from KeyError(copied)

    return u


class Failing:
    """What a score function returns, and raises on as it is read."""

    def __init__(self, data: Any, kind: type[BaseException]) -> None:
        self.data, self.kind = data, kind

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise self.kind(self.data, str(self.data))

    __iter__ = __array__


KINDS: list[type[BaseException]] = [
    KeyError, ValueError, Mine, Exhausted, LedgerError, MemoryError, Stop, KeyboardInterrupt, SystemExit,
    type("Secret" + CANARY, (Exception,), {}), UnicodeError, GeneratorExit, RecursionError,
]  # fmt: skip


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.one_in(5)
def test_no_failing_score_function_tells_anything(kind: type[BaseException], later: bool) -> None:
    def lazily(data: Any, candidates: Any) -> Any:
        return Failing(data, kind)

    u = lazily if later else raising(kind)
    verb = partial(discreet.select_by, u)
    made, analyst = asked(verb, Marked([SECRET]), ["a", "b"], **TERMS)
    stops = issubclass(kind, KeyboardInterrupt | SystemExit)
    asks: list[Callable[[str], Any]] = [made.query, analyst.query]
    for ask in asks:
        with pytest.raises((kind, DiscreetError) if stops else DiscreetError) as caught:
            ask("mine")
        inside = caught.value
        assert type(inside).__module__ in {"builtins", "discreet.errors"}
        if ask == analyst.query or CANARY not in kind.__name__:  # which the owner is told
            assert exception_leads_to(inside, private) is None
        assert stops == (type(inside) in {KeyboardInterrupt, SystemExit})
    assert str(inside) in {"", "1", UNANSWERABLE}
    assert exception_leads_to(inside, private) is None
    assert made.budgets[0].spent.epsilon == 1  # a share of it
    assert made.analyst("a").budgets[0].spent.epsilon == 0


@pytest.mark.parametrize("telling", [error_for_owner, error_for_analyst])
@pytest.mark.parametrize("kind", [InvalidScores, LedgerUnwritable, Exhausted])
def test_the_origins_and_notes_of_an_error_stay_behind_the_door(kind: Any, telling: Any) -> None:
    def work() -> None:
        data = Marked([SECRET])
        error = kind("words")
        error.add_note(f"note: {data}")
        try:
            dict[Any, Any]()[SECRET]
        except KeyError:
            raise error from ValueError(data)

    with pytest.raises(DiscreetError) as caught:
        unwrap(call_isolated(isolated(work, telling)))
    assert exception_leads_to(caught.value, private) is None


UNANSWERABLE = "this question cannot be answered; the owner of the data can see why"


def test_the_owner_sees_why_and_an_analyst_does_not(tmp_path: Path) -> None:
    """Of a misspelt column, a file that is gone, a text in place of data, and a class of one's own."""
    frame = pd.DataFrame({"HIDDEN": [1.0]})
    path = tmp_path / "HIDDEN.csv"
    path.write_text("HIDDEN\n1\n")

    class HIDDEN(Exception):
        pass

    cases: list[tuple[Any, Any, str, Any]] = [
        (discreet.median, frame, "agee", Grid(0, 3)),
        (discreet.median, path, "agee", Grid(0, 3)),
        (discreet.median, str(tmp_path / "HIDDEN-2.csv"), "age", Grid(0, 3)),
        (discreet.median, "HIDDEN", "age", Grid(0, 3)),
        (discreet.median, pd.DataFrame({"age": ["HIDDEN"]}), "age", Grid(0, 3)),
        (discreet.mode, pd.DataFrame({"HIDDEN": ["HIDDEN"]}), "agee", ["a"]),
    ]
    for verb, data, column, candidates in cases:
        made, analyst = asked(verb, data, column, candidates=candidates, epsilon=1)
        with pytest.raises(Unanswerable) as refused:
            analyst.query("mine")
        assert str(refused.value) == UNANSWERABLE
        with pytest.raises(DiscreetError) as full:
            made.query("mine", analyst="a")
        assert type(full.value) is not Unanswerable
        assert exception_leads_to(refused.value, hidden) is None
    verb = partial(discreet.select_by, raising(HIDDEN))
    made, analyst = asked(verb, [1], [1], **TERMS)
    with pytest.raises(InvalidScores, match="HIDDEN"):
        made.query("mine")
    with pytest.raises(Unanswerable):
        analyst.query("mine")


def hidden(thing: Any) -> bool:
    return isinstance(thing, str) and any(word in thing for word in ("HIDDEN", "RIVAL", "OTHERS"))


def test_an_analyst_knows_of_nobody_else() -> None:
    made, analyst = asked(discreet.median, [1, 2], candidates=Grid(0, 3), epsilon=1)
    made.configure_data_access(
        "OTHERS-data", "x", discreet.median, candidates=Grid(0, 3), epsilon=1
    )
    wrong: list[Callable[[], Any]] = [
        lambda: analyst.query("OTHERS-data"),
        lambda: analyst.query("OTHERS-data", "x"),
        lambda: analyst.quote("OTHERS-data", "x"),
        lambda: analyst.query("nothing"),
        lambda: analyst.query("mine", "nothing"),
        lambda: analyst.query("mine", size=0),
        lambda: analyst.query("mine", size=10**6),
        lambda: analyst.query("mine", size=10**5000),
        lambda: analyst.query("mine", request=""),
        lambda: analyst.query(3),  # type: ignore[arg-type]
    ]
    said = []
    for ask in wrong:
        with pytest.raises(InvalidArgument) as refused:
            ask()
        told = str(refused.value).replace("got 'OTHERS-data'", "got 'nothing'")
        assert not hidden(told)
        assert exception_leads_to(refused.value, private) is None
        said.append(told)
    assert len(set(said[:4])) == 1  # what is there, and what is not, sound alike
    assert [b.name for b in analyst.budgets] == ["mine / a"]
    assert [(q.name, q.access) for q in analyst.questions()] == [("mine", "ask")]
    with pytest.raises(UnknownBudget, match="give_share"):
        made.analyst("nobody")


def test_whose_budget_is_exhausted_is_told_without_the_figures_of_others() -> None:
    made, analyst = asked(discreet.median, [1, 2], candidates=Grid(0, 3), epsilon="2.5")
    for _ in range(2):
        analyst.query("mine", request=None)
    assert not analyst.quote("mine").fits
    with pytest.raises(
        Exhausted, match=r"budget of mine / a cannot pay .* remaining nothing|spent ε = 5"
    ) as own:
        analyst.query("mine")
    assert own.value.remaining.epsilon == 0
    made.give_share("mine", "b", epsilon=9)
    other = made.analyst("b")
    for _ in range(4):  # 10 are left
        made.query("mine")
    with pytest.raises(Exhausted, match="the budget of mine cannot pay"):
        made.query("mine")
    assert other.quote("mine").fits  # its share was paid for
    assert other.query("mine").charged


def test_of_an_oversubscribed_budget_a_refusal_tells_that_it_cannot_pay_and_no_more() -> None:
    ledger = Ledger()
    ledger.open("mine", epsilon=10, oversubscribed=True)
    made = DataNode(ledger)
    made.set_private_data("mine", [1, 2], epsilon=10)
    made.configure_data_access("mine", "ask", discreet.median, candidates=Grid(0, 3), epsilon="2.5")
    made.give_share("mine", "b", epsilon=9)
    other = made.analyst("b")
    for _ in range(4):
        assert other.quote("mine").fits
        made.query("mine")
    with pytest.raises(Exhausted, match=r"your share could pay ε = 2\.5") as shared:
        other.query("mine")
    assert shared.value.remaining.epsilon == 9
    assert "10" not in str(shared.value) + str(vars(shared.value))
    assert other.quote("mine").fits  # a quote is of the own share alone
    assert other.quote("mine").remaining.epsilon == 9


def test_a_request_of_another_question_is_told_without_the_number_of_events() -> None:
    made, analyst = asked(discreet.median, [1, 2], candidates=Grid(0, 3), epsilon=1)
    made.configure_data_access("mine", "b", discreet.median, candidates=Grid(0, 9), epsilon=1)
    first = analyst.query("mine", "ask", request="r")
    assert analyst.query("mine", "ask", request="r").value == first.value
    with pytest.raises(RequestConflict) as refused:
        analyst.query("mine", "b", request="r")
    assert (
        str(refused.value) == "this request was another question; give this one a name of its own"
    )
    assert analyst.budgets[0].spent.epsilon == 1


@pytest.mark.parametrize("kind", [KeyboardInterrupt, LedgerUnwritable, MemoryError])
def test_what_was_paid_can_be_asked_again(
    kind: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the answer is stored it fails, and the answer must be in no frame."""
    made, analyst = asked(discreet.select, Marked([SECRET]), candidates=["DRAWN" + CANARY], **TERMS)
    write, calls = Store.write, []

    def failing(store: Any, work: Any) -> Any:
        calls.append(work)
        if len(calls) == 2:
            raise kind("/path/HIDDEN.db")
        return write(store, work)

    monkeypatch.setattr(Store, "write", failing)
    for ask in (analyst.query, made.query):
        calls.clear()
        with pytest.raises((kind, DiscreetError)) as caught:
            ask("mine")
        assert exception_leads_to(caught.value, private) is None
        assert ask == made.query or exception_leads_to(caught.value, hidden) is None
        (note,) = caught.value.__notes__
        request = note.split("'")[1]
        assert note == f"this is paid: request='{request}' asks again at no cost"
        before = made.budgets[0].spent.epsilon
        assert ask("mine", request=request).value
        assert made.budgets[0].spent.epsilon == before


def test_bringing_data_in_leaves_them_in_no_frame() -> None:
    made = node()
    data = Marked([SECRET])
    for name, terms in (
        ("bids", {"epsilon": 1}),
        ("new", {}),
        (" ", {"epsilon": 1}),
        ("new", {"rho": 0}),
    ):
        with pytest.raises(DiscreetError) as caught:
            made.set_private_data(name, data, **terms)  # type: ignore[arg-type]
        assert exception_leads_to(caught.value, private) is None


@contextmanager
def interrupted_at(step: int, within: str) -> Iterator[list[str]]:
    """Raise KeyboardInterrupt at that step of a part of the library, as Ctrl-C would."""
    steps: list[str] = []

    def trace(frame: types.FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(within):
            return None
        frame.f_trace_opcodes = within != LIBRARY
        steps.append(frame.f_code.co_name)
        if len(steps) == step:
            sys.settrace(None)
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield steps
    finally:
        sys.settrace(before)


def check_interrupts(owner: bool, samples: int | None, within: str = LIBRARY) -> None:
    """Interrupt queries of an owner, or of an analyst, at all steps or some of them."""

    def fresh() -> tuple[DataNode, Analyst]:
        return asked(discreet.select, Marked([SECRET, 1, 2]), sensitivity=1, epsilon="1/1000")

    shared = fresh()

    def interrupted(step: int) -> list[str]:
        # A ledger in memory does not outlive an interrupt in the middle of a transaction.
        made, analyst = fresh() if within == LIBRARY else shared
        with interrupted_at(step, within) as steps:
            (made if owner else analyst).query("mine", request=f"request {step}")
        return steps

    last = len(interrupted(10**9))
    for step in range(1, last, 1 if samples is None else last // samples):
        with pytest.raises(KeyboardInterrupt) as stop:
            interrupted(step)
        assert exception_leads_to(stop.value, private) is None, step


@pytest.mark.parametrize("owner", [True, False])
def test_ctrl_c_at_some_lines_leaves_no_data_in_a_frame(owner: bool) -> None:
    """Each frame of the library that the traceback goes through is searched, and so is what it leads to."""
    check_interrupts(owner, 20)


@pytest.mark.parametrize("owner", [True, False])
def test_ctrl_c_at_the_doors_leaves_no_data_in_a_frame(owner: bool) -> None:
    """At every instruction of the error boundary itself."""
    check_interrupts(owner, None, str(Path(LIBRARY) / "node" / "isolation.py"))


@pytest.mark.proof
@pytest.mark.parametrize("owner", [True, False])
def test_ctrl_c_at_many_lines_leaves_no_data_in_a_frame(owner: bool) -> None:
    check_interrupts(owner, 200)


def test_the_search_finds_what_is_there() -> None:
    """A test that cannot fail is none."""
    error = ValueError("x")
    error.add_note(CANARY)
    assert exception_leads_to(error, private)
    assert exception_leads_to(KeyError(SECRET), private)
    with pytest.raises(DiscreetError) as caught:
        inspect.unwrap(discreet.select_by)(raising(KeyError), Marked([SECRET]), [1], **TERMS)
    assert "frame" in str(exception_leads_to(caught.value, private)) or exception_leads_to(
        caught.value, private
    )
    rights = AnalystRights(Datasets(Ledger()), "a")
    assert leads_to([partial(rights.ask, "x")], private)
    assert leads_to(rights.ask, private)


# The objects.


def test_nothing_of_an_analyst_or_a_node_leads_to_the_vault() -> None:
    made, analyst = asked(discreet.select, Marked([SECRET]), **TERMS)
    for handle in (analyst, made):
        assert not hasattr(handle, "__dict__")
        assert leads_to(handle, private) is None
        assert CANARY not in repr(handle)
    public = {name for name in dir(analyst) if not name.startswith("_")}
    assert public == {"name", "questions", "quote", "query", "budgets"}
    assert repr(analyst) == "Analyst('a')"
    assert leads_to([analyst.questions(), analyst.quote("mine"), analyst.budgets], hidden) is None


def test_limits_of_the_owner() -> None:
    made, analyst = asked(discreet.median, [1, 2], candidates=Grid(0, 3), epsilon="0.001")
    with pytest.raises(InvalidNumber, match="size may be up to 1,000 here"):
        analyst.query("mine", size=1001)
    assert len(analyst.query("mine", size=1000).value) == 1000
    assert len(made.query("mine", size=1001).value) == 1001
    made.limit_data_access("mine", size=2, requests=3)
    with pytest.raises(InvalidNumber, match="up to 2 here"):
        analyst.quote("mine", size=3)
    analyst.query("mine", request="a")
    left = [question.requests for question in analyst.questions()]
    assert left == [2]
    analyst.query("mine")
    for _ in range(3):
        analyst.query("mine", request="a")
    analyst.query("mine", size=2)
    with pytest.raises(Exhausted, match="may be asked 3 times, and was"):
        analyst.query("mine")
    with pytest.raises(Exhausted, match="may be asked 3 times"):
        made.query("mine", analyst="a")
    assert analyst.query("mine", request="a").value is not None
    made.query("mine")
    assert made.analyst("RIVAL").questions()[0].requests == 3
    with pytest.raises(InvalidArgument, match="give a limit"):
        made.limit_data_access("mine")
    with pytest.raises(UnknownName):
        made.limit_data_access("mine", "nothing", size=1)


def test_threads_do_not_ask_more_often_than_allowed() -> None:
    made, analyst = asked(discreet.median, [1, 2], candidates=Grid(0, 3), epsilon="0.001")
    made.limit_data_access("mine", requests=5)

    def ask(_: int) -> bool:
        try:
            analyst.query("mine")
        except Exhausted:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(ask, range(20))) == 5


def test_requests_that_fail_count() -> None:
    """A failure is free and tells something, so it is what a limit is for."""
    verb = partial(discreet.select_by, raising(ValueError))
    made, analyst = asked(verb, [1], [1], **TERMS)
    made.limit_data_access("mine", requests=2)
    for _ in range(2):
        with pytest.raises(Unanswerable):
            analyst.query("mine")
    with pytest.raises(Exhausted):
        analyst.query("mine")


def test_a_share_is_about_the_same_records(tmp_path: Path) -> None:
    made = DataNode(tmp_path / "budget.db")
    made.set_private_data("mine", [1, 2], epsilon=3, neighbors="replace_one", privacy_unit="user")
    share = made.give_share("mine", "a", epsilon=1)
    assert (share.neighbors, share.unit) == ("replace_one", "user")
    assert share.total.epsilon == 1
    assert made.give_share("mine", "a", epsilon=1) == share
    with pytest.raises(InvalidArgument):
        made.give_share("mine", "a", epsilon=2)
    with pytest.raises(UnknownName):
        made.give_share("nothing", "a", epsilon=2)


def test_an_analyst_sees_asks_and_pays() -> None:
    made, analyst = asked(discreet.median, [1, 2], candidates=Grid(0, 3), epsilon="1/2")
    (question,) = analyst.questions()
    assert question.guarantee.pure == Fraction(1, 2)
    assert str(question) == (
        f"mine, ask: {question.query} [ε = 0.5 (add/remove one record), exponential mechanism]"
    )
    assert question.candidates == 4
    quote = analyst.quote("mine", size=4)
    assert quote.fits
    assert quote.cost.epsilon == 2
    assert quote.remaining.epsilon == 5
    assert quote.name == "mine / a"
    answer = analyst.query("mine", "ask", size=4, request="monday")
    assert [int(v) for v in analyst.query("mine", size=4, request="monday").value] == answer.value
    assert analyst.name == "a"
    assert analyst.budgets[0].spent.epsilon == 2
    assert {b.name: b.spent.epsilon for b in made.budgets}["mine"] == 6
