"""Guarantees and neighboring relations as sentences: for report, page and notebook."""

from decimal import Decimal
from fractions import Fraction

from ..base.messages import Message
from ..base.numbers import spell
from ..privacy.contract import Guarantee
from ..privacy.sensitivity import Neighbors, Unit, unit_in_words
from ..sampling.enclosures import ball, precision, upper

_DELTA = Fraction(1, 10**6)
"""The delta for guarantees that hold at any delta: one in a million."""

_HUGE = 12
"""Above this epsilon a factor is written as a power: e**12 is more than 100,000."""

_BELIEF = Message(
    "If you thought it even odds whether {whether}, you can be at most {sure} sure after seeing "
    "the answer, no matter what else you know or compute."
)
_NO_PROTECTION = Message(
    "If you thought it even odds whether {whether}, you may be practically sure after seeing the "
    "answer: an ε this large protects no one."
)
_CHANGED: dict[Neighbors, Message] = {
    "add_remove": Message("Think of the same data with one record added or removed."),
    "replace_one": Message("Think of the same data with one record replaced by another."),
}
_WHETHER: dict[Neighbors, Message] = {
    "add_remove": Message("that record is in the data"),
    "replace_one": Message("it is the one record or the other"),
}
_RELATION: dict[Neighbors, Message] = {
    "add_remove": Message(
        "One record added or removed. How many records there are is protected too. {record}"
    ),
    "replace_one": Message(
        "One record replaced by another. How many records there are is taken as public. {record}"
    ),
}


def guarantee_in_words(guarantee: Guarantee) -> list[Message]:
    """Return the guarantee in plain sentences; all numbers are rounded up."""
    if guarantee.slack == 1:
        return [Message("Nothing is promised. {guarantee}.", guarantee=_capital(str(guarantee)))]
    change, epsilon = _CHANGED[guarantee.neighbors], guarantee.pure
    if epsilon is None:
        least = guarantee.approx(guarantee.slack or _DELTA)
        return [
            Message(
                "{changed} The probability of any set of answers on the one is at most {factor} "
                "times that on the other, plus {delta}.",
                changed=change, factor=_factor(least.epsilon), delta=spell(least.delta),
            )
        ]  # fmt: skip
    belief = _NO_PROTECTION if epsilon > _HUGE else _BELIEF
    return [
        Message(
            "{changed} Any answer is at most {factor} times as likely on the one as on the other.",
            changed=change, factor=_factor(epsilon),
        ),
        belief.fill(whether=_WHETHER[guarantee.neighbors], sure=f"{belief_percent(epsilon)} %"),
    ]  # fmt: skip


def neighbors_in_words(relation: Neighbors, unit: Unit | None) -> Message:
    """Return the neighboring relation in words."""
    record = Message("One record is one row.")
    if unit is not None:
        record = Message("One record is all rows of one {unit}.", unit=unit_in_words(unit))
    return _RELATION[relation].fill(record=record)


def _capital(text: str) -> str:
    """Return a text with a capital first; a message is a sentence of its own then."""
    if not isinstance(text, Message):
        return text[:1].upper() + text[1:]
    return Message(text.template[:1].upper() + text.template[1:], text.context, **text.parts)


def _factor(epsilon: Fraction) -> str:
    if epsilon > _HUGE:
        return f"e^{spell(epsilon).removeprefix('≤ ')}"
    with precision(128):
        return _up(upper(ball(epsilon).exp()))


def belief_percent(epsilon: Fraction, prior: Fraction = Fraction(1, 2)) -> str:
    """Return how sure one can be, in percent, rounded up, after an answer at epsilon."""
    with precision(128):
        doubts = ball((1 - prior) / prior) * (-ball(epsilon)).exp()
        return at_most_percent(min(Fraction(1), upper(1 / (1 + doubts))))


def at_most_percent(probability: Fraction) -> str:
    """Return a probability in percent, rounded up to one place, or to the first that keeps it below 100."""
    tenths = -(-probability * 1000 // 1)
    places = 1
    while tenths >= 100 * 10**places and probability < 1:
        places += 1
        tenths = -(-probability * 10 ** (places + 2) // 1)
    return f"{Decimal(tenths).scaleb(-places):.{places}f}"


def _up(value: Fraction) -> str:
    """Return a number with two decimals, rounded up."""
    cents = -(-value * 100 // 1)
    return f"{float(cents / 100):,.2f}"
