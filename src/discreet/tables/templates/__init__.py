"""Pages and reports in HTML, from templates in which all text is escaped and all messages translated."""

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ...base.messages import gettext, language_tag, translate


def render_template(template: str, **parts: Any) -> str:
    """Return the text of a template."""
    return _environment().get_template(template).render(**parts)


def visible(text: object) -> object:
    """Return a text in which every character can be seen: others could reorder or hide their neighbours."""
    if not isinstance(text, str) or isinstance(text, Markup) or text.isprintable():
        return text
    return "".join(letter if _is_visible(letter) else f"[U+{ord(letter):X}]" for letter in text)


def _is_visible(letter: str) -> bool:
    return letter.isprintable() or letter == "\n"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__name__, "."), autoescape=True, undefined=StrictUndefined,
        finalize=visible, trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.do"],
    )  # fmt: skip
    environment.filters["translate"] = translate
    environment.filters["exactly"] = escape  # for an attribute, as it is: what a form sends back
    environment.globals.update(_=gettext, language_tag=language_tag)
    return environment
