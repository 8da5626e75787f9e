"""Texts in parts, written in the language of the reader by catalogues of messages.

The source is English. A catalogue is one file of gettext's form, `locale/zh.po`; a language more is a file more.
A wheel has them compiled, `locale/zh.mo`. A checkout reads the `.po` by polib, or what its installation compiled.
Guarantees, amounts and audits state themselves in messages, so `translate` writes all of them. Errors and
warnings are in English only.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache, reduce
from numbers import Number
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from gettext import NullTranslations

LOCALE = os.path.join(os.path.dirname(__file__), "locale")
"""The folder of the catalogues, which are called after the codes of their languages."""

SOURCE = "en"
"""The language of the messages themselves."""

_language: ContextVar[str] = ContextVar("language", default=SOURCE)


class Message(str):
    """A text in English that keeps its parts, so that it can be written in other languages.

    Attributes:
        template: the text with the names of its parts in braces. Without parts, it is the text itself.
        context: distinguishes two messages with one template. Empty for most.
        parts: the parts by their names: numbers, and texts that may be messages themselves.
        forms: of a number of things, the templates for one and for several.
    """

    template: str
    context: str
    parts: dict[str, object]
    forms: tuple[str, str] | None = None

    def __new__(cls, template: str, context: str = "", /, **parts: object) -> "Message":
        """Fill the template in with parts."""
        texts: dict[str, object] = {
            name: p if isinstance(p, Number) else str(p) for name, p in parts.items()
        }
        message = super().__new__(cls, template.format(**texts) if texts else template)
        message.template, message.context, message.parts = template, context, texts
        return message

    def __str__(self) -> "Message":
        return self

    def fill(self, **parts: object) -> "Message":
        """Return the message with its parts, of a template that stands in a table."""
        return Message(self.template, self.context, **parts)

    def __getnewargs_ex__(self) -> tuple[tuple[str, str], dict[str, object]]:
        return (self.template, self.context), self.parts


def plural(one: str, several: str, count: int) -> Message:
    """Return a number of things in words; catalogues have as many forms as their languages."""
    message = Message(one if count == 1 else several, count=count)
    message.forms = one, several
    return message


AND, OR = Message("{first}, {then}"), Message("{first} or {then}")
BOTH, SUM = Message("{first} and {then}"), Message("{first} + {then}")
"""How `joined` puts two texts together."""


def join(pair: Message, texts: Iterable[object]) -> str:
    """Return several texts as one, two by two; "" if there are none."""
    present = [text for text in map(str, texts) if text]
    return reduce(lambda first, then: pair.fill(first=first, then=then), present or [""])


def translate(speaker: object) -> str:
    """Return the text of an object in the language of the reader; English where a catalogue lacks it."""
    text = str(speaker)
    if not isinstance(text, Message) or not text:
        return text
    parts = {name: p if isinstance(p, Number) else translate(p) for name, p in text.parts.items()}
    template = _template(text)
    return template.format(**parts) if parts else template


def gettext(template: str, context: str = "", /, **parts: object) -> str:
    """Return a message in the language of the reader."""
    return translate(Message(template, context, **parts))


def _template(message: Message) -> str:
    """Return the template of a message in the language of the reader."""
    words = catalogue(current_language())
    if message.forms is not None:
        return words.ngettext(*message.forms, message.parts["count"])  # type: ignore[arg-type]
    if message.context:
        return words.pgettext(message.context, message.template)
    return words.gettext(message.template)


def current_language() -> str:
    """Return the code of the language that is written now."""
    return _language.get()


@contextmanager
def using_language(code: str) -> Iterator[None]:
    """Write in another language meanwhile, in this thread or task alone."""
    before = _language.set(code)
    try:
        yield
    finally:
        _language.reset(before)


def set_language(code: str) -> None:
    """Write in a language from now on, in this thread or task alone."""
    _language.set(code)


def languages() -> tuple[str, ...]:
    """Return the codes of all languages: English, and those of the catalogues."""
    names = map(os.path.splitext, os.listdir(LOCALE))
    return (SOURCE, *sorted({code for code, ending in names if ending in (".mo", ".po")}))


def preferred_language(environment: Mapping[str, str] = os.environ) -> str:
    """Return the language of the user's locale, as gettext reads it, or English if there is no catalogue for it."""
    settings = (environment.get(name) for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"))
    code_of_locale = next(filter(None, settings), "").split(":")[0].partition(".")[0]
    codes = languages()
    return next(
        (code for code in (code_of_locale, code_of_locale.partition("_")[0]) if code in codes),
        SOURCE,
    )


def language_tag() -> str:
    """Return the language that is written now as HTML has it: zh-Hans."""
    return catalogue(current_language()).info().get("language", SOURCE).replace("_", "-")


@cache
def catalogue(code: str) -> "NullTranslations":
    """Return the messages of a language; for English, and for a message that is missing, the message itself."""
    from gettext import GNUTranslations, NullTranslations

    try:
        return GNUTranslations(_compiled(code))
    except FileNotFoundError:  # English, or a checkout that was neither installed nor has polib
        return NullTranslations()


def _compiled(code: str) -> BinaryIO:
    """Return the catalogue of a language as gettext reads it, compiled from the text where that is there."""
    from io import BytesIO

    path = os.path.join(LOCALE, code)
    if os.path.exists(f"{path}.po"):
        with suppress(ImportError):
            from polib import pofile

            return BytesIO(pofile(f"{path}.po").to_binary())
    with open(f"{path}.mo", "rb") as file:
        return BytesIO(file.read())
