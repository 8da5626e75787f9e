"""The form of a file in the words of Frictionless: the dialect and the encoding of a resource."""

import os
from collections.abc import Mapping
from typing import Any

from ...formats.text_form import CsvFile, scan_csv, text_form
from ..declarations import KeyPath, at_place, read_mapping, wrong
from .properties import Rule, accept, check_properties, only

_OUR_WORDS = {
    "delimiter": "delimiter",
    "quoteChar": "quote",
    "escapeChar": "escape",
    "skipInitialSpace": "skip_initial_space",
    "commentChar": "comment",
    "sheetName": "sheet",
}
"""Our words for theirs."""

_PLACE_OF_DIALECT = ("resources", "1", "dialect")


def _header_rows(rows: Any, beside: Mapping[str, Any]) -> str | None:
    """Accept one row of names, by its number."""
    if isinstance(rows, list) and len(rows) == 1 and type(rows[0]) is int and rows[0] > 0:
        return None
    return (
        "names are in one row here, such as [1]: say header false, and give the names in the fields"
    )


def _double_quote(is_doubled: Any, beside: Mapping[str, Any]) -> str | None:
    """Accept quotes that are doubled, or else an escape in their place."""
    if is_doubled is ("escapeChar" not in beside):
        return None
    return "two quotes are one inside quotes, or there is an escapeChar: keep one of the two"


def _escape(sign: Any, beside: Mapping[str, Any]) -> str | None:
    """Accept an escape where two quotes are not one."""
    if beside.get("doubleQuote") is False:
        return None
    return "with it two quotes are not one: say doubleQuote false, too, or delete it"


DIALECT: Mapping[str, Rule] = {
    **dict.fromkeys((*_OUR_WORDS, "$schema", "title", "description", "csvddfVersion"), accept),
    "header": only([True, False], "it must be true or false"),
    "headerRows": _header_rows,
    "doubleQuote": _double_quote,
    "escapeChar": _escape,
    "lineTerminator": only(["\r\n", "\n", "\r"], "lines end with LF, CR or both: delete it"),
    "caseSensitiveHeader": only(
        [True],
        "names are compared letter by letter: delete it, and write the fields as in the header",
    ),
}
"""The properties of a dialect, of both versions of the standard."""


def form_of_resource(resource: Mapping[str, Any], place: KeyPath) -> dict[str, Any]:
    """Return the words for the form of the file of a resource: those that it says.

    Raises:
        InvalidDescription: if they say no form.
    """
    dialect = read_mapping(resource.get("dialect", {}), (*place, "dialect"))
    check_properties(dialect, DIALECT, (*place, "dialect"))
    words = {ours: dialect[theirs] for theirs, ours in _OUR_WORDS.items() if theirs in dialect}
    if "headerRows" in dialect:
        words["skip"] = dialect["headerRows"][0] - 1
    if dialect.get("header") is False:
        fields = read_mapping(resource.get("schema", {}), (*place, "schema")).get("fields", [])
        words["names"] = [field.get("name") for field in fields if isinstance(field, Mapping)]
    if "encoding" in resource:
        at_place((*place, "encoding"), lambda: text_form(encoding=resource["encoding"]))
        words["encoding"] = resource["encoding"]
    at_place((*place, "dialect"), lambda: text_form(**words))
    return words if text_form(**words).given != {"encoding": "utf-8"} else {}


def in_form_of_resource(source: Any, words: Mapping[str, Any]) -> Any:
    """Return the data in the form of their resource.

    Raises:
        InvalidDescription: if they are no files, or have a form already.
    """
    if not words:
        return source
    if isinstance(source, CsvFile):
        raise wrong(_PLACE_OF_DIALECT, "the source has a form of its own: delete one of the two")
    if isinstance(source, str | os.PathLike):
        return scan_csv(source, **words)
    if isinstance(source, list | tuple) and all(
        isinstance(one, str | os.PathLike) for one in source
    ):
        return [scan_csv(one, **words) for one in source]
    raise wrong(_PLACE_OF_DIALECT, "it is of a file, and the data are none: delete it")
