"""Guarantees in words: numbers, kind, relation and unit, as a message for every language."""

from ..base.messages import AND, Message, join
from ..base.text_tables import TextTable, fact_table
from .contract import Guarantee, equals
from .sensitivity import Neighbors, Unit, one_record, unit_in_words

_RELATIONS: dict[Neighbors, tuple[Message, Message]] = {
    "add_remove": (Message("add/remove one record"), Message("add/remove one {unit}")),
    "replace_one": (Message("replace one record"), Message("replace one {unit}")),
}


def relation(neighbors: Neighbors, unit: Unit | None = None) -> Message:
    """Return the neighbouring relation in words, with the privacy unit in place of a record."""
    record, other = _RELATIONS[neighbors]
    return record if unit is None else other.fill(unit=unit_in_words(unit))


def statement_of(guarantee: Guarantee) -> str | None:
    """Return the numbers and the kind of a guarantee, or None for a kind that states the relation as well."""
    statement: str | None = getattr(guarantee, "statement", None)
    return statement


def in_full(guarantee: Guarantee, unit: Unit | None = None) -> str:
    """Return a guarantee in words, with the privacy unit in place of a record."""
    statement = statement_of(guarantee)
    if statement is not None:
        return with_relation(statement, guarantee.neighbors, unit)
    # Of a kind of your own, or none at all.
    whole = str(guarantee)
    if unit is None:
        return whole
    return Message("{guarantee} (one record is {record})", guarantee=whole, record=one_record(unit))


def in_brief(guarantee: Guarantee, unit: Unit | None = None) -> str:
    """Return epsilon and the relation where epsilon-DP follows; else the guarantee in brief, or all of it."""
    if guarantee.pure is None:
        brief: str | None = getattr(guarantee, "brief", None)
        return (
            in_full(guarantee, unit)
            if brief is None
            else with_relation(brief, guarantee.neighbors, unit)
        )
    return with_relation(equals("ε", guarantee.pure), guarantee.neighbors, unit)


def with_relation(statement: str, neighbors: Neighbors, unit: Unit | None = None) -> Message:
    """Return a statement with the neighbouring relation."""
    return Message(
        "{statement} ({relation})", statement=statement, relation=relation(neighbors, unit)
    )


def by_mechanism(name: str) -> Message:
    """Return the name of a mechanism as prose has it: `noisy_max(gumbel)` is a noisy-max mechanism (gumbel)."""
    noun, _, detail = name.replace("_", "-").removesuffix(")").partition("(")
    adjective = Message(noun, "a mechanism")
    if not detail:
        return Message("{noun} mechanism", noun=adjective)
    return Message("{noun} mechanism ({detail})", noun=adjective, detail=detail)


def mechanism_name(name: str) -> Message:
    """Return the name of a mechanism, with a word for it in other languages; the part in brackets stays a name."""
    noun, paren, detail = name.removesuffix(")").partition("(")
    if not paren:
        return Message(noun, "mechanism")
    return Message(
        "{noun}({detail})",
        "mechanism",
        noun=Message(noun, "mechanism"),
        detail=detail,
    )


def guarantee_table(guarantee: Guarantee) -> TextTable:
    """Return a guarantee as a table: in words, with the epsilon and the rho that follow."""
    signs = {"ε": guarantee.pure, "ρ": guarantee.rho}
    follows = [equals(sign, value) for sign, value in signs.items() if value is not None]
    facts = {
        "guarantee": guarantee, "implies": join(AND, follows),
        "neighbors": relation(guarantee.neighbors),
    }  # fmt: skip
    return fact_table("Privacy guarantee", facts)
