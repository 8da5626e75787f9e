"""The ledger of a command, and the budget in it: by paths and names, or by discreet.toml."""

import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from ..errors import InvalidArgument, InvalidDescription, preview
from .completion import data_names, dataset_names
from .options import argument, option

if TYPE_CHECKING:
    from ..ledger import Ledger
    from ..tables.datasets import Dataset
    from ..tables.datasets.configuration import Configuration

LEDGER_HELP = "A file, the URL of a PostgreSQL database, or a dataset of discreet.toml."

LedgerArgument = Annotated[
    str | None,
    argument(
        "LEDGER",
        f"{LEDGER_HELP} Without it the ledger declared there.",
        completes=data_names,
        envvar="DISCREET_LEDGER",
    ),
]
DatasetOption = Annotated[
    str | None,
    option(
        "NAME",
        "The dataset, if LEDGER does not name it.",
        completes=dataset_names,
        envvar="DISCREET_DATASET",
    ),
]
DescribedDataset = Annotated[
    str, argument("DATASET", "A dataset of discreet.toml.", completes=dataset_names)
]
OneDataset = Annotated[
    str | None, option("NAME", "Show this dataset only.", completes=dataset_names)
]


class NamedAccount(NamedTuple):
    """A ledger and a budget in it: that of a described dataset, of a name, or all."""

    ledger: "Ledger"
    whose: "Dataset | str | None"

    @property
    def one(self) -> "Dataset | str":
        """The dataset of the budget.

        Raises:
            InvalidArgument: if nobody says.
        """
        if self.whose is None:
            raise InvalidArgument(
                "which budget is it? give --dataset, or name a dataset of discreet.toml"
            )
        return self.whose

    @property
    def budgets(self) -> list[str]:
        """The names of the budgets that are meant, the one that is charged last."""
        whose = [] if self.whose is None else [self.whose]
        return list(dict.fromkeys(b.dataset for of in self.ledger.budgets_of(*whose) for b in of))


def account(where: str | None, dataset: str | None = None) -> NamedAccount:
    """Return the account of a command: of a described dataset, or of a ledger that is there.

    Args:
        where: a ledger, or the name of a described dataset. None for the ledger that discreet.toml declares.
        dataset: the name of a described dataset or of a budget.

    Raises:
        InvalidArgument: if there is no such ledger, or two datasets are named.
        InvalidDescription: if discreet.toml is needed and cannot be accepted.
    """
    description = description_for(where)
    if where is not None and description is not None:
        if dataset not in (None, where, os.environ.get("DISCREET_DATASET")):
            raise InvalidArgument(
                f"{where} is a dataset of {description.path}. Leave out --dataset"
            )
        where, dataset = None, where
    if where is not None:
        return NamedAccount(existing_ledger(where), dataset)
    if description is None:
        raise InvalidArgument("which ledger is it? give its path, or declare one in discreet.toml")
    from ..ledger.toml_budgets import described_ledger

    ledger = described_ledger(description, dataset or "NAME")
    return NamedAccount(ledger, description.datasets.get(dataset or "", dataset))


def description_for(where: str | None) -> "Configuration | None":
    """Return the description that has a dataset of this name, or any without a name. None for the name of a ledger.

    Raises:
        InvalidDescription: if it cannot be accepted, and the name may stand for several things.
    """
    if where is not None and "://" in where:
        return None
    from ..tables.datasets.configuration import find_configuration, read_configuration

    try:
        path = find_configuration()
        description = None if path is None else read_configuration(path)
    except InvalidDescription:
        if where is not None and Path(where).is_file():
            return None
        raise
    if description is None or where is None or where in description.datasets:
        return description
    return None


def existing_ledger(where: str) -> "Ledger":
    """Return an existing ledger; only `open` creates one."""
    if "://" not in where and not Path(where).exists():
        raise InvalidArgument(
            f"there is no ledger at {where}{_dataset_hint(where)}. Make one: discreet ledger open "
            f"{where} --dataset NAME --epsilon 1"
        )
    return open_ledger(where)


def _dataset_hint(where: str) -> str:
    """Return a hint at the datasets that discreet.toml describes."""
    from ..tables.datasets.configuration import find_configuration, read_configuration
    from ..tables.datasets.declarations import nearest

    path = find_configuration()
    dataset_names: Collection[str] = () if path is None else read_configuration(path).datasets
    return (
        f", and discreet.toml describes no dataset {preview(where)}{nearest(where, dataset_names)}"
        if dataset_names
        else ""
    )


def open_ledger(where: str) -> "Ledger":
    """Return the ledger, as releases about described datasets open theirs."""
    from ..ledger import toml_budgets  # heavy, and other commands do without

    return toml_budgets.ledger_at(where)
