"""Public weights of the candidates of all rows, and masks of those that may be answered."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..arguments import read_sequence
from ..errors import InvalidArgument, InvalidScores, preview
from ..mechanisms import Mechanism
from ..mechanisms.masked import MaskedMechanism
from ..sampling.arrays import as_array

_T = TypeVar("_T")

Mask = NDArray[np.bool_]


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
                "a mask goes with the base_measure of select_rows, not with that of the mechanism"
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
            f"{name} has {len(each)} rows, but there are {rows} rows of scores; give one for each, or one for all"
        )
    return [parse(row) for row in each]


def _array(value: Any, name: str) -> Any:
    """Return an array of any library as NumPy's; anything else is refused."""
    array = None
    with suppress(InvalidScores):  # its message speaks of scores
        array = as_array(value)
    if array is None or not 1 <= array.ndim <= 2:
        raise InvalidArgument(
            f"{name} must be a list or an array, with one value for each candidate, or a table of them with a row "
            f"for each row of scores, got {preview(value)}"
        )
    return array


def _read_mask(values: Any) -> Mask:
    """Return the truth values of one row."""
    each = read_sequence(values, "mask")
    if not each or not all(type(value) in (bool, np.bool_) for value in each):
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
