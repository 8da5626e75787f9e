"""The table of operations of a service, from which calls in this process, the client, routes and OpenAPI are made.

A new operation is one entry here, and the method of `Rights` or `Ownership` that does it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from ...base.arguments import choice, exact_text, mapping, read_name
from ...base.numbers import count, flag, positive
from ...errors import InvalidArgument, NotAllowed, preview
from ...ledger import Budget, Event, Quote
from ...ledger.events import ChainHead
from ...selection.any_column import AnyColumn
from ...selection.plain_columns import COLUMNS_SCHEMA, plain_columns
from ...selection.releases import Release
from ...tables.datasets.columns import Column
from ...tables.datasets.model import DELTA_FOR
from ...tables.datasets.value_lists import cells_of
from . import wire
from .free_questions import check_columns
from .own_rights import OwnRights
from .ownership import MOST_EVENTS, Ownership
from .past_releases import PastRelease
from .rights import AUDITORS_ASK_NOTHING, Rights
from .tokens import ROLES, NewToken, Token

T = TypeVar("T")
_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True)
class ArgumentKind:
    """A kind of arguments.

    Attributes:
        annotation: their type as JSON.
        check: returns an argument as a caller gave it, or raises; takes its name too.
        write: returns a checked argument as JSON; takes its name too.
        read: returns an argument from JSON, to be checked.
        limits: the least and the greatest number, as the OpenAPI document says them.
        schema: their JSON Schema in the OpenAPI document, where it says more than the type. Otherwise None.
    """

    annotation: Any
    check: Callable[[Any, str], Any] = lambda value, _: value
    write: Callable[[Any, str], Any] = lambda value, _: value
    read: Callable[[Any], Any] = lambda plain: plain
    limits: dict[str, Any] = field(default_factory=dict)
    schema: Any = None


def _optional(kind: ArgumentKind) -> ArgumentKind:
    """Return the kind of arguments that may be None."""
    return replace(
        kind,
        annotation=kind.annotation | None,
        check=lambda value, name: None if value is None else kind.check(value, name),
        write=lambda value, name: None if value is None else kind.write(value, name),
    )


_RESERVED = frozenset({"self", "verb", "dataset", "column", "request", "max_cost"})


def _check_text(text: object, name: str) -> str:
    exact = exact_text(text)
    if exact is None:
        raise InvalidArgument(f"{name} must be text, got {preview(text)}")
    return exact


def _check_columns(column: object, name: str) -> AnyColumn:
    """Return columns of names that can be printed."""
    columns = check_columns(column, name)
    cells = cells_of(columns)
    for one in [columns] if cells is None else cells.columns:
        read_name(one, name)
    return columns


def _write_terms(terms: dict[str, Any], _: str) -> dict[str, Any]:
    return {
        name: wire.columns_to_wire(term) if name == "by" else wire.write_value(term)
        for name, term in terms.items()
    }


def _read_terms(plain: dict[str, Any]) -> dict[str, Any]:
    """Return the terms of a free question as values. Names of our own arguments are rejected."""
    clashes = _RESERVED & plain.keys()
    if clashes:
        raise InvalidArgument(f"terms may not hold {', '.join(sorted(clashes))}")
    return {name: _READ_TERMS.get(name, wire.read_value)(term) for name, term in plain.items()}


_READ_TERMS: Mapping[str, Callable[[Any], Any]] = {
    "by": wire.columns_from_wire, **dict.fromkeys(("candidates", "groups"), wire.read_by_column)
}  # fmt: skip
"""How terms of columns are read. All others are values."""


def _check_event_number(number: object, name: str) -> int:
    return 0 if type(number) is int and number == 0 else count(number, name)


TEXT = ArgumentKind(str, _check_text)
NAME = ArgumentKind(str, read_name)
OPTIONAL_NAME = _optional(NAME)
COLUMNS_ASKED = _optional(
    ArgumentKind(
        str | dict[str, object] | list[object],
        _check_columns,
        lambda columns, _: plain_columns(columns),
        schema={"anyOf": [*COLUMNS_SCHEMA["anyOf"], {"type": "null"}]},
    )
)
AMOUNT = _optional(ArgumentKind(str, write=lambda amount, name: str(positive(amount, name))))
"""A total of a budget, which the ledger checks."""

DELTA_USE = _optional(ArgumentKind(str, lambda word, name: choice(word, name, DELTA_FOR)))
PRICE = _optional(ArgumentKind(str, positive, lambda price, _: str(price)))
FLAG = ArgumentKind(bool, flag)
TERMS = ArgumentKind(dict[str, Any], mapping, _write_terms, _read_terms)
NUMBER_OF_EVENT = ArgumentKind(int, _check_event_number, limits={"ge": 0})
LIMIT = ArgumentKind(
    int,
    lambda limit, name: count(limit, name, most=MOST_EVENTS),
    limits={"ge": 1, "le": MOST_EVENTS},
)

REQUIRED: Any = ...
"""The default of an argument that must be given."""


@dataclass(frozen=True, slots=True, eq=False)
class Argument:
    """An argument of an operation.

    Attributes:
        name: its name.
        kind: how it is checked, written and read.
        description: its description in the OpenAPI document.
        default: its value where it is left out.
    """

    name: str
    kind: ArgumentKind
    description: str | None = None
    default: Any = None


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """The JSON object in which the arguments of an operation travel.

    Attributes:
        name: its name in the OpenAPI document.
        description: its description there.
        arguments: its fields.
    """

    name: str
    description: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Audience:
    """The roles that may call an operation.

    Attributes:
        roles: see `tokens.ROLES`.
        refusal: the message for all others.
    """

    roles: tuple[str, ...]
    refusal: str

    def check(self, role: str) -> None:
        """Raise unless a role may call the operation."""
        if role not in self.roles:
            raise NotAllowed(self.refusal)


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """How the result of an operation travels.

    Attributes:
        model: the name of the model of one reply, or of one item of a list, in `models`.
        write: returns a result as JSON.
        read: returns the result from JSON that was checked by the model, and from the headers of the reply.
        headers: returns the headers that say the rest of a result.
        is_list: whether the JSON is a list.
        is_lines: whether the items of the list travel as JSON lines.
    """

    model: str
    write: Callable[[T], Any]
    read: Callable[[Any, Mapping[str, str]], T]
    headers: Callable[[T], Mapping[str, str]] = lambda _: {}
    is_list: bool = False
    is_lines: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Operation(Generic[T]):
    """An operation of a service.

    Attributes:
        name: its name, in the OpenAPI document too.
        work: the method of `Rights` or `Ownership` that does it.
        route: the method of HTTP and the path under /v1.
        audience: the roles that may call it.
        reply: how its result travels.
        description: its description in the OpenAPI document.
        parameters: the arguments that travel in the path, the query or a header.
        body: the arguments that travel as JSON.
        status: the status of a reply.
        reads_data: whether it reads rows of the data, as a process of its own then does.
    """

    name: str
    work: Callable[..., T]
    route: tuple[str, str]
    audience: Audience
    reply: Reply[T]
    description: str
    parameters: tuple[Argument, ...] = ()
    body: Body | None = None
    status: int = 200
    reads_data: bool = False

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """All arguments."""
        return (*(() if self.body is None else self.body.arguments), *self.parameters)

    @property
    def is_paid(self) -> bool:
        """Whether it is charged, once for every name of a request."""
        return REQUEST in self.parameters

    def check(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call, all checked.

        Raises:
            InvalidArgument: if one cannot be accepted.
        """
        values = {
            one.name: one.kind.check(arguments.get(one.name, one.default), one.name)
            for one in self.arguments
        }
        others = [name for name in arguments if name not in values]
        if others:
            raise InvalidArgument(
                f"{self.name} takes no {preview(others[0])}. It takes {', '.join(values)}"
            )
        return values

    def write(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return arguments that were checked, as JSON."""
        return {one.name: one.kind.write(values[one.name], one.name) for one in self.arguments}

    def read(self, plain: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments that `write` wrote, to be checked."""
        return {one.name: one.kind.read(plain[one.name]) for one in self.arguments}

    def bound(self, *parts: object) -> Callable[..., T]:
        """Return the method that does it, of the one of these objects that has it."""
        kind, name = self.work.__qualname__.split(".")
        method: Callable[..., T] = next(getattr(p, name) for p in parts if type(p).__name__ == kind)
        return method


def _one(model: str, write: Callable[[T], Any], parse: Callable[[Any], T]) -> Reply[T]:
    """Return how one object travels."""
    return Reply(model, write, lambda plain, _: parse(plain))


def _many(model: str, write: Callable[[T], Any], parse: Callable[[Any], T]) -> Reply[list[T]]:
    """Return how a list travels."""
    return Reply(
        model, lambda items: list(map(write, items)), lambda plain, _: list(map(parse, plain)),
        is_list=True,
    )  # fmt: skip


def _write_columns(columns: Mapping[str, Column]) -> list[Any]:
    return list(map(wire.write_column, columns.values()))


def _read_columns(plain: list[Any], _: Mapping[str, str]) -> Mapping[str, Column]:
    return {column.name: column for column in map(wire.column_from_wire, plain)}


def _write_release(release: Release) -> dict[str, Any]:
    """Return a release without whether it was charged, which a header says: a replay has the same bytes."""
    plain = wire.write_release(release)
    del plain["charged"]
    return plain


def _read_release(plain: dict[str, Any], headers: Mapping[str, str]) -> Release:
    return wire.read_release(
        {**plain, "charged": {"?0": True, "?1": False}[headers[wire.REPLAYED]]}
    )


def _release_headers(release: Release) -> dict[str, str]:
    return {wire.REPLAYED: "?0" if release.charged else "?1"}


def _read_chain(plain: list[Any], headers: Mapping[str, str]) -> tuple[ChainHead, list[Event]]:
    return wire.read_chain(headers), [Event(**event) for event in plain]


def _read_new_token(plain: dict[str, Any]) -> NewToken:
    return NewToken(plain.pop("token"), Token(**plain))


_QUOTE = _one("QuoteReply", Quote.as_dict, wire.read_quote)
_RELEASE = Reply("ReleaseReply", _write_release, _read_release, _release_headers)
_BUDGET = _one("BudgetReply", Budget.as_dict, wire.read_budget)
_BUDGETS = _many("BudgetReply", Budget.as_dict, wire.read_budget)
_TOKEN = _one("TokenReply", Token.as_dict, lambda plain: Token(**plain))
_CHAIN: Reply[tuple[ChainHead, list[Event]]] = Reply(
    "EventReply", lambda chain: [event.as_dict() for event in chain[1]], _read_chain,
    lambda chain: wire.write_chain(chain[0]), is_list=True, is_lines=True,
)  # fmt: skip

EVERYBODY = Audience(ROLES, "")
ASKERS = Audience(("owner", "analyst"), AUDITORS_ASK_NOTHING)
OWNERS = Audience(("owner",), "this is for the owner")
OVERSEERS = Audience(("owner", "auditor"), "the history of all is for owners and auditors")

_DATASET = Argument("dataset", NAME, default=REQUIRED)
_ANALYST = Argument("analyst", OPTIONAL_NAME, "The analyst who has the share.")
_AMOUNTS = (
    Argument("epsilon", AMOUNT, "The total ε, such as 1/2."),
    Argument("rho", AMOUNT, "Instead: the total ρ."),
    Argument("delta", AMOUNT, "With epsilon: the total δ."),
)
_DELTA_FOR = Argument("delta_for", DELTA_USE, "With a first delta: questions or composition.")
_MAX_COST = Argument("max_cost", PRICE, "The most to pay: ε, or ρ, such as 1/2.")
REQUEST = Argument(
    "request", OPTIONAL_NAME, "The name of the request: charged and drawn once.", REQUIRED
)
REQUEST_KEY = "Idempotency-Key"
"""The header in which the name of a request travels."""

_NAMED = Body("NamedQuestion", "A named question.", (
    Argument("question", NAME, "The name of the question.", REQUIRED),
    Argument("dataset", OPTIONAL_NAME, "Its dataset, if several have a question of this name."),
))  # fmt: skip
_NAMED_TO_PAY = Body(
    "QuestionToPay", "A named question, and what is paid for its answer.", (*_NAMED.arguments, _MAX_COST)
)  # fmt: skip
_FREE = Body("FreeQuestion", "A free question.", (
    Argument("verb", NAME, "A verb that the owner allows, such as median.", REQUIRED),
    _DATASET, Argument(
        "column", COLUMNS_ASKED,
        "A declared column, bins of one, or a list of these. Only count can do without.",
    ),
    Argument("terms", TERMS, "epsilon, candidates, by, …", {}),
))  # fmt: skip
_FREE_TO_PAY = Body(
    "FreeQuestionToPay", "A free question, and what is paid for its answer.", (*_FREE.arguments, _MAX_COST)
)  # fmt: skip
_TO_OPEN = Body(
    "BudgetToOpen",
    "A budget, or an analyst's share of one, with its total where discreet.toml declares none.",
    (_DATASET, _ANALYST, *_AMOUNTS, _DELTA_FOR, Argument(
        "separate", FLAG, "It shares a database or files with other budgets, but holds other "
                          "people's data.", False
    )),
)  # fmt: skip
_TO_EXTEND = Body(
    "BudgetToExtend", "A budget, or an analyst's share of one, with its new total.",
    (_DATASET, _ANALYST, *_AMOUNTS, _DELTA_FOR),
)  # fmt: skip
_TO_RENEW = Body(
    "BudgetToRenew", "The next budget of a dataset. Without a total, it is the declared one or "
                     "that of before.",
    (_DATASET, Argument(
        "period", OPTIONAL_NAME, "Its name, such as 2027. Leave it out if discreet.toml declares "
                                 "calendar periods."
    ), *_AMOUNTS),
)  # fmt: skip
_TO_REOPEN = Body("DatasetToReopen", "A dataset that is opened again after failures.", (
    _DATASET, Argument("analyst", OPTIONAL_NAME, "The analyst to open it for. The default is all "
                                                 "of them."),
))  # fmt: skip
_TOKEN_TO_CREATE = Body("TokenToCreate", "A token.", (
    Argument("role", TEXT, "owner, analyst or auditor.", REQUIRED),
    Argument("analyst", OPTIONAL_NAME, "The analyst, for that role."),
    Argument(
        "expires", TEXT,
        "After days such as 90d, or on a date such as 2027-01-31, but not after your own token.", "90d",
    ),
))  # fmt: skip

QUESTIONS = Operation(
    "questions", Rights.questions, ("GET", "/questions"), EVERYBODY,
    _many("QuestionReply", wire.write_question, wire.read_question), "List the named questions.",
)  # fmt: skip
OWN_RIGHTS = Operation(
    "rights", Rights.own_rights, ("GET", "/rights"), EVERYBODY,
    _one("OwnRightsReply", OwnRights.as_dict, OwnRights.read),
    "Return the name of the caller, and the free questions that are allowed.",
)  # fmt: skip
COLUMNS = Operation(
    "columns", Rights.columns, ("GET", "/columns"), EVERYBODY,
    Reply("ColumnReply", _write_columns, _read_columns, is_list=True),
    "List the declared columns of a dataset.",
    (Argument("dataset", NAME, "The name of the dataset.", REQUIRED),),
)  # fmt: skip
BUDGETS = Operation(
    "budgets", Rights.budgets, ("GET", "/budgets"), EVERYBODY,
    _BUDGETS, "List the caller's budgets.",
)  # fmt: skip
RELEASES = Operation(
    "releases", Rights.releases, ("GET", "/releases"), EVERYBODY,
    _many("PastReleaseReply", PastRelease.as_dict, wire.read_past), "List what was released to the caller before.",
)  # fmt: skip
QUOTE = Operation(
    "quote", Rights.quote, ("POST", "/quotes"), EVERYBODY, _QUOTE,
    "Return the price of a named question, and how far off an answer may be.", body=_NAMED,
)  # fmt: skip
ANSWER = Operation(
    "answer", Rights.ask, ("POST", "/answers"), ASKERS, _RELEASE,
    "Answer a named question, and charge it once for each Idempotency-Key.",
    (REQUEST,), _NAMED_TO_PAY, reads_data=True,
)  # fmt: skip
QUOTE_VERB = Operation(
    "quote_verb", Rights.quote_free, ("POST", "/verbs/quotes"), EVERYBODY, _QUOTE,
    "Return the price of a free question, and how far off an answer may be.", body=_FREE,
)  # fmt: skip
ANSWER_VERB = Operation(
    "answer_verb", Rights.ask_free, ("POST", "/verbs/answers"), ASKERS, _RELEASE,
    "Answer a free question, and charge it once for each Idempotency-Key.",
    (REQUEST,), _FREE_TO_PAY, reads_data=True,
)  # fmt: skip
OPEN_BUDGET = Operation(
    "open_budget", Ownership.open_budget, ("POST", "/budgets"), OWNERS, _BUDGET,
    "Open the declared budget of a dataset, or an analyst's share of it. For the owner.",
    body=_TO_OPEN, status=201,
)  # fmt: skip
EXTEND_BUDGET = Operation(
    "extend_budget", Ownership.extend_budget, ("POST", "/budgets/extensions"), OWNERS, _BUDGET,
    "Give a budget or a share a larger total. For the owner.", body=_TO_EXTEND,
)  # fmt: skip
RENEW_BUDGET = Operation(
    "renew_budget", Ownership.renew_budget, ("POST", "/budgets/renewals"), OWNERS, _BUDGET,
    "Open the next budget of a dataset, with the declared shares. For the owner.",
    body=_TO_RENEW, status=201,
)  # fmt: skip
REOPEN = Operation(
    "reopen", Ownership.reopen, ("POST", "/budgets/reopenings"), OWNERS,
    _BUDGETS,
    "Open a dataset again that failures have closed for an analyst, or for all. For the owner.",
    body=_TO_REOPEN,
)  # fmt: skip
TOKENS = Operation(
    "tokens", Ownership.tokens, ("GET", "/tokens"), OWNERS,
    _many("TokenReply", Token.as_dict, lambda plain: Token(**plain)),
    "List the tokens that were not revoked, expired ones too. For the owner.",
)  # fmt: skip
CREATE_TOKEN = Operation(
    "create_token", Ownership.create_token, ("POST", "/tokens"), OWNERS,
    _one("NewTokenReply", NewToken.as_dict, _read_new_token),
    "Make a token, which is shown once, and ends with the one it is made with. For the owner.",
    body=_TOKEN_TO_CREATE, status=201,
)  # fmt: skip
REVOKE_TOKEN = Operation(
    "revoke_token", Ownership.revoke_token, ("DELETE", "/tokens/{identity}"), OWNERS, _TOKEN,
    "Revoke a token by its id, and all made with it. For the owner.",
    (Argument("identity", NAME, default=REQUIRED),),
)  # fmt: skip
AUDIT = Operation(
    "audit", Ownership.chain, ("GET", "/audit"), OVERSEERS, _CHAIN,
    "Return events of the ledger as JSON lines, to be verified. For owners and auditors.\n\nThe "
    "headers say where the chain ends now: Ledger-Id, Ledger-Schema, Ledger-Events and "
    "Ledger-Head.",
    (
        Argument("after", NUMBER_OF_EVENT, "The number of the last event known already.", 0),
        Argument("limit", LIMIT, "The most events in one reply.", MOST_EVENTS),
    ),
)  # fmt: skip

OPERATIONS: tuple[Operation[Any], ...] = (
    OWN_RIGHTS, QUESTIONS, COLUMNS, BUDGETS, RELEASES, QUOTE, ANSWER, QUOTE_VERB, ANSWER_VERB, OPEN_BUDGET,
    EXTEND_BUDGET, RENEW_BUDGET, REOPEN, TOKENS, CREATE_TOKEN, REVOKE_TOKEN, AUDIT,
)  # fmt: skip

READING: tuple[Operation[Any], ...] = tuple(one for one in OPERATIONS if one.reads_data)
"""The operations that read rows of the data."""
