"""Options that several commands share."""

import csv
from pathlib import Path
from typing import Annotated

import typer
from typer.models import ArgumentInfo, OptionInfo

from ..errors import InvalidArgument, InvalidCandidates
from ..mechanisms import MECHANISMS, Mechanism, read_options
from ..tables.formats.text_form import WORDS
from .completion import (
    Completer,
    analyst_names,
    candidate_columns,
    columns_of_file,
    data_names,
    declared_groups,
    declared_values,
    one_of,
)

_PICTURES = (".png", ".svg", ".pdf")
FORMATS = (
    "csv",
    "csv.gz",
    "tsv",
    "tsv.gz",
    "jsonl",
    "jsonl.gz",
    "json",
    "xlsx",
    "parquet",
    "arrow",
)


def option(
    metavar: str,
    words: str,
    *names: str,
    completes: Completer | None = None,
    envvar: str | None = None,
) -> OptionInfo:
    """Return an option with a value. Without names it has that of its parameter."""
    one: OptionInfo = typer.Option(
        *names, metavar=metavar, help=words, autocompletion=completes, envvar=envvar
    )
    return one


def switch(name: str, words: str) -> OptionInfo:
    """Return an option without a value."""
    one: OptionInfo = typer.Option(name, help=words)
    return one


def argument(
    metavar: str, words: str, *, completes: Completer | None = None, envvar: str | None = None
) -> ArgumentInfo:
    """Return an argument of a command."""
    one: ArgumentInfo = typer.Argument(
        metavar=metavar, help=words, autocompletion=completes, envvar=envvar
    )
    return one


DataArgument = Annotated[
    str,
    argument(
        "FILE",
        "The table: a file, 'a/*.csv' in quotes, a folder, - for standard input, or a dataset "
        "that discreet.toml describes.",
        completes=data_names,
    ),
]
ColumnArgument = Annotated[str, argument("COLUMN", "The column.", completes=columns_of_file)]
ColumnsArgument = Annotated[
    list[str],
    argument(
        "COLUMN",
        "The column, or several. Use age:0:120:10 for bins of 10 from 0 to 120, and age:0,18,65 for bins by their "
        "edges.",
        completes=columns_of_file,
    ),
]
FormatName = Annotated[
    str | None,
    option(
        "NAME",
        "The format, if the first bytes and the name of the file do not show it: csv, tsv, "
        "jsonl, each also with .gz, json, xlsx, parquet or arrow. Standard input is read as "
        "csv by default.",
        "--format",
        completes=one_of(*FORMATS),
    ),
]
CsvForm = Annotated[
    list[str] | None,
    option(
        "KEY=VALUE",
        "The form of a CSV file, such as encoding=cp1252, delimiter=;, decimal=,, "
        "missing=NA, skip=2 or names=a,b. Use sheet=NAME for a workbook. Repeatable.",
        "--csv",
        completes=one_of(*(f"{word}=" for word in WORDS)),
    ),
]
GapOption = Annotated[bool, switch("--gap", "Also release how far ahead the winner was.")]
Epsilon = Annotated[
    str | None,
    option(
        "NUMBER",
        "The privacy parameter: the most privacy loss of the answer, such as 1, 0.1 or 1/3. "
        "Smaller is more private.",
        "--epsilon",
        "-e",
    ),
]
Rho = Annotated[str | None, option("NUMBER", "Instead of --epsilon: rho of zero-concentrated DP.")]
Scale = Annotated[
    str | None, option("NUMBER", "Instead of --epsilon: the scale of the noise, 1/eta.")
]
MechanismName = Annotated[
    str, option("NAME", f"One of {', '.join(MECHANISMS)}.", completes=one_of(*MECHANISMS))
]
NamedMechanism = Annotated[
    str | None,
    option(
        "NAME",
        f"One of {', '.join(MECHANISMS)}. The default is exponential.",
        "--mechanism",
        completes=one_of(*MECHANISMS),
    ),
]
MechanismOptions = Annotated[
    list[str] | None,
    option(
        "NAME=VALUE",
        "An option of the mechanism, such as noise=gumbel, granularity=0.5 or eta=1,1.",
        "--mechanism-option",
    ),
]
Lowest = Annotated[
    str | None, option("NUMBER", "The least answer, or date. Optional if it is described.")
]
Highest = Annotated[
    str | None, option("NUMBER", "The largest answer, or date. Optional if it is described.")
]
Step = Annotated[
    str | None,
    option("NUMBER", "The distance between answers (1). For dates: 1 day, 7 days, 1 month."),
]
NeighborsName = Annotated[
    str,
    option(
        "NAME",
        "How neighboring datasets differ: add_remove one record, or replace_one.",
        completes=one_of("add_remove", "replace_one"),
    ),
]
Size = Annotated[
    int | None, option("NUMBER", "The number of independent answers. Each one is charged.")
]
PrivacyUnit = Annotated[
    list[str] | None,
    option(
        "COLUMN",
        "The column of the privacy unit, such as a user id. All rows with the same value "
        "count as one record. Repeat it to use several columns: rows with equal values in "
        "all of them are one record.",
        completes=columns_of_file,
    ),
]
MaxContributions = Annotated[
    int | None, option("NUMBER", "The most rows that one privacy unit contributes (default: 1).")
]
ByColumn = Annotated[
    list[str] | None,
    option(
        "COLUMN",
        "Answer for each group of this column. Repeat it for several columns. Use age:0:120:10 for bins.",
        completes=columns_of_file,
    ),
]
CandidatesOption = Annotated[
    list[str] | None,
    option(
        "A,B,C",
        "The possible answers. They must be public, never taken from the data. Use 'private' "
        "if you have no public list. For several columns: city=A,B, one option for each.",
        "--candidates",
        "-c",
        completes=declared_values,
    ),
]
CandidatesFileOption = Annotated[
    Path | None,
    option("FILE", "Instead of --candidates: a public CSV or Parquet file of them, of any length."),
]
CandidatesColumnOption = Annotated[
    str | None,
    option(
        "COLUMN",
        "The column of that file. The default is the column of the data.",
        completes=candidate_columns,
    ),
]
GroupNames = Annotated[
    list[str] | None,
    option(
        "A,B,C",
        "The groups. They must be public, never taken from the data. Use 'private' with "
        "--delta to draw them. For several columns: city=A,B, one option for each.",
        completes=declared_groups,
    ),
]
MaxGroups = Annotated[
    int | None,
    option("NUMBER", "The most groups that one privacy unit contributes to (default: 1)."),
]
GroupsShare = Annotated[
    str | None,
    option(
        "NUMBER", "With --groups private: the part of epsilon that draws the groups (default: 1/2)."
    ),
]
MostDrawn = Annotated[
    int | None,
    option("NUMBER", "With --groups private: the most groups to answer (default: 1000)."),
]
Delta = Annotated[
    str | None,
    option(
        "NUMBER",
        "The δ of all answers together, such as 1e-8: for --groups private, for values "
        "without a public list, for lists that need one, and for Gaussian noise.",
    ),
]
Where = Annotated[
    str | None,
    option(
        "CONDITION",
        "The rows that the question is about, in SQL, such as \"age >= 18 AND city = 'Bern'\".",
    ),
]
LedgerAt = Annotated[
    str | None,
    option(
        "LEDGER",
        "The ledger to charge: a file, or the URL of a PostgreSQL database.",
        "--ledger",
        envvar="DISCREET_LEDGER",
    ),
]
DatasetName = Annotated[
    str | None, option("NAME", "The dataset to charge.", envvar="DISCREET_DATASET")
]
AnalystName = Annotated[
    str | None,
    option(
        "NAME", "The analyst. Their share of that budget is charged too.", completes=analyst_names
    ),
]
RequestName = Annotated[
    str | None,
    option(
        "NAME", "A name for this request. Ask again under it to get the same answer at no cost."
    ),
]
DryRun = Annotated[
    bool, switch("--dry-run", "Show the cost and what would remain, and release nothing.")
]
NoTally = Annotated[
    bool, switch("--no-tally", "Leave this answer out of the tally (see discreet tally).")
]
ReportAt = Annotated[Path | None, option("FILE", "Also write a report, as .html.", "--report")]
ReportLanguage = Annotated[
    str | None,
    option(
        "CODE",
        "The language of the report, such as en or zh. The default is that of --language.",
        "--lang",
    ),
]
PlotTo = Annotated[
    Path | None, option("FILE", "Also draw a picture, as .png, .svg or .pdf.", "--plot")
]
AsJson = Annotated[bool, switch("--json", "Print everything as JSON on stdout.")]


MaxCandidates = Annotated[
    int | None,
    option(
        "NUMBER",
        "With --method counts and --privacy-unit: the most candidates that one unit counts "
        "for. The default is all.",
    ),
]


def chosen_mechanism(mechanism: str | None, options: list[str] | None) -> str | Mechanism | None:
    """Return the mechanism with the given options, or its name if there are none, or None without either.

    Raises:
        InvalidArgument: if the mechanism has no such option.
    """
    return read_options(mechanism or "exponential", options) if options else mechanism


def check_picture(path: Path | None) -> None:
    """Raise unless the extension of the path is a format of pictures."""
    if path is not None and path.suffix not in _PICTURES:
        raise InvalidArgument(f"--plot must end in one of {', '.join(_PICTURES)}, got {path}")


def split_candidates(texts: list[str], option: str = "--candidates") -> list[str]:
    """Return the comma-separated candidates. Commas and blanks within quotes are kept."""
    try:
        rows = list(csv.reader(texts, skipinitialspace=True, strict=True))
    except csv.Error:
        raise InvalidCandidates(
            f"{option} has a quote that is not closed, or a line break"
        ) from None
    candidates = [candidate.rstrip() for row in rows for candidate in row]
    if not all(candidates):
        raise InvalidCandidates(f"{option} has an empty value. Remove a comma")
    return candidates
