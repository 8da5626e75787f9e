"""Commands that release an answer: their shared options, the ledger that is charged, and the output."""

import inspect
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ..base.messages import Message, translate
from ..errors import DiscreetError, InvalidArgument
from ..mechanisms.accuracy import NEEDS, ErrorBound
from ..selection.any_column import AnyColumn
from ..selection.releases import Release
from ..selection.shown_answers import SPREADS
from ..selection.terms import spelled_out
from ..selection.verb_calls import bill_of
from ..tables.datasets import Dataset
from ..tables.datasets.sources import list_files, place_of
from ..tables.datasets.tally import Place, entry_of, is_off, note, places_of_files
from ..tables.engines.csv_files import read_head
from ..tables.engines.progress import waiting
from ..tables.engines.records import PRIVATE_GROUPS
from ..tables.formats.file_paths import file_format, listed_files
from ..tables.formats.text_form import CsvFile, TextForm
from . import options
from .answer_output import check_report, say, show_release, write_report
from .described import (
    Data,
    columns_of_texts,
    described_data,
    grid_of,
    parse_values,
    values_of_columns,
    without_column,
)
from .inputs import in_form, is_copy, read_word, secret_text, table_file
from .json_output import print_either
from .shell_notes import is_new_here

if TYPE_CHECKING:
    from ..ledger import Quote, Session
    from ..selection.payment import Bill

_OPTIONS: dict[str, tuple[object, object]] = {
    "form": (options.FormatName, None),
    "csv": (options.CsvForm, None),
    "epsilon": (options.Epsilon, None),
    "rho": (options.Rho, None),
    "scale": (options.Scale, None),
    "mechanism": (options.NamedMechanism, None),
    "mechanism_option": (options.MechanismOptions, None),
    "neighbors": (options.NeighborsName, "add_remove"),
    "size": (options.Size, None),
    "privacy_unit": (options.PrivacyUnit, None),
    "max_contributions": (options.MaxContributions, None),
    "by": (options.ByColumn, None),
    "groups": (options.GroupNames, None),
    "max_groups": (options.MaxGroups, None),
    "groups_share": (options.GroupsShare, None),
    "most_drawn": (options.MostDrawn, None),
    "delta": (options.Delta, None),
    "where": (options.Where, None),
    "ledger": (options.LedgerAt, None),
    "dataset": (options.DatasetName, None),
    "analyst": (options.AnalystName, None),
    "request": (options.RequestName, None),
    "dry_run": (options.DryRun, False),
    "no_tally": (options.NoTally, False),
    "report": (options.ReportAt, None),
    "lang": (options.ReportLanguage, None),
    "as_json": (options.AsJson, False),
}

_GRID: dict[str, tuple[object, object]] = {
    "lo": (options.Lowest, None),
    "hi": (options.Highest, None),
    "step": (options.Step, None),
}

_OF_FILES = ("form", "csv")
"""The options of commands that read a table."""

_OF_ANSWERS = ("dataset", "analyst", "dry_run", "no_tally", "report", "lang", "as_json")
"""The options of all commands, also where a verb's own argument has that name."""

_ENVIRONMENT = (("ledger", "DISCREET_LEDGER"), ("dataset", "DISCREET_DATASET"))
"""What may be told to all commands at once. A description of the data is nearer."""

OpenInput = Callable[[str, str | None], AbstractContextManager[str]]
"""Opens what is named on the command line, in a format: yields what the command is called with."""


UNDESCRIBED_TEXT = Message(
    "note: values that are not numbers or candidates are ignored. Run discreet check to count them."
)
"""Said of every CSV file without a description, whatever its rows are."""

SEMICOLONS = Message(
    "note: semicolons separate the columns of this file. Numbers need a decimal point: 983.68 is read, 983,68 "
    "is read with --csv decimal=,."
)
"""Said beside it if the header shows semicolons, as in files of much of Europe."""


def _settings(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options by name, those that a command lacks as their defaults, and the groups as columns."""
    settings = {name: arguments.get(name, default) for name, (_, default) in _OPTIONS.items()}
    return {**settings, "by": columns_of_texts(settings["by"]) if settings["by"] else None}


def releasing(
    verb: Callable[..., Release],
    *,
    without: Collection[str] = (),
    open_input: OpenInput = table_file,
    grid: bool = False,
    note: Message | None = UNDESCRIBED_TEXT,
) -> Callable[[Callable[..., Release]], Callable[..., None]]:
    """Add the options of all releasing commands to a command, as far as its verb takes them.

    Their values are passed to the command as `terms`, the ledger among them. An option that the command has itself
    stays as it is.

    Args:
        verb: the verb that the command calls.
        without: options that the command does not have, though its verb takes them.
        open_input: opens its `data`: a table, scores, or a private value.
        grid: whether the answers are on a grid, which is passed as the term `candidates`.
        note: a sentence about every CSV file without a description, or None.
    """
    absent = {*without, *(() if open_input is table_file else _OF_FILES)}

    def wrap(command: Callable[..., Release]) -> Callable[..., None]:
        shared = (_GRID if grid else {}) | _options_of(verb, command, absent)

        def run(**arguments: Any) -> None:
            own = {name: value for name, value in arguments.items() if name not in shared}
            settings = _settings(arguments)
            terms = _terms(shared, settings)
            _check_report(settings)
            path = arguments["data"]
            dataset = _find_dataset(path, open_input)
            session = _session(settings, dataset)
            context = _opening(path, dataset, open_input, settings["form"])
            has_tally = open_input is not secret_text and not settings["no_tally"]
            files = _files_of(path, dataset) if has_tally else ()
            with context as opened, _reading(arguments, opened):
                data = _in_form(opened, settings["csv"])
                terms |= _public_values(data, arguments, settings, grid=grid)
                verb = partial(command, **{**own, "data": data})
                tally = _Tally(command.__name__.removesuffix("_command"), files)
                asked = _on(verb), terms, session, settings, tally
                answer = _or_how_to_ask_again(partial(_answer, *asked))
            if dataset is None and open_input is table_file and note is not None:
                _say_of_text(note, path, settings)
            answer(_subject(arguments))

        return _in_place_of(command, run, shared)

    return wrap


def _options_of(
    verb: Callable[..., Release], command: Callable[..., Release], absent: Collection[str]
) -> dict[str, tuple[object, object]]:
    """Return the shared options of a command with a verb, but for those that it has itself."""
    names = {*inspect.signature(verb).parameters, *_OF_FILES, *_OF_ANSWERS}
    names |= {"mechanism_option"} if "mechanism" in names else set()
    names -= {*absent, *inspect.signature(command).parameters}
    return {name: option for name, option in _OPTIONS.items() if name in names}


def _in_place_of(
    command: Callable[..., Release],
    run: Callable[..., None],
    shared: dict[str, tuple[object, object]],
) -> Callable[..., None]:
    """Return the function that runs a command, under its name and with its options."""
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    # The option parser reads the signature: the command's own options, then the shared ones.
    run.__signature__ = spelled_out(command, shared)  # type: ignore[attr-defined]
    return run


def _public_values(
    data: Data, arguments: dict[str, Any], settings: dict[str, Any], *, grid: bool
) -> dict[str, Any]:
    """Return the terms that list values: the groups, and the candidates of a grid."""
    terms: dict[str, Any] = {}
    if settings["groups"] is not None:
        terms["groups"] = _groups(data, settings["by"], settings["groups"])
    if grid:
        terms["candidates"] = grid_of(*(arguments[name] for name in _GRID))
    return terms


def _reading(arguments: dict[str, Any], opened: object) -> AbstractContextManager[None]:
    """Return the bar of a command, which knows no size of standard input."""
    return waiting(f"reading {_name(arguments)}", of_files=not is_copy(opened))


def _find_dataset(path: str, open_input: OpenInput) -> Dataset | None:
    """Return the described dataset that is asked about, by its name or by its files, or None if it is none."""
    if open_input is not table_file or path == "-":
        return None
    source = described_data(Path(path))
    return source if isinstance(source, Dataset) else None


def _opening(
    path: str, dataset: Dataset | None, open_input: OpenInput, form: str | None
) -> AbstractContextManager[str | Dataset]:
    """Return a context with the described dataset, or else with the input at a path."""
    return open_input(path, form) if dataset is None else nullcontext(dataset)


def _in_form(data: str | Dataset, words: list[str] | None) -> str | CsvFile | Dataset:
    """Return the data in the form that --csv says. A description says its own."""
    if not isinstance(data, Dataset):
        return in_form(data, words)
    if words:
        raise InvalidArgument(
            "the description of the data says how the file is written. Leave out --csv"
        )
    return data


def _say_of_text(note: Message, path: str, settings: Mapping[str, Any]) -> None:
    """Say a note once a shell if the table is CSV by name or by --format, and one of semicolons in its header."""
    name = settings["form"] or ("csv" if path == "-" else path)
    if not settings["csv"] and file_format(Path(f"x.{name}")) not in ("CSV", "Excel"):
        return
    is_by_semicolons = _header_delimiter(path, settings["csv"]) == ";"
    says_numbers = "decimal" in dict(map(read_word, settings["csv"] or ()))
    notes = [note, SEMICOLONS] if is_by_semicolons and not says_numbers else [note]
    for one in filter(is_new_here, notes):
        say(one)


def _header_delimiter(path: str, words: list[str] | None) -> str | None:
    """Return the delimiter in the header of the first file in that form, or None if it is not known."""
    try:
        if path == "-":
            return None
        first = listed_files(in_form(path, words))[0]
        return read_head(first.path, first.form or TextForm()).form.delimiter
    except (DiscreetError, OSError):  # the answer stands
        return None


class _Tally(NamedTuple):
    """The files of a question, which joins their tally if no ledger is charged.

    Attributes:
        verb: the name of the verb.
        files: the files.
    """

    verb: str
    files: Sequence[Place]

    def say(self, release: Release) -> None:
        """Add the answer, and say on stderr the promise of all answers about a file."""
        entry = entry_of(self.verb, release, self.files)
        for line in [] if entry is None else note(entry):
            say(line)


def _files_of(path: str, dataset: Dataset | None) -> Sequence[Place]:
    """Return the files that are asked about; none of a stream, and where the user keeps no tally."""
    place = place_of(path) if dataset is None else dataset.place
    if is_off() or path == "-" or place is None:
        return ()
    return places_of_files(list_files(place))


Printer = Callable[[dict[str, object]], None]
"""Prints a result, with what was asked."""


def _on(command: Callable[..., Release]) -> Callable[..., Release]:
    """Return the command as a verb, which takes terms one by one."""

    def verb(**terms: object) -> Release:
        return command(terms=terms)

    return verb


def _terms(names: Collection[str], settings: dict[str, Any]) -> dict[str, Any]:
    """Return the terms of the verb but the ledger, as far as they are given, and the mechanism with its options."""
    mechanism = settings["mechanism"], settings["mechanism_option"]
    others = ("ledger", "mechanism_option", *_OF_FILES, *_OF_ANSWERS, *_GRID)
    terms = {name: settings[name] for name in names if name not in others}
    terms["mechanism"] = options.chosen_mechanism(*mechanism)
    return {name: value for name, value in terms.items() if value not in (None, [])}


def _name(arguments: dict[str, Any]) -> str:
    """Return the name of the data for people."""
    return "standard input" if arguments["data"] == "-" else Path(arguments["data"]).name


def _subject(arguments: dict[str, Any]) -> dict[str, object]:
    """Return the subject of the question, for JSON."""
    columns = arguments.get("column")
    column = columns[0] if isinstance(columns, list) and len(columns) == 1 else columns
    others = {name: arguments.get(name) for name in ("dataset", "analyst", "request")}
    return {"data": arguments["data"], "column": column, **others}


def _or_how_to_ask_again(work: Callable[[], Printer]) -> Printer:
    """Return the printer that the work returns; of an interrupt, say how to ask again and if the answer is paid."""
    try:
        return work()
    except KeyboardInterrupt as stop:
        for note in getattr(stop, "__notes__", ()):
            say(note)
        raise


def _answer(
    verb: Callable[..., Release],
    terms: dict[str, Any],
    session: "Session | None",
    settings: dict[str, Any],
    tally: "_Tally",
) -> Printer:
    """Release an answer, or quote its cost, and return a function that prints the result."""
    if settings["dry_run"]:
        quote = _price(verb, terms, session)
        return lambda _: print_either(
            quote.as_dict(), translate(quote), as_json=settings["as_json"]
        )
    account = {} if session is None else {"ledger": session}
    if "delta" in terms or tally.verb in SPREADS:
        _say_needs(bill_of(verb, **terms, **account).worst_error)
    release = verb(**terms, **account)

    def tell(subject: dict[str, object]) -> None:
        show_release(release, subject, as_json=settings["as_json"])
        if session is None:
            tally.say(release)
        _report(release, session, settings)

    return tell


def _say_needs(bound: ErrorBound | None) -> None:
    """Say, before anything is paid, how many records a key or a variance needs."""
    if bound is not None and bound.unit in NEEDS:
        say(bound.in_words())


def _check_report(settings: dict[str, Any]) -> None:
    """Refuse a report that could not be written, before anything is charged."""
    check_report(settings["report"], settings["lang"])
    if settings["report"] is not None and settings["dry_run"]:
        raise InvalidArgument("--report is of a release. Leave it out of a --dry-run")


def _report(release: Release, session: "Session | None", settings: dict[str, Any]) -> None:
    """Write the report of a printed release, with the budget that it was charged to."""
    budget: dict[str, Any] = {}
    if settings["report"] is not None and session is not None:
        from ..ledger.ledger import ledger_of  # most answers are released without one

        budget = {"ledger": ledger_of(session), "dataset": session.dataset}
    write_report(release, settings["report"], settings["lang"], **budget)


def _groups(data: Data, by: AnyColumn, texts: list[str]) -> Any:
    """Return the groups as values of their columns. Without a column the verb raises."""
    if texts == [PRIVATE_GROUPS]:
        return PRIVATE_GROUPS
    if by is None:
        return texts
    if not isinstance(by, str):
        return values_of_columns(data, by, texts, "--groups", "by")
    groups = options.split_candidates(without_column(by, texts), "--groups")
    return parse_values(data, by, groups, "by")


def _session(settings: dict[str, Any], data: Dataset | None) -> "Session | None":
    """Return the session to charge: that of the described dataset, or of --ledger. None without a ledger."""
    account = None if data is None else data.account(settings["analyst"])
    if account is not None:
        if any(settings[name] != os.environ.get(variable) for name, variable in _ENVIRONMENT):
            raise InvalidArgument(
                "the description of the data says which budget is charged. Leave out --ledger and "
                "--dataset"
            )
        return cast("Session", account)
    where = settings["ledger"]
    if where is None:
        for name in ("dataset", "analyst", "request"):
            if settings[name]:
                raise InvalidArgument(f"--{name.replace('_', '-')} goes with --ledger")
        return None
    if settings["dataset"] is None:
        raise InvalidArgument(
            f"which budget of {where} is charged? give --dataset too (or set DISCREET_DATASET)"
        )
    from .accounts import existing_ledger  # most answers are released without one

    return existing_ledger(where).session(settings["dataset"], analyst=settings["analyst"])


def _price(
    verb: Callable[..., Release], terms: dict[str, Any], session: "Session | None"
) -> "Quote | Bill":
    """Return the cost of an answer, and the rest of the budget if a ledger would pay."""
    if session is not None:
        return session.quoted([bill_of(verb, **terms, ledger=session)])
    return bill_of(verb, **terms)
