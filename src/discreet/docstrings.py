"""Docstrings: descriptions of arguments that functions share, read from one place and written into all."""

import inspect
import re
from collections.abc import Iterable, Mapping

_ENTRY = re.compile(r"^    (\*{0,2}\w+): (.*\n(?:(?: {5,}.*)?\n)*)", re.M)
_SECTION = r"^{}:\n((?:(?:    .*)?\n)*)"


def entries(docstring: str | None, section: str) -> dict[str, str]:
    """Return the descriptions in a section of a docstring, such as "Args", by name; none under `python -OO`."""
    match = re.search(_SECTION.format(section), _text(docstring), re.M)
    return {} if match is None else {m[1]: m[2].rstrip() for m in _ENTRY.finditer(match[1])}


def with_entries(
    docstring: str | None, shared: Mapping[str, str], names: Iterable[str] = ()
) -> str | None:
    """Return a docstring with shared descriptions in place of that of `**terms`.

    An argument that the docstring describes itself keeps that description.

    Args:
        docstring: the docstring, with a section of arguments.
        shared: descriptions by argument.
        names: the arguments in order; without it the own ones that are not shared come first.
    """
    args = re.search(_SECTION.format("Args"), _text(docstring), re.M)
    if docstring is None or args is None:
        return docstring
    own = entries(docstring, "Args")
    order = [*names, *(name for name in own if name not in shared and name[:2] != "**"), *shared]
    texts = {**shared, **own}
    lines = {name: texts[name] for name in order if name in texts}
    section = "".join(f"    {name}: {text}\n" for name, text in lines.items())
    text = _text(docstring)
    return text[: args.start(1)] + section + "\n" + text[args.end(1) :]


def _text(docstring: str | None) -> str:
    """Return a docstring without its indentation, and with an end of its last line."""
    return inspect.cleandoc(docstring or "") + "\n"
