"""Every argument of everything public is described, and shared descriptions are written once."""

import inspect
from collections.abc import Callable, Iterator

import pytest

import discreet
from discreet.selection.terms import (
    DEFAULTS,
    PersonTerms,
    RecordTerms,
    Terms,
    descriptions,
    entries,
    with_entries,
)

from ..public_names import PATHS, public

FUNCTIONS = [n for n in PATHS if inspect.isfunction(public(n))]
SHARED = [n for n in FUNCTIONS if "neighbors" in inspect.signature(public(n)).parameters]
MADE_BY_OTHERS = {
    "Charge",
    "Comparison",
    "Connection",
    "Distribution",
    "Selector",
    "Session",
}
"""Classes that nobody calls: a method of another returns them."""


def described(thing: Callable[..., object]) -> dict[str, str]:
    """Return what the docstring says of each argument."""
    own = entries(thing.__doc__, "Attributes") | entries(thing.__doc__, "Args")
    return {name.lstrip("*"): text for name, text in own.items()}


def undescribed(thing: Callable[..., object]) -> Iterator[str]:
    """Yield the arguments of which the docstring says nothing."""
    said = described(thing)
    for name in inspect.signature(thing).parameters:
        if len(said.get(name, "")) < 15:
            yield name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_argument_of_every_verb_is_described(name: str) -> None:
    assert list(undescribed(public(name))) == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nothing_is_described_that_is_no_argument(name: str) -> None:
    function = public(name)
    assert described(function).keys() <= inspect.signature(function).parameters.keys()


def test_every_argument_of_every_class_is_described() -> None:
    for name in PATHS:
        kind = public(name)
        if not inspect.isclass(kind) or name in MADE_BY_OTHERS:
            continue
        if not issubclass(kind, Exception | dict):
            assert list(undescribed(kind)) == [], name


@pytest.mark.parametrize(
    "kind",
    [discreet.Batch, discreet.Connection, discreet.Ledger, discreet.Session],
)
def test_every_argument_of_methods_that_users_call_is_described(kind: type) -> None:
    for name, method in inspect.getmembers(kind, inspect.isfunction):
        if not name.startswith("_"):
            assert set(undescribed(method)) <= {"self"}, name


@pytest.mark.parametrize("name", SHARED)
def test_help_shows_epsilon(name: str) -> None:
    function = public(name)
    if "epsilon" in inspect.signature(function).parameters:
        assert "positive number without a unit" in described(function)["epsilon"]


@pytest.mark.parametrize("kind", [Terms, PersonTerms, RecordTerms])
def test_every_shared_argument_is_described_once(kind: type) -> None:
    assert descriptions(kind).keys() == kind.__annotations__.keys() <= DEFAULTS.keys()


def test_a_narrower_kind_says_more_of_an_argument() -> None:
    assert "null are left out" not in " ".join(descriptions(Terms)["privacy_unit"].split())
    assert "null are left out" in " ".join(descriptions(RecordTerms)["privacy_unit"].split())


def test_a_description_of_its_own_stays() -> None:
    text = with_entries(
        """Do it.

        Args:
            data: the data,
                private.
            epsilon: mine.
            **terms: the others.

        Returns:
            Nothing.
        """,
        {"rho": "shared,\n        in two lines.", "epsilon": "shared."},
    )
    assert text is not None
    assert text.splitlines() == [
        "Do it.",
        "",
        "Args:",
        "    data: the data,",
        "        private.",
        "    rho: shared,",
        "        in two lines.",
        "    epsilon: mine.",
        "",
        "Returns:",
        "    Nothing.",
    ]


def test_without_docstrings_nothing_is_written() -> None:
    assert with_entries(None, {"rho": "shared"}) is None
    assert entries(None, "Args") == {}
    assert with_entries("Do it.", {"rho": "shared"}) == "Do it."
