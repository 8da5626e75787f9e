"""Parallel composition: answers about disjoint parts of the data. Proof: docs/explanation/composition.md."""

from fractions import Fraction
from functools import reduce

from ..base.error_boundary import error_boundary
from ..errors import InvalidArgument
from .approx_dp import ApproxDP
from .composition import Composition, compose
from .contract import Guarantee, Part, Parts, order
from .conversions import divergence_at
from .epsilon_dp import PureDP, mix_range
from .gaussian_dp import GaussianDP
from .parts import weaker
from .renyi_dp import ORDERS, ZCDP, RenyiDP
from .several_dp import SeveralDP


@error_boundary
def compose_parallel(*guarantees: Guarantee) -> Guarantee:
    """Return the guarantee of answers about disjoint parts of the data.

    A record must belong to one part by itself, independently of the other records. Then adding or removing a record
    changes one part, so the weakest of the guarantees holds. Replacing a record may change two parts. For that, use
    `compose_parallel(...).under("replace_one")`.

    Bounded ranges of several parts are mixed, because questions about one part may depend on answers about the
    others. Two steps may fall on two parts, which gives two successive ranges, a `SummedRange`.

    Args:
        *guarantees: one per part, all under add_remove.

    Raises:
        InvalidArgument: if there are none, or one is under replace_one, which promises nothing about a part that
            gains or loses a record.
    """
    together = compose(*guarantees)  # checks them
    if together.neighbors == "replace_one":
        raise InvalidArgument(
            "a record replaced may leave one part and enter another, which a guarantee under "
            "replace_one does not cover. Give guarantees under add_remove and take "
            ".under('replace_one') of the result"
        )
    branches = sorted((compose(guarantee) for guarantee in guarantees), key=order)
    parts = reduce(_worst_parts, (branch.parts for branch in branches))
    if len(guarantees) > 1:
        parts = Composition(tuple((_mix_ranges(part), n) for part, n in parts)).parts
    (first, n), *others = parts
    return first if n == 1 and not others else Composition(parts)


def _mix_ranges(guarantee: Guarantee) -> Guarantee:
    """Return a guarantee with a mixed range in place of each bounded one, also inside of several promises."""
    if isinstance(guarantee, SeveralDP):
        return SeveralDP(tuple(map(_mix_ranges, guarantee.promises)))
    if isinstance(guarantee, Composition):
        return Composition(tuple((_mix_ranges(part), n) for part, n in guarantee.parts))
    return mix_range(guarantee)


def _worst_parts(some: Parts, other: Parts) -> Parts:
    """Return parts that are at least as weak as either, one against the other from the weakest on."""
    ours, theirs = _weakest_first(some), _weakest_first(other)
    weakest: list[Part] = []
    while ours and theirs:
        (a, n), (b, m) = ours.pop(), theirs.pop()
        both = min(n, m)
        weakest.append((_weaker(a, b), both))
        ours += [(a, n - both)] * (n > both)
        theirs += [(b, m - both)] * (m > both)
    return Composition(tuple(weakest + ours + theirs)).parts


def _weakest_first(parts: Parts) -> list[Part]:
    """Return the parts as a stack with the weakest on top; any order would be as right."""

    def weakness(part: Part) -> tuple[Fraction, Fraction]:
        core = part[0].core
        rho = core.rho if core is not None else None
        return part[0].slack, rho or Fraction(0)

    return sorted(parts, key=weakness)


def _weaker(a: Guarantee, b: Guarantee) -> Guarantee:
    """Return the strongest guarantee of the known kinds that both imply.

    Only members of the contract are read, so kinds of a user's own are compared too.
    """
    if a == b or b.kind == "none":
        return b
    if a.kind == "none":
        return a
    if isinstance(a, GaussianDP) and isinstance(b, GaussianDP):
        return GaussianDP(max(a.mu, b.mu), a.neighbors)
    if (one_of_chain := weaker(a, b)) is not None:
        return one_of_chain
    relation, slack = a.neighbors, max(a.slack, b.slack)
    epsilons = [_epsilon(a), _epsilon(b)]
    if None not in epsilons:
        most = max(epsilon for epsilon in epsilons if epsilon is not None)
        return ApproxDP(most, slack, relation) if slack or not most else PureDP(most, relation)
    if a.rho is not None and b.rho is not None:
        return ZCDP(max(a.rho, b.rho), relation)
    if not slack:
        curve = {at: max(divergence_at(one.renyi, at) for one in (a, b)) for at in ORDERS}
        return RenyiDP(curve, relation)
    raise _no_common_measure(a, b)


def _no_common_measure(a: Guarantee, b: Guarantee) -> InvalidArgument:
    """Return the error for two guarantees of which no known one is weaker than both."""
    names = {"zcdp": "zCDP"}
    first, second = (names.get(g.kind, str(g)) for g in ((a, b) if not a.slack else (b, a)))
    part = "(epsilon, delta)-DP" if first == "zCDP" else second
    return InvalidArgument(
        f"{first} and {part} have no common measure. Take .approx(delta) of the former"
    )


def _epsilon(guarantee: Guarantee) -> Fraction | None:
    """Return the epsilon that holds but for the slack, if there is one."""
    core = guarantee.core
    if core is None:
        return Fraction(0) if guarantee.slack < 1 else None
    return core.pure
