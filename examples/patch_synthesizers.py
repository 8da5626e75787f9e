"""Puts the exact mechanism in the place of that of an installed synthesizer, while a block runs.

Copy it into your project and change it as you need: it knows the versions named at `PLACES`, and is no part of the
library. Guide: docs/explanation/synthesizers.md.
"""

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any, Literal, NamedTuple

from discreet.base.arguments import choice
from discreet.base.error_boundary import error_boundary
from discreet.base.numbers import Number
from discreet.errors import InvalidArgument, MissingPackage
from discreet.privacy.composition import compose
from discreet.privacy.guarantees import Guarantee
from discreet.privacy.sensitivity import Neighbors
from discreet.selection.payment import Account
from discreet.selection.releases import Release
from discreet.study.adapters.exponential_mechanism import answer_of, release_of, scalar, spread_of

Package = Literal["mbi", "dpsynth", "snsynth"]

_NAMES = ("mbi", "dpsynth", "snsynth")


class PackageFunction(NamedTuple):
    """Where a package keeps its mechanism.

    Attributes:
        module: the module.
        holder: the class that has it as a method, or "".
        parameters: the parameters it takes, in order; a version that takes others is not known, and refused.
    """

    module: str
    holder: str
    parameters: tuple[str, ...]


_MBI = ("qualities", "epsilon", "sensitivity", "base_measure")
_MST = ("q", "eps", "sensitivity", "prng", "monotonic")
_DPSYNTH = ("quality_scores", "epsilon", "sensitivity", "rng", "monotonic")

PLACES: dict[str, list[PackageFunction]] = {
    "mbi": [  # the scripts of private-pgm, run from its root or from their folder
        PackageFunction("mechanisms.mechanism", "Mechanism", _MBI),
        PackageFunction("mechanism", "Mechanism", _MBI),
        PackageFunction("mechanisms.mst", "", _MST),
        PackageFunction("mst", "", _MST),
        PackageFunction("mechanisms.adaptive_grid", "", _MST),
        PackageFunction("adaptive_grid", "", _MST),
    ],
    "dpsynth": [PackageFunction("dpsynth.discrete_mechanisms.common", "", _DPSYNTH)],
    "snsynth": [
        PackageFunction("snsynth.utils", "", _MBI),
        PackageFunction("snsynth.mst.mst", "MSTSynthesizer", _MST),
    ],
}
"""Recorded from private-pgm of August 2025, dpsynth of August 2026 and smartnoise-synth 1.0.8."""

_ABOUT = {"qualities": "qualities", "quality_scores": "qualities", "q": "qualities",
          "epsilon": "epsilon", "eps": "epsilon"}  # fmt: skip


@dataclass(slots=True)
class Patched:
    """What was replaced, and what was released through it.

    Attributes:
        replaced: the functions, by module and name.
        releases: the releases so far, in order.
    """

    replaced: list[str] = field(default_factory=list)
    releases: list[Release[Any]] = field(default_factory=list)

    @property
    def guarantee(self) -> Guarantee | None:
        """The guarantee of all releases together, None before the first."""
        return compose(release.guarantee for release in self.releases) if self.releases else None

    def __repr__(self) -> str:
        told = "nothing yet" if self.guarantee is None else str(self.guarantee)
        return f"Patched({', '.join(self.replaced)}: {len(self.releases)} releases, {told})"


@contextmanager
def patched(
    package: Package,
    *,
    monotonic: Literal["refuse", "ignore"] = "refuse",
    rounding: Number = 0,
    neighbors: Neighbors = "add_remove",
    ledger: Account | None = None,
) -> Iterator[Patched]:
    """Replace the exponential mechanism of a package by the exact one, in this process, while the block runs.

    The noise that the package adds elsewhere, its accounting and its other mechanisms stay what they are. The
    generator that dpsynth passes on to every call is not used; one that is given to the others is refused.

    Args:
        package: "mbi" (the scripts of private-pgm), "dpsynth" or "snsynth" (smartnoise-synth).
        monotonic: what to do with a call that claims that all qualities move the same way: "refuse" it (the
            default), or "ignore" the claim, so that the draw has the ε that the call states.
        rounding: the most by which a quality may be off because it was computed in floats, 0 by default.
        neighbors: the neighbouring relation for which the package knows its sensitivities, "add_remove" (the
            default) or "replace_one".
        ledger: the account to charge for every call. Without it no budget is kept.

    Yields:
        A `Patched`, which keeps the releases and tells what they cost together.

    Raises:
        MissingPackage: if none of the modules is there in which the package keeps its mechanism.
        InvalidArgument: if it takes other parameters than those that are known, or an argument cannot be accepted.
    """
    name = choice(package, "package", _NAMES)
    claims = choice(monotonic, "monotonic", ("refuse", "ignore"))
    spread_of(1, None, rounding)  # a wrong number is refused here, and not within the package
    terms = {"neighbors": neighbors, "ledger": ledger}
    found = Patched()
    with ExitStack() as stack:
        for place in PLACES[name]:
            holder = _holder(place)
            if holder is not None:
                draw = partial(_draw, found, terms, rounding, claims)
                stack.enter_context(_replaced(holder, place, draw))
                found.replaced.append(f"{place.module}.{_path(place)}")
        if not found.replaced:
            raise MissingPackage(_missing(name))
        yield found


def _missing(name: str) -> str:
    modules = ", ".join(place.module for place in PLACES[name])
    return (
        f"no exponential mechanism of {name} was found in {modules}: install the package, or put the "
        "folder that holds its modules on sys.path"
    )


def _path(place: PackageFunction) -> str:
    return f"{place.holder}.{_FUNCTION}" if place.holder else _FUNCTION


_FUNCTION = "exponential_mechanism"


def _holder(place: PackageFunction) -> Any:
    """Return the module or the class that has the function, None if there is none.

    Raises:
        InvalidArgument: if the function takes other parameters than those that are known.
    """
    holder: Any = sys.modules.get(place.module)
    if "." in place.module:  # what is in no package may be anybody's, and is not imported
        with suppress(ImportError):
            holder = import_module(place.module)
    if place.holder:
        holder = getattr(holder, place.holder, None)
    original = vars(holder).get(_FUNCTION) if holder is not None else None
    if original is None:
        return None
    parameters = tuple(inspect.signature(original).parameters)
    expected = ("self", *place.parameters) if place.holder else place.parameters
    if parameters != expected:
        raise InvalidArgument(
            f"{place.module}.{_path(place)} takes ({', '.join(parameters)}) in this version; known is "
            f"({', '.join(expected)})"
        )
    return holder


@contextmanager
def _replaced(
    holder: Any, place: PackageFunction, draw: Callable[[dict[str, Any]], Any]
) -> Iterator[None]:
    """Put the function in its place, also where other modules have imported it by name, and take it out again."""
    original = vars(holder)[_FUNCTION]
    signature = inspect.signature(original)

    def exponential_mechanism(*args: Any, **kwargs: Any) -> Any:
        return draw(_bound(signature, args, kwargs))

    exponential_mechanism.__signature__ = signature  # type: ignore[attr-defined]
    setattr(holder, _FUNCTION, exponential_mechanism)
    _exchange(place, original, exponential_mechanism)
    try:
        yield
    finally:
        setattr(holder, _FUNCTION, original)
        _exchange(place, exponential_mechanism, original)


def _bound(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """Return the arguments by name, or raise the error that the function itself would."""
    try:
        return signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        problem = f"{_FUNCTION}: {error}"
    raise TypeError(problem)


def _exchange(place: PackageFunction, old: Any, new: Any) -> None:
    """Put one function in the place of another in all modules of the package that hold it."""
    top = place.module.partition(".")[0]
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] != top:
            continue
        for attribute, value in list(vars(module).items()):
            if value is old:
                setattr(module, attribute, new)


@error_boundary
def _draw(
    found: Patched, terms: dict[str, Any], rounding: Any, claims: str, given: dict[str, Any]
) -> Any:
    """Answer a call of the package.

    A generator is refused where the package has a default; dpsynth always passes one on, and it is not used.
    """
    named = {_ABOUT.get(name, name): value for name, value in given.items()}
    for generator in (named.get("prng"), getattr(named.get("self"), "prng", None)):
        _refuse_generator(generator)
    claimed = bool(named.get("monotonic", False)) and claims == "refuse"
    spread = spread_of(named.get("sensitivity", 1.0), None, rounding, monotonic=claimed)
    qualities, epsilon = named["qualities"], scalar(named["epsilon"])
    base_measure = named.get("base_measure")
    release = release_of(qualities, base_measure, spread=spread, epsilon=epsilon, **terms)
    found.releases.append(release)
    return answer_of(release, qualities)


def _refuse_generator(prng: Any) -> None:
    """Raise if a generator of the caller's was given where the package has a default."""
    if prng is not None and prng is not getattr(sys.modules.get("numpy"), "random", None):
        raise InvalidArgument(
            "a generator is not taken: what can be seeded can be repeated, and is not private. Leave prng out"
        )
