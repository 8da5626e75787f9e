"""discreet describe: a draft of discreet.toml, and how many cells fit it, exactly, for the owner alone."""

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ..errors import InvalidArgument
from ..tables.datasets.draft import draft
from ..tables.datasets.noisy_cell_counts import CLASSES, MAY_BE_OPEN
from ..tables.formats.text_form import CsvFile
from .answer_output import say
from .budget_tables import literal
from .inputs import in_form, is_stream
from .json_output import print_json
from .options import CsvForm, argument, option, switch

_NOT_PRIVATE = (
    "NOT PRIVATE: these are counts of the rows themselves. Show them only to people who may see "
    "the rows, and do not take bounds from them."
)


_Data = Annotated[
    str | None, argument("FILE", "A Parquet, Arrow or CSV file, a folder, or a database.")
]
_Name = Annotated[
    str | None, option("NAME", "The name of the dataset. The default is the name of the file.")
]
_Header = Annotated[
    bool, switch("--header", "Read the names of the columns from the first line of the CSV file.")
]
_ColumnNames = Annotated[
    str | None, option("A,B,C", "The names of the columns, if the file does not hold them.")
]
_TableName = Annotated[str | None, option("NAME", "The table of a database.")]
_Schema = Annotated[
    bool, switch("--schema", "Instead: print the JSON Schema of discreet.toml, for editors.")
]


def describe_command(
    data: _Data = None,
    name: _Name = None,
    header: _Header = False,
    names: _ColumnNames = None,
    table: _TableName = None,
    schema: _Schema = False,
    csv: CsvForm = None,
) -> None:
    """Draft a discreet.toml from the schema of a file.

    The draft has the names and types of the columns. No row is read.

    Marks show what the owner has to fill in. The file is rejected until all of them are filled in. Editors check
    the file by its JSON Schema if the first line names it: #:schema ./discreet.schema.json

    Example: discreet describe people.csv --header > discreet.toml
    """
    if schema:
        from ..tables.datasets.model import json_schema

        print_json(json_schema(), indent=2)
        return
    if data is None:
        raise InvalidArgument("which data are described? give a file, a folder or a database")
    if is_stream(data):
        raise InvalidArgument(
            "a draft names the place of the data, and a pipe has none: give the path of a file"
        )
    column_names = () if names is None else tuple(each.strip() for each in names.split(","))
    csv_file = in_form(data, csv)
    form = csv_file.form if isinstance(csv_file, CsvFile) else None
    typer.echo(
        draft(data, name, header=header, names=column_names, table=table, form=form), nl=False
    )


def count_not_private(dataset: str) -> None:
    """Print how many cells are in each class, exactly: for the owner of the data alone.

    Cells that do not fit are left out of answers, or count as the nearest bound.

    Raises:
        Exit: with code 1 if there are any.
    """
    from ..ledger.toml_budgets import configuration
    from ..tables.datasets.cell_fits import check_cells_and_lines, in_words, other_forms

    say(_NOT_PRIVATE)
    described = configuration().dataset(dataset)
    fits, spanning, comments = check_cells_and_lines(described)
    table = Table(box=None, pad_edge=False, show_edge=False)
    for title in ("column", "records", *CLASSES.values()):
        table.add_column(title, overflow="fold")
    for name, counts in fits.items():
        numbers = (counts.records, *(getattr(counts, one) for one in CLASSES))
        table.add_row(literal(name), *map(str, numbers))
    Console(highlight=False).print(table)
    if spanning is not None:
        typer.echo(f"{spanning} records span several lines")
    if spanning:
        typer.echo(MAY_BE_OPEN)
    if comments is not None:
        typer.echo(f"{comments} lines are comments, and no records")
    for name, (number, forms) in other_forms(described, fits).items():
        typer.echo(in_words(name, number, forms))
    raise typer.Exit(int(any(counts.misfits or counts.unreadable for counts in fits.values())))
