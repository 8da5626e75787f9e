"""Public masks and base measures: which candidates may be answered, and how their probabilities are weighted."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..base.arguments import read_sequence
from ..errors import InvalidArgument, InvalidScores, preview
from ..mechanisms import Mechanism
from ..mechanisms.base_measure import MaskedMechanism
from ..mechanisms.mechanism_names import read_mechanism
from ..sampling.vectors import as_array
from .candidates import Labels

_T = TypeVar("_T")

Mask = NDArray[np.bool_]


class MechanismAmong(NamedTuple):
    """A mechanism with a mask and a base measure.

    Attributes:
        mechanism: the mechanism.
        possible: which candidates can be answered; None where all can.
    """

    mechanism: Mechanism
    possible: Sequence[bool] | None


def mechanism_among(
    mechanism: object,
    labels: Labels | None,
    places: Sequence[int] | None,
    measures: Mapping[str, object],
) -> MechanismAmong:
    """Return the mechanism of one answer with a mask and a base measure, and which candidates can be answered.

    Args:
        mechanism: the mechanism or its name; None for the exponential mechanism.
        labels: the candidates, if they have names.
        places: the positions of the scores before they were put in another order, if they were.
        measures: the mask, the base measure and its logarithms, by name: lists, or mappings from the candidates.

    Raises:
        InvalidArgument: if one of them cannot be accepted, or they do not go together.
    """
    in_order = [values_in_order(name, one, labels, places) for name, one in measures.items()]
    [variant] = with_measures(read_mechanism(mechanism or "exponential"), *in_order, rows=1)  # type: ignore[arg-type, misc]
    return MechanismAmong(variant, possible_among(variant, labels))


def refuse_gap_beside_measures(gap: object) -> None:
    """Raise if a gap is asked for.

    Raises:
        InvalidArgument: if it is.
    """
    if gap:
        raise InvalidArgument(
            "a gap has no proof beside a mask or a base measure: leave out gap, or the mask and the base measure"
        )


def values_in_order(
    name: str, values: object, labels: Labels | None, places: Sequence[int] | None
) -> object:
    """Return public values of the candidates in the order of the scores, as they were given otherwise.

    Args:
        name: the argument that they are.
        values: a list in the order in which the scores were given, or a mapping from the candidates.
        labels: the candidates, if they have names.
        places: the positions of the scores before they were put in another order, if they were.

    Raises:
        InvalidArgument: unless each candidate has one in a mapping, and nothing else has.
    """
    if isinstance(values, Mapping):
        return _of_mapping(name, values, labels)
    if places is None or isinstance(values, str | bytes | Set) or not isinstance(values, Iterable):
        return values
    each = list(values)
    return [each[i] for i in places] if len(each) == len(places) else each


def _of_mapping(name: str, values: Mapping[object, object], labels: Labels | None) -> list[object]:
    """Return the values in a mapping in the order of the candidates."""
    if labels is None:
        raise InvalidArgument(
            f"{name} is a mapping, but the scores have no names. Give a list, or candidates"
        )
    missing = [label for label in labels if label not in values]
    if missing or len(values) != labels.size:
        raise InvalidArgument(
            f"{name} must have one entry for each of the {labels.size} candidates. It has "
            f"{len(values)}, and {len(missing)} candidates have none"
        )
    return [values[label] for label in labels]


def possible_among(mechanism: Mechanism, labels: Labels | None) -> Sequence[bool] | None:
    """Return which candidates can be answered, or None where all can.

    Raises:
        InvalidArgument: if the mask or the base measure is of another length than the candidates.
    """
    possible: Sequence[bool] | None = getattr(mechanism, "possible", None)
    if possible is not None and labels is not None and len(possible) != labels.size:
        raise InvalidArgument(
            f"there are {labels.size} candidates, but the mask or the base measure is for "
            f"{len(possible)}"
        )
    return possible


def with_measures(
    mechanism: Mechanism, mask: Any, base_measure: Any, log_base_measure: Any, rows: int
) -> list[Mechanism]:
    """Return the mechanisms of the rows, or one for all rows alike.

    Args:
        mechanism: the mechanism without them.
        mask: truth values by candidate, for all rows or by row, or None.
        base_measure: weights by candidate, for all rows or by row, or None.
        log_base_measure: logarithms of weights by candidate, for all rows or by row, or None.
        rows: how many rows there are.

    Raises:
        InvalidArgument: if one of them cannot be accepted, or they do not go together.
    """
    masks = _for_each(mask, "mask", rows, _read_mask)
    if base_measure is None and log_base_measure is None:
        if masks is None:
            return [mechanism]
        if not getattr(mechanism, "uniform", True):
            raise InvalidArgument(
                "a mask goes with base_measure as an argument, not with that of the mechanism"
            )
        return [MaskedMechanism(mechanism, tuple(one.tolist())) for one in masks]
    if "base_measure" not in getattr(mechanism, "options", ()) or not getattr(
        mechanism, "uniform", True
    ):
        raise InvalidArgument("a base measure goes with the exponential mechanism alone")
    measures = _measures(mechanism, base_measure, log_base_measure, rows)
    if masks is None:
        return measures
    return [_apply_mask(measure, one) for measure, one in _pairs(measures, masks)]


def _measures(mechanism: Any, base_measure: Any, log_base_measure: Any, rows: int) -> list[Any]:
    """Return the mechanism with these measures."""
    if base_measure is not None and log_base_measure is not None:
        raise InvalidArgument("give base_measure or log_base_measure, not both")
    name, weights = "base_measure", base_measure
    if base_measure is None:
        name, weights = "log_base_measure", log_base_measure
    return _for_each(weights, name, rows, lambda row: replace(mechanism, **{name: row})) or []


def _for_each(value: Any, name: str, rows: int, parse: Callable[[Any], _T]) -> list[_T] | None:
    """Return a value as parsed: once for all rows alike, or row by row.

    Raises:
        InvalidArgument: if there are not as many rows as there are rows of scores.
    """
    if value is None:
        return None
    single = isinstance(value, list | tuple)
    sequence = value if single else _array(value, name)
    nested = any(isinstance(row, list | tuple | np.ndarray) for row in sequence[:1])
    if not nested:
        return [parse(sequence)]
    each = read_sequence(sequence, name)
    if len(each) != rows:
        raise InvalidArgument(
            f"{name} has {len(each)} rows, but there are {rows} rows of scores. Give one for each, "
            "or one for all"
        )
    return [parse(row) for row in each]


def _array(value: Any, name: str) -> Any:
    """Return an array of any library as NumPy's; anything else is refused."""
    array = None
    with suppress(InvalidScores):  # its message speaks of scores
        array = as_array(value)
    if array is None or not 1 <= array.ndim <= 2:
        raise InvalidArgument(
            f"{name} must be a list or an array, with one value for each candidate, or a table of "
            f"them with a row for each row of scores, got {preview(value)}"
        )
    return array


def _read_mask(values: Any) -> Mask:
    """Return the truth values of one row."""
    each = read_sequence(values, "mask")
    if not each or not all(type(one) in (bool, np.bool_) for one in each):
        raise InvalidArgument(
            "mask must hold True or False for each candidate: True for those that may be answered"
        )
    if not any(each):
        raise InvalidArgument("mask must leave at least one candidate: there must be an answer")
    return np.array(each, dtype=np.bool_)


def _pairs(measures: Sequence[Any], masks: Sequence[Mask]) -> list[tuple[Any, Mask]]:
    """Return the measures and the masks of the rows."""
    rows = max(len(measures), len(masks))
    each = list(measures) * (rows if len(measures) < rows else 1)
    return list(zip(each, list(masks) * (rows if len(masks) < rows else 1), strict=True))


def _apply_mask(mechanism: Any, mask: Mask) -> Mechanism:
    """Return the mechanism with weights of zero where the mask is False."""
    measure = mechanism.measure
    if measure.size != len(mask):
        raise InvalidArgument(
            f"the base measure is for {measure.size} candidates and the mask for {len(mask)}"
        )
    if not mask[measure.places].any():
        raise InvalidArgument(
            "mask and base measure leave no candidate: there must be an answer in every row"
        )
    variant: Mechanism = replace(mechanism, **{measure.argument: measure.restrict(mask)})
    return variant
