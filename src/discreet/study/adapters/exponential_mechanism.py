"""The exponential mechanism with the signature that synthesizers call it by."""

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ...base.error_boundary import error_boundary
from ...base.numbers import Number, exact, flag, positive_up
from ...errors import InvalidArgument, InvalidScores, preview
from ...mechanisms import Exponential
from ...privacy.sensitivity import Neighbors
from ...sampling.vectors import as_array
from ...selection.payment import Account
from ...selection.releases import Release
from ...selection.select import select

_PAGE = "docs/explanation/synthesizers.md"


@error_boundary
def exponential_mechanism(  # noqa: PLR0913  # the union of three signatures
    qualities: Any,
    epsilon: Any,
    sensitivity: Any = 1.0,
    base_measure: Any = None,
    *,
    monotonic: bool = False,
    spread: Number | None = None,
    rounding: Number = 0,
    prng: object = None,
    rng: object = None,
    neighbors: Neighbors = "add_remove",
    ledger: Account | None = None,
    request: str | None = None,
) -> Any:
    """Return one of the candidates: P(i) proportional to base[i] * exp(epsilon * quality[i] / (2 * sensitivity)).

    The draw is exact, and its bits are those of the operating system.

    Args:
        qualities: finite numbers, higher is better: an array of NumPy, PyTorch or JAX, a list, or a dict from
            candidates to numbers.
        epsilon: the privacy parameter ε, a positive number without a unit. One answer has a bounded range of ε: it
            is ε-DP, and zCDP with a ρ just below ε²/8, which synthesizers charge.
        sensitivity: the most that one quality can change between neighbours, in units of the qualities; 1 by
            default.
        base_measure: public weights of the candidates, as mbi takes them: with a dict of qualities a dict of
            weights of zero or more, with an array of qualities an array of their natural *logarithms*.
        monotonic: refused if True, unless `spread` is given: that all qualities move the same way is rarely
            true, and doubles ε where it is not.
        spread: the most that a difference of two qualities can change; then `sensitivity` does not matter.
        rounding: the most by which a quality may be off because it was computed in floats, 0 by default;
            four times as much is added to the spread.
        prng: leave it out. A generator that can be seeded is not private, and is rejected.
        rng: the same.
        neighbors: the neighbouring relation, "add_remove" (the default) or "replace_one".
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it, no budget is
            kept.
        request: a name for this request in the ledger: the same request again returns the same answer and
            costs nothing.

    Returns:
        The key of the dict, or the index as a `numpy.int64`, as the functions that it replaces do.

    Raises:
        InvalidArgument: if a public argument is invalid.
        InvalidScores: if the qualities are not finite numbers.

    Side channels: those of the exponential mechanism.
    """
    if prng is not None or rng is not None or hasattr(base_measure, "choice"):
        raise InvalidArgument(
            "a generator is not taken: what can be seeded can be repeated, and is not private. Leave it out"
        )
    release = release_of(
        qualities,
        base_measure,
        spread=spread_of(sensitivity, spread, rounding, monotonic=monotonic),
        epsilon=scalar(epsilon),
        neighbors=neighbors,
        ledger=ledger,
        request=request,
    )
    return answer_of(release, qualities)


def release_of(qualities: Any, base_measure: Any, **terms: Any) -> Release[Any]:
    """Return the release for these qualities: of a key of their dict, or of an index."""
    if isinstance(qualities, Mapping):
        keys = _sorted(qualities)
        scores: Any = [scalar(qualities[key]) for key in keys]
        mechanism = Exponential(_weights(base_measure, keys))
        return select(scores, candidates=keys, mechanism=mechanism, **terms)
    if isinstance(base_measure, Mapping):
        raise InvalidArgument("a dict of weights goes with a dict of qualities")
    is_list = isinstance(qualities, list | tuple)
    mechanism = Exponential(log_base_measure=base_measure)
    scores = qualities if is_list else as_array(qualities)
    return select(scores, mechanism=mechanism, **terms)


def answer_of(release: Release[Any], qualities: Any) -> Any:
    """Return the key, or the index, in the types of the functions that are replaced."""
    return release.value if isinstance(qualities, Mapping) else np.int64(release.value)


def spread_of(sensitivity: Any, spread: Any, rounding: Any, *, monotonic: bool = False) -> Fraction:
    """Return the most that a computed difference of two qualities can change.

    Let every computed quality be off by at most r. The difference of two is off by 2r for either of two
    neighbours, so it changes by at most 4r more than the exact one.

    Raises:
        InvalidArgument: if they are all said to move the same way, and nothing says how far apart, or if a number
            cannot be accepted.
    """
    if flag(monotonic, "monotonic") and spread is None:
        raise InvalidArgument(
            "monotonic=True says that one record moves all qualities the same way. The error of a "
            "marginal, its L1 distance, does not: declare how far a difference of two qualities "
            f"can change, as spread= (2 * sensitivity is always true). See {_PAGE}"
        )
    error = exact(scalar(rounding), "rounding")
    if error < 0:
        raise InvalidArgument(f"rounding must be at least zero, got {preview(rounding)}")
    if spread is not None:
        return positive_up(scalar(spread), "spread") + 4 * error
    return 2 * positive_up(scalar(sensitivity), "sensitivity") + 4 * error


def scalar(value: Any) -> Any:
    """Return the number in an array of one number, such as those of JAX and PyTorch. Others as they are."""
    if hasattr(type(value), "item") and getattr(value, "shape", None) == ():
        return value.item()
    return value


def _sorted(qualities: Mapping[Any, Any]) -> list[Any]:
    """Return the keys in the order of their names: that of a dict may be that of the data."""
    if not qualities:
        raise InvalidScores("qualities must not be empty: there must be at least one candidate")
    keys = list(qualities)
    if not all(isinstance(key, Hashable) for key in keys):
        raise InvalidArgument("the keys of qualities must be hashable")
    return sorted(keys, key=lambda key: (type(key).__qualname__, repr(key)))


def _weights(base_measure: Any, keys: Sequence[Any]) -> list[Any] | None:
    """Return the weights in the order of the keys.

    Raises:
        InvalidArgument: if they are in no dict, or one is missing.
    """
    if base_measure is None:
        return None
    if not isinstance(base_measure, Mapping) or any(key not in base_measure for key in keys):
        raise InvalidArgument(
            "with a dict of qualities base_measure must be a dict with a weight for each of them"
        )
    return [scalar(base_measure[key]) for key in keys]
