"""How steep a curve is: the exponent by which a cost grows."""

import math
from collections.abc import Iterable


def exponent(points: Iterable[dict[str, float]], what: str) -> float | None:
    """Return the slope in logarithms over the last three points; None of fewer than two, or of nothing."""
    last = [(math.log(p["size"]), math.log(p[what])) for p in points if p[what] > 0][-3:]
    if len(last) < 2:
        return None
    (x, y), (z, w) = last[0], last[-1]
    return (w - y) / (z - x)
