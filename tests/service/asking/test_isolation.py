"""What attacks on data in hand find: names that lie, things that change, errors and frames that tell."""

import gc
import inspect
import signal
import subprocess
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
from discreet import Connection, DiscreetError, Grid, Ledger
from discreet.errors import (
    Exhausted,
    InvalidArgument,
    InvalidScores,
    LedgerError,
    LedgerUnwritable,
    RequestConflict,
    Unanswerable,
    UnknownBudget,
    UnknownName,
)
from discreet.ledger.store import Store
from discreet.service.asking.datasets import Datasets, Holding
from discreet.service.asking.isolation import (
    call_isolated,
    error_for_analyst,
    error_for_owner,
    isolated,
    unwrap,
)
from discreet.service.asking.own_rights import OwnRights
from discreet.service.asking.rights import Rights

from ...base.test_arguments import ONE_SHOT, Lie
from ...canaries import LIBRARY, exception_leads_to, globals_lead_to, leads_to

SECRET = 987654321.125
CANARY = "987654321"
TERMS: dict[str, Any] = {"sensitivity": 1, "epsilon": 1}


def private(thing: Any) -> bool:
    """Return whether this is private, or leads into the vault."""
    if isinstance(thing, float | int | np.number) and thing == SECRET:
        return True
    if isinstance(thing, str):
        return CANARY in thing
    return isinstance(thing, Datasets | Holding | Rights | Marked | Ledger)


class Marked(list[float]):
    """Private data that can be told from all others."""


def held(data: Any, name: str = "mine", ledger: Any = None, **budget: Any) -> Connection:
    """Return the connection of the owner of one dataset, with its budget."""
    owner = discreet.connect(datasets={name: data}, ledger=ledger)
    owner.open_budget(name, **budget)
    return owner


def node(**budget: Any) -> Connection:
    made = held([1, 1, 1, 3.01], "bids", **(budget or {"epsilon": 10}))
    made.allow("bids", "price", discreet.best_price, candidates=Grid(0, 3), epsilon=1)
    return made


def asked(verb: Any, data: Any, *arguments: Any, **terms: Any) -> tuple[Connection, Connection]:
    """Return an owner with one question, and an analyst who may ask it; others exist, too."""
    made = discreet.connect(datasets={"mine": data, "OTHERS-data": [1]})
    made.open_budget("mine", epsilon=25)
    made.allow("mine", "ask", verb, *arguments, **terms)
    made.open_budget("OTHERS-data", epsilon=10)
    made.open_budget("mine", analyst="a", epsilon=5)
    made.open_budget("mine", analyst="RIVAL", epsilon=1)
    made.open_budget("OTHERS-data", analyst="RIVAL", epsilon=1)
    return made, made.for_analyst("a")


# Names.


def test_a_name_that_lies_is_asked_about_what_it_pays_for() -> None:
    """It was looked up as one name, and paid from another."""
    both = {"open": [0, 0, 9], "secret": [9, 0, 0]}
    made = discreet.connect(datasets=both)
    for name in both:
        made.open_budget(name, epsilon=500)
        made.allow(name, "w", discreet.select, sensitivity=1, epsilon=100)
        made.open_budget(Lie(name), analyst=Lie("a"), epsilon=300)
    assert made.ask("w", dataset=Lie("open")).value == 2  # but for a chance of e^-450
    analyst = made.for_analyst(Lie("a"))
    assert analyst.ask(Lie("w"), dataset="open").value == 2
    assert analyst.ask(Lie("w"), dataset=Lie("open"), request=Lie("r")).value == 2
    spent = {b.name: b.spent.epsilon for b in made.budgets()}
    assert spent == {"open": 400, "open / a": 200, "secret": 300, "secret / a": 0}


def test_a_lying_question_is_the_question_it_names() -> None:
    made = node()
    made.allow("bids", "secret", discreet.best_price, candidates=Grid(0, 7), epsilon=2)
    assert made.ask(Lie("price"), dataset="bids").guarantee.pure == 1
    with pytest.raises(InvalidArgument, match="Take another name"):
        made.allow("bids", Lie("price"), discreet.best_price, candidates=Grid(0, 7), epsilon=2)


# What was configured.


def listed(data: Any, candidates: Any) -> list[int]:
    return [0] * len(candidates)


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_configured_list_does_not_change(wrapped: bool) -> None:
    drinks, weights = ["tea"], np.array([0])
    by: Any = discreet.select_by
    made = held([1], epsilon=100)
    if wrapped:
        made.allow("mine", "a", partial(by, listed, candidates=drinks), **TERMS)
    else:
        made.allow("mine", "a", partial(by, listed), drinks, **TERMS)
    made.allow("mine", "b", partial(by, listed), weights, **TERMS)
    before = made.ask("a", request="a")
    drinks[0] = "poison"
    weights[:] = 9
    assert made.ask("a").value == "tea"
    assert made.ask("a", request="a").value == before.value
    assert made.ask("b").value == 0


def test_configured_groups_do_not_change() -> None:
    table = pd.DataFrame({"city": ["a", "b"], "drink": ["tea", "tea"]})
    groups = ["a", "b"]
    made = held(table, epsilon=100)
    made.allow(
        "mine", "a", discreet.mode, "drink", candidates=["tea"], by="city", groups=groups, epsilon=1
    )
    groups.append("c")
    assert made.ask("a").value == {"a": "tea", "b": "tea"}


@pytest.mark.parametrize("made", ONE_SHOT)
def test_what_can_be_read_once_is_refused_as_data_and_as_argument(made: Callable[[], Any]) -> None:
    """As data it answered the second time about nothing, and was paid."""
    ledger = Ledger()
    with pytest.raises(InvalidArgument, match="the data of mine can be read only once"):
        held(made(), ledger=ledger, epsilon=1)
    assert ledger.budgets() == []
    at = held([1], epsilon=1)
    by: Any = discreet.select_by
    for verb, arguments, terms in (
        (partial(by, listed), (made(),), {}),
        (partial(by, listed), (), {"candidates": made()}),
        (partial(by, listed, candidates=made()), (), {}),
    ):
        with pytest.raises(InvalidArgument, match="can be read only once"):
            at.allow("mine", "a", verb, *arguments, **terms, **TERMS)
    at.allow("mine", "a", partial(by, listed), [1], **TERMS)


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
@pytest.mark.one_in(13)
def test_no_failing_score_function_tells_anything(kind: type[BaseException], later: bool) -> None:
    def lazily(data: Any, candidates: Any) -> Any:
        return Failing(data, kind)

    u = lazily if later else raising(kind)
    verb = partial(discreet.select_by, u)
    made, analyst = asked(verb, Marked([SECRET]), ["a", "b"], **TERMS)
    stops = issubclass(kind, KeyboardInterrupt | SystemExit)
    asks: list[Callable[[str], Any]] = [made.ask, analyst.ask]
    for ask in asks:
        with pytest.raises((kind, DiscreetError) if stops else DiscreetError) as caught:
            ask("ask")
        inside = caught.value
        assert type(inside).__module__ in {"builtins", "discreet.errors"}
        if ask == analyst.ask or CANARY not in kind.__name__:  # which the owner is told
            assert exception_leads_to(inside, private) is None
        assert stops == (type(inside) in {KeyboardInterrupt, SystemExit})
    assert str(inside) in {"", "1", UNANSWERABLE}
    assert exception_leads_to(inside, private) is None
    paid = 0 if stops else 1  # what stops the program stops it before the charge
    spent = {budget.name: budget.spent.epsilon for budget in made.budgets()}
    assert spent["mine"] == 5 + 1 + paid  # both shares are paid for
    assert spent["mine / a"] == paid
    assert globals_lead_to(private) is None


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


UNANSWERABLE = "this question cannot be answered. The owner of the data can see why"


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
            analyst.ask("ask")
        assert str(refused.value) == UNANSWERABLE
        with pytest.raises(DiscreetError) as full:
            made.ask("ask")
        assert type(full.value) is not Unanswerable
        assert exception_leads_to(refused.value, hidden) is None
    verb = partial(discreet.select_by, raising(HIDDEN))
    made, analyst = asked(verb, [1], [1], **TERMS)
    with pytest.raises(InvalidScores, match="HIDDEN"):
        made.ask("ask")
    with pytest.raises(Unanswerable):
        analyst.ask("ask")


def hidden(thing: Any) -> bool:
    return isinstance(thing, str) and any(word in thing for word in ("HIDDEN", "RIVAL", "OTHERS"))


def test_an_analyst_knows_of_nobody_else() -> None:
    made, analyst = asked(discreet.median, [1, 2], candidates=Grid(0, 3), epsilon=1)
    made.allow("OTHERS-data", "x", discreet.median, candidates=Grid(0, 3), epsilon=1)
    wrong: list[Callable[[], Any]] = [
        lambda: analyst.ask("ask", dataset="OTHERS-data"),
        lambda: analyst.ask("x", dataset="OTHERS-data"),
        lambda: analyst.quote("x", dataset="OTHERS-data"),
        lambda: analyst.ask("x", dataset="nothing"),
        lambda: analyst.ask("x"),
        lambda: analyst.ask("nothing"),
        lambda: analyst.ask("ask", request=""),
        lambda: analyst.ask(3),  # type: ignore[arg-type]
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
    assert [b.name for b in analyst.budgets()] == ["mine / a"]
    assert [(q.name, q.access) for q in analyst.questions()] == [("mine", "ask")]
    with pytest.raises(UnknownBudget, match="no share was opened for nobody"):
        made.for_analyst("nobody")


def test_whose_budget_is_exhausted_is_told_without_the_figures_of_others() -> None:
    made, analyst = asked(discreet.median, [1, 2], candidates=Grid(0, 3), epsilon="2.5")
    for _ in range(2):
        analyst.ask("ask", request=None)
    assert not analyst.quote("ask").fits
    with pytest.raises(
        Exhausted, match=r"budget of mine / a cannot pay .* remaining nothing|spent ε = 5"
    ) as own:
        analyst.ask("ask")
    assert own.value.remaining.epsilon == 0
    made.open_budget("mine", analyst="b", epsilon=9)
    other = made.for_analyst("b")
    for _ in range(4):  # 10 are left
        made.ask("ask")
    with pytest.raises(Exhausted, match="the budget of mine cannot pay"):
        made.ask("ask")
    assert other.quote("ask").fits  # its share was paid for
    assert other.ask("ask").charged


def test_of_an_oversubscribed_budget_a_refusal_tells_that_it_cannot_pay_and_no_more() -> None:
    ledger = Ledger()
    ledger.open("mine", epsilon=10, oversubscribed=True)
    made = held([1, 2], ledger=ledger, epsilon=10)
    made.allow("mine", "ask", discreet.median, candidates=Grid(0, 3), epsilon="2.5")
    made.open_budget("mine", analyst="b", epsilon=9)
    other = made.for_analyst("b")
    for _ in range(4):
        assert other.quote("ask").fits
        made.ask("ask")
    with pytest.raises(Exhausted, match=r"your share could pay ε = 2\.5") as shared:
        other.ask("ask")
    assert shared.value.remaining.epsilon == 9
    assert "10" not in str(shared.value) + str(vars(shared.value))
    assert other.quote("ask").fits  # a quote is of the own share alone
    assert other.quote("ask").remaining.epsilon == 9


def test_a_request_of_another_question_is_told_without_the_number_of_events() -> None:
    made, analyst = asked(discreet.median, [1, 2], candidates=Grid(0, 3), epsilon=1)
    made.allow("mine", "b", discreet.median, candidates=Grid(0, 9), epsilon=1)
    first = analyst.ask("ask", request="r")
    assert analyst.ask("ask", request="r").value == first.value
    with pytest.raises(RequestConflict) as refused:
        analyst.ask("b", request="r")
    assert str(refused.value) == "this request was another question. Give this one another name"
    assert analyst.budgets()[0].spent.epsilon == 1


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
    for ask in (analyst.ask, made.ask):
        calls.clear()
        with pytest.raises((kind, DiscreetError)) as caught:
            ask("ask")
        assert exception_leads_to(caught.value, private) is None
        assert ask == made.ask or exception_leads_to(caught.value, hidden) is None
        (note,) = caught.value.__notes__
        request = note.split("'")[1]
        assert note == f"this is paid: retry with request='{request}' at no cost"
        before = made.budgets()[0].spent.epsilon
        assert ask("ask", request=request).value
        assert made.budgets()[0].spent.epsilon == before


def test_bringing_data_in_leaves_them_in_no_frame() -> None:
    data = Marked([SECRET])
    wrong: list[dict[str, Any]] = [
        {"datasets": {" ": data}},
        {"datasets": [data]},
        {"datasets": {"new": iter(data)}},
        {"datasets": {"new": data}, "ledger": "nowhere/budget.db"},
        {"datasets": {"new": data}, "analyst": "a"},
        {"datasets": {"new": discreet.Dataset(data, {"x": {"type": "number"}}, name="old")}},
    ]
    for terms in wrong:
        with pytest.raises(DiscreetError) as caught:
            discreet.connect(**terms)
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

    before, handler = sys.gettrace(), signal.getsignal(signal.SIGINT)
    gc.disable()  # it would close what earlier steps left, as steps of this one, and ignore what they raise
    sys.settrace(trace)
    try:
        yield steps
    finally:
        sys.settrace(before)
        signal.signal(signal.SIGINT, handler)  # a trace raises also where it stands to be put back
        gc.enable()


def check_interrupts(owner: bool, samples: int | None, within: str = LIBRARY) -> None:
    """Interrupt queries of an owner, or of an analyst, at all steps or some of them."""

    def fresh() -> tuple[Connection, Connection]:
        return asked(discreet.select, Marked([SECRET, 1, 2]), sensitivity=1, epsilon="1/1000")

    shared = fresh()

    def interrupted(step: int) -> list[str]:
        # A ledger in memory does not outlive an interrupt in the middle of a transaction.
        made, analyst = fresh() if within == LIBRARY else shared
        with interrupted_at(step, within) as steps:
            (made if owner else analyst).ask("ask", request=f"request {step}")
        return steps

    interrupted(10**9)  # what is done once is done, such as making the texts of statements
    last = len(interrupted(10**9))
    steps = range(1, last)
    if samples is not None:  # one draw has some lines more than another
        steps = range(1, last - last // 50, last // samples)
    for step in steps:
        with pytest.raises(KeyboardInterrupt) as stop:
            interrupted(step)
        assert exception_leads_to(stop.value, private) is None, step


def check_in_a_process(may_press: bool, *terms: object) -> None:
    """Interrupt queries of both in a process of its own, in which Ctrl-C raises or, as after nohup, is ignored.

    An error that a trace raises inside a handler of errors can stay behind, as the context of all later ones.
    """
    code = f"from {__name__} import check_interrupts as check\nfor owner in (True, False): check(owner, *{terms})"
    set_handler = partial(
        signal.signal, signal.SIGINT, signal.SIG_DFL if may_press else signal.SIG_IGN
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,  # so that a failure ends, too
        preexec_fn=set_handler,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("may_press", [True, False])
def test_ctrl_c_at_some_lines_leaves_no_data_in_a_frame(may_press: bool) -> None:
    """Each frame of the library that the traceback goes through is searched, and so is what it leads to."""
    check_in_a_process(may_press, 20)


@pytest.mark.parametrize("may_press", [True, False])
def test_ctrl_c_at_the_doors_leaves_no_data_in_a_frame(may_press: bool) -> None:
    """At every instruction of the error boundary itself."""
    check_in_a_process(may_press, None, str(Path(LIBRARY) / "node" / "isolation.py"))


@pytest.mark.proof
@pytest.mark.parametrize("may_press", [True, False])
def test_ctrl_c_at_many_lines_leaves_no_data_in_a_frame(may_press: bool) -> None:
    check_in_a_process(may_press, 200)


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
    rights = Rights(Datasets(Ledger()), OwnRights("a"), ())
    assert leads_to([partial(rights.ask, "x")], private)
    assert leads_to(rights.ask, private)


# The objects.


def test_nothing_of_an_analyst_or_a_node_leads_to_the_vault() -> None:
    made, analyst = asked(discreet.select, Marked([SECRET]), **TERMS)
    for handle in (analyst, made):
        assert not hasattr(handle, "__dict__")
        assert leads_to(handle, private) is None
        assert CANARY not in repr(handle)
    assert leads_to([analyst.questions(), analyst.quote("ask"), analyst.budgets()], hidden) is None


def test_limits_of_the_owner() -> None:
    made, analyst = asked(discreet.select, [1, 2], sensitivity=1, epsilon="0.001")
    made.limit("ask", 3)
    analyst.ask("ask", request="a")
    left = [question.requests for question in analyst.questions()]
    assert left == [2]
    analyst.ask("ask")
    for _ in range(3):
        analyst.ask("ask", request="a")
    analyst.ask("ask")
    with pytest.raises(Exhausted, match="may be asked 3 times, and was"):
        analyst.ask("ask")
    assert analyst.ask("ask", request="a").value is not None
    made.ask("ask")
    assert made.for_analyst("RIVAL").questions()[0].requests == 3
    with pytest.raises(InvalidArgument, match="requests"):
        made.limit("ask", 0)
    with pytest.raises(UnknownName):
        made.limit("nothing", 1)


def test_threads_do_not_ask_more_often_than_allowed() -> None:
    made, analyst = asked(discreet.median, [1, 2], candidates=Grid(0, 3), epsilon="0.001")
    made.limit("ask", requests=5)

    def ask(_: int) -> bool:
        try:
            analyst.ask("ask")
        except Exhausted:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(ask, range(20))) == 5


def test_requests_that_fail_count() -> None:
    """A failure tells something, so a limit counts it, and it is charged."""
    verb = partial(discreet.select_by, raising(ValueError))
    made, analyst = asked(verb, [1], [1], **TERMS)
    made.limit("ask", requests=2)
    for _ in range(2):
        with pytest.raises(Unanswerable):
            analyst.ask("ask")
        made.reopen("mine")
    with pytest.raises(Exhausted, match="may be asked 2 times"):
        analyst.ask("ask")


def test_a_share_is_about_the_same_records(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("mine", epsilon=3, neighbors="replace_one", privacy_unit="user")
    made = discreet.connect(datasets={"mine": [1, 2]}, ledger=ledger)
    share = made.open_budget("mine", analyst="a", epsilon=1)
    assert (share.neighbors, share.unit) == ("replace_one", "user")
    assert share.total.epsilon == 1
    assert made.open_budget("mine", analyst="a", epsilon=1) == share
    with pytest.raises(InvalidArgument):
        made.open_budget("mine", analyst="a", epsilon=2)
    with pytest.raises(UnknownName):
        made.open_budget("nothing", analyst="a", epsilon=2)


def test_an_analyst_sees_asks_and_pays() -> None:
    made, analyst = asked(discreet.median, [1, 2], candidates=Grid(0, 3), epsilon="1/2")
    (question,) = analyst.questions()
    assert question.guarantee.pure == Fraction(1, 2)
    assert str(question) == (
        "mine, ask: median of numbers, 0 to 3 by 1 [ε = 0.5 (add/remove one record), exponential mechanism]"
    )
    assert question.candidates == 4
    quote = analyst.quote("ask")
    assert quote.fits
    assert quote.cost.epsilon == Fraction(1, 2)
    assert quote.remaining.epsilon == 5
    assert quote.name == "mine / a"
    answer = analyst.ask("ask", request="monday")
    assert analyst.ask("ask", request="monday").value == answer.value
    assert analyst.budgets()[0].spent.epsilon == Fraction(1, 2)
    assert {b.name: b.spent.epsilon for b in made.budgets()}["mine"] == 6
