"""No command has an option that its verb does not take: such an option would end in a traceback."""

import inspect
from importlib import import_module

import pytest

import discreet
from discreet.cli import run
from discreet.cli.application import _COMMANDS
from discreet.cli.releasing import _TERMS

VERBS = [name for name in _COMMANDS if callable(getattr(discreet, name.replace("-", "_"), None))]


@pytest.mark.parametrize("name", VERBS)
def test_every_shared_option_is_a_term_of_the_verb(name: str) -> None:
    function = name.replace("-", "_")
    command = getattr(import_module(f"discreet.cli.{_COMMANDS[name]}"), f"{function}_command")
    options = {*_TERMS} & {*inspect.signature(command).parameters}
    assert options <= {*inspect.signature(getattr(discreet, function)).parameters}


def test_an_option_of_other_verbs_is_none_of_keys(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["keys", "examples/people.csv", "drink", "--epsilon", "1", "--delta", "1e-3"]
    assert run([*asked, "--most-drawn", "3"]) == 2
    assert "No such option: --most-drawn" in capsys.readouterr().err
