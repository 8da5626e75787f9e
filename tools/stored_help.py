"""Makes the stored replies of the command line: the help of every command, and the names that shells complete.

The command line answers from them without importing the commands, which takes several times as long. Wheels have
them as `discreet/cli/commands.json`, and `hatch_build.py` builds them. A checkout has none, and asks the commands.
"""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from typing import Any
from unittest.mock import patch

from discreet.base.messages import SOURCE, languages, using_language
from discreet.cli.application import build_command
from discreet.cli.stored_replies import HELP_WIDTH


def stored_commands() -> dict[str, Any]:
    """Return help, options and inner commands of every command, by its words."""
    # An empty folder: names that a completion finds in files are not stored.
    with tempfile.TemporaryDirectory() as folder, chdir(folder), patch.dict(os.environ):
        os.environ["COLUMNS"] = str(HELP_WIDTH)
        os.environ.pop("DISCREET_CONFIG", None)
        commands = _commands_in(SOURCE)
        helps = {code: _commands_in(code) for code in languages()}
    return {
        words: one | {"help": {code: each[words]["help"] for code, each in helps.items()}}
        for words, one in commands.items()
    }


def _commands_in(language: str) -> dict[str, Any]:
    """Return help, options and inner commands of every command in a language, by its words."""
    with using_language(language):
        return dict(_commands(build_command(), None, ()))


def _commands(command: Any, parent: Any, words: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield a command, and the commands in it."""
    context = command.make_context(
        words[-1] if words else "discreet", [], parent=parent, resilient_parsing=True
    )
    inner = getattr(command, "commands", {})
    yield (
        " ".join(words),
        {
            "help": f"{command.get_help(context)}\n",
            "commands": {name: one.get_short_help_str() for name, one in inner.items()},
            "options": [
                _option(one, context) for one in command.get_params(context) if _is_offered(one)
            ],
        },
    )
    for name, one in inner.items():
        yield from _commands(one, context, (*words, name))


def _is_offered(parameter: Any) -> bool:
    return parameter.param_type_name == "option" and not parameter.hidden


def _option(option: Any, context: Any) -> dict[str, Any]:
    """Return an option's names, its help, and what may follow it."""
    is_flag = option.is_flag or option.count
    return {
        # Those of help come in any order.
        "names": sorted([*option.opts, *option.secondary_opts], key=len, reverse=True),
        "help": " ".join((option.help or "").split()),
        "is_flag": is_flag,
        "is_repeated": option.multiple,
        "choices": [] if is_flag else [one.value for one in option.shell_complete(context, "")],
    }


def text() -> str:
    """Return the file."""
    return json.dumps(stored_commands(), ensure_ascii=False, indent=1) + "\n"
