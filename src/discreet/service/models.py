"""What travels over HTTP, as the OpenAPI document declares it: requests are checked, replies are described."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Given(BaseModel):
    """What a caller sends: nothing that is not declared."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NamedQuestion(_Given):
    """A named question."""

    question: str = Field(description="The name of the question.")
    dataset: str | None = Field(
        None, description="Its dataset, where several have such a question."
    )
    size: int | None = Field(None, description="How many independent answers.")


class QuestionToPay(NamedQuestion):
    """A named question, and what is paid for its answer."""

    max_cost: str | None = Field(None, description="Refuse to pay more: ε, or ρ, such as 1/2.")


class FreeQuestion(_Given):
    """A free question."""

    verb: str = Field(description="A verb that the owner allows, such as median.")
    dataset: str
    column: str
    size: int | None = Field(None, description="How many independent answers.")
    terms: dict[str, Any] = Field(default_factory=dict, description="epsilon, candidates, by, …")


class FreeQuestionToPay(FreeQuestion):
    """A free question, and what is paid for its answer."""

    max_cost: str | None = Field(None, description="Refuse to pay more: ε, or ρ, such as 1/2.")


class BudgetToOpen(_Given):
    """A budget, or an analyst's share of one, with its total where discreet.toml declares none."""

    dataset: str
    analyst: str | None = Field(None, description="The analyst whose share it is.")
    epsilon: str | None = Field(None, description="The total ε, such as 1/2.")
    rho: str | None = Field(None, description="Instead: the total ρ.")
    delta: str | None = Field(None, description="With epsilon: the total δ.")


class TokenToCreate(_Given):
    """A token."""

    role: str = Field(description="owner, analyst or auditor.")
    analyst: str | None = Field(None, description="The analyst, for that role.")
    expires: str = Field(
        "90d",
        description="After days such as 90d, or a date such as 2027-01-31; at the latest with your own.",
    )


class AmountReply(BaseModel):
    """An amount of privacy: exact numbers as text, such as 1/2. What is not counted is left out."""

    epsilon: str | None = None
    rho: str | None = None
    delta: str | None = None


class ErrorBoundReply(BaseModel):
    """One answer is off by less than `error` with at least that probability, whatever the data are."""

    error: str
    probability: str
    unit: str


class QuoteReply(BaseModel):
    """A price. Nothing was charged."""

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


class ReleaseReply(BaseModel):
    """A released answer with its guarantee."""

    value: Any = Field(
        description="As plain JSON; dates, decimals and maps as objects with one $key."
    )
    guarantee: dict[str, Any]
    mechanism: str
    unit: str | list[str] | None
    query: str
    candidates: int | None


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
    total: AmountReply
    spent: AmountReply
    remaining: AmountReply


class QuestionReply(BaseModel):
    """A question that the owner has named."""

    name: str
    access: str
    query: str
    guarantee: dict[str, Any]
    mechanism: str
    candidates: int | None
    unit: str | list[str] | None
    size: int
    requests: int | None


class PastReleaseReply(BaseModel):
    """A release that was charged before."""

    dataset: str
    analyst: str | None
    request: str
    query: str
    guarantee: dict[str, Any]
    privacy_unit: str | list[str] | None
    at: str
    is_answered: bool


class ColumnReply(BaseModel):
    """A declared column."""

    model_config = ConfigDict(extra="allow")

    name: str
    type: str


class EventReply(BaseModel):
    """An event of the ledger, in the chain of hashes."""

    number: int
    at: str
    kind: str
    dataset: str
    analyst: str | None
    request: str | None
    body: dict[str, Any]
    head: str


class TokenReply(BaseModel):
    """What is told of a token."""

    id: str
    role: str
    analyst: str | None
    created: str
    expires: str
    parent: str | None = Field(
        description="The id of the token that it was made with; it ends and is revoked with that one."
    )


class NewTokenReply(TokenReply):
    """A token that was made just now. It is not shown again."""

    token: str


class HealthReply(BaseModel):
    """Whether the service can answer."""

    status: str = Field(description="ok, or unavailable if the ledger cannot be used.")


class PartsReply(BaseModel):
    """Which parts of the service can be used."""

    status: str = Field(description="ok, or degraded if a part cannot be used.")
    parts: dict[str, str] = Field(description="Each part: ok, or unavailable.")


class RequestCount(BaseModel):
    """How often a route was asked for, with what status."""

    method: str
    route: str
    status: int
    number: int


class Metrics(BaseModel):
    """What the owner is told of the service."""

    requests: list[RequestCount]
    refusals: dict[str, int]
    missed_slots: int
    budgets: list[BudgetReply]


class ErrorReply(BaseModel):
    """An error: its class in discreet.errors, its message, and the amounts of a budget that cannot pay."""

    error: str
    message: str
    notes: list[str]
    charged: bool | None = Field(
        None, description="Whether it was charged though it failed; null if nobody could find out."
    )
    requested: AmountReply | None = None
    spent: AmountReply | None = None
    remaining: AmountReply | None = None
