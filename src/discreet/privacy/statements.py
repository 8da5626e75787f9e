"""Guarantees in one line: in full, and in brief for readers who know epsilon only."""

from .contract import IN_WORDS, Guarantee, equals
from .sensitivity import Neighbors
from .units import Unit, unit_in_words


def relation(neighbors: Neighbors, unit: Unit | None = None) -> str:
    """Return the neighbouring relation in words, with the privacy unit in place of a record."""
    words = IN_WORDS[neighbors]
    return words if unit is None else f"{words.removesuffix('record')}{unit_in_words(unit)}"


def in_full(guarantee: Guarantee, unit: Unit | None = None) -> str:
    """Return what the guarantee says of itself, with the privacy unit in place of a record."""
    said, ending = str(guarantee), f"({relation(guarantee.neighbors)})"
    if not said.endswith(ending):  # of a kind of your own, or none at all
        return (
            said
            if unit is None
            else f"{said} (one record is all rows of one {unit_in_words(unit)})"
        )
    return f"{said.removesuffix(ending)}({relation(guarantee.neighbors, unit)})"


def in_brief(guarantee: Guarantee, unit: Unit | None = None) -> str:
    """Return epsilon and the relation where the guarantee implies epsilon-DP; else all of it."""
    if guarantee.pure is None:
        return in_full(guarantee, unit)
    return f"{equals('ε', guarantee.pure)} ({relation(guarantee.neighbors, unit)})"


def by_mechanism(name: str) -> str:
    """Return the name of a mechanism as prose has it: `noisy_max(gumbel)` is a noisy-max mechanism (gumbel)."""
    noun, paren, detail = name.replace("_", "-").partition("(")
    return f"{noun} mechanism{' ' * bool(paren)}{paren}{detail}"
