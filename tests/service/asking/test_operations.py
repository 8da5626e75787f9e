"""The table of operations: every entry is there for every role, here and at a service, and reads what it says."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
pytest.importorskip("httpx", reason="the extra server is not installed")

import duckdb

import discreet
from discreet import Connection
from discreet.errors import DiscreetError, InvalidArgument, NotAllowed
from discreet.ledger.toml_budgets import configuration
from discreet.service.asking.operations import (  # fmt: skip
    ANSWER_VERB,
    CREATE_TOKEN,
    EVERYBODY,
    OPERATIONS,
    READING,
    Operation,
)
from discreet.service.asking.ownership import Ownership
from discreet.service.asking.rights import Rights
from discreet.service.asking.tokens import ROLES, tokens_beside
from discreet.service.http.app import make_app
from discreet.service.http.http_client import HttpClient
from discreet.tables.datasets import cell_fits
from discreet.tables.engines import column, engine

from ..answer_times import answering
from ..http.test_app import ARGUMENTS
from ..http.test_http_client import LATER, InTheProcess
from .test_connect import TEXT, write_files

FITTING = {
    "extend_budget": {"epsilon": "{total}"},
    "renew_budget": {"period": "{total}"},
    "revoke_token": {"identity": "{token}"},
}
"""Arguments that fit one call only."""

OWNERS = {
    "open_budget", "extend_budget", "renew_budget", "reopen", "tokens", "create_token", "revoke_token",
}  # fmt: skip
REFUSED: dict[str, set[str]] = {
    "owner": set(), "analyst": {*OWNERS, "audit"}, "auditor": {*OWNERS, "answer", "answer_verb"},
}  # fmt: skip
"""What each role may not do: written by hand, beside the table."""


class Callers:
    """Connections of every role: in this process by a token, and to a service."""

    def __init__(self) -> None:
        self.tokens = tokens_beside(Path("discreet.toml"))
        app: Any = make_app(configuration(), ["testserver"])
        self.here, self.there = {}, {}
        for role in ROLES:
            text, _ = self.tokens.create(role, "ann" if role == "analyst" else None, LATER)
            self.here[role] = discreet.connect("discreet.toml", token=text)
            self.there[role] = Connection(HttpClient(InTheProcess(app, text)), "a service")
        self.total = 30

    def arguments(self, operation: Operation[Any]) -> dict[str, Any]:
        """Return arguments with which an operation can be called, also again."""
        self.total += 1
        spare = self.tokens.create("auditor", None, LATER)[1].id
        fitting = {
            name: value.format(total=self.total, token=spare)
            for name, value in FITTING.get(operation.name, {}).items()
        }
        request = {"request": f"r {operation.name}"} if operation.is_paid else {}
        return {**ARGUMENTS.get(operation.name, {}), **fitting, **request}


@pytest.fixture(scope="module")
def callers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callers]:
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path_factory.mktemp("operations"))
        patched.delenv("DISCREET_CONFIG", raising=False)
        write_files()
        Path("discreet.toml").write_text(answering(TEXT))
        yield Callers()


def test_every_entry_is_there_once() -> None:
    methods = {one.work for one in OPERATIONS}
    for distinct in ({one.name for one in OPERATIONS}, {one.route for one in OPERATIONS}, methods):
        assert len(distinct) == len(OPERATIONS)
    public = [f for n, f in vars(Ownership).items() if callable(f) and not n.startswith("_")]
    assert {*public} <= methods
    assert {Rights.ask, Rights.ask_free, Rights.quote, Rights.quote_free} <= methods
    assert {one.name for one in READING} == {"answer", "answer_verb"}


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_every_operation_by_every_role(
    callers: Callers, operation: Operation[Any], role: str
) -> None:
    is_refused = operation.name in REFUSED[role]
    assert (role in operation.audience.roles) != is_refused
    for connection in (callers.here[role], callers.there[role]):
        arguments = callers.arguments(operation)
        if not is_refused:
            assert connection.call(operation, **arguments) is not None
            continue
        with pytest.raises(NotAllowed) as caught:
            connection.call(operation, **arguments)
        assert str(caught.value) == operation.audience.refusal


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_an_operation_that_is_not_of_the_table_is_refused(
    callers: Callers, operation: Operation[Any], role: str
) -> None:
    """A caller who makes one would choose who may call it, and which arguments are checked."""
    forged = replace(operation, audience=EVERYBODY)
    with pytest.raises(InvalidArgument, match="operation must be one of"):
        callers.here[role].call(forged, **callers.arguments(operation))


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_arguments_travel_and_others_are_refused(
    callers: Callers, operation: Operation[Any]
) -> None:
    checked = operation.check(callers.arguments(operation))
    assert operation.check(operation.read(operation.write(checked))) == checked
    for connection in (callers.here["owner"], callers.there["owner"]):
        with pytest.raises(InvalidArgument, match=f"{operation.name} takes no 'colour'"):
            connection.call(operation, **callers.arguments(operation), colour=1)


class TwoFaced(dict[str, Any]):
    """A dict that names other keys than it holds."""

    def __iter__(self) -> Iterator[str]:
        return iter(["epsilon"])


def test_terms_are_read_once_and_texts_are_texts() -> None:
    terms = TwoFaced(epsilon=1, size=2000)
    given = {"verb": "mode", "dataset": "d", "column": "c", "request": "r"}
    assert [*ANSWER_VERB.check({**given, "terms": terms})["terms"]] == ["epsilon", "size"]
    with pytest.raises(InvalidArgument, match="terms must be a mapping"):
        ANSWER_VERB.check({**given, "terms": [1]})
    with pytest.raises(InvalidArgument, match="expires must be text, got 90"):
        CREATE_TOKEN.check({"role": "owner", "expires": 90})


class Touched(BaseException):
    """Data were touched."""


class Trap:
    """Raises when a file of data is opened, or an engine is asked for a table."""

    is_set = False
    touched: list[str]

    def raise_error(self, *args: object, **terms: object) -> Any:
        """Raise, and remember it."""
        self.touched.append(str(args))
        raise Touched

    def watch(self, event: str, args: tuple[Any, ...]) -> None:
        """Raise if Python opens a file of data."""
        if self.is_set and event == "open" and str(args[0]).endswith(".csv"):
            self.raise_error(args[0])


TRAP = Trap()


@pytest.fixture
def trap(monkeypatch: pytest.MonkeyPatch) -> Trap:
    """Engines and files that raise when they are touched."""
    if not hasattr(TRAP, "touched"):
        sys.addaudithook(TRAP.watch)
    TRAP.touched = []
    monkeypatch.setattr(duckdb, "connect", TRAP.raise_error)
    for module in (engine, column, cell_fits):
        monkeypatch.setattr(module, "open_table", TRAP.raise_error)
    monkeypatch.setattr(TRAP, "is_set", True)
    return TRAP


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_what_reads_no_data_touches_none(
    callers: Callers, operation: Operation[Any], trap: Trap
) -> None:
    role = operation.audience.roles[-1]
    for connection in (callers.here[role], callers.there[role]):
        trap.touched.clear()
        arguments = callers.arguments(operation)
        if operation.is_paid:
            arguments["request"] = "another"  # the stored answer of an old one needs no data
        if operation.reads_data:
            with pytest.raises((DiscreetError, Touched)):
                connection.call(operation, **arguments)
        else:
            connection.call(operation, **arguments)
        assert bool(trap.touched) == operation.reads_data
