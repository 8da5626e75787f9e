"""The command line: one file, one command. Errors are one line on stderr; `exit_codes` lists how they end."""

import signal
import sys
import warnings
from contextvars import copy_context
from importlib.metadata import version
from io import TextIOWrapper
from typing import Annotated

import typer

from ..errors import DiscreetError, InvalidArgument
from ..messages import check_language, gettext, preferred_language, set_language, translate
from ..renamed import COMMANDS, OPTIONS
from .ask_command import ask_command
from .attack_command import attack_command
from .audit_command import audit_app
from .best_price_command import best_price_command
from .check_command import check_command
from .describe_command import describe_command
from .exit_codes import INTERRUPTED, exit_code, exit_codes_in_words
from .history_command import history_command, verify_command
from .ledger_command import ledger_app
from .mode_command import mode_command
from .noise_command import noise_app
from .plan_command import compare_command, plan_command
from .quantile_command import median_command, quantile_command, quantiles_command
from .select_command import select_command
from .serve_command import serve_command
from .token_command import token_app
from .top_k_command import top_k_command

app = typer.Typer(
    name="discreet",
    help="Pick the best answer from sensitive data, with differential privacy that is exact.",
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    epilog=f"Exit codes:\n\n\b\n{exit_codes_in_words()}",
)
for name, command in (
    ("mode", mode_command),
    ("median", median_command),
    ("quantile", quantile_command),
    ("quantiles", quantiles_command),
    ("best-price", best_price_command),
    ("top-k", top_k_command),
    ("select", select_command),
    ("describe", describe_command),
    ("check", check_command),
    ("plan", plan_command),
    ("compare", compare_command),
    ("attack", attack_command),
    ("serve", serve_command),
):
    app.command(name)(command)
for name, command in (
    ("history", history_command),
    ("verify", verify_command),
):
    ledger_app.command(name)(command)
app.command("ask")(ask_command)
app.add_typer(audit_app)
app.add_typer(ledger_app)
app.add_typer(noise_app)
app.add_typer(token_app)


def _show_version(flag: bool) -> None:
    if flag:
        from ..sampling.speed import speed  # other commands ask for it when they draw

        kernel = speed()
        how = (
            f"no compiled kernel: {kernel.reason}"
            if kernel.kernel is None
            else f"kernel {kernel.kernel}"
        )
        typer.echo(f"discreet {version('discreet')} ({how})")
        raise typer.Exit


@app.callback()
def _options(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version",
            "-V",
            callback=_show_version,
            is_eager=True,
            help="Show the version and stop.",
        ),
    ] = False,
    language: Annotated[
        str | None,
        typer.Option(
            metavar="CODE",
            help="The language of answers, tables and errors, such as en or zh; else that of the locale.",
            show_default=False,
        ),
    ] = None,
) -> None:
    if language is not None:
        set_language(check_language(language))


def main() -> None:
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
    sys.exit(run(sys.argv[1:]))


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


def run(arguments: list[str]) -> int:
    """Run one command, in the language of the locale or of its --language, and return its exit code."""
    return copy_context().run(_run, arguments)


def _run(arguments: list[str]) -> int:
    set_language(preferred_language())
    command = typer.main.get_command(app)
    try:
        _check(arguments)
        code = command.main(arguments or ["--help"], prog_name="discreet", standalone_mode=False)
        sys.stdout.flush()
    except (typer.Abort, KeyboardInterrupt):
        return 128 + _stop_signals[0] if _stop_signals else INTERRUPTED
    except Exception as error:
        message = _message(error)
        if message is None:
            raise
        typer.echo(f"discreet: {' '.join(message.split())}", err=True)
        return exit_code(error)
    return code if isinstance(code, int) else 0


def _check(arguments: list[str]) -> None:
    """Raise if an argument holds a character that no path can hold, or is a word of another release."""
    if any("\0" in argument for argument in arguments):
        raise InvalidArgument("an argument holds a NUL, which no file's name and no value can hold")
    for words in (tuple(arguments[:2]), tuple(arguments[:1])):
        if words in COMMANDS:
            raise InvalidArgument(f"discreet {' '.join(words)} is now: discreet {COMMANDS[words]}")
    for option in OPTIONS.keys() & {argument.partition("=")[0] for argument in arguments}:
        raise InvalidArgument(f"there is no {option} any more: {OPTIONS[option]}")


def _message(error: Exception) -> str | None:
    """Return the message for an error of this library, of the option parser or of writing; None for others."""
    if isinstance(error, DiscreetError):
        return "; ".join(map(translate, [error, *getattr(error, "__notes__", [])]))
    if isinstance(error, OSError):
        return gettext("the answer could not be written: {reason}", reason=error.strerror)
    parser_message = getattr(error, "format_message", None)
    if parser_message is None:
        return None
    message = str(parser_message())
    several = "unexpected extra argument" in message
    return (
        f"{message}; of several files give the pattern, 'rows/*.csv' in quotes"
        if several
        else message
    )
