"""Names of other libraries: each error says what there is."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer

import discreet
from discreet.base.names_elsewhere import COMMANDS
from discreet.cli import run
from discreet.cli.application import build_app


def test_a_name_that_never_was_is_refused_as_by_any_module() -> None:
    with pytest.raises(AttributeError, match="module 'discreet' has no attribute 'scan'"):
        discreet.scan  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'scan'"):
        exec("from discreet import scan")


def commands(group: Any = None, *names: str) -> Iterator[tuple[str, ...]]:
    """Yield the names of every command."""
    group = typer.main.get_command(build_app()) if group is None else group
    if not hasattr(group, "commands"):
        yield names
        return
    for name, command in group.commands.items():
        yield from commands(command, *names, name)


@pytest.mark.parametrize("other", COMMANDS)
def test_a_command_of_another_library_is_refused_with_ours(
    other: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([other, "people.csv", "--epsilon", "1"]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == (
        "",
        f"discreet: there is no discreet {other}: run discreet {COMMANDS[other]}\n",
    )
    words = COMMANDS[other].split(" --")[0].split()
    assert tuple(words) in set(commands())
    assert (other,) not in set(commands())
    new_options = [f"--{word.split()[0]}" for word in COMMANDS[other].split(" --")[1:]]
    assert run([*words, "--help"]) == 0
    text = capsys.readouterr().out
    assert all(option in text for option in new_options)
