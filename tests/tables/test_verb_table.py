"""The facts of verbs are those of the verbs themselves, and every place of verbs has all of them."""

import inspect

import pytest

import discreet
from discreet.cli.application import _COMMANDS
from discreet.service.asking.connection import Connection
from discreet.service.asking.dearest_questions import _DEAR_TERMS, _KINDS
from discreet.service.queue.lengths import _BY_ROOM, _OF_COUNTS
from discreet.tables.verb_table import VERBS

from ..pages import ROOT

ELSEWHERE = {
    "data", "dataset", "column", "columns", "ledger", "request", "neighbors", "privacy_unit",
    "unsafe_candidates_from_data",
}  # fmt: skip
"""Arguments that are no terms of a question: the description says them, or the account that is charged."""

LABELS = (ROOT / "src/discreet/tables/templates/pages/labels.html").read_text(encoding="utf-8")


def parameters(verb: str) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(getattr(discreet, verb)).parameters)


@pytest.mark.parametrize("verb", VERBS)
def test_the_terms_of_a_verb_are_its_arguments(verb: str) -> None:
    terms = VERBS[verb].terms
    assert len({*terms}) == len(terms)
    assert {*terms} == {*parameters(verb)} - ELSEWHERE


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_needs_the_arguments_that_have_no_default(verb: str) -> None:
    own = {*parameters(verb)} - ELSEWHERE
    needs = {name for name in own if parameters(verb)[name].default is inspect.Parameter.empty}
    assert {*VERBS[verb].needs} == needs
    column = parameters(verb).get("column", parameters(verb).get("columns"))
    if verb not in ("check", "mode", "top_k", "keys", "counts"):  # a list of values has none
        assert VERBS[verb].needs_column == (column is not None and verb != "count")


def test_every_verb_with_a_condition_is_in_the_table() -> None:
    verbs = {name for name in vars(discreet.Session) if name in discreet.__all__}
    assert {name for name in verbs if "where" in parameters(name)} <= {*VERBS}
    assert {"median", "counts", "keys"} <= verbs


@pytest.mark.parametrize("verb", VERBS)
def test_every_place_has_every_verb(verb: str) -> None:
    assert hasattr(discreet.Session, verb)
    assert hasattr(Connection, verb) or not VERBS[verb].needs_column
    assert verb.replace("_", "-") in _COMMANDS or verb in ("minimum", "maximum")
    assert [verb in kind for kind in _KINDS].count(True) == 1
    assert VERBS[verb].room in ("candidates", *_OF_COUNTS, *_BY_ROOM)
    assert {*VERBS[verb].needs} <= {*_DEAR_TERMS, "statement"}
    assert f'"{verb}": _(' in LABELS
