"""Replies that are known before any command is imported: the version, all help, and completions of names.

Shells ask at every keystroke of TAB, so nothing heavy is imported here. `commands.json` holds the help at 80
columns in all languages, and the names of commands, options and choices. A wheel has it, made from the commands
when it was built. The rest is left to the commands: names of files and columns, other widths, mistakes, and all
that a checkout is asked but its version.
"""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .. import __version__
from ..base.messages import preferred_language

REPLIES = Path(__file__).with_name("commands.json")
HELP_WIDTH = 80
"""The columns that help is wrapped at, on every terminal that has so many."""

_HELP = ("--help", "-h")

Command = dict[str, Any]
"""Of a command or a group its help by language, its options, and the summaries of the commands in it by name."""


class StoredReply(NamedTuple):
    """A text for stdout, and the exit code."""

    text: str
    code: int = 0


def stored_reply(arguments: list[str], environment: Mapping[str, str]) -> StoredReply | None:
    """Return the reply to a command line, or to a shell that completes one. None if the commands must be asked."""
    instruction = environment.get("_DISCREET_COMPLETE")
    if instruction is None and arguments in (["--version"], ["-V"]):
        return StoredReply(f"{version_text()}\n")
    if not REPLIES.exists():
        return None
    if instruction is not None:
        return _completion(instruction, environment)
    words = with_help_as_option(arguments) or ["--help"]
    if words[-1] not in _HELP or _terminal_width(environment) < HELP_WIDTH:
        return None
    command = _stored_commands().get(" ".join(words[:-1]))
    if command is None:
        return None
    return StoredReply(command["help"][preferred_language(environment)])


def version_text() -> str:
    """Return the version, and whether the compiled kernel is in use."""
    from ..sampling.kernel_library import open_library

    library = open_library()
    kernel = (
        f"no compiled kernel: {library}" if isinstance(library, str) else f"kernel {library.level}"
    )
    return f"discreet {__version__} ({kernel})"


def with_help_as_option(arguments: list[str]) -> list[str]:
    """Return `discreet help COMMAND` as `discreet COMMAND --help`, and other command lines as they are."""
    return [*arguments[1:], "--help"] if arguments[:1] == ["help"] else arguments


def words_to_complete(environment: Mapping[str, str]) -> tuple[list[str], str]:
    """Return the words before the one that a shell completes, but for the program's name, and its beginning."""
    words = environment.get("COMP_WORDS", environment.get("_TYPER_COMPLETE_ARGS", ""))
    if "COMP_WORDS" in environment:
        at, parts = int(environment.get("COMP_CWORD", "0")), words.split()
        return parts[1:at], parts[at] if at < len(parts) else ""
    parts = words.split()[1:]
    return (parts[:-1], parts[-1]) if parts and not words.endswith(" ") else (parts, "")


def _completion(instruction: str, environment: Mapping[str, str]) -> StoredReply | None:
    """Return the completions for a shell, as it wants them written, or None if the commands must be asked."""
    write = _SHELLS.get(instruction)
    line = environment.get("COMP_WORDS", "") + environment.get("_TYPER_COMPLETE_ARGS", "")
    if write is None or not set("'\"\\").isdisjoint(line):
        return None
    names = _fitting_names(*words_to_complete(environment))
    return (
        None if names is None else write(names, environment.get("_TYPER_COMPLETE_FISH_ACTION", ""))
    )


def _fitting_names(words: Sequence[str], beginning: str) -> dict[str, str] | None:
    """Return the names that begin so, with their help, or None if they depend on more than the command line."""
    command, rest = _command_of(words)
    if "=" in beginning or "--" in rest or (rest and command["commands"]):
        return None
    choices = _choices(command, rest)
    if choices is not None:
        names = dict.fromkeys(choices, "")
    else:
        names = _free_options(command, rest) if beginning.startswith("-") else command["commands"]
    return {name: names[name] for name in names if name.startswith(beginning)} if names else None


def _command_of(words: Sequence[str]) -> tuple[Command, list[str]]:
    """Return the command that words begin with, and the words after its name."""
    commands = _stored_commands()
    lengths = range(len(words), 0, -1)
    length = next((length for length in lengths if " ".join(words[:length]) in commands), 0)
    return commands[" ".join(words[:length])], [*words[length:]]


def _choices(command: Command, rest: Sequence[str]) -> list[str] | None:
    """Return the choices of the option that the last word names, or empty if its value may be anything."""
    takers = (one for one in command["options"] if rest and rest[-1] in one["names"])
    return next((one["choices"] for one in takers if not one["is_flag"]), None)


def _free_options(command: Command, rest: Sequence[str]) -> dict[str, str]:
    """Return the options that may follow, with their help: those of one value not twice."""
    free = (
        one for one in command["options"] if one["is_repeated"] or not {*rest} & {*one["names"]}
    )
    return {name: one["help"] for one in free for name in one["names"]}


def _for_bash(names: Mapping[str, str], _: str) -> StoredReply:
    return StoredReply("\n".join(names) + "\n")


def _for_zsh(names: Mapping[str, str], _: str) -> StoredReply:
    def quote(text: str) -> str:
        for sign, escape in (('"', '""'), ("'", "''"), ("$", "\\$"), ("`", "\\`"), (":", "\\\\:")):
            text = text.replace(sign, escape)
        return f'"{text}"'

    lines = [":".join(map(quote, filter(None, pair))) for pair in names.items()]
    return StoredReply(
        "_arguments '*: :(({}))'\n".format("\n".join(lines)) if lines else "_files\n"
    )


def _for_fish(names: Mapping[str, str], action: str) -> StoredReply:
    if action == "is-args":
        return StoredReply("", int(not names))
    lines = ("\t".join(filter(None, pair)) for pair in names.items())
    return StoredReply("\n".join(lines) + "\n" if action == "get-args" else "\n")


_SHELLS = {"complete_bash": _for_bash, "complete_zsh": _for_zsh, "complete_fish": _for_fish}


def _stored_commands() -> dict[str, Command]:
    """Return the stored replies of all commands by their words, and of the whole command line by none."""
    commands: dict[str, Command] = json.loads(REPLIES.read_text(encoding="utf-8"))
    return commands


def _terminal_width(environment: Mapping[str, str]) -> int:
    """Return the columns of the terminal, as `shutil` finds them."""
    columns = environment.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    try:
        return os.get_terminal_size(1).columns or HELP_WIDTH
    except OSError:
        return HELP_WIDTH
