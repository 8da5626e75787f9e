"""Questions as sentences, made of facts: for terminal, notebook, report, page and history.

A verb states its question in facts, which are plain public values: its name, the column, The number of candidates.
A ledger and the replies of a service hold the facts. The sentence is made when it is shown, in the language of the
reader. Facts hold no candidate and no group, of which there may be many. A text is cut to `LONGEST_FACT`.
"""

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache

from ..base.messages import AND, Message, join, plural
from ..base.numbers import spell

Facts = Mapping[str, object]
"""The name of a verb under "verb", and the arguments that its sentence shows: texts, numbers, tuples of texts."""

LONGEST_FACT = 200
"""Characters of a text of which the rest is left out: the name of a column, or a condition."""

_MOST_PARTS = 10
"""Texts of a tuple: a range has two ends, a step and a time zone, and a cell up to ten columns."""


class Sentence(Message):
    """A question in words, with the facts that it is made of.

    Attributes:
        facts: see `Facts`.
    """

    facts: Facts

    def __reduce__(self) -> tuple[object, ...]:
        return sentence_of, (dict(self.facts),)


def sentence_of(facts: Facts) -> Sentence:
    """The sentence of a question, of the facts that a verb states; those that are None are left out."""
    return _sentence(tuple(facts.items()))


@lru_cache(maxsize=256)
def _sentence(facts: tuple[tuple[str, object], ...]) -> Sentence:
    """The same of facts in order: it is made once for the same question, as it takes longer than a short draw."""
    short = {name: _cut(fact) for name, fact in facts if fact is not None}
    words = join(AND, [_question(short), *_conditions(short)])
    sentence = (
        Sentence(words.template, words.context, **words.parts)
        if isinstance(words, Message)
        else Sentence(words)
    )
    sentence.facts = short
    return sentence


def read_sentence(plain: object) -> Sentence:
    """The sentence of facts that were stored or sent. Values of another kind are left out."""
    facts = plain if isinstance(plain, Mapping) else {}
    return sentence_of({str(name): _cut(fact) for name, fact in facts.items() if _is_fact(fact)})


def facts_of(question: str) -> Facts:
    """The facts of a question in words; of a text of your own, the text."""
    return question.facts if isinstance(question, Sentence) else {"words": _cut(question)}


def verb_of(question: str) -> str:
    """The verb of a question in words; "" for a text of your own."""
    return str(facts_of(question).get("verb", ""))


def _is_fact(fact: object) -> bool:
    """Whether a value is a text, a whole number, or several texts."""
    if isinstance(fact, list | tuple):
        return all(isinstance(part, str) for part in fact)
    return isinstance(fact, str | int)


def _cut(fact: object) -> object:
    """The fact with the rest of a long text left out."""
    if isinstance(fact, list | tuple):
        return tuple(_cut(part) for part in fact[:_MOST_PARTS])
    if isinstance(fact, int) and abs(fact) >= 10**LONGEST_FACT:
        return "…"
    if not isinstance(fact, str) or len(fact) <= LONGEST_FACT:
        return fact
    return f"{fact[: LONGEST_FACT - 1]}…"


_OF_VALUES: dict[str, tuple[Message, Message]] = {
    "mode": (Message("most common value of {column}"), Message("most common of the values")),
    "top_k": (
        Message("the {k} most common values of {column}"),
        Message("the {k} most common of the values"),
    ),
    "count": (
        Message("number of records with a value in {column}"),
        Message("number of records"),
    ),
    "counts": (
        Message("how many records hold each value of {column}"),
        Message("how many records hold each of the values"),
    ),
    "count_distinct": (
        Message("number of distinct values of {column}"),
        Message("number of distinct values"),
    ),
    "keys": (
        Message("values of {column} that nobody listed"),
        Message("values that nobody listed"),
    ),
}
"""Questions about the values of a column, and about values that are no column of a table."""

_OF_NUMBERS: dict[str, Message] = {
    "sum": Message("sum of {column}"),
    "mean": Message("mean of {column}"),
    "variance": Message("variance of {column}"),
    "standard_deviation": Message("standard deviation of {column}"),
    "quantile": Message("quantile {share} of {column}"),
    "quantiles": Message("quantiles {shares} of {column}"),
    "bounds": Message("two numbers between which nearly all of {column} are"),
    "median": Message("median of {column}, by distance"),
    "price": Message("best price for {column}"),
    "continuous price": Message("best price for {column}, any number before it is rounded down"),
}
"""Questions about the numbers of a column."""

_OF_ALL: dict[str, Message] = {
    "select": Message("select"),
    "generalized": Message("generalized"),
    "laplace": Message("laplace"),
    "geometric": Message("geometric"),
    "randomized_response": Message("randomized_response"),
    "select_top_k": Message("top {k} of scores"),
    "select_rows": Message("select_rows, {lists} rows"),
    "profile": Message("profile of {columns}"),
    "check": Message("check of {columns}"),
    "sql": Message("sql: {columns} from {dataset}"),
    "select_by": Message("select_by {function}"),
    "private_candidates": Message("private_candidates {function}"),
}
"""Questions about something else. A verb that is missing here says its own words, or else its name."""

_SHARES = {
    "1/2": Message("median of {column}"),
    "0": Message("minimum of {column}"),
    "1": Message("maximum of {column}"),
}
"""Quantiles with a name of their own."""

_OF_ONE_FACT: dict[str, Message] = {
    "bounds_share": Message("bounds for {bounds_share} of epsilon"),
    "noisy": Message("by noisy counts"),
    "shown_from": Message("without counts below {shown_from}"),
    "gap": Message("with gaps"),
    "supply": Message("{supply} to sell"),
}
"""Conditions by the one fact that they say."""

_UNNAMED = {"price": Message("bids"), "continuous price": Message("bids")}
"""Columns without a name, where they hold no numbers."""

_FRACTION = re.compile(r"-?\d{1,40}(?:/0*[1-9]\d{0,39})?")

_GROUPED = 10_000
"""From here on thousands are set apart, in all numbers of a range: 300,000 by 1,000, but 1980 to 2020."""


def _question(facts: Facts) -> Message:
    """The sentence of a question without its conditions."""
    verb = str(facts.get("verb", ""))
    verb = f"continuous {verb}" if "continuous" in facts else verb
    if verb in _OF_VALUES:
        of_column, of_values = _OF_VALUES["mode" if facts.get("k") == 1 else verb]
        return _fill(of_column if "column" in facts else of_values, facts)
    if verb in _OF_NUMBERS:
        template = _SHARES.get(str(facts.get("share")), _OF_NUMBERS[verb])
        unnamed = _UNNAMED.get(verb, Message("numbers"))
        return _fill(template, {"column": unnamed, **facts})
    if verb in _OF_ALL:
        return _fill(_OF_ALL[verb], facts)
    return Message(str(facts.get("words", verb)))


def _fill(template: Message, facts: Facts) -> Message:
    """The template with those facts that it names."""
    names = re.findall(r"\{(\w+)\}", template.template)
    return template.fill(**{name: facts.get(name, "?") for name in names})


def _conditions(facts: Facts) -> Iterator[str]:
    """Yield the conditions of a question."""
    yield _candidates(facts)
    for name, words in _OF_ONE_FACT.items():
        if name in facts:
            yield _fill(words, facts)
    if "totals" in facts:
        yield _totals(facts["totals"])
    if "unit" in facts:
        yield _of_each(facts)
    elif facts.get("units", 1) != 1:
        yield Message("at most {units} of each bidder", units=facts["units"])
    if "by" in facts:
        yield _groups(facts)
    if "where" in facts:
        yield Message("where {where}", where=facts["where"])


def _groups(facts: Facts) -> Message:
    """The groups of a question in words: how many, or why one that is drawn may be missing."""
    by = facts["by"]
    if "half" in facts:
        return Message(
            "for each group of {by} that is drawn: one of fewer than {records} records is named with a "
            "probability below one half",
            by=by,
            records=facts["half"],
        )
    if "groups" not in facts:
        return Message("for each {by}", by=by)
    return Message("for each of {groups} groups of {by}", groups=facts["groups"], by=by)


def _of_each(facts: Facts) -> Message:
    """The sentence of the records that count of a privacy unit."""
    unit, rows = facts["unit"], facts.get("rows")
    if rows == 1:
        return Message("one row of each {unit}", unit=unit)
    if rows is not None:
        return Message("at most {rows} rows of each {unit}", rows=rows, unit=unit)
    if "most_candidates" in facts:
        return Message(
            "at most {most} candidates of each {unit}", most=facts["most_candidates"], unit=unit
        )
    if "most_keys" in facts:
        return Message("at most {most} values of each {unit}", most=facts["most_keys"], unit=unit)
    return Message("per {unit}", unit=unit)


def _candidates(facts: Facts) -> str:
    """The candidates of a question in words; "" if it has none."""
    if "unsafe" in facts:
        return Message("candidates from the data")
    if "round" in facts:
        return Message("round numbers")
    if "digits" in facts:
        return Message("all decimals of {digits} digits", digits=facts["digits"])
    count = facts.get("candidates")
    if isinstance(count, int):
        return plural("{count:,} candidate", "{count:,} candidates", count)
    if "way" in facts:
        return _way(facts["way"], facts.get("first"))
    if "most" in facts:
        return _released(facts)
    return _range(facts.get("range"))


def _released(facts: Facts) -> Message:
    """How many values are released at most, and of how many records."""
    most, least = facts["most"], facts.get("least", 1)
    if least == 1:
        return Message("at most {most} values", most=most)
    return Message(
        "at most {most} values, each of at least {least} records", most=most, least=least
    )


def _range(ends: object) -> str:
    """A range of numbers or dates in words; "" without one."""
    if not isinstance(ends, list | tuple) or len(ends) < 3:
        return ""
    low, high, step = _set_apart([str(end) for end in ends[:3]])
    values = Message("{low} to {high} by {step}", low=low, high=high, step=step)
    return join(AND, [values, *ends[3:]])


def _totals(ends: object) -> str:
    """The ends of the total of a privacy unit in words."""
    texts = [str(end) for end in ends] if isinstance(ends, list | tuple) else []
    if len(texts) != 2:
        return ""
    low, high = _set_apart(texts)
    return Message("each total cut to {low} to {high}", low=low, high=high)


def _way(way: object, first: object) -> Message:
    """How values without a list are drawn, and why so."""
    if way == "private keys":
        return Message(
            "any values that enough records hold, by private keys with their counts, as one record adds to no more "
            "values than are asked for"
        )
    if way == "limited domain":
        return Message(
            "any values that enough records hold, by limited domain among the {count} most common, as one record "
            "may add to more values than are asked for",
            count=first,
        )
    return Message(
        "any values that enough records hold, by limited domain among the {count} most common, as private keys "
        "take an epsilon",
        count=first,
    )


def _set_apart(numbers: list[str]) -> list[str]:
    """The fractions as decimals where that is short, with thousands set apart where some are large."""
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
