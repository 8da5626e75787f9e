"""Questions and guarantees as sentences: for terminal, notebook, report, page and history.

The question of a release has one text, which a ledger stores in a chain of hashes, so it never changes. Sentences
are made of it where they are shown, and only if it can be read in one way; any other text is shown as it is.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from ..base.messages import AND, Message, join, plural
from ..base.numbers import spell
from ..privacy.contract import Guarantee
from ..privacy.sensitivity import Neighbors
from ..privacy.units import Unit, unit_in_words
from ..sampling.enclosures import ball, precision, upper

_NAME = r"(?:(?!, ).)+"
"""A name of a column that ends at the next comma with a space; of names with one in them nobody could say where."""

_QUESTIONS: tuple[tuple[str, Message], ...] = (
    (r"mode of values", Message("most common of the values")),
    (rf"mode of (?P<column>{_NAME})", Message("most common value of {column}")),
    (r"top (?P<k>\d+) of scores", Message("top {k} of scores")),
    (r"top (?P<k>\d+) of values", Message("the {k} most common of the values")),
    (rf"top 1 of (?P<column>{_NAME})", Message("most common value of {column}")),
    (rf"top (?P<k>\d+) of (?P<column>{_NAME})", Message("the {k} most common values of {column}")),
    (r"number of records", Message("number of records")),
    (rf"count of (?P<column>{_NAME})", Message("number of records with a value in {column}")),
    (r"counts of values", Message("how many records hold each of the values")),
    (
        rf"counts of (?P<column>{_NAME})",
        Message("how many records hold each value of {column}"),
    ),
    (r"keys of values", Message("values that nobody listed")),
    (rf"keys of (?P<column>{_NAME})", Message("values of {column} that nobody listed")),
    (rf"sum of (?P<column>{_NAME})", Message("sum of {column}")),
    (rf"mean of (?P<column>{_NAME})", Message("mean of {column}")),
    (rf"quantile 1/2 of (?P<column>{_NAME})", Message("median of {column}")),
    (rf"quantile 0 of (?P<column>{_NAME})", Message("minimum of {column}")),
    (rf"quantile 1 of (?P<column>{_NAME})", Message("maximum of {column}")),
    (
        rf"quantile (?P<share>\d+/\d+) of (?P<column>{_NAME})",
        Message("quantile {share} of {column}"),
    ),
    (
        rf"quantiles (?P<shares>[\d/]+(?:, [\d/]+)*) of (?P<column>{_NAME}), [a-z_]+",
        Message("quantiles {shares} of {column}"),
    ),
    (
        rf"bounds at \d+(?:/\d+)? of (?P<column>{_NAME})",
        Message("two numbers between which nearly all of {column} are"),
    ),
    (rf"profile of (?P<column>{_NAME})", Message("profile of {column}")),
    (rf"profile of (?P<columns>{_NAME}(?:, (?!per ){_NAME})+)", Message("profile of {columns}")),
    (rf"median \(by distance\) of (?P<column>{_NAME})", Message("median of {column}, by distance")),
    (rf"price for (?P<column>{_NAME})", Message("best price for {column}")),
    (
        rf"continuous price for (?P<column>{_NAME})",
        Message("best price for {column}, any number before it is rounded down"),
    ),
)
"""The beginnings of stored texts, and how they are said; the first that fits."""

_UNNAMED = {"numbers": Message("numbers"), "bids": Message("bids")}
"""Columns without a name."""

_NUMBER = r"[^,;()]+"
_FRACTION = re.compile(r"-?\d{1,40}(?:/0*[1-9]\d{0,39})?")
_CONDITIONS = re.compile(
    rf"(?:, (?:Date)?Grid\((?P<low>{_NUMBER}), (?P<high>{_NUMBER}), step (?P<step>{_NUMBER})"
    rf"(?:, (?P<zone>{_NUMBER}))?; [\d,]+ points\)"
    r"|, Labels\(\[[^\[\]]*\], (?P<labels>\d+) in all\)|, (?P<candidates>\d+) candidates"
    r"|, Decimals\((?P<digits>\d+) digits; [\d,]+ points\)"
    r"|, (?P<round>round numbers) \(1, 2 and 5 times powers of ten; [\d,]+ points\)"
    r"|, (?P<unsafe>candidates from the data)"
    r"|, any values by (?P<way>private keys|limited domain(?: for (?:rho|scale))? among (?P<first>\d+))"
    r"|, any values(?:, from (?P<least>\d+) records on)?, (?P<released>\d+) at most)?"
    r"(?P<noisy>, by noisy counts)?"
    r"(?:, supply (?P<supply>None|\d+), units (?P<units>\d+))?"
    rf"(?:, per (?P<unit>\(\w+(?:, \w+)+\)|{_NAME})(?:, (?P<rows>\d+) rows each)?"
    r"(?:, (?P<most>\d+) candidates each|, (?P<keys>\d+) keys each)?)?"
    rf"(?:, by (?P<by>{_NAME}) \((?:(?P<groups>\d+) groups|drawn groups, one half at (?P<half>\d+))\))?"
)
"""The rest of a stored text: the candidates, what is sold, the privacy unit and the groups."""

_GROUPED = 10_000
"""From here on thousands are set apart, in all numbers of a range: 300,000 by 1,000, but 1980 to 2020."""

_DELTA = Fraction(1, 10**6)
"""The delta for guarantees that hold at any delta: one in a million."""

_HUGE = 12
"""Above this epsilon a factor is written as a power: e**12 is more than 100,000."""

_BELIEF = Message(
    "So whoever thought it even odds whether {whether} can be at most {sure} sure after seeing the answer, "
    "whatever else they know, and however much they compute."
)
_NO_PROTECTION = Message(
    "So whoever thought it even odds whether {whether} may be practically sure after seeing the answer: an ε this "
    "large protects nobody."
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
        "One record added or removed; how many records there are is protected too. {record}"
    ),
    "replace_one": Message(
        "One record replaced by another; how many records there are is taken as public. {record}"
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
                "{changed} Whatever one may look for in what comes out, its chance on the one is at most {factor} "
                "times its chance on the other, plus {delta}.",
                changed=change, factor=_factor(least.epsilon), delta=spell(least.delta),
            )
        ]  # fmt: skip
    belief = _NO_PROTECTION if epsilon > _HUGE else _BELIEF
    return [
        Message(
            "{changed} Whatever comes out here, its chance on the one is at most {factor} times its chance on the "
            "other.",
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


def question_in_words(text: str) -> str:
    """Return the stored text of a question as a sentence, or as it is if it cannot be read in one way."""
    for beginning, sentence in _QUESTIONS:
        match = re.match(f"(?:{beginning})(?=, |$)", text)
        rest = match and _CONDITIONS.fullmatch(text, match.end())
        if match and rest:
            names = {name: _UNNAMED.get(part, part) for name, part in match.groupdict().items()}
            return join(AND, [sentence.fill(**names), *_conditions(rest.groupdict())])
    return text


def _conditions(parts: dict[str, str | None]) -> Iterator[str]:
    """Yield the conditions of a question, from the parts of its stored text."""
    yield _candidates(parts)
    if parts["noisy"] is not None:
        yield Message("by noisy counts")
    if parts["supply"] not in {None, "None"}:
        yield Message("{supply} to sell", supply=parts["supply"])
    if parts["unit"] is not None:
        yield _of_each(parts)
    elif parts["units"] not in {None, "1"}:
        yield Message("at most {units} of each bidder", units=parts["units"])
    if parts["by"] is not None:
        yield _groups(parts, parts["by"])


def _groups(parts: dict[str, str | None], by: str) -> Message:
    """Return the groups of a question in words: how many, or why one that is drawn may be missing."""
    if parts["half"] is not None:
        return Message(
            "for each group of {by} that is drawn: one of fewer than {records} records is named with a "
            "probability below one half",
            by=by,
            records=parts["half"],
        )
    return Message("for each of {groups} groups of {by}", groups=parts["groups"], by=by)


def _of_each(parts: dict[str, str | None]) -> Message:
    """Return the sentence of the records that count of a privacy unit."""
    unit = parts["unit"]
    if parts["rows"] == "1":
        return Message("one row of each {unit}", unit=unit)
    if parts["rows"] is not None:
        return Message("at most {rows} rows of each {unit}", rows=parts["rows"], unit=unit)
    if parts["most"] is not None:
        return Message("at most {most} candidates of each {unit}", most=parts["most"], unit=unit)
    if parts["keys"] is not None:
        return Message("at most {most} values of each {unit}", most=parts["keys"], unit=unit)
    return Message("per {unit}", unit=unit)


def _candidates(parts: dict[str, str | None]) -> str:
    """Return the candidates of a question in words; "" if it has none."""
    if parts["unsafe"] is not None:
        return Message("candidates from the data")
    if parts["round"] is not None or parts["digits"] is not None:
        return _unbounded(parts["digits"])
    count = parts["labels"] or parts["candidates"]
    if count is not None:
        return plural("{count:,} candidate", "{count:,} candidates", int(count))
    if parts["way"] is not None:
        return _way(parts["way"], parts["first"])
    if parts["released"] is not None:
        released, least = parts["released"], parts["least"]
        if least is None:
            return Message("at most {most} values", most=released)
        return Message(
            "at most {most} values, each of at least {least} records", most=released, least=least
        )
    if parts["low"] is None:
        return ""
    low, high, step = _set_apart([str(parts[name]) for name in ("low", "high", "step")])
    values = Message("{low} to {high} by {step}", low=low, high=high, step=step)
    return join(AND, [values, parts["zone"] or ""])


def _unbounded(digits: str | None) -> Message:
    """Return the numbers among which answers are where no bounds are given."""
    if digits is None:
        return Message("round numbers")
    return Message("all decimals of {digits} digits", digits=digits)


def _way(way: str, first: str | None) -> Message:
    """Return how values without a list are drawn, and why so."""
    if first is None:
        return Message(
            "any values that enough records hold, by private keys with their counts, as one record adds to no more "
            "values than are asked for"
        )
    if " for " in way:
        return Message(
            "any values that enough records hold, by limited domain among the {count} most common, as private keys "
            "take an epsilon",
            count=first,
        )
    return Message(
        "any values that enough records hold, by limited domain among the {count} most common, as one record may "
        "add to more values than are asked for",
        count=first,
    )


def _set_apart(numbers: list[str]) -> list[str]:
    """Return fractions as decimals where that is short, with thousands set apart where some are large."""
    if not all(map(_FRACTION.fullmatch, numbers)):  # dates, or too long to be read
        return numbers
    fractions = list(map(Fraction, numbers))
    comma = "," if max(map(abs, fractions)) >= _GROUPED else ""
    return [_decimal(number, comma) for number in fractions]


def _decimal(number: Fraction, comma: str) -> str:
    if number.denominator == 1:
        return f"{int(number):{comma}}"
    text = spell(number)
    return str(number) if text.startswith("≤") else text
