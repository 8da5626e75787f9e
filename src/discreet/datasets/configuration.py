"""discreet.toml: the datasets, the ledger, the questions and the analysts that an owner declares. Format: docs."""

import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..arguments import exact_text
from ..errors import InvalidArgument, InvalidDescription, UnknownName, shown
from ..numbers import exact, positive, spell
from ..privacy.sensitivity import read_neighbors
from ..privacy.units import unit_in_words
from ..text_tables import TextTable
from ..warning import warn
from .connections import holds_password
from .dataset import Dataset
from .declarations import (
    KeyPath,
    few,
    nearest,
    read_list,
    read_mapping,
    read_table,
    read_text,
    refuse_to_fill_in,
    told,
    wrong,
)
from .declared_terms import Asks, check_question
from .lines import line_of, read_toml
from .locations import found_path, read_source

FILE = "discreet.toml"
_LONGEST, _TOLD = 2**24, 200
VARIABLE = "DISCREET_CONFIG"

TOP = ("ledger", "datasets", "server", "analysts")
DATASET = (
    "source", "delimiter", "names", "connection", "query", "table", "privacy_unit", "max_contributions", "budget",
    "oversubscribed", "columns", "questions", "title", "description",
)  # fmt: skip
SHARE = ("epsilon", "rho", "delta", "neighbors")
BUDGET = (*SHARE, "per", "delta_for")
DELTA_FOR = ("questions", "composition")
"""What the delta of a budget may be for."""
PER = ("year", "quarter", "month")
"""The calendar periods for which a budget may be."""
SERVER = ("listen", "slot")
ANALYST = ("datasets", "share", "verbs", "largest_epsilon")

VERBS: Mapping[str, tuple[str, ...]] = {
    "mode": (),
    "top_k": ("k", "method"),
    "median": ("score",),
    "minimum": (),
    "maximum": (),
    "quantile": ("alpha",),
    "quantiles": ("alphas", "method"),
    "price": ("supply", "units", "continuous"),
    "check": (),
}
"""The verbs of questions about declared columns, and what each takes besides the terms of all."""

TERMS = (
    "candidates", "epsilon", "rho", "scale", "mechanism", "by", "groups", "max_groups", "max_contributions",
)  # fmt: skip
"""The terms of all verbs but those of `FEWER`, besides `size`."""

FEWER: Mapping[str, tuple[str, ...]] = {"check": ("epsilon", "max_contributions")}
"""The verbs that take fewer terms, and give one answer; and those that they take."""


def terms_of(verb: str) -> tuple[str, ...]:
    """Return the terms of a question with a verb, besides `size`."""
    return (*FEWER.get(verb, TERMS), *VERBS[verb])


def keys_of(verb: str) -> tuple[str, ...]:
    """Return what a named question with a verb may say."""
    several = () if verb in FEWER else ("size",)
    return ("verb", "column", *terms_of(verb), *several, "description")


@dataclass(frozen=True, slots=True, repr=False)
class Configuration:
    """What a file declares. Public.

    Attributes:
        path: the file.
        ledger: the path or the URL of the ledger, or None.
        datasets: the described datasets by name.
        budgets: the terms of their budgets, as `Ledger.open` takes them; only of those that declare one.
        questions: the named questions of each dataset: the verb and its arguments.
        analysts: what is declared about each analyst.
        server: what is declared about the service.
    """

    path: Path
    ledger: str | None
    datasets: Mapping[str, Dataset]
    budgets: Mapping[str, Mapping[str, Any]]
    questions: Mapping[str, Mapping[str, Mapping[str, Any]]]
    analysts: Mapping[str, Mapping[str, Any]]
    server: Mapping[str, Any]

    def analyst(self, name: object) -> Mapping[str, Any]:
        """Return what is declared about an analyst.

        Raises:
            UnknownName: if there is none of that name.
        """
        text = exact_text(name)
        if text is not None and text in self.analysts:
            return self.analysts[text]
        raise UnknownName(f"{self.path} has no analyst {shown(name)}; add [analysts.NAME]")

    def dataset(self, name: object) -> Dataset:
        """Return a described dataset.

        Raises:
            UnknownName: if there is none of that name.
        """
        text = exact_text(name)
        if text is not None and text in self.datasets:
            return self.datasets[text]
        known = few(self.datasets) or "none"
        raise UnknownName(
            f"{self.path} describes no dataset {shown(name)}{nearest(name, self.datasets)}; it describes {known}"
        )

    def rows(self) -> TextTable:
        """Return the datasets with their budgets and questions as a table."""
        rows = tuple(
            (name, f"{len(one.columns):,}", unit_in_words(one.privacy_unit or "row"), self._budget(name),
             ", ".join(self.questions[name]))
            for name, one in self.datasets.items()
        )  # fmt: skip
        told = f"{self.path}: ledger {self.ledger or 'none'}; analysts {', '.join(self.analysts) or 'none'}"
        return TextTable(("dataset", "columns", "one record", "budget", "questions"), rows, told)

    def _budget(self, name: str) -> str:
        """Return the declared budget of a dataset in words."""
        said = self.budgets.get(name, {})
        return ", ".join(f"{key} {value}" for key, value in said.items()) or "none"

    def _repr_html_(self) -> str:
        return self.rows().html()

    def __repr__(self) -> str:
        return f"Configuration({str(self.path)!r}: {', '.join(self.datasets)})"


def find_configuration() -> Path | None:
    """Return the file that DISCREET_CONFIG names, or the nearest discreet.toml from here upwards; None without one.

    Raises:
        InvalidDescription: if DISCREET_CONFIG names no file.
    """
    named = os.environ.get(VARIABLE)
    if named:
        if Path(named).is_file():
            return Path(named)
        raise InvalidDescription(f"{VARIABLE} names {named}, and there is no such file")
    here = Path.cwd()
    # A link that leads nowhere is an error, and not passed over: its datasets have budgets.
    return next((at / FILE for at in (here, *here.parents) if os.path.lexists(at / FILE)), None)


def read_configuration(path: Path) -> Configuration:
    """Return what a file declares.

    Raises:
        InvalidDescription: if anything in it cannot be accepted; the message has the file, the line and the fix.
    """
    text = _text(path)
    try:
        return read_document(_parsed(text, path), path)
    except InvalidDescription as error:
        failure = _at_line(error, path, text)
    raise failure


def _parsed(text: str, path: Path) -> dict[str, Any]:
    """Return the values of a text."""
    try:
        return read_toml(f"{text}\n")  # without it the parser names no line, but the end
    except ValueError as error:
        message = " ".join(str(error).split())[:_TOLD]
    if message.startswith(("Cannot overwrite", "Cannot declare", "Cannot mutate")):
        message += ": a name is given twice; keep one of them"
    if message.startswith("Exceeds the limit"):
        message = "a number in it has thousands of digits"
    raise InvalidDescription(f"it is not TOML: {message}")


def _at_line(error: InvalidDescription, path: Path, text: str) -> InvalidDescription:
    """Return the error with the file and the line."""
    line = line_of(text, error.place)
    told = InvalidDescription(f"{path}{'' if line is None else f', line {line}'}: {error}")
    told.place, told.reason = error.place, error.reason
    return told


def _text(path: Path) -> str:
    """Return the text of a regular file of moderate length; others may have no end."""
    try:
        refused = _unfit(path)
        if refused is None:
            return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        refused = error.strerror
    except ValueError:  # of its bytes, or of its name
        refused = "it is not UTF-8"
    raise InvalidDescription(f"{path} cannot be read: {refused}")


def _unfit(path: Path) -> str | None:
    """Return why a file is not read, though it is there."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        return "it is no regular file"
    return f"it has more than {_LONGEST:,} bytes" if found.st_size > _LONGEST else None


def read_document(given: dict[str, Any], path: Path) -> Configuration:
    """Return the configuration for the tables of a file.

    Raises:
        InvalidDescription: if something in them cannot be accepted.
    """
    top, folder = read_table(given, (), TOP), path.absolute().parent
    described = read_mapping(top.get("datasets", {}), ("datasets",))
    if not described:
        raise wrong(
            ("datasets",), "it describes no dataset; add [datasets.NAME] with source and columns"
        )
    tables = {name: read_table(one, ("datasets", name), DATASET) for name, one in described.items()}
    datasets = {name: _dataset(name, table, folder) for name, table in tables.items()}
    analysts = read_mapping(top.get("analysts", {}), ("analysts",))
    configuration = Configuration(
        path,
        _ledger(top.get("ledger"), folder),
        MappingProxyType(datasets),
        _budgets(tables),
        {
            name: _questions(datasets[name], t.get("questions", {}), name)
            for name, t in tables.items()
        },
        {name: _analyst(one, ("analysts", name), datasets) for name, one in analysts.items()},
        _server(top.get("server", {})),
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


def _ledger(given: object, folder: Path) -> str | None:
    """Return the path or the URL of the ledger, found from the folder of the file."""
    if given is None:
        return None
    where = read_text(given, ("ledger",))
    if "://" not in where:
        return found_path(where, folder, ("ledger",))
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        refused = holds_password(make_url(where))
    except (ArgumentError, ValueError):
        return where  # the ledger says what is wrong with it
    if refused:
        raise wrong(
            ("ledger",),
            "a description is public: leave the password out, and set PGPASSWORD or ~/.pgpass",
        )
    return where


def _dataset(name: str, table: dict[str, Any], folder: Path) -> Dataset:
    """Return a dataset."""
    place = ("datasets", name)
    for words in ("title", "description"):
        if words in table:
            read_text(table[words], (*place, words))
    if "columns" not in table:
        raise wrong(
            place,
            f"the columns are missing; declare each that may be asked about: [datasets.{name}.columns.NAME]",
        )
    source = read_source(table, folder, place)
    if "privacy_unit" in table:
        unit = table["privacy_unit"]
        for one in unit if isinstance(unit, list) else [unit]:
            read_text(one, (*place, "privacy_unit"))
    described: Dataset = _placed(
        place,
        lambda: Dataset(
            source,
            table["columns"],
            privacy_unit=table.get("privacy_unit"),
            max_contributions=table.get("max_contributions"),
            name=name,
        ),
    )
    return described


def _placed(place: KeyPath, work: Callable[[], Any]) -> Any:
    """Return what the work returns; its errors get the place."""
    try:
        return work()
    except InvalidDescription as error:
        failure = wrong((*place, *error.place), error.reason)
    except InvalidArgument as error:
        failure = wrong(place, str(error))
    raise failure


def _budgets(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the terms of the budgets of datasets."""
    budgets = {}
    for name, table in tables.items():
        place = ("datasets", name, "oversubscribed")
        rule = {key: table[key] for key in ("oversubscribed",) if key in table}
        if rule and not isinstance(rule["oversubscribed"], bool):
            raise wrong(place, "it must be true or false")
        if rule and "budget" not in table:
            raise wrong(place, "it goes with budget, which is missing")
        if "budget" in table:
            budgets[name] = {**_budget(table["budget"], ("datasets", name, "budget")), **rule}
    return budgets


def _budget(given: object, place: KeyPath, keys: Sequence[str] = BUDGET) -> dict[str, Any]:
    """Return the terms of a budget, or of a share of one."""
    table = read_table(given, place, keys)
    for name in ("epsilon", "rho", "delta"):
        if name in table:
            refuse_to_fill_in(table[name], (*place, name))
            table[name] = _placed((*place, name), lambda name=name: positive(table[name], name))  # type: ignore[misc]
    if ("epsilon" in table) == ("rho" in table) or ("delta" in table and "epsilon" not in table):
        raise wrong(place, "give a budget as epsilon, as rho, or as epsilon and delta")
    if "neighbors" in table:
        _placed((*place, "neighbors"), lambda: read_neighbors(table["neighbors"]))
    if "per" in table:
        table["per"] = _one_of(table["per"], PER, (*place, "per"))
    if "delta_for" in table:
        use = (*place, "delta_for")
        table["delta_for"] = _one_of(table["delta_for"], DELTA_FOR, use)
        if "delta" not in table:
            raise wrong(use, "it says what delta is for, and there is no delta")
    return table


def _questions(dataset: Dataset, given: object, name: str) -> dict[str, dict[str, Any]]:
    """Return the named questions about a dataset."""
    place = ("datasets", name, "questions")
    return {
        each: _question(dataset, one, (*place, each))
        for each, one in read_mapping(given, place).items()
    }


def _question(dataset: Dataset, given: object, place: KeyPath) -> dict[str, Any]:
    """Return a question: its verb, its column, and its other arguments, which the verb itself checks."""
    table = read_mapping(given, place)
    verb = _one_of(table.get("verb"), VERBS, (*place, "verb"))
    table = read_table(table, place, keys_of(verb))
    _placed((*place, "column"), lambda: _declared(dataset, table.get("column")))
    for key, value in table.items():
        refuse_to_fill_in(value, (*place, key))
    for key in ("epsilon", "rho", "scale"):
        if key in table:
            _placed((*place, key), lambda key=key: positive(table[key], key))  # type: ignore[misc]
    asks: Asks = "values" if verb in ("mode", "top_k") else "numbers"
    _placed(place, lambda: check_question(dataset, verb, asks, table))
    return table


def _declared(dataset: Dataset, column: object) -> None:
    try:
        dataset.column(column)
    except LookupError as error:
        message = str(error)
    else:
        return
    raise InvalidArgument(message)


def _one_of(given: object, known: Collection[str], place: KeyPath) -> str:
    """Return one of the known names."""
    text = exact_text(given)
    if text is not None and text in known:
        return text
    raise wrong(place, f"it must be one of {few(known)}, got {told(given)}{nearest(given, known)}")


def _analyst(given: object, place: KeyPath, datasets: Mapping[str, Dataset]) -> dict[str, Any]:
    """Return what is declared about an analyst."""
    table = read_table(given, place, ANALYST)
    for key, known in (("datasets", datasets), ("verbs", VERBS)):
        here = (*place, key)
        if key in table:
            table[key] = tuple(_one_of(one, known, here) for one in read_list(table[key], here))
    if not table.get("datasets"):
        raise wrong(place, "the datasets are missing; list those that the analyst may ask about")
    if "share" in table:
        table["share"] = _budget(table["share"], (*place, "share"), SHARE)
    if "largest_epsilon" in table:
        here = (*place, "largest_epsilon")
        table["largest_epsilon"] = _placed(
            here, lambda: positive(table["largest_epsilon"], "largest_epsilon")
        )
    return table


def _server(given: object) -> dict[str, Any]:
    """Return what is declared about the service."""
    table = read_table(given, ("server",), SERVER)
    return {key: read_text(value, ("server", key)) for key, value in table.items()}
