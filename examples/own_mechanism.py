"""A mechanism of your own, for `discreet audit mechanism examples/own_mechanism.py:response`."""

from fractions import Fraction


def response(records: list[int]) -> dict[str, Fraction]:
    """Answer whether the sum is odd, truly in three cases of four."""
    odd = Fraction(3 if sum(records) % 2 else 1, 4)
    return {"odd": odd, "even": 1 - odd}
