"""discreet.toml: the datasets, the ledger, the questions and the analysts that an owner declares. Format: docs."""

import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ...base.arguments import exact_text
from ...base.numbers import exact, spell
from ...base.text_tables import TextTable
from ...base.warning import warn
from ...errors import InvalidDescription, UnknownName, preview
from ...privacy.sensitivity import unit_in_words
from ..verb_table import use_of
from .databases import PASSWORD, holds_password
from .dataset import Dataset
from .dataset_terms import check_question
from .declarations import KeyPath, Mistakes, at_place, few, nearest, wrong
from .keys import Kind, choice_of
from .model import DOCUMENT
from .sources import found_path, read_source
from .value_lists import cells_of

FILE = "discreet.toml"
_MOST_BYTES, _LONGEST_REASON, _MOST_REASONS = 2**24, 200, 20
VARIABLE = "DISCREET_CONFIG"

_SERVING = ("answers_after", "longest", "delay_resets", "max_failures")
"""The keys of a dataset that are the service's alone: no part of its description, nor of its digest."""


@dataclass(frozen=True, slots=True, repr=False)
class Configuration:
    """The declarations of a file. Public.

    Attributes:
        path: the file.
        ledger: the path or the URL of the ledger, or None.
        datasets: the described datasets by name.
        budgets: the terms of their budgets, as `Ledger.open` takes them; only of those that declare one.
        questions: the named questions of every dataset: the verb and its arguments.
        analysts: the declarations about every analyst.
        server: the declarations about the service.
        serving: those about every dataset: when answers about it leave, and how long a question may compute.
    """

    path: Path
    ledger: str | None
    datasets: Mapping[str, Dataset]
    budgets: Mapping[str, Mapping[str, Any]]
    questions: Mapping[str, Mapping[str, Mapping[str, Any]]]
    analysts: Mapping[str, Mapping[str, Any]]
    server: Mapping[str, Any]
    serving: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def analyst(self, name: object) -> Mapping[str, Any]:
        """Return the declaration of an analyst.

        Raises:
            UnknownName: if there is none of that name.
        """
        text = exact_text(name)
        if text is not None and text in self.analysts:
            return self.analysts[text]
        raise UnknownName(f"{self.path} has no analyst {preview(name)}; add [analysts.NAME]")

    def dataset(self, name: object) -> Dataset:
        """Return a described dataset.

        Raises:
            UnknownName: if there is none of that name.
        """
        text = exact_text(name)
        if text is not None and text in self.datasets:
            return self.datasets[text]
        names = few(self.datasets) or "none"
        raise UnknownName(
            f"{self.path} describes no dataset {preview(name)}{nearest(name, self.datasets)}. It "
            f"describes {names}"
        )

    def rows(self) -> TextTable:
        """Return the datasets with their budgets and questions as a table."""
        rows = tuple(
            (name, f"{len(one.columns):,}", unit_in_words(one.privacy_unit or "row"), self._budget_in_words(name),
             ", ".join(self.questions[name]))
            for name, one in self.datasets.items()
        )  # fmt: skip
        caption = f"{self.path}: ledger {self.ledger or 'none'}; analysts {', '.join(self.analysts) or 'none'}"
        return TextTable(("dataset", "columns", "one record", "budget", "questions"), rows, caption)

    def _budget_in_words(self, name: str) -> str:
        """Return the declared budget of a dataset in words."""
        terms = self.budgets.get(name, {})
        return ", ".join(f"{key} {value}" for key, value in terms.items()) or "none"

    def _repr_html_(self) -> str:
        return self.rows().html()

    def __repr__(self) -> str:
        return f"Configuration({str(self.path)!r}: {', '.join(self.datasets)})"


def find_configuration() -> Path | None:
    """Return the file that DISCREET_CONFIG names, or the nearest discreet.toml from here upwards; None without one.

    Raises:
        InvalidDescription: if DISCREET_CONFIG names no file.
    """
    path = os.environ.get(VARIABLE)
    if path:
        if Path(path).is_file():
            return Path(path)
        raise InvalidDescription(f"{VARIABLE} names {path}, and there is no such file")
    here = Path.cwd()
    # A link that leads nowhere is an error, and not passed over: its datasets have budgets.
    return next((at / FILE for at in (here, *here.parents) if os.path.lexists(at / FILE)), None)


def read_configuration(path: Path) -> Configuration:
    """Return the configuration of a file.

    Raises:
        InvalidDescription: if anything in it cannot be accepted; the message has the file, the line and the fix.
    """
    text = _read_whole_file(path)
    try:
        return read_document(_parse_toml(text, path), path)
    except InvalidDescription as error:
        failure = _add_line(error, path, text)
    raise failure


def _parse_toml(text: str, path: Path) -> dict[str, Any]:
    """Return the values of a text."""
    try:
        return read_toml(f"{text}\n")  # without it the parser names no line, but the end
    except ValueError as error:
        message = " ".join(str(error).split())[:_LONGEST_REASON]
    if message.startswith(("Cannot overwrite", "Cannot declare", "Cannot mutate")):
        message += ": a name is given twice. Keep one of them"
    if message.startswith("Exceeds the limit"):
        message = "a number in it has thousands of digits"
    raise InvalidDescription(f"it is not TOML: {message}")


def _add_line(error: InvalidDescription, path: Path, text: str) -> InvalidDescription:
    """Return the error with the file, and every mistake with its line."""
    others = error.others[: _MOST_REASONS - 1]
    by_line = sorted(
        ((line_of(text, one.place), one) for one in (error, *others)), key=lambda pair: pair[0] or 0
    )
    reasons = [f"{path}{'' if line is None else f', line {line}'}: {one}" for line, one in by_line]
    more = len(error.others) - len(others)
    failure = InvalidDescription("\n".join(reasons) + (f"\nand {more:,} more" if more else ""))
    failure.place, failure.reason = by_line[0][1].place, by_line[0][1].reason
    return failure


def _read_whole_file(path: Path) -> str:
    """Return the text of a regular file of moderate length; others may have no end."""
    try:
        reason = _find_fault(path)
        if reason is None:
            return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        reason = error.strerror
    except ValueError:  # of its bytes, or of its name
        reason = "it is not UTF-8"
    raise InvalidDescription(f"{path} cannot be read: {reason}")


def _find_fault(path: Path) -> str | None:
    """Return why a file is not read, though it is there."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        return "it is not a regular file"
    return f"it has more than {_MOST_BYTES:,} bytes" if status.st_size > _MOST_BYTES else None


def read_document(content: dict[str, Any], path: Path) -> Configuration:
    """Return the configuration for the tables of a file.

    Raises:
        InvalidDescription: if something in them cannot be accepted.
    """
    document, folder = DOCUMENT.read(content, ()), path.absolute().parent
    tables, analysts = document["datasets"], document.get("analysts", {})
    mistakes, ledger = Mistakes(), document.get("ledger")
    datasets: dict[str, Dataset] = {}
    with mistakes.collect():
        ledger = _find_ledger(ledger, folder)
    for name, table in tables.items():
        with mistakes.collect():
            datasets[name] = _make_dataset(name, table, folder)
            _check_questions(datasets[name], table, name)
    dataset_name = choice_of(tables)
    for name, table in analysts.items():
        with mistakes.collect():
            _check_analyst(name, table, dataset_name)
    mistakes.check()
    configuration = Configuration(
        path,
        ledger,
        MappingProxyType(datasets),
        {name: _budget_terms(table) for name, table in tables.items() if "budget" in table},
        {name: table.get("questions", {}) for name, table in tables.items()},
        analysts,
        document.get("server", {}),
        {
            name: {key: table[key] for key in _SERVING if key in table}
            for name, table in tables.items()
        },
    )
    for doubt in _doubts(configuration):
        warn(f"{path}: {doubt}")
    return configuration


def _doubts(configuration: Configuration) -> Iterator[str]:
    """Yield questions and shares of which no budget can pay even the first."""
    budgets = {name: terms.get("epsilon") for name, terms in configuration.budgets.items()}
    dear = [
        (f"datasets.{name}.questions.{access}.epsilon", question.get("epsilon"), name)
        for name, questions in configuration.questions.items()
        for access, question in questions.items()
    ]
    dear += [
        (f"analysts.{analyst}.share.epsilon", about.get("share", {}).get("epsilon"), name)
        for analyst, about in configuration.analysts.items()
        for name in about["datasets"]
    ]
    for place, epsilon, name in dear:
        budget = budgets.get(name)
        if budget is not None and epsilon is not None and exact(epsilon, place) > budget:
            yield (
                f"{place} is {spell(exact(epsilon, place))}, above the budget of {name}, {spell(budget)}: it "
                "can never be paid"
            )


def _find_ledger(where: str | None, folder: Path) -> str | None:
    """Return the path or the URL of the ledger, found from the folder of the file."""
    if where is None:
        return None
    if "://" not in where:
        return found_path(where, folder, ("ledger",))
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        has_password = holds_password(make_url(where))
    except (ArgumentError, ValueError):
        return where  # the ledger says what is wrong with it
    if has_password:
        raise wrong(("ledger",), PASSWORD)
    return where


def _make_dataset(name: str, table: Mapping[str, Any], folder: Path) -> Dataset:
    """Return a dataset."""
    place = ("datasets", name)
    source = read_source(table, folder, place)
    unit, most = table.get("privacy_unit"), table.get("max_contributions")
    columns = table["columns"]
    return at_place(
        place,
        partial(Dataset, source, columns, privacy_unit=unit, max_contributions=most, name=name),
    )


def _budget_terms(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the terms of the budget of a dataset, as `Ledger.open` takes them."""
    budget = {"per" if key == "period" else key: term for key, term in table["budget"].items()}
    rules = {"oversubscribed": table["oversubscribed"]} if "oversubscribed" in table else {}
    return budget | rules


def _check_questions(dataset: Dataset, table: Mapping[str, Any], name: str) -> None:
    """Raise unless the named questions fit their dataset; the verbs check their other arguments."""
    mistakes = Mistakes()
    for access, question in table.get("questions", {}).items():
        place, verb = ("datasets", name, "questions", access), question["verb"]
        asks = use_of(verb)
        with mistakes.collect():
            if "column" in question:
                _check_declared(dataset, question["column"], (*place, "column"))
            if asks != "statement":  # of which the verb knows all
                at_place(place, partial(check_question, dataset, verb, asks, question))
    mistakes.check()


def _check_declared(dataset: Dataset, column: object, place: KeyPath) -> None:
    """Raise unless a column is declared, or all columns of cells."""
    cells = cells_of(column)
    try:
        for one in [column] if cells is None else cells.columns:
            dataset.column(one)
    except LookupError as error:
        message = str(error)
    else:
        return
    raise wrong(place, message)


def _check_analyst(name: str, table: Mapping[str, Any], dataset_name: Kind) -> None:
    """Raise unless the datasets of an analyst are described, and a question may cost something."""
    for one in table["datasets"]:
        dataset_name.read(one, ("analysts", name, "datasets"))
    if table.get("max_delta", 0) >= 1:
        raise wrong(("analysts", name, "max_delta"), "delta must be below one")
    least, most = table.get("min_epsilon"), table.get("max_epsilon")
    if least is not None and most is not None and least > most:
        raise wrong(
            ("analysts", name, "min_epsilon"),
            f"it is above max_epsilon, {spell(most)}, so no free question could be asked",
        )


_MOST_TRIED = 2**22
"""So many characters are parsed in vain to find the ends of statements; where it takes more no line is found."""

_CLOSES = re.compile("[\\]}]|\"\"\"|'''")
"""What is in the last line of a statement of several."""


def read_toml(text: str) -> dict[str, Any]:
    """Return the values of a TOML file; numbers with a point are decimals, so that 0.1 is one tenth.

    Raises:
        ValueError: if it is none, or nested too deeply, or a number in it has too many digits.
    """
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except RecursionError:
        pass
    raise ValueError("it is nested too deeply")


def line_of(text: str, place: KeyPath) -> int | None:
    """Return the line where the statement of a place begins; if it is missing, that of the table it belongs to."""
    statements = _statements(text)
    while place and statements:
        for line, values in statements:
            if _has(values, place):
                return line
        place = place[:-1]
    return None


def _statements(text: str) -> list[tuple[int, dict[str, Any]]]:
    """Return the statements of a file, as their first lines and their values; none if too long.

    A statement is the least number of lines that is a file of its own. The keys after a table's name are in it.
    """
    lines, start, characters = text.split("\n"), 0, 0
    statements: list[tuple[int, dict[str, Any]]] = []
    table: list[str] = []
    while start < len(lines):
        end = start + 1
        while (values := _alone(lines[start:end])) is None:
            characters += sum(map(len, lines[start:end]))
            end = (
                next(
                    (line for line in range(end, len(lines)) if _CLOSES.search(lines[line])),
                    len(lines),
                )
                + 1
            )
            if end > len(lines) or characters > _MOST_TRIED:
                return []
        if lines[start].lstrip().startswith("["):
            table = list(_keys(values))
        elif values:
            values = _within(table, values)
        statements += [(start + 1, values)] if values else []
        start = end
    return statements


def _alone(lines: list[str]) -> dict[str, Any] | None:
    """Return the values of some lines, or None if they are no file of their own."""
    try:
        return read_toml("\n".join(lines) + "\n")
    except ValueError:
        return None


def _keys(values: Any) -> Iterator[str]:
    """Yield the keys that lead to a table that is named alone."""
    while isinstance(values, dict) and values:
        [(key, values)] = values.items()
        yield key


def _within(table: list[str], values: dict[str, Any]) -> dict[str, Any]:
    for key in reversed(table):
        values = {key: values}
    return values


def _has(values: Any, place: KeyPath) -> bool:
    for key in place:
        if not isinstance(values, dict) or key not in values:
            return False
        values = values[key]
    return True
