"""What the candidates of each row weigh before the data are read, and which of them may be answered: public."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..arguments import listed
from ..errors import InvalidArgument, InvalidScores, shown
from ..mechanisms import Exponential, Mechanism
from ..mechanisms.among import Masked
from ..mechanisms.base_measure import BaseMeasure
from ..mechanisms.log_base_measure import LogMeasure
from ..sampling.arrays import as_array

_T = TypeVar("_T")

Mask = NDArray[np.bool_]


def weighed(
    mechanism: Mechanism, mask: Any, base_measure: Any, log_base_measure: Any, rows: int
) -> list[Mechanism]:
    """Return the mechanism of each row, or one for all rows alike.

    Args:
        mechanism: the mechanism without them.
        mask: truth values by candidate, for all rows or for each, or None.
        base_measure: weights by candidate, for all rows or for each, or None.
        log_base_measure: logarithms of weights by candidate, for all rows or for each, or None.
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
        return [Masked(mechanism, tuple(one.tolist())) for one in masks]
    if mechanism != Exponential():
        raise InvalidArgument("a base measure goes with the exponential mechanism alone")
    measures = _measures(base_measure, log_base_measure, rows)
    if masks is None:
        return list(measures)
    return [_masked(measure, one) for measure, one in _pairs(measures, masks)]


def _measures(base_measure: Any, log_base_measure: Any, rows: int) -> list[Exponential]:
    """Return the exponential mechanism with these measures."""
    if base_measure is not None and log_base_measure is not None:
        raise InvalidArgument("give base_measure or log_base_measure, not both")
    weights = _for_each(base_measure, "base_measure", rows, Exponential)
    if weights is not None:
        return weights
    return _for_each(log_base_measure, "log_base_measure", rows, _of_logs) or []


def _of_logs(logs: Any) -> Exponential:
    return Exponential(log_base_measure=logs)


def _for_each(value: Any, name: str, rows: int, read: Callable[[Any], _T]) -> list[_T] | None:
    """Return what is read of a value for all rows alike, or of each of its rows.

    Raises:
        InvalidArgument: if there are not as many rows as there are rows of scores.
    """
    if value is None:
        return None
    single = isinstance(value, list | tuple)
    listed_ = value if single else _array(value, name)
    nested = any(isinstance(row, list | tuple | np.ndarray) for row in listed_[:1])
    if not nested:
        return [read(listed_)]
    each = listed(listed_, name)
    if len(each) != rows:
        raise InvalidArgument(
            f"{name} has {len(each)} rows, but there are {rows} rows of scores; give one for each, or one for all"
        )
    return [read(row) for row in each]


def _array(value: Any, name: str) -> Any:
    """Return an array of any library as NumPy's; anything else is refused."""
    found = None
    with suppress(InvalidScores):  # its message speaks of scores
        found = as_array(value)
    if found is None or not 1 <= found.ndim <= 2:
        raise InvalidArgument(
            f"{name} must be a list or an array, with one value for each candidate, or a table of them with a row "
            f"for each row of scores, got {shown(value)}"
        )
    return found


def _read_mask(values: Any) -> Mask:
    """Return the truth values of one row."""
    each = listed(values, "mask")
    if not each or not all(type(value) in (bool, np.bool_) for value in each):
        raise InvalidArgument(
            "mask must hold True or False for each candidate: True for those that may be answered"
        )
    if not any(each):
        raise InvalidArgument("mask must leave at least one candidate: there must be an answer")
    return np.array(each, dtype=np.bool_)


def _pairs(
    measures: Sequence[Exponential], masks: Sequence[Mask]
) -> list[tuple[Exponential, Mask]]:
    """Return the measure and the mask of each row."""
    rows = max(len(measures), len(masks))
    each = list(measures) * (rows if len(measures) < rows else 1)
    return list(zip(each, list(masks) * (rows if len(masks) < rows else 1), strict=True))


def _masked(measured: Exponential, mask: Mask) -> Mechanism:
    """Return the mechanism with weights of zero where the mask is False."""
    weights: BaseMeasure | None = measured.base_measure
    logs: LogMeasure | None = measured.log_base_measure
    size = len(weights) if weights is not None else logs.size if logs is not None else 0
    if size != len(mask):
        raise InvalidArgument(
            f"the base measure is for {size} candidates and the mask for {len(mask)}"
        )
    if weights is not None:
        pairs = zip(weights, mask.tolist(), strict=True)
        return _possible([weight if may else 0 for weight, may in pairs])
    assert logs is not None
    among = mask[logs.places]
    if not among.any():
        return _possible([])
    return Exponential(log_base_measure=logs.masked(mask))


def _possible(weights: list[Any]) -> Exponential:
    """Return the mechanism with these weights, of which one must be above zero."""
    if not any(weights):
        raise InvalidArgument(
            "mask and base measure leave no candidate: there must be an answer in every row"
        )
    return Exponential(weights)
