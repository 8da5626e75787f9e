"""The command line: a file for a command, or for those of one kind. `exit_codes` lists how they end."""

import os
import sys


def main() -> None:
    """Run the command line and exit with one of the codes of `exit_codes`."""
    from .stored_replies import stored_reply

    reply = stored_reply(sys.argv[1:], os.environ)
    if reply is not None and _is_written(reply.text):
        sys.exit(reply.code)
    from .application import run_program  # heavy, and most keystrokes do without

    run_program()


def run(arguments: list[str]) -> int:
    """Run one command, in the language of the locale or of its --language, and return its exit code."""
    from .application import run_command

    return run_command(arguments)


def _is_written(text: str) -> bool:
    """Return whether a text could be printed. If it could not, the commands say why."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except (OSError, UnicodeError):
        return False
    return True
