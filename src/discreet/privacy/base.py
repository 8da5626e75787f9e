"""The methods that all kinds of guarantees have in common."""

from collections.abc import Callable
from typing import ClassVar

from ..numbers import Number, count
from .contract import Guarantee, Parts, guarantee_as_dict
from .conversions import divergence_at
from .wording import guarantee_table, in_full


class BaseGuarantee:
    """The base of all kinds of guarantees.

    Attributes:
        composition: makes one guarantee of several. A composition is made of kinds, so `composition.py`
            lies above this module, and sets it.
    """

    __slots__ = ()
    composition: ClassVar[Callable[[Parts], Guarantee]]

    @property
    def core(self: Guarantee) -> Guarantee | None:
        """The guarantee itself: its slack is zero."""
        return self

    def renyi_divergence(self: Guarantee, order: Number) -> float:
        """Return an upper bound on the Rényi divergence of an order above 1, as a float."""
        return divergence_at(self.renyi, order)

    def repeated(self: Guarantee, n: int) -> Guarantee:
        """Return the guarantee of `n` answers that may be chosen adaptively."""
        return self if count(n, "n") == 1 else BaseGuarantee.composition(((self, n),))

    def __str__(self: Guarantee) -> str:
        return in_full(self)

    def _repr_html_(self: Guarantee) -> str:
        return guarantee_table(self).html()

    def as_dict(self: Guarantee) -> dict[str, object]:
        """Return the kind, the exact numbers as text, and the neighbouring relation."""
        return guarantee_as_dict(self)
