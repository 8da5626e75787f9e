"""The fuzz is complete, finds what it is made to find, and a small run of it is clean."""

import inspect
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import discreet
from discreet import audit, plots
from discreet.cli.application import build_app
from discreet.errors import InvalidArgument
from discreet.study import adapters

from .fuzz import calls, canary, commands, examples, judge
from .public_names import PATHS, public

_NOT_CALLED = {
    "Counterexample",
    "Declared",
    "Series",
    "Session",
    "Speed",
    "Terms",
}
"""Types of arguments, and classes that are made by calls alone."""


@pytest.fixture
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand where files may be made: some hostile texts name files."""
    monkeypatch.chdir(tmp_path)


def _public() -> Iterator[str]:
    """Yield the names of all that is public and can be called."""
    names = {name: public(name) for name in PATHS}
    for place in (adapters, audit, plots):
        prefix = place.__name__.removeprefix("discreet.study.")
        for name in getattr(place, "__all__", vars(place)):
            value = getattr(place, name)
            if getattr(value, "__module__", "").startswith(place.__name__):
                names[f"{prefix}.{name}"] = value
    for name, value in names.items():
        error = inspect.isclass(value) and issubclass(value, Exception)
        private = name.rpartition(".")[2].startswith("_")
        if callable(value) and not error and not private:
            yield name


def test_everything_public_has_an_example() -> None:
    known = {*examples.EXAMPLES, *examples.INSTANCES}
    missing = [
        name
        for name in _public()
        if name not in known and name.rpartition(".")[2] not in _NOT_CALLED
    ]
    assert not missing, "give each an example in tests/fuzz/examples.py"


def test_every_command_has_an_example() -> None:
    words = {target.name.split()[1] for target in commands.targets()}
    assert words == {*typer.main.get_group(build_app()).commands}


_IN_HAND = ("allow", "allow_simulation", "for_analyst", "limit", "simulate")
_OF_A_DESCRIPTION = (
    "ask_free",
    "create_token",
    "quote_free",
    "renew_budget",
    "revoke_token",
    "tokens",
    *(
        "median",
        "minimum",
        "maximum",
        "best_price",
        "mode",
        "check",
        "top_k",
        "quantile",
        "quantiles",
        "count",
        "counts",
        "keys",
        "bounds",
        "sum",
        "mean",
        "variance",
        "standard_deviation",
        "count_distinct",
        "sql",
    ),
)
_OF_OWNERS = (
    *_IN_HAND,
    *_OF_A_DESCRIPTION,
    "audit",
    "chain",
    "extend_budget",
    "open_budget",
    "reopen",
)
_REFUSED = {
    "NoGuarantee.approx",
    "NoGuarantee.epsilon_at",
    "Connection.check",
    "Connection.keys",  # its budget counts no delta
    *(f"Connection.{name}" for name in _IN_HAND),
    *(f"Connection in hand.{name}" for name in _OF_A_DESCRIPTION),
    *(f"Connection in hand of an analyst.{name}" for name in _OF_OWNERS),
}
"""What no example can do: by its kind, or by whom it is asked."""


@pytest.mark.usefixtures("in_a_folder")
@pytest.mark.parametrize("part", range(3))
@pytest.mark.one_in(3)
def test_every_example_is_valid(part: int) -> None:
    """But for sessions, whose budgets do not pay for every kind of release."""
    examples.forget_world()
    # Connections go last: they close budgets.
    in_order = sorted(calls.known(), key=lambda one: (one.name.startswith("Connection"), one.name))
    for target in in_order[part::3]:
        if target.name.startswith("Session.") or "__" in target.name or target.name in _REFUSED:
            continue
        for number in range(len(target.examples)):
            calls.make(calls.Case(target.name, number, {}))


@pytest.mark.usefixtures("in_a_folder")
@pytest.mark.parametrize("first", [0, pytest.param(80, marks=pytest.mark.proof)])
def test_a_small_run_is_clean(first: int) -> None:
    for index in range(first, 80 if first == 0 else 200):
        case = calls.case_of(5, index)
        verdict = judge.judge(case)
        assert not verdict.problem, f"{case}: {verdict.problem} at {verdict.where}"


def _leak(
    error: Exception, *, cause: Exception | None = None, context: Exception | None = None
) -> Callable[[], None]:
    """Return what raises an error with that cause and context."""

    def leak() -> None:
        error.__cause__, error.__context__, error.__suppress_context__ = cause, context, True
        raise error

    return leak


def _noted() -> Exception:
    error = InvalidArgument("no")
    error.add_note(canary.TEXT)
    return error


SECRET = ValueError(canary.TEXT)
LEAKS: list[Callable[[], Any]] = [
    _leak(InvalidArgument(f"got {canary.NUMBER}")),
    _leak(InvalidArgument("no"), cause=SECRET),
    _leak(InvalidArgument("no"), context=SECRET),
    _leak(_noted()),
    lambda: warnings.warn(f"there is {canary.NUMBER}", stacklevel=1),
]


@pytest.fixture
def fake() -> Iterator[Callable[[Callable[..., Any]], judge.Verdict]]:
    """What judges a call of a function as if it were public."""
    before = list(calls.known())

    def judged(function: Callable[..., Any]) -> judge.Verdict:
        calls.known()[:] = [examples.Target("fake", lambda: function, [examples.call])]
        return judge.judge(calls.Case("fake", 0, {}))

    yield judged
    calls.known()[:] = before


@pytest.mark.parametrize("leak", LEAKS)
def test_a_leak_is_found(leak: Callable[[], Any], fake: Callable[..., judge.Verdict]) -> None:
    assert "canary" in fake(leak).problem


@pytest.mark.parametrize(
    "error",
    [ValueError, TypeError, AttributeError, OverflowError, MemoryError, KeyError, IndexError],
)
def test_what_is_not_documented_is_found(
    error: type[Exception], fake: Callable[..., judge.Verdict]
) -> None:
    def fail() -> None:
        raise error("no")

    assert fake(fail).problem.startswith("unclean")


def test_a_variable_of_a_frame_is_found(fake: Callable[..., judge.Verdict]) -> None:
    """Without its error boundary a verb would be found: its frame holds the scores."""
    bare = inspect.unwrap(discreet.select)
    verdict = fake(lambda: bare([1, canary.NUMBER], sensitivity=0, epsilon=1))
    assert verdict.problem.startswith("the canary is in scores of /selection/select.py")
    assert not fake(lambda: discreet.select([1, canary.NUMBER], sensitivity=0, epsilon=1)).problem


def test_a_repr_that_fails_is_found(fake: Callable[..., judge.Verdict]) -> None:
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError

    assert fake(Odd).problem.startswith("unclean")


def test_calls_are_the_same_again() -> None:
    assert [str(calls.case_of(3, i)) for i in range(20)] == [
        str(calls.case_of(3, i)) for i in range(20)
    ]
    assert len({str(calls.case_of(3, i)) for i in range(20)}) > 15
