"""What the tests of the ledger share: bills, and draws that must not happen."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet.ledger import transaction
from discreet.privacy import PureDP
from discreet.privacy.guarantees import Guarantee
from discreet.selection.payment import Bill, Indices
from discreet.selection.question_sentences import sentence_of

DIGEST = "2:" + "ab" * 32


def bill(
    epsilon: Any = 1,
    request: str | None = None,
    *,
    digest: str = DIGEST,
    guarantee: Guarantee | None = None,
) -> Bill:
    """Return a bill over pure epsilon, or over any guarantee."""
    held = guarantee or PureDP(Fraction(epsilon), "add_remove")
    question = sentence_of({"verb": "mode", "column": "drink", "candidates": 3})
    return Bill(held, "exponential", question, digest, request)


def answering(answer: Any) -> Callable[[], Callable[[], Indices]]:
    """Return a `prepare` whose draw is that answer."""
    return lambda: lambda: answer


def untouched() -> Callable[[], Indices]:
    """A `prepare` for what must be refused before anything private is looked at."""
    raise AssertionError("private data were looked at")


def undrawn() -> Callable[[], Indices]:
    """A `prepare` for what must fail before a bit is read."""

    def draw() -> Indices:
        raise AssertionError("a bit was read")

    return draw


def forgetting() -> None:
    """Let this process be one that has seen no ledger yet, as after a restart."""
    transaction._SEEN.clear()
