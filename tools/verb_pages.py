"""Writes docs/reference/verbs/: a page for each group of verbs. `make verbs`; a test compares them.

What a reader asks, the example and where to read on are in verbs.toml there; the rest is taken from the source.
"""

import contextlib
import inspect
import io
import os
import posixpath
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import discreet
from discreet.cli.application import build_app
from discreet.tables.verb_table import VERBS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FOLDER = DOCS / "reference" / "verbs"
_HEAD = "<!-- written by `make verbs`, from verbs.toml and the source -->"
_PROMISE = "[The promise in full](../../explanation/privacy.md) holds for each."


def document() -> dict[str, Any]:
    """Return what verbs.toml says of each page."""
    return tomllib.loads((FOLDER / "verbs.toml").read_text(encoding="utf-8"))


def verbs() -> dict[str, Any]:
    """Return what verbs.toml says of each verb."""
    return {name: about for page in document().values() for name, about in page["verbs"].items()}


def page_of(about: Mapping[str, Any], outputs: Mapping[str, str]) -> str:
    """Return a page; `outputs` has what the example of each verb prints."""
    sections = [section_of(name, each, outputs[name]) for name, each in about["verbs"].items()]
    return "\n".join([f"# {about['title']}\n\n{_HEAD}\n\n{about['intro']} {_PROMISE}\n", *sections])


def section_of(name: str, about: Mapping[str, Any], output: str) -> str:
    """Return the section of a verb; `output` is what its example prints."""
    install = f"```sh\npip install '{about['install']}'\n```\n\n" if "install" in about else ""
    example = f"{install}```python\n{about['example'].lstrip()}```\n```output\n{output}```\n"
    parts = [
        f"## {name}", f"*{about['question']}* {_summary(name)}", example.rstrip(),
        *_paragraphs(name, about), _arguments(name),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _arguments(name: str) -> str:
    """Return what shows the signature and the docstring: of the module, as the stub has overloads only."""
    path = f"{getattr(discreet, name).__module__}.{name}"
    return f"::: {path}\n    options: {{ show_root_full_path: false }}"


def _summary(name: str) -> str:
    """Return the first paragraph of the docstring."""
    paragraph = (inspect.getdoc(getattr(discreet, name)) or "").split("\n\n")[0]
    return paragraph.replace("\n", " ")


def _paragraphs(name: str, about: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is promised, the command, the key of discreet.toml, and where to read on."""
    promises = [
        _link(f"reference/{folder}/{about[key]}")
        for key, folder in (("score", "scores"), ("mechanism", "mechanisms"))
        if key in about
    ]
    if "mechanism" in inspect.signature(getattr(discreet, name)).parameters:
        promises.append(_link("reference/mechanisms/exponential.md"))
    yield f"**What is promised, and why:** {', '.join(promises or [_link('explanation/privacy.md')])}."
    command, places = name.replace("_", "-"), []
    if command in {one.name for one in build_app().registered_commands}:
        places.append(f"`discreet {command}` on [the command line](../command_line.md)")
    if name in VERBS:
        places.append(f'`verb = "{name}"` in [discreet.toml](../discreet_toml.md)')
    if places:
        yield f"**Elsewhere:** {', '.join(places)}."
    yield f"**See also:** {', '.join(map(_link, about['see']))}."


def _link(target: str) -> str:
    """Return a link to a page, named by its title, or to a section, named by its anchor."""
    page, _, section = target.partition("#")
    file = DOCS / page
    title = section or file.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
    return f"[{title}]({posixpath.relpath(target, 'reference/verbs')})"


def printed(example: str) -> str:
    """Return what an example prints, in the folder of the project."""
    stdout = io.StringIO()
    with contextlib.chdir(ROOT), contextlib.redirect_stdout(stdout):
        exec(compile(example, "<example>", "exec"), {"__name__": "__main__"})
    return stdout.getvalue()


def main() -> None:
    """Write the pages."""
    os.environ["LANGUAGE"] = "en"
    for page, about in document().items():
        outputs = {name: printed(each["example"]) for name, each in about["verbs"].items()}
        (FOLDER / f"{page}.md").write_text(page_of(about, outputs), encoding="utf-8")


if __name__ == "__main__":
    main()
