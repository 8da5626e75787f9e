"""connect: ask about the datasets that discreet.toml describes."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from weakref import finalize

from ...base.arguments import file_path, mapping, read_name, refuse_one_shot
from ...base.error_boundary import error_boundary, public_errors
from ...errors import InvalidArgument, preview
from ...ledger import Ledger
from ...ledger.toml_budgets import configuration
from ...tables.datasets import Dataset
from ...tables.datasets.configuration import Configuration
from ...tables.datasets.dataset import with_name
from .connection import Connection
from .datasets import Datasets, hold
from .in_process import InProcess
from .isolation import error_for_owner, isolated, unwrap
from .own_rights import OwnRights
from .ownership import Ownership
from .rights import Rights, caller_rights
from .tokens import tokens_beside


@error_boundary
def connect(
    where: str | os.PathLike[str] | None = None,
    *,
    analyst: str | None = None,
    token: str | None = None,
    datasets: Mapping[str, object] | Sequence[Dataset] | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
) -> Connection:
    """Return a connection to datasets, from a discreet.toml, from a service by its URL, or given in Python.

    The ledger of a discreet.toml must exist, and its budgets must be open (`discreet ledger open NAME`). Answers
    are charged to them. If you have the data in Python, pass them by name, and allow questions and their prices:

        node = discreet.connect(datasets={"bids": [1, 1, 1, 3.01]}, ledger="budget.db")
        node.open_budget("bids", epsilon=10)
        node.allow("bids", "price", discreet.best_price, candidates=Grid(0, "3.5", "0.01"), epsilon=1)
        node.ask("price")

    Args:
        where: the URL of a service, such as "https://data.example.org", with `token`, or a file. By default the
            file that DISCREET_CONFIG names, or the nearest discreet.toml from the working directory upwards.
        analyst: ask as this analyst of the file. The analyst's share is also charged, and the analyst can only ask
            questions that the file allows. By default you ask as the owner.
        token: instead of `analyst`, a token made by `discreet token create`, which identifies the caller. It is
            checked at every call, so a revoked or expired token is rejected at once.
        datasets: data in Python, private, as a dict of data by name or a list of named `Dataset`. The caller is
            their owner.
        ledger: for data in Python, a `Ledger`, or the file or URL of one, which is created if it doesn't exist. By
            default budgets are in memory and end with the connection.

    Raises:
        InvalidDescription: if there is no file, or something in it is invalid. The message has the line.
        UnknownName: if the file doesn't name the analyst.
        NotAllowed: if the token is not valid.
        UnknownBudget: if there is no ledger, or a budget is not open.
    """
    if datasets is not None:
        if (where, analyst, token) != (None, None, None):
            raise InvalidArgument("datasets are data in hand: leave out where, analyst and token")
        return _in_hand(_hold_in_hand(datasets, ledger))
    if ledger is not None:
        raise InvalidArgument("a ledger goes with datasets. A discreet.toml names its own")
    if isinstance(where, str) and "://" in where:
        return _by_url(where, analyst, token)
    description = configuration(None if where is None else file_path(where, "where"))
    if token is not None:
        return _by_token(description, analyst, token)
    name = None if analyst is None else read_name(analyst, "analyst")
    in_process = hold(description)
    role = "owner" if name is None else "analyst"
    rights = caller_rights(in_process, description, role, name)
    label = str(description.path) if name is None else f"{description.path}, as {name}"
    ownership = Ownership(description, tokens_beside(description.path), in_process)
    return _connection(role, rights, ownership, label)


def _connection(
    role: str,
    rights: Rights,
    ownership: Ownership,
    label: str,
    check_token: Callable[[], object] = lambda: None,
) -> Connection:
    """Return the connection of a caller with something to ask about.

    Raises:
        UnknownBudget: if no share of any dataset was opened for the analyst.
    """
    unwrap(isolated(rights.check, error_for_owner)())
    return Connection(InProcess(role, rights, ownership, check_token), label)


def _in_hand(datasets: Datasets, analyst: str | None = None) -> Connection:
    """Return the connection to data in hand, of their owner or of an analyst."""
    names = tuple(datasets.names)
    own = OwnRights.of_all() if analyst is None else OwnRights(analyst)
    rights = Rights(datasets, own, names)
    role = "owner" if analyst is None else "analyst"
    node = InProcess(role, rights, Ownership(None, None, datasets))
    if analyst is not None:
        rights.check()
        return Connection(node, f"{', '.join(names)}, as {analyst}")
    works: dict[str, Callable[..., Any]] = {
        "allow": datasets.allow, "limit": datasets.limit, "simulate": datasets.simulate,
        "allow_simulation": datasets.allow_simulation, "for_analyst": partial(_in_hand, datasets),
    }  # fmt: skip
    holder = {name: isolated(work, error_for_owner) for name, work in works.items()}
    return Connection(node, ", ".join(names), holder)


def _hold_in_hand(datasets: Mapping[str, object] | Iterable[Dataset], ledger: object) -> Datasets:
    """Return data that are given in Python, with the ledger that is charged.

    Args:
        datasets: data by name, or described datasets that have names.
        ledger: a `Ledger`, or the file or the URL of one. None for one in memory.

    Raises:
        InvalidArgument: if they are neither, a name is none, or data can be read only once.
    """
    where: Any = ledger
    holder = Datasets(ledger if isinstance(ledger, Ledger) else Ledger(where))
    for name, data in _by_name(datasets).items():
        refuse_one_shot(data, f"the data of {name}")
        holder.hold(name, with_name(data, name) if isinstance(data, Dataset) else data)
    return holder


def _by_name(datasets: Any) -> Mapping[str, Any]:
    """Return data by name."""
    if isinstance(datasets, Mapping | list | tuple) and not datasets:
        raise InvalidArgument(
            'datasets is empty: give data by name, such as {"bids": [1, 3]}, or leave datasets out to connect to '
            "those of a discreet.toml"
        )
    if isinstance(datasets, Mapping):
        return mapping(datasets, "datasets")
    if not isinstance(datasets, list | tuple) or not all(
        isinstance(one, Dataset) and one.name is not None for one in datasets
    ):
        raise InvalidArgument(
            "datasets must be a dict of data by name, or a list of discreet.Dataset with names"
        )
    names = [one.name for one in datasets]
    for name in names:
        if names.count(name) > 1:
            raise InvalidArgument(f"two datasets are named {preview(name)}. Give each another name")
    return dict(zip(names, datasets, strict=True))


def _by_url(url: str, analyst: str | None, token: str | None) -> Connection:
    """Return the connection to a service."""
    if token is None or analyst is not None:
        raise InvalidArgument(
            "a service wants a token, which says who asks: give token, and leave out analyst"
        )
    from ..http.http_client import HttpClient, connect_to

    client: Any = connect_to(url, token)
    connection = Connection(HttpClient(client), url)
    finalize(connection, client.close)
    return connection


def _by_token(description: Configuration, analyst: str | None, token: str) -> Connection:
    """Return the connection of the caller of a token."""
    if analyst is not None:
        raise InvalidArgument("a token says who asks: leave out analyst")
    tokens = tokens_beside(description.path)
    caller, datasets = tokens.find(token), hold(description)
    check = public_errors()(partial(tokens.check, caller.id))
    rights = caller_rights(datasets, description, caller.role, caller.analyst)
    rights = replace(rights, check_again=partial(tokens.check, caller.id))
    ownership = Ownership(description, tokens, datasets, caller)
    label = f"{description.path}, as {caller.analyst or caller.role}"
    return _connection(caller.role, rights, ownership, label, check)
