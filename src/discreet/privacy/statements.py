"""Guarantees in one line: in full, and in brief for readers who know epsilon only."""

from .contract import CHANGES, Guarantee, equals, statement_of
from .sensitivity import Neighbors
from .units import Unit, one_record, unit_in_words


def relation(neighbors: Neighbors, unit: Unit | None = None) -> str:
    """Return the neighbouring relation in words, with the privacy unit in place of a record."""
    return f"{CHANGES[neighbors]} {'record' if unit is None else unit_in_words(unit)}"


def in_full(guarantee: Guarantee, unit: Unit | None = None) -> str:
    """Return what the guarantee says of itself, with the privacy unit in place of a record."""
    said = statement_of(guarantee)
    if said is not None:
        return f"{said} ({relation(guarantee.neighbors, unit)})"
    # Of a kind of your own, or none at all.
    return f"{guarantee}" if unit is None else f"{guarantee} (one record is {one_record(unit)})"


def in_brief(guarantee: Guarantee, unit: Unit | None = None) -> str:
    """Return epsilon and the relation where the guarantee implies epsilon-DP; else all of it."""
    if guarantee.pure is None:
        return in_full(guarantee, unit)
    return f"{equals('ε', guarantee.pure)} ({relation(guarantee.neighbors, unit)})"


def by_mechanism(name: str) -> str:
    """Return the name of a mechanism as prose has it: `noisy_max(gumbel)` is a noisy-max mechanism (gumbel)."""
    noun, paren, detail = name.replace("_", "-").partition("(")
    return f"{noun} mechanism{' ' * bool(paren)}{paren}{detail}"
