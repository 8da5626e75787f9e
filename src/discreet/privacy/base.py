"""The methods that all kinds of guarantees have in common.

Their words are imported when they are first written, so that a first answer comes sooner.
"""

from fractions import Fraction
from importlib import import_module
from typing import Protocol, TypeVar

from ..base.error_boundary import error_boundary
from ..base.numbers import Number, count
from .contract import Guarantee, guarantee_as_dict, steps
from .sensitivity import Neighbors, read_neighbors


class BaseGuarantee:
    """The base of all kinds of guarantees."""

    __slots__ = ()

    def __init_subclass__(cls, **named: object) -> None:
        """Keep frames of the library out of the errors of methods that take numbers of the caller."""
        super().__init_subclass__(**named)
        for name in ("approx", "delta_at", "group", "under"):
            method = vars(cls).get(name)
            if method is not None and not hasattr(method, "__wrapped__"):
                setattr(cls, name, error_boundary(method))

    @property
    def core(self: Guarantee) -> Guarantee | None:
        """The guarantee itself: its slack is zero."""
        return self

    @error_boundary
    def renyi_divergence(self: Guarantee, order: Number) -> float:
        """Return an upper bound on the Rényi divergence of an order above 1, as a float."""
        from .conversions import divergence_at  # a first answer does without

        return divergence_at(self.renyi, order)

    @error_boundary
    def epsilon_at(self: Guarantee, delta: Number) -> Fraction:
        """Return the least epsilon known for which (epsilon, delta)-DP follows, rounded up.

        Raises:
            InvalidArgument: if there is none.
        """
        return self.approx(delta).epsilon

    @error_boundary
    def repeated(self: Guarantee, n: int) -> Guarantee:
        """Return the guarantee of `n` answers that may be chosen adaptively."""
        if count(n, "n") == 1:
            return self
        # It is made of kinds, so it lies above this module; nothing may have imported it before.
        module = import_module(f"{__package__}.composition")
        composition: Guarantee = module.Composition(((self, n),))
        return composition

    def __str__(self: Guarantee) -> str:
        from .wording import in_full

        return in_full(self)

    def _repr_html_(self: Guarantee) -> str:
        from .wording import guarantee_table

        return guarantee_table(self).html()

    def as_dict(self: Guarantee) -> dict[str, object]:
        """Return the kind, the exact numbers as text, and the neighbouring relation."""
        return guarantee_as_dict(self)


_Far = TypeVar("_Far", bound=Guarantee, covariant=True)


class _Stepped(Guarantee, Protocol[_Far]):
    """A guarantee that is stated for any number of steps of its relation."""

    def _apart(self, size: int, neighbors: Neighbors) -> _Far:
        """Return the guarantee so many steps away, as one under a relation."""


class SteppedGuarantee(BaseGuarantee):
    """The base of kinds that state a guarantee for any number of steps, by `_apart`."""

    __slots__ = ()

    def group(self: _Stepped[_Far], size: int) -> _Far:
        """Return the guarantee for groups of `size` records: datasets `size` steps apart."""
        return self._apart(count(size, "size"), self.neighbors)

    def under(self: _Stepped[_Far], neighbors: str) -> _Far:
        """Return the guarantee that follows under another neighbouring relation."""
        relation = read_neighbors(neighbors)
        return self._apart(steps(self, relation), relation)
