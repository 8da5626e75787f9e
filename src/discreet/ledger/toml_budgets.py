"""Datasets of discreet.toml: releases about them are charged to the ledger that is declared there."""

import os
from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from ..base.arguments import file_path
from ..base.doors import in_description
from ..base.error_boundary import error_boundary
from ..base.numbers import Number
from ..errors import InvalidArgument, InvalidDescription, UnknownBudget
from ..privacy.sensitivity import Neighbors
from ..tables.datasets.configuration import Configuration, find_configuration, read_configuration
from ..tables.datasets.dataset import Dataset, with_account
from .budget import Budget, DeltaFor
from .ledger import Ledger
from .session import Session


@error_boundary
def read_dataset(name: str, path: str | Path | None = None) -> Dataset:
    """Return a dataset that discreet.toml describes. Its releases are charged to the ledger declared there.

    Args:
        name: its name in the file.
        path: the file. By default the one that DISCREET_CONFIG names, or the nearest discreet.toml from the working
            directory upwards.

    Raises:
        InvalidDescription: if there is no file, or something in it is invalid. The message has the line.
        UnknownName: if it doesn't describe a dataset of that name.
    """
    return with_its_ledger(configuration(path), name)


def configuration(path: str | Path | None = None) -> Configuration:
    """Return the declarations of a file, or of the nearest discreet.toml.

    Raises:
        InvalidDescription: if there is none, or something in it cannot be accepted.
    """
    file = find_configuration() if path is None else file_path(path, "path")
    if file is None:
        raise InvalidDescription(
            "there is no discreet.toml here or in a folder above. Write one, or draft it: "
            "discreet describe FILE"
        )
    return read_configuration(file)


def with_its_ledger(configuration: Configuration, name: str) -> Dataset:
    """Return a dataset with the account that is charged for releases about it, if a ledger is declared."""
    dataset = configuration.dataset(name)
    if configuration.ledger is None:
        return dataset
    return with_account(dataset, partial(_session, configuration.ledger, dataset))


def open_described(  # noqa: PLR0913  # what the file declares, and what the owner says besides
    configuration: Configuration,
    name: str,
    analyst: str | None = None,
    *,
    separate: bool = False,
    delta_for: DeltaFor | None = None,
    oversubscribed: bool | None = None,
    **amounts: Number | None,
) -> Budget:
    """Open the budget that is declared for a dataset, or a share of it; returns it if it was opened before.

    Args:
        configuration: the content of the file.
        name: the dataset.
        analyst: opens a share for this analyst.
        separate: whether it is one of its own though others share its database: see `Ledger.open`.
        delta_for: the use of delta, instead of the declared one: see `Ledger.open`.
        oversubscribed: whether shares may be more than the budget, instead of the declared rule: see `Ledger.open`.
        **amounts: epsilon, rho or delta of a share, where the file declares none.

    Raises:
        InvalidDescription: if no ledger or no budget is declared.
        InvalidArgument: if amounts are given that the file declares.
    """
    dataset = configuration.dataset(name)
    ledger = _ledger_place(configuration)
    amounts_here = {unit: amount for unit, amount in amounts.items() if amount is not None}
    terms = _declared_amounts(configuration, name, analyst)
    if amounts_here and terms:
        raise InvalidArgument(
            f"{configuration.path} declares the amounts. Change them there, or leave them out here"
        )
    if not (amounts_here or terms):
        raise InvalidDescription(
            f'{configuration.path} declares no budget for {name}. Add budget = {{ epsilon = "1" }} '
            f"to [datasets.{name}]"
            if analyst is None
            else f"{configuration.path} declares no share for {analyst}. Declare one, or give it "
            "here"
        )
    rules = {"delta_for": delta_for, "oversubscribed": oversubscribed}
    of: dict[str, Any] = {
        "neighbors": declared_neighbors(configuration, name),
        **terms,
        **amounts_here,
    }
    of |= {rule: value for rule, value in rules.items() if value is not None}
    with in_description() if terms else nullcontext():
        return ledger_at(ledger).open(dataset, analyst=analyst, separate=separate, **of)


def declared_neighbors(configuration: Configuration, name: str) -> Neighbors:
    """Return the neighbouring relation of a budget that is opened as it is declared."""
    relation: Neighbors = configuration.budgets.get(name, {}).get("neighbors", "add_remove")
    return relation


def described_ledger(configuration: Configuration, name: str) -> Ledger:
    """Return the existing ledger that is declared.

    Raises:
        InvalidDescription: if none is.
        UnknownBudget: if it does not exist.
    """
    return existing(_ledger_place(configuration), name)


def _ledger_place(configuration: Configuration) -> str:
    """Return where the ledger is that is declared.

    Raises:
        InvalidDescription: if none is.
    """
    if configuration.ledger is None:
        raise InvalidDescription(
            f'{configuration.path} declares no ledger. Add ledger = "budget.db" at its top'
        )
    return configuration.ledger


def owner_notes(configuration: Configuration) -> tuple[str, ...]:
    """Return the notes on budgets for their owner to read before others may ask, or none without a ledger."""
    if configuration.ledger is None or (
        "://" not in configuration.ledger and not Path(configuration.ledger).exists()
    ):
        return ()
    return described_ledger(configuration, next(iter(configuration.datasets))).notes()


def renew_described(
    configuration: Configuration, name: str, period: str | None, **amounts: Number | None
) -> Budget:
    """Renew the budget of a described dataset: for the calendar period that is declared, or for one by a name.

    The shares that the file declares are opened with it.

    Args:
        configuration: the content of the file.
        name: the dataset.
        period: the name. None for the calendar.
        **amounts: epsilon, rho or delta. Without any those declared, or else as much as before.
    """
    dataset, amounts_here = (
        configuration.dataset(name),
        {u: a for u, a in amounts.items() if a is not None},
    )
    declares = configuration.budgets.get(name, {})
    of: Any = amounts_here or {unit: a for unit, a in declares.items() if unit in amounts}
    rules: Any = {key: declares[key] for key in ("delta_for", "oversubscribed") if key in declares}
    per = declares.get("per") if period is None else None
    return described_ledger(configuration, name).renew(
        dataset, period, per=per, shares=declared_shares(configuration, name), **of, **rules
    )


def declared_shares(configuration: Configuration, name: str) -> dict[str, dict[str, Any]]:
    """Return the amounts of the shares that are declared for a dataset, by analyst."""
    units = ("epsilon", "rho", "delta")
    return {
        analyst: {unit: about["share"][unit] for unit in units if unit in about["share"]}
        for analyst, about in configuration.analysts.items()
        if name in about["datasets"] and "share" in about
    }


def _declared_amounts(
    configuration: Configuration, name: str, analyst: str | None
) -> Mapping[str, Any]:
    """Return the declared amounts of a budget, or of an analyst's share of it."""
    if analyst is None:
        return configuration.budgets.get(name, {})
    about = configuration.analysts.get(analyst, {})
    return about.get("share", {}) if name in about.get("datasets", ()) else {}


def existing(where: str, name: str) -> Ledger:
    """Return a ledger that exists: a release never makes one, or to delete it would renew the budget.

    Raises:
        UnknownBudget: if there is no such file.
    """
    if "://" not in where and not Path(where).exists():
        raise UnknownBudget(
            f"there is no ledger at {where}, and only the owner of the data opens one: discreet "
            f"ledger open {name}"
        )
    return ledger_at(where)


def ledger_at(where: str) -> Ledger:
    """Return a ledger, with the checkpoints of DISCREET_CHECKPOINTS."""
    return Ledger(where, checkpoints=os.environ.get("DISCREET_CHECKPOINTS") or None)


def _session(where: str, dataset: Dataset, analyst: str | None) -> Session:
    """Return the session that is charged for releases about a dataset."""
    return existing(where, str(dataset.name)).session(dataset, analyst)
