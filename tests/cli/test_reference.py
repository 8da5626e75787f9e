"""The page of the command line lists every command and exit code; the help of all fits and has an example."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from discreet.cli import run
from discreet.cli.application import build_app
from discreet.cli.exit_codes import EXIT_CODES

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "command_line.md").read_text("utf-8")


def commands(group: typer.Typer, *names: str) -> Iterator[tuple[str, ...]]:
    """Yield the names of all commands of a group and of those in it."""
    for command in group.registered_commands:
        assert command.name is not None
        yield (*names, command.name)
    for inner in group.registered_groups:
        assert inner.typer_instance is not None
        assert inner.typer_instance.info.name is not None
        yield from commands(inner.typer_instance, *names, inner.typer_instance.info.name)


COMMANDS = list(commands(build_app()))


def test_every_command_is_on_the_page() -> None:
    assert ("ledger", "extend") in COMMANDS
    for names in COMMANDS:
        assert f"discreet {' '.join(names)} " in PAGE.replace("`", " "), names


def test_every_exit_code_is_on_the_page() -> None:
    for each in EXIT_CODES:
        assert f"| {each.code} | {each.meaning} |\n" in PAGE


@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
@pytest.mark.one_in(5)
def test_the_help_of_every_command(
    names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run([*names, "--help"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert f"Example: discreet {' '.join(names)} " in " ".join(out.split())
    for phrase in ("Who pays", "Whose", "who a row", "_command", "_app", "LedgerArgument"):
        assert phrase not in out, phrase


@pytest.mark.parametrize("group", [[], ["ledger"], ["audit"], ["noise"], ["token"]], ids=" ".join)
def test_the_list_of_commands_is_not_cut_off(
    group: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run([*group, "--help"]) == 0
    out = capsys.readouterr().out
    assert "..." not in out.replace("[ARGS]...", "")
    assert max(map(len, out.splitlines())) <= 80
