"""What we promise between versions, as one stored list: `python -m tests.promises` writes it, on purpose.

docs/reference/stability.md says what each part of the list means.
"""

import inspect
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tools.stored_help import stored_commands
from tools.toml_reference import TABLES

from discreet import errors
from discreet.cli.exit_codes import EXIT_CODES
from discreet.tables.datasets.model import keys_of
from discreet.tables.verb_table import VERBS

from .public_names import PATHS, public

GOLDEN = Path(__file__).parent / "golden"
STORED = GOLDEN / "promises.json"


def names() -> Iterator[str]:
    """Yield the public names, errors, and members of classes, with the parameters of functions."""
    for name, path in PATHS.items():
        yield from _signed(path, public(name))
    yield from (
        f"discreet.errors.{name}" for name, one in vars(errors).items() if inspect.isclass(one)
    )


def _signed(path: str, value: object) -> Iterator[str]:
    """Yield a name with the parameters of its function, or with the members of its class."""
    yield f"{path}{_parameters(value)}" if inspect.isroutine(value) else path
    ours = [kind for kind in getattr(value, "__mro__", ()) if kind.__module__[:8] == "discreet"]
    for name in sorted({name for kind in ours for name in vars(kind) if not name.startswith("_")}):
        member = getattr(value, name)
        is_function = inspect.isfunction(member) or inspect.ismethod(member)
        yield f"{path}.{name}{_parameters(member) if is_function else ''}"


def _parameters(function: Any) -> str:
    """Return the parameters of a function with their defaults, and without types."""
    whole = inspect.signature(function)
    bare = [
        one.replace(
            annotation=one.empty, default="..." if inspect.isfunction(one.default) else one.default
        )
        for one in whole.parameters.values()
    ]
    return str(whole.replace(parameters=bare, return_annotation=whole.empty))


def options() -> Iterator[str]:
    """Yield the commands with their options."""
    for command, one in stored_commands().items():
        yield f"discreet {command}".strip()
        yield from (
            f"discreet {command} {name}".replace("  ", " ")
            for option in one["options"]
            for name in option["names"]
        )


def keys() -> Iterator[str]:
    """Yield the keys of discreet.toml by their tables, and the arguments of questions by their verbs."""
    for table, described in TABLES.items():
        yield from (f"{table}: {key}" for key in described.keys)
    for verb in VERBS:
        yield from (f"question {verb}: {key}" for key in keys_of(verb))


def routes() -> Iterator[str]:
    """Yield the routes of the service, of the document that tests/service/http/test_openapi.py compares with it."""
    document = json.loads((GOLDEN / "openapi.json").read_text(encoding="utf-8"))
    for path, methods in document["paths"].items():
        yield from (f"{method.upper()} {path}" for method in methods)


def exit_codes() -> Iterator[str]:
    """Yield the exit codes with the names of their errors."""
    for one in EXIT_CODES:
        yield f"{one.code} {' '.join(error.__name__ for error in one.errors)}".strip()


PROMISES: dict[str, Callable[[], Iterator[str]]] = {
    "names": names,
    "options": options,
    "keys": keys,
    "routes": routes,
    "exit codes": exit_codes,
}


if __name__ == "__main__":
    found = {part: sorted(of()) for part, of in PROMISES.items()}
    STORED.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
