"""A command has the options that its verb takes, and charges the ledger that it is given."""

import inspect
from importlib import import_module
from pathlib import Path

import pytest

import discreet
from discreet.cli import run
from discreet.cli.application import _COMMANDS
from discreet.cli.releasing import _OF_ANSWERS, _OF_FILES, _OPTIONS

from ..verb_places import VERBS

NAMES = [name for name in _COMMANDS if callable(getattr(discreet, name.replace("-", "_"), None))]
ABSENT = {"check": {"privacy_unit"}, "compare": {"neighbors"}}
"""What a verb takes, and its command does not: the description says it, or the statement."""


@pytest.mark.parametrize("name", NAMES)
def test_the_options_of_a_command_are_what_its_verb_takes(name: str) -> None:
    function = name.replace("-", "_")
    command = getattr(import_module(f"discreet.cli.{_COMMANDS[name]}"), f"{function}_command")
    options = {*_OPTIONS} & {*inspect.signature(command).parameters}
    takes = inspect.signature(getattr(discreet, function)).parameters
    terms = ({*_OPTIONS} & {*takes}) - {*_OF_ANSWERS}
    of_mechanism = {"mechanism_option"} if "mechanism" in terms else set()
    assert options - {*_OF_FILES, *_OF_ANSWERS} == (terms | of_mechanism) - ABSENT.get(name, set())


@pytest.mark.parametrize(
    "words",
    [
        "keys examples/people.csv drink --epsilon 1 --delta 1e-3 --most-drawn 3",
        "bounds examples/people.csv age --epsilon 1 --mechanism-option noise=gumbel",
        "quantiles examples/people.csv age --epsilon 1 --alphas 0.5 --mechanism-option noise=gumbel",
    ],
)
def test_an_option_of_other_verbs_is_refused(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words.split()) == 2
    assert "No such option: --m" in capsys.readouterr().err


@pytest.mark.parametrize("asked", VERBS.values(), ids=VERBS)
def test_every_command_charges_the_ledger_that_it_is_given(
    asked: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{city},{i % 90}\n" for i in range(60) for city in ("Basel", "Bern"))
    Path("a.csv").write_text(f"city,age\n{rows}", encoding="utf-8")
    ledger = discreet.Ledger("b.db")
    ledger.open("d", epsilon=10, delta="1e-2", delta_for="questions")
    words = ["a.csv" if word == "FILE" else word for word in asked.words.split()]  # type: ignore[attr-defined]
    assert run([*words, "--epsilon", "1", "--ledger", "b.db", "--dataset", "d"]) == 0
    assert ledger.budgets()[0].spent.epsilon == 1
