"""The program and the records of `discreet audit mechanism`."""

import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import InvalidArgument, UnreadableFile

AuditedFunction = Callable[[list[Any]], object]


def load_function(program: str) -> AuditedFunction:
    """Return the function that `FILE.py:NAME` names. The file is run, as a program of the user's own.

    Raises:
        InvalidArgument: if the words are not of that form, or there is no such function.
        UnreadableFile: if the file is missing, or does not run.
    """
    path, colon, name = program.rpartition(":")
    if not colon or not path.endswith(".py") or not name.isidentifier():
        raise InvalidArgument(f"the program must be given as FILE.py:NAME, got {program!r}")
    function: AuditedFunction | None = _run_file(Path(path)).get(name)
    if not callable(function):
        raise InvalidArgument(f"{path} has no function {name}")
    return function


def _run_file(path: Path) -> dict[str, Any]:
    """Return the names of a file, which can import its neighbors as if it were run by itself."""
    reason = "it cannot be read"
    if path.is_file():
        sys.path.insert(0, str(path.parent.absolute()))
        try:
            return runpy.run_path(str(path), run_name=path.stem)  # its text, never its byte code
        except Exception as error:  # of any kind: it is not our program
            reason = f"it raises {type(error).__name__}. Run it by itself to see where"
        finally:
            sys.path.pop(0)
    raise UnreadableFile(f"{path} does not run: {reason}")


def check_place(record: Path, program: str) -> None:
    """Raise if a record would take the place of the program.

    Raises:
        InvalidArgument: if it would.
    """
    if record.absolute() == Path(program.rpartition(":")[0]).absolute():
        raise InvalidArgument(f"the record would take the place of the program {record}")


def read_universe(text: str | None, file: Path | None, *, private: bool) -> list[object]:
    """Return the records of which datasets are made: from the command line, or from a file that is private.

    Raises:
        InvalidArgument: if there are none, or both, or a file is not said to be private.
        UnreadableFile: if the file cannot be read.
    """
    if (text is None) == (file is None):
        raise InvalidArgument("make records up and give them as --universe A,B,C")
    if text is not None:
        return _split_records(text)
    if not private:
        raise InvalidArgument(
            "an audit of records of people is as private as they are: add --private, or make records up "
            "and give them as --universe A,B,C"
        )
    try:
        lines = Path(file or "").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        pass
    else:
        return [*map(_entry, dict.fromkeys(lines))]  # by their text: true is not 1
    raise UnreadableFile(f"{file} cannot be read as text")


def _split_records(text: str) -> list[object]:
    """Return the records of a JSON list, or of words between commas: numbers where they read as such."""
    if text.lstrip().startswith("["):
        try:
            records: list[object] = json.loads(text)
        except ValueError:
            pass
        else:
            return records
        raise InvalidArgument("--universe is not a list in JSON")
    return [*map(_entry, text.split(","))]


def _entry(word: str) -> object:
    """Return a number in JSON as such, and any other word as text."""
    try:
        entry = json.loads(word)
    except ValueError:
        return word.strip()
    return entry if isinstance(entry, int | float | str) else word.strip()
