"""The requests and replies of a service, as the OpenAPI document declares them."""

from functools import cache
from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from ...ledger import Event
from ..asking.operations import REQUEST, Argument, Body, Operation


class AmountReply(BaseModel):
    """An amount of privacy: exact numbers as text, such as 1/2. Units that are not counted are left out."""

    epsilon: str | None = None
    rho: str | None = None
    delta: str | None = None


class ErrorBoundReply(BaseModel):
    """One answer is off by less than `error` with at least that probability, for all data."""

    error: str
    probability: str
    unit: str


class NoiseReply(BaseModel):
    """The noise that numbers have, with the standard deviations of both at this price."""

    name: str
    geometric: str
    gaussian: str


class BilledPartReply(BaseModel):
    """One of several questions that are answered at one price, with its own guarantee."""

    name: str
    guarantee: dict[str, Any]
    worst_error: ErrorBoundReply | None
    noise: NoiseReply | None = Field(
        None, description="Which noise its numbers have, where there is a choice between two."
    )


class QuoteReply(BaseModel):
    """A price, without a charge."""

    budget: str
    fits: bool
    cost: AmountReply
    spent: AmountReply
    remaining: AmountReply
    after: AmountReply | None
    closed: str | None = Field(
        description="Why the budget cannot pay any more, such as its period."
    )
    worst_error: ErrorBoundReply | None
    answers_after: float | None = Field(
        None,
        description="The seconds from the start of the reading to the answer, or 2, 4, 8 … times as many.",
    )
    parts: list[BilledPartReply] | None = Field(
        None, description="The questions, where several are answered at this price."
    )
    noise: NoiseReply | None = Field(
        None, description="Which noise the numbers have, where there is a choice between two."
    )


class ReleaseReply(BaseModel):
    """A released answer with its guarantee."""

    value: Any = Field(
        description="As plain JSON, with dates, decimals and maps as objects with one $key."
    )
    guarantee: dict[str, Any]
    mechanism: str
    unit: str | list[str] | None
    query: str = Field(description="The question in words.")
    asked: dict[str, Any] = Field(description="The facts that these words are made of.")
    candidates: int | None
    digits: int | None = Field(
        None, description="To how many digits it was drawn, where no candidates were named."
    )
    counts: Any = Field(None, description="Noisy counts of the answers, in the shape of the value.")
    gap: Any = Field(None, description="How far ahead the winner was, if that was asked for.")
    other: Any = Field(None, description="The noisy number of units outside the answers.")
    bounds: Any = Field(None, description="The bounds that were drawn for a sum or a mean.")
    noise: NoiseReply | dict[str, NoiseReply | None] | None = Field(
        None,
        description="Which noise the numbers have, where there was a choice between two, or each column "
        "of a statement.",
    )
    error: ErrorBoundReply | dict[str, ErrorBoundReply | None] | None = Field(
        None,
        description="How far off it may be, or each column of a statement. Null where no bound is "
        "known.",
    )


POSTPONED = "The answer is not there yet."
"""What the OpenAPI document says of it."""


class PostponedReply(BaseModel):
    """An answer that is not there yet. Ask again, with the same Idempotency-Key."""

    request: str = Field(description="The Idempotency-Key.")


class BudgetReply(BaseModel):
    """A privacy budget, or an analyst's share of one."""

    dataset: str
    analyst: str | None
    neighbors: Literal["add_remove", "replace_one"]
    privacy_unit: str | list[str] | None
    period: str | None
    is_current: bool
    delta_for: str | None
    shares: str | None
    closed: str | None = Field(
        None, description="Why nothing is answered after failures, until the owner opens it again."
    )
    total: AmountReply
    spent: AmountReply
    remaining: AmountReply


class QuestionReply(BaseModel):
    """A question that the owner has named."""

    name: str
    access: str
    query: str = Field(description="The question in words.")
    asked: dict[str, Any] = Field(description="The facts that these words are made of.")
    guarantee: dict[str, Any]
    mechanism: str
    candidates: int | None
    unit: str | list[str] | None
    requests: int | None


class OwnRightsReply(BaseModel):
    """The name of the caller, and the free questions that are allowed. Exact numbers are texts."""

    analyst: str | None
    verbs: list[str]
    max_epsilon: str | None
    max_delta: str | None
    where: list[str] | None = Field(
        description="The columns with which conditions may compare, or null for all."
    )
    confirm_above: str | None = Field(
        description="A question of an assistant that may cost more is confirmed by its user."
    )


class PastReleaseReply(BaseModel):
    """A release that was charged before."""

    dataset: str
    analyst: str | None
    request: str
    query: str = Field(description="The question in words.")
    asked: dict[str, Any] = Field(description="The facts that these words are made of.")
    guarantee: dict[str, Any]
    privacy_unit: str | list[str] | None
    at: str
    is_answered: bool
    has_failed: bool = False


class ColumnReply(BaseModel):
    """A declared column."""

    model_config = ConfigDict(extra="allow")

    name: str
    type: str


EventReply = create_model(
    "EventReply", **{name: (kind, ...) for name, kind in get_type_hints(Event).items()}
)  # type: ignore[call-overload]
"""An event of the ledger, in the chain of hashes."""


class TokenReply(BaseModel):
    """A token, without its text and its hash."""

    id: str
    role: str
    analyst: str | None
    created: str
    expires: str
    parent: str | None = Field(
        description="The id of the token that it was made with. It ends and is revoked with that "
        "one."
    )


class NewTokenReply(TokenReply):
    """A token that was made just now. It is not shown again."""

    token: str


class HealthReply(BaseModel):
    """Whether the service can answer."""

    status: str = Field(description="ok, or unavailable if the ledger cannot be used.")


class LateAnswersReply(BaseModel):
    """Answers that were late, or given up, since the last reset."""

    dataset: str
    analyst: str | None
    delay: int = Field(
        description="How many times as long as answers_after their answers take now."
    )
    given_up: int = Field(description="How many questions were given up.")
    answers_after: float = Field(description="The seconds under which none would have been late.")
    bits: int | None = Field(description="What these can have told about the data, in bits.")


class PartsReply(BaseModel):
    """Which parts of the service can be used."""

    status: str = Field(description="ok, or degraded if a part cannot be used.")
    parts: dict[str, str] = Field(description="Each part: ok, or unavailable.")
    late_answers: list[LateAnswersReply]


class RequestCount(BaseModel):
    """How often a route was asked for, by method and status."""

    method: str
    route: str
    status: int
    number: int


class Metrics(BaseModel):
    """The metrics of the service, for its owner."""

    requests: list[RequestCount]
    refusals: dict[str, int]
    ledger_late: dict[str, int] = Field(
        description="How many answers left later because the ledger was slow, by dataset."
    )
    late_answers: list[LateAnswersReply]
    budgets: list[BudgetReply]


class ErrorReply(BaseModel):
    """An error: its class in discreet.errors, its message, and the amounts of a budget that cannot pay."""

    error: str
    message: str
    notes: list[str]
    charged: bool | None = Field(
        None, description="Whether it was charged though it failed, or null if that is not known."
    )
    requested: AmountReply | None = None
    spent: AmountReply | None = None
    remaining: AmountReply | None = None


@cache
def body_model(body: Body) -> type[BaseModel]:
    """Return the model by which a body is checked: it holds declared fields alone."""
    fields = _fields(body.arguments)
    config = ConfigDict(extra="forbid", strict=True)

    def check_number(plain: Any) -> Any:
        # The model would make an error of every name that it does not have, in which others wait for a second.
        if isinstance(plain, dict) and len(plain) > len(fields):
            raise ValueError("more names than the model has")
        return plain

    validators: dict[str, Any] = {"check_number": model_validator(mode="before")(check_number)}
    return create_model(
        body.name, __config__=config, __doc__=body.description, __validators__=validators, **fields
    )


@cache
def parameter_model(operation: Operation[Any]) -> type[BaseModel]:
    """Return the model that checks the parameters beside a body: texts, that may spell numbers."""
    model: type[BaseModel] = create_model(operation.name, **_fields(operation.parameters))
    return model


def _fields(arguments: tuple[Argument, ...]) -> dict[str, Any]:
    """Return the fields of a model of some arguments."""
    return {
        one.name: (
            str if one is REQUEST else one.kind.annotation,
            Field(
                one.default,
                description=one.description,
                json_schema_extra=one.kind.schema,
                **one.kind.limits,
            ),
        )
        for one in arguments
    }
