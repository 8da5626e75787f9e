"""Arrays of any library (NumPy, PyTorch, JAX, ...) as NumPy's, none of which is imported for it."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidScores, preview


def as_array(values: Any) -> NDArray[Any]:
    """Return an array in the memory of this computer as NumPy's, not copied where that can be avoided.

    DLPack is tried first, then `__array__`. Neither has a type for bfloat16.

    Raises:
        InvalidScores: if it offers neither, or refuses: it is on a graphics card, or tracks gradients.
    """
    if isinstance(values, np.ndarray):
        return values
    ways: list[tuple[str, Callable[[Any], NDArray[Any]]]] = [
        ("__dlpack__", np.from_dlpack),
        ("__array__", np.asarray),
    ]
    for name, convert in ways:
        if hasattr(type(values), name):
            with suppress(Exception):  # of the object's own methods, which may quote it
                return convert(values)
    raise InvalidScores(
        f"an array that NumPy can read is needed, got {preview(values)}; of a tensor give "
        "tensor.detach().cpu(), and of bfloat16 tensor.float(), which is exact"
    )
