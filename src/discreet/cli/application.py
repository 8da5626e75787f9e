"""The commands, read by Typer. Of a command that is run, its module alone is imported, with its own imports."""

import os
import re
import signal
import sys
import warnings
from collections import Counter
from contextvars import copy_context
from importlib import import_module
from inspect import cleandoc
from io import TextIOWrapper
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup

from ..base.arguments import choice
from ..base.doors import set_door
from ..base.messages import (
    SOURCE,
    current_language,
    gettext,
    languages,
    preferred_language,
    set_language,
)
from ..base.names_elsewhere import COMMANDS
from ..base.wide_letters import with_marks, without_marks
from ..errors import DiscreetError, InvalidArgument
from .exit_codes import INTERRUPTED, UNWRITTEN, exit_code, exit_codes_in_words
from .stored_replies import version_text, with_help_as_option, words_to_complete

_COMMANDS = {
    "mode": "mode_command", "median": "quantile_command", "quantile": "quantile_command",
    "quantiles": "quantile_command", "bounds": "quantile_command",
    "best-price": "best_price_command", "top-k": "mode_command",
    "count": "count_command", "counts": "count_command", "sum": "sum_command", "mean": "sum_command",
    "variance": "sum_command", "standard-deviation": "sum_command",
    "count-distinct": "count_command", "keys": "count_command", "profile": "profile_command",
    "sql": "sql_command", "select": "select_command", "describe": "describe_command", "check": "check_command",
    "tally": "tally_command",
    "plan": "plan_command", "compare": "plan_command", "attack": "attack_command",
    "serve": "serve_command", "ask": "ask_command", "mcp": "mcp_command",
}  # fmt: skip
"""The modules of the commands, in the order of the help. The function is named after the command."""

_GROUPS = {
    "audit": "audit_command",
    "ledger": "ledger_command",
    "noise": "noise_command",
    "token": "token_command",
}
"""The modules of the groups of commands."""


def build_app(first: str = "") -> typer.Typer:
    """Return the command line, with one command or group alone if its name is the first word, else with all."""
    app = typer.Typer(
        name="discreet",
        help="Ask private data for the most common value, a median, counts or the top ten, with differential "
        "privacy.\n\n"
        'Run "discreet help COMMAND" for the help of one command.',
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
        epilog=_epilog(),
    )
    app.callback()(_options)
    names = {first} & {*_COMMANDS, *_GROUPS} or {*_COMMANDS, *_GROUPS}
    for name, module in _COMMANDS.items():
        if name in names:
            app.command(name)(_attribute(module, f"{name.replace('-', '_')}_command"))
    for name, module in _GROUPS.items():
        if name in names:
            app.add_typer(_attribute(module, f"{name}_app"))
    return app


def _epilog() -> str:
    return f"{gettext('Exit codes:', 'help')}\n\n\b\n{exit_codes_in_words()}"


def build_command(first: str = "") -> TyperGroup:
    """Return `build_app` as a command of the parser, with help in the language of the reader."""
    command = cast(TyperGroup, typer.main.get_command(build_app(first)))
    _translate_help_of(command)
    _refuse_twice(command)
    return command


def _refuse_twice(command: Any) -> None:
    """Let a command, and those in it, refuse an option with one value that is there twice: the last would count."""
    make_parser = command.make_parser

    def make_strict_parser(context: typer.Context) -> object:
        parser = make_parser(context)
        parse = parser.parse_args

        def parse_once(args: list[str]) -> object:
            options, rest, order = parse(args=args)
            _check_order(order)
            return options, rest, order

        parser.parse_args = parse_once
        return parser

    command.make_parser = make_strict_parser
    for inner in getattr(command, "commands", {}).values():
        _refuse_twice(inner)


def _check_order(order: list[Any]) -> None:
    """Raise if an option with one value is twice among the parameters in the order in which they were given."""
    for one, number in Counter(order).items():
        is_single = one.param_type_name == "option" and not (one.multiple or one.is_flag)
        if is_single and number > 1:
            raise InvalidArgument(
                f"{max(one.opts, key=len)} takes one value, and it is there twice"
            )


def _translate_help_of(command: Any) -> None:
    """Let a command, and those in it, write their help in the language that is set when they are asked."""
    in_english, inner = command.get_help, getattr(command, "commands", {}).values()

    def get_help(context: typer.Context) -> str:
        if current_language() == SOURCE:
            return str(in_english(context))
        for one in (command, *command.get_params(context)):
            one.help = _translated(one.help or "")
        for one in inner:
            one.short_help = _translated(one.help).partition("\n")[0].partition("。")[0]
        command.epilog = with_marks(_epilog()) if command.epilog else None
        return _with_labels(without_marks(in_english(context)))

    command.get_help = get_help
    for one in inner:
        _translate_help_of(one)


def _translated(text: str) -> str:
    return with_marks(gettext(cleandoc(text), "help"))


def _with_labels(text: str) -> str:
    """Return a help with the words of the parser in the language of the reader."""
    text = re.sub(r" *\[env(\n +)var:", r"\1[env var:", text)
    for label in LABELS:
        own = gettext(label, "help")
        text = re.sub(rf"^{label}(?=:)", own, text, flags=re.MULTILINE)
        text = re.sub(rf"(\[|;\s+){label}(?=[]:;])", rf"\1{own}", text)
    return text


LABELS = ("Usage", "Options", "Arguments", "Commands", "default", "required", "env var")
"""Words that the parser puts into a help."""


def _attribute(module: str, name: str) -> Any:
    return getattr(import_module(f".{module}", __package__), name)


def _show_version(flag: bool) -> None:
    if flag:
        typer.echo(version_text())
        raise typer.Exit


def _set_language(code: str | None) -> None:
    if code is not None:
        set_language(choice(code, "--language", languages()))


def _options(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version",
            "-V",
            callback=_show_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
    language: Annotated[
        str | None,
        typer.Option(
            metavar="CODE",
            callback=_set_language,
            is_eager=True,  # before --help
            help="The language of answers, tables and help, such as en or zh. The default is that of the locale.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """The options are done when they are parsed."""


def run_program() -> None:
    """Run the command line and exit with one of the codes of `exit_codes`."""
    warnings.showwarning = _show_warning
    signal.signal(signal.SIGTERM, _terminate)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as nohup leaves it
        signal.signal(signal.SIGHUP, _terminate)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(
                errors="backslashreplace"
            )  # an answer must not be lost to an encoding
    sys.exit(run_command(sys.argv[1:]))


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Show a warning as errors are shown, without the line of the program."""
    typer.echo(f"discreet: {' '.join(str(message).split())}", err=True)


def _terminate(number: int, frame: object) -> None:
    """End the process as its own exit would: the cursor is shown again, and temporary files are removed.

    An engine may take the exit for an interrupt of its own, so it is noted what it was.
    """
    _stop_signals.append(number)
    raise SystemExit(128 + number)


_stop_signals: list[int] = []


def run_command(arguments: list[str]) -> int:
    """Run one command, in the language of the locale or of its --language, and return its exit code."""
    return copy_context().run(_run, with_step_as_one(with_help_as_option(arguments)))


_TIME_UNITS = tuple(
    word for unit in ("second", "minute", "hour", "day", "month") for word in (unit, f"{unit}s")
)


def with_step_as_one(arguments: list[str]) -> list[str]:
    """Return the arguments with a step of dates, `--step 1 month`, as one of them; people leave out the quotes."""
    for place, (option, number, unit) in enumerate(
        zip(arguments, arguments[1:], arguments[2:], strict=False)
    ):
        if option == "--step" and number.isdecimal() and unit in _TIME_UNITS:
            return [*arguments[: place + 1], f"{number} {unit}", *arguments[place + 3 :]]
    return arguments


_FOR_REMOTE_CALLERS = {"serve", "mcp"}
"""Commands whose messages go to callers who give arguments, and no options."""


def _run(arguments: list[str]) -> int:
    set_language(preferred_language())
    if not {*arguments[:1]} & _FOR_REMOTE_CALLERS:
        set_door("terminal")
    try:
        _check(arguments)
        words = arguments or words_to_complete(os.environ)[0]
        command = build_command("".join(words[:1]))
        code = command.main(arguments or ["--help"], prog_name="discreet", standalone_mode=False)
        sys.stdout.flush()
    except (typer.Abort, KeyboardInterrupt):
        return 128 + _stop_signals[0] if _stop_signals else INTERRUPTED
    except SystemExit as end:  # of the parser, with 1, if the reader of a pipe has gone
        if isinstance(end.__context__, BrokenPipeError):
            return UNWRITTEN
        raise
    except Exception as error:
        message = _message(error)
        if message is None:
            raise
        # Several mistakes in a description have a line each; no message quotes a line break.
        for line in message.splitlines():
            typer.echo(f"discreet: {' '.join(line.split())}", err=True)
        return exit_code(error)
    return code if isinstance(code, int) else 0


def _check(arguments: list[str]) -> None:
    """Raise for a NUL, which no path can hold, and for a command of another library."""
    if any("\0" in argument for argument in arguments):
        raise InvalidArgument("an argument holds a NUL, which no file's name and no value can hold")
    for name in arguments[:1]:
        if name in COMMANDS:
            raise InvalidArgument(f"there is no discreet {name}: run discreet {COMMANDS[name]}")


def _message(error: Exception) -> str | None:
    """Return the message for an error of this library, of the option parser or of writing, or None for others."""
    if isinstance(error, DiscreetError):
        return "; ".join(map(str, [error, *getattr(error, "__notes__", [])]))
    if isinstance(error, OSError):
        return f"the answer could not be written: {error.strerror}"
    parser_message = getattr(error, "format_message", None)
    if parser_message is None:
        return None
    missing, own_name = getattr(error, "option_name", None), _own_name(error)
    if own_name is not None:
        return f"No such option: {missing}, here it is {own_name}"
    if missing == "--language":
        return "--language goes before the command, as in: discreet --language zh mode ..."
    message = str(parser_message())
    if getattr(getattr(error, "param", None), "name", None) == "column":
        message = f"{message}{_columns_in_words(error)}"
    several = "unexpected extra argument" in message
    return (
        f"{message}. For several files give a pattern in quotes, such as 'rows/*.csv'"
        if several
        else message
    )


def _columns_in_words(error: Any) -> str:
    """Return the columns of the table of a command that names none, in words, or "" if it cannot be read."""
    table = error.ctx.params.get("data") if error.ctx is not None else None
    if not isinstance(table, str):
        return ""
    from ..tables.datasets.declarations import few
    from ..tables.engines.column_list import shown_columns
    from .accounts import description_for

    try:
        description = description_for(table)
        columns = (
            shown_columns(table) if description is None else description.dataset(table).columns
        )
    except DiscreetError:
        return ""
    return f" It is one of {few(list(columns))}." if columns else ""


def _own_name(error: Exception) -> str | None:
    """Return the option of a command in place of a missing one: bounds have other names where numbers are added."""
    missing, context = getattr(error, "option_name", None), getattr(error, "ctx", None)
    if context is None:
        return None
    own = {name for option in context.command.params for name in option.opts}
    return next((name for same in _SAME if missing in same for name in same if name in own), None)


_SAME = (
    ("--lo", "--minimum", "--min", "--lower"),
    ("--hi", "--maximum", "--max", "--upper"),
    ("--listen", "--port"),
)
"""Names of options for the same thing, those of our commands first."""
