"""The verbs that may be asked about declared columns: facts of each, for all places where one is asked.

The verbs themselves are not imported, so discreet.toml is read without them. A test compares them with this table.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

Asks = Literal["values", "keys", "numbers", "records", "sums", "statement", "anything"]
"""What a verb does with data: it counts values of a column, those that are listed or those that nobody listed,
orders its numbers, counts its records, adds up its numbers, asks what a statement of SQL says, or is the caller's
own affair."""

BoundsNeed = Literal["needed", "optional", "never"]
"""Whether a verb over numbers needs candidates or declared bounds, does without where none are declared, or never
asks for bounds."""

Room = Literal["candidates", "number", "check", "histogram", "sum", "ends", "keys"]
"""What an answer holds, which bounds how long it may become: see `service/queue/lengths.py`."""

_OF_GROUPS = ("by", "groups", "max_groups", "groups_share", "most_drawn")
_OF_RANKS = ("candidates", "epsilon", *_OF_GROUPS, "delta", "where", "max_contributions")
_NOISY = ("epsilon", "rho", "scale", *_OF_GROUPS, "where", "delta")
_OF_VALUES = ("candidates", "epsilon", "rho", "scale", "mechanism", *_OF_GROUPS, "delta", "where")
_OF_NUMBERS = (*_OF_VALUES, "max_contributions")
_OF_KEYS = ("minimum_count", "most", "other")
_OF_SUMS = ("minimum", "maximum", "step", "bounds_share")


class VerbFacts(NamedTuple):
    """The facts about a verb in every place.

    Attributes:
        own: the arguments that belong to it, and to few others.
        shared: the terms of many verbs that it takes.
        needs: the arguments without which it cannot be asked, besides epsilon.
        asks: what it does with data.
        takes_dates: whether a verb over numbers takes dates too.
        bounds: whether a verb over numbers needs bounds.
        room: what an answer holds.
    """

    own: tuple[str, ...] = ()
    shared: tuple[str, ...] = _OF_NUMBERS
    needs: tuple[str, ...] = ()
    asks: Asks = "numbers"
    takes_dates: bool = True
    bounds: BoundsNeed = "needed"
    room: Room = "candidates"

    @property
    def needs_column(self) -> bool:
        """Whether it cannot be asked without a column."""
        return self.asks not in ("records", "statement")

    @property
    def takes_cells(self) -> bool:
        """Whether it takes several columns, or bins."""
        return self.asks == "values" or self.room == "keys"

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms of a question with it."""
        return self.shared + self.own


_SPREAD = VerbFacts(
    _OF_SUMS[:-1], ("epsilon", "rho", *_OF_GROUPS, "delta", "where", "max_contributions"),
    asks="sums", takes_dates=False, room="sum",
)  # fmt: skip

VERBS: Mapping[str, VerbFacts] = {
    "mode": VerbFacts(("gap", "method", "max_candidates"), _OF_VALUES, asks="values"),
    "top_k": VerbFacts(("k", "gap", "method", "max_candidates"), _OF_VALUES, ("k",), "values"),
    "median": VerbFacts(("score",), bounds="optional"),
    "minimum": VerbFacts(),
    "maximum": VerbFacts(),
    "quantile": VerbFacts(("alpha",), needs=("alpha",), bounds="optional"),
    "quantiles": VerbFacts(("alphas", "method"), _OF_RANKS, ("alphas",), bounds="optional"),
    "best_price": VerbFacts(("supply", "units", "continuous"), takes_dates=False),
    "check": VerbFacts((), ("epsilon", "max_contributions"), room="check"),
    "count": VerbFacts(("minimum_count",), _NOISY, asks="records", room="number"),
    "counts": VerbFacts(
        ("delta", "max_candidates", *_OF_KEYS), ("candidates", *_NOISY[:-1]),
        asks="values", room="histogram",
    ),
    "keys": VerbFacts(
        ("delta", *_OF_KEYS), ("epsilon", "max_groups", "where"), ("delta",), "keys", room="keys"
    ),
    "count_distinct": VerbFacts((), ("epsilon", "max_groups", "where"), asks="keys", room="number"),
    "bounds": VerbFacts(("q",), _OF_RANKS, takes_dates=False, bounds="never", room="ends"),
    "sum": VerbFacts(
        ("max_sum", "min_sum", *_OF_SUMS), (*_NOISY, "max_contributions"),
        asks="sums", takes_dates=False, room="sum",
    ),
    "mean": VerbFacts(
        _OF_SUMS, ("epsilon", "rho", *_OF_GROUPS, "delta", "where", "max_contributions"),
        asks="sums", room="sum",
    ),
    "variance": _SPREAD,
    "standard_deviation": _SPREAD,
    "sql": VerbFacts(("statement",), (), ("statement",), "statement"),
}  # fmt: skip


def use_of(verb: str) -> Asks:
    """Return the use that a verb makes of data; one that is not in the table is the caller's own affair."""
    return VERBS[verb].asks if verb in VERBS else "anything"
