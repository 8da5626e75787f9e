"""Names of other releases: each error says where the same is found now."""

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer

import discreet
from discreet.cli import run
from discreet.cli.application import build_app
from discreet.renamed import COMMANDS, MODULES, NAMES, NEW_METHODS, OPTIONS

OLD = {**{old: f"discreet.{new}" for old, new in NAMES.items()}} | {
    old: f"from discreet.{module} import {old}" for old, module in MODULES.items()
}


@pytest.mark.parametrize(("old", "new"), OLD.items())
def test_an_old_name_is_refused_with_the_new_one(old: str, new: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(discreet, old)
    assert str(caught.value).endswith(new)
    assert not hasattr(discreet, old)
    assert old not in discreet.__all__


@pytest.mark.parametrize(("old", "new"), OLD.items())
def test_an_import_of_an_old_name_says_the_new_one(old: str, new: str) -> None:
    with pytest.raises(ImportError) as caught:
        exec(f"from discreet import {old}")
    assert str(caught.value).endswith(new)


@pytest.mark.parametrize("old", OLD)
def test_the_new_name_is_there(old: str) -> None:
    home = import_module(f"discreet.{MODULES[old]}") if old in MODULES else discreet
    assert getattr(home, NAMES.get(old, old)) is not None


@pytest.mark.parametrize("old", NEW_METHODS["Session"])
def test_an_old_method_is_refused_with_the_new_one(old: str) -> None:
    ledger = discreet.Ledger()
    ledger.open("people", epsilon=1)
    session = ledger.session("people")
    new = NEW_METHODS["Session"][old]
    with pytest.raises(AttributeError, match=f"^Session.{old} is now Session.{new}$"):
        getattr(session, old)
    assert callable(getattr(session, new))
    with pytest.raises(AttributeError, match="'Session' object has no attribute 'prices'"):
        session.prices  # noqa: B018


@pytest.mark.parametrize("old", NEW_METHODS["Connection"])
def test_an_old_method_of_a_connection_is_refused_with_the_new_one(
    old: str, tmp_path: Path
) -> None:
    (tmp_path / "discreet.toml").write_text(
        'ledger = "b.db"\n[datasets.a]\nsource = "a.csv"\ncolumns.x = { type = "boolean" }\n'
    )
    discreet.Ledger(tmp_path / "b.db")
    connection = discreet.connect(tmp_path / "discreet.toml")
    new = NEW_METHODS["Connection"][old]
    with pytest.raises(AttributeError, match=f"^Connection.{old} is now Connection.{new}$"):
        getattr(connection, old)
    assert callable(getattr(connection, new))


def test_a_program_sees_the_new_name_and_no_traceback_of_ours() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from discreet import csv"], capture_output=True, text=True
    )
    assert done.stderr.splitlines()[-1] == "ImportError: discreet.csv is now discreet.scan_csv"


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


@pytest.mark.parametrize("old", COMMANDS, ids=" ".join)
def test_an_old_command_is_refused_with_the_new_one(
    old: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*old, "people.csv", "--epsilon", "1"]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == (
        "",
        f"discreet: there is no discreet {' '.join(old)}: run discreet {COMMANDS[old]}\n",
    )
    words = COMMANDS[old].split(" --")[0].split()
    assert tuple(words) in set(commands())
    assert old not in set(commands())
    new_options = [f"--{word.split()[0]}" for word in COMMANDS[old].split(" --")[1:]]
    assert run([*words, "--help"]) == 0
    text = capsys.readouterr().out
    assert all(option in text for option in new_options)


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("value", [[], ["x"], ["=x"]])
def test_an_old_option_is_refused_with_what_to_do(
    option: str, value: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    said = [option + value[0]] if value == ["=x"] else [option, *value]
    assert run(["mode", "people.csv", "city", "--epsilon", "1", *said]) == 2
    assert f"there is no {option} any more: {OPTIONS[option]}" in capsys.readouterr().err


def test_the_command_line_is_small() -> None:
    """Later issues add what they name, and the number with it.

    34, `ledger reopen`, those of counts, keys, bounds, profiles, SQL and assistants, of audits' records, `tally`,
    and `ledger reset-delays`.
    """
    assert len(list(commands())) <= 48


def test_the_face_is_small() -> None:
    """Later issues add what they name, and the number with it."""
    assert len(discreet.__all__) <= 60
