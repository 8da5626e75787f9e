"""Options that several commands share."""

import csv
from pathlib import Path
from typing import Annotated

import typer

from ..errors import InvalidArgument, InvalidCandidates
from ..mechanisms import MECHANISMS, Mechanism, read_options
from ..tables.formats.text_form import WORDS
from .completion import analyst_names, columns_of_file, data_names, declared_groups, one_of

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

DataArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="The table: a file, 'a/*.csv' in quotes, a folder, - for standard input, or a dataset "
        "that discreet.toml describes.",
        show_default=False,
        autocompletion=data_names,
    ),
]
ColumnArgument = Annotated[
    str,
    typer.Argument(
        metavar="COLUMN", help="The column.", show_default=False, autocompletion=columns_of_file
    ),
]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="The format, if the first bytes and the name of the file do not show it: csv, tsv, "
        "jsonl, each also with .gz, json, xlsx, parquet or arrow. Standard input is read as "
        "csv by default.",
        autocompletion=one_of(*FORMATS),
    ),
]
CsvForm = Annotated[
    list[str] | None,
    typer.Option(
        "--csv",
        metavar="KEY=VALUE",
        help="The form of a CSV file, such as encoding=cp1252, delimiter=;, decimal=,, "
        "missing=NA, skip=2 or names=a,b. Use sheet=NAME for a workbook. Repeatable.",
        show_default=False,
        autocompletion=one_of(*(f"{word}=" for word in WORDS)),
    ),
]
GapOption = Annotated[
    bool, typer.Option("--gap", help="Also release how far ahead the winner was.")
]
Epsilon = Annotated[
    str | None,
    typer.Option(
        "--epsilon",
        "-e",
        metavar="NUMBER",
        help="The privacy parameter: the most privacy loss of the answer, such as 1, 0.1 or 1/3. "
        "Smaller is more private.",
    ),
]
Rho = Annotated[
    str | None,
    typer.Option(metavar="NUMBER", help="Instead of --epsilon: rho of zero-concentrated DP."),
]
Scale = Annotated[
    str | None,
    typer.Option(metavar="NUMBER", help="Instead of --epsilon: the scale of the noise, 1/eta."),
]
MechanismName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help=f"One of {', '.join(MECHANISMS)}.",
        autocompletion=one_of(*MECHANISMS),
    ),
]
NamedMechanism = Annotated[
    str | None,
    typer.Option(
        "--mechanism",
        metavar="NAME",
        help=f"One of {', '.join(MECHANISMS)}. The default is exponential.",
        autocompletion=one_of(*MECHANISMS),
    ),
]
MechanismOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--mechanism-option",
        metavar="NAME=VALUE",
        help="An option of the mechanism, such as noise=gumbel, granularity=0.5 or eta=1,1.",
    ),
]
Lowest = Annotated[
    str | None,
    typer.Option(metavar="NUMBER", help="The least answer, or date. Optional if it is described."),
]
Highest = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER", help="The largest answer, or date. Optional if it is described."
    ),
]
Step = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER",
        help="The distance between answers (1). For dates: 1 day, 7 days, 1 month.",
    ),
]
NeighborsName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="How neighboring datasets differ: add_remove one record, or replace_one.",
        autocompletion=one_of("add_remove", "replace_one"),
    ),
]
Size = Annotated[
    int | None,
    typer.Option(metavar="NUMBER", help="The number of independent answers. Each one is charged."),
]
PrivacyUnit = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="The column of the privacy unit, such as a user id. All rows with the same value "
        "count as one record. Repeat it to use several columns: rows with equal values in "
        "all of them are one record.",
        autocompletion=columns_of_file,
    ),
]
MaxContributions = Annotated[
    int | None,
    typer.Option(
        metavar="NUMBER", help="The most rows that one privacy unit contributes (default: 1)."
    ),
]
ByColumn = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Answer for each group of this column.",
        autocompletion=columns_of_file,
    ),
]
GroupNames = Annotated[
    list[str] | None,
    typer.Option(
        metavar="A,B,C",
        help="The groups. They must be public, never taken from the data. Use 'private' with "
        "--delta to draw them.",
        autocompletion=declared_groups,
    ),
]
MaxGroups = Annotated[
    int | None,
    typer.Option(
        metavar="NUMBER", help="The most groups that one privacy unit contributes to (default: 1)."
    ),
]
GroupsShare = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER",
        help="With --groups private: the part of epsilon that draws the groups (default: 1/2).",
    ),
]
MostDrawn = Annotated[
    int | None,
    typer.Option(
        metavar="NUMBER",
        help="With --groups private: the most groups to answer (default: 1000).",
    ),
]
Delta = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER",
        help="The δ of all answers together, such as 1e-8: for --groups private, for values "
        "without a public list, for lists that need one, and for Gaussian noise.",
    ),
]
Where = Annotated[
    str | None,
    typer.Option(
        metavar="CONDITION",
        help="The rows that the question is about, in SQL, such as \"age >= 18 AND city = 'Bern'\".",
    ),
]
LedgerAt = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="LEDGER",
        envvar="DISCREET_LEDGER",
        help="The ledger to charge: a file, or the URL of a PostgreSQL database.",
    ),
]
DatasetName = Annotated[
    str | None,
    typer.Option(metavar="NAME", envvar="DISCREET_DATASET", help="The dataset to charge."),
]
AnalystName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The analyst. Their share of that budget is charged too.",
        autocompletion=analyst_names,
    ),
]
RequestName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="A name for this request. Ask again under it to get the same answer at no cost.",
    ),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Show the cost and what would remain, and release nothing."),
]
NoTally = Annotated[
    bool,
    typer.Option("--no-tally", help="Leave this answer out of the tally (see discreet tally)."),
]
ReportAt = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Also write a report, as .html."),
]
ReportLanguage = Annotated[
    str | None,
    typer.Option(
        "--lang",
        metavar="CODE",
        help="The language of the report, such as en or zh. The default is that of --language.",
    ),
]
PlotTo = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Also draw a picture, as .png, .svg or .pdf."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print everything as JSON on stdout.")]


MaxCandidates = Annotated[
    int | None,
    typer.Option(
        metavar="NUMBER",
        help="With --method counts and --privacy-unit: the most candidates that one unit counts "
        "for. The default is all.",
    ),
]


def chosen_mechanism(mechanism: str | None, options: list[str] | None) -> str | Mechanism | None:
    """Return the mechanism with the given options, or its name if there are none; None without either.

    Raises:
        InvalidArgument: if the mechanism has no such option.
    """
    return read_options(mechanism or "exponential", options) if options else mechanism


def check_picture(path: Path | None) -> None:
    """Raise unless the extension of the path is a format of pictures."""
    if path is not None and path.suffix not in _PICTURES:
        raise InvalidArgument(f"--plot must end in one of {', '.join(_PICTURES)}, got {path}")


def split_candidates(texts: list[str], option: str = "--candidates") -> list[str]:
    """Return the comma-separated candidates; commas and blanks within quotes are kept."""
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
