"""An error shows the caller's line and the message, in Python and in a notebook; all frames on demand."""

import traceback
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from IPython.core.ultratb import VerboseTB

import discreet
from discreet.base.error_boundary import Notice, error_boundaries, error_boundary
from discreet.errors import InvalidArgument, InvalidScores, MissingColumn
from discreet.privacy import ApproxDP, GaussianDP, PureDP

LIBRARY = str(Path(discreet.__file__).parent)
PEOPLE = pd.DataFrame({"sex": ["Male", "Female"], "age": [31, 42]})


def session() -> discreet.Session:
    ledger = discreet.Ledger()
    ledger.open("people", epsilon=1)
    return ledger.session("people")


# The first four are 42, 50, 75 and 113 lines of a notebook at commit 55e243f.
MISTAKES: list[Callable[[], object]] = [
    lambda: discreet.select([1, 2], epsilon=1),
    lambda: discreet.mode(PEOPLE, "sex", candidates="Male", epsilon=1),
    lambda: discreet.select([1, float("nan")], sensitivity=1, epsilon=1),
    lambda: discreet.mode(PEOPLE, "sxe", candidates=["Male", "Female"], epsilon=1),
    lambda: discreet.mode("examples/people.csv", "drnk", candidates=["tea"], epsilon=1),
    lambda: discreet.mode(PEOPLE, "sex", candidates=["Male"], epsilom=1),  # type: ignore[call-overload]
    lambda: session().mode(PEOPLE, "sxe", candidates=["Male"], epsilon=1),
    lambda: session().mode(PEOPLE, "sex", candidates=["Male"], epsilon=2),
    lambda: discreet.Ledger("nowhere/budget.db"),
    lambda: discreet.Ledger().session("people"),
    lambda: discreet.Grid(0, "x"),
    lambda: discreet.privacy.PureDP("x"),  # type: ignore[arg-type]
    lambda: discreet.connect(datasets={"people": [1]}).ask("age"),
    lambda: discreet.Batch().add("a", discreet.mode, PEOPLE, "sxe", candidates=["a"], epsilon=1).run(),
    lambda: discreet.privacy.LossDistribution.laplace("x", 1),
    lambda: discreet.distribution([1, 2], sensitivity=1, epsilon=1).quantile(2),
]  # fmt: skip


def raised(mistake: Callable[[], object]) -> Exception:
    with pytest.raises(Exception) as caught:  # noqa: PT011  # whichever it is, its traceback is short
        mistake()
    return caught.value


def ours(error: Exception) -> list[str]:
    """Return the frames of the library that a traceback shows."""
    frames = traceback.extract_tb(error.__traceback__)
    return [frame.name for frame in frames if frame.filename.startswith(LIBRARY)]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_traceback_has_at_most_three_frames_of_the_library(mistake: Callable[[], object]) -> None:
    error = raised(mistake)
    assert len(ours(error)) <= 3
    assert error.__cause__ is error.__context__ is None
    frames = traceback.extract_tb(error.__traceback__)
    called = [frame.line for frame in frames if frame.filename == __file__]
    assert "lambda" in str(called[-1]) or "epsilon" in str(called[-1])


PURE, LOOSE = PureDP(Fraction(1)), ApproxDP(Fraction(1), Fraction(1, 10**6))


@pytest.mark.parametrize("promise", [PURE, LOOSE, PURE.repeated(3), GaussianDP(Fraction(1))])
@pytest.mark.parametrize(
    ("method", "wrong"),
    [
        ("approx", "x"),
        ("approx", -1),
        ("delta_at", "x"),
        ("epsilon_at", 2),
        ("group", 0),
        ("under", "all"),
        ("repeated", 0),
    ],
)
def test_a_wrong_number_for_a_promise_shows_one_frame_of_the_library(
    promise: Any, method: str, wrong: object
) -> None:
    error = raised(lambda: getattr(promise, method)(wrong))
    assert isinstance(error, InvalidArgument)
    assert len(ours(error)) == 1


def in_a_notebook(error: Exception) -> str:
    """Return the traceback from the mistake on as IPython shows it."""
    assert error.__traceback__ is not None
    trace = error.__traceback__.tb_next
    shown = VerboseTB(theme_name="nocolor").structured_traceback(type(error), error, trace)
    return "\n".join(shown)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_notebook_shows_few_lines_and_the_message_last(mistake: Callable[[], object]) -> None:
    error = raised(mistake)
    lines = in_a_notebook(error).splitlines()
    assert len(lines) <= 65, "half of them are the list above"
    assert str(error) in lines[-1]


def test_a_mistake_in_a_verb_shows_one_frame_of_the_library_in_a_notebook() -> None:
    for mistake in MISTAKES[:8]:
        assert in_a_notebook(raised(mistake)).count(f"File {LIBRARY}") == 1


def test_the_environment_keeps_all_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_TRACEBACK", "full")
    error = raised(MISTAKES[3])
    assert isinstance(error, MissingColumn)
    assert {"mode", "missing_column"} & {*ours(error)}
    assert len(ours(error)) > 10
    frames = [f for f, _ in traceback.walk_tb(error.__traceback__) if f.f_code.co_name == "mode"]
    assert not frames[0].f_locals, "variables are gone all the same"


def failing(error: BaseException) -> Callable[[], Any]:
    """Return a function behind a boundary that raises in what counts as the library."""
    module: dict[str, Any] = {"__name__": "discreet.somewhere", "error": error}
    exec("def deep():\n raise error\ndef fail():\n deep()", module)
    return error_boundary(module["fail"])


def test_a_defect_of_the_library_says_where_it_is() -> None:
    error = raised(failing(AssertionError("a defect")))
    assert len(ours(error)) == 1
    assert error.__notes__ == ["raised at <string>:2; DISCREET_TRACEBACK=full shows the way there"]
    assert not hasattr(raised(failing(TypeError("of the call"))), "__notes__")
    assert not hasattr(raised(failing(InvalidArgument("a refusal"))), "__notes__")


def test_an_interrupt_is_left_as_it_is() -> None:
    with pytest.raises(KeyboardInterrupt) as caught:
        failing(KeyboardInterrupt())()
    frames = traceback.walk_tb(caught.value.__traceback__)
    names = [frame.f_code.co_name for frame, _ in frames]
    assert names[-2:] == ["fail", "deep"]


def test_a_notice_is_no_error() -> None:
    """Whoever caught it has all that it holds, so its frames are not emptied."""
    notice = Notice()
    error = raised(failing(notice))
    assert error is notice
    assert not hasattr(error, "__notes__")
    frames = traceback.extract_tb(error.__traceback__)
    assert [frame.name for frame in frames][-2:] == ["fail", "deep"]


def test_methods_of_a_class_are_behind_the_boundary() -> None:
    @error_boundaries
    class Thing:
        def __init__(self, number: int) -> None:
            discreet.select([number, float("nan")], sensitivity=1, epsilon=1)

        @classmethod
        def made(cls) -> "Thing":
            return cls(1)

    for make in (lambda: Thing(1), Thing.made):
        error = raised(make)
        assert isinstance(error, InvalidScores)
        assert len(ours(error)) == 1


@pytest.mark.parametrize(
    "work",
    [
        "duckdb.connect().execute(\"SELECT CAST('zq7' AS INTEGER)\")",
        "sqlite3.connect(':memory:').execute('SELECT zq7')",
        "json.loads('zq7')",
    ],
)
def test_an_error_of_compiled_code_of_others_is_not_shown(work: str) -> None:
    """It leaves no frame, so that the innermost one is ours."""
    names: dict[str, Any] = {"__name__": "discreet.own"}
    exec(f"import duckdb, json, sqlite3\ndef ask(): return {work}", names)
    with pytest.raises(InvalidArgument) as caught:
        error_boundary(names["ask"])()
    assert "zq7" not in "".join(traceback.format_exception(caught.value))
